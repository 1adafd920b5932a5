//! The heads of streams as the writer knows them: a bounded cache over the
//! stream index.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use annals_event_log::{ReadError, StreamName};

use crate::error::corrupt;

/// Streams in one generation of the cache.
const GENERATION: usize = 64 * 1024;

/// One in so many heads is compared with the index: of those that come from the old
/// generation here, and of those that events are staged by.
pub(crate) const SAMPLE: u64 = 256;

/// Compares a stream's remembered head with what the index says, where nothing of it is staged.
///
/// # Errors
/// [`ReadError::Corrupt`]: its next version would be a wrong one.
pub(crate) fn check(stream: &StreamName, known: Head, stored: u64) -> Result<(), ReadError> {
    match known.version == stored {
        true => Ok(()),
        false => Err(corrupt(format!(
            "{stream} is at version {stored} in the index, and at {} for the writer",
            known.version
        ))),
    }
}

/// The current end of a stream, staged records included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Head {
    /// The version of the last record; 0 for no stream.
    pub(crate) version: u64,
    /// The chunk that the last record was staged in, by its first position.
    pub(crate) chunk: u64,
    /// Which run of that chunk is the stream's.
    pub(crate) run: usize,
}

/// The cache. It has two generations: a head that is used moves to the young one; when
/// that is full it becomes the old one, and the old one is forgotten.
#[derive(Debug)]
pub(crate) struct Heads {
    young: HashMap<StreamName, Head>,
    old: HashMap<StreamName, Head>,
    generation: usize,
    /// How often one was taken from the old generation.
    revived: u64,
}

impl Default for Heads {
    fn default() -> Heads {
        Heads {
            young: HashMap::new(),
            old: HashMap::new(),
            generation: GENERATION,
            revived: 0,
        }
    }
}

impl Heads {
    /// A stream's head; `load` says the version of one that is not known here.
    pub(crate) fn get(
        &mut self,
        stream: &StreamName,
        load: impl FnOnce(&StreamName) -> Result<u64, ReadError>,
    ) -> Result<&mut Head, ReadError> {
        match self.young.entry(stream.clone()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let head = match self.old.remove(stream) {
                    // Nothing of it is staged: then it would be young.
                    Some(head) => {
                        self.revived += 1;
                        if self.revived.is_multiple_of(SAMPLE) {
                            check(stream, head, load(stream)?)?;
                        }
                        head
                    }
                    None => Head {
                        version: load(stream)?,
                        ..Head::default()
                    },
                };
                Ok(place.insert(head))
            }
        }
    }

    /// Forgets what was not used for long. Only between groups: what is staged
    /// cannot be loaded yet.
    pub(crate) fn age(&mut self) {
        if self.young.len() >= self.generation {
            self.old = std::mem::take(&mut self.young);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    fn name(n: usize) -> StreamName {
        StreamName::new("s", &n.to_string()).unwrap()
    }

    #[test]
    fn a_head_is_loaded_once_and_again_when_it_was_forgotten() {
        let mut heads = Heads {
            generation: 2,
            ..Heads::default()
        };
        heads.get(&name(1), |_| Ok(5)).unwrap().version += 1;
        let again = heads.get(&name(1), |_| panic!("it is known")).unwrap();
        assert_eq!(again.version, 6);
        for n in 2..=5 {
            heads.age();
            heads.get(&name(n), |_| Ok(0)).unwrap();
        }
        heads.age();
        assert!(
            heads.young.len() + heads.old.len() <= 4,
            "the cache is bounded"
        );
        assert_eq!(heads.get(&name(1), |_| Ok(7)).unwrap().version, 7);
    }

    #[test]
    fn a_head_that_the_index_does_not_agree_with_is_found() {
        let mut heads = Heads {
            generation: 1,
            revived: SAMPLE - 1,
            ..Heads::default()
        };
        heads.get(&name(1), |_| Ok(5)).unwrap();
        heads.age();
        let found = heads.get(&name(1), |_| Ok(6)).unwrap_err().to_string();
        assert!(
            found.contains("s-1 is at version 6 in the index, and at 5"),
            "{found}"
        );
        assert_eq!(
            heads.get(&name(1), |_| Ok(6)).unwrap().version,
            6,
            "it is forgotten"
        );
    }

    #[test]
    fn a_head_in_use_survives() {
        let mut heads = Heads {
            generation: 2,
            ..Heads::default()
        };
        heads.get(&name(0), |_| Ok(1)).unwrap();
        for n in 1..100 {
            heads.age();
            heads
                .get(&name(0), |_| panic!("it was used all the time"))
                .unwrap();
            heads.get(&name(n), |_| Ok(0)).unwrap();
        }
    }

    #[test]
    fn an_error_leaves_nothing_behind() {
        let mut heads = Heads::default();
        assert!(heads.get(&name(1), |_| Err(ReadError::Closed)).is_err());
        assert_eq!(heads.get(&name(1), |_| Ok(3)).unwrap().version, 3);
    }
}

//! The chunk that is being filled, with the index entries that it will need.

use annals_event_log::{Position, StreamName, Version};
use rocksdb::WriteBatch;

use crate::columns::Columns;
use crate::heads::Head;
use crate::rows::Run;
use crate::{chunk, keys, mutants};

/// Records on their way into one chunk. Used again for the next one.
#[derive(Debug, Default)]
pub(crate) struct OpenChunk {
    first: Position,
    content: Vec<u8>,
    count: u32,
    streams: Vec<(StreamName, Version, Run)>,
    types: Vec<(String, Run)>,
}

impl OpenChunk {
    /// The position of its first record; `None` while it is empty.
    pub(crate) fn first(&self) -> Option<Position> {
        (self.count > 0).then_some(self.first)
    }

    /// Its bytes so far.
    pub(crate) fn bytes(&self) -> usize {
        if self.count > 0 {
            self.content.len()
        } else {
            0
        }
    }

    /// Whether a record may be added: always, while it is empty.
    pub(crate) fn has_room(&self, record_len: usize) -> bool {
        self.count == 0 || chunk::has_room(&self.content, record_len)
    }

    /// Adds a record; `head` is its stream's, this record included.
    pub(crate) fn push(
        &mut self,
        position: Position,
        record: &[u8],
        stream: &StreamName,
        event_type: &str,
        head: &mut Head,
    ) {
        if self.count == 0 {
            chunk::begin(&mut self.content);
            self.first = position;
        }
        chunk::push(&mut self.content, record);
        self.count_stream(stream, head);
        self.count_type(event_type);
        self.count += 1;
    }

    fn count_stream(&mut self, stream: &StreamName, head: &mut Head) {
        // The head remembers its stream's place here, so that no look-up is needed.
        if head.chunk == self.first.0
            && let Some((_, _, run)) = self.streams.get_mut(head.run)
        {
            run.count += 1;
            return;
        }
        head.chunk = self.first.0;
        head.run = self.streams.len();
        let run = Run {
            chunk: self.first,
            count: 1,
            index: self.count,
        };
        self.streams
            .push((stream.clone(), Version(head.version), run));
    }

    fn count_type(&mut self, event_type: &str) {
        // A chunk has few types, and most often the last one again.
        match self
            .types
            .iter_mut()
            .rev()
            .find(|(known, _)| known == event_type)
        {
            Some((_, run)) => run.count += 1,
            None => {
                let run = Run {
                    chunk: self.first,
                    count: 1,
                    index: self.count,
                };
                self.types.push((event_type.to_owned(), run));
            }
        }
    }

    /// The position of its last record; that before the first while it is empty.
    pub(crate) fn last(&self) -> Position {
        Position((self.first.0 + u64::from(self.count)).saturating_sub(1))
    }

    /// Whether it may be stored: it is not larger than chunks are, except for one record.
    pub(crate) fn is_bounded(&self) -> bool {
        self.count == 1 || self.content.len() <= chunk::TARGET_BYTES
    }

    /// The chunk as it is stored.
    pub(crate) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Its streams, each with the first of its versions here.
    pub(crate) fn streams(&self) -> impl Iterator<Item = (&StreamName, Version, &Run)> {
        self.streams
            .iter()
            .map(|(stream, version, run)| (stream, *version, run))
    }

    /// Its event types.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&str, &Run)> {
        self.types
            .iter()
            .map(|(event_type, run)| (event_type.as_str(), run))
    }

    /// Puts its index entries into a write. `scratch` is room for a key.
    pub(crate) fn put_entries(
        &self,
        columns: &Columns<'_>,
        write: &mut WriteBatch,
        scratch: &mut Vec<u8>,
    ) {
        for (stream, version, run) in self.streams() {
            keys::write_entry(scratch, stream.as_str(), version.0);
            write.put_cf(columns.streams, &scratch, run.encode_stream());
        }
        if mutants::is(mutants::INDEX_LEFT_OUT) {
            return;
        }
        for (event_type, run) in self.types() {
            keys::write_entry(scratch, event_type, self.first.0);
            write.put_cf(columns.types, &scratch, run.encode_type());
        }
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.streams.clear();
        self.types.clear();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn runs_count_records_that_are_among_others() {
        let mut open = OpenChunk::default();
        let names = ["a-1", "b-1"].map(|name| name.parse::<StreamName>().unwrap());
        let mut heads = [
            Head {
                version: 4,
                ..Head::default()
            },
            Head::default(),
        ];
        for (n, which) in [0, 1, 0, 0].into_iter().enumerate() {
            heads[which].version += 1;
            let event_type = if n == 3 { "y" } else { "x" };
            let position = Position(10 + n as u64);
            open.push(position, b"r", &names[which], event_type, &mut heads[which]);
        }
        assert_eq!(open.first(), Some(Position(10)));
        let run = |count, index| Run {
            chunk: Position(10),
            count,
            index,
        };
        let streams: Vec<_> = open
            .streams()
            .map(|(s, v, r)| (s.as_str(), v.0, *r))
            .collect();
        assert_eq!(streams, [("a-1", 5, run(3, 0)), ("b-1", 1, run(1, 1))]);
        let types: Vec<_> = open.types().map(|(t, r)| (t, *r)).collect();
        assert_eq!(types, [("x", run(3, 0)), ("y", run(1, 3))]);

        open.clear();
        assert_eq!((open.first(), open.bytes()), (None, 0));
        heads[0].version += 1;
        open.push(Position(14), b"r", &names[0], "x", &mut heads[0]);
        let streams: Vec<_> = open
            .streams()
            .map(|(s, v, r)| (s.as_str(), v.0, *r))
            .collect();
        let run = Run {
            chunk: Position(14),
            count: 1,
            index: 0,
        };
        assert_eq!(streams, [("a-1", 8, run)], "another chunk is another run");
    }
}

//! Decider states: loaded from the log, kept in a bounded cache.
//!
//! A cached state is a fold of a prefix of its stream. That it is the whole
//! stream is checked by the log at the append, which expects its version.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use annals_domain::pipeline::{Window, evolve_window};
use annals_domain::{AnyEvent, Loaded, StreamRef};
use annals_event_log::Store;
use lru::LruCache;
use uuid::Uuid;

use crate::stream_events::each_event;
use crate::sync::{Mutex, MutexGuard, PoisonError};
use crate::{LoadError, state_snapshots};

/// How many aggregates' states are kept: more than an intent has tasks, for some commands look at all of
/// them. Most take some hundred bytes.
const CACHED: NonZeroUsize = match NonZeroUsize::new(16_384) {
    Some(cached) => cached,
    None => NonZeroUsize::MIN,
};

#[derive(Debug)]
pub(crate) struct States {
    cache: Mutex<KeptStates>,
}

#[derive(Debug)]
struct KeptStates {
    cache: LruCache<StreamRef, Loaded>,
    /// How often all of it was forgotten.
    epoch: u64,
}

impl States {
    pub(crate) fn new() -> States {
        States {
            cache: Mutex::new(KeptStates {
                cache: LruCache::new(CACHED),
                epoch: 0,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, KeptStates> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of an aggregate. `take` removes it from the cache: who will
    /// change it then holds the only copy, and changing it copies nothing.
    pub(crate) async fn load(
        &self,
        log: &dyn Store,
        stream: StreamRef,
        take: bool,
    ) -> Result<Loaded, LoadError> {
        let cached = if take {
            self.lock().cache.pop(&stream)
        } else {
            self.lock().cache.get(&stream).cloned()
        };
        match cached {
            Some(loaded) => Ok(loaded),
            None => state_snapshots::fold(log, stream).await,
        }
    }

    /// Which redactions states that are loaded from now on have seen.
    pub(crate) fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    /// Keeps a state, unless a newer one is there, or content was removed since it was
    /// loaded in this epoch.
    pub(crate) fn keep(&self, epoch: u64, stream: StreamRef, loaded: Loaded) {
        let mut kept = self.lock();
        if kept.epoch != epoch {
            return;
        }
        let newer = |known: &Loaded| known.version <= loaded.version;
        if kept.cache.peek(&stream).is_none_or(newer) {
            kept.cache.put(stream, loaded);
        }
    }

    /// Forgets all states, also those that a caller holds and would put back: names that they
    /// have were removed.
    pub(crate) fn forget_all(&self) {
        let mut kept = self.lock();
        kept.cache.clear();
        kept.epoch = kept.epoch.wrapping_add(1);
    }

    /// Forgets states that turned out to be old.
    pub(crate) fn forget(&self, streams: impl IntoIterator<Item = StreamRef>) {
        let mut kept = self.lock();
        for stream in streams {
            kept.cache.pop(&stream);
        }
    }
}

/// Keys of batches that were made not long ago. Nothing depends on them: a repeat
/// of one is answered before anything is decided for it.
#[derive(Debug)]
pub(crate) struct Recent {
    keys: Mutex<LruCache<Uuid, ()>>,
}

/// How many keys are kept.
const RECENT: NonZeroUsize = match NonZeroUsize::new(4_096) {
    Some(recent) => recent,
    None => NonZeroUsize::MIN,
};

impl Recent {
    pub(crate) fn new() -> Recent {
        Recent {
            keys: Mutex::new(LruCache::new(RECENT)),
        }
    }

    pub(crate) fn has(&self, key: Uuid) -> bool {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.get(&key).is_some()
    }

    pub(crate) fn note(&self, key: Uuid) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.put(key, ());
    }
}

/// Windows that decisions needed, each with the version that it is of. Few
/// decisions need one, and the next on the same pipeline goes on from there.
#[derive(Debug)]
pub(crate) struct Windows {
    cache: Mutex<Kept>,
}

/// Windows with the versions that they are of.
type Kept = LruCache<StreamRef, (u64, Option<Window<()>>)>;

/// How many pipelines' windows are kept.
const WINDOWS: NonZeroUsize = match NonZeroUsize::new(8) {
    Some(windows) => windows,
    None => NonZeroUsize::MIN,
};

impl Windows {
    pub(crate) fn new() -> Windows {
        Windows {
            cache: Mutex::new(LruCache::new(WINDOWS)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The window of a pipeline, as its events up to a version left it.
    pub(crate) async fn load(
        &self,
        log: &dyn Store,
        stream: StreamRef,
        version: u64,
    ) -> Result<Option<Window<()>>, LoadError> {
        // Taken out, so that going on with it copies nothing.
        let kept = self.lock().pop(&stream);
        let kept = kept.filter(|(known, _)| *known <= version);
        let (known, mut window) = kept.unwrap_or((0, None));
        each_event(log, stream, known + 1, |record, event| {
            if record.version().0 > version {
                return ControlFlow::Break(());
            }
            if let AnyEvent::Pipeline(event) = event {
                evolve_window(&mut window, event);
            }
            ControlFlow::Continue(())
        })
        .await?;
        self.lock().put(stream, (version, window.clone()));
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_loaded_before_a_redaction_is_not_kept_behind_it() {
        let states = States::new();
        let stream = annals_domain::settings::stream();
        let loaded = Loaded {
            version: 3,
            ..Loaded::absent(stream.kind)
        };
        let epoch = states.epoch();
        states.keep(epoch, stream, loaded.clone());
        assert_eq!(states.lock().cache.len(), 1);
        states.forget_all();
        assert_eq!(states.lock().cache.len(), 0);
        states.keep(epoch, stream, loaded.clone());
        assert_eq!(
            states.lock().cache.len(),
            0,
            "it has names that were removed"
        );
        states.keep(states.epoch(), stream, loaded);
        assert_eq!(states.lock().cache.len(), 1);
    }
}

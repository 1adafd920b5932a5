//! How much was read that is not appended yet: large diffs must not wait in memory, many at once.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// While so many bytes of diffs are under way, nothing more is read.
const BYTES: usize = 16 << 20;

/// The bytes that are under way.
#[derive(Debug, Clone, Default)]
pub(super) struct UnderWay(Arc<(Mutex<usize>, Condvar)>);

/// Some of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    of: UnderWay,
    bytes: usize,
}

impl UnderWay {
    /// Waits until there are few; what is dropped instead of being appended counts no longer.
    pub(super) fn wait(&self) {
        let (_, bell) = &*self.0;
        let many = bell.wait_while(self.bytes(), |bytes| *bytes >= BYTES);
        drop(many);
    }

    /// Adds some.
    pub(super) fn share(&self, bytes: usize) -> Share {
        *self.bytes() += bytes;
        let of = self.clone();
        Share { of, bytes }
    }

    fn bytes(&self) -> MutexGuard<'_, usize> {
        let (bytes, _) = &*self.0;
        // A number is never half written, even if the thread that held the lock panicked.
        bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *self.of.bytes() -= self.bytes;
        let (_, bell) = &*self.of.0;
        bell.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn nothing_more_is_read_while_much_is_under_way() {
        let under_way = UnderWay::default();
        under_way.wait();
        let little = under_way.share(BYTES - 1);
        under_way.wait();
        let much = under_way.share(1);
        let other = under_way.clone();
        let waiting = thread::spawn(move || other.wait());
        thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished());
        drop(much);
        assert!(waiting.join().is_ok());
        drop(little);
    }
}

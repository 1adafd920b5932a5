//! A bound on bytes that are on their way.
//!
//! Nothing is set aside for a caller that waits: one whose future is not polled any more keeps no other one waiting, as
//! it would in a fair queue.

use std::sync::Arc;

use crate::sync::{Event, Mutex, MutexGuard, PoisonError};

/// Room for so many bytes.
pub(crate) struct Room {
    free: Mutex<usize>,
    freed: Event,
}

/// Room that was taken, until it is dropped.
pub(crate) struct Taken {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    pub(crate) fn new(bytes: usize) -> Arc<Room> {
        Arc::new(Room {
            free: Mutex::new(bytes),
            freed: Event::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until so many bytes are free, which must not be more than there are, and takes them.
    pub(crate) async fn take(self: Arc<Room>, bytes: usize) -> Taken {
        loop {
            // Listen first and look then: room that is made between the two is heard.
            let listener = self.freed.listen();
            if self.try_take(bytes) {
                return Taken { room: self, bytes };
            }
            listener.await;
        }
    }

    fn try_take(&self, bytes: usize) -> bool {
        let mut free = self.lock();
        match free.checked_sub(bytes) {
            Some(left) => {
                *free = left;
                true
            }
            None => false,
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        *self.room.lock() += self.bytes;
        self.room.freed.notify(usize::MAX);
    }
}

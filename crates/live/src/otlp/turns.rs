//! Turns: how many bodies are unpacked, decoded and recorded at a time. Small ones have turns of their own, so that they
//! do not wait for large ones.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Bytes of a small body.
const SMALL: usize = 256 * 1024;
/// Small bodies at a time.
const OF_SMALL: usize = 4;
/// Other bodies at a time.
const OF_LARGE: usize = 2;

/// The turns of a receiver.
#[derive(Debug)]
pub(super) struct Turns {
    small: Semaphore,
    large: Semaphore,
}

/// A turn, which is given back when it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    is_large: bool,
    /// None where turns are not given any more, which does not happen: nothing closes them.
    _permit: Option<SemaphorePermit<'a>>,
}

impl Turns {
    pub(super) fn new() -> Turns {
        Turns {
            small: Semaphore::new(OF_SMALL),
            large: Semaphore::new(OF_LARGE),
        }
    }

    /// Waits for the turn of a body of so many bytes.
    pub(super) async fn of(&self, bytes: usize) -> Turn<'_> {
        let is_large = bytes > SMALL;
        let turns = if is_large { &self.large } else { &self.small };
        Turn {
            is_large,
            _permit: turns.acquire().await.ok(),
        }
    }
}

impl Turn<'_> {
    /// Returns `true` if a body of so many bytes needs another turn.
    pub(super) fn is_too_small_for(&self, bytes: usize) -> bool {
        bytes > SMALL && !self.is_large
    }
}

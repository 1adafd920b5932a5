//! The watermark: up to where the log is durable and may be read.

use crate::sync::Event;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::{Position, ReadError};

/// The highest position that readers may see, and a bell that rings when it
/// moves. Bound to no async runtime.
#[derive(Debug, Default)]
pub struct Watermark {
    position: AtomicU64,
    closed: AtomicBool,
    moved: Event,
}

impl Watermark {
    /// A watermark that starts at `position`.
    pub fn new(position: Position) -> Watermark {
        Watermark {
            position: AtomicU64::new(position.0),
            ..Watermark::default()
        }
    }

    /// The current position.
    pub fn get(&self) -> Position {
        Position(self.position.load(Ordering::Acquire))
    }

    /// Moves it and wakes every waiting reader. It never moves back.
    pub fn advance(&self, position: Position) {
        self.position.fetch_max(position.0, Ordering::AcqRel);
        self.moved.notify(usize::MAX);
    }

    /// Wakes every waiting reader, with [`ReadError::Closed`].
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.moved.notify(usize::MAX);
    }

    /// Waits until the watermark is above `seen`, and returns its position.
    ///
    /// # Errors
    /// [`ReadError::Closed`] when the log is closed before it came there.
    pub async fn above(&self, seen: Position) -> Result<Position, ReadError> {
        loop {
            // Listen first and look afterwards: a move between the two is heard.
            let listener = self.moved.listen();
            // In this order: a look that finds the close finds every move before it, too.
            // Others can come behind it, where a store still writes what it had accepted;
            // those are not waited for.
            let closed = self.closed.load(Ordering::Acquire);
            let now = self.get();
            if now > seen {
                return Ok(now);
            }
            if closed {
                return Err(ReadError::Closed);
            }
            listener.await;
        }
    }
}

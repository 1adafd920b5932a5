//! The same for programs without `async`: every operation is a future, and [`Wait::wait`] in the place
//! of `.await` blocks the calling thread until it is done. There is nothing else to learn.
//!
//! ```
//! use annals::Annals;
//! use annals::blocking::{Wait, WaitEach};
//! use annals::domain::{ActorRef, Kind};
//! use annals::event_log::Position;
//! use annals::projections::{IntentView, ListQuery};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let annals = Annals::open("memory:").wait()?;
//! let ada = ActorRef::human("ada");
//! let intent = annals.by(&ada).submit("Add pagination").wait()?;
//!
//! let view: IntentView = annals.get(intent).wait()?;
//! assert_eq!(view.prompt.as_str(), Some("Add pagination"));
//! let listed = annals.index().list(&ListQuery::new(Kind::Intent)).wait()?;
//! assert_eq!(listed.rows.len(), 1);
//!
//! // The iterator blocks at the end of the log until more comes.
//! let mut records = annals.subscribe(Position::START).wait_each();
//! let first = records.next().ok_or("the subscription ended")??;
//! assert_eq!(first.event_type(), "intent.submitted");
//! annals.close().wait();
//! # Ok(())
//! # }
//! ```
//!
//! Do not wait in a task of an async runtime: it would hold up the other tasks of its thread. Write `.await`
//! there. Where synchronous code is called from such a task, it belongs on a thread for blocking work,
//! such as tokio's `spawn_blocking` has.

use futures::executor::{BlockingStream, block_on, block_on_stream};
use futures::stream::{BoxStream, Stream, StreamExt};

/// Waits for an operation of [`Annals`](crate::Annals), its handles or its writers; see the
/// [module](self).
pub trait Wait: Future + Sized {
    /// Blocks the calling thread until the operation is done, and gives its result.
    ///
    /// # Panics
    /// Where this thread runs a future by `futures::executor` already.
    fn wait(self) -> Self::Output {
        block_on(self)
    }
}

impl<F: Future> Wait for F {}

/// Waits for each item of a subscription; see the [module](self).
pub trait WaitEach: Stream + Sized {
    /// The items as an iterator, which blocks the calling thread until there is a next one.
    ///
    /// # Panics
    /// As [`Wait::wait`].
    fn wait_each<'a>(self) -> BlockingStream<BoxStream<'a, Self::Item>>
    where
        Self: Send + 'a,
    {
        block_on_stream(self.boxed())
    }
}

impl<S: Stream> WaitEach for S {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::thread;

    use annals_domain::ActorRef;
    use annals_event_log::{Position, ReadError};

    use super::{Wait, WaitEach};
    use crate::Annals;

    #[test]
    fn an_iterator_waits_for_what_comes_and_for_the_end() {
        let annals = Annals::open("memory:").wait().unwrap();
        let mut records = annals.subscribe(Position::START).wait_each();
        let writer = annals.clone();
        let writing = thread::spawn(move || {
            let ada = ActorRef::human("ada");
            writer.by(&ada).submit("Add pagination").wait().unwrap()
        });
        let first = records.next().unwrap().unwrap();
        let intent = writing.join().unwrap();
        let place = annals.index().place(intent).wait().unwrap();
        let (_, stream) = place.unwrap();
        assert_eq!(first.stream(), annals_wire::stream_name(stream).as_str());
        annals.close().wait();
        assert!(matches!(records.next(), Some(Err(ReadError::Closed))));
    }
}

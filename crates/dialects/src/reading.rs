//! Reading a source on a thread of its own.
//!
//! Sources are read with blocking calls; whoever appends need not wait for
//! them. The two are joined by a short queue, so that only little of a source
//! is in memory at once, however long it is.

use std::io;
use std::thread;

use futures::SinkExt;
use futures::channel::mpsc;
use futures::executor::block_on;

/// Where the news of a source arrive, up to one that says why reading failed
/// or to the one that says that all is read. Whoever drops it ends the reading.
pub(crate) type News<N, E> = mpsc::Receiver<Result<N, E>>;

/// Why reading stopped early.
pub(crate) enum Stop<E> {
    Failed(E),
    NobodyListens,
}

impl<E> From<E> for Stop<E> {
    fn from(error: E) -> Stop<E> {
        Stop::Failed(error)
    }
}

/// The reading side of the queue.
pub(crate) struct Outlet<N, E>(mpsc::Sender<Result<N, E>>);

impl<N, E> Outlet<N, E> {
    /// Tells `news`; waits while the queue is full.
    pub(crate) fn send(&mut self, news: N) -> Result<(), Stop<E>> {
        self.tell(Ok(news))
    }

    fn tell(&mut self, news: Result<N, E>) -> Result<(), Stop<E>> {
        block_on(self.0.send(news)).map_err(|_| Stop::NobodyListens)
    }
}

/// Starts `read` on a thread called `name`, with a queue of about `ready` news;
/// `end` is told when it has read all.
pub(crate) fn start<N, E>(
    name: &str,
    ready: usize,
    end: N,
    read: impl FnOnce(&mut Outlet<N, E>) -> Result<(), Stop<E>> + Send + 'static,
) -> io::Result<News<N, E>>
where
    N: Send + 'static,
    E: Send + 'static,
{
    let (sender, receiver) = mpsc::channel(ready);
    let mut outlet = Outlet(sender);
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let last = match read(&mut outlet) {
                Ok(()) => Ok(end),
                Err(Stop::Failed(error)) => Err(error),
                Err(Stop::NobodyListens) => return,
            };
            // Nobody is left to hear that nobody listens.
            let _ = outlet.tell(last);
        })?;
    Ok(receiver)
}

/// The same on the thread that calls it: everything is read before anything is heard.
#[cfg(test)]
pub(crate) fn here<N, E>(
    ready: usize,
    end: N,
    read: impl FnOnce(&mut Outlet<N, E>) -> Result<(), Stop<E>>,
) -> News<N, E> {
    let (sender, receiver) = mpsc::channel(ready);
    let mut outlet = Outlet(sender);
    let last = match read(&mut outlet) {
        Ok(()) => Ok(end),
        Err(Stop::Failed(error)) => Err(error),
        Err(Stop::NobodyListens) => return receiver,
    };
    let _ = outlet.tell(last);
    receiver
}

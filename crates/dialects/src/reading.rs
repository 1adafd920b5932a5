//! Reading a source on a thread of its own.
//!
//! Sources are read with blocking calls; the task that appends need not wait for
//! them. The two are joined by a short queue, so that only little of a source
//! is in memory at once, however long it is.

use std::io;
use std::thread;

use futures::SinkExt;
use futures::channel::mpsc;
use futures::executor::block_on;

/// Where the messages of the reading side arrive. The last one says why reading
/// failed, or that all is read. Reading ends when this is dropped.
pub(crate) type Events<N, E> = mpsc::Receiver<Result<N, E>>;

/// Why reading stopped early.
pub(crate) enum Stop<E> {
    Failed(E),
    ReceiverDropped,
}

impl<E> From<E> for Stop<E> {
    fn from(error: E) -> Stop<E> {
        Stop::Failed(error)
    }
}

/// The reading side of the queue.
pub(crate) struct Outlet<N, E>(mpsc::Sender<Result<N, E>>);

impl<N, E> Outlet<N, E> {
    /// Sends `message`; waits while the queue is full.
    pub(crate) fn send(&mut self, message: N) -> Result<(), Stop<E>> {
        self.tell(Ok(message))
    }

    fn tell(&mut self, message: Result<N, E>) -> Result<(), Stop<E>> {
        block_on(self.0.send(message)).map_err(|_| Stop::ReceiverDropped)
    }
}

/// Starts `read` on a thread called `name`, with a queue of about `ready` messages;
/// `end` is sent when it has read all.
pub(crate) fn start<N, E>(
    name: &str,
    ready: usize,
    end: N,
    read: impl FnOnce(&mut Outlet<N, E>) -> Result<(), Stop<E>> + Send + 'static,
) -> io::Result<Events<N, E>>
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
                Err(Stop::ReceiverDropped) => return,
            };
            // This fails only if the receiver was dropped: then no reader is left to report it to.
            let _ = outlet.tell(last);
        })?;
    Ok(receiver)
}

/// The same on the calling thread: everything is read before any message is received.
#[cfg(test)]
pub(crate) fn here<N, E>(
    ready: usize,
    end: N,
    read: impl FnOnce(&mut Outlet<N, E>) -> Result<(), Stop<E>>,
) -> Events<N, E> {
    let (sender, receiver) = mpsc::channel(ready);
    let mut outlet = Outlet(sender);
    let last = match read(&mut outlet) {
        Ok(()) => Ok(end),
        Err(Stop::Failed(error)) => Err(error),
        Err(Stop::ReceiverDropped) => return receiver,
    };
    let _ = outlet.tell(last);
    receiver
}

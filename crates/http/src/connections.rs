//! The connections of a server: how many there may be, and which one goes when there are too many.
//!
//! A client that sends nothing, or reads nothing, costs a socket and a few kilobytes. If there are as many connections as
//! there may be, the one goes that has been idle longest among those of the address with the most connections; one whose
//! request is being answered goes last. So a client that does its work is served however many others only hold on.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// Bounds on the connections of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Connections at a time.
    pub connections: usize,
    /// How long the head of a request may take from its first byte on.
    pub head: Duration,
    /// How long a connection may wait for its next request.
    pub between: Duration,
    /// For how long no byte may go in either direction.
    pub idle: Duration,
    /// How long connections have for what they are doing when the server ends.
    pub ending: Duration,
}

impl Limits {
    /// So many connections, with the times that suit a server for people: 10 s for the head of a request, 30 s without a
    /// byte, 2 s at the end.
    pub fn new(connections: usize) -> Limits {
        Limits {
            connections: connections.max(1),
            head: Duration::from_secs(10),
            between: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            ending: Duration::from_secs(2),
        }
    }
}

/// The connections that are open.
#[derive(Debug)]
pub(crate) struct Open {
    began: Instant,
    limits: Limits,
    signs: Mutex<Vec<Arc<Signs>>>,
}

/// The signs of life of one connection.
#[derive(Debug)]
pub(crate) struct Signs {
    address: IpAddr,
    began: Instant,
    /// When bytes went last, in milliseconds since then.
    last: AtomicU64,
    /// When the head came of which the rest is missing, in milliseconds since then plus one; 0 for none.
    head: AtomicU64,
    is_working: AtomicBool,
    pub(crate) close: Notify,
}

/// A connection's place among those that are open, which it leaves when it ends.
pub(crate) struct Ticket {
    open: Arc<Open>,
    pub(crate) signs: Arc<Signs>,
}

/// A request that is being answered, as long as this is there.
pub(crate) struct Working(Arc<Signs>);

impl Open {
    pub(crate) fn new(limits: Limits) -> Open {
        Open {
            began: Instant::now(),
            limits,
            signs: Mutex::new(Vec::new()),
        }
    }

    /// Makes a place for one more, if need be that of another one.
    pub(crate) fn enter(self: &Arc<Open>, address: IpAddr) -> Ticket {
        let signs = Arc::new(Signs {
            address,
            began: self.began,
            last: AtomicU64::new(0),
            head: AtomicU64::new(0),
            is_working: AtomicBool::new(false),
            close: Notify::new(),
        });
        signs.show();
        let mut all = self.signs.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= self.limits.connections
            && let Some(place) = to_close(&all)
        {
            all.swap_remove(place).close.notify_one();
        }
        all.push(Arc::clone(&signs));
        Ticket {
            open: Arc::clone(self),
            signs,
        }
    }

    /// Closes the connections whose time is up.
    pub(crate) fn close_overdue(&self) {
        let all = self.signs.lock().unwrap_or_else(PoisonError::into_inner);
        for one in all.iter().filter(|one| one.is_overdue(&self.limits)) {
            one.close.notify_one();
        }
    }
}

/// The connection that makes room for another one.
fn to_close(all: &[Arc<Signs>]) -> Option<usize> {
    let mut of_address: HashMap<IpAddr, usize> = HashMap::new();
    for one in all {
        *of_address.entry(one.address).or_default() += 1;
    }
    let most = of_address.values().max().copied().unwrap_or_default();
    let of_most = |one: &Signs| of_address.get(&one.address) == Some(&most);
    let places = all.iter().enumerate().filter(|(_, one)| of_most(one));
    let idlest = places.min_by_key(|(_, one)| {
        (
            one.is_working.load(Ordering::Relaxed),
            one.last.load(Ordering::Relaxed),
        )
    });
    idlest.map(|(place, _)| place)
}

impl Signs {
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn show(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    /// Notes that bytes came: where no request is being answered, they are of the next one's head.
    fn came(&self) {
        self.show();
        if !self.is_working.load(Ordering::Relaxed) {
            let now = self.now().saturating_add(1);
            let none = self.head.load(Ordering::Relaxed) == 0;
            if none {
                self.head.store(now, Ordering::Relaxed);
            }
        }
    }

    /// Notes that the head of a request is whole, and that it is being answered.
    pub(crate) fn working(self: &Arc<Signs>) -> Working {
        self.head.store(0, Ordering::Relaxed);
        self.is_working.store(true, Ordering::Relaxed);
        Working(Arc::clone(self))
    }

    fn is_overdue(&self, limits: &Limits) -> bool {
        let since = |then: u64| Duration::from_millis(self.now().saturating_sub(then));
        let head = self.head.load(Ordering::Relaxed);
        let is_slow = head > 0 && since(head.saturating_sub(1)) > limits.head;
        is_slow || since(self.last.load(Ordering::Relaxed)) > limits.idle
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.is_working.store(false, Ordering::Relaxed);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let all = &self.open.signs;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| !Arc::ptr_eq(one, &self.signs));
    }
}

/// A connection that shows signs of life when bytes go through it.
#[derive(Debug)]
pub(crate) struct Watched {
    stream: TcpStream,
    signs: Arc<Signs>,
}

impl Watched {
    pub(crate) fn new(stream: TcpStream, signs: &Arc<Signs>) -> Watched {
        Watched {
            stream,
            signs: Arc::clone(signs),
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() && buffer.filled().len() > before {
            self.signs.came();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.signs.show();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn signs(address: &str, last: u64, is_working: bool) -> Arc<Signs> {
        Arc::new(Signs {
            address: address.parse().unwrap(),
            began: Instant::now(),
            last: AtomicU64::new(last),
            head: AtomicU64::new(0),
            is_working: AtomicBool::new(is_working),
            close: Notify::new(),
        })
    }

    #[test]
    fn the_idlest_of_the_address_with_the_most_connections_goes() {
        let all = [
            signs("10.0.0.1", 1, false),
            signs("10.0.0.2", 5, true),
            signs("10.0.0.2", 9, false),
            signs("10.0.0.2", 7, false),
        ];
        assert_eq!(to_close(&all), Some(3));
        assert_eq!(to_close(&all[1..2]), Some(0));
        assert_eq!(to_close(&[]), None);
    }

    #[test]
    fn a_head_has_its_time_however_often_a_byte_comes() {
        let limits = Limits::new(1);
        let now = Instant::now();
        let Some(began) = now.checked_sub(Duration::from_secs(60)) else {
            return;
        };
        let with = |last, head| {
            let signs = Signs {
                began,
                last: AtomicU64::new(last),
                head: AtomicU64::new(head),
                ..Arc::into_inner(signs("10.0.0.1", 0, false)).unwrap()
            };
            signs.is_overdue(&limits)
        };
        assert!(!with(59_000, 0));
        assert!(with(20_000, 0));
        assert!(with(59_000, 40_001));
        assert!(!with(59_000, 55_001));
    }
}

//! Bodies of requests: how large each may be, how long it may take, and how much memory all of them take together.
//!
//! A body that comes slowly holds nothing but what has come of it. If there is no room for more, the slowest of the large
//! ones is given up; small ones always have room.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use futures::StreamExt as _;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Bytes of a body that always have room.
const SMALL: usize = 64 * 1024;

/// Bounds on the bodies of requests.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BodyLimits {
    /// Bytes of one body.
    pub largest: usize,
    /// Bytes that all bodies hold together, beyond what small ones do.
    pub together: usize,
    /// How long a body may take before its rate counts.
    pub grace: Duration,
    /// Bytes in a second that must have come after that.
    pub rate: usize,
    /// How long a body may take in all.
    pub longest: Duration,
}

impl BodyLimits {
    /// Bodies of at most so many bytes, eight of the largest together, within 10 s, and after 5 s at 16 KiB a second or
    /// more.
    pub fn new(largest: usize) -> BodyLimits {
        BodyLimits {
            largest,
            together: largest.saturating_mul(8),
            grace: Duration::from_secs(5),
            rate: 16 * 1024,
            longest: Duration::from_secs(10),
        }
    }

    /// How long a body may have taken of which so many bytes have come.
    fn time_for(&self, bytes: usize) -> Duration {
        let millis = bytes.saturating_mul(1_000) / self.rate.max(1);
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        let time = self.grace.saturating_add(Duration::from_millis(millis));
        time.min(self.longest)
    }
}

/// Why there is no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It is larger than it may be.
    #[error("the body is too large")]
    TooLarge,
    /// It came too slowly.
    #[error("the body took too long")]
    TooSlow,
    /// It ended before it was whole.
    #[error("the body ended early")]
    Broken,
    /// There is no room for it while others are read.
    #[error("too many large bodies come at a time: send it again")]
    NoRoom,
}

/// The bodies that are being read or used.
#[derive(Debug)]
pub struct Bodies {
    limits: BodyLimits,
    began: Instant,
    held: Mutex<Vec<Arc<Held>>>,
}

/// What one body holds.
#[derive(Debug)]
struct Held {
    bytes: AtomicUsize,
    /// When bytes of it came last, in milliseconds since the beginning.
    last: AtomicU64,
    is_whole: AtomicBool,
    is_given_up: AtomicBool,
    given_up: Notify,
}

/// A body that is whole. It has its room as long as this is there.
#[derive(Debug)]
pub struct HeldBody<'a> {
    bytes: Vec<u8>,
    place: Place<'a>,
}

/// A body's place among those that are held, which it leaves when it is dropped.
#[derive(Debug)]
struct Place<'a> {
    bodies: &'a Bodies,
    held: Arc<Held>,
}

impl HeldBody<'_> {
    /// Takes the bytes; the room stays held.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Notes how many bytes are held in its place, once it was unpacked.
    pub fn holds(&self, bytes: usize) {
        self.place.held.bytes.store(bytes, Ordering::Relaxed);
    }
}

impl Bodies {
    /// Nothing is read yet.
    pub fn new(limits: BodyLimits) -> Bodies {
        Bodies {
            limits,
            began: Instant::now(),
            held: Mutex::new(Vec::new()),
        }
    }

    /// Reads a body.
    ///
    /// # Errors
    /// [`BodyError`].
    pub async fn read(&self, body: Body) -> Result<HeldBody<'_>, BodyError> {
        let began = Instant::now();
        let place = self.begin();
        let mut stream = body.into_data_stream();
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let due = began + self.limits.time_for(bytes.len());
            let next = tokio::select! {
                next = timeout_at(due, stream.next()) => next.map_err(|_| BodyError::TooSlow)?,
                () = place.held.given_up.notified() => return Err(BodyError::NoRoom),
            };
            let Some(chunk) = next else { break };
            let chunk = chunk.map_err(|_| BodyError::Broken)?;
            if bytes.len() + chunk.len() > self.limits.largest {
                return Err(BodyError::TooLarge);
            }
            self.make_room(&place.held, bytes.len() + chunk.len())?;
            bytes.extend_from_slice(&chunk);
        }
        place.held.is_whole.store(true, Ordering::Relaxed);
        match place.held.is_given_up.load(Ordering::Relaxed) {
            true => Err(BodyError::NoRoom),
            false => Ok(HeldBody { bytes, place }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn begin(&self) -> Place<'_> {
        let held = Arc::new(Held {
            bytes: AtomicUsize::new(0),
            last: AtomicU64::new(self.now()),
            is_whole: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
            given_up: Notify::new(),
        });
        self.lock().push(Arc::clone(&held));
        Place { bodies: self, held }
    }

    /// Makes room for a body that has become so large: others that come more slowly are given up, or it is itself.
    fn make_room(&self, own: &Arc<Held>, bytes: usize) -> Result<(), BodyError> {
        let all = self.lock();
        own.last.store(self.now(), Ordering::Relaxed);
        own.bytes.store(bytes, Ordering::Relaxed);
        loop {
            let live = || {
                all.iter()
                    .filter(|it| !it.is_given_up.load(Ordering::Relaxed))
            };
            let together: usize = live().map(|it| it.beyond_small()).sum();
            if together <= self.limits.together || own.beyond_small() == 0 {
                return Ok(());
            }
            let others = live().filter(|it| {
                let is_whole = it.is_whole.load(Ordering::Relaxed);
                it.beyond_small() > 0 && !is_whole && !Arc::ptr_eq(it, own)
            });
            let slowest = others.min_by_key(|it| it.last.load(Ordering::Relaxed));
            let slowest = slowest.ok_or(BodyError::NoRoom)?;
            slowest.is_given_up.store(true, Ordering::Relaxed);
            slowest.given_up.notify_one();
        }
    }
}

impl Held {
    fn beyond_small(&self) -> usize {
        self.bytes.load(Ordering::Relaxed).saturating_sub(SMALL)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.bodies.lock().retain(|it| !Arc::ptr_eq(it, &self.held));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::convert::Infallible;

    use futures::stream;

    use super::*;

    /// A body that sends this and then nothing more, without an end.
    fn stuck(bytes: usize) -> Body {
        let begun = stream::once(async move { Ok::<_, Infallible>(vec![0_u8; bytes]) });
        Body::from_stream(begun.chain(stream::pending()))
    }

    fn limits() -> BodyLimits {
        BodyLimits {
            largest: 1_000_000,
            together: 2_000_000,
            grace: Duration::from_millis(200),
            rate: 1_000_000,
            longest: Duration::from_millis(800),
        }
    }

    #[tokio::test]
    async fn slow_and_large_bodies_are_given_up() {
        let bodies = Bodies::new(limits());
        let read = |body| bodies.read(body);
        assert_eq!(read(Body::from("abc")).await.unwrap().len(), 3);
        let large = Body::from(vec![0; 1_000_001]);
        assert_eq!(read(large).await.unwrap_err(), BodyError::TooLarge);
        for (bytes, millis) in [(1, 200), (300_000, 500), (900_000, 800)] {
            let began = Instant::now();
            assert_eq!(read(stuck(bytes)).await.unwrap_err(), BodyError::TooSlow);
            let took = began.elapsed();
            assert!(took >= Duration::from_millis(millis), "{bytes}: {took:?}");
            assert_eq!(bodies.limits.time_for(bytes).as_millis(), millis.into());
        }
        assert!(bodies.lock().is_empty());
    }

    #[tokio::test]
    async fn the_slowest_makes_room_for_others() {
        let bodies = Bodies::new(BodyLimits {
            longest: Duration::from_secs(600),
            grace: Duration::from_secs(600),
            ..limits()
        });
        let mut slow: Vec<_> = (0..2)
            .map(|_| Box::pin(bodies.read(stuck(900_000))))
            .collect();
        // Each has come as far as it comes.
        for one in &mut slow {
            assert!(futures::poll!(one).is_pending());
        }
        let small = bodies.read(Body::from("abc")).await.unwrap();
        let large = bodies.read(Body::from(vec![0; 900_000])).await.unwrap();
        assert_eq!((small.len(), large.len()), (3, 900_000));
        let (given_up, _, rest) = futures::future::select_all(slow).await;
        assert_eq!(given_up.unwrap_err(), BodyError::NoRoom);
        assert_eq!(rest.len(), 1);
        // What is whole keeps its room.
        let another = bodies.read(Body::from(vec![0; 1_000_000])).await.unwrap();
        let third = bodies.read(Body::from(vec![0; 1_000_000])).await;
        assert_eq!(third.unwrap_err(), BodyError::NoRoom);
        drop((large, another, rest));
        assert!(bodies.read(Body::from(vec![0; 1_000_000])).await.is_ok());
    }
}

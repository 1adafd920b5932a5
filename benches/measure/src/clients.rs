//! Threads that call a store at once, for a while.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::results::Figure;
use crate::statistics::percentile_us;
use crate::store::StoreError;

/// A client's call: does its work once and answers how many events that were.
pub type Call<'a> = Box<dyn FnMut() -> Result<u64, StoreError> + Send + 'a>;

/// What clients did.
#[derive(Debug, Default)]
pub struct Timed {
    /// Events of the calls that began and ended within the measured time.
    pub counted: u64,
    /// How long each of these calls took.
    pub times: Vec<Duration>,
    /// Events of all calls.
    pub all: u64,
    /// The measured time.
    pub measured: Duration,
}

impl Timed {
    /// The rate, and how long a call took, under names that begin with `prefix`.
    pub fn figures(mut self, prefix: &str) -> Vec<Figure> {
        let rate = self.counted as f64 / self.measured.as_secs_f64();
        let mut figures = vec![Figure::new(format!("{prefix}rate"), rate)];
        for (name, percent) in [("p50", 50), ("p99", 99)] {
            let time = percentile_us(&mut self.times, percent);
            figures.extend(time.map(|us| Figure::new(format!("{prefix}{name}"), us)));
        }
        figures
    }
}

/// Lets `clients` threads make calls, first for `warm_up` and then for `time`. Calls that were
/// under way at either end do not count.
///
/// # Errors
/// The first one of a call.
pub fn run<'a>(
    clients: usize,
    warm_up: Duration,
    time: Duration,
    call: impl Fn(usize) -> Call<'a>,
) -> Result<Timed, StoreError> {
    let start = Barrier::new(clients);
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                let (call, start) = (call(client), &start);
                scope.spawn(move || one(call, start, warm_up, time))
            })
            .collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect()
    });
    let mut all = Timed {
        measured: time,
        ..Timed::default()
    };
    for result in results {
        let one = result.map_err(|_| StoreError::failed("a client's thread panicked"))??;
        all.counted += one.counted;
        all.times.extend(one.times);
        all.all += one.all;
    }
    Ok(all)
}

fn one(
    mut call: Call<'_>,
    start: &Barrier,
    warm_up: Duration,
    time: Duration,
) -> Result<Timed, StoreError> {
    let mut timed = Timed {
        times: Vec::with_capacity(100_000),
        ..Timed::default()
    };
    let end = warm_up + time;
    start.wait();
    let start = Instant::now();
    loop {
        let begun = start.elapsed();
        if begun >= end {
            return Ok(timed);
        }
        let events = call()?;
        let ended = start.elapsed();
        timed.all += events;
        if begun >= warm_up && ended <= end {
            timed.counted += events;
            timed.times.push(ended - begun);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn every_call_is_counted_and_only_those_within_the_time_are_timed() {
        let calls = AtomicU64::new(0);
        let timed = run(
            3,
            Duration::from_millis(10),
            Duration::from_millis(20),
            |_| {
                Box::new(|| {
                    thread::sleep(Duration::from_millis(1));
                    calls.fetch_add(1, Ordering::Relaxed);
                    Ok(2)
                })
            },
        )
        .unwrap();
        assert_eq!(timed.all, 2 * calls.load(Ordering::Relaxed));
        assert_eq!(timed.counted, 2 * timed.times.len() as u64);
        assert!(timed.counted < timed.all, "the warm-up was counted");
    }

    #[test]
    fn the_error_of_a_client_is_the_answer() {
        let result = run(2, Duration::ZERO, Duration::from_millis(5), |client| {
            Box::new(move || match client {
                1 => Err(StoreError::Conflict),
                _ => Ok(1),
            })
        });
        assert!(matches!(result, Err(StoreError::Conflict)));
    }

    #[test]
    fn figures_are_a_rate_and_two_times() {
        let timed = Timed {
            counted: 50,
            times: vec![Duration::from_micros(10); 5],
            all: 60,
            measured: Duration::from_millis(500),
        };
        let figures = timed.figures("append-1 ");
        let names: Vec<_> = figures
            .iter()
            .map(|figure| figure.metric.as_str())
            .collect();
        assert_eq!(names, ["append-1 rate", "append-1 p50", "append-1 p99"]);
        assert!((figures[0].value - 100.0).abs() < 1e-9);
        assert!((figures[1].value - 10.0).abs() < 1e-9);
    }
}

//! Calls by many threads at once, to be recorded.

use std::sync::{Mutex, PoisonError};
use std::thread;

use annals_event_log::{Append, Expectation, Expected, Position, Query, StreamName, Version};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::Recorded;
use crate::generators::appends::Sample;

const STREAMS: [&str; 3] = ["a-1", "a-2", "b-1"];

/// Makes so many calls through each handle, each on a thread of its own. Handles that
/// may lag only read. The calls are the same for the same seed; which thread is
/// faster is not.
pub fn exercise(handles: Vec<Recorded<'_>>, seed: u64, calls: usize) {
    let tried: Mutex<Vec<Append>> = Mutex::default();
    thread::scope(|scope| {
        for (number, handle) in (0..).zip(handles) {
            let tried = &tried;
            scope.spawn(move || {
                let mut random = StdRng::seed_from_u64(seed.wrapping_add(number));
                let mut sample = Sample::new(random.random());
                for _ in 0..calls {
                    call(&handle, &mut random, &mut sample, tried);
                }
            });
        }
    });
}

/// One call. What it is answered is noted; nothing else matters here.
fn call(
    handle: &Recorded<'_>,
    random: &mut StdRng,
    sample: &mut Sample,
    tried: &Mutex<Vec<Append>>,
) {
    let choice = match handle.is_lagging() {
        true => random.random_range(6..12),
        false => random.random_range(0..12),
    };
    let name = pick(random);
    match choice {
        0..4 => {
            let append = new_append(handle, random, sample, name);
            let mut tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
            tried.push(append.clone());
            drop(tried);
            let _ = handle.append(append);
        }
        4..6 => {
            let tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
            let again = match tried.len() {
                0 => None,
                count => tried.get(random.random_range(count.saturating_sub(8)..count)),
            };
            let again = again.cloned();
            drop(tried);
            if let Some(append) = again {
                let _ = handle.append(append);
            }
        }
        6..9 => {
            // Mostly at the end, where things happen.
            let end = handle.watermark().0;
            let from = random.random_range(end.saturating_sub(6)..end + 3);
            let limit = random.random_range(1..12);
            let _ = handle.read(Query::all(Position(from)).limit(limit));
        }
        9 => {
            handle.watermark();
        }
        _ => {
            if let Ok(name) = name.parse::<StreamName>() {
                let _ = handle.head(&name);
            }
        }
    }
}

fn pick(random: &mut StdRng) -> &'static str {
    let number = random.random_range(0..STREAMS.len());
    STREAMS.get(number).copied().unwrap_or("a-1")
}

/// A new batch for one or two streams; half of them expect the head that was seen.
fn new_append(
    handle: &Recorded<'_>,
    random: &mut StdRng,
    sample: &mut Sample,
    name: &'static str,
) -> Append {
    let more = random.random_range(0..3);
    let streams: Vec<&str> = std::iter::once(name)
        .chain((0..more).map(|_| pick(random)))
        .collect();
    let mut append = sample.append_to(&streams);
    if random.random_bool(0.5)
        && let Ok(stream) = name.parse::<StreamName>()
        && let Ok(head) = handle.head(&stream)
    {
        // Time for others to be faster, and now and then a version that has passed.
        thread::yield_now();
        let passed = u64::from(random.random_range(0..5) == 0);
        let expected = Expected::Exactly(Version(head.0.saturating_sub(passed)));
        append.expectations = vec![Expectation { stream, expected }];
    }
    append
}

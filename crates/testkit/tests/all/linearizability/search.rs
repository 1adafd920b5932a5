//! The check against a search over all orders, on small random histories.

use annals_event_log::{Appended, Expectation, Expected, Position, Version};
use annals_testkit::linearizability::{
    AppendAnswer, Call, Handle, History, Moment, Operation, check,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{append, batches, first, seen, stream};

/// The specification: how many of the final batches there are, and what each call may
/// be answered then. Batches have one record here, all of one stream.
fn step(history: &History, state: usize, call: &Call) -> Option<usize> {
    let log = batches(history);
    match call {
        Call::Append {
            batch,
            expectations,
            answer,
            ..
        } => {
            let known = log[..state].contains(batch);
            let holds = expectations
                .iter()
                .all(|it| it.expected.holds(Version(state as u64)));
            match answer {
                AppendAnswer::Appended(answer) if answer.repeated => {
                    let place = log[..state].iter().position(|it| it == batch)?;
                    (answer.first.0 == place as u64 + 1).then_some(state)
                }
                AppendAnswer::Appended(answer) => {
                    let next = log.get(state) == Some(batch);
                    let fits = answer.first.0 == state as u64 + 1;
                    (next && !known && holds && fits).then_some(state + 1)
                }
                AppendAnswer::Unknown => {
                    let next = log.get(state) == Some(batch);
                    (next && holds).then_some(state + 1)
                }
                AppendAnswer::Conflict {
                    expected, actual, ..
                } => {
                    let right = *actual == Version(state as u64) && !expected.holds(*actual);
                    (right && !known).then_some(state)
                }
                _ => Some(state),
            }
        }
        Call::Read { records, .. } => (records.len() == state).then_some(state),
        Call::Watermark { position } => (position.0 == state as u64).then_some(state),
        Call::Head { version, .. } => (version.0 == state as u64).then_some(state),
    }
}

/// Whether some order of the calls that are left explains them and ends with the log.
fn explained(history: &History, left: &[&Operation], state: usize) -> bool {
    let is_unknown = |it: &&&Operation| {
        let Call::Append { answer, .. } = &it.call else {
            return false;
        };
        *answer == AppendAnswer::Unknown
    };
    // What was not answered need not have happened.
    let done = left.iter().all(|it| is_unknown(&it));
    if done && state == batches(history).len() {
        return true;
    }
    let answered = left.iter().filter(|it| !is_unknown(it));
    let soonest = answered
        .map(|it| it.returned)
        .min()
        .unwrap_or(Moment(u64::MAX));
    (0..left.len()).any(|number| {
        let next = left[number];
        if next.invoked > soonest {
            return false;
        }
        let mut rest = left.to_vec();
        rest.remove(number);
        step(history, state, &next.call).is_some_and(|state| explained(history, &rest, state))
    })
}

/// A call that a log with these batches may be asked, with its true answer; it may add
/// a batch.
fn true_call(random: &mut StdRng, log: &mut Vec<u64>) -> Call {
    let state = log.len() as u64;
    match random.random_range(0..7) {
        0..4 => true_append(random, log),
        4 => Call::Watermark {
            position: Position(state),
        },
        5 => Call::Head {
            stream: stream("a-1"),
            version: Version(state),
        },
        _ => Call::Read {
            from: Position(1),
            records: (1..).zip(log).map(|(at, batch)| seen(at, *batch)).collect(),
            ended: true,
        },
    }
}

fn true_append(random: &mut StdRng, log: &mut Vec<u64>) -> Call {
    let state = log.len() as u64;
    let expectation = Expectation {
        stream: stream("a-1"),
        expected: Expected::Exactly(Version(random.random_range(0..3))),
    };
    let expectations = match random.random_range(0..3) {
        0 => vec![expectation],
        _ => Vec::new(),
    };
    let batch = random.random_range(1..5);
    let place = log.iter().position(|it| *it == batch);
    let mut broken = expectations.iter();
    let broken = broken.find(|it| !it.expected.holds(Version(state)));
    let answer = match (place, broken) {
        (Some(place), _) => {
            let at = Position(place as u64 + 1);
            AppendAnswer::Appended(Appended::new(at, at).again())
        }
        (None, Some(it)) => AppendAnswer::Conflict {
            stream: it.stream.clone(),
            expected: it.expected,
            actual: Version(state),
        },
        (None, None) => {
            log.push(batch);
            match random.random_range(0..4) {
                0 => AppendAnswer::Unknown,
                _ => first(state + 1),
            }
        }
    };
    let position = place.map_or(state + 1, |place| place as u64 + 1);
    append(batch, position, expectations, answer)
}

/// A history as a log would make it, with calls around the moments of an order.
fn true_history(random: &mut StdRng) -> History {
    let count: u64 = random.random_range(2..=6);
    let mut log = Vec::new();
    let mut operations = Vec::new();
    for number in 0..count {
        let call = true_call(random, &mut log);
        // Around its own two moments; half of the calls are wider.
        let (mut before, mut after) = (2 * number, 2 * number + 1);
        if random.random_bool(0.5) {
            before = random.random_range(0..=before);
            after = random.random_range(after..2 * count);
        }
        operations.push(Operation {
            handle: 0,
            // Two moments are never the same.
            invoked: Moment(before * 100 + number),
            returned: Moment(after * 100 + 50 + number),
            call,
        });
    }
    History {
        handles: vec![Handle::Current],
        operations,
        log: (1..).zip(log).map(|(at, batch)| seen(at, batch)).collect(),
    }
}

/// Moves a call in time or makes its answer another one.
fn spoil(history: &mut History, random: &mut StdRng) {
    let number = random.random_range(0..history.operations.len());
    let log = history.log.clone();
    let operation = &mut history.operations[number];
    match random.random_range(0..3) {
        0 => {
            let by = random.random_range(0..12) * 100;
            operation.invoked.0 += by;
            operation.returned.0 += by;
        }
        1 => {
            let length = (operation.returned.0 - operation.invoked.0) / 100;
            operation.returned.0 -= random.random_range(0..=length) * 100;
        }
        _ => match &mut operation.call {
            Call::Watermark { position } => position.0 = random.random_range(0..3),
            Call::Head { version, .. } => version.0 = random.random_range(0..3),
            Call::Read { records, .. } => {
                *records = log[..random.random_range(0..=log.len())].to_vec();
            }
            Call::Append { answer, .. } => match answer {
                AppendAnswer::Conflict { actual, .. } => actual.0 = random.random_range(0..3),
                AppendAnswer::Appended(_) => {
                    *answer = first(random.random_range(1..=log.len().max(1) as u64));
                }
                _ => {}
            },
        },
    }
}

#[test]
fn the_check_and_a_search_over_all_orders_agree() {
    let seed: u64 = 7;
    let mut random = StdRng::seed_from_u64(seed);
    let mut counts = [0_u32; 2];
    for case in 0..6_000 {
        let mut history = true_history(&mut random);
        let spoilt = random.random_range(0..=2);
        for _ in 0..spoilt {
            spoil(&mut history, &mut random);
        }
        let all: Vec<&Operation> = history.operations.iter().collect();
        let searched = explained(&history, &all, 0);
        let checked = check(&history);
        assert_eq!(
            searched,
            checked.is_ok(),
            "seed {seed}, case {case}: {checked:?}\n{history:#?}"
        );
        assert!(searched || spoilt > 0, "case {case}: {history:#?}");
        counts[usize::from(searched)] += 1;
    }
    println!("{} histories explained, {} not", counts[1], counts[0]);
    assert!(counts.iter().all(|count| *count > 1_000), "{counts:?}");
}

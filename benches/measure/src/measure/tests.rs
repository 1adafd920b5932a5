//! The measurements, on a store in memory that can be made to lie.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::*;
use crate::store::{Event, Token};
use crate::workload::Layout;

#[derive(Clone, Copy, PartialEq)]
enum Lie {
    None,
    /// Takes every append, regardless of its condition.
    NoCondition,
    /// Forgets every hundredth event when it reads everything.
    ForgetsInScans,
    /// Says that it has one event less than it has.
    Miscounts,
}

struct Memory<'a> {
    events: &'a Mutex<Vec<Event>>,
    lie: Lie,
}

impl Memory<'_> {
    fn all(&self) -> MutexGuard<'_, Vec<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn version(events: &[Event], stream: usize) -> Token {
    events.iter().filter(|event| event.stream == stream).count() as Token
}

impl Store for Memory<'static> {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        self.all().extend(events);
        std::thread::sleep(Duration::from_micros(200));
        Ok(())
    }

    fn append_if(&self, event: Event, last: Token) -> Result<Token, StoreError> {
        let mut all = self.all();
        if version(&all, event.stream) != last && self.lie != Lie::NoCondition {
            return Err(StoreError::Conflict);
        }
        all.push(event);
        Ok(last + 1)
    }

    fn tokens(&self, streams: usize) -> Result<Vec<Token>, StoreError> {
        let all = self.all();
        let mut tokens = vec![0; streams];
        for event in all.iter() {
            tokens[event.stream] += 1;
        }
        Ok(tokens)
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let forgets = self.lie == Lie::ForgetsInScans;
        for (number, event) in self.all().iter().enumerate() {
            if !forgets || number % 100 != 0 {
                each(&event.payload);
            }
        }
        Ok(())
    }

    fn read_stream(&self, stream: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let all = self.all();
        let events = all.iter().filter(|event| event.stream == stream);
        events.for_each(|event| each(&event.payload));
        Ok(())
    }

    fn events(&self) -> Result<u64, StoreError> {
        let less = u64::from(self.lie == Lie::Miscounts);
        Ok(self.all().len() as u64 - less)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// What measurements say, one after another on one store.
fn run(measurements: &[Measurement], layout: Layout, lie: Lie) -> Result<Vec<Line>, MeasureError> {
    let folder = tempfile::tempdir().unwrap();
    let events: &'static Mutex<Vec<Event>> = Box::leak(Box::default());
    let open = |_: &Path| Ok(Box::new(Memory { events, lie }) as Box<dyn Store>);
    let workload = Workload {
        payload_bytes: 16,
        layout,
        warm_up: Duration::from_millis(1),
        time: Duration::from_millis(20),
        events: 2_000,
        folder: folder.path().to_path_buf(),
    };
    let mut lines = Vec::new();
    for measurement in measurements {
        lines.extend(measure(*measurement, &open, &workload)?);
    }
    Ok(lines)
}

fn metrics(lines: &[Line]) -> Vec<&str> {
    let metrics = lines.iter().filter_map(|line| match line {
        Line::Figure(figure) => Some(figure.metric.as_str()),
        Line::Cold(_) => None,
    });
    metrics.collect()
}

#[test]
fn every_measurement_says_what_the_rows_ask_for() {
    for measurement in Measurement::ALL {
        let lines = match measurement {
            Measurement::Read => run(&[Measurement::Fill, measurement], Layout::Runs, Lie::None),
            _ => run(&[measurement], Layout::Interleaved, Lie::None),
        };
        let lines = lines.unwrap();
        let metrics = metrics(&lines);
        let rows = crate::rows::ROWS.iter();
        for row in rows.filter(|row| row.measurement == measurement) {
            assert!(metrics.contains(&row.metric), "{}: {metrics:?}", row.title);
        }
    }
}

#[test]
fn a_filled_log_has_streams_of_a_thousand_in_either_layout() {
    for layout in Layout::ALL {
        run(&[Measurement::Fill, Measurement::Read], layout, Lie::None).unwrap();
    }
}

#[test]
fn a_store_that_takes_a_stale_condition_is_not_measured() {
    let measurement = [Measurement::Conditional(4)];
    let error = run(&measurement, Layout::Interleaved, Lie::NoCondition).unwrap_err();
    assert!(error.to_string().contains("stale condition"), "{error}");
}

#[test]
fn a_store_that_forgets_is_not_measured() {
    let measurements = [Measurement::Fill, Measurement::Read];
    let error = run(&measurements, Layout::Runs, Lie::ForgetsInScans).unwrap_err();
    assert!(error.to_string().contains("a cold scan"), "{error}");
}

#[test]
fn a_store_whose_count_is_wrong_is_not_measured() {
    for measurement in [
        Measurement::Append(2),
        Measurement::Conditional(2),
        Measurement::Fill,
    ] {
        let error = run(&[measurement], Layout::Runs, Lie::Miscounts).unwrap_err();
        assert!(matches!(error, MeasureError::Wrong { .. }), "{error}");
    }
}

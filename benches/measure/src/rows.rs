//! The rows of the tables, and what each of them means.

use crate::measurement::Measurement;
use crate::measurement::Measurement::{Append, Batch, Conditional, Fill, Grown, Read};

/// Which of two values is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A rate.
    Higher,
    /// A time or a size.
    Lower,
}

/// One row.
#[derive(Debug)]
pub struct Row {
    /// Its first column.
    pub title: &'static str,
    /// The measurement that it is from.
    pub measurement: Measurement,
    /// The number of that measurement.
    pub metric: &'static str,
    /// What one is: `events/s`, `us`, `ms`, `bytes`.
    pub unit: &'static str,
    /// Which values are better.
    pub better: Better,
}

const fn rate(title: &'static str, measurement: Measurement, metric: &'static str) -> Row {
    Row {
        title,
        measurement,
        metric,
        unit: "events/s",
        better: Better::Higher,
    }
}

const fn least(
    title: &'static str,
    measurement: Measurement,
    metric: &'static str,
    unit: &'static str,
) -> Row {
    Row {
        title,
        measurement,
        metric,
        unit,
        better: Better::Lower,
    }
}

/// All rows. The groups' meanings are [`MEANINGS`].
pub const ROWS: &[Row] = &[
    rate("durable append, 1 client", Append(1), "rate"),
    least("durable append, 1 client, p50", Append(1), "p50", "us"),
    least("durable append, 1 client, p99", Append(1), "p99", "us"),
    rate("durable append, 16 clients", Append(16), "rate"),
    least("durable append, 16 clients, p99", Append(16), "p99", "us"),
    rate("durable append, 64 clients", Append(64), "rate"),
    least("durable append, 64 clients, p50", Append(64), "p50", "us"),
    least("durable append, 64 clients, p99", Append(64), "p99", "us"),
    rate("batches of 10", Batch(10), "rate"),
    rate("batches of 100", Batch(100), "rate"),
    rate("batches of 1,000", Batch(1_000), "rate"),
    rate("conditional append, 1 client", Conditional(1), "rate"),
    rate("conditional append, 64 clients", Conditional(64), "rate"),
    rate("scan, warm", Read, "scan warm"),
    rate("scan, cold", Read, "scan cold"),
    least("one stream of 1,000, p50", Read, "stream p50", "us"),
    least("one stream of 1,000, p99", Read, "stream p99", "us"),
    least("open, warm", Read, "open warm", "ms"),
    least("open, cold", Read, "open cold", "ms"),
    least("bytes an event", Fill, "bytes", "bytes"),
    rate("grown: durable append, 1 client", Grown, "append-1 rate"),
    rate("grown: durable append, 64 clients", Grown, "append-64 rate"),
    least("grown: 64 clients, p99", Grown, "append-64 p99", "us"),
    rate("grown: batches of 1,000", Grown, "batch-1000 rate"),
    rate("grown: conditional, 1 client", Grown, "conditional-1 rate"),
    rate(
        "grown: conditional, 64 clients",
        Grown,
        "conditional-64 rate",
    ),
];

/// What the rows whose titles begin so mean.
pub const MEANINGS: &[(&str, &str)] = &[
    (
        "durable append",
        "Each client appends one event, waits until it is durable, and appends the next one. The \
         rate is that of all clients together, after a warm-up that does not count; p50 and p99 \
         are what one append took.",
    ),
    (
        "batches",
        "One client appends so many events as one atomic batch, waits, and appends the next \
         batch. The rate counts events.",
    ),
    (
        "conditional append",
        "Like a durable append, on the condition that the stream is where the client saw it last. \
         Each client has streams of its own, so none is refused; at the end a stale condition is \
         tried, and a store that accepts it is not measured.",
    ),
    (
        "scan",
        "Every event in the store's order, both ends of every payload looked at. Warm is the \
         third scan in a row, the second one of its process; cold is the first one after the \
         pages of the store's files were dropped from memory.",
    ),
    (
        "one stream",
        "All 1,000 events of one stream, streams in no order, as an aggregate is loaded. \
         Everything was read before.",
    ),
    (
        "open",
        "Until the store is open and says how many events it has, after it was closed in order.",
    ),
    (
        "bytes",
        "The lengths of all files after closing, divided by the events; what a store allocated \
         beforehand counts, too.",
    ),
    (
        "grown",
        "The same appends, one kind after another, to the log that the rows above them filled.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_has_its_title_and_its_meaning() {
        let titles: BTreeSet<_> = ROWS.iter().map(|row| row.title).collect();
        assert_eq!(titles.len(), ROWS.len());
        for row in ROWS {
            let meaning = MEANINGS
                .iter()
                .any(|(begin, _)| row.title.starts_with(begin));
            assert!(meaning, "{}", row.title);
        }
        for (begin, _) in MEANINGS {
            assert!(
                ROWS.iter().any(|row| row.title.starts_with(begin)),
                "{begin}"
            );
        }
    }

    #[test]
    fn every_measurement_has_a_row() {
        for measurement in Measurement::ALL {
            assert!(ROWS.iter().any(|row| row.measurement == measurement));
        }
    }
}

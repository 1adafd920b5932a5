//! The rows of the table.

use crate::rows::Better;

/// One row: a number of a load.
#[derive(Debug)]
pub struct LoadRow {
    /// Its first column.
    pub title: &'static str,
    /// The load's name.
    pub load: &'static str,
    /// The number of that load: `rate`, `p50` or `p99`.
    pub metric: &'static str,
    /// What one is: `events/s` or `us`.
    pub unit: &'static str,
    /// Which values are better.
    pub better: Better,
}

const fn rate(title: &'static str, load: &'static str) -> LoadRow {
    LoadRow {
        title,
        load,
        metric: "rate",
        unit: "events/s",
        better: Better::Higher,
    }
}

const fn time(title: &'static str, load: &'static str, metric: &'static str) -> LoadRow {
    LoadRow {
        title,
        load,
        metric,
        unit: "us",
        better: Better::Lower,
    }
}

/// All rows.
pub const LOAD_ROWS: &[LoadRow] = &[
    rate("1 client", "1-client"),
    time("1 client, p50", "1-client", "p50"),
    time("1 client, p99", "1-client", "p99"),
    rate("2 clients", "2-clients"),
    rate("64 clients", "64-clients"),
    time("64 clients, p50", "64-clients", "p50"),
    time("64 clients, p99", "64-clients", "p99"),
    rate("32 logs, 2 clients each", "32-logs"),
    time("32 logs, 2 clients each, p50", "32-logs", "p50"),
    time("32 logs, 2 clients each, p99", "32-logs", "p99"),
    rate("64 clients, batches of 10", "64-clients-of-10"),
    time("64 clients, batches of 10, p99", "64-clients-of-10", "p99"),
    rate("1 client, batches of 100", "1-client-of-100"),
    rate("8 clients, batches of 100", "8-clients-of-100"),
    time("8 clients, batches of 100, p99", "8-clients-of-100", "p99"),
];

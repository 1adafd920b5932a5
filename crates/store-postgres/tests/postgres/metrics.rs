//! What is counted, in the names of `docs/postgres.md`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use annals_event_log::{EventLog, Expectation, Expected, ReadModels};
use annals_store_postgres::PostgresLog;
use futures::executor::block_on;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

use crate::support::{DATABASE, batch, server, settings};

/// Figures of one log by their names and what else they are told apart by.
fn figures(snapshots: &Snapshotter, log: &str) -> HashMap<String, DebugValue> {
    let all = snapshots.snapshot().into_vec().into_iter();
    let of_log = all.filter_map(|(key, _, _, value)| {
        let key = key.key();
        let labels: Vec<(&str, &str)> = key.labels().map(|it| (it.key(), it.value())).collect();
        labels.contains(&("log", log)).then_some(())?;
        let rest = labels
            .iter()
            .filter(|(name, _)| !["log", "schema"].contains(name));
        let rest: Vec<&str> = rest.map(|(_, value)| *value).collect();
        Some((
            format!("{} {}", key.name(), rest.join(" "))
                .trim()
                .to_owned(),
            value,
        ))
    });
    of_log.collect()
}

#[test]
fn what_an_operator_watches_is_counted() {
    let Some(server) = server() else { return };
    let recorder = DebuggingRecorder::new();
    let snapshots = recorder.snapshotter();
    recorder.install().expect("no other test installs one");
    let settings = settings(server, DATABASE, "");
    let log = PostgresLog::create(&settings).unwrap();
    for _ in 0..3 {
        block_on(log.append(batch("a-1", 5))).unwrap();
    }
    let mut refused = batch("a-1", 1);
    refused.expectations = vec![Expectation {
        stream: refused.events[0].stream.clone(),
        expected: Expected::NoStream,
    }];
    block_on(log.append(refused)).unwrap_err();
    assert!(block_on(log.leads("catalogue.1")));
    let found = figures(&snapshots, &settings.log);
    let count = |name: &str| match found.get(name) {
        Some(DebugValue::Counter(count)) => *count,
        Some(DebugValue::Gauge(value)) => value.into_inner() as u64,
        Some(DebugValue::Histogram(values)) => values.len() as u64,
        None => panic!("{name} is not among {:?}", found.keys()),
    };
    for (name, expected) in [
        ("annals_postgres_batches_total acknowledged", 3),
        ("annals_postgres_batches_total refused", 1),
        ("annals_postgres_events_total", 15),
        ("annals_postgres_group_seconds", 3),
        ("annals_postgres_group_batches", 3),
        ("annals_postgres_position", 15),
        ("annals_postgres_leads catalogue.1", 1),
    ] {
        assert_eq!(count(name), expected, "{name}");
    }
    // Each is in the page, and the page has no other one.
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/postgres.md");
    let page = fs::read_to_string(page).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/metrics.rs");
    let source = fs::read_to_string(source).unwrap();
    let names = |text: &str, before: &str| -> Vec<String> {
        let ends = |c: char| !(c.is_ascii_lowercase() || c == '_');
        let before = format!("{before}annals_postgres_");
        let parts = text.split(before.as_str()).skip(1);
        let mut names: Vec<String> = parts
            .map(|part| part.split(ends).next().unwrap_or_default().to_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&page, "| `"), names(&source, "\""));
}

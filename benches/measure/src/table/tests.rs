//! Tables of numbers that are made up.

use super::*;
use crate::machine::Machine;
use crate::results::{Figure, Sample, Settings};

/// Numbers as `(store, measurement, metric, bytes, values of the rounds)`.
fn results(numbers: &[(&str, &str, &str, usize, &[f64])]) -> Results {
    let mut samples = Vec::new();
    for (store, measurement, metric, payload_bytes, values) in numbers {
        for (round, value) in values.iter().enumerate() {
            samples.push(Sample {
                store: (*store).into(),
                measurement: (*measurement).into(),
                payload_bytes: *payload_bytes,
                layout: "interleaved".into(),
                round,
                figure: Figure::new(*metric, *value),
            });
        }
    }
    Results {
        date: "2000-01-01 00:00 UTC".into(),
        revision: "made up".into(),
        machine: Machine::default(),
        settings: Settings {
            rounds: 3,
            seconds: 1.0,
            events: 1_000,
            payloads: vec![300, 100],
            quick: false,
        },
        samples,
        cold: Vec::new(),
        failures: Vec::new(),
    }
}

#[test]
fn a_table_has_medians_and_the_ratio_to_the_best_peer() {
    let results = results(&[
        (
            "annals",
            "append-1",
            "rate",
            300,
            &[3_000.0, 9_000.0, 4_000.0],
        ),
        ("tephra", "append-1", "rate", 300, &[5_000.0, 1.0, 8_000.0]),
        ("sqlite", "append-1", "rate", 300, &[4_500.4]),
        ("file", "append-1", "rate", 300, &[1_234_567.0]),
        ("annals", "read", "stream p50", 300, &[22.94]),
        ("tephra", "read", "stream p50", 300, &[0.954]),
        ("sqlite", "read", "stream p50", 300, &[1.6]),
        // Another payload's numbers are another table's.
        ("umadb", "append-1", "rate", 100, &[77.0]),
    ]);
    assert_eq!(
        of_stores(&results, 300, Layout::Interleaved),
        "|  | unit | ours | Tephra 0.4.1 | SQLite (WAL, FULL) | bare file | ours : best | \
         each round |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n\
         | durable append, 1 client | events/s | 4,000 | 5,000 | 4,500 | 1,234,567 | 0.80 | 0.60 9000.00 0.50 |\n\
         | one stream of 1,000, p50 | us | 22.9 | 0.95 | 1.60 | - | 0.04 | 0.04 - - |\n"
    );
    assert_eq!(of_stores(&results, 300, Layout::Runs), "");
}

#[test]
fn a_store_that_is_only_shown_is_not_what_ours_is_compared_with() {
    let results = results(&[
        ("annals", "batch-10", "rate", 300, &[10.0]),
        ("file", "batch-10", "rate", 300, &[1_000.0]),
        ("rocksdb", "batch-10", "rate", 300, &[100.0]),
        ("git-internal", "batch-10", "rate", 300, &[50.0]),
    ]);
    let table = of_stores(&results, 300, Layout::Interleaved);
    assert!(
        table.ends_with("| 10.0 | 100 | 1,000 | 50.0 | - |\n"),
        "{table}"
    );
}

#[test]
fn the_second_table_has_a_ratio_for_each_payload() {
    let results = results(&[
        ("annals", "fill", "bytes", 100, &[300.0]),
        ("umadb", "fill", "bytes", 100, &[150.0]),
        ("sqlite", "fill", "bytes", 100, &[200.0]),
        ("annals", "fill", "bytes", 2_000, &[2_000.0]),
    ]);
    assert_eq!(
        of_payloads(&results, &[100, 2_000], Layout::Interleaved),
        "|  | unit | 100 B: ours | 100 B: best | 100 B: ours : best | 2000 B: ours | 2000 B: best \
         | 2000 B: ours : best |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n\
         | bytes an event | bytes | 300 | 150 | 0.50 | 2,000 | - | - |\n"
    );
    assert_eq!(of_payloads(&results, &[64], Layout::Interleaved), "");
}

#[test]
fn figures_have_the_digits_that_say_something() {
    let cases = [
        (0.0, "0.00"),
        (0.137, "0.14"),
        (9.99, "9.99"),
        (17.04, "17.0"),
        (99.94, "99.9"),
        (100.4, "100"),
        (999.6, "1,000"),
        (12_345.6, "12,346"),
        (1_000_000.0, "1,000,000"),
    ];
    for (value, text) in cases {
        assert_eq!(figure(Some(value)), text);
    }
    assert_eq!(figure(None), "-");
}

#[test]
fn a_ratio_to_nothing_is_not_a_number_of_the_table() {
    let results = results(&[
        ("annals", "append-1", "p50", 300, &[0.0]),
        ("tephra", "append-1", "p50", 300, &[1.0]),
    ]);
    let table = of_stores(&results, 300, Layout::Interleaved);
    assert!(table.ends_with("| 0.00 | 1.00 | - |\n"), "{table}");
}

#[test]
fn a_bar_in_a_cell_does_not_end_it() {
    let mut table = Table::new(["a", "b"]);
    table.push(["x|y", "12"]);
    assert_eq!(
        table.markdown(),
        "| a | b |\n| --- | ---: |\n| x\\|y | 12 |\n"
    );
}

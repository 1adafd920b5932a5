//! Pages of numbers that are made up.

use std::collections::BTreeSet;

use super::compared::{COMPARED, OURS};
use super::goals::goals;
use super::loads::LOADS;
use super::page::{MARKS, measured};
use super::results::{CopyTimes, LoadSample, LoadSettings, PostgresResults, ServerSetting};
use super::rows::LOAD_ROWS;
use super::table::{of_loads, of_many_logs};
use crate::machine::Machine;
use crate::page::with_measured;
use crate::results::Figure;
use crate::stores::Role;

/// Rates as `(store, load, values of the rounds)`.
fn results(rates: &[(&str, &str, &[f64])]) -> PostgresResults {
    let mut samples = Vec::new();
    for (store, load, values) in rates {
        for (round, value) in values.iter().enumerate() {
            samples.push(LoadSample {
                store: (*store).into(),
                load: (*load).into(),
                round,
                figure: Figure::new("rate", *value),
            });
        }
    }
    PostgresResults {
        date: "2000-01-01 00:00 UTC".into(),
        revision: "made up".into(),
        machine: Machine::default(),
        server: vec![ServerSetting {
            name: "fsync".into(),
            value: "on".into(),
        }],
        settings: LoadSettings {
            rounds: 2,
            warm_up_seconds: 1.0,
            seconds: 5.0,
            payload_bytes: 300,
            quick: false,
        },
        samples,
        copy: None,
        failures: Vec::new(),
    }
}

#[test]
fn names_are_unique_and_ours_is_one_of_them() {
    let stores: BTreeSet<_> = COMPARED.iter().map(|store| store.name).collect();
    let loads: BTreeSet<_> = LOADS.iter().map(|load| load.name).collect();
    assert_eq!(stores.len(), COMPARED.len());
    assert_eq!(loads.len(), LOADS.len());
    assert!(stores.is_disjoint(&loads));
    let ours = COMPARED.iter().filter(|store| store.role == Role::Ours);
    assert_eq!(ours.map(|store| store.name).collect::<Vec<_>>(), vec![OURS]);
}

#[test]
fn every_row_is_of_a_load_and_every_load_has_a_row() {
    let rows: BTreeSet<_> = LOAD_ROWS.iter().map(|row| row.load).collect();
    let loads: BTreeSet<_> = LOADS.iter().map(|load| load.name).collect();
    assert_eq!(rows, loads);
}

#[test]
fn the_table_has_medians_and_ratios_to_the_best_peer() {
    let results = results(&[
        ("annals", "1-client", &[600.0, 800.0]),
        ("annals-rocks", "1-client", &[5_000.0, 5_000.0]),
        ("message-db", "1-client", &[1_000.0, 1_000.0]),
        ("marten", "1-client", &[1_200.0, 1_600.0]),
    ]);
    assert_eq!(
        of_loads(&results),
        "|  | unit | Annals on PostgreSQL | Annals on RocksDB | message-db's schema | Marten's schema | ours : best | \
         each round |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n\
         | 1 client | events/s | 700 | 5,000 | 1,000 | 1,400 | 0.50 | 0.50 0.50 |\n"
    );
    assert_eq!(of_many_logs(&results), "");
}

#[test]
fn many_logs_are_next_to_one() {
    let results = results(&[
        ("annals", "2-clients", &[1_000.0]),
        ("annals", "64-clients", &[4_000.0]),
        ("annals", "32-logs", &[5_000.0]),
    ]);
    assert_eq!(
        of_many_logs(&results),
        "|  | Annals on PostgreSQL |\n\
         | --- | ---: |\n\
         | 32 logs : one of them (2 clients) | 5.00 |\n\
         | 32 logs : one log with 64 clients | 1.25 |\n"
    );
    let met: Vec<_> = goals(&results).iter().map(|goal| goal.is_met()).collect();
    assert_eq!(met, [true, true, false]);
}

#[test]
fn a_copy_is_held_against_what_was_asked_if_it_is_large_enough() {
    let mut results = results(&[]);
    for (events, seconds, expected) in [
        (1_000_000, 60.0, Some(true)),
        (1_000_000, 80.0, Some(false)),
        (999_999, 1.0, None),
    ] {
        results.copy = Some(CopyTimes {
            events,
            copying_seconds: seconds,
            verifying_seconds: 50.0,
        });
        let goals = goals(&results);
        assert_eq!(goals.first().map(|goal| goal.is_met()), expected);
    }
}

#[test]
fn the_measured_part_says_where_how_and_of_what() {
    let mut results = results(&[("annals", "1-client", &[700.0])]);
    results.copy = Some(CopyTimes {
        events: 1_000_000,
        copying_seconds: 60.0,
        verifying_seconds: 10.5,
    });
    let text = measured(&results);
    for needed in [
        "| Date | 2000-01-01 00:00 UTC |",
        "| PostgreSQL | `fsync` on |",
        "medians of 2 rounds",
        "took 70.5 s: 60.0 s until",
        "| a copy of 1000000 events, seconds | 120 | 70.5 | yes |",
        "| Marten's schema | `mt_streams`",
    ] {
        assert!(text.contains(needed), "{needed} is not in\n{text}");
    }
    assert!(!text.contains("A quick run"));
    results.settings.quick = true;
    assert!(measured(&results).contains("A quick run"));
}

/// Each of the two programs writes its own part, and leaves the other's as it is.
#[test]
fn the_page_of_the_repository_has_a_place_for_both_parts() {
    let page = include_str!("../../../../docs/performance.md");
    let with_this = MARKS.with(page, "this one").unwrap();
    let with_both = with_measured(&with_this, "the other one").unwrap();
    assert!(with_both.contains("\n\nthis one\n\n") && with_both.contains("\n\nthe other one\n\n"));
    assert_eq!(MARKS.with(&with_both, "this one").unwrap(), with_both);
    assert_eq!(
        with_measured(&with_both, "the other one").unwrap(),
        with_both
    );
}

//! Which jobs there are, and what becomes of programs that fail.

use std::sync::{Mutex, PoisonError};

use super::*;
use crate::machine::Machine;

/// Held while programs are started: one that another thread has just written cannot be run while
/// a process that is about to begin still has it open.
static PROGRAMS: Mutex<()> = Mutex::new(());

fn plan(rounds: usize, payloads: &[usize], only: &[&str]) -> Plan {
    Plan {
        settings: Settings {
            rounds,
            seconds: 1.0,
            events: 1_000,
            payloads: payloads.to_vec(),
            quick: true,
        },
        only: only.iter().map(|name| (*name).to_owned()).collect(),
        ours: "ours".into(),
        peers: "peers".into(),
        data: "data".into(),
    }
}

fn results(plan: &Plan) -> Results {
    Results {
        date: String::new(),
        revision: String::new(),
        machine: Machine::default(),
        settings: plan.settings.clone(),
        samples: Vec::new(),
        cold: Vec::new(),
        failures: Vec::new(),
    }
}

fn names(jobs: &[Job]) -> Vec<String> {
    let name = |job: &Job| format!("{} {}", job.store.name, job.measurement);
    jobs.iter().map(name).collect()
}

#[test]
fn stores_take_turns_and_another_one_begins_in_each_round() {
    let jobs = jobs(&plan(2, &[300], &["tephra", "append-1", "append-16"]));
    assert_eq!(
        names(&jobs),
        [
            "annals append-1",
            "tephra append-1",
            "annals append-16",
            "tephra append-16",
            "tephra append-1",
            "annals append-1",
            "tephra append-16",
            "annals append-16",
        ]
    );
}

#[test]
fn a_large_log_is_made_before_it_is_read_and_gone_before_the_next() {
    let jobs = jobs(&plan(1, &[300], &["sqlite", "grown", "read"]));
    let expected = ["fill", "read", "grown"];
    let of = |store: &str| expected.map(|name| format!("{store} {name}"));
    let runs = |store: &str| ["fill", "read"].map(|name| format!("{store} {name}"));
    let expected: Vec<String> = of("annals")
        .into_iter()
        .chain(of("sqlite"))
        .chain(runs("annals"))
        .chain(runs("sqlite"))
        .collect();
    assert_eq!(names(&jobs), expected);
    let starts = jobs.windows(2).filter(|pair| !continues(pair[0], pair[1]));
    assert_eq!(starts.count(), 3);
}

#[test]
fn a_store_is_not_asked_for_what_it_cannot_do() {
    let jobs = jobs(&plan(1, &[300, 100, 2_000], &[]));
    for job in &jobs {
        assert!((job.store.can)(job.measurement, job.section.layout));
    }
    let of = |name: &str| jobs.iter().filter(|job| job.store.name == name).count();
    // Eleven measurements of three payloads, and five in runs.
    assert_eq!(of("annals"), 3 * 11 + 5);
    assert_eq!(of("file"), 3 * 4 + 3);
    assert_eq!(of("varvedb"), 3 * 3 + 5);
}

#[test]
fn only_the_main_table_is_measured_in_each_round() {
    let of_round = |round| {
        let jobs = jobs(&plan(3, &[300, 100, 2_000], &["tephra", "batch-100"]));
        let jobs = jobs.into_iter().filter(move |job| job.round == round);
        let conditions = jobs.map(|job| (job.section.payload_bytes, job.section.layout));
        let mut conditions: Vec<_> = conditions.collect();
        conditions.dedup();
        conditions
    };
    let main = (300, Layout::Interleaved);
    let once = [(100, Layout::Interleaved), (2_000, Layout::Interleaved)];
    let runs = (300, Layout::Runs);
    assert_eq!(of_round(0), [main, once[0], once[1], runs]);
    assert_eq!(of_round(1), [main]);
    assert_eq!(of_round(2), [main]);
}

#[test]
fn a_name_that_is_nothing_is_refused() {
    let check = |name: &str| check_names(&[name.to_owned()]);
    assert!(check("append-64").is_ok());
    assert!(check("sqlite").is_ok());
    let error = check("sqlight").unwrap_err().to_string();
    assert!(
        error.contains("\"sqlight\"") && error.contains("sqlite"),
        "{error}"
    );
}

#[test]
fn a_program_that_fails_is_said_and_the_rest_goes_on() {
    let _alone = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let data = tempfile::tempdir().unwrap();
    let mut plan = plan(1, &[300], &["file", "append-1"]);
    plan.data = data.path().to_path_buf();
    plan.ours = data.path().join("is not there");
    plan.peers = data.path().join("is not there either");
    let mut results = results(&plan);
    run(&plan, &mut results).unwrap();
    assert!(results.samples.is_empty());
    let failures = &results.failures;
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(failures[0].contains("--store annals"), "{failures:?}");
    assert!(failures[1].contains("--store file"), "{failures:?}");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn what_a_program_prints_is_kept_with_what_it_belongs_to() {
    use std::os::unix::fs::PermissionsExt;
    let _alone = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let data = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    let program = programs.path().join("program");
    let lines = [
        serde_json::to_string(&Line::Figure(crate::results::Figure::new("rate", 7.0))).unwrap(),
        serde_json::to_string(&Line::Cold("dropped".into())).unwrap(),
    ];
    let lines = lines.map(|line| format!("{MARK}{line}")).join("' '");
    let script = format!("#!/bin/sh\nprintf '%s\\n' 'a library says hello' '{lines}'\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut plan = plan(2, &[300], &["file", "append-1"]);
    plan.data = data.path().to_path_buf();
    plan.ours = program.clone();
    plan.peers = program;
    let mut results = results(&plan);
    run(&plan, &mut results).unwrap();
    assert_eq!(results.failures, Vec::<String>::new());
    assert_eq!(results.cold, ["dropped"]);
    let values = results.values("file", "append-1", "rate", 300, Layout::Interleaved);
    assert_eq!(values, [7.0, 7.0]);
}

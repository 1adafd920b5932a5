//! What is said against objects that come in several imports: what is in the
//! log counts as well as what comes with them.

use std::ops::Range;

use annals::Annals;
use annals_testkit::process::assert_grows_at_most;
use serde_json::{Value, json};

use super::state::{id, lines, object};
use super::{import_text, log};

const COMMIT: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// Imports objects and gives what is said against them.
fn said(log: &Annals, objects: &[Value]) -> Vec<String> {
    let report = import_text(log, lines(objects));
    let count = objects.len() as u64;
    assert_eq!(report.imported + report.already_there, count, "{report}");
    let all = report.violations.into_iter();
    all.flat_map(|one| one.violations).collect()
}

fn decision(number: u128, run: u128, rationale: &str) -> Value {
    let body = json!({ "run_id": id(run), "decision_type": "abandon", "rationale": rationale });
    object("decision", number, body)
}

fn provenance(number: u128, run: u128) -> Value {
    let body = json!({ "run_id": id(run), "provider": "p", "model": "m" });
    object("provenance", number, body)
}

fn task(number: u128, fields: Value) -> Value {
    let mut body = json!({ "title": "t", "status": "draft" });
    let (body_fields, fields) = (body.as_object_mut().unwrap(), fields);
    body_fields.extend(fields.as_object().unwrap().clone());
    object("task", number, body)
}

fn run(number: u128, status: &str, patch_sets: Value) -> Value {
    let body =
        json!({ "task": id(1), "commit": COMMIT, "status": status, "patchsets": patch_sets });
    object("run", number, body)
}

fn patch_set(number: u128, run: u128) -> Value {
    let body = json!({ "run": id(run), "commit": COMMIT, "format": "git_diff", "touched": [],
        "apply_status": "proposed" });
    object("patch_set", number, body)
}

#[test]
fn a_second_decision_and_a_second_provenance_are_listed_whenever_they_come() {
    let log = log();
    let task = task(1, json!({ "runs": [id(2)], "status": "running" }));
    assert_eq!(said(&log, &[task, run(2, "created", json!([]))]), [""; 0]);
    assert_eq!(
        said(&log, &[decision(3, 2, "a"), provenance(5, 2)]),
        [""; 0]
    );
    let first = |what: &str, n| format!("run_id: the run has {what} {} already", id(n));
    let second = [decision(4, 2, "b"), provenance(6, 2)];
    let expected = [first("decision", 3), first("provenance", 5)];
    assert_eq!(said(&log, &second), expected);
    // The first one stays the first one, however it is changed, and regardless of
    // what comes before it in a source.
    let changed = [decision(4, 2, "c"), decision(3, 2, "d")];
    assert_eq!(said(&log, &changed), [first("decision", 3)]);
    // A run that is over has its decision, also where it is in the log alone.
    let over = run(2, "completed", json!([]));
    assert_eq!(said(&log, &[over]), [""; 0]);
    let undecided = said(&log, &[run(7, "completed", json!([]))]);
    assert!(
        undecided
            .iter()
            .any(|said| said.contains("without a decision")),
        "{undecided:?}"
    );
}

#[test]
fn cycles_that_are_closed_over_several_imports_are_listed() {
    let intent = |number, parent: u128| {
        let statuses = json!([{ "status": "draft", "changed_at": "2026-01-02T03:04:05Z" }]);
        let body = json!({ "prompt": "p", "parent": id(parent), "statuses": statuses });
        object("intent", number, body)
    };
    let plan = |number, previous: u128| {
        object(
            "plan",
            number,
            json!({ "previous": id(previous), "steps": [] }),
        )
    };
    let parent = |number, parent: u128| task(number, json!({ "parent": id(parent) }));
    let depends = |number, on: &[u128]| {
        let on: Vec<_> = on.iter().map(|on| id(*on)).collect();
        task(number, json!({ "dependencies": on }))
    };
    let path = |ids: &[u128]| {
        let ids: Vec<String> = ids.iter().map(|number| id(*number).to_string()).collect();
        ids.join(" -> ")
    };
    // One after the other: 1 -> 2 -> 3 -> 1, and 9 hangs on it.
    for (field, words, one) in [
        (
            "parent",
            "it leads back to the object",
            &intent as &dyn Fn(u128, u128) -> Value,
        ),
        ("previous", "it leads back to the object", &plan),
        ("parent", "it leads back to the object", &parent),
        ("dependencies", "they lead back to the task", &|n, on| {
            depends(n, &[99, on])
        }),
    ] {
        let log = log();
        import_text(&log, lines(&[one(1, 2)]));
        import_text(&log, lines(&[one(2, 3)]));
        let said = said(&log, &[one(9, 1), one(3, 1)]);
        let expected = format!("{field}: {words}: {}", path(&[3, 1, 2, 3]));
        let cycles: Vec<&String> = said.iter().filter(|said| said.contains(words)).collect();
        assert_eq!(cycles, [&expected], "{said:?}");
    }
    // What comes now counts before what the log has: 2 names nothing any more.
    let log = log();
    import_text(&log, lines(&[intent(1, 2), intent(2, 3)]));
    let free = task(2, json!({}));
    assert_eq!(
        import_text(&log, lines(&[free])).broken_count,
        1,
        "2 is an intent"
    );
    let said = said(&log, &[intent(2, 4), intent(3, 1)]);
    assert!(
        said.iter().all(|said| !said.contains("leads back")),
        "{said:?}"
    );
}

#[test]
fn links_of_runs_are_judged_by_what_the_log_has() {
    let log = log();
    let before = [
        task(1, json!({ "runs": [id(2)], "status": "running" })),
        run(2, "created", json!([id(4)])),
        patch_set(4, 2),
    ];
    assert_eq!(said(&log, &before), [""; 0]);
    // 3 is not the task's, 4 is another run's, 5 is not in the run's list.
    assert_eq!(
        said(&log, &[run(3, "created", json!([id(4)]))]),
        [
            format!("patchsets: {} says that it is of run {}", id(4), id(2)),
            "task: the task's runs do not have this one".to_owned(),
        ]
    );
    let lacks = "run: the run's patchsets do not have this one";
    assert_eq!(said(&log, &[patch_set(5, 2)]), [lacks]);
    let evidence = |number, patch_set: u128| {
        let body = json!({ "run_id": id(3), "patchset_id": id(patch_set), "kind": "test",
            "tool": "t" });
        object("evidence", number, body)
    };
    let foreign = format!("patchset_id: it is of run {}", id(2));
    assert_eq!(said(&log, &[evidence(6, 4)]), [foreign]);
    // The same run again, as it was.
    assert_eq!(
        said(&log, &[run(2, "patching", json!([id(4), id(5)]))]),
        [""; 0]
    );
}

/// An import of one object after another does not walk through the whole log.
#[test]
fn a_long_chain_in_the_log_is_followed_a_bounded_way() {
    let plan = |number: u128| {
        let body = json!({ "previous": id(number - 1), "steps": [] });
        object("plan", number, body)
    };
    let begin = |length: u128| {
        let log = log();
        let chain: Vec<Value> = (10..length).map(plan).collect();
        import_text(&log, lines(&chain));
        log
    };
    let add = |log: &Annals, numbers: &mut Range<u128>| {
        for number in numbers.take(20) {
            assert_eq!(said(log, &[plan(number)]), [""; 0]);
        }
    };
    let (mut in_short, mut in_long) = (2_000..u128::MAX, 12_000..u128::MAX);
    let (short, long) = (begin(in_short.start), begin(in_long.start));
    // A walk through the whole chain would take six times as long.
    assert_grows_at_most(
        4.0,
        || add(&short, &mut in_short),
        || add(&long, &mut in_long),
    );
}

#[test]
fn a_chain_that_is_not_followed_to_its_end_is_noted() {
    let plan = |number: u128, previous: u128| {
        let body = json!({ "previous": id(previous), "steps": [] });
        object("plan", number, body)
    };
    let chain: Vec<Value> = (10..1_100).map(|number| plan(number, number - 1)).collect();
    let log = log();
    let said = |objects: &[Value]| {
        let report = import_text(&log, lines(objects));
        let note = "lead on to more objects of the log than are followed";
        report.notes.iter().any(|said| said.contains(note))
    };
    assert!(!said(&chain), "all of it comes at once");
    assert!(!said(&[plan(2_000, 500)]), "it is not far from there");
    assert!(said(&[plan(2_001, 1_099)]));
}

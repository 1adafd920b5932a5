//! Importing again: what is unchanged stays, what is new comes in, and what
//! this log has changed is not undone.

use annals::Request;
use annals_domain::intent::CancelIntent;
use annals_domain::{ActorRef, IntentId};
use futures::executor::block_on;
use serde_json::json;

use super::state::{id, lines, object};
use super::writer::Writer;
use super::{export, import_text, log, text};

#[test]
fn importing_again_appends_nothing() {
    let written = Writer::new(3).objects(22).join("\n");
    let log = log();
    import_text(&log, &written);
    let end = log.position();
    let report = import_text(&log, &written);
    assert_eq!((report.imported, report.already_there), (0, 22), "{report}");
    assert_eq!((report.events_made, log.position()), (0, end));
}

/// What came with the object under a name that we do not know is lost, and
/// does not make another object of it.
#[test]
fn only_what_is_kept_tells_objects_apart() {
    let log = log();
    let plain = object("intent", 1, json!({ "prompt": "p", "statuses": [] }));
    let more = object(
        "intent",
        1,
        json!({ "prompt": "p", "statuses": [], "colour": 1 }),
    );
    import_text(&log, lines(&[plain]));
    assert_eq!(import_text(&log, lines(&[more])).already_there, 1);
}

#[test]
fn a_newer_state_replaces_the_adopted_one() {
    let log = log();
    let task = |status: &str, runs: Vec<uuid::Uuid>| {
        object(
            "task",
            1,
            json!({ "title": "t", "runs": runs, "status": status }),
        )
    };
    import_text(&log, lines(&[task("draft", vec![])]));
    let newer = task("running", vec![id(2)]);
    let report = import_text(&log, lines(std::slice::from_ref(&newer)));
    assert_eq!((report.imported, report.already_there), (1, 0), "{report}");
    let said = "1 object was in the log in another state";
    assert!(report.notes[0].starts_with(said), "{report}");
    let now = text(&export(&log));
    assert!(
        now.contains("\"runs\":[") && now.contains("\"running\""),
        "{now}"
    );
    assert_eq!(now.lines().count(), 1);
    // As it was is still to be seen.
    let then = annals::At::Position(annals_event_log::Position(1));
    let then = block_on(log.view_at(id(1), then))
        .unwrap()
        .to_json()
        .unwrap();
    assert!(then.contains("\"draft\""), "{then}");
    // Both states in one file: one after the other.
    let both = lines(&[task("failed", vec![]), task("done", vec![id(2)])]);
    assert_eq!(import_text(&log, both).imported, 2);
    assert!(text(&export(&log)).contains("\"done\""));
}

#[test]
fn what_this_log_changed_is_not_undone() {
    let log = log();
    let intent = object("intent", 1, json!({ "prompt": "p", "statuses": [] }));
    let other = object("intent", 2, json!({ "prompt": "q", "statuses": [] }));
    import_text(&log, lines(std::slice::from_ref(&intent)));
    let cancel = CancelIntent::new(IntentId(id(1)));
    block_on(log.execute(Request::new(ActorRef::human("me"), cancel))).unwrap();
    let report = import_text(&log, lines(&[intent, other]));
    assert_eq!((report.imported, report.broken_count), (1, 1), "{report}");
    let reason = &report.broken[0].reason;
    assert!(reason.contains("has events of this log's own"), "{reason}");
    assert!(text(&export(&log)).contains("\"cancelled\""));
}

/// The objects of a log of ours, taken to another one.
#[test]
fn objects_of_our_own_can_be_taken_over() {
    let first = log();
    let actor = ActorRef::agent("coder");
    let me = first.by(&actor);
    let intent = block_on(me.submit("Add a cache")).unwrap();
    block_on(me.analyze(intent, "a map")).unwrap();
    let task = block_on(me.task(intent, "Cache")).unwrap();
    let run = block_on(me.start_run(task, None, None)).unwrap();
    let exported = export(&first);
    assert_eq!(exported.len(), 3);
    let second = log();
    import_text(&second, text(&exported));
    assert_eq!(text(&export(&second)), text(&exported));
    // And back again: the first log has them, with events of its own.
    let report = import_text(&first, text(&exported));
    assert_eq!(report.broken_count, 3, "{report}");
    assert!(exported.iter().any(|one| one.id == run.0));
}

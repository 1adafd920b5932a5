//! Objects whose lists are too long for one event.

use annals_testkit::process::assert_grows_at_most;
use serde_json::{Value, json};
use uuid::Uuid;

use super::state::{id, lines, object};
use super::{export, import_text, log, text};

const COMMIT: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// The object comes back, in so many events at least.
fn check(object: &Value, events: u64) {
    let first = log();
    let report = import_text(&first, lines(std::slice::from_ref(object)));
    assert_eq!((report.imported, report.broken_count), (1, 0), "{report}");
    assert!(report.events_made >= events, "{}", report.events_made);
    let exported = text(&export(&first));
    let kept: Value = serde_json::from_str(&exported).unwrap();
    let fields = object.as_object().unwrap().iter();
    for (name, value) in fields.filter(|(name, _)| *name != "created_by") {
        assert!(kept[name] == *value, "{name}");
    }
    let second = log();
    import_text(&second, &exported);
    assert_eq!(text(&export(&second)), exported);
}

fn ids(count: u128) -> Vec<Uuid> {
    (1_000..1_000 + count).map(id).collect()
}

fn many(count: u64, one: impl Fn(u64) -> Value) -> Vec<Value> {
    (0..count).map(one).collect()
}

#[test]
fn long_lists_go_on_in_further_events() {
    let time = "2026-01-02T03:04:05Z";
    check(
        &object(
            "task",
            1,
            json!({ "title": "t", "runs": ids(5_000), "dependencies": ids(3_000),
            "constraints": many(2_500, |n| json!(format!("c{n}"))), "status": "done" }),
        ),
        5,
    );
    check(
        &object(
            "run",
            1,
            json!({ "task": id(2), "commit": COMMIT, "status": "created",
            "patchsets": ids(5_000) }),
        ),
        3,
    );
    let file = |n| {
        json!({ "path": format!("src/{n}.rs"), "change_type": "add",
        "lines_added": n, "lines_deleted": 0 })
    };
    check(
        &object(
            "patch_set",
            1,
            json!({ "run": id(2), "commit": COMMIT, "format": "git_diff",
            "touched": many(3_500, file), "apply_status": "proposed" }),
        ),
        4,
    );
    let item = |n| {
        json!({ "kind": "file", "path": format!("src/{n}.rs"), "preview": "p",
        "blob": { "Sha256": vec![n % 256; 32] } })
    };
    check(
        &object(
            "context_snapshot",
            1,
            json!({ "selection_strategy": "explicit",
            "items": many(3_000, item) }),
        ),
        4,
    );
    let step = |n| {
        json!({ "description": format!("step {n}"), "iframes": [n], "inputs": { "n": n },
        "statuses": [{ "status": "pending", "changed_at": time, "reason": "new" }] })
    };
    check(&object("plan", 1, json!({ "steps": many(2_500, step) })), 3);
    let frame = |n| {
        json!({ "frame_id": n, "kind": "step_summary", "summary": format!("s{n}"),
        "data": [n], "created_at": time, "token_estimate": n })
    };
    check(
        &object(
            "context_pipeline",
            1,
            json!({ "frames": many(16_384, frame),
            "next_frame_id": 16_384, "max_frames": 16_384 }),
        ),
        16,
    );
}

/// A list that is rarely long has no way to go on: the object is refused by
/// name, and the others are not.
#[test]
fn what_no_event_can_hold_is_refused() {
    let status = |_| json!({ "status": "draft", "changed_at": "2026-01-02T03:04:05.123456789Z" });
    let objects = [
        object(
            "intent",
            1,
            json!({ "prompt": "p", "statuses": many(10_000, status) }),
        ),
        object("intent", 2, json!({ "prompt": "p", "statuses": [] })),
    ];
    let log = log();
    let report = import_text(&log, lines(&objects));
    assert_eq!((report.imported, report.broken_count), (1, 1), "{report}");
    let reason = &report.broken[0].reason;
    for part in [
        "too large: ",
        " bytes of ids, numbers and words for one event, the limit is 65536",
        "its longest list of that kind is statuses, with 10000 entries",
        "The other objects were read",
    ] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(!reason.contains("split it"), "{reason}");
}

/// The field is named by its place, and nothing is guessed.
#[test]
fn the_list_that_no_event_can_hold_is_named() {
    let reason = |object: Value| {
        let log = log();
        let report = import_text(&log, lines(&[object]));
        assert_eq!((report.imported, report.broken_count), (0, 1), "{report}");
        report.broken[0].reason.clone()
    };
    let frames: Vec<u64> = (1 << 40..(1 << 40) + 20_000).collect();
    let steps = json!([{ "description": "d", "statuses": [] },
        { "description": "e", "iframes": frames, "statuses": [] }]);
    let plan = reason(object("plan", 1, json!({ "steps": steps })));
    assert!(plan.contains("steps[1].iframes, with 20000"), "{plan}");
    let paths = many(12_000, |n| json!(n.to_string()));
    let call = json!({ "run_id": id(2), "tool_name": "t", "status": "ok",
        "io_footprint": { "paths_read": ["a"], "paths_written": paths } });
    let call = reason(object("tool_invocation", 1, call));
    assert!(
        call.contains("io_footprint.paths_written, with 12000"),
        "{call}"
    );
    let texts = "texts for one event, the limit is 10000";
    assert!(call.contains(texts), "{call}");
}

/// Together they are beyond what one append takes; each alone is not.
#[test]
fn many_objects_with_long_lists_are_adopted() {
    let frames: Vec<u64> = (1 << 40..(1 << 40) + 3_000).collect();
    let step = |_| json!({ "description": "d", "iframes": &frames, "statuses": [] });
    let plan = |number| object("plan", number, json!({ "steps": many(100, step) }));
    let objects: Vec<Value> = (1..=40).map(plan).collect();
    let log = log();
    let report = import_text(&log, lines(&objects));
    assert_eq!((report.imported, report.broken_count), (40, 0), "{report}");
}

/// A long chain does not take the square of its length.
#[test]
fn long_chains_are_followed_once() {
    let plan = |number: u128| {
        object(
            "plan",
            number,
            json!({ "previous": id(number + 1), "steps": [] }),
        )
    };
    let text = |length: u64| lines(&(1..=u128::from(length)).map(plan).collect::<Vec<Value>>());
    let import = |length: u64, text: &str| {
        let report = import_text(&log(), text);
        assert_eq!(
            (report.imported, report.violations_count),
            (length, 1),
            "the end names nothing"
        );
    };
    let (short, long) = (text(4_000), text(20_000));
    // Five times the length; the square would be 25 times as long.
    assert_grows_at_most(12.0, || import(4_000, &short), || import(20_000, &long));
}

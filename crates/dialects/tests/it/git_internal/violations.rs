//! What is said against objects, sentence by sentence.

use serde_json::{Value, json};
use uuid::Uuid;

use super::state::{COMMIT, check, id, lines, object, statuses};
use super::{import_text, log};

/// A commit of 40 digits, which git-internal does not know.
const SHORT: &str = "0123456789012345678901234567890123456789";
const IS_SHORT: &str = "commit: it is a SHA-1, not a SHA-256";

fn step(fields: Value) -> Value {
    let mut step = json!({ "description": "d", "statuses": statuses(&["pending"]) });
    let all = step.as_object_mut().unwrap();
    all.extend(fields.as_object().unwrap().clone());
    step
}

fn run(number: u128, task: u128, fields: Value) -> Value {
    let mut body = json!({ "task": id(task), "commit": COMMIT, "status": "created" });
    let all = body.as_object_mut().unwrap();
    all.extend(fields.as_object().unwrap().clone());
    object("run", number, body)
}

fn patch_set(number: u128, run: u128, commit: Option<&str>) -> Value {
    let body = json!({ "run": id(run), "commit": commit, "format": "git_diff", "touched": [],
        "apply_status": "proposed" });
    object("patch_set", number, body)
}

#[test]
fn times_that_go_back_are_said() {
    let (early, late) = ("2026-01-01T00:00:00Z", "2026-01-02T03:04:05Z");
    let status = |word: &str, at: &str| json!({ "status": word, "changed_at": at });
    let two = |first, second| [status(first, late), status(second, early)];
    let fields = json!({ "prompt": "p", "updated_at": early,
        "statuses": two("draft", "cancelled") });
    let steps = [step(json!({ "statuses": two("pending", "progressing") }))];
    check(
        &[
            object("intent", 1, fields),
            object("plan", 2, json!({ "steps": steps })),
        ],
        &[
            (1, "updated_at: it is before created_at"),
            (1, "statuses: cancelled is before draft"),
            (2, "steps[0].statuses: progressing is before pending"),
        ],
    );
}

#[test]
fn what_an_intent_needs_for_its_statuses_is_said() {
    let intent = |number: u128, words: &[&str], fields: Value| {
        let mut body = json!({ "prompt": "p", "statuses": statuses(words) });
        let all = body.as_object_mut().unwrap();
        all.extend(fields.as_object().unwrap().clone());
        object("intent", number, body)
    };
    let active = ["draft", "active"];
    check(
        &[
            intent(1, &active, json!({})),
            intent(2, &["draft"], json!({ "commit": COMMIT })),
            intent(3, &active, json!({ "content": "c", "commit": SHORT })),
            intent(4, &active, json!({ "content": "c", "commit": COMMIT })),
        ],
        &[
            (1, "content: it was active without content"),
            (2, "commit: it was never active"),
            (3, IS_SHORT),
        ],
    );
}

#[test]
fn blank_names_and_negative_costs_are_said() {
    let tokens = json!({ "input_tokens": 1, "output_tokens": 2, "total_tokens": 3,
        "cost_usd": -0.5 });
    let objects = [
        object(
            "plan",
            1,
            json!({ "steps": [step(json!({ "description": " " }))] }),
        ),
        object(
            "task",
            2,
            json!({ "title": " ", "runs": [id(3)], "status": "running" }),
        ),
        run(3, 2, json!({})),
        object(
            "evidence",
            4,
            json!({ "run_id": id(3), "kind": "test", "tool": " " }),
        ),
        object(
            "provenance",
            5,
            json!({ "run_id": id(3), "provider": " ", "model": "", "token_usage": tokens }),
        ),
        object(
            "tool_invocation",
            6,
            json!({ "run_id": id(3), "tool_name": " ", "status": "ok" }),
        ),
    ];
    check(
        &objects,
        &[
            (1, "steps[0].description: it is blank"),
            (2, "title: it is blank"),
            (4, "tool: it is blank"),
            (5, "provider: it is blank"),
            (5, "model: it is blank"),
            (5, "token_usage.cost_usd: it is negative"),
            (6, "tool_name: it is blank"),
        ],
    );
}

#[test]
fn ids_that_stand_twice_are_said() {
    let fields = json!({ "title": "t", "runs": [id(2), id(2)],
        "dependencies": [id(4), id(4)], "status": "running" });
    let twice = |field: &str, number| format!("{field}: {} stands there twice", id(number));
    let runs = twice("runs", 2);
    let dependencies = twice("dependencies", 4);
    let patch_sets = twice("patchsets", 3);
    check(
        &[
            object("task", 1, fields),
            run(2, 1, json!({ "patchsets": [id(3), id(3)] })),
            patch_set(3, 2, Some(COMMIT)),
            object("task", 4, json!({ "title": "t", "status": "draft" })),
        ],
        &[
            (1, runs.as_str()),
            (1, dependencies.as_str()),
            (2, patch_sets.as_str()),
        ],
    );
}

#[test]
fn frames_out_of_order_and_numbers_that_were_never_given_are_said() {
    let frame = |number: u64| {
        json!({ "frame_id": number, "kind": "tool_call", "summary": "s",
            "created_at": "2026-01-02T03:04:05Z" })
    };
    let fields = json!({ "frames": [frame(4), frame(2), frame(4)], "next_frame_id": 3,
        "max_frames": 0 });
    let steps = [step(json!({ "iframes": [2, 3], "oframes": [9] }))];
    check(
        &[
            object("context_pipeline", 1, fields),
            object("plan", 2, json!({ "pipeline": id(1), "steps": steps })),
        ],
        &[
            (1, "frames: frame 2 is out of order"),
            (1, "frames: frame 4 stands there twice"),
            (
                1,
                "next_frame_id: it is 3, and a frame has that number or a higher one",
            ),
            (2, "steps[0].iframes: frame 3 was never pushed"),
            (2, "steps[0].oframes: frame 9 was never pushed"),
        ],
    );
}

#[test]
fn what_runs_and_their_objects_lack_is_said() {
    let decision = |number: u128, run: u128, chosen: Option<Uuid>| {
        let fields = json!({ "run_id": id(run), "decision_type": "commit",
            "chosen_patchset_id": chosen });
        object("decision", number, fields)
    };
    let foreign = format!("chosen_patchset_id: it is of run {}", id(3));
    check(
        &[
            object(
                "task",
                1,
                json!({ "title": "t", "runs": [id(2), id(3)], "status": "draft" }),
            ),
            run(2, 1, json!({ "commit": null, "status": "failed" })),
            run(
                3,
                1,
                json!({ "commit": SHORT, "patchsets": [id(4), id(5)] }),
            ),
            patch_set(4, 3, None),
            patch_set(5, 3, Some(SHORT)),
            decision(6, 3, None),
            decision(7, 2, Some(id(4))),
        ],
        &[
            (1, "status: it is draft and has runs"),
            (2, "commit: it is missing"),
            (2, "error: it failed without saying why"),
            (3, IS_SHORT),
            (4, "commit: it is missing"),
            (5, IS_SHORT),
            (6, "chosen_patchset_id: a commit names no patch set"),
            (7, foreign.as_str()),
        ],
    );
}

#[test]
fn a_hundred_sentences_are_kept_of_an_object_and_the_rest_is_counted() {
    let dependencies: Vec<Uuid> = (1_000..1_150).map(id).collect();
    let fields = json!({ "title": "t", "dependencies": dependencies, "status": "draft" });
    let report = import_text(&log(), lines(&[object("task", 1, fields)]));
    let said = &report.violations[0].violations;
    assert_eq!(said.len(), 101);
    let last = "dependencies[99]: there is no task";
    assert!(said[99].starts_with(last), "{}", said[99]);
    assert_eq!(said[100], "and 50 more");
}

//! A comparison is the library's, now and as of any moment.

use annals::blocking::Wait;
use annals::domain::Kind;
use annals::event_log::Position;
use annals::{At, ObjectRef};
use serde_json::{Value, json};

use crate::support::{Place, RUN, SCRIPT, Viewing, story, uuid};

/// A story with a second run that begins as the first one does, and goes another way.
fn two_runs(place: &Place) -> String {
    story(place);
    let (task, run) = (uuid(0xb01), uuid(0xb02));
    place.agent(
        "create_task",
        json!({ "id": task, "title": format!("Cache it again {SCRIPT}") }),
    );
    place.agent("create_run", json!({ "id": run, "task": task }));
    place.agent("start_patching", json!({ "run": run }));
    place.agent("record_tool_invocation", json!({ "run": run, "tool_name": "read", "args": { "path": format!("src/{SCRIPT}.rs") }, "status": "ok" }));
    place.agent("record_tool_invocation", json!({ "run": run, "tool_name": "bash", "args": { "command": "cargo bench" }, "status": "ok" }));
    run
}

fn reference(id: &str) -> ObjectRef {
    ObjectRef {
        kind: Kind::Run,
        id: id.parse().unwrap(),
    }
}

#[test]
fn two_runs_stand_side_by_side_at_every_moment() {
    let place = Place::new();
    let other = two_runs(&place);
    let viewing = Viewing::of(&place);
    let end = place.annals.position().0;
    let begun = end - 3;
    for at in begun..=end {
        let shown = viewing.data(&format!("/compare?a={}&b={other}&at={at}", uuid(RUN)));
        let compared = &shown["compared"];
        let (a, b) = (reference(&uuid(RUN)), reference(&other));
        let moment = At::Position(Position(at));
        let found = place.annals.past().compare_at(a, b, moment).wait().unwrap();
        assert_eq!(
            compared["calls_part_at"],
            json!(found.calls_part_at),
            "at {at}"
        );
        assert_eq!(
            compared["b"]["calls"],
            json!(found.b.calls.len()),
            "at {at}"
        );
        assert_eq!(compared["b"]["status"], json!(found.b.status), "at {at}");
        assert_eq!(found.b.calls.len() as u64, (at - begun).saturating_sub(1));
    }
    let before = viewing.get(&format!("/api/v1/compare?a={}&b={other}&at=16", uuid(RUN)));
    assert_eq!(before.status, 404, "it was not there yet: {}", before.body);
    let now = viewing.data(&format!("/compare?a={}&b={other}", uuid(RUN)));
    let now = &now["compared"];
    assert_eq!(now["calls_part_at"], 1);
    assert_eq!(
        (&now["a"]["status"], &now["b"]["status"]),
        (&json!("completed"), &json!("patching"))
    );
    assert_eq!(now["b"]["title"], format!("Cache it again {SCRIPT}"));
    assert_eq!(now["files"][0]["b"], Value::Null);
    assert_eq!(now["b"]["cost"], Value::Null, "nothing was used yet");
    // What it cost is as the timeline has it; of the past it is not said.
    let used = json!({
        "run": other, "model": "claude-opus-4-5", "uncached_input_tokens": 100_000, "output_tokens": 20_000,
    });
    place.agent("record_usage", used);
    // Also when it has failed it is called by its task, not by its error.
    place.agent("fail_run", json!({ "run": other, "error": "no disk" }));
    let viewing = Viewing::of(&place);
    let failed = viewing.data(&format!("/compare?a={}&b={other}", uuid(RUN)));
    assert_eq!(failed["compared"]["b"]["status"], "failed");
    let title = format!("Cache it again {SCRIPT}");
    assert_eq!(failed["compared"]["b"]["title"], title);
    assert_eq!(failed["compared"]["b"]["cost"], "$1.0000");
    let at = format!("/compare?a={}&b={other}&at={end}", uuid(RUN));
    let past = viewing.data(&at);
    assert_eq!(past["compared"]["b"]["cost"], Value::Null);
}

#[test]
fn a_comparison_is_text_and_goes_on_in_parts() {
    let place = Place::new();
    let other = two_runs(&place);
    let viewing = Viewing::of(&place);
    let address = format!("/compare?a={}&b={other}", uuid(RUN));
    let page = viewing.get(&address).body;
    assert!(!page.contains(SCRIPT), "{page}");
    assert!(page.contains("they part at call 2"), "{page}");
    let mut rows = 0;
    let mut from = Some(0);
    while let Some(part) = from {
        let compared = viewing.data(&format!("{address}&limit=1&from={part}"))["compared"].clone();
        rows += compared["calls"].as_array().unwrap().len() as u64;
        from = compared["next"].as_u64();
        assert_eq!(compared["calls_total"], 3);
    }
    assert_eq!(rows, 3);
    // Without objects there is a form, and no answer for programs.
    let form = viewing.get("/compare");
    assert_eq!(form.status, 200);
    assert!(form.body.contains("name=\"a\""));
    assert_eq!(viewing.get("/api/v1/compare?a=x").status, 400);
}

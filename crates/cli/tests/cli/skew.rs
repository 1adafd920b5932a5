//! Events that are dated before what came before them.

use serde_json::json;

use crate::support::{Place, human};

#[test]
fn times_that_go_back_are_named_and_what_is_shown_keeps_the_recorded_order() {
    let place = Place::with_log();
    let day = |day: u32| format!("2026-01-{day:02}T00:00:00Z");
    let create = json!({ "prompt": "p", "at": day(5) });
    let intent = place.accept(&[human("create_intent", create)]).remove(0);
    let shown = place.run(&["show", &intent]).ok().stdout;
    assert!(!shown.contains("clock skew"), "{shown}");
    let verified = place.run(&["verify"]).ok().stdout;
    assert!(!verified.contains("clock skew"), "{verified}");

    let analyze = json!({ "intent": intent, "content": "c", "at": day(2) });
    place.accept(&[human("analyze_intent", analyze)]);
    let shown = place.run(&["show", &intent]).ok().stdout;
    assert!(
        shown.contains(
            "clock skew: an event is dated before what came before; the first is event 2, which \
             says 2026-01-02 00:00:00Z, after 2026-01-05 00:00:00Z"
        ),
        "{shown}"
    );
    let json = place.run(&["show", &intent, "--json"]).ok().json();
    assert_eq!(json["created_at"], "2026-01-05T00:00:00Z");
    assert_eq!(json["updated_at"], "2026-01-05T00:00:00Z");
    assert_eq!(
        (
            &json["clock_skew"]["events"],
            &json["clock_skew"]["position"]
        ),
        (&json!(1), &json!(2))
    );
    // What another system gets makes sense, too.
    let foreign = ["show", &intent, "--as", "git-internal", "--json"];
    let foreign = place.run(&foreign).ok().json();
    assert_eq!(foreign["updated_at"], foreign["created_at"]);

    // Frames are in the order in which they were pushed.
    let create = json!({ "max_frames": 4 });
    let pipeline = place.accept(&[human("create_pipeline", create)]).remove(0);
    let push = |summary: &str, at: &str| {
        let push =
            json!({ "pipeline": pipeline, "kind": "checkpoint", "summary": summary, "at": at });
        place.accept(&[human("push_frame", push)]);
    };
    push("first", "2100-01-02T00:00:00Z");
    push("second", "2100-01-01T00:00:00Z");
    let json = place.run(&["show", &pipeline, "--json"]).ok().json();
    let summaries: Vec<&str> = json["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| frame["summary"].as_str().unwrap())
        .collect();
    assert_eq!(summaries, ["first", "second"]);
    assert_eq!(json["clock_skew"]["events"], 1);

    let verified = place.run(&["verify"]).ok().stdout;
    assert!(
        verified.contains("clock skew, which is not a fault of the log: 2 events of 2 objects"),
        "{verified}"
    );
    let json = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(
        (&json["ok"], &json["clock_skew"]["events"]),
        (&json!(true), &json!(2))
    );
    // What comes later moves the time on again; a seal of an object with such events holds.
    let describe = json!({ "object": intent, "visibility": "public", "at": day(9) });
    place.accept(&[human("set_metadata", describe)]);
    place.accept(&[human("seal", json!({ "object": intent, "at": day(1) }))]);
    let json = place.run(&["show", &intent, "--json"]).ok().json();
    assert_eq!(json["updated_at"], "2026-01-09T00:00:00Z");
    assert!(
        json["checksum"].is_string() && json["seal"].is_null(),
        "{json}"
    );
}

//! `export annals`: what people and programs find in it.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::{Place, agent, story};

#[test]
fn everything_is_there_once() {
    let place = Place::with_log();
    let story = story(&place);
    // Large content that two records share comes once.
    let push = agent(
        "push_frame",
        json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "x".repeat(5_000) }),
    );
    place.accept(&[push.clone(), push]);
    let stats = place.run(&["stats", "--json"]).ok().json();
    let lines = place.run(&["export", "annals"]).ok().lines();
    let root = place.run(&["verify", "--json"]).ok().json()["root"].clone();
    let ([header, rest @ ..], end) = (&lines[..lines.len() - 1], lines.last().unwrap()) else {
        panic!("{lines:?}")
    };
    let empty = annals::event_log::Digest::of(b"").to_string();
    assert_eq!(
        header,
        &json!({
            "annals": "export", "version": 1, "log_id": stats["log_id"], "from": 1, "to": stats["events"],
            "root_before": empty, "root": root,
        })
    );
    assert_eq!(
        end,
        &json!({ "end": { "records": stats["events"], "blobs": stats["blobs"], "root": root } })
    );
    let mut blobs = HashSet::new();
    let mut position = 0;
    for line in rest {
        if let Some(blob) = line.get("blob") {
            let digest = blob["digest"].as_str().unwrap();
            assert!(blob["base64"].as_str().unwrap().len() > 4_096 * 4 / 3);
            assert!(blobs.insert(digest.to_owned()), "{digest} comes twice");
            continue;
        }
        position += 1;
        check_record(&line["record"], position, &blobs);
    }
    assert_eq!(position, stats["events"].as_u64().unwrap());
    assert_eq!(blobs.len() as u64, stats["blobs"].as_u64().unwrap());
}

/// The line has what people look for, and all its content came before it.
fn check_record(line: &Value, position: u64, blobs: &HashSet<String>) {
    assert_eq!(line["position"], position);
    assert!(line["stream"].is_string() && line["type"].is_string());
    assert!(line["base64"].as_str().unwrap().len() > 200, "{line}");
    assert!(line["event"].is_object(), "{line}");
    for piece in line["content"].as_array().unwrap() {
        match piece["kind"].as_str().unwrap() {
            "inline" => assert!(piece["text"].is_string()),
            "blob" | "attachment" => assert!(blobs.contains(piece["digest"].as_str().unwrap())),
            kind => panic!("{kind}"),
        }
    }
}

#[test]
fn a_part_can_be_written() {
    let place = Place::with_log();
    story(&place);
    let end = place.run(&["stats", "--json"]).ok().json()["events"]
        .as_u64()
        .unwrap();
    let export = |from: u64| place.run(&["export", "annals", "--from", &from.to_string()]);
    let last = export(end).ok().lines();
    assert_eq!(
        (last.len(), &last[0]["from"], &last[1]["record"]["position"]),
        (3, &json!(end), &json!(end))
    );
    assert_eq!(export(end + 1).ok().lines().len(), 2);
    export(end + 2).fails(1, &["not there yet"]);
}

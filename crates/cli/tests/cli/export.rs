//! `export annals`: whether what it writes is enough to check the log by.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::{Place, agent, story};

#[test]
fn everything_is_there_to_be_verified() {
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
    let (header, rest) = lines.split_first().unwrap();
    assert_eq!(
        header,
        &json!({ "annals": 1, "log_id": stats["log_id"], "from": 1, "to": stats["events"] })
    );
    let mut blobs = HashSet::new();
    let mut position = 0;
    for line in rest {
        if let Some(digest) = line["blob"].as_str() {
            let bytes = hex::decode(line["hex"].as_str().unwrap()).unwrap();
            assert_eq!(annals::event_log::Digest::of(&bytes).to_string(), digest);
            assert!(blobs.insert(digest.to_owned()), "{digest} comes twice");
            continue;
        }
        position += 1;
        check_record(line, position, &blobs);
    }
    assert_eq!(position, stats["events"].as_u64().unwrap());
    assert_eq!(blobs.len() as u64, stats["blobs"].as_u64().unwrap());
}

/// The record's bytes say what the line says, and all its content is there.
fn check_record(line: &Value, position: u64, blobs: &HashSet<String>) {
    let bytes = hex::decode(line["record"].as_str().unwrap()).unwrap();
    let record = annals::event_log::Record::decode(bytes.into()).unwrap();
    record.verify().unwrap();
    assert_eq!(record.position().0, position);
    assert_eq!(line["position"], position);
    assert_eq!(line["version"], record.version().0);
    assert_eq!(line["stream"], record.stream());
    assert_eq!(line["event_type"], record.event_type());
    assert_eq!(line["event_id"], record.event_id().to_string());
    assert_eq!(
        line["structure_digest"],
        record.digests().structure.to_string()
    );
    assert_eq!(line["content_digest"], record.digests().content.to_string());
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
        (last.len(), &last[0]["from"], &last[1]["position"]),
        (2, &json!(end), &json!(end))
    );
    assert_eq!(export(end + 1).ok().lines().len(), 1);
    export(end + 2).fails(1, &["not there yet"]);
}

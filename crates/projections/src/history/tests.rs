//! Tests of histories.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod schema;

use std::collections::BTreeSet;

use annals_domain::{AnyEvent, StreamKind, intent};
use annals_event_log::Digest;
use serde_json::{Value, json};

use super::{HistoryEntry, history_entry};
use crate::testing::{Story, id, redacted, stream};

fn histories() -> Vec<HistoryEntry> {
    let story = |kind: &StreamKind| {
        let mut entries = Story::of_all_samples(*kind).entries();
        entries.extend(Story::of_adopted(*kind).entries());
        entries
    };
    StreamKind::ALL
        .iter()
        .flat_map(story)
        .map(|entry| history_entry(&entry))
        .collect()
}

#[test]
fn every_event_has_one_line_of_its_own() {
    let histories = histories();
    let told: BTreeSet<&str> = histories.iter().map(|entry| entry.event_type).collect();
    let types = AnyEvent::types().into_iter().map(|(_, name, _)| name);
    assert_eq!(told, types.collect());
    for entry in &histories {
        assert!(!entry.summary.is_empty(), "{}", entry.event_type);
        assert!(
            !entry.summary.chars().any(char::is_control),
            "{:?}",
            entry.summary
        );
    }
    let line = |event_type: &str| {
        let found = histories
            .iter()
            .find(|entry| entry.event_type == event_type);
        found
            .unwrap_or_else(|| panic!("{event_type}"))
            .summary
            .as_str()
    };
    for (event_type, expected) in [
        ("run.patching_started", "status created -> patching"),
        (
            "run.patch_set_proposed",
            "patch set 0000000a proposed: src/main.rs +12 -3, src/größe.rs +70000 -300",
        ),
        (
            "run.usage_recorded",
            "4295033083 tokens in, 250 out, 252 web searches",
        ),
        (
            "plan.step_status_changed",
            "step 2: status -> failed: \"zu groß\"",
        ),
        (
            "session.command_received",
            "command 00000064 QueryBacklog received",
        ),
        (
            "session.command_rejected",
            "rejected 00000068 by \"Protected branch\": \"Policy violation\"",
        ),
        ("session.paused", "paused: \"lunch\""),
        (
            "session.approval_required",
            "approval of \"Push\" required by 0000006a, until 2026-01-02T03:20:45Z",
        ),
        (
            "session.approved",
            "approved \"Push\" to 0000006a: \"looks good\"",
        ),
        (
            "session.command_completed",
            "completed 00000064 with Success, code \"E7\": \"that is that\"",
        ),
        (
            "session.work_item_queried",
            "ticket \"ANN-1\" read: \"Doing\"",
        ),
        (
            "bucket.taken",
            "token taken by command 0000006a Push of session 00000001 under \"strict\"",
        ),
        ("intent.plan_selected", "plan 00000003 selected"),
        (
            "observation.recorded",
            "reflection \"テストが同じ準備を繰り返している 共通化できる\", \
             with 2 pieces of evidence, about 00000004",
        ),
        (
            "observation.processed",
            "processed, led to intent 0000001f: \"準備を関数にまとめる\"",
        ),
        ("intent.commit_recorded", "commit 5a5a5a5a5a5a recorded"),
        ("pipeline.max_frames_set", "changed to no limit of frames"),
        (
            "task.metadata_set",
            "set visibility -> public, 1 tag, 1 external id",
        ),
    ] {
        assert_eq!(line(event_type), expected);
    }
}

#[test]
fn every_piece_of_content_is_in_its_place() {
    for sample in annals_wire::sample::samples() {
        let mut story = Story::new();
        story.append(&sample);
        let entry = history_entry(&story.entries().remove(0));
        let mut leaves = Vec::new();
        collect(&entry.event, &mut leaves);
        for piece in sample.pieces.list() {
            let expected = if piece.attachment {
                Value::String(Digest::of(&piece.bytes).to_string())
            } else {
                let text = String::from_utf8(piece.bytes.clone()).unwrap();
                serde_json::from_str(&text)
                    .ok()
                    .filter(|json: &Value| json.is_object() || json.is_array() || json.is_number())
                    .unwrap_or(Value::String(text))
            };
            assert!(
                leaves.contains(&expected),
                "{}: {expected} in {leaves:?}",
                entry.event_type
            );
        }
    }
}

fn collect(value: &Value, leaves: &mut Vec<Value>) {
    leaves.push(value.clone());
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, leaves)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, leaves)),
        _ => {}
    }
}

#[test]
fn an_event_reads_as_it_was_told() {
    let mut story = Story::new();
    story.push(stream(StreamKind::Intent, id(1)), |pieces| {
        let prompt = pieces.text(format!("Add\n a\tswitch {}", "x".repeat(80)));
        intent::Event::from(intent::Submitted {
            refines: Some(id(2).into()),
            prompt,
        })
    });
    let record = story.records().remove(0);
    let entry = history_entry(&story.entry(&record));
    let expected = format!(
        "submitted \"Add a switch {}…\", refines 00000002",
        "x".repeat(47)
    );
    assert_eq!(entry.summary, expected);
    assert_eq!(entry.event["refines"], json!(id(2)));
    assert_eq!(
        entry.event["prompt"],
        json!(format!("Add\n a\tswitch {}", "x".repeat(80)))
    );
    let shown = serde_json::to_value(&entry).unwrap();
    assert_eq!(
        (&shown["position"], &shown["version"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(shown["actor"]["id"], "coder");

    let bare = history_entry(&story.entry(&redacted(&record, |_| true)));
    assert_eq!(bare.summary, "submitted [removed], refines 00000002");
    assert_eq!(bare.event["prompt"], json!({ "removed": true }));
}

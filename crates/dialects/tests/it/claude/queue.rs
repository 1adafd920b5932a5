//! Prompts that were typed while the agent worked: each is a prompt once, whichever lines have it.

use annals::projections::IntentView;
use annals_dialects::claude;
use serde_json::{Value, json};

use super::grown::{check_cuts, check_kills};
use super::log::Log;
use super::recording::{Folder, Recording};
use crate::recorded::prompts;

fn queue(recording: &mut Recording, operation: &str, content: Option<&str>) {
    let second = recording.lines.len();
    let mut line = json!({
        "type": "queue-operation", "operation": operation, "sessionId": recording.session,
        "timestamp": format!("2026-01-02T03:30:{second:02}.000Z"),
    });
    if let Some(content) = content {
        line["content"] = json!(content);
    }
    recording.raw(line);
}

fn attach(recording: &mut Recording, prompt: Value, more: Value) {
    let mut attachment =
        json!({ "type": "queued_command", "prompt": prompt, "commandMode": "prompt" });
    let more: serde_json::Map<String, Value> = serde_json::from_value(more).unwrap();
    for (name, value) in more {
        attachment[name] = value;
    }
    recording.line("attachment", json!({ "attachment": attachment }));
}

/// A session in which prompts reach the model on every kind of line.
fn busy() -> Recording {
    let mut busy = Recording::of("busy");
    busy.user(json!("Build it"))
        .calls("m1", "t1", "Bash", json!({ "command": "make" }));
    queue(&mut busy, "enqueue", Some("Also test"));
    queue(&mut busy, "enqueue", Some("Also lint"));
    busy.result("t1", json!("ok"), false);
    queue(&mut busy, "remove", Some("Also test"));
    attach(&mut busy, json!("Also test"), json!({}));
    attach(&mut busy, json!("Also lint"), json!({}));
    queue(&mut busy, "remove", Some("Also lint"));
    busy.calls("m2", "t2", "Bash", json!({ "command": "make test" }));
    queue(&mut busy, "enqueue", Some("Go on"));
    queue(&mut busy, "enqueue", Some("Rename it"));
    queue(&mut busy, "dequeue", None);
    busy.result("t2", json!("ok"), false).user(json!("Go on"));
    attach(&mut busy, json!("Go on"), json!({}));
    busy.calls("m3", "t3", "Bash", json!({ "command": "make docs" }));
    queue(&mut busy, "dequeue", None);
    busy.result("t3", json!("ok"), false);
    attach(&mut busy, json!("Rename it"), json!({}));
    busy.user(json!("Rename it")).text("m4", "Renamed.");
    // No line of the queue, and an image beside the text.
    let image = json!({ "type": "image", "source": { "type": "base64", "data": "AAAA" } });
    let parts = json!([{ "type": "text", "text": "Like this" }, image]);
    attach(&mut busy, parts, json!({ "source_uuid": "q1" }));
    attach(
        &mut busy,
        json!("Like this"),
        json!({ "source_uuid": "q1" }),
    );
    busy.text("m5", "Done.");
    busy
}

const PROMPTS: [&str; 6] = [
    "Build it",
    "Also test",
    "Also lint",
    "Go on",
    "Rename it",
    "Like this",
];

#[test]
fn each_queued_prompt_is_an_intent_once_and_in_order() {
    let busy = busy();
    let mut log = Log::of(&busy);
    assert_eq!(prompts(&log), PROMPTS);
    let frames = log.frames();
    let of_prompts = frames.iter().filter(|it| it.starts_with("intent_analysis"));
    assert_eq!(of_prompts.count(), PROMPTS.len(), "{frames:?}");
    assert!(frames.contains(&"image: image".to_owned()), "{frames:?}");
    // Each refines the one before.
    let lines = busy.lines.iter();
    let uuid = |line: &Value| line["uuid"].as_str().map(str::to_owned);
    let renamed = lines
        .clone()
        .find(|it| it["attachment"]["prompt"] == "Rename it");
    let renamed: IntentView = log.get(claude::ids().intent(&renamed.and_then(uuid).unwrap()));
    let on = lines
        .clone()
        .find(|it| it["message"]["content"] == "Go on")
        .and_then(uuid);
    assert_eq!(renamed.parent, Some(claude::ids().intent(&on.unwrap())));
    let before = log.annals.position();
    log.grow(&busy, busy.lines.len());
    assert_eq!((log.annals.position(), log.report.imported), (before, 0));
}

#[test]
fn cut_or_killed_anywhere_queued_prompts_are_the_same() {
    let busy = busy();
    for cut in 0..=busy.lines.len() {
        check_cuts(&busy, &[cut]);
    }
    check_kills(&busy, busy.lines.len(), 0..Log::of(&busy).batches());
}

#[test]
fn what_programs_and_other_agents_queue_is_no_prompt() {
    let mut recording = Recording::of("s");
    recording.user(json!("Do it")).text("m1", "Yes.");
    let notice = "<task-notification>x</task-notification>";
    for (prompt, more) in [
        (notice, json!({})),
        ("It is done", json!({ "commandMode": "task-notification" })),
        ("From a peer", json!({ "origin": { "kind": "peer" } })),
        ("From the program", json!({ "isMeta": true })),
        (
            "From a person",
            json!({ "origin": { "kind": "human" }, "isMeta": false }),
        ),
    ] {
        attach(&mut recording, json!(prompt), more);
    }
    recording.on_side(json!("a1")).user(json!("Look"));
    attach(&mut recording, json!("To a sub-agent"), json!({}));
    let log = Log::of(&recording);
    assert_eq!(prompts(&log), ["Do it", "From a person"]);
    let kept = log.frames();
    let kept = kept.iter().filter(|it| *it == "system_state: attachment");
    assert_eq!(kept.count(), 5);
}

/// A copy of a session has the lines of the conversation alone, without those of the queue.
#[test]
fn a_copied_session_adds_no_queued_prompt() {
    let busy = busy();
    let mut copy = busy.clone();
    copy.lines.retain(|line| line["type"] != "queue-operation");
    for line in &mut copy.lines {
        line["sessionId"] = json!("copy");
    }
    let mut log = Log::of(&busy);
    let before = log.annals.position();
    log.grow(&copy, copy.lines.len());
    assert_eq!((log.annals.position(), log.report.imported), (before, 0));
    // The copy alone has no removal that came first.
    assert_eq!(prompts(&Log::of(&copy)), PROMPTS);
}

/// Older versions recorded an attachment as it is.
#[test]
fn a_log_of_an_older_version_gets_the_missing_prompts() {
    let mut recording = Recording::of("s");
    recording.user(json!("Do it")).text("m1", "Yes.");
    attach(&mut recording, json!("Also test"), json!({}));
    recording.text("m2", "Tested.");
    let mut older = recording.clone();
    older.lines[2]["attachment"]["origin"] = json!({ "kind": "peer" });
    let older = Log::of(&older);
    assert_eq!(prompts(&older), ["Do it"]);
    let folder = Folder::new();
    let path = folder.write("recording.jsonl", recording.file(9));
    let report = older.try_import(&path, &Default::default()).unwrap();
    assert_eq!(prompts(&older), ["Do it", "Also test"]);
    assert_eq!(report.broken, [], "{report}");
}

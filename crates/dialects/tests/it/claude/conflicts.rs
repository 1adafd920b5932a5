//! What a recording says under a name that the log has: the same, or something else.

use annals_dialects::claude::ClaudeOptions;
use annals_dialects::secrets::Secrets;
use annals_domain::ActorRef;
use annals_event_log::Position;
use futures::executor::block_on;
use serde_json::json;

use super::log::Log;
use super::recording::{Folder, Recording, story};

/// Imports lines after others; what is named.
fn named(first: &Recording, second: &Recording) -> Vec<(u64, String)> {
    let mut log = Log::of(first);
    let end = log.annals.position();
    let said = import(&mut log, second);
    assert_eq!(log.annals.position(), end, "{said:?}");
    said
}

fn import(log: &mut Log, recording: &Recording) -> Vec<(u64, String)> {
    let folder = Folder::new();
    let path = folder.write("r.jsonl", recording.file(usize::MAX));
    log.report = log.try_import(&path, &ClaudeOptions::default()).unwrap();
    let broken = log.report.broken.iter();
    broken.map(|it| (it.line, it.reason.clone())).collect()
}

fn is_of(said: &[(u64, String)], line: u64, name: &str) -> bool {
    let reason =
        format!("{name:?} was recorded before with another content; the log keeps the first");
    said == [(line, reason)]
}

/// Changes a text of a line to another one.
fn changed(recording: &Recording, line: usize, from: &str, to: &str) -> Recording {
    let mut other = recording.clone();
    let text = other.lines[line].to_string();
    assert!(text.contains(from), "{text}");
    other.lines[line] = serde_json::from_str(&text.replace(from, to)).unwrap();
    other
}

#[test]
fn another_content_is_named_by_line_and_name_whichever_came_first() {
    let story = story();
    let at = |text: &str| {
        let mut lines = story.lines.iter();
        lines
            .position(|line| line.to_string().contains(text))
            .unwrap()
    };
    // What is changed, and whether it is found under the name of a call, or else of its line.
    let texts = [
        ("Add a cache", false),
        ("Look first.", false),
        ("I look at the parser.", false),
        ("Conversation compacted", false),
        ("This session is being continued", false),
        ("fn parse() {}", true),
        ("ls: no", true),
        ("+b", true),
        ("AAAA", false),
        ("All right.", false),
    ];
    for (text, is_of_call) in texts {
        let line = at(text);
        let other = changed(&story, line, text, "Publish");
        let of = &story.lines[line];
        let name = match is_of_call {
            true => &of["message"]["content"][0]["tool_use_id"],
            false => &of["uuid"],
        };
        let number = line as u64 + 1;
        for (first, second) in [(&story, &other), (&other, &story)] {
            let said = named(first, second);
            assert!(
                is_of(&said, number, name.as_str().unwrap()),
                "{text}: {said:?}"
            );
        }
    }
    // The call of an edit that was answered: it is found with its result.
    let (call, answer) = (at("\"name\":\"Edit\""), at("\"+b\""));
    let other = changed(&story, call, "b\\nc", "x\\ny");
    let said = named(&story, &other);
    assert!(is_of(&said, answer as u64 + 1, "t3"), "{said:?}");
}

#[test]
fn the_same_name_twice_in_one_file_is_compared_too() {
    let mut recording = Recording::of("s");
    recording.user(json!("one")).text("m1", "two");
    let copy = recording.lines[0].clone();
    recording.raw(copy);
    assert_eq!(import(&mut Log::empty(), &recording), []);
    let other = changed(&recording, 2, "one", "three");
    let said = import(&mut Log::empty(), &other);
    assert!(is_of(&said, 3, &recording.name(0)), "{said:?}");
    // A call that is asked twice, differently.
    let mut calls = Recording::of("c");
    let input = |command: &str| json!({ "command": command });
    calls
        .user(json!("go"))
        .calls("m1", "t1", "Bash", input("ls"))
        .calls("m2", "t1", "Bash", input("rm"));
    let said = import(&mut Log::empty(), &calls);
    assert!(is_of(&said, 3, "t1"), "{said:?}");
}

#[test]
fn a_call_that_waits_and_a_result_without_a_call_are_compared() {
    let mut whole = Recording::of("s");
    whole
        .user(json!("go"))
        .calls("m1", "t1", "Bash", json!({ "command": "ls" }))
        .result("t1", json!("done"), false);
    let mut asked = whole.clone();
    asked.lines.truncate(2);
    assert_eq!(named(&whole, &asked), []);
    let said = named(&whole, &changed(&asked, 1, "\"ls\"", "\"rm\""));
    assert!(is_of(&said, 2, "t1"), "{said:?}");
    let mut answered = whole.clone();
    answered.lines.remove(1);
    assert_eq!(named(&whole, &answered), []);
    let said = named(&whole, &changed(&answered, 1, "done", "gone"));
    assert!(is_of(&said, 2, "t1"), "{said:?}");
    // One that is given up now, or was, says nothing of its result.
    let folder = Folder::new();
    let path = folder.write("r.jsonl", asked.file(9));
    let options = ClaudeOptions::default().with_ended(true);
    let report = Log::of(&whole).try_import(&path, &options).unwrap();
    assert_eq!(report.broken, [], "{report}");
}

/// A session that goes on in another file has the lines before it, with another session's name.
#[test]
fn copies_of_lines_in_another_session_are_not_a_conflict() {
    let story = story();
    let mut resumed = story.clone();
    for line in &mut resumed.lines {
        if line.get("sessionId").is_some() {
            line["sessionId"] = json!("resumed");
            line["cwd"] = json!("/elsewhere");
            line["version"] = json!("2.0.1");
        }
    }
    let mut log = Log::of(&story);
    assert_eq!(import(&mut log, &resumed), []);
    let at = story
        .lines
        .iter()
        .position(|line| line.to_string().contains("Never mind"))
        .unwrap();
    let said = import(&mut log, &changed(&resumed, at, "Never mind", "Go on"));
    assert!(is_of(&said, at as u64 + 1, &story.name(at)), "{said:?}");
    // A copy without what accompanies the results has no diff of its own.
    for line in &mut resumed.lines {
        line.as_object_mut().unwrap().remove("toolUseResult");
    }
    assert_eq!(import(&mut log, &resumed), []);
    let mut log = Log::of(&resumed);
    assert_eq!(import(&mut log, &story), []);
}

/// What is taken out of lines differs from one import to the next.
#[test]
fn other_secrets_settings_are_not_a_conflict() {
    let key = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let long = format!("{} {key} {}", "é".repeat(480), "x".repeat(300));
    let mut recording = Recording::of("s");
    recording
        .user(json!(format!("use {key} and ACME-12345678")))
        .text("m1", &long)
        .calls("m2", "t1", "Edit", json!({ "file_path": "/f", "old_string": "a", "new_string": format!("{key}\n") }))
        .result("t1", json!(format!("wrote {key} {}", "y".repeat(600))), false)
        .with(json!({ "toolUseResult": { "structuredPatch": [{ "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", format!("+{key}")] }] } }))
        .calls("m3", "t2", "Bash", json!({ "command": "ls" }))
        .result("t2", json!(format!("{} {key}", "z".repeat(490))), true);
    let folder = Folder::new();
    let path = folder.write("r.jsonl", recording.file(9));
    let with = |secrets: Secrets| ClaudeOptions::default().with_secrets(secrets);
    let own = Secrets::standard().with("ACME-[0-9]{8}").unwrap();
    let settings = [Secrets::none(), Secrets::standard(), own];
    for first in &settings {
        for second in &settings {
            let log = Log::empty();
            log.try_import(&path, &with(first.clone())).unwrap();
            let report = log.try_import(&path, &with(second.clone())).unwrap();
            assert_eq!((report.broken, report.imported), (Vec::new(), 0));
        }
    }
    // What is next to a mark is compared.
    let log = Log::empty();
    log.try_import(&path, &with(Secrets::standard())).unwrap();
    let other = changed(&recording, 0, "use ", "publish ");
    let path = folder.write("r.jsonl", other.file(9));
    let report = log.try_import(&path, &with(Secrets::none())).unwrap();
    assert_eq!(report.broken_count, 1, "{report}");
}

#[test]
fn what_was_removed_since_is_not_a_conflict() {
    let story = story();
    let mut log = Log::of(&story);
    let all = (1..=log.annals.position().0).map(|at| annals::Target::Event(Position(at)));
    let request = annals::RedactRequest::new(all.collect(), ActorRef::human("ada"), "all of it");
    block_on(log.annals.contents().redact(&request, &mut |_| {})).unwrap();
    assert_eq!(import(&mut log, &story), []);
}

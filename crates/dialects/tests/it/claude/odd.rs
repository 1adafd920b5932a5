//! Bad input: named by file and line, and nothing else is lost.

use std::io::Write;

use annals::projections::{ContextFrame, ContextPipelineView, IntentView, ToolInvocationView};
use annals_dialects::claude::{self, ClaudeImportError, ClaudeOptions};
use annals_event_log::Classified;
use serde_json::json;

use super::log::Log;
use super::recording::{Folder, Recording, story};

fn import(log: &mut Log, bytes: impl AsRef<[u8]>) {
    let folder = Folder::new();
    let path = folder.write("odd.jsonl", bytes);
    log.report = log.try_import(&path, &ClaudeOptions::default()).unwrap();
}

#[test]
fn broken_lines_are_named_and_the_rest_is_read() {
    let story = story();
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    for (number, line) in story.file(99).lines().enumerate() {
        let broken: &[u8] = match number % 6 {
            0 => b"{\"type\":\"user\",",
            1 => b"no json",
            2 => b"[1,2]",
            3 => b"{\"type\":\"user\",\"uuid\":{}}",
            4 => b"{\"type\":\"assistant\",\"message\":{\"content\":{}}}",
            _ => b"\xff\xfe{}",
        };
        bytes.extend_from_slice(line.as_bytes());
        bytes.extend_from_slice(b"\r\n  \r\n");
        bytes.extend_from_slice(broken);
        bytes.extend_from_slice(b"\r\n");
    }
    let mut log = Log::empty();
    import(&mut log, &bytes);
    let whole = Log::of(&story);
    assert_eq!(log.annals.position(), whole.annals.position());
    assert_eq!(log.tokens(), whole.tokens());
    assert_eq!(log.report.broken_count, story.lines.len() as u64);
    let lines: Vec<u64> = log.report.broken.iter().map(|broken| broken.line).collect();
    let expected: Vec<u64> = (1..=story.lines.len() as u64).map(|n| 3 * n).collect();
    assert_eq!(lines, expected);
    for broken in &log.report.broken {
        assert!(broken.file.ends_with("odd.jsonl") && !broken.reason.is_empty());
    }
}

#[test]
fn a_line_of_100_mib_is_named_and_skipped() {
    let folder = Folder::new();
    let path = folder.path().join("long.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).text("m1", "Going.");
    let lines = recording.file(9);
    let (first, second) = lines.split_once('\n').unwrap();
    writeln!(file, "{first}").unwrap();
    let mebibyte = vec![b'x'; 1024 * 1024];
    for _ in 0..100 {
        file.write_all(&mebibyte).unwrap();
    }
    write!(file, "\n{second}").unwrap();
    drop(file);
    let mut log = Log::empty();
    log.report = log.try_import(&path, &ClaudeOptions::default()).unwrap();
    assert_eq!((log.report.imported, log.report.broken_count), (2, 1));
    assert_eq!(log.report.broken[0].line, 2);
    assert!(
        log.report.broken[0]
            .reason
            .contains("more than 67108864 bytes")
    );
}

#[test]
fn what_is_too_large_is_left_out_and_said() {
    let large = "x".repeat(17 * 1024 * 1024);
    let mut recording = Recording::of("s");
    recording
        .user(json!(large))
        .calls(
            "m1",
            "t1",
            "Write",
            json!({ "file_path": "/a", "content": format!("{large}\n") }),
        )
        .result("t1", json!(large), false)
        .says("m2", json!({ "type": "novelty", "data": large }), [1; 4]);
    let log = Log::of(&recording);
    let prompt: IntentView = log.get(claude::ids().intent("s-0"));
    assert_eq!(prompt.prompt.as_str().map(str::len), Some(1024 * 1024));
    let call: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    assert!(call.args.is_none());
    for note in [
        "over 1 MiB",
        "a result or a part over 16 MiB",
        "a diff over 4 MiB",
    ] {
        assert!(log.has_note(note), "{note}: {}", log.report);
    }
    assert_eq!(log.fates("message.content[].input"), [0, 0, 1]);
    assert_eq!(log.fates("message.content[].content"), [0, 0, 1]);
    assert_eq!(log.fates("message.content[]"), [0, 0, 1]);
    let pipeline: ContextPipelineView = log.get(claude::ids().session("s").pipeline);
    let said = |frame: &ContextFrame| frame.data.as_ref().unwrap().to_string();
    let whole = pipeline.frames().map(said);
    let marked = whole.filter(|data| data.contains(r#""left_out":"content""#));
    assert_eq!(marked.count(), 2, "the result and the part");
}

#[test]
fn what_has_the_form_of_json_and_cannot_be_read_is_kept_as_a_text() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls("m1", "t1", "Bash", json!({ "n": "HUGE" }))
        .result("t1", json!("ok"), false);
    let file = recording.file(recording.lines.len());
    let folder = Folder::new();
    let path = folder.write("s.jsonl", file.replace("\"HUGE\"", "1e999"));
    let mut log = Log::empty();
    log.import(&path);
    let call: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    let args = serde_json::to_value(call.args).unwrap();
    assert_eq!(args, json!(r#"{"n":1e999}"#));
}

#[test]
fn what_cannot_be_read_of_a_compaction_leaves_its_frame_whole() {
    for text in ["short".to_owned(), "long ".repeat(300)] {
        let mut recording = Recording::of("s");
        let boundary = json!({ "subtype": "compact_boundary", "content": text,
            "compactMetadata": { "preTokens": "HUGE" } });
        recording
            .user(json!("Go"))
            .line("system", boundary)
            .text("m1", "On.");
        let file = recording.file(recording.lines.len());
        let folder = Folder::new();
        let path = folder.write("s.jsonl", file.replace("\"HUGE\"", "1e999"));
        let mut log = Log::empty();
        log.import(&path);
        let pipeline: ContextPipelineView = log.get(claude::ids().session("s").pipeline);
        // The first one that is left: what came before was dropped.
        let frame = pipeline.frames().next().unwrap();
        let data = serde_json::to_value(&frame.data).unwrap();
        assert_eq!(data["compaction"], json!(r#"{"preTokens":1e999}"#));
        assert_eq!(data["subtype"], "compact_boundary");
    }
}

#[test]
fn deep_json_is_kept() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls("m1", "t1", "Bash", json!({ "deep": deep }))
        .result("t1", json!("ok"), false);
    let log = Log::of(&recording);
    let call: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    let args = serde_json::to_value(call.args).unwrap();
    assert_eq!(args["deep"], deep);
}

#[test]
fn lines_without_names_times_and_sessions_are_recorded_all_the_same() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).text("m1", "Going.");
    for line in &mut recording.lines {
        for field in ["uuid", "sessionId", "timestamp"] {
            line[field] = json!(null);
        }
    }
    let folder = Folder::new();
    let path = folder.write("the-session.jsonl", recording.file(9));
    let mut log = Log::empty();
    log.import(&path);
    assert_eq!((log.report.imported, log.count("intent.submitted")), (2, 1));
    log.get::<annals::projections::RunView>(claude::ids().session("the-session").run);
    assert!(
        log.has_note("names no session") && log.has_note("has no time"),
        "{}",
        log.report
    );
    assert_eq!(log.fates("timestamp"), [0, 0, 2]);
    let end = log.annals.position();
    log.import(&path);
    assert_eq!(log.annals.position(), end);
}

#[test]
fn odd_calls_and_results_are_recorded_as_far_as_they_go() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", json!({ "type": "tool_use" }), [1; 4])
        .result("s-1/0", json!({ "odd": 1 }), false)
        .result("nobody", json!("asked"), false)
        .says("m2", json!({ "type": "server_tool_use", "x": 1 }), [1; 4])
        .user(json!([{ "no": "type" }]));
    let log = Log::of(&recording);
    let call: ToolInvocationView = log.get(claude::ids().tool("s-1/0").invocation);
    assert_eq!(call.tool_name.as_str(), Some("(unnamed)"));
    let frames = log.frames();
    let expected = [
        "intent_analysis: Go",
        "tool_call: (unnamed): {\"odd\":1}",
        "tool_call: asked",
        "server_tool_use: server_tool_use",
        "(none): (none)",
    ];
    assert_eq!(frames, expected);
    assert!(log.has_note("that was not read"), "{}", log.report);
}

#[test]
fn an_empty_file_is_not_an_error_but_an_empty_folder_is() {
    let mut log = Log::empty();
    import(&mut log, "\n\n");
    assert_eq!((log.report.records_read, log.annals.position().0), (0, 0));
    let folder = Folder::new();
    let options = ClaudeOptions::default();
    let empty = log.try_import(folder.path(), &options);
    assert!(matches!(empty, Err(ClaudeImportError::NoRecordings { .. })));
    let nowhere = log.try_import(&folder.path().join("nowhere"), &options);
    let error = nowhere.unwrap_err();
    assert!(matches!(error, ClaudeImportError::Unreadable { .. }) && !error.is_retryable());
}

#[test]
fn what_is_next_to_the_recordings_is_named() {
    let folder = Folder::new();
    folder.write("a.jsonl", story().file(9));
    folder.write("settings.json", "{}");
    std::fs::create_dir(folder.path().join("memory")).unwrap();
    folder.write("memory/notes.md", "no recording");
    let mut log = Log::empty();
    log.import(folder.path());
    assert_eq!(
        (log.report.broken_count, log.report.passed_over_count),
        (0, 2)
    );
    let named = log.report.passed_over.iter().map(|it| it.file.as_str());
    let within = |name: &str| folder.path().join(name).display().to_string();
    assert!(named.eq([within("memory/notes.md"), within("settings.json")]));
    let text = log.report.to_string();
    assert!(
        text.contains("settings.json: its name does not end with .jsonl"),
        "{text}"
    );
}

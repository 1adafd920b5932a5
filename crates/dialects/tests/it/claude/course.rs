//! The course of a session: prompts, tool calls, frames, and how they hang
//! together.

use annals::projections::{
    ContextPipelineView, ContextSnapshotView, Entry, IntentView, PieceValue, PlanView,
    ProvenanceView, RunView, TaskView, ToolInvocationView,
};
use annals_dialects::claude::{self, ClaudeOptions};
use annals_domain::intent::IntentStatus;
use annals_domain::run::{CallStatus, Status};
use annals_domain::{AnyEvent, snapshot};
use annals_event_log::{Digest, limits};
use serde_json::{Value, json};

use super::log::Log;
use super::recording::{Folder, Recording, story};

#[test]
fn a_session_is_one_task_run_plan_and_pipeline_under_the_first_intent() {
    let story = story();
    let log = Log::of(&story);
    let ids = claude::ids().session("story");
    let prompts = [2, 13, 16].map(|line| claude::ids().intent(&story.name(line)));
    let first: IntentView = log.get(prompts[0]);
    assert_eq!(first.prompt.as_str(), Some("Add a cache\nand test it"));
    assert_eq!(first.content, Some(first.prompt.clone()));
    assert_eq!((first.parent, first.plan), (None, Some(ids.plan)));
    assert_eq!(first.status(), IntentStatus::Active);
    for (n, expected) in [(1, "And now faster"), (2, "Never mind")] {
        let later: IntentView = log.get(prompts[n]);
        assert_eq!(later.prompt.as_str(), Some(expected));
        assert_eq!((later.parent, later.plan), (Some(prompts[n - 1]), None));
    }
    assert_eq!(log.count("intent.submitted"), 3);

    let task: TaskView = log.get(ids.task);
    assert_eq!(task.title.as_str(), Some("Add a cache"));
    assert_eq!(task.description.unwrap().as_str(), first.prompt.as_str());
    assert_eq!((task.intent, task.runs), (Some(prompts[0]), vec![ids.run]));
    let run: RunView = log.get(ids.run);
    assert_eq!((run.status(), run.commit), (Status::Patching, None));
    assert_eq!((run.task, run.plan), (ids.task, Some(ids.plan)));
    let environment = serde_json::to_value(run.environment).unwrap();
    let expected = json!({ "os": "unknown", "arch": "unknown", "cwd": "/home/ada/project",
        "git_branch": "main", "claude_code_version": "2.0.0" });
    assert_eq!(environment, expected);
    let plan: PlanView = log.get(ids.plan);
    assert_eq!(
        (plan.intent, plan.pipeline),
        (Some(prompts[0]), Some(ids.pipeline))
    );
    for kind in [
        "task.created",
        "run.created",
        "plan.drafted",
        "pipeline.created",
    ] {
        assert_eq!(log.count(kind), 1, "{kind}");
    }
    assert_eq!(log.count("run.decision_made"), 0);
}

#[test]
fn what_is_not_a_prompt_makes_no_intent() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("<command-message>init</command-message>"))
        .user(json!("<local-command-stdout>x</local-command-stdout>"))
        .user(json!("[Request interrupted by user for tool use]"))
        .user(json!("<bash-input>ls</bash-input>"))
        .user(json!("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"))
        .user(json!("<task-notification>\n</task-notification>\nRead it"))
        .user(json!("<ide_opened_file>x.rs</ide_opened_file>"))
        .user(json!("a caveat")).with(json!({ "isMeta": true }))
        .user(json!("a summary")).with(json!({ "isCompactSummary": true }))
        .user(json!("  \n"))
        .user(json!([]))
        .user(json!([{ "type": "tool_result", "tool_use_id": "x", "content": "" }, { "type": "text", "text": "beside a result" }]))
        .user(json!("The only prompt"));
    let log = Log::of(&recording);
    assert_eq!(log.count("intent.submitted"), 1);
    assert_eq!(
        log.get::<IntentView>(claude::ids().intent("s-12"))
            .prompt
            .as_str(),
        Some("The only prompt")
    );
    // The others are context all the same, once the session has begun.
    let frames = [
        "intent_analysis: The only prompt",
        "system_state: <command-message>init</command-message>",
        "system_state: <local-command-stdout>x</local-command-stdout>",
        "system_state: [Request interrupted by user for tool use]",
        "system_state: <bash-input>ls</bash-input>",
        "system_state: <bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
        "system_state: <task-notification>\n</task-notification>\nRead it",
        "system_state: <ide_opened_file>x.rs</ide_opened_file>",
        "system_state: a caveat",
        "checkpoint: a summary",
        "tool_call: ",
        "system_state: beside a result",
    ];
    assert_eq!(log.frames(), frames);
}

/// An editor adds to a prompt what is open in it. The model saw both; a person asked for one of them.
#[test]
fn what_an_editor_adds_to_a_prompt_is_not_asked() {
    let mut recording = Recording::of("s");
    let added = format!("<ide_selection>{}</ide_selection>", "x".repeat(2 << 20));
    recording.user(json!(format!("{added}\nBegin")));
    let long = Log::of(&recording)
        .get::<IntentView>(claude::ids().intent("s-0"))
        .prompt;
    assert_eq!(
        long.as_str(),
        Some("Begin"),
        "what is cut is not what was asked"
    );
    let mut recording = Recording::of("s");
    let editor = "<ide_opened_file>x.rs</ide_opened_file>";
    recording
        .user(json!([{ "type": "text", "text": editor }, { "type": "text", "text": "Fix it" }]));
    let log = Log::of(&recording);
    let prompt = log.get::<IntentView>(claude::ids().intent("s-0")).prompt;
    assert_eq!(prompt.as_str(), Some("Fix it"));
    let task: TaskView = log.get(claude::ids().session("s").task);
    assert_eq!(task.title.as_str(), Some("Fix it"));
    assert_eq!(log.frames(), [format!("intent_analysis: {editor}\nFix it")]);
}

#[test]
fn frames_follow_the_course_of_the_session() {
    let frames = [
        "intent_analysis: Add a cache\nand test it",
        "checkpoint: What was before",
        "system_state: <command-name>/clear</command-name>",
        "thinking: Look first.",
        "step_summary: I look at the parser.",
        "tool_call: Read src/parser.rs: fn parse() {}",
        "error_recovery: Bash: ls: no",
        "code_change: Edit src/parser.rs: done",
        "checkpoint: Conversation compacted",
        "checkpoint: This session is being continued",
        "intent_analysis: And now faster",
        "image: image",
        "system_state: [Request interrupted by user]",
        "intent_analysis: Never mind",
        "step_summary: All right.",
    ];
    let log = Log::of(&story());
    assert_eq!(log.frames(), frames);
    let pipeline: ContextPipelineView = log.get(claude::ids().session("story").pipeline);
    // The compaction dropped what came before it.
    let window: Vec<_> = pipeline.frames().collect();
    assert_eq!(window.len(), frames.len() - 8);
    let before = log.before("pipeline.frames_dropped");
    let dropped: ContextPipelineView = log.get_at(claude::ids().session("story").pipeline, before);
    let dropped: Vec<_> = dropped.frames().collect();
    assert_eq!(dropped.len(), 8);
    let data = |frame: usize| -> Value {
        let frame = dropped.iter().chain(&window).nth(frame).unwrap();
        serde_json::to_value(frame.data.clone()).unwrap()
    };
    let read = json!({ "line": "story-7", "parent_line": "story-6", "message": "m1",
        "tool_use": "t1", "tool_use_line": "story-5", "git_branch": "main",
        // Another call was made before its result.
        "tool_use_after": { "line": "story-4", "texts": 1, "calls": 0 },
        "tokens_by": "o200k_base",
        "content": "fn parse() {}" });
    assert_eq!(data(5), read);
    let image = json!({ "type": "image", "source": { "type": "base64", "data": "AAAA" } });
    assert_eq!(data(11)["content"], image);
    assert_eq!(
        data(8)["compaction"],
        json!({ "trigger": "auto", "preTokens": 9 })
    );
}

#[test]
fn a_long_text_is_whole_in_the_frames_data() {
    let long = "word ".repeat(1_000);
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).text("m1", &long);
    let log = Log::of(&recording);
    let pipeline: ContextPipelineView = log.get(claude::ids().session("s").pipeline);
    let frame = pipeline.frames().last().unwrap();
    assert_eq!(frame.summary.as_str().unwrap().len(), 500);
    let data = serde_json::to_value(frame.data.clone()).unwrap();
    assert_eq!(data["content"], json!(long));
}

#[test]
fn the_same_output_in_another_recording_is_the_same_content() {
    let output = "a line of a file\n".repeat(1_000);
    let mut log = Log::empty();
    for session in ["one", "other"] {
        let mut recording = Recording::of(session);
        let (message, call) = (format!("m-{session}"), format!("t-{session}"));
        recording
            .user(json!(format!("Read it, {session}")))
            .calls(&message, &call, "Read", json!({ "file_path": "a" }))
            .result(&call, json!(output), false)
            .text(&format!("{message}-2"), &output);
        let other = json!({ "type": "mcp_tool_result", "tool_use_id": call, "content": output });
        recording.says(&format!("{message}-3"), other, [1; 4]);
        let attachment = json!({ "attachment": { "type": "hook_success", "toolUseID": call,
            "stdout": output, "durationMs": session.len() } });
        recording.line("attachment", attachment);
        log.grow(&recording, recording.lines.len());
    }
    let pieces = log.entries().into_iter().flat_map(|entry| entry.pieces);
    let large: Vec<Digest> = pieces
        .filter_map(|piece| match piece {
            PieceValue::Bytes(bytes) if bytes.len() > limits::INLINE => Some(Digest::of(&bytes)),
            _ => None,
        })
        .collect();
    let [result, text, other, attachment] = large[..4] else {
        panic!("{large:?}");
    };
    // The model said what the result was.
    assert_eq!(result, text);
    assert_eq!(large[4..], [result, text, other, attachment]);
    let pipeline: ContextPipelineView = log.get(claude::ids().session("other").pipeline);
    let last = pipeline.frames().next_back().unwrap();
    let data = serde_json::to_value(&last.data).unwrap();
    assert_eq!(
        data["part"],
        json!({ "toolUseID": "t-other", "durationMs": 5 })
    );
    assert_eq!(
        data["content"],
        json!({ "type": "hook_success", "stdout": output })
    );
}

#[test]
fn a_tool_call_has_arguments_status_duration_and_footprint() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls(
            "m1",
            "t1",
            "Read",
            json!({ "file_path": "/home/ada/project/a b.rs", "limit": 1.50 }),
        )
        .calls("m1", "t2", "Bash", json!({ "command": "false" }))
        .result("t1", json!("text"), false)
        .result("t2", json!("no"), true)
        .with(json!({ "toolUseResult": { "durationMs": 1234.4 } }))
        .calls(
            "m2",
            "t3",
            "Write",
            json!({ "file_path": "/etc/x", "content": "x" }),
        )
        .result("t3", json!(null), false)
        .with(json!({ "toolUseResult": "as text" }));
    let log = Log::of(&recording);
    let call = |id: &str| log.get::<ToolInvocationView>(claude::ids().tool(id).invocation);
    let footprint = |id: &str| serde_json::to_value(call(id).io_footprint).unwrap();
    let read = call("t1");
    assert_eq!(read.run_id, claude::ids().session("s").run);
    assert_eq!(
        (read.tool_name.as_str(), read.status()),
        (Some("Read"), CallStatus::Ok)
    );
    assert_eq!(read.duration_ms, Some(2_000));
    let args = serde_json::to_string(&read.args).unwrap();
    assert_eq!(
        args,
        r#"{"file_path":"/home/ada/project/a b.rs","limit":1.5}"#
    );
    assert_eq!(footprint("t1"), json!({ "paths_read": ["a b.rs"] }));
    let bash = call("t2");
    assert_eq!(
        (bash.status(), bash.duration_ms),
        (CallStatus::Error, Some(1_234))
    );
    assert_eq!(bash.result_summary.unwrap().as_str(), Some("no"));
    assert_eq!(footprint("t2"), json!(null));
    assert_eq!(footprint("t3"), json!({ "paths_written": ["/etc/x"] }));
    assert_eq!(log.count("run.tool_invoked"), 3);
}

#[test]
fn a_call_without_a_result_is_given_up_when_the_model_goes_on_after_another_prompt() {
    let story = story();
    let call = |log: &Log| {
        let id = claude::ids().tool("t4").invocation;
        let view = futures::executor::block_on(log.annals.get::<ToolInvocationView>(id));
        view.ok().map(|call| (call.status(), call.duration_ms))
    };
    let mut log = Log::empty();
    // The prompt may have been queued: the result may still come.
    log.grow(&story, 17);
    let requested = Some((CallStatus::Requested, None));
    assert_eq!((call(&log), log.report.waiting), (requested, 1));
    log.grow(&story, 18);
    assert_eq!(call(&log), Some((CallStatus::Error, None)));
    assert_eq!(log.report.waiting, 0);
    assert!(log.has_note("given up without a result"), "{}", log.report);
}

#[test]
fn a_result_after_a_queued_prompt_still_counts() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls("m1", "t1", "Bash", json!({}))
        .user(json!("And hurry"))
        .calls("m1", "t2", "Bash", json!({}))
        .result("t1", json!("one"), false)
        .result("t2", json!("two"), false)
        .text("m2", "Done.");
    let log = Log::of(&recording);
    for id in ["t1", "t2"] {
        assert_eq!(
            log.get::<ToolInvocationView>(claude::ids().tool(id).invocation)
                .status(),
            CallStatus::Ok
        );
    }
}

#[test]
fn a_session_that_is_over_leaves_no_call_waiting() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls("m1", "t1", "Bash", json!({}));
    let mut log = Log::of(&recording);
    assert_eq!((log.report.waiting, log.count("run.tool_invoked")), (1, 0));
    let folder = Folder::new();
    let path = folder.write("r.jsonl", recording.file(9));
    log.report = log
        .try_import(&path, &ClaudeOptions::default().with_ended(true))
        .unwrap();
    assert_eq!((log.report.waiting, log.count("run.tool_invoked")), (0, 1));
    // From then on it is recorded, and waits no more.
    log.import(&path);
    assert_eq!((log.report.waiting, log.report.already_there), (0, 2));
}

#[test]
fn provenance_is_the_first_real_model_once() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go"));
    recording.text("m1", "An error").lines[1]["message"]["model"] = json!("<synthetic>");
    recording.text("m2", "Fine");
    recording.text("m3", "Finer").lines[3]["message"]["model"] = json!("model-2");
    let log = Log::of(&recording);
    assert_eq!(log.count("run.provenance_recorded"), 1);
    let entries = log.entries();
    let id = entries.iter().find_map(|entry| match &entry.event {
        AnyEvent::Run(annals_domain::run::Event::ProvenanceRecorded(event)) => {
            Some(event.provenance)
        }
        _ => None,
    });
    let provenance: ProvenanceView = log.get(id.unwrap());
    assert_eq!(provenance.provider.as_str(), Some("anthropic"));
    assert_eq!(provenance.model.as_str(), Some("model-1"));
}

#[test]
fn work_before_the_first_prompt_is_recorded_without_an_intent() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("<command-message>init</command-message>"))
        .text("m1", "I look around.")
        .user(json!("Now fix it"));
    let log = Log::of(&recording);
    let task: TaskView = log.get(claude::ids().session("s").task);
    assert_eq!(
        (task.title.as_str(), task.intent),
        (Some("(no prompt)"), None)
    );
    assert_eq!(log.count("intent.submitted"), 1);
    assert!(log.has_note("without a prompt"), "{}", log.report);
}

#[test]
fn a_call_waits_as_long_as_there_is_no_other_prompt() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls("m1", "t1", "Bash", json!({}))
        .text("m2", "Meanwhile.")
        .text("m3", "Still running.")
        .result("t1", json!("done"), false);
    let log = Log::of(&recording);
    let call: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    assert_eq!(call.status(), CallStatus::Ok);
}

#[test]
fn a_line_that_is_repeated_changes_nothing() {
    let part = || json!({ "type": "text", "text": "x" });
    let mut recording = Recording::of("s");
    recording
        .user(json!("One"))
        .says("m1", part(), [1, 0, 0, 2])
        .says("m1", part(), [1, 0, 0, 5])
        .user(json!("Two"))
        .calls("m2", "t1", "Bash", json!({}));
    for line in [1, 0] {
        let repeated = recording.lines[line].clone();
        recording.raw(repeated);
    }
    recording
        .text("m3", "Going on.")
        .result("t1", json!("done"), false)
        .user(json!("Three"));
    let log = Log::of(&recording);
    assert_eq!(log.report.already_there, 2);
    assert_eq!(log.tokens(), [3, 4, 6, 13]);
    let call: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    assert_eq!(call.status(), CallStatus::Ok);
    let three: IntentView = log.get(claude::ids().intent(&recording.name(9)));
    assert_eq!(three.parent, Some(claude::ids().intent("s-3")));
}

/// The numbers of the frames in a session's window.
fn window(log: &Log, session: &str) -> Vec<u64> {
    let pipeline: ContextPipelineView = log.get(claude::ids().session(session).pipeline);
    pipeline.frames().map(|frame| frame.frame_id.0).collect()
}

#[test]
fn a_compaction_takes_what_was_before_out_of_the_window() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .text("m1", "Going.")
        .line(
            "system",
            json!({ "subtype": "compact_boundary", "content": "Conversation compacted",
                "compactMetadata": { "trigger": "auto", "preTokens": 9 } }),
        )
        .user(json!("This session is being continued"))
        .with(json!({ "isCompactSummary": true }))
        .text("m2", "Going on.");
    let log = Log::of(&recording);
    assert_eq!(log.count("pipeline.frame_pushed"), 5);
    assert_eq!(window(&log, "s"), [2, 3, 4]);
    let pipeline: ContextPipelineView = log.get(claude::ids().session("s").pipeline);
    let gone: Vec<_> = pipeline
        .evicted
        .iter()
        .map(|it| (it.frame.0, it.pushed))
        .collect();
    assert_eq!(gone, [(0, None), (1, None)]);
    // In pieces, and again, it is the same.
    let mut pieces = Log::empty();
    for lines in 1..=recording.lines.len() {
        pieces.grow(&recording, lines);
    }
    pieces.grow(&recording, recording.lines.len());
    assert_eq!(pieces.report.events_made, 0);
    assert_eq!(pieces.count("pipeline.frames_dropped"), 1);
    assert_eq!(window(&pieces, "s"), [2, 3, 4]);
}

#[test]
fn a_compaction_that_keeps_messages_drops_none_that_it_does_not_name() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).text("m1", "Going.").line(
        "system",
        json!({ "subtype": "compact_boundary", "content": "Conversation compacted",
            "compactMetadata": { "trigger": "auto", "preservedSegment": { "headUuid": "s-1" } } }),
    );
    let log = Log::of(&recording);
    assert_eq!(log.count("pipeline.frames_dropped"), 0);
    assert_eq!(window(&log, "s"), [0, 1, 2]);
}

#[test]
fn frames_say_which_request_they_are_of_why_it_stopped_and_on_which_branch() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .text("m1", "Going.")
        .with(json!({ "requestId": "req-1" }))
        .calls("m1", "t1", "Bash", json!({ "command": "git switch x" }))
        .with(json!({ "requestId": "req-1" }))
        .result("t1", json!("ok"), false)
        .with(json!({ "gitBranch": "x" }))
        .text("m2", "Gone.")
        .with(json!({ "gitBranch": "x", "requestId": 7 }));
    recording.lines[2]["message"]["stop_reason"] = json!("tool_use");
    recording.lines[4]["message"]["stop_reason"] = json!("end_turn");
    let log = Log::of(&recording);
    let origin =
        |data: &Value| ["request", "stop_reason", "git_branch"].map(|name| data[name].clone());
    let origins: Vec<[Value; 3]> = log
        .estimates()
        .iter()
        .map(|(.., data)| origin(data))
        .collect();
    let expected = [
        [Value::Null, Value::Null, json!("main")],
        [json!("req-1"), Value::Null, json!("main")],
        [json!("req-1"), json!("tool_use"), json!("main")],
        [Value::Null, json!("end_turn"), json!("x")],
    ];
    assert_eq!(origins, expected);
    assert_eq!(log.fates("gitBranch"), [5, 0, 0]);
}

#[test]
fn copies_of_files_are_a_snapshot_of_what_they_are_of() {
    let mut recording = Recording::of("s");
    let backup = |name: Value, version: u64, at: &str| json!({ "backupFileName": name, "version": version, "backupTime": at });
    let line = json!({
        "type": "file-history-snapshot", "messageId": "s-1", "isSnapshotUpdate": false,
        "snapshot": { "messageId": "s-1", "timestamp": "2026-01-02T03:00:00.500Z", "trackedFileBackups": {
            "src/b.rs": backup(json!("81d6@v2"), 2, "2026-01-02T03:00:00.100Z"),
            "a.rs": backup(Value::Null, 1, "2026-01-02T03:00:00.700Z"),
        } },
    });
    recording
        .raw(line.clone())
        .user(json!("Go"))
        .raw(line)
        .text("m1", "Going.");
    let mut log = Log::of(&recording);
    assert_eq!(log.report.skipped_types, []);
    assert_eq!(
        log.count("snapshot.opened"),
        1,
        "a copy of the line is none"
    );
    let entries = log.entries();
    let is_opened =
        |entry: &&Entry| matches!(entry.event, AnyEvent::Snapshot(snapshot::Event::Opened(_)));
    let opened = entries.iter().find(is_opened).unwrap();
    assert_eq!(opened.occurred_at.to_string(), "2026-01-02T03:00:00.700Z");
    let snapshot: ContextSnapshotView = log.get(opened.stream.id.into());
    let json = serde_json::to_value(&snapshot).unwrap();
    assert_eq!(json["external_ids"], json!({ "claude.line": "s-1" }));
    let items = json["items"].clone();
    let shown: Vec<[&Value; 2]> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| [&item["path"], &item["preview"]])
        .collect();
    let expected = [
        [
            json!("src/b.rs"),
            json!("81d6@v2, version 2, at 2026-01-02T03:00:00.100Z"),
        ],
        [
            json!("a.rs"),
            json!("no copy: the file was not there, version 1, at 2026-01-02T03:00:00.700Z"),
        ],
    ];
    assert_eq!(shown, expected.each_ref().map(|item| item.each_ref()));
    log.grow(&recording, recording.lines.len());
    assert_eq!(log.report.events_made, 0);
}

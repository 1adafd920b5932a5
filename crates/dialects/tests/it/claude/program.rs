//! What the program writes between the messages: queued prompts, sub-agents at work, hooks,
//! refusals, modes. And recordings whose parts come in another order.

use annals::projections::{IntentView, RunView, TaskView, Text, ToolInvocationView};
use annals_dialects::claude;
use annals_domain::AnyEvent;
use annals_domain::run::{CallStatus, Event as RunEvent};
use serde_json::{Value, json};

use super::grown::{check_cuts, check_kills};
use super::log::Log;
use super::recording::{Folder, Recording};

const REFUSED: &str =
    "The user doesn't want to proceed with this tool use. The tool use was rejected";

fn queued(recording: &mut Recording, operation: &str, content: Option<&str>) {
    let mut line = json!({
        "type": "queue-operation", "operation": operation, "sessionId": recording.session,
        "timestamp": "2026-01-02T03:00:30.000Z",
    });
    if let Some(content) = content {
        line["content"] = json!(content);
    }
    recording.raw(line);
}

fn sub_agent(recording: &mut Recording, name: &str, kind: &str, message: Value) {
    let data = json!({
        "type": "agent_progress", "agentId": "helper", "prompt": "Look around",
        "message": { "type": kind, "uuid": name, "timestamp": "2026-01-02T03:00:40.000Z", "message": message },
        "normalizedMessages": [],
    });
    recording.line("progress", json!({ "data": data, "toolUseID": "t1" }));
}

/// A session in which the program has much to say.
fn busy() -> Recording {
    let mut busy = Recording::of("busy");
    let hook = json!({ "type": "hook_progress", "hookEvent": "SessionStart", "hookName": "SessionStart:startup", "command": "check.sh" });
    busy.line("progress", json!({ "data": hook }))
        .raw(json!({ "type": "permission-mode", "permissionMode": "plan", "sessionId": "busy" }))
        .user(json!("Do it"))
        .raw(json!({ "type": "permission-mode", "permissionMode": "plan", "sessionId": "busy" }))
        .calls("m1", "t1", "Task", json!({ "prompt": "Look around" }));
    queued(&mut busy, "enqueue", Some("Also the tests"));
    queued(
        &mut busy,
        "enqueue",
        Some("<task-notification>x</task-notification>"),
    );
    queued(&mut busy, "enqueue", Some("And then stop"));
    let asked = json!([{ "type": "text", "text": "Look around" }]);
    sub_agent(
        &mut busy,
        "sub-0",
        "user",
        json!({ "role": "user", "content": asked }),
    );
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let call = json!([{ "type": "tool_use", "id": "s1", "name": "Edit", "input": { "file_path": "/home/ada/project/a", "old_string": "x\n", "new_string": "y\n" } }]);
    sub_agent(
        &mut busy,
        "sub-1",
        "assistant",
        json!({ "id": "sm1", "role": "assistant", "model": "model-2", "content": call, "usage": usage }),
    );
    let result = json!([{ "type": "tool_result", "tool_use_id": "s1", "content": "edited" }]);
    sub_agent(
        &mut busy,
        "sub-2",
        "user",
        json!({ "role": "user", "content": result }),
    );
    queued(&mut busy, "remove", None);
    queued(
        &mut busy,
        "remove",
        Some("<task-notification>x</task-notification>"),
    );
    busy.result("t1", json!("looked"), false)
        .calls("m2", "t2", "Bash", json!({ "command": "rm -rf /" }))
        .result("t2", json!(REFUSED), true);
    queued(&mut busy, "dequeue", None);
    busy.user(json!("And then stop")).text("m3", "Stopped.");
    let hooks = json!({ "subtype": "stop_hook_summary", "hookCount": 1, "hookInfos": [{ "command": "done.sh" }], "hookErrors": ["exit 1"] });
    busy.line("system", hooks);
    busy
}

/// The kinds of evidence of a session, with what was run and the summary.
fn evidence(log: &Log) -> Vec<String> {
    let entries = log.entries().into_iter();
    let shown = entries.filter_map(|entry| match &entry.event {
        AnyEvent::Run(RunEvent::EvidenceRecorded(event)) => {
            let text = |slot| entry.text(slot).as_str().unwrap_or("(removed)").to_owned();
            let command = event.command.map(text).unwrap_or_default();
            let summary = event.summary.map(text).unwrap_or_default();
            Some(format!(
                "{}: {} {command} {summary}",
                event.kind.as_str(),
                text(event.tool)
            ))
        }
        _ => None,
    });
    shown.collect()
}

#[test]
fn prompts_that_were_typed_while_the_model_worked_are_prompts() {
    let log = Log::of(&busy());
    let prompts: Vec<String> = log
        .entries()
        .into_iter()
        .filter_map(|entry| match &entry.event {
            AnyEvent::Intent(annals_domain::intent::Event::Submitted(event)) => {
                Some(entry.text(event.prompt).as_str().unwrap().to_owned())
            }
            _ => None,
        })
        .collect();
    assert_eq!(prompts, ["Do it", "Also the tests", "And then stop"]);
    let end: IntentView = log.get(claude::ids().intent(&last_prompt(&busy())));
    assert!(end.parent.is_some(), "each refines the one before");
}

/// The name of the last prompt's line.
fn last_prompt(recording: &Recording) -> String {
    let mut lines = recording.lines.iter().rev();
    let line = lines.find(|line| line["message"]["content"] == "And then stop");
    line.unwrap()["uuid"].as_str().unwrap().to_owned()
}

#[test]
fn what_sub_agents_do_is_a_run_of_their_own() {
    let log = Log::of(&busy());
    let ids = claude::ids().side_chain("busy", "helper");
    let run: RunView = log.get(ids.run);
    assert_eq!(run.patchsets.len(), 1);
    let task: TaskView = log.get(ids.task);
    assert_eq!(task.parent, Some(claude::ids().session("busy").task));
    assert_eq!(task.title.as_str(), Some("Look around"));
    let tokens = log
        .entries()
        .into_iter()
        .filter_map(|entry| match entry.event {
            AnyEvent::Run(RunEvent::UsageRecorded(event)) if entry.stream.id == ids.run.0 => {
                Some((event.uncached_input_tokens, event.output_tokens))
            }
            _ => None,
        });
    assert_eq!(tokens.collect::<Vec<_>>(), [(10, 5)]);
}

#[test]
fn hooks_modes_and_refusals_are_evidence() {
    let log = Log::of(&busy());
    let mut found = evidence(&log);
    found.sort();
    let refused = format!("decision: t2  denied: {REFUSED}");
    let expected = [
        refused.as_str(),
        "hook: SessionStart:startup check.sh ",
        "hook: claude-code  1 failed",
        "permission_mode: claude-code  plan",
        "permission_mode: claude-code  plan",
    ];
    assert_eq!(found, expected);
    let frames = log.frames();
    assert!(
        frames.iter().all(|frame| !frame.contains("hook")),
        "{frames:?}"
    );
}

#[test]
fn who_let_no_call_through_is_a_decision_on_it() {
    let said = format!(
        "{REFUSED} (eg. nothing was written). To tell you how to proceed, the user said:\nUse rg."
    );
    let results = [
        (said.as_str(), "deny by person: Use rg."),
        (REFUSED, "deny by person: "),
        (
            "Claude requested permissions to use Bash, but you haven't granted it yet.",
            "ask by mode: Claude requested permissions",
        ),
        (
            "Permission to use Bash with command rm has been denied.",
            "deny by rule: Permission to use Bash",
        ),
        (
            "Permission to use Bash has been denied because Claude Code is running in don't ask mode.",
            "deny by mode dontAsk: Permission to use Bash",
        ),
        ("rm: Permission to use a: it has been denied", "none"),
    ];
    let mut recording = Recording::of("s");
    recording.user(json!("Do it"));
    for (number, (result, _)) in results.iter().enumerate() {
        let call = format!("t{number}");
        recording
            .calls(
                &format!("m{number}"),
                &call,
                "Bash",
                json!({ "command": "rm" }),
            )
            .result(&call, json!(result), true);
    }
    let mut log = Log::of(&recording);
    for (number, (_, expected)) in results.iter().enumerate() {
        let call = claude::ids().tool(&format!("t{number}")).invocation;
        let view: ToolInvocationView = log.get(call);
        let shown = view.life.decisions.iter().map(|decision| {
            let text = |text: Option<&Text>| text.map(Text::to_string).unwrap_or_default();
            let name = decision.by_name.as_ref().map(|name| format!(" {name}"));
            let (name, reason) = (name.unwrap_or_default(), text(decision.reason.as_ref()));
            assert!(!decision.inferred);
            format!("{} by {}{name}: {reason}", decision.verdict, decision.by)
        });
        let shown: Vec<String> = shown.collect();
        match *expected {
            "none" => assert_eq!(shown, [""; 0]),
            expected => assert!(
                shown.len() == 1 && shown[0].starts_with(expected),
                "{shown:?}"
            ),
        }
        assert_eq!(view.status(), CallStatus::Error);
    }
    // Nothing stands twice.
    let before = log.annals.position();
    log.grow(&recording, recording.lines.len());
    assert_eq!(log.annals.position(), before);
}

/// Newer versions state beside each result who or what decided.
#[test]
fn who_decided_is_taken_as_it_is_stated() {
    let words = format!("{REFUSED} To tell you how to proceed, the user said:\nKeep it.");
    let by_rule = json!({ "decision": "reject", "source": "config", "reasonType": "subcommandResults",
        "ruleSource": "cliArg", "reasonCode": "rule:cliArg" });
    let unavailable = json!({ "decision": "reject", "source": "config", "reasonType": "classifier",
        "reasonCode": "classifier:auto-mode:unavailable" });
    let once = json!({ "decision": "accept", "source": "user_temporary", "grantScope": "once",
        "reasonCode": "unknown" });
    let refused = json!({ "decision": "reject", "source": "user_reject", "reasonCode": "unknown" });
    let ungranted = json!({ "decision": "reject", "source": "config", "reasonCode": "unknown" });
    let by_mode = json!({ "decision": "accept", "source": "config", "reasonType": "mode" });
    let allowed =
        json!({ "decision": "accept", "source": "config", "reasonType": "subcommandResults" });
    let cases = [
        (
            by_rule,
            "Permission to use Bash with command git push has been denied.",
            "deny rule rule:cliArg cliArg",
        ),
        (
            unavailable,
            "Auto mode is unavailable",
            "deny classifier classifier:auto-mode:unavailable ",
        ),
        (once, "ok", "allow person  "),
        (refused, words.as_str(), "deny person  "),
        (
            ungranted,
            "Claude requested permissions to write, but you haven't granted it yet.",
            "ask mode  ",
        ),
        (by_mode, "ok", "allow mode  "),
        (allowed, "ok", "allow rule  "),
        // It ran, and was interrupted.
        (json!(null), REFUSED, "none"),
        (json!({ "decision": "odd" }), "ok", "none"),
    ];
    let mut recording = Recording::of("s");
    recording.user(json!("Do it"));
    for (number, (stated, result, _)) in cases.iter().enumerate() {
        let (call, message) = (format!("t{number}"), format!("m{number}"));
        let is_error = *result != "ok";
        recording.calls(&message, &call, "Bash", json!({ "command": "x" }));
        recording.result(&call, json!(result), is_error);
        match stated.is_null() {
            true => recording.with(json!({ "toolDenialKind": "user-rejected" })),
            false => recording.with(json!({ "permissionDecision": stated })),
        };
    }
    let log = Log::of(&recording);
    for (number, (stated, _, expected)) in cases.iter().enumerate() {
        let call = claude::ids().tool(&format!("t{number}")).invocation;
        let view: ToolInvocationView = log.get(call);
        let shown = view.life.decisions.iter().map(|decision| {
            let text = |text: Option<&Text>| text.map(Text::to_string).unwrap_or_default();
            let name = text(decision.by_name.as_ref());
            let source = text(decision.source.as_ref());
            format!("{} {} {name} {source}", decision.verdict, decision.by)
        });
        let shown: Vec<String> = shown.collect();
        match *expected {
            "none" => assert_eq!(shown, [""; 0], "{stated}"),
            expected => assert_eq!(shown, [expected], "{stated}"),
        }
    }
    // Nor is it evidence of a refusal.
    let refusals = evidence(&log)
        .into_iter()
        .filter(|it| it.starts_with("decision:"));
    assert_eq!(refusals.count(), 1);
}

/// Versions that name the kind of a denial, and no decision: its text says whose it was.
#[test]
fn a_denial_without_a_stated_decision_is_read_by_its_text() {
    let mut recording = Recording::of("s");
    recording.user(json!("Do it"));
    recording.calls("m1", "t1", "Bash", json!({ "command": "x" }));
    recording.result("t1", json!(REFUSED), true);
    recording.with(json!({ "toolDenialKind": "user-rejected" }));
    let log = Log::of(&recording);
    let view: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    assert_eq!(view.life.decisions.len(), 1);
    assert_eq!(view.life.decisions[0].by.to_string(), "person");
}

#[test]
fn cut_or_killed_anywhere_it_is_the_same() {
    let busy = busy();
    for cut in 0..=busy.lines.len() {
        check_cuts(&busy, &[cut]);
    }
    check_kills(&busy, busy.lines.len(), 0..Log::of(&busy).batches());
}

#[test]
fn two_values_on_a_line_are_read_as_two() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Do it"))
        .text("m1", "Done.")
        .user(json!("More"));
    let folder = Folder::new();
    let joined = recording.file(3).replacen("}\n{", "}{", 1);
    assert_eq!(joined.lines().count(), 2);
    let path = folder.write("s.jsonl", joined);
    let mut log = Log::empty();
    log.import(&path);
    assert_eq!(log.frames(), Log::of(&recording).frames());
    assert_eq!(log.report.records_read, 3);
    let note = "has several JSON values";
    assert!(
        log.report.notes.iter().any(|it| it.contains(note)),
        "{}",
        log.report
    );
}

/// The later part of a session comes first. No prompt refines a later one, and the report says so.
#[test]
fn the_beginning_of_a_session_may_come_behind_its_continuation() {
    let mut whole = Recording::of("s");
    whole
        .user(json!("First"))
        .text("m1", "Yes.")
        .user(json!("Second"))
        .text("m2", "Yes.")
        .user(json!("Third"))
        .text("m3", "Yes.");
    let folder = Folder::new();
    let text = whole.file(6);
    let lines: Vec<&str> = text.lines().collect();
    let later = folder.write("later.jsonl", lines[4..].join("\n"));
    let earlier = folder.write("earlier.jsonl", lines[..4].join("\n"));
    let mut log = Log::empty();
    log.import(&later);
    log.import(&earlier);
    let note = "comes before what the log has of its session";
    assert!(
        log.report.notes.iter().any(|it| it.contains(note)),
        "{}",
        log.report
    );
    let parent = |line: usize| {
        log.get::<IntentView>(claude::ids().intent(&whole.name(line)))
            .parent
    };
    assert_eq!((parent(0), parent(4)), (None, None));
    assert_eq!(parent(2), Some(claude::ids().intent(&whole.name(0))));

    // In one folder the order of the files' names does not matter.
    let mut log = Log::empty();
    log.import(folder.path());
    let parent = |line: usize| {
        log.get::<IntentView>(claude::ids().intent(&whole.name(line)))
            .parent
    };
    assert_eq!(parent(4), Some(claude::ids().intent(&whole.name(2))));
}

//! Turns for tests of renderers.

#![allow(clippy::unwrap_used)]

use annals_domain::run::{ToolDecider, ToolVerdict};
use annals_domain::{ActorRef, Json, Timestamp, ToolInvocationId};
use annals_event_log::{Digest, Position};
use uuid::Uuid;

use super::{
    CallDecisionTurn, CallOutcome, CallResult, CallRole, FileEdit, PromptTurn, ToolCallTurn, Turn,
    TurnBody,
};
use crate::{CallLine, JsonText, SessionSummary, Text};

pub(super) fn turn(number: u64, body: TurnBody) -> Turn {
    Turn {
        number,
        prompt: 1,
        at: Some(at(number)),
        position: Position(number),
        body,
    }
}

/// The second `number` of a morning.
pub(super) fn at(number: u64) -> Timestamp {
    let text = format!("2026-11-27T09:00:{number:02}Z");
    let time = chrono::DateTime::parse_from_rfc3339(&text).unwrap();
    Timestamp::in_range(time.to_utc()).unwrap()
}

pub(super) fn prompt(text: &str) -> TurnBody {
    TurnBody::Prompt(PromptTurn {
        text: Text::from(text),
        by: ActorRef::human("ada"),
        command: None,
        intent: None,
    })
}

pub(super) fn answer(text: &str) -> TurnBody {
    TurnBody::Answer {
        text: Text::from(text),
        model: Some("opus".to_owned()),
    }
}

pub(super) fn call(tool: &str, args: &str, role: CallRole) -> ToolCallTurn {
    ToolCallTurn {
        id: ToolInvocationId(Uuid::nil()),
        tool: Text::from(tool),
        line: CallLine::new(tool, Some(args)),
        args: Some(JsonText::Present(Json::parse(args).unwrap())),
        result: None,
        outcome: CallOutcome::Ok,
        duration_ms: None,
        role,
        edits: Vec::new(),
        decisions: Vec::new(),
        sub_agent: None,
    }
}

pub(super) fn result(text: &str) -> CallResult {
    CallResult {
        text: Text::from(text),
        json: None,
        is_beginning: false,
    }
}

/// An edit whose arguments hold the change.
pub(super) fn edit() -> ToolCallTurn {
    let args = r#"{"file_path":"/shop/common.go","old_string":"a := 1\nb := 2\n","new_string":"a := 3\n"}"#;
    ToolCallTurn {
        result: Some(result("The file was updated.")),
        duration_ms: Some(1_000),
        edits: vec![file("common.go", 1, 2, EDIT_DIFF)],
        ..call("Edit", args, CallRole::Edit)
    }
}

pub(super) const EDIT_DIFF: &str =
    "--- a/common.go\n+++ b/common.go\n@@ -1,2 +1 @@\n-a := 1\n-b := 2\n+a := 3\n";

pub(super) const COMMAND_DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two ``` three\n";

/// A command that changes a file, denied at first.
pub(super) fn command() -> ToolCallTurn {
    ToolCallTurn {
        result: Some(result("```\ndone\n```")),
        edits: vec![file("x", 1, 1, COMMAND_DIFF)],
        decisions: vec![decision(ToolVerdict::Allow, "go ahead")],
        ..call(
            "Bash",
            r#"{"command":"sed -i s/a/b/ x"}"#,
            CallRole::Command,
        )
    }
}

pub(super) fn denied() -> ToolCallTurn {
    ToolCallTurn {
        outcome: CallOutcome::Denied,
        result: Some(result("The user said: not in production")),
        decisions: vec![decision(ToolVerdict::Deny, "not in production")],
        ..call("Bash", r#"{"command":"rm -rf data"}"#, CallRole::Command)
    }
}

pub(super) fn decision(verdict: ToolVerdict, words: &str) -> CallDecisionTurn {
    CallDecisionTurn {
        verdict,
        by: ToolDecider::Person,
        name: Some("ada".to_owned()),
        source: None,
        reason: Some(Text::from(words)),
        inferred: false,
        at: None,
        position: Position(9),
    }
}

fn file(path: &str, added: u32, deleted: u32, diff: &str) -> FileEdit {
    FileEdit {
        path: Text::from(path),
        change: "modify".to_owned(),
        added,
        deleted,
        rejected: false,
        patch_set: Uuid::nil(),
        diff: Some(Digest::of(diff.as_bytes())),
    }
}

pub(super) fn diffs() -> super::Diffs {
    let diff = |text: &str| (Digest::of(text.as_bytes()), text.to_owned());
    [diff(EDIT_DIFF), diff(COMMAND_DIFF)].into()
}

/// One turn of every kind.
pub(super) fn conversation() -> Vec<Turn> {
    let read = |path: &str| {
        let args = format!(r#"{{"file_path":"{path}"}}"#);
        let call = ToolCallTurn {
            result: Some(result("package shop")),
            ..call("Read", &args, CallRole::Read)
        };
        TurnBody::ToolCall(Box::new(call))
    };
    let bodies = vec![
        prompt("Fix the *total*\n\nIt is wrong."),
        TurnBody::Thinking {
            text: Text::from("First I read.\nThen I edit."),
        },
        read("a.go"),
        read("b.go"),
        TurnBody::ToolCall(Box::new(edit())),
        TurnBody::ToolCall(Box::new(command())),
        TurnBody::ToolCall(Box::new(denied())),
        answer("# Done\n\n- **bold** and `code`\n\n```go\na := 3"),
        TurnBody::Compaction {
            text: Text::from("We fixed the total."),
            dropped: Some(2),
        },
        TurnBody::SubAgent {
            session: Uuid::nil(),
            title: Text::from("Look for callers"),
            call: None,
        },
        TurnBody::Interruption {
            text: Text::from("[Request interrupted by user]"),
        },
        TurnBody::Error {
            text: Text::from("rate limit"),
        },
        TurnBody::Note {
            name: "local_command".to_owned(),
            text: Text::from("3 files\n4 lines"),
        },
        TurnBody::Prompt(PromptTurn {
            text: Text::Removed,
            by: ActorRef::human("ada"),
            command: None,
            intent: None,
        }),
    ];
    (1..)
        .zip(bodies)
        .map(|(number, body)| turn(number, body))
        .collect()
}

pub(super) fn session() -> SessionSummary {
    let json = serde_json::json!({
        "id": Uuid::nil(), "root": Uuid::nil(), "parent": null, "agent": "claude", "agent_version": "2.0",
        "agent_session": "abc", "directory": "/home/ada/shop", "project": "/home/ada/shop", "branch": "main",
        "models": [], "title": "Fix <b>", "is_agents_title": true, "started": at(1), "last_activity": at(9),
        "active_ms": 8000, "waiting": null, "end": null,
        "counts": {"prompts": 1, "answers": 1, "tool_calls": 1, "failed_calls": 0, "denied_calls": 0, "compactions": 0},
        "files": {"files": 2, "added": 3, "deleted": 12}, "runs": [], "intent": null, "continues": null,
        "first_position": 1, "last_position": 9,
    });
    serde_json::from_value(json).unwrap()
}

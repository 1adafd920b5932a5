//! Turns for tests.

#![allow(clippy::unwrap_used)]

use annals::domain::{ActorRef, Json, Timestamp, ToolInvocationId};
use annals::event_log::Position;
use annals::projections::{CallOutcome, CallRole, PromptTurn, Text, ToolCallTurn, Turn, TurnBody};
use uuid::Uuid;

/// What no page may take for anything but text.
pub(super) const HOSTILE: &str =
    "<script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\u{1b}[31m\"'";

pub(super) fn turn(number: u64, prompt: u64, body: TurnBody) -> Turn {
    let mut turn = Turn::new(number, prompt, Position(number + 100), body);
    let time = format!("2026-11-28T13:{:02}:{:02}Z", number / 60 % 60, number % 60);
    let time = chrono::DateTime::parse_from_rfc3339(&time).unwrap();
    turn.at = Some(Timestamp::from(time.to_utc()));
    turn
}

pub(super) fn prompt(number: u64, prompt: u64, text: &str) -> Turn {
    let said = PromptTurn::new(Text::from(text), ActorRef::human("ada"));
    turn(number, prompt, TurnBody::Prompt(said))
}

pub(super) fn answer(number: u64, prompt: u64, text: &str) -> Turn {
    turn(
        number,
        prompt,
        TurnBody::Answer {
            text: Text::from(text),
            model: None,
        },
    )
}

pub(super) fn tool(tool: &str, args: &str, role: CallRole, outcome: CallOutcome) -> ToolCallTurn {
    let id = ToolInvocationId(Uuid::nil());
    let mut call = ToolCallTurn::new(id, tool, Some(Json::parse(args).unwrap()), role);
    call.outcome = outcome;
    call
}

pub(super) fn call(
    number: u64,
    prompt: u64,
    name: &str,
    role: CallRole,
    outcome: CallOutcome,
) -> Turn {
    let call = tool(name, r#"{"file_path":"src/a.rs"}"#, role, outcome);
    turn(number, prompt, TurnBody::ToolCall(Box::new(call)))
}

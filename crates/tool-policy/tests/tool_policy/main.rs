//! Policies over tool calls, tested as their users have them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "these are tests"
)]

mod adversary;
mod around;
mod cedar;
mod documented;
mod errors;
mod ready_made;
mod reference;
mod shell;
mod speed;

use annals_tool_policy::{Call, Policies};
use serde_json::json;

/// A call of Bash in a workspace.
fn bash(command: &str) -> Call {
    in_workspace(Call::new("Bash", json!({ "command": command })))
}

fn in_workspace(call: Call) -> Call {
    call.with_agent("claude-code")
        .with_session("s-1".to_owned())
        .with_cwd("/work/app".to_owned())
        .with_home("/home/ann".to_owned())
}

fn policies(text: &str) -> Policies {
    Policies::parse(&[("policy.cedar", text)]).expect("the policies are valid")
}

//! A tool call as it is compared with others: its line, and where it is in its life.

use annals_domain::Timestamp;
use annals_domain::run::{CallStatus, ToolVerdict};
use annals_event_log::Position;
use annals_projections::{CallLine, JsonText, ToolInvocationView};
use serde::Serialize;
use uuid::Uuid;

/// A tool call as it is compared with others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCall {
    /// The call.
    pub call: Uuid,
    /// The position of the first event on it.
    #[serde(serialize_with = "crate::window::required_position")]
    pub position: Position,
    /// The tool, and what it was called with: two calls are the same where this is. Paths in the run's working
    /// directory are relative to it.
    pub line: String,
    /// Where it is in its life.
    pub status: CallStatus,
    /// What was decided on it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<ToolVerdict>,
    /// When the first event on it happened.
    pub at: Timestamp,
}

impl ComparedCall {
    /// A call that came up at a position, in a run with this working directory.
    pub(super) fn of(
        view: &ToolInvocationView,
        position: Position,
        cwd: Option<&str>,
    ) -> ComparedCall {
        let args = view.args.as_ref().and_then(JsonText::json);
        let tool = view.tool_name.to_string();
        let line = CallLine::new(&tool, args.map(|json| json.text())).to_string();
        let line = match cwd.map(|cwd| cwd.trim_end_matches('/')) {
            Some(cwd) if !cwd.is_empty() => line.replace(&format!("{cwd}/"), ""),
            _ => line,
        };
        ComparedCall {
            call: view.header.object_id,
            position,
            line,
            status: view.status(),
            verdict: view.life.verdict().map(|decision| decision.verdict),
            at: view.header.created_at,
        }
    }
}

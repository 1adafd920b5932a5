//! A session in one row.

use annals_domain::Timestamp;
use annals_event_log::Position;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::costs::Used;
use crate::naming::{last_component, project_root};

/// A session: one conversation with an agent in one project, however it was recorded.
///
/// Sub-agent sessions have a row of their own, with `parent` set. Their tokens are not part of their parent's row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The id: that of the session's task.
    pub id: Uuid,
    /// The session at the top: the session itself, unless it is a sub-agent's.
    pub root: Uuid,
    /// The session that started it, for a sub-agent's session.
    pub parent: Option<Uuid>,
    /// The agent: `claude`, `codex`, or the name of its actor.
    pub agent: Option<String>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The agent's own session id.
    pub agent_session: Option<String>,
    /// The working directory, as recorded.
    pub directory: Option<String>,
    /// The project's path: the top level of the git repository, or the working directory.
    pub project: Option<String>,
    /// The newest git branch.
    pub branch: Option<String>,
    /// Tokens by model and day, the newest last.
    pub models: Vec<ModelUse>,
    /// The title. `None` if the recording has neither a title nor a prompt.
    pub title: Option<String>,
    /// Whether the agent gave the title itself.
    pub is_agents_title: bool,
    /// The time of the first event by the agent's clock. `None` if the recording has no times.
    pub started: Option<Timestamp>,
    /// The time of the last event by the agent's clock. `None` if the recording has no times.
    pub last_activity: Option<Timestamp>,
    /// Active time in milliseconds: the sum of all gaps between events of up to 10 minutes.
    pub active_ms: u64,
    /// The oldest open permission or question.
    pub waiting: Option<SessionWait>,
    /// How it ended, if it did.
    pub end: Option<SessionEnd>,
    /// Counts of turns.
    pub counts: SessionCounts,
    /// Changed files.
    pub files: FileCounts,
    /// Runs, oldest first.
    pub runs: Vec<Uuid>,
    /// The intent of the first prompt.
    pub intent: Option<Uuid>,
    /// The session that it continues (resumed) or was forked from.
    pub continues: Option<Uuid>,
    /// The position of its first event.
    pub first_position: u64,
    /// The position of its last event.
    pub last_position: u64,
}

/// Tokens of one model on one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelUse {
    /// The model, if it is known.
    pub model: Option<String>,
    /// The day (UTC, counted from 1970-01-01) on which they were used, since prices have days.
    pub day: i32,
    /// Tokens, and the cost as recorded by the agent's program.
    pub used: Used,
}

/// Counts of a session's turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionCounts {
    /// Prompts.
    pub prompts: u64,
    /// Answers.
    pub answers: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed.
    pub failed_calls: u64,
    /// Tool calls that were denied.
    pub denied_calls: u64,
    /// Compactions.
    pub compactions: u64,
}

/// Counts of changed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileCounts {
    /// Files.
    pub files: u64,
    /// Lines added.
    pub added: u64,
    /// Lines deleted.
    pub deleted: u64,
}

/// An open permission or question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionWait {
    /// The tool call.
    pub call: Uuid,
    /// Whether the agent asks a question; else it asks for a permission.
    pub is_question: bool,
    /// When it was asked.
    pub since: Timestamp,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionEnd {
    /// Whether it failed.
    pub failed: bool,
    /// The reason, in the event's words.
    pub reason: Option<String>,
    /// The event.
    pub position: u64,
    /// When.
    pub at: Timestamp,
}

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionActivity {
    /// Its last activity is at most 10 minutes ago.
    Active,
    /// A permission or a question is open.
    Waiting,
    /// It ended.
    Ended,
    /// It failed.
    Failed,
    /// Nothing happened for more than 10 minutes.
    Idle,
}

impl SessionActivity {
    /// Its word, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionActivity::Active => "active",
            SessionActivity::Waiting => "waiting",
            SessionActivity::Ended => "ended",
            SessionActivity::Failed => "failed",
            SessionActivity::Idle => "idle",
        }
    }
}

impl SessionSummary {
    /// What the session does at a time: now, or the time of the position of `--at`.
    pub fn activity(&self, now: Timestamp) -> SessionActivity {
        self.activity_with(self.last_activity, now)
    }

    /// Like [`SessionSummary::activity`], with another last activity: that of a session with its sub-agents.
    pub fn activity_with(&self, last: Option<Timestamp>, now: Timestamp) -> SessionActivity {
        match (&self.end, &self.waiting) {
            (Some(end), _) if end.failed => SessionActivity::Failed,
            (Some(_), _) => SessionActivity::Ended,
            (None, Some(_)) => SessionActivity::Waiting,
            (None, None) => {
                let is_recent = |last: Timestamp| {
                    now.to_utc() - last.to_utc() <= chrono::TimeDelta::minutes(10)
                };
                match last.is_some_and(is_recent) {
                    true => SessionActivity::Active,
                    false => SessionActivity::Idle,
                }
            }
        }
    }

    /// The project's name: the last part of its path. [`ProjectLabels`](crate::ProjectLabels) tells projects of one name apart.
    pub fn project_name(&self) -> Option<&str> {
        last_component(project_root(self.project.as_deref()?))
    }

    /// The position after which nothing of the session is recorded.
    pub fn last_position(&self) -> Position {
        Position(self.last_position)
    }
}

//! `import swe-agent`: trajectories of SWE-agent and of mini-swe-agent, a document for each run.
//!
//! A run has no name. Its own follows from what it begins with and never changes: the task, the first
//! response, and how long the first command took, so that two runs of one task are two sessions. A run that
//! has no response yet is left out until it has one, or is over.

mod entries;
mod run;
mod tools;

use annals_event_log::IdSecret;

use crate::import::bad_line::BadLine;
use crate::import::format::{Format, Head, Kind, Numbered};
use crate::import::outline::Outline;
use crate::import::redacted::RedactedText;
use crate::transcript::item::Read;
use tools::AGENT;

pub use tools::ids;

/// The recordings of SWE-agent and mini-swe-agent.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "SWE-agent",
    endings: &["traj", "json"],
    unwanted: "its name does not end with .traj or .json",
    left: "it is a recording of SWE-agent",
    recognizes,
    format: || Box::new(SweAgent),
};

/// A trajectory or a history of messages with their roles. A list of messages alone begins with the system's.
fn recognizes(head: &Head<'_>) -> bool {
    let root = Outline::of(head.text);
    if root.is_list {
        let is_message = root.has("content") && root.text("role") == Some("system");
        return is_message && !root.has("source");
    }
    let is_mini = root
        .text("trajectory_format")
        .is_some_and(|name| name.starts_with("mini-swe-agent"));
    let first = |name: &str, members: &[&str]| {
        let list = root.member(name).filter(|member| member.is_list);
        list.is_some_and(|list| members.iter().all(|member| list.has(member)))
    };
    let is_step = first("trajectory", &["action", "observation"]);
    let is_history = first("history", &["role", "content"]);
    let runs = || {
        let info = root.member("info");
        let of_run = ["model_stats", "exit_status", "mini_version"];
        let has = info.is_some_and(|info| of_run.iter().any(|name| info.has(name)));
        has && root.has("messages") && !root.has("sessionId")
    };
    let is_retried = first("attempts", &["trajectory"]) || first("attempts", &["history"]);
    is_mini || is_step || is_history || is_retried || runs()
}

struct SweAgent;

impl Format for SweAgent {
    fn is_document(&self, _: &Head<'_>) -> bool {
        true
    }

    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let messages = self.document(text, names)?;
        messages.into_iter().map(|(_, read)| read).collect()
    }

    fn document(
        &mut self,
        text: RedactedText,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Numbered>, BadLine> {
        let text = text.whole_characters();
        let mut messages = Vec::new();
        for run in run::runs(text.as_str())? {
            for read in entries::of(&run, names) {
                let number = messages.len() as u64 + 1;
                messages.push((number, Ok(read)));
            }
            messages.extend(run.bad.map(|bad| (messages.len() as u64 + 1, Err(bad))));
        }
        Ok(messages)
    }
}

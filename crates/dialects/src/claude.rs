//! `import claude`: recorded sessions of Claude Code as intents, runs, tool
//! calls, patch sets and context frames.
//!
//! A session (`sessionId`) becomes one Task, Run, Plan and pipeline, under the
//! Intent that its first prompt is; each later prompt is an Intent that refines
//! the one before. Side chains are sub-tasks with runs, plans and pipelines of
//! their own. No decision is recorded: runs
//! stay Patching, patch sets Proposed.
//!
//! **Once, however often and in however many pieces it is read.** What belongs
//! together is one batch, whose key and whose objects' ids follow from what
//! the recording calls it: the line's `uuid`, the tool use's `id`, the
//! message's `id`. A batch is made when nothing can be added to it any more: a
//! tool call with its result, or when the next prompt and the message after it
//! show that none will come. A call that still waits is counted, and recorded
//! when a later import reads its result. Only a message's tokens, which grow
//! from line to line, are recorded as soon as a file ends; if it grows, the
//! difference is recorded on top, so that the totals are right.
//!
//! What is known is compared with what the recording says of it now (`compare.rs`, `same.rs`): another
//! content under a known name is named in the report, and the first stays.
//!
//! Two things are not in the recording, and are marked so: how many tokens a
//! frame takes is estimated (`tokens.rs`), and that an edit used the newest
//! result about its file is inferred (`uses.rs`) and recorded before the edit.
//!
//! So a recording that was imported while it grew has the same objects, frames
//! and totals as one that was imported at once; only the number and places of
//! `run.usage_recorded` may differ.

mod fields;
mod line;
mod program;
mod queue;
#[cfg(test)]
mod tests;
mod tools;
mod written;

use annals_event_log::IdSecret;
use serde::Deserialize;

use crate::import::bad_line::BadLine;
use crate::import::fields::{Table, count};
use crate::import::format::{Format, Head, Kind};
use crate::import::members::Members;
use crate::import::not_read::not_read;
use crate::import::redacted::RedactedText;
pub use crate::import::{
    ImportError as ClaudeImportError, ImportOptions as ClaudeOptions, claude_code as import,
};
use crate::report::Fields;
pub use crate::report::{ImportReport, Progress};
use crate::transcript::item::{Course, Item, Read, Speaker, SubAgent, Summary};
pub use crate::transcript::{ChainIds, Ids, ToolIds};
use line::{AttachedPrompt, Talk, entry, named, sub_agent_at_work, sub_agent_of_result};
use program::{Program, agent_progress, backups, hook};
use tools::AGENT;

pub use tools::ids;

/// Claude Code's recordings.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "Claude Code",
    endings: &["jsonl"],
    unwanted: "its name does not end with .jsonl",
    left: "it is a recording of Claude Code",
    recognizes,
    format: || Box::new(Claude::default()),
};

/// Its lines name their session in `sessionId`, or are summaries.
fn recognizes(head: &Head<'_>) -> bool {
    let is_own = |line: serde_json::Map<String, serde_json::Value>| {
        let has = |name: &str| line.contains_key(name);
        has("type") && (has("sessionId") || has("leafUuid") || has("parentUuid"))
    };
    not_read(head).is_none() && head.objects().take(50).any(is_own)
}

/// How the name of a sub-agent's recording begins.
const SUB_AGENT: &str = "agent-";

/// The name of the file next to a sub-agent's recording that has who called it.
pub(crate) fn companion(stem: &str) -> Option<String> {
    stem.starts_with(SUB_AGENT)
        .then(|| format!("{stem}.meta.json"))
}

/// The name, without its ending, of the recording of the sub-agent that called another one, by the other one's companion.
pub(crate) fn caller(companion: &str) -> Option<String> {
    let members = Members::read(companion).ok()?;
    let agent = members.text("parentAgentId")?;
    Some(format!("{SUB_AGENT}{agent}"))
}

#[derive(Default)]
struct Claude {
    program: Program,
    /// Who called the sub-agent whose recording is read, until a line names its session.
    called: Option<SubAgent>,
}

impl Claude {
    /// Who called the sub-agent that an entry is of, once.
    fn called_by(&mut self, read: &Read) -> Option<Read> {
        let Read::Entry(entry) = read else {
            return None;
        };
        let Course::Side(name) = &entry.course else {
            return None;
        };
        let called = self.called.take()?;
        Some(Read::SubAgent(SubAgent {
            session: entry.session.clone(),
            name: name.clone(),
            ..called
        }))
    }
}

impl Format for Claude {
    fn begin(&mut self, _: &str) {
        self.called = None;
    }

    fn accompanied(&mut self, companion: &RedactedText) {
        let members = Members::read(companion).unwrap_or_default();
        self.called = Some(SubAgent {
            session: None,
            name: String::new(),
            call: members.text("toolUseId"),
            parent: members.text("parentAgentId"),
        });
    }

    fn is_record(&self, record: &Members<'_>) -> bool {
        let has = |name: &str| record.raw(name).is_some();
        has("type") && (has("sessionId") || has("leafUuid") || has("snapshot"))
    }

    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let read = parse(text, names, &mut self.program)?;
        let mut reads: Vec<Read> = self.called_by(&read).into_iter().collect();
        reads.extend(self.program.told().map(Read::SubAgent));
        reads.push(read);
        Ok(reads)
    }
}

/// Types of lines that hold nothing a log has a place for: settings,
/// what the program shows while it works.
const WITHOUT_PLACE: [&str; 12] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "last-prompt",
    "mode",
    "speculation-accept",
    "tag",
    "task-summary",
    "worktree-state",
];

/// Reads a line, which is called by a secret of the log if it has no name; the error says what is
/// wrong with it.
fn parse(
    text: RedactedText,
    secret: Option<&IdSecret>,
    program: &mut Program,
) -> Result<Read, BadLine> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default, rename = "type")]
        kind: Option<String>,
    }
    let text = text.whole_characters();
    let line = text.as_str();
    // serde would read a list as an object's fields in their order.
    if !line.trim_start().starts_with('{') {
        // What is no JSON at all is better called so.
        serde_json::from_str::<serde::de::IgnoredAny>(line)?;
        return Err(BadLine::NotAnObject);
    }
    // Most lines belong to a session, and are read once.
    let read = serde_json::from_str::<Box<Talk>>(line);
    let kind = match &read {
        Ok(talk) => talk.kind.clone(),
        Err(_) => serde_json::from_str::<Head>(line)?.kind,
    };
    let speaker = match kind.as_deref() {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Model,
        Some("system" | "attachment") => Speaker::Program,
        Some("summary") => return summary(line, secret),
        Some("progress") => return progress(read?, text.into_string(), secret, program),
        Some("queue-operation") => return program.queue(line, secret),
        Some("file-history-snapshot") => return backups(line, secret),
        Some("permission-mode") => return program.aside("permission_mode", line, secret),
        Some(kind @ ("ai-title" | "custom-title")) => return program.title(kind, line, secret),
        Some("pr-link") => return program.aside("pr_link", line, secret),
        Some(kind) if WITHOUT_PLACE.contains(&kind) => {
            let kind = kind.to_owned();
            let text = text.into_string();
            return Ok(Read::Skipped { kind, text });
        }
        kind => {
            let kind = kind.unwrap_or("(none)").to_owned();
            let text = text.into_string();
            return Ok(Read::Unknown { kind, text });
        }
    };
    let (talk, blocks) = named(read?, line, secret)?;
    program.saw(
        talk.session_id.as_deref(),
        talk.uuid.as_deref().unwrap_or_default(),
    );
    program.tells_of(sub_agent_of_result(&talk, &blocks));
    if let Some(prompt) = AttachedPrompt::read(&talk) {
        return Ok(program.attached(prompt, text.into_string(), *talk));
    }
    let mut talk = *talk;
    program.follow_decisions(&mut talk);
    let read = entry(text.into_string(), talk, blocks, speaker);
    Ok(program.spoken(read))
}

/// What the program tells of its progress: what a sub-agent says, and which hooks run.
fn progress(
    talk: Box<Talk>,
    text: String,
    secret: Option<&IdSecret>,
    program: &mut Program,
) -> Result<Read, BadLine> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data {
        #[serde(default, rename = "type")]
        kind: Option<String>,
        #[serde(default)]
        hook_name: Option<String>,
        #[serde(default)]
        command: Option<String>,
    }
    let (mut talk, _) = named(talk, &text, secret)?;
    let Some(raw) = talk.data.take() else {
        let kind = "progress".to_owned();
        return Ok(Read::Skipped { kind, text });
    };
    let data: Data = BadLine::within("data", &raw)?;
    let kind = data.kind.unwrap_or_default();
    match kind.as_str() {
        "agent_progress" => {
            let agent = Members::of(Some(&raw)).text("agentId");
            program.tells_of(sub_agent_at_work(&talk, agent.as_deref()));
            agent_progress(*talk, &raw, text, secret)
        }
        "hook_progress" => {
            let item = hook(data.hook_name.unwrap_or_default(), data.command, &raw);
            Ok(beside(text, *talk, item, fields::HOOK))
        }
        _ => Ok(Read::Skipped {
            kind: format!("progress/{kind}"),
            text,
        }),
    }
}

/// A line of the program that is not a part of the conversation.
fn beside(text: String, talk: Talk, item: Item, table: Table) -> Read {
    let Read::Entry(mut entry) = entry(text, talk, Vec::new(), Speaker::User) else {
        return Read::Skipped {
            kind: "progress".to_owned(),
            text: String::new(),
        };
    };
    entry.speaker = Speaker::Program;
    // What a session was begun with, its first message says.
    entry.setting = None;
    entry.table = table;
    entry.items = vec![item];
    Read::Entry(entry)
}

fn summary(line: &str, secret: Option<&IdSecret>) -> Result<Read, BadLine> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RawSummary {
        #[serde(default)]
        summary: Option<String>,
        #[serde(default)]
        leaf_uuid: Option<String>,
    }
    let raw: RawSummary = serde_json::from_str(line)?;
    let mut counted = Fields::default();
    count(line, "", fields::SUMMARY, &[], &mut counted);
    Ok(Read::Summary(Summary {
        name: ids().anonymous(line.as_bytes(), secret),
        summary: raw.summary.unwrap_or_default(),
        leaf: raw.leaf_uuid,
        fields: counted,
    }))
}

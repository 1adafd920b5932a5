//! What Claude Code's program writes between the messages: sub-agents at work, hooks, prompts that
//! wait in a queue, permission modes.
//!
//! | Line | What it is |
//! | --- | --- |
//! | `progress` with `agent_progress` | a line of a sub-agent's side chain |
//! | `progress` with `hook_progress`, `system` with `stop_hook_summary` | evidence of kind `hook` |
//! | `queue-operation`, `attachment` of type `queued_command` | a prompt that was typed while the model worked, once (`queue.rs`) |
//! | `file-history-snapshot` | a context snapshot of the files that it names, if it names any |
//! | `custom-title`, `ai-title` | evidence of kind `session_title`, if the title is another one than before |
//! | `permission-mode`, `pr-link`, `system` with `api_error` or `turn_duration` | evidence of that kind |

use std::collections::HashMap;

use annals_domain::Pairs;
use annals_event_log::IdSecret;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::line::{self, AttachedPrompt, Talk, evidence, kept};
use super::queue::{PromptQueue, Queued};
use super::{fields, ids, written};
use crate::import::bad_line::BadLine;
use crate::import::fields::count;
use crate::import::format::time;
use crate::report::Fields;
use crate::transcript::item::{
    Backup, Backups, Course, Entry, Evidence, Item, REPEATED, Read, Said, Speaker, SubAgent, What,
};
use crate::transcript::texts;

/// How a text begins by which the program records that a person interrupted the model.
const INTERRUPTED: &str = "[Request interrupted";

/// Sessions of which something waits or is remembered, at most.
const SESSIONS: usize = 10_000;

/// Files of one line whose copies are recorded, at most.
const FILES: usize = 10_000;

/// What is remembered from line to line.
#[derive(Debug, Default)]
pub(super) struct Program {
    queues: HashMap<String, PromptQueue>,
    /// The newest title of each session.
    titles: HashMap<String, String>,
    /// The newest line with a name of its own, of each session. Lines that have none are distinguished
    /// by it.
    newest: HashMap<String, String>,
    /// Who called sub-agents, by the newest line.
    called: Vec<SubAgent>,
    /// The newest session whose recording states decisions.
    states_decisions: Option<String>,
}

/// A line that has no name, and no place in the conversation's order but its position in the file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Aside {
    #[serde(default)]
    uuid: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    operation: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
}

impl Program {
    /// Forgets the kind of a denial, unless the session's recording states decisions: there a line that states none is of
    /// a call that was interrupted.
    pub(super) fn follow_decisions(&mut self, talk: &mut Talk) {
        if talk.permission_decision.is_some() {
            self.states_decisions.clone_from(&talk.session_id);
        } else if self.states_decisions.is_none() || self.states_decisions != talk.session_id {
            talk.tool_denial_kind = None;
        }
    }

    /// Remembers a line that has a name.
    pub(super) fn saw(&mut self, session: Option<&str>, name: &str) {
        let Some(session) = session else { return };
        if let Some(newest) = self.newest.get_mut(session) {
            name.clone_into(newest);
        } else if self.newest.len() < SESSIONS {
            self.newest.insert(session.to_owned(), name.to_owned());
        }
    }

    /// The name of a line that has none: two of the same text are distinguished by the line before.
    fn name(&self, aside: &Aside, text: &str, secret: Option<&IdSecret>) -> String {
        if let Some(uuid) = aside.uuid.as_ref().filter(|uuid| !uuid.trim().is_empty()) {
            return uuid.clone();
        }
        let session = aside.session_id.as_deref().unwrap_or_default();
        let before = self.newest.get(session).map_or("", String::as_str);
        ids().anonymous(format!("{before}\u{1f}{text}").as_bytes(), secret)
    }

    /// A prompt that waits, or is given to the model while it works.
    pub(super) fn queue(&mut self, text: &str, secret: Option<&IdSecret>) -> Result<Read, BadLine> {
        let aside: Aside = serde_json::from_str(text)?;
        let session = aside.session_id.clone().unwrap_or_default();
        let operation = aside.operation.clone().unwrap_or_default();
        let skipped = || Read::Skipped {
            kind: format!("queue-operation/{operation}"),
            text: text.to_owned(),
        };
        let name = self.name(&aside, text, secret);
        let Some(queue) = self.queue_of(&session) else {
            return Ok(skipped());
        };
        let said = aside.content.as_deref().and_then(queued_text);
        match operation.as_str() {
            "enqueue" => queue.enqueue(Queued {
                name,
                text: said.unwrap_or_default(),
                at: aside.timestamp.as_deref().and_then(time),
                is_attached: false,
            }),
            "dequeue" => queue.dequeue(said.as_deref()),
            "popAll" => queue.pop_all(),
            "remove" => {
                if let Some(queued) = queue.remove(said.as_deref()) {
                    return Ok(prompt(&aside, queued, text));
                }
            }
            _ => {}
        }
        Ok(skipped())
    }

    /// The queue of a session; none, if there are too many sessions.
    pub(super) fn queue_of(&mut self, session: &str) -> Option<&mut PromptQueue> {
        if !self.queues.contains_key(session) {
            if self.queues.len() >= SESSIONS {
                return None;
            }
            self.queues
                .insert(session.to_owned(), PromptQueue::default());
        }
        self.queues.get_mut(session)
    }

    /// The entry of an attachment with a prompt: the prompt, or that it repeats one.
    pub(super) fn attached(&mut self, prompt: AttachedPrompt, text: String, talk: Talk) -> Read {
        let session = talk.session_id.clone().unwrap_or_default();
        let source = prompt.source.as_deref();
        let queue = self.queue_of(&session);
        if queue.is_none_or(|queue| queue.attached(&prompt.text, source)) {
            return prompt.entry(text, talk);
        }
        let mut read = line::entry(text, talk, Vec::new(), Speaker::Program);
        if let Read::Entry(entry) = &mut read {
            entry.subtype = Some(REPEATED.to_owned());
        }
        read
    }

    /// Follows what is said. A line of the user that repeats a queued prompt says nothing.
    pub(super) fn spoken(&mut self, read: Read) -> Read {
        let Read::Entry(mut entry) = read else {
            return read;
        };
        let session = entry.session.as_deref().unwrap_or_default();
        let (Course::Main, Some(queue)) = (&entry.course, self.queue_of(session)) else {
            return Read::Entry(entry);
        };
        if entry.speaker == Speaker::Model {
            queue.answered();
            return Read::Entry(entry);
        }
        let repeats = |item: &Item| match &item.what {
            What::Prompt {
                asked: Some(asked), ..
            } => !queue.typed(asked),
            What::Prompt { text, .. } => {
                if text.starts_with(INTERRUPTED) {
                    queue.answered();
                }
                false
            }
            _ => false,
        };
        match entry.items.iter().position(repeats) {
            Some(_) if entry.items.len() == 1 => Read::Skipped {
                kind: "user (a queued prompt again)".to_owned(),
                text: entry.text,
            },
            Some(prompt) => {
                entry.items.remove(prompt);
                Read::Entry(entry)
            }
            None => Read::Entry(entry),
        }
    }

    /// Remembers who called a sub-agent.
    pub(super) fn tells_of(&mut self, agent: Option<SubAgent>) {
        self.called.extend(agent);
    }

    /// Who called sub-agents, by the lines since this was asked last.
    pub(super) fn told(&mut self) -> impl Iterator<Item = SubAgent> {
        std::mem::take(&mut self.called).into_iter()
    }

    /// A title that a person or the model gave a session. The program repeats it.
    pub(super) fn title(
        &mut self,
        kind: &str,
        text: &str,
        secret: Option<&IdSecret>,
    ) -> Result<Read, BadLine> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Titles {
            #[serde(default)]
            custom_title: Option<String>,
            #[serde(default)]
            ai_title: Option<String>,
        }
        let aside: Aside = serde_json::from_str(text)?;
        let titles: Titles = serde_json::from_str(text)?;
        let title = titles.custom_title.or(titles.ai_title).unwrap_or_default();
        let session = aside.session_id.clone().unwrap_or_default();
        let told = format!("{kind} {title}");
        let is_known = self.titles.get(&session) == Some(&told);
        if title.trim().is_empty() || is_known {
            return Ok(Read::Skipped {
                kind: kind.to_owned(),
                text: text.to_owned(),
            });
        }
        if self.titles.len() < SESSIONS || self.titles.contains_key(&session) {
            self.titles.insert(session, told);
        }
        let name = self.name(&aside, text, secret);
        let mut entry = bare(&aside, name, text, Speaker::Program);
        entry.items.push(evidence(Evidence {
            kind: texts::TITLE,
            is_by_person: kind == "custom-title",
            tool: kind.to_owned(),
            command: None,
            exit_code: None,
            summary: Some(title),
            report: None,
        }));
        Ok(Read::Entry(Box::new(entry)))
    }

    /// A line of the program that has no name.
    pub(super) fn aside(
        &self,
        kind: &'static str,
        text: &str,
        secret: Option<&IdSecret>,
    ) -> Result<Read, BadLine> {
        let aside: Aside = serde_json::from_str(text)?;
        let name = self.name(&aside, text, secret);
        let mut entry = bare(&aside, name, text, Speaker::Program);
        entry.items.extend(kept(kind, text));
        Ok(Read::Entry(Box::new(entry)))
    }
}

/// What a sub-agent did: the line of its side chain that a line of the program holds.
pub(super) fn agent_progress(
    talk: Talk,
    data: &RawValue,
    text: String,
    secret: Option<&IdSecret>,
) -> Result<Read, BadLine> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        #[serde(borrow, default)]
        message: Option<&'a RawValue>,
        #[serde(default)]
        agent_id: Option<String>,
    }
    let within = |source| BadLine::Within {
        path: "data",
        source,
    };
    let data: Data<'_> = serde_json::from_str(data.get()).map_err(within)?;
    let Some(message) = data.message else {
        let kind = "progress/agent_progress".to_owned();
        return Ok(Read::Skipped { kind, text });
    };
    let (mut inner, blocks) = line::talk(message.get(), secret)?;
    let speaker = match inner.kind.as_deref() {
        Some("assistant") => Speaker::Model,
        _ => Speaker::User,
    };
    inner.stand_in(talk, data.agent_id);
    let Read::Entry(mut entry) = line::entry(text, *inner, blocks, speaker) else {
        return Err(BadLine::NotAnObject);
    };
    entry.table = fields::AGENT_PROGRESS;
    for item in &mut entry.items {
        // All of it is counted as a part of the line.
        item.sources.clear();
    }
    Ok(Read::Entry(entry))
}

/// The text of a queued prompt, which may have images, too.
fn queued_text(content: &RawValue) -> Option<String> {
    let is_text = content.get().starts_with(['"', '[']);
    let text = is_text.then(|| texts::text_of(Some(content)));
    text.filter(|text| !text.trim().is_empty())
}

/// An entry that has nothing but its position.
fn bare(aside: &Aside, name: String, text: &str, speaker: Speaker) -> Entry {
    let has_text = |text: &String| !text.trim().is_empty();
    Entry {
        session: aside.session_id.clone().filter(has_text),
        at: aside.timestamp.as_deref().and_then(time),
        ..Entry::new(
            text.to_owned(),
            fields::ASIDE,
            name,
            speaker,
            Said::of(&[Some(text)], None),
        )
    }
}

/// A prompt that was given to the model while it worked.
fn prompt(aside: &Aside, queued: Queued, text: &str) -> Read {
    let mut entry = bare(aside, queued.name, text, Speaker::User);
    entry.table = fields::QUEUED;
    entry.at = entry.at.or(queued.at);
    let asked = written::asked(&queued.text).map(str::to_owned);
    entry.said = Said::of(&[Some(&queued.text)], None);
    entry.items = vec![Item::new(
        0,
        "content",
        Vec::new(),
        What::Prompt {
            text: queued.text,
            asked,
            is_summary: false,
        },
    )];
    Read::Entry(Box::new(entry))
}

/// Which files the program had copies of, unless there is none. The line names no session, but a prompt.
pub(super) fn backups(text: &str, secret: Option<&IdSecret>) -> Result<Read, BadLine> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        #[serde(default)]
        message_id: Option<String>,
        snapshot: Snapshot,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Snapshot {
        #[serde(default)]
        timestamp: Option<String>,
        tracked_file_backups: Pairs<RawBackup>,
    }
    let line = serde_json::from_str::<Line>(text).ok();
    let named = line.filter(|line| {
        let files = &line.snapshot.tracked_file_backups.0;
        (1..=FILES).contains(&files.len()) && files.iter().all(|(path, _)| !path.trim().is_empty())
    });
    let Some(line) = named else {
        return Ok(Read::Skipped {
            kind: "file-history-snapshot".to_owned(),
            text: text.to_owned(),
        });
    };
    let files = line.snapshot.tracked_file_backups.0;
    // A line that says of more files than the one before has its time.
    let copied = files.iter().map(|(_, copy)| &copy.backup_time);
    let times = copied.chain([&line.snapshot.timestamp]);
    let at = times.filter_map(|at| time(at.as_deref()?)).max();
    let mut counted = Fields::default();
    count(text, "", fields::BACKUPS, &[], &mut counted);
    Ok(Read::Backups(Backups {
        name: ids().anonymous(text.as_bytes(), secret),
        prompt: line.message_id,
        at,
        files: files
            .into_iter()
            .map(|(path, copy)| Backup {
                path,
                copy: copy.for_people(),
            })
            .collect(),
        fields: counted,
    }))
}

/// What a line says of the copy of one file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawBackup {
    /// None where the file was not there.
    #[serde(default)]
    backup_file_name: Option<String>,
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    backup_time: Option<String>,
}

impl RawBackup {
    fn for_people(&self) -> String {
        let name = self.backup_file_name.as_deref();
        let mut parts = vec![name.unwrap_or("no copy: the file was not there").to_owned()];
        parts.extend(self.version.map(|version| format!("version {version}")));
        parts.extend(self.backup_time.as_deref().map(|at| format!("at {at}")));
        parts.join(", ")
    }
}

/// A hook that runs.
pub(super) fn hook(name: String, command: Option<String>, raw: &RawValue) -> Item {
    evidence(Evidence {
        kind: "hook",
        is_by_person: false,
        tool: name,
        command,
        exit_code: None,
        summary: None,
        report: texts::part(Some(raw)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_counts_when_it_is_given_while_the_model_works() {
        let mut program = Program::default();
        let mut line = |operation: &str, content: Option<&str>| {
            let line = serde_json::json!({
                "type": "queue-operation", "operation": operation, "sessionId": "s", "content": content,
            });
            match program.queue(&line.to_string(), None) {
                Ok(Read::Entry(entry)) => match &entry.items[..] {
                    [
                        Item {
                            what: What::Prompt { text, .. },
                            ..
                        },
                    ] => Some(text.clone()),
                    _ => None,
                },
                _ => None,
            }
        };
        assert_eq!(line("enqueue", Some("first")), None);
        assert_eq!(line("enqueue", Some("second")), None);
        assert_eq!(line("enqueue", Some("third")), None);
        assert_eq!(line("dequeue", None), None, "it follows as a line");
        assert_eq!(line("remove", Some("third")), Some("third".to_owned()));
        assert_eq!(line("remove", None), Some("second".to_owned()));
        assert_eq!(line("remove", None), None);
        assert_eq!(line("enqueue", Some("fourth")), None);
        assert_eq!(line("popAll", None), None);
        assert_eq!(line("remove", None), None);
    }
}

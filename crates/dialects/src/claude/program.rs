//! What Claude Code's program writes between the messages: sub-agents at work, hooks, prompts that
//! wait in a queue, permission modes.
//!
//! | Line | What it is |
//! | --- | --- |
//! | `progress` with `agent_progress` | a line of a sub-agent's side chain |
//! | `progress` with `hook_progress`, `system` with `stop_hook_summary` | evidence of kind `hook` |
//! | `queue-operation` | a prompt, when it is given to the model while that works (`remove`); one that is taken out for the next turn (`dequeue`) follows as a line of its own, and one that the person takes back (`popAll`) is not recorded as a prompt |
//! | `file-history-snapshot` | a context snapshot of the files that it names, if it names any |
//! | `custom-title`, `ai-title` | evidence of kind `session_title`, if the title is another one than before |
//! | `permission-mode`, `pr-link`, `system` with `api_error` or `turn_duration` | evidence of that kind |

use std::collections::{HashMap, VecDeque};

use annals_domain::Pairs;
use annals_event_log::IdSecret;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::line::{self, Talk, evidence, kept};
use super::{fields, ids, written};
use crate::import::bad_line::BadLine;
use crate::import::fields::count;
use crate::import::format::time;
use crate::report::Fields;
use crate::transcript::item::{Backup, Backups, Entry, Evidence, Item, Read, Said, Speaker, What};
use crate::transcript::texts;

/// Prompts of a session that wait, at most. A person types few.
const QUEUED: usize = 1_000;

/// Sessions of which something waits or is remembered, at most.
const SESSIONS: usize = 10_000;

/// Files of one line whose copies are recorded, at most.
const FILES: usize = 10_000;

/// What is remembered from line to line.
#[derive(Debug, Default)]
pub(super) struct Program {
    queues: HashMap<String, VecDeque<Queued>>,
    /// The newest title of each session.
    titles: HashMap<String, String>,
    /// The newest line with a name of its own, of each session. Lines that have none are distinguished
    /// by it.
    newest: HashMap<String, String>,
}

#[derive(Debug)]
struct Queued {
    name: String,
    text: String,
    at: Option<annals_domain::Timestamp>,
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
        if !self.queues.contains_key(&session) && self.queues.len() >= SESSIONS {
            return Ok(skipped());
        }
        let name = self.name(&aside, text, secret);
        let said = aside.content.as_deref();
        let said = said.and_then(|content| serde_json::from_str::<String>(content.get()).ok());
        let queue = self.queues.entry(session).or_default();
        match operation.as_str() {
            "enqueue" if queue.len() < QUEUED => {
                let at = aside.timestamp.as_deref().and_then(time);
                let text = said.unwrap_or_default();
                queue.push_back(Queued { name, text, at });
            }
            "dequeue" => drop(queue.pop_front()),
            "popAll" => queue.clear(),
            "remove" => {
                // It may say which one.
                let place = match &said {
                    Some(said) => queue.iter().position(|queued| queued.text == *said),
                    None => (!queue.is_empty()).then_some(0),
                };
                let queued = place.and_then(|place| queue.remove(place));
                if let Some(queued) = queued.filter(|queued| !queued.text.trim().is_empty()) {
                    return Ok(prompt(&aside, queued, text));
                }
            }
            _ => {}
        }
        Ok(skipped())
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

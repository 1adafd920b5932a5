//! Sessions of a database, and entries of their messages.

use std::collections::{HashMap, HashSet};

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::fields;
use crate::import::bad_line::BadLine;
use crate::import::database::Row;
use crate::import::fields::{NOTHING, Table};
use crate::transcript::item::{
    Course, Entry, Evidence, Item, Read, Said, Setting, Source, Speaker, Usage, What,
};
use crate::transcript::texts;

/// At most so many parents are followed from a sub-agent's session.
const GENERATIONS: usize = 32;

/// The beginning of a session's title before it has one of its own.
const NO_TITLE: &str = "New session - ";

/// Sessions of a database. Their rows precede all rows of messages.
#[derive(Default)]
pub(super) struct Sessions {
    by_id: HashMap<String, Session>,
    /// Sessions that have forks.
    forked: HashSet<String>,
}

/// A session's place among the others.
struct Session {
    parent: Option<String>,
    fork_of: Option<String>,
    begun: Option<Timestamp>,
    setting: Setting,
}

/// The place of a message, which its parts share.
#[derive(Debug)]
pub(super) struct MessagePlace {
    pub(super) id: String,
    pub(super) session: String,
    pub(super) at: Option<Timestamp>,
    pub(super) model: Option<String>,
    /// The message that it answers.
    pub(super) parent: Option<String>,
    pub(super) cwd: Option<String>,
}

impl MessagePlace {
    /// Returns its name, which is the same in all copies of the database.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.session, self.id)
    }
}

impl Sessions {
    /// Adds a session's row. A second row of the same session is skipped.
    pub(super) fn add(&mut self, id: String, row: &Row, at: Option<Timestamp>) -> Read {
        let text = |name: &str| {
            let text = row.cell(name).filter(|text| !text.trim().is_empty());
            text.map(str::to_owned)
        };
        let cells = row.cells.iter();
        let cells = cells.map(|(name, cell)| ((*name).to_owned(), cell.as_str().into()));
        let all: serde_json::Map<String, serde_json::Value> = cells.collect();
        let all = serde_json::Value::Object(all).to_string();
        if self.by_id.contains_key(&id) {
            return Read::Skipped {
                kind: "session (a newer table has it)".to_owned(),
                text: all,
            };
        }
        let fork_of = text("fork_session_id").filter(|other| *other != id);
        self.forked.extend(fork_of.clone());
        let session = Session {
            parent: text("parent_id"),
            begun: at,
            setting: Setting {
                cwd: text("directory"),
                git_branch: None,
                version: text("version"),
                continues: fork_of.clone(),
            },
            fork_of,
        };
        self.by_id.insert(id.clone(), session);
        let said = Said::of(&[Some("session"), Some(&id)], None);
        let title = text("title").filter(|title| !title.starts_with(NO_TITLE));
        let entry = Entry {
            text: all,
            table: fields::SESSION,
            at,
            items: title.map(titled).into_iter().collect(),
            ..self.entry(&id, format!("{id}/session"), Speaker::Program, said)
        };
        Read::Entry(Box::new(entry))
    }

    /// Returns the time at which a session was begun.
    pub(super) fn begun(&self, id: &str) -> Option<Timestamp> {
        self.by_id.get(id).and_then(|session| session.begun)
    }

    /// Returns the origin of a fork, if the database has it.
    pub(super) fn fork_of(&self, id: &str) -> Option<&str> {
        let other = self.by_id.get(id)?.fork_of.as_deref()?;
        self.by_id.contains_key(other).then_some(other)
    }

    /// Returns `true` if the session has forks.
    pub(super) fn is_forked(&self, id: &str) -> bool {
        self.forked.contains(id)
    }

    /// Returns the first session of a line of parents.
    pub(super) fn root(&self, id: &str) -> String {
        let mut root = id;
        for _ in 0..GENERATIONS {
            let found = self.by_id.get(root);
            match found.and_then(|session| session.parent.as_deref()) {
                Some(parent) if parent != id => root = parent,
                _ => break,
            }
        }
        root.to_owned()
    }

    /// Returns `true` if the session is not a sub-agent session.
    pub(super) fn is_main(&self, id: &str) -> bool {
        self.root(id) == id
    }

    /// Returns an empty entry of a session.
    fn entry(&self, session: &str, name: String, speaker: Speaker, said: Said) -> Entry {
        let root = self.root(session);
        let setting = self.by_id.get(session).map(|found| &found.setting);
        Entry {
            course: match root == session {
                true => Course::Main,
                false => Course::Side(session.to_owned()),
            },
            session: Some(root).filter(|root| !root.trim().is_empty()),
            setting: Some(setting.cloned().unwrap_or_default()),
            ..Entry::new("{}".to_owned(), fields::ELSEWHERE, name, speaker, said)
        }
    }

    /// Returns an empty entry of a part of a message.
    pub(super) fn of_message(
        &self,
        message: &MessagePlace,
        name: String,
        speaker: Speaker,
        said: Said,
    ) -> Entry {
        let entry = self.entry(&message.session, name, speaker, said);
        let setting = entry.setting.unwrap_or_default();
        let setting = Setting {
            cwd: message.cwd.clone().or(setting.cwd),
            ..setting
        };
        Entry {
            at: message.at,
            message: Some(message.name()),
            model: message.model.clone(),
            parent: message
                .parent
                .as_ref()
                .map(|parent| format!("{}/{parent}", message.session)),
            setting: Some(setting),
            ..entry
        }
    }

    /// Returns the entry that counts the fields of a message, without its parts.
    pub(super) fn begun_message(&self, message: &MessagePlace, text: &str, table: Table) -> Read {
        let name = message.name();
        let said = Said::of(&[Some("message"), Some(&name)], None);
        let entry = Entry {
            text: text.to_owned(),
            table,
            ..self.of_message(message, name, Speaker::Program, said)
        };
        Read::Entry(Box::new(entry))
    }

    /// Returns the entry of the tokens of a step, or of a message without steps, whose fields are counted already.
    pub(super) fn tokens(
        &self,
        message: &MessagePlace,
        name: String,
        usage: Usage,
        step: Option<&str>,
    ) -> Read {
        let totals = format!("{:?}", usage.tokens());
        let said = Said::of(&[Some("tokens"), Some(&totals)], None);
        // The tokens of a message without steps may be others in a later copy.
        let entry = self.of_message(message, format!("{name}/{totals}"), Speaker::Model, said);
        Read::Entry(Box::new(Entry {
            message: Some(name),
            usage: Some(usage),
            text: step.unwrap_or("{}").to_owned(),
            table: match step {
                Some(_) => fields::USAGE,
                None => fields::ELSEWHERE,
            },
            ..entry
        }))
    }

    /// Returns the entry of the error that ended a message.
    pub(super) fn failed(&self, message: &MessagePlace, error: &RawValue) -> Read {
        let failure = Failure::of(error);
        let said = Said::of(&[Some("error"), Some(error.get())], None);
        let what = What::Said {
            kind: FrameKind::SystemState,
            text: failure.text(error),
            compaction: None,
        };
        let entry = self.of_message(
            message,
            format!("{}/error", message.name()),
            Speaker::Program,
            said,
        );
        Read::Entry(Box::new(Entry {
            subtype: failure.name.or_else(|| Some("error".to_owned())),
            items: vec![Item::new(0, "error", Vec::new(), what)],
            ..entry
        }))
    }
}

/// An error in the form of either generation.
#[derive(Debug, Default)]
pub(super) struct Failure {
    name: Option<String>,
    pub(super) message: Option<String>,
}

impl Failure {
    /// Reads an error. Fields of an unexpected form count as missing.
    pub(super) fn of(error: &RawValue) -> Failure {
        #[derive(Deserialize)]
        struct Read {
            #[serde(default, alias = "type")]
            name: Option<String>,
            #[serde(default)]
            message: Option<String>,
            #[serde(default)]
            data: Option<Data>,
        }
        #[derive(Deserialize)]
        struct Data {
            #[serde(default)]
            message: Option<String>,
        }
        if let Ok(text) = serde_json::from_str(error.get()) {
            return Failure {
                name: None,
                message: Some(text),
            };
        }
        match serde_json::from_str::<Read>(error.get()) {
            Ok(read) => Failure {
                name: read.name,
                message: read.data.and_then(|data| data.message).or(read.message),
            },
            Err(_) => Failure::default(),
        }
    }

    /// Returns the name and the message, or the whole error if it has neither.
    fn text(&self, error: &RawValue) -> String {
        let texts = [&self.name, &self.message].into_iter().flatten();
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        match texts.is_empty() {
            true => error.get().to_owned(),
            false => texts.join(": "),
        }
    }
}

/// The item of a session's title.
fn titled(title: String) -> Item {
    let evidence = Evidence {
        kind: texts::TITLE,
        is_by_person: false,
        tool: "opencode".to_owned(),
        command: None,
        exit_code: None,
        summary: Some(title),
        report: None,
    };
    Item::new(0, "title", Vec::new(), What::Evidence(evidence))
}

/// Reads the JSON of a row.
pub(super) fn data(row: &Row) -> Result<Box<RawValue>, BadLine> {
    let text = row.cell("data").unwrap_or("null");
    if !text.trim_start().starts_with('{') {
        serde_json::from_str::<serde::de::IgnoredAny>(text)?;
        return Err(BadLine::NotAnObject);
    }
    Ok(serde_json::from_str(text)?)
}

pub(super) fn source(path: &'static str, raw: Box<RawValue>, table: Table) -> Source {
    let raw = Some(raw);
    Source { path, raw, table }
}

pub(super) fn skipped(kind: &str, raw: &RawValue) -> Read {
    Read::Skipped {
        kind: kind.to_owned(),
        text: raw.get().to_owned(),
    }
}

/// The item of a value without a form of its own in the log.
pub(super) fn whole(kind: &str, raw: Box<RawValue>) -> (What, Vec<Source>) {
    let kind = texts::kind_name(kind);
    let part = texts::part(Some(&raw));
    let table = match part {
        Some(_) => fields::WHOLE,
        None => NOTHING,
    };
    let what = What::Whole {
        kind: FrameKind::Other(kind.clone()),
        summary: kind,
        part,
    };
    (what, vec![source(fields::WHOLE_PATH, raw, table)])
}

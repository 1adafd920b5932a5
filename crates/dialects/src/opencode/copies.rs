//! Detection of copied messages: those at the beginning of a fork, and those of the second generation that the first
//! generation has as well.
//!
//! A fork copies messages under new ids, with their times and contents. The second generation names the origin of a fork,
//! the first does not. OpenCode 2 keeps the ids of messages that it moves to the second generation; versions that wrote
//! both generations at once gave each message two ids.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use annals_domain::Timestamp;
use serde_json::value::RawValue;

use super::session::{MessagePlace, Sessions};
use crate::import::members::without;

/// Hashes of messages that were read and may have copies.
#[derive(Default)]
pub(super) struct Copies {
    /// The first session of each message of the first generation, by the hash of its content.
    first: HashMap<u64, Arc<str>>,
    /// The newest session of the first generation.
    newest: Older,
    /// Messages of the second generation, by session, of the sessions that have forks.
    forked: HashMap<String, HashSet<u64>>,
}

/// A session of the first generation.
#[derive(Default)]
struct Older {
    session: Arc<str>,
    messages: HashSet<String>,
    /// Hashes of its texts and of the ids of its tool calls.
    said: HashSet<u64>,
    /// The time of its newest row.
    until: Option<Timestamp>,
}

/// A message of the second generation.
pub(super) struct Newer<'a> {
    pub(super) place: &'a MessagePlace,
    pub(super) kind: &'a str,
    pub(super) seq: Option<&'a str>,
    pub(super) data: &'a RawValue,
    /// The time of its row.
    pub(super) at: Option<Timestamp>,
    /// Its texts and the ids of its tool calls.
    pub(super) said: Vec<&'a str>,
}

/// The original of a copied message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyOf {
    /// A message of the session's origin.
    Forked,
    /// A message of the first generation.
    Older,
}

impl CopyOf {
    /// Returns the remark behind the kind of the skipped message.
    pub(super) fn reason(self) -> &'static str {
        match self {
            CopyOf::Forked => "of the session that it was forked from",
            CopyOf::Older => "an older table has it",
        }
    }
}

impl Copies {
    /// Adds a message of the first generation. Returns `true` if it is a copy from the session's origin.
    pub(super) fn is_forked(
        &mut self,
        place: &MessagePlace,
        data: &RawValue,
        at: Option<Timestamp>,
        sessions: &Sessions,
    ) -> bool {
        self.enter(&place.session);
        self.newest.messages.insert(place.id.clone());
        self.was_written(&place.session, at);
        let key = number(without(data, &["parentID"]).get());
        let session = &self.newest.session;
        let first = self.first.entry(key).or_insert_with(|| Arc::clone(session));
        // A session's own messages are not older than the session.
        let is_earlier = at
            .zip(sessions.begun(&place.session))
            .is_some_and(|(at, begun)| at < begun);
        is_earlier && **first != **session
    }

    /// Adds the time of a row of the first generation.
    pub(super) fn was_written(&mut self, session: &str, at: Option<Timestamp>) {
        self.enter(session);
        self.newest.until = self.newest.until.max(at);
    }

    /// Adds a text of the first generation, or the id of a tool call.
    pub(super) fn says(&mut self, session: &str, text: &str) {
        self.enter(session);
        if let Some(text) = normal(text) {
            self.newest.said.insert(text);
        }
    }

    fn enter(&mut self, session: &str) {
        if *self.newest.session != *session {
            self.newest = Older {
                session: session.into(),
                ..Older::default()
            };
        }
    }

    /// Adds a message of the second generation. Returns its original if it is a copy.
    pub(super) fn of_newer(&mut self, message: &Newer<'_>, sessions: &Sessions) -> Option<CopyOf> {
        let session = message.place.session.as_str();
        let key = number((message.seq, message.kind, message.data.get()));
        let is_forked = sessions.fork_of(session).is_some_and(|other| {
            let is_earlier = message
                .at
                .zip(sessions.begun(session))
                .is_some_and(|(at, begun)| at < begun);
            let others = self.forked.get(other);
            is_earlier || others.is_some_and(|others| others.contains(&key))
        });
        if sessions.is_forked(session) {
            let own = self.forked.entry(session.to_owned()).or_default();
            own.insert(key);
        }
        match (is_forked, self.is_older(message)) {
            (true, _) => Some(CopyOf::Forked),
            (false, true) => Some(CopyOf::Older),
            (false, false) => None,
        }
    }

    /// Returns `true` if the first generation has the message: the same id, or no later time and a common text.
    fn is_older(&self, message: &Newer<'_>) -> bool {
        let older = &self.newest;
        if *older.session != *message.place.session {
            return false;
        }
        if older.messages.contains(&message.place.id) {
            return true;
        }
        let is_earlier = message.at.is_some() && message.at <= older.until;
        let mut said = message
            .said
            .iter()
            .filter_map(|text| normal(text))
            .peekable();
        let is_silent = said.peek().is_none();
        is_earlier && (is_silent || said.any(|text| older.said.contains(&text)))
    }
}

/// Returns the hash of a text without its white space, which differs between the generations; `None` for a blank text.
fn normal(text: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let mut is_blank = true;
    for word in text.split_whitespace() {
        hasher.write(word.as_bytes());
        is_blank = false;
    }
    (!is_blank).then(|| hasher.finish())
}

fn number(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

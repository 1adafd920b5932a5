//! What a session waits for: approvals, commands in the queue, commands that were
//! accepted and have not ended.

use std::collections::BTreeMap;

use annals_domain::session::{CommandFacts, CommandKind, CommandReceived, Session};
use annals_domain::{CommandId, Timestamp};
use serde::Serialize;

use crate::{Entry, JsonText, Text};

/// A requested approval without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PendingApprovalView {
    /// The command that asks for it: a RequestApproval, or the first push that
    /// waits.
    pub request: CommandId,
    /// What it is to allow.
    pub actions: Vec<String>,
    /// Whether a RequestApproval asks, and not a push that needs it.
    pub explicit: bool,
    /// What for, in the words of the RequestApproval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// When it expires; none if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A command that waits for an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueuedCommandView {
    /// The command.
    pub id: CommandId,
    /// What it is.
    pub kind: CommandKind,
    /// The branch that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<Timestamp>,
}

/// A command that was accepted and has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenCommandView {
    /// The command.
    pub id: CommandId,
    /// What it is; none where another system recorded its verdict alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CommandKind>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
}

/// What the gate's own state does not say of what waits: since when, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    /// What the last RequestApproval says that it is for.
    wanted: Option<(CommandId, Text)>,
    asked: BTreeMap<CommandId, Asked>,
    queued: BTreeMap<CommandId, Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    at: Timestamp,
    reason: Option<Text>,
}

impl Waiting {
    pub(super) fn received(&mut self, event: &CommandReceived, entry: &Entry) {
        if event.facts.kind != CommandKind::RequestApproval {
            return;
        }
        let reason = match entry.json(event.body) {
            JsonText::Removed => Some(Text::Removed),
            json => json
                .field("reason")
                .and_then(|reason| reason.as_str().map(Text::from)),
        };
        self.wanted = reason.map(|reason| (event.command, reason));
    }

    /// What is asked again is asked since the first time.
    pub(super) fn asked(&mut self, request: CommandId, at: Timestamp) {
        let wanted = self.wanted.take_if(|(command, _)| *command == request);
        let reason = wanted.map(|(_, reason)| reason);
        self.asked.entry(request).or_insert(Asked { at, reason });
    }

    pub(super) fn queued(&mut self, command: CommandId, at: Timestamp) {
        self.queued.insert(command, at);
    }

    /// A command has its verdict.
    pub(super) fn judged(&mut self, command: CommandId) {
        self.queued.remove(&command);
    }

    /// Forgets what the session does not wait for any more.
    pub(super) fn answered(&mut self, session: &Session) {
        let is_pending = |request: &CommandId| {
            let mut pending = session.pending.iter();
            pending.any(|pending| pending.request == *request)
        };
        self.asked.retain(|request, _| is_pending(request));
        if session.queue.is_empty() {
            self.queued.clear();
        }
    }

    pub(super) fn pending(&self, session: &Session) -> Vec<PendingApprovalView> {
        let pending = session.pending.iter().map(|pending| {
            let asked = self.asked.get(&pending.request);
            PendingApprovalView {
                request: pending.request,
                actions: pending.actions.clone(),
                explicit: pending.explicit,
                reason: asked.and_then(|asked| asked.reason.clone()),
                asked_at: asked.map(|asked| asked.at),
                expires_at: pending.expires_at,
            }
        });
        pending.collect()
    }

    pub(super) fn queue(&self, session: &Session) -> Vec<QueuedCommandView> {
        let queued = session.queue.iter().map(|waiting| QueuedCommandView {
            id: waiting.command,
            kind: waiting.facts.kind,
            branch: waiting.facts.branch.clone(),
            queued_at: self.queued.get(&waiting.command).copied(),
        });
        queued.collect()
    }
}

/// Commands that were accepted and have not ended, the oldest first.
pub(super) fn open(session: &Session) -> Vec<OpenCommandView> {
    let kind = |facts: &CommandFacts| facts.kind;
    let open = session.open.iter().map(|(id, open)| OpenCommandView {
        id: *id,
        kind: open.facts.as_ref().map(kind),
        accepted_at: open.at,
    });
    let mut open: Vec<OpenCommandView> = open.collect();
    open.sort_by_key(|command| command.accepted_at);
    open
}

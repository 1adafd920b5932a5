//! What an agent's program tells of a session while it goes on, free of how it tells it, and of secrets.

use annals_domain::run::{GrantScope, ToolDecider, ToolVerdict};
use annals_domain::{IntegrityHash, Timestamp, ToolInvocationId};

use super::agent::Agent;
use super::ids::Ids;
use crate::import::redacted::RedactedText;

/// An agent that tells of its sessions while it works.
#[derive(Debug, Clone, Copy)]
pub struct LiveAgent(pub(crate) &'static Agent);

impl LiveAgent {
    /// Its key.
    pub fn key(self) -> &'static str {
        self.0.key
    }

    /// What it is called as an actor.
    pub fn actor(self) -> &'static str {
        self.0.actor
    }

    /// What its ids follow from.
    pub fn ids(self) -> Ids {
        Ids::of(self.0.key)
    }

    /// Whether the program itself wrote all of a prompt's text: no person asked for anything with it.
    pub fn is_by_program(self, prompt: &str) -> bool {
        (self.0.asked)(prompt).is_none()
    }
}

/// One thing that is told of a session. All of its texts are without secrets, which their type says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Telling {
    /// The session's name.
    pub session: RedactedText,
    /// The name of the side chain that it is of, a sub-agent's; none for the session's own course.
    pub side: Option<RedactedText>,
    /// What tells it from all others of its agent. Its ids follow from it.
    pub name: RedactedText,
    /// When it happened.
    pub at: Timestamp,
    /// The folder that the session works in.
    pub cwd: Option<RedactedText>,
    /// The version of the agent's program.
    pub version: Option<RedactedText>,
    /// The model that works.
    pub model: Option<RedactedText>,
    /// What the session is called where it begins with this, and no prompt says it.
    pub title: Option<RedactedText>,
    /// What is told.
    pub told: Told,
    /// What is told beside it, that has no place there.
    pub beside: Option<Around>,
}

impl Telling {
    /// Something of a session's own course.
    pub fn new(
        session: impl Into<RedactedText>,
        name: impl Into<RedactedText>,
        at: Timestamp,
        told: Told,
    ) -> Telling {
        Telling {
            session: session.into(),
            side: None,
            name: name.into(),
            at,
            cwd: None,
            version: None,
            model: None,
            title: None,
            told,
            beside: None,
        }
    }
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Told {
    /// A person asked for something.
    Prompt {
        /// What the program calls the prompt. Transcripts call it so, too.
        id: RedactedText,
        /// What was asked.
        text: RedactedText,
    },
    /// Something happened to a tool call.
    Call(CallTold),
    /// Something happened around the conversation.
    Around(Around),
}

/// Something that happened to a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTold {
    /// What the agent calls the call. Transcripts call it so, too.
    pub id: RedactedText,
    /// The tool's name.
    pub tool: RedactedText,
    /// What happened.
    pub steps: Vec<CallStep>,
}

/// A step of a tool call's life.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallStep {
    /// The model asked for it, with these arguments as JSON.
    Requested {
        /// The arguments.
        args: Option<RedactedText>,
    },
    /// It was decided whether it may be made.
    Decided(Decided),
    /// It began.
    Begun {
        /// How long before it was told, in milliseconds.
        ms_before: u64,
    },
    /// It came to its end.
    Ended {
        /// Whether it did what it should.
        worked: bool,
        /// How long it took, in milliseconds.
        duration_ms: Option<u64>,
        /// What went wrong.
        failure: Option<RedactedText>,
        /// What came back, as JSON or text.
        result: Option<RedactedText>,
    },
}

/// A decision about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Whether it may be made.
    pub verdict: ToolVerdict,
    /// What kind of thing decided it.
    pub by: ToolDecider,
    /// What that is called: a rule, a hook's command, a person.
    pub by_name: Option<RedactedText>,
    /// The file that says so.
    pub source: Option<RedactedText>,
    /// How far it reaches.
    pub scope: Option<GrantScope>,
    /// The call with which the permission was given that it rests on.
    pub grant: Option<ToolInvocationId>,
    /// Why.
    pub reason: Option<RedactedText>,
    /// The permission mode of the session.
    pub mode: Option<RedactedText>,
    /// Whether it follows from what was told, and was not told itself.
    pub is_inferred: bool,
    /// The files that were in force, by their paths.
    pub in_force: Option<Vec<(RedactedText, FileSays)>>,
}

/// What a file says that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSays {
    /// All of it, which the log keeps.
    Content(RedactedText),
    /// The SHA-256 of it, where the log is not to keep it.
    Hash(IntegrityHash),
}

/// What happened around a conversation: a session that began, a permission that was asked for, a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// What kind of thing it is.
    pub kind: &'static str,
    /// What it was done with, or what told of it.
    pub tool: RedactedText,
    /// Whether a person did it, and not the program.
    pub is_by_person: bool,
    /// What it says in short.
    pub summary: Option<RedactedText>,
    /// All that was told, as JSON or as text.
    pub report: Option<RedactedText>,
    /// Whether a session begins with it that the log does not have. Otherwise it waits for one that does.
    pub begins: bool,
}

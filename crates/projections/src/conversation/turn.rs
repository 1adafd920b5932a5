//! The turns of a conversation.

use annals_domain::run::{ToolDecider, ToolStatus, ToolVerdict};
use annals_domain::{ActorRef, Timestamp, ToolInvocationId};
use annals_event_log::{Digest, Position};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::{CallLine, JsonText, Text};

/// One turn of a conversation: everything that a person would see in the agent's own window, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// The turn's number within its session, from 1. A call that is recorded late can move the numbers behind it.
    pub number: u64,
    /// The prompt that the turn belongs to, from 1; 0 before the first prompt.
    pub prompt: u64,
    /// The agent's clock. `None` if the recording has no times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The position of the event that holds the turn's text, for links, proofs and `--at`.
    #[serde(serialize_with = "position")]
    pub position: Position,
    /// The content.
    #[serde(flatten)]
    pub body: TurnBody,
}

impl Turn {
    /// A turn without a time, for tests of renderers.
    pub fn new(number: u64, prompt: u64, position: Position, body: TurnBody) -> Turn {
        Turn {
            number,
            prompt,
            at: None,
            position,
            body,
        }
    }

    /// A prompt that gets its number when the conversation is complete.
    pub fn prompt(at: Timestamp, position: Position, prompt: PromptTurn) -> Turn {
        Turn {
            number: 0,
            prompt: 0,
            at: (at != Timestamp::EPOCH).then_some(at),
            position,
            body: TurnBody::Prompt(prompt),
        }
    }
}

/// The content of a turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnBody {
    /// A prompt by a person, or the task given to a sub-agent.
    Prompt(PromptTurn),
    /// A thought of the model.
    Thinking {
        /// The text.
        text: Text,
    },
    /// An answer of the model, in Markdown.
    Answer {
        /// The text.
        text: Text,
        /// The model.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// A tool call with its result.
    ToolCall(Box<ToolCallTurn>),
    /// The context was compacted.
    Compaction {
        /// The summary that took the place of what was dropped.
        text: Text,
        /// The number of context frames that were dropped, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        dropped: Option<u64>,
    },
    /// A sub-agent's session began.
    SubAgent {
        /// The sub-agent's session.
        session: Uuid,
        /// Its title.
        title: Text,
        /// The tool call that started it, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<ToolInvocationId>,
    },
    /// A person interrupted the agent.
    Interruption {
        /// The agent's words for it.
        text: Text,
    },
    /// An error that the agent's program showed, such as a rate limit.
    Error {
        /// The message.
        text: Text,
    },
    /// A text that the agent's program showed or added, such as a slash command's output.
    Note {
        /// The kind of frame or evidence, as the recording names it.
        name: String,
        /// The text.
        text: Text,
    },
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PromptTurn {
    /// The text of the prompt.
    pub text: Text,
    /// Who wrote it.
    pub by: ActorRef,
    /// The slash command, such as `/review`, if the prompt is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The intent that the prompt was recorded as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<Uuid>,
}

impl PromptTurn {
    /// A prompt by someone.
    pub fn new(text: Text, by: ActorRef) -> PromptTurn {
        PromptTurn {
            text,
            by,
            command: None,
            intent: None,
        }
    }

    /// The same prompt, with the intent that it was recorded as.
    #[must_use]
    pub fn with_intent(self, intent: Uuid) -> PromptTurn {
        PromptTurn {
            intent: Some(intent),
            ..self
        }
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolCallTurn {
    /// The tool call's object.
    pub id: ToolInvocationId,
    /// The tool.
    pub tool: Text,
    /// The call in one line. It repeats arguments, so that JSON leaves it out.
    #[serde(skip)]
    pub line: CallLine,
    /// The arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<JsonText>,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<CallResult>,
    /// How the call ended, or that it did not.
    pub outcome: CallOutcome,
    /// Duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The role of the call, from its tool's name and arguments.
    pub role: CallRole,
    /// The files that the call changed, with their diffs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<FileEdit>,
    /// The decisions on the call, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<CallDecisionTurn>,
    /// The sub-agent's session that the call started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<Uuid>,
}

impl ToolCallTurn {
    /// A call without a result and an end.
    pub fn new(
        id: ToolInvocationId,
        tool: &str,
        args: Option<annals_domain::Json>,
        role: CallRole,
    ) -> ToolCallTurn {
        ToolCallTurn {
            id,
            tool: Text::from(tool),
            line: CallLine::new(tool, args.as_ref().map(annals_domain::Json::text)),
            args: args.map(JsonText::Present),
            result: None,
            outcome: CallOutcome::NoResult,
            duration_ms: None,
            role,
            edits: Vec::new(),
            decisions: Vec::new(),
            sub_agent: None,
        }
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// It was denied and did not run.
    Denied,
    /// A permission for it is open.
    Waiting,
    /// It runs.
    Running,
    /// The recording has no result of it.
    NoResult,
}

impl CallOutcome {
    /// The words for it; none of a call that succeeded.
    pub(super) fn words(self) -> Option<&'static str> {
        match self {
            CallOutcome::Ok => None,
            CallOutcome::Failed => Some("failed"),
            CallOutcome::Denied => Some("denied"),
            CallOutcome::Waiting => Some("awaiting permission"),
            CallOutcome::Running => Some("running"),
            CallOutcome::NoResult => Some("result not recorded"),
        }
    }

    /// The outcome of a call that ended with this status.
    pub fn ended(status: ToolStatus) -> CallOutcome {
        match status {
            ToolStatus::Ok => CallOutcome::Ok,
            ToolStatus::Error => CallOutcome::Failed,
        }
    }
}

impl ToolCallTurn {
    /// Lines added and deleted by its edits, also by rejected ones.
    pub(super) fn changed_lines(&self) -> (u64, u64) {
        let sum = |count: fn(&FileEdit) -> u32| {
            let counts = self.edits.iter().map(|edit| u64::from(count(edit)));
            counts.sum()
        };
        (sum(|edit| edit.added), sum(|edit| edit.deleted))
    }
}

/// The role of a tool call in a conversation, by which renderers group, fold and open it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRole {
    /// It reads files or searches.
    Read,
    /// It changes files.
    Edit,
    /// It runs a command.
    Command,
    /// It updates the plan or the to-do list.
    Plan,
    /// It asks the person a question.
    Question,
    /// It starts a sub-agent.
    SubAgent,
    /// Anything else.
    Other,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallResult {
    /// All texts of the result, each on lines of its own.
    pub text: Text,
    /// The JSON that was recorded, if it is more than texts: images, structured content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<JsonText>,
    /// Only the beginning is recorded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_beginning: bool,
}

impl CallResult {
    /// A result that is text.
    pub fn new(text: impl Into<Text>) -> CallResult {
        CallResult {
            text: text.into(),
            json: None,
            is_beginning: false,
        }
    }
}

/// A file that a tool call changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileEdit {
    /// The path, relative to the project.
    pub path: Text,
    /// `add`, `modify`, `delete`, `rename` or `copy`.
    pub change: String,
    /// Lines added.
    pub added: u32,
    /// Lines deleted.
    pub deleted: u32,
    /// The edit was rejected: the call failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
    /// The patch set.
    pub patch_set: Uuid,
    /// The diff of the whole patch set, in the unified form: a blob of the log.
    #[serde(serialize_with = "digest", skip_serializing_if = "Option::is_none")]
    pub diff: Option<Digest>,
}

impl FileEdit {
    /// A change of a file without a diff.
    pub fn new(path: &str, change: &str, patch_set: Uuid) -> FileEdit {
        FileEdit {
            path: Text::from(path),
            change: change.to_owned(),
            added: 0,
            deleted: 0,
            rejected: false,
            patch_set,
            diff: None,
        }
    }
}

/// A decision on a tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallDecisionTurn {
    /// `allow`, `deny` or `ask`.
    pub verdict: ToolVerdict,
    /// What kind of decider it was: a person, a rule, a hook, a mode.
    pub by: ToolDecider,
    /// The person, or the rule's or hook's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file that holds the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The reason; for a person, the person's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The recording does not state it; it follows from the agent's settings or from the call's end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The event.
    #[serde(serialize_with = "position")]
    pub position: Position,
}

impl CallDecisionTurn {
    /// A decision without a name and a reason.
    pub fn new(verdict: ToolVerdict, by: ToolDecider, position: Position) -> CallDecisionTurn {
        CallDecisionTurn {
            verdict,
            by,
            name: None,
            source: None,
            reason: None,
            inferred: false,
            at: None,
            position,
        }
    }
}

fn position<S: Serializer>(position: &Position, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(position.0)
}

#[allow(clippy::ref_option, reason = "serde passes the field by reference")]
fn digest<S: Serializer>(digest: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    match digest {
        Some(digest) => serializer.collect_str(digest),
        None => serializer.serialize_none(),
    }
}

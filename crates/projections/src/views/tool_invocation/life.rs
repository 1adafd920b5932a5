//! A tool call's life: when it was requested, what was decided on it, when it began and ended.

use annals_domain::run::{
    Event, GrantScope, StoredFileInForce, ToolDecided, ToolDecider, ToolVerdict,
};
use annals_domain::{ActorRef, IntegrityHash, Timestamp, ToolInvocationId, is_removed_name};
use annals_event_log::Position;
use serde::Serialize;

use crate::{Entry, JsonText, PieceValue, Text};

/// A moment of a call's life, and where it is in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallMoment {
    /// When it was, by what the event says.
    pub at: Timestamp,
    /// The event's position.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
    /// Who told of it.
    pub told_by: ActorRef,
}

impl CallMoment {
    fn of(entry: &Entry) -> CallMoment {
        CallMoment {
            at: entry.occurred_at,
            position: entry.position,
            told_by: entry.actor.clone(),
        }
    }
}

/// A tool call as it was when it was decided on, of which the log got another name or other arguments later.
///
/// A verdict belongs to the call that was judged. It says nothing of what was recorded under the call's id afterwards.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedCall {
    /// The tool's name.
    pub tool_name: Text,
    /// Its arguments.
    pub args: Option<JsonText>,
    /// The tool's name that was recorded afterwards.
    pub recorded_tool_name: Text,
    /// The arguments that were recorded afterwards.
    pub recorded_args: Option<JsonText>,
}

/// What is known of a tool call's life.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CallLifeView {
    /// When it was requested, as the first source says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<CallMoment>,
    /// The decisions on it, in the order in which they came to be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<ToolDecisionView>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun: Option<CallMoment>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<CallMoment>,
    /// What failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Text>,
    /// When it was told of as a call that is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoked: Option<CallMoment>,
    /// The call that was judged, if another one was recorded under its id after the first decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedCall>,
}

impl CallLifeView {
    /// Adds what an event on the call tells.
    pub(super) fn add(&mut self, event: &Event, entry: &Entry) {
        let moment = || CallMoment::of(entry);
        match event {
            Event::ToolRequested(_) => {
                self.requested.get_or_insert_with(moment);
            }
            Event::ToolDecided(event) => self.decisions.push(ToolDecisionView::read(event, entry)),
            Event::ToolBegun(_) => {
                self.begun.get_or_insert_with(moment);
            }
            Event::ToolEnded(event) => {
                self.ended.get_or_insert_with(moment);
                if self.failure.is_none() {
                    self.failure = entry.optional_text(event.failure);
                }
            }
            Event::ToolInvoked(_) => {
                self.invoked.get_or_insert_with(moment);
            }
            _ => {}
        }
    }

    /// Whether anything is known beyond what tells of the call as one that is over.
    pub fn is_told(&self) -> bool {
        let Some(invoked) = &self.invoked else {
            return *self != CallLifeView::default();
        };
        let alone = CallLifeView {
            invoked: Some(invoked.clone()),
            ..CallLifeView::default()
        };
        *self != alone
    }

    /// The decision that counts: the last that allows or denies and was stated, or else the last of those that
    /// telemetry reported, or else the last of those that were inferred, or else the last that asks. Once a denial was
    /// stated, only a person's decision counts instead.
    pub fn verdict(&self) -> Option<&ToolDecisionView> {
        let settles = |decision: &&ToolDecisionView| decision.verdict != ToolVerdict::Ask;
        let newest = || self.decisions.iter().rev();
        let is_stated = |it: &&ToolDecisionView| !it.inferred && it.reported_by.is_none();
        let stated = self
            .decisions
            .iter()
            .filter(|it| settles(it) && is_stated(it));
        stated
            .reduce(|counts, next| {
                let lifts = next.verdict == ToolVerdict::Deny || next.by == ToolDecider::Person;
                match counts.verdict == ToolVerdict::Deny && !lifts {
                    true => counts,
                    false => next,
                }
            })
            .or_else(|| newest().find(|it| settles(it) && !it.inferred))
            .or_else(|| newest().find(settles))
            .or_else(|| newest().next())
    }
}

/// A decision on a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolDecisionView {
    /// When and by whom it was told.
    #[serde(flatten)]
    pub moment: CallMoment,
    /// What was decided.
    pub verdict: ToolVerdict,
    /// What decided.
    pub by: ToolDecider,
    /// The rule, the hook's command, the person's id, the classifier's model or the mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_name: Option<Text>,
    /// The path of the file that has the rule or names the hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Text>,
    /// What reported the decision, if that is not what records the call: `telemetry`, which any program that reaches the
    /// receiver can send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_by: Option<&'static str>,
    /// How long it holds.
    pub scope: GrantScope,
    /// The call with which the permission was given that it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<ToolInvocationId>,
    /// Whether it was not stated by the agent, but inferred.
    pub inferred: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The mode of permissions that the agent was in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Text>,
    /// The settings and policy files that were in force; none where that is not stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<Vec<FileInForceView>>,
}

impl ToolDecisionView {
    /// A decision as its event has it.
    pub fn read(event: &ToolDecided, entry: &Entry) -> ToolDecisionView {
        let files = |files: &Vec<StoredFileInForce>| {
            let read = |file| FileInForceView::read(file, entry);
            files.iter().map(read).collect()
        };
        ToolDecisionView {
            moment: CallMoment::of(entry),
            verdict: event.verdict,
            by: event.by,
            by_name: event.by_name.as_deref().map(name),
            source: event.source.as_deref().map(name),
            reported_by: event.is_reported().then_some("telemetry"),
            scope: event.scope,
            grant: event.grant,
            inferred: event.inferred,
            reason: entry.optional_text(event.reason),
            permission_mode: entry.optional_text(event.permission_mode),
            in_force: event.in_force.as_ref().map(files),
        }
    }
}

/// A name as a text.
fn name(name: &str) -> Text {
    match is_removed_name(name) {
        true => Text::Removed,
        false => Text::from(name),
    }
}

/// A settings or policy file that was in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileInForceView {
    /// Where it is.
    pub path: Text,
    /// The SHA-256 of its content, unless that was removed.
    pub hash: Option<IntegrityHash>,
    /// The content itself, where this log holds it; not part of the JSON.
    #[serde(skip)]
    pub content: Option<PieceValue>,
}

impl FileInForceView {
    fn read(file: &StoredFileInForce, entry: &Entry) -> FileInForceView {
        let content = file.content.map(|slot| entry.piece(slot));
        let kept = content.as_ref().and_then(PieceValue::digest_and_size);
        FileInForceView {
            path: entry.text(file.path),
            hash: file
                .hash
                .or(kept.map(|(digest, _)| IntegrityHash(digest.0))),
            content,
        }
    }
}

//! Folds the events of a session's runs and pipelines into turns.

mod calls;
mod frames;
mod part;
mod queued;
mod usage;

use std::collections::HashMap;

use annals_domain::pipeline::Event as PipelineEvent;
use annals_domain::run::{Event as RunEvent, EvidenceKind, EvidenceRecorded, UsageRecorded};
use annals_domain::{ActorRef, AnyEvent, Timestamp, ToolInvocationId};
use annals_event_log::Position;
use chrono::Datelike;
use uuid::Uuid;

use super::Conversation;
use super::prompt::PromptSummary;
use super::turn::{CallOutcome, Turn, TurnBody};
use crate::costs::Used;
use crate::frame_data::CallPlace;
use crate::{Entry, ModelUse, Text};
use calls::CallProgress;
pub use part::{ConversationIndex, PartStart};
use usage::RecordedUse;

/// The day that `ModelUse` counts from, as chrono counts days.
const DAYS_BEFORE_1970: i32 = 719_163;

/// Folds entries, in the order of the log, into the turns of one session.
///
/// The entries are those of the session's runs and of their pipelines. A tool call takes the place where it began: the
/// log has it with its result, behind what the model said in the meantime.
#[derive(Debug, Default)]
pub struct ConversationFold {
    slots: Vec<TurnSlot>,
    /// The slots in the order of the conversation.
    order: Vec<usize>,
    calls: HashMap<ToolInvocationId, usize>,
    /// The call of a batch: its frame and its patch set follow in the same batch.
    newest_call: Option<(Uuid, usize)>,
    /// The call that ended last, and the batch of its end.
    newest_end: Option<(Uuid, usize)>,
    /// Calls by the recording's names.
    named_calls: HashMap<String, usize>,
    /// The texts of each line of the recording, in order.
    lines: HashMap<String, Vec<usize>>,
    patch_sets: HashMap<Uuid, usize>,
    /// The frames that an event of the batch dropped: their number, if it is known.
    dropped: Option<(Uuid, Option<u64>)>,
    frames: u64,
    model: Option<String>,
    /// The person of the newest prompt before the first entry, if the fold begins inside of a conversation.
    earlier_person: Option<ActorRef>,
    /// The models and persons as they change.
    changes: Vec<StateChange>,
    /// The batch of the newest entry.
    batch: Option<BatchStart>,
    /// The position of the newest entry.
    position: Position,
    newest_prompt: Option<usize>,
    /// The prompt of the model's newest turn.
    spending: Option<usize>,
    /// Tokens in the order of the log.
    usage: Vec<RecordedUse>,
}

/// A turn with what decides its place.
#[derive(Debug)]
struct TurnSlot {
    turn: Turn,
    /// The line of the recording that the turn is from, unless it is a call.
    line: Option<String>,
    /// The line of the recording that the turn's line follows.
    parent_line: Option<String>,
    call: Option<CallProgress>,
    /// Where a call was made, if the recording has other turns before its result.
    place: Option<CallPlace>,
    /// An attachment of the context repeats it.
    is_repeated: bool,
    /// The batch of the turn's first event. `None` for a turn that was added by its time.
    batch: Option<BatchStart>,
    /// The position of the last event that changed the turn.
    last: Position,
}

/// The first event of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BatchStart {
    batch: Uuid,
    position: Position,
    /// Frames pushed before it.
    frames: u64,
}

/// The events of a turn.
#[derive(Debug, Clone, Copy)]
struct TurnEvents {
    batch: Option<BatchStart>,
    last: Position,
}

/// A change of the model or of the person who prompts.
#[derive(Debug, Clone, PartialEq)]
struct StateChange {
    position: Position,
    model: Option<String>,
    person: Option<ActorRef>,
}

impl ConversationFold {
    /// An empty conversation.
    pub fn new() -> ConversationFold {
        ConversationFold::default()
    }

    /// Folds in an entry.
    pub fn apply(&mut self, entry: &Entry) {
        self.position = entry.position;
        if self.batch.is_none_or(|it| it.batch != entry.batch_id) {
            self.batch = Some(BatchStart {
                batch: entry.batch_id,
                position: entry.position,
                frames: self.frames,
            });
        }
        match &entry.event {
            AnyEvent::Pipeline(PipelineEvent::FramePushed(event)) => self.frame(entry, event),
            AnyEvent::Pipeline(PipelineEvent::FramesDropped(event)) => {
                self.drop_frames(entry, event)
            }
            AnyEvent::Run(event) => self.run_event(entry, event),
            _ => {}
        }
    }

    /// Adds a turn by its time: a prompt that an agent's program reported and no recording holds yet, or a sub-agent.
    pub fn add_turn(&mut self, turn: Turn) {
        let at = turn.at;
        let slot = self.slots.len();
        self.slots.push(TurnSlot {
            turn,
            line: None,
            parent_line: None,
            call: None,
            place: None,
            is_repeated: false,
            batch: None,
            last: Position::START,
        });
        let is_before = |other: &usize| {
            let other = self.slots.get(*other).and_then(|slot| slot.turn.at);
            other.is_none_or(|other| at.is_none_or(|at| other < at))
        };
        let place = self.order.partition_point(is_before);
        self.order.insert(place, slot);
    }

    /// Adds the session of a sub-agent: to the call that started it, or else as a turn of its own.
    pub fn add_sub_agent(&mut self, started: &SubAgentStart) {
        if let Some(slot) = self.call_that_started(started) {
            let call = self.slots.get_mut(slot).map(|slot| &mut slot.turn.body);
            if let Some(TurnBody::ToolCall(call)) = call {
                call.sub_agent = Some(started.session);
            }
            return;
        }
        self.add_turn(Turn {
            number: 0,
            prompt: 0,
            at: started.at,
            position: started.position,
            body: TurnBody::SubAgent {
                session: started.session,
                title: started.title.clone(),
                call: None,
            },
        });
    }

    /// The number of turns so far.
    pub fn turns(&self) -> usize {
        self.slots.len()
    }

    /// The position of the newest turn.
    pub fn last_position(&self) -> Position {
        let last = self.slots.last();
        last.map_or(Position::START, |slot| slot.turn.position)
    }

    /// The texts of the prompts so far.
    pub fn prompt_texts(&self) -> Vec<String> {
        let slots = self.slots.iter();
        let text = |slot: &TurnSlot| match &slot.turn.body {
            TurnBody::Prompt(prompt) => Some(prompt.text.to_string()),
            _ => None,
        };
        slots.filter_map(text).collect()
    }

    /// The conversation, with numbered turns.
    pub fn finish(self) -> Conversation {
        self.finish_with(|_, _| {})
    }

    /// Like [`finish`](Self::finish), and calls a function with each turn in order and its slot's events.
    fn finish_with(mut self, mut each: impl FnMut(&Turn, TurnEvents)) -> Conversation {
        self.settle_calls();
        let mut usage = usage::uses_by_prompt(self.usage, &self.order, &self.slots);
        let mut taken: Vec<Option<TurnSlot>> = self.slots.into_iter().map(Some).collect();
        let mut turns = Vec::with_capacity(taken.len());
        let mut prompts: Vec<PromptSummary> = Vec::new();
        let mut before = usage.remove(&None).unwrap_or_default();
        for slot in self.order {
            let Some(taken) = taken.get_mut(slot).and_then(Option::take) else {
                continue;
            };
            let events = TurnEvents {
                batch: taken.batch,
                last: taken.last,
            };
            let mut turn = taken.turn;
            turn.number = turns.len() as u64 + 1;
            if matches!(turn.body, TurnBody::Prompt(_)) {
                let mut used = std::mem::take(&mut before);
                used.extend(usage.remove(&Some(slot)).unwrap_or_default());
                prompts.push(PromptSummary::new(prompts.len() as u64 + 1, &turn, used));
            }
            turn.prompt = prompts.len() as u64;
            if let Some(prompt) = prompts.last_mut() {
                prompt.count(&turn);
            }
            each(&turn, events);
            turns.push(turn);
        }
        Conversation {
            total: Some(turns.len() as u64),
            turns,
            prompts,
        }
    }

    fn run_event(&mut self, entry: &Entry, event: &RunEvent) {
        match event {
            RunEvent::ToolInvoked(event) => self.invoked(entry, event),
            RunEvent::ToolInvocationAdopted(event) => self.invoked(entry, &event.invocation),
            RunEvent::ToolRequested(event) => self.requested(entry, event),
            RunEvent::ToolDecided(event) => self.decided(entry, event),
            RunEvent::ToolBegun(event) => self.begun(entry, event),
            RunEvent::ToolEnded(event) => self.ended(entry, event),
            RunEvent::PatchSetProposed(event) => self.proposed(entry, event),
            RunEvent::PatchSetRejected(event) => self.rejected(event.patch_set.0),
            RunEvent::UsageRecorded(event) => self.used(entry, event),
            RunEvent::ProvenanceRecorded(event) => {
                let model = entry.text(event.model).to_string();
                if self.model.as_ref() != Some(&model) {
                    self.changes.push(StateChange {
                        position: entry.position,
                        model: Some(model.clone()),
                        person: None,
                    });
                }
                self.model = Some(model);
            }
            RunEvent::EvidenceRecorded(event) => self.evidence(entry, event),
            RunEvent::Failed(event) => {
                let text = entry.text(event.error);
                self.push(entry, TurnBody::Error { text }, None);
            }
            RunEvent::DecisionMade(event) => {
                let text = match event.rationale {
                    Some(rationale) => entry.text(rationale),
                    None => Text::from(event.decision_type.as_str()),
                };
                let name = format!("decision: {}", event.decision_type.as_str());
                self.push(entry, TurnBody::Note { name, text }, None);
            }
            _ => {}
        }
    }

    /// Evidence that a person would see: tests, builds, reviews. Hooks and the like are metadata.
    fn evidence(&mut self, entry: &Entry, event: &EvidenceRecorded) {
        if matches!(event.kind, EvidenceKind::Other(_)) {
            return;
        }
        let text = event.summary.or(event.command).unwrap_or(event.tool);
        let body = TurnBody::Note {
            name: event.kind.as_str().to_owned(),
            text: entry.text(text),
        };
        self.push(entry, body, None);
    }

    fn used(&mut self, entry: &Entry, event: &UsageRecorded) {
        let model = match event.model {
            Some(model) => Some(entry.text(model).to_string()),
            None => self.model.clone(),
        };
        let day = entry.occurred_at.to_utc().date_naive().num_days_from_ce() - DAYS_BEFORE_1970;
        let used = Used::recorded(entry, event);
        self.usage.push(RecordedUse {
            at: entry.agents_time(),
            spending: self.spending,
            used: ModelUse { model, day, used },
        });
    }

    /// Appends a turn.
    fn push(&mut self, entry: &Entry, body: TurnBody, parent_line: Option<String>) -> usize {
        let slot = self.slots.len();
        match body {
            TurnBody::Prompt(ref prompt) => {
                self.newest_prompt = Some(slot);
                self.changes.push(StateChange {
                    position: entry.position,
                    model: None,
                    person: Some(prompt.by.clone()),
                });
            }
            TurnBody::Answer { .. } | TurnBody::Thinking { .. } | TurnBody::ToolCall(_) => {
                self.spending = self.newest_prompt;
            }
            _ => {}
        }
        self.slots.push(TurnSlot {
            turn: Turn {
                number: 0,
                prompt: 0,
                at: entry.agents_time(),
                position: entry.position,
                body,
            },
            line: None,
            parent_line,
            call: None,
            place: None,
            is_repeated: false,
            batch: self.batch,
            last: entry.position,
        });
        self.order.push(slot);
        slot
    }

    /// Notes the line of the recording that a turn is from.
    fn set_line(&mut self, slot: usize, line: Option<String>) {
        if let Some(line) = &line {
            self.lines.entry(line.clone()).or_default().push(slot);
        }
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.line = line;
        }
    }

    fn body(&mut self, slot: usize) -> Option<&mut TurnBody> {
        self.change(slot).map(|slot| &mut slot.turn.body)
    }

    /// A turn that the newest entry changes.
    fn change(&mut self, slot: usize) -> Option<&mut TurnSlot> {
        let slot = self.slots.get_mut(slot)?;
        slot.last = slot.last.max(self.position);
        Some(slot)
    }
}

/// The start of a sub-agent's session.
#[derive(Debug, Clone, PartialEq)]
pub struct SubAgentStart {
    /// The session.
    pub session: Uuid,
    /// Its title.
    pub title: Text,
    /// The whole task that it was given.
    pub task: Text,
    /// The recording's name of the sub-agent.
    pub name: Option<String>,
    /// The time of its first event.
    pub at: Option<Timestamp>,
    /// The position of its first event.
    pub position: Position,
}

impl PromptSummary {
    fn count(&mut self, turn: &Turn) {
        let TurnBody::ToolCall(call) = &turn.body else {
            return;
        };
        self.tool_calls += 1;
        self.failed += u64::from(call.outcome == CallOutcome::Failed);
        self.denied += u64::from(call.outcome == CallOutcome::Denied);
        for edit in call.edits.iter().filter(|edit| !edit.rejected) {
            self.added += u64::from(edit.added);
            self.deleted += u64::from(edit.deleted);
        }
    }
}

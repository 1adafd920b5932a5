//! Parts of a long conversation, folded without the events before them.

use std::collections::HashMap;
use std::ops::Range;

use annals_domain::ActorRef;
use annals_event_log::Position;
use uuid::Uuid;

use super::{BatchStart, Conversation, ConversationFold, StateChange, TurnEvents};
use crate::PromptSummary;
use crate::conversation::turn::{Turn, TurnBody};

/// The order of a conversation's turns, and the events that each is folded from.
///
/// It has no texts but those of added turns and the beginnings of prompts. A part of the conversation is then read
/// without the rest: from [`PartStart::position`] up to [`PartStart::last`].
#[derive(Debug)]
pub struct ConversationIndex {
    turns: Vec<IndexedTurn>,
    prompts: Vec<PromptSummary>,
    /// The turns that were added by their times, by number.
    added: HashMap<u64, Turn>,
    changes: Vec<StateChange>,
}

#[derive(Debug)]
struct IndexedTurn {
    position: Position,
    prompt: u64,
    batch: Option<BatchStart>,
    last: Position,
    sub_agent: Option<Uuid>,
}

/// The state in which the fold of a part begins, and the events that it needs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PartStart {
    /// The position of the first event.
    pub position: Position,
    /// The position of the last event.
    pub last: Position,
    frames: u64,
    model: Option<String>,
    person: Option<ActorRef>,
}

impl ConversationIndex {
    /// The number of turns.
    pub fn total(&self) -> u64 {
        self.turns.len() as u64
    }

    /// The start of a part, given by the numbers of its turns, from 1. `None` if none of its turns has an event of the
    /// session's runs and pipelines.
    pub fn start(&self, numbers: &Range<u64>) -> Option<PartStart> {
        let turns = self.part(numbers);
        let batches = turns.iter().filter_map(|turn| turn.batch);
        let first = batches.min_by_key(|batch| batch.position)?;
        let last = turns.iter().map(|turn| turn.last).max()?;
        let end = self
            .changes
            .partition_point(|change| change.position < first.position);
        let before = self.changes.get(..end).unwrap_or_default();
        let newest = before.iter().rev();
        Some(PartStart {
            position: first.position,
            last,
            frames: first.frames,
            model: newest.clone().find_map(|change| change.model.clone()),
            person: newest.clone().find_map(|change| change.person.clone()),
        })
    }

    fn part(&self, numbers: &Range<u64>) -> &[IndexedTurn] {
        let index = |number: u64| {
            let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
            index.min(self.turns.len())
        };
        let (start, end) = (index(numbers.start), index(numbers.end));
        self.turns.get(start..end).unwrap_or_default()
    }
}

impl ConversationFold {
    /// The conversation, and its index for later reads of parts.
    pub fn finish_indexed(mut self) -> (Conversation, ConversationIndex) {
        let changes = std::mem::take(&mut self.changes);
        let mut turns = Vec::new();
        let mut added = HashMap::new();
        let conversation = self.finish_with(|turn, TurnEvents { batch, last }| {
            if batch.is_none() {
                added.insert(turn.number, turn.clone());
            }
            turns.push(IndexedTurn {
                position: turn.position,
                prompt: turn.prompt,
                batch,
                last,
                sub_agent: match &turn.body {
                    TurnBody::ToolCall(call) => call.sub_agent,
                    _ => None,
                },
            });
        });
        let index = ConversationIndex {
            turns,
            prompts: conversation.prompts.clone(),
            added,
            changes,
        };
        (conversation, index)
    }

    /// A fold that begins inside of a conversation.
    pub fn starting(start: &PartStart) -> ConversationFold {
        ConversationFold {
            frames: start.frames,
            model: start.model.clone(),
            earlier_person: start.person.clone(),
            ..ConversationFold::default()
        }
    }

    /// The turns of a part with these numbers, of a fold that read the events of its [`PartStart`]. `None` if a turn is
    /// missing: then the index is of other events.
    pub fn finish_part(
        self,
        index: &ConversationIndex,
        numbers: &Range<u64>,
    ) -> Option<Conversation> {
        let folded = self.finish().turns.into_iter();
        let mut folded: HashMap<Position, Turn> =
            folded.map(|turn| (turn.position, turn)).collect();
        let first = numbers.start.max(1);
        let turns = index.part(numbers).iter().zip(first..);
        let turns = turns.map(|(indexed, number)| {
            let turn = match indexed.batch {
                Some(_) => folded.remove(&indexed.position)?,
                None => index.added.get(&number)?.clone(),
            };
            let mut turn = Turn {
                number,
                prompt: indexed.prompt,
                ..turn
            };
            if let TurnBody::ToolCall(call) = &mut turn.body {
                call.sub_agent = indexed.sub_agent;
            }
            Some(turn)
        });
        Some(Conversation {
            total: Some(index.total()),
            turns: turns.collect::<Option<Vec<Turn>>>()?,
            prompts: index.prompts.clone(),
        })
    }
}

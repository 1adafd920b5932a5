//! Tokens by the prompt that they were spent on.
//!
//! The tokens of a message are recorded when the next message or the recording ends, so their event can stand behind the
//! next prompt, or before the turn that spent them. Their time is that of the message's last line: it names the turn.

use std::collections::HashMap;

use annals_domain::Timestamp;

use super::TurnSlot;
use crate::ModelUse;
use crate::conversation::turn::TurnBody;

/// Tokens as they were recorded.
#[derive(Debug)]
pub(super) struct RecordedUse {
    /// The time of the message. `None` if the recording has no times.
    pub(super) at: Option<Timestamp>,
    /// The prompt of the model's newest turn when they were recorded.
    pub(super) spending: Option<usize>,
    pub(super) used: ModelUse,
}

/// A prompt or a turn of the model, with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TimedTurn {
    at: Timestamp,
    is_of_model: bool,
    /// Its index in the conversation.
    index: usize,
    /// The slot of its prompt.
    prompt: Option<usize>,
}

/// Returns tokens by the slot of their prompt, added up by model and day.
pub(super) fn uses_by_prompt(
    uses: Vec<RecordedUse>,
    order: &[usize],
    slots: &[TurnSlot],
) -> HashMap<Option<usize>, Vec<ModelUse>> {
    let timed = timed_turns(order, slots);
    let mut by_prompt: HashMap<Option<usize>, Vec<ModelUse>> = HashMap::new();
    for recorded in uses {
        let prompt = match recorded.at {
            Some(at) => prompt_at(&timed, at, recorded.spending),
            None => recorded.spending,
        };
        let known = by_prompt.entry(prompt).or_default();
        let used = recorded.used;
        let same = known
            .iter_mut()
            .find(|it| it.model == used.model && it.day == used.day);
        match same {
            Some(same) => same.used.add(&used.used),
            None => known.push(used),
        }
    }
    by_prompt
}

fn timed_turns(order: &[usize], slots: &[TurnSlot]) -> Vec<TimedTurn> {
    let mut prompt = None;
    let mut timed = Vec::new();
    for (index, slot) in order.iter().enumerate() {
        let Some(turn) = slots.get(*slot).map(|slot| &slot.turn) else {
            continue;
        };
        let is_of_model = match turn.body {
            TurnBody::Prompt(_) => {
                prompt = Some(*slot);
                false
            }
            TurnBody::Answer { .. } | TurnBody::Thinking { .. } | TurnBody::ToolCall(_) => true,
            _ => continue,
        };
        timed.extend(turn.at.map(|at| TimedTurn {
            at,
            is_of_model,
            index,
            prompt,
        }));
    }
    timed.sort_unstable();
    timed
}

/// Returns the prompt of the last turn at a time or before. Of several turns of the model at that very time, one of the
/// prompt that was being answered counts first.
fn prompt_at(timed: &[TimedTurn], at: Timestamp, spending: Option<usize>) -> Option<usize> {
    let end = timed.partition_point(|turn| turn.at <= at);
    let before = timed.get(..end).unwrap_or_default();
    let Some(last) = before.last() else {
        return spending;
    };
    let same = before.iter().rev().take_while(|turn| turn.at == at);
    let mut same = same.filter(|turn| turn.is_of_model);
    match same.any(|turn| turn.prompt == spending) {
        true => spending,
        false => last.prompt,
    }
}

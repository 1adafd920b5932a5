//! Groups turns for drawing: one card for each prompt, and one line for reads that follow each other.

use annals::projections::{CallOutcome, CallRole, Turn, TurnBody};

/// The turns of one prompt.
#[derive(Debug, PartialEq)]
pub(super) struct Card<'a> {
    /// The prompt's number; 0 before the first prompt.
    pub(super) prompt: u64,
    /// The prompt itself, unless the card continues one of an earlier chunk.
    pub(super) said: Option<&'a Turn>,
    pub(super) steps: Vec<Step<'a>>,
}

/// A line of a card.
#[derive(Debug, PartialEq)]
pub(super) enum Step<'a> {
    Turn(&'a Turn),
    /// Two or more reads and searches in a row.
    Reads(Vec<&'a Turn>),
    /// Two or more notes of the agent's program in a row.
    Notes(Vec<&'a Turn>),
}

impl<'a> Card<'a> {
    /// The turns of the card, the prompt first.
    pub(super) fn turns(&self) -> impl Iterator<Item = &'a Turn> {
        let steps = self.steps.iter().flat_map(|step| match step {
            Step::Turn(turn) => std::slice::from_ref(turn),
            Step::Reads(turns) | Step::Notes(turns) => turns.as_slice(),
        });
        self.said.into_iter().chain(steps.copied())
    }

    /// The number of tool calls with this outcome, or of all.
    pub(super) fn calls(&self, outcome: Option<CallOutcome>) -> u64 {
        let is_counted = |turn: &&Turn| match &turn.body {
            TurnBody::ToolCall(call) => outcome.is_none_or(|outcome| call.outcome == outcome),
            _ => false,
        };
        self.turns().filter(is_counted).count() as u64
    }
}

/// Groups turns into cards.
pub(super) fn cards(turns: &[Turn]) -> Vec<Card<'_>> {
    let mut cards: Vec<Card<'_>> = Vec::new();
    for turn in turns {
        let is_prompt = matches!(turn.body, TurnBody::Prompt(_));
        let is_of_last = cards.last().is_some_and(|card| card.prompt == turn.prompt);
        if is_prompt || !is_of_last {
            cards.push(Card {
                prompt: turn.prompt,
                said: is_prompt.then_some(turn),
                steps: Vec::new(),
            });
            if is_prompt {
                continue;
            }
        }
        if let Some(card) = cards.last_mut() {
            add(&mut card.steps, turn);
        }
    }
    for step in cards.iter_mut().flat_map(|card| &mut card.steps) {
        if let Step::Reads(group) | Step::Notes(group) = step
            && let [only] = group.as_slice()
        {
            *step = Step::Turn(only);
        }
    }
    cards
}

fn add<'a>(steps: &mut Vec<Step<'a>>, turn: &'a Turn) {
    let is_read = is_quiet_read(turn);
    let is_note = matches!(turn.body, TurnBody::Note { .. });
    match steps.last_mut() {
        Some(Step::Reads(reads)) if is_read => reads.push(turn),
        Some(Step::Notes(notes)) if is_note => notes.push(turn),
        _ if is_read => steps.push(Step::Reads(vec![turn])),
        _ if is_note => steps.push(Step::Notes(vec![turn])),
        _ => steps.push(Step::Turn(turn)),
    }
}

/// Returns `true` for a read or a search that needs no attention.
fn is_quiet_read(turn: &Turn) -> bool {
    match &turn.body {
        TurnBody::ToolCall(call) => {
            call.role == CallRole::Read
                && call.outcome == CallOutcome::Ok
                && call.edits.is_empty()
                && call.sub_agent.is_none()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{answer, call, prompt, turn};
    use super::*;

    #[test]
    fn each_prompt_has_a_card() {
        let turns = [
            answer(1, 0, "before"),
            prompt(2, 1, "do it"),
            answer(3, 1, "done"),
            prompt(4, 2, "more"),
            prompt(5, 2, "and more"),
        ];
        let cards = cards(&turns);
        let shape: Vec<(u64, bool, usize)> = cards
            .iter()
            .map(|card| (card.prompt, card.said.is_some(), card.steps.len()))
            .collect();
        assert_eq!(
            shape,
            [(0, false, 1), (1, true, 1), (2, true, 0), (2, true, 0)]
        );
    }

    #[test]
    fn reads_in_a_row_are_one_line() {
        let read = |number| call(number, 1, "Read", CallRole::Read, CallOutcome::Ok);
        let note = |number| {
            let text = annals::projections::Text::from("x");
            let name = "system_state".to_owned();
            turn(number, 1, TurnBody::Note { name, text })
        };
        let turns = [
            read(1),
            read(2),
            call(3, 1, "Read", CallRole::Read, CallOutcome::Failed),
            read(4),
            answer(5, 1, "x"),
            read(6),
            read(7),
            read(8),
            note(9),
            note(10),
        ];
        let cards = cards(&turns);
        let shape: Vec<usize> = cards
            .iter()
            .flat_map(|card| &card.steps)
            .map(|step| match step {
                Step::Turn(_) => 1,
                Step::Reads(group) | Step::Notes(group) => group.len(),
            })
            .collect();
        assert_eq!(shape, [2, 1, 1, 1, 3, 2]);
        assert_eq!(
            cards.iter().map(|card| card.turns().count()).sum::<usize>(),
            10
        );
        assert_eq!(cards.iter().map(|card| card.calls(None)).sum::<u64>(), 7);
        assert_eq!(
            cards
                .iter()
                .map(|card| card.calls(Some(CallOutcome::Failed)))
                .sum::<u64>(),
            1
        );
    }
}

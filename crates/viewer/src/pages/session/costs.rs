//! The cost of each prompt, with the sub-agents that it started.

use std::collections::HashMap;

use annals::projections::{ModelUse, PriceTable, PromptSummary, Turn, TurnBody};
use chrono::{NaiveDate, TimeDelta};
use maud::{Markup, html};
use uuid::Uuid;

use crate::figures::money;
use crate::session_entry::SessionEntry;

/// The cost of a prompt in millionths of a USD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PromptCost {
    /// The cost with sub-agents; `None` if it is not known.
    pub(crate) micros: Option<u128>,
    /// The part of it that sub-agents have.
    pub(crate) sub_agents: u128,
}

/// The cost of each prompt by its number. The prompts of a session add up to the session's cost.
///
/// A sub-agent belongs to the prompt of the turn that started it. If that turn was not read, it belongs to the newest
/// prompt before its first event.
pub(super) fn prompt_costs(
    session: &SessionEntry,
    prompts: &[PromptSummary],
    turns: &[Turn],
) -> HashMap<u64, PromptCost> {
    let own = |prompt: &PromptSummary| PromptCost {
        micros: price(&prompt.models),
        sub_agents: 0,
    };
    let mut costs: HashMap<u64, PromptCost> = prompts
        .iter()
        .map(|prompt| (prompt.number, own(prompt)))
        .collect();
    let first = prompts.first().map_or(0, |prompt| prompt.number);
    let started: HashMap<Uuid, u64> = turns.iter().filter_map(started_by).collect();
    for entry in &session.sub_agents {
        let Some(micros) = entry.micros else {
            continue;
        };
        let by_turn = started.get(&entry.id).copied();
        let is_before = |prompt: &&PromptSummary| {
            prompt
                .at
                .zip(entry.started)
                .is_some_and(|(at, start)| at <= start)
        };
        let by_time = || prompts.iter().rev().find(is_before).map(|it| it.number);
        let number = by_turn.or_else(by_time).unwrap_or(first).max(first);
        if let Some(cost) = costs.get_mut(&number) {
            cost.micros = Some(cost.micros.unwrap_or(0).saturating_add(micros));
            cost.sub_agents = cost.sub_agents.saturating_add(micros);
        }
    }
    costs
}

/// The cost of tokens, where their models have a price.
fn price(models: &[ModelUse]) -> Option<u128> {
    let epoch = NaiveDate::default();
    let table = PriceTable::standard();
    let mut sum = None;
    for one in models {
        let day = epoch
            .checked_add_signed(TimeDelta::days(one.day.into()))
            .unwrap_or(epoch);
        let price = one
            .model
            .as_deref()
            .and_then(|model| table.price(model, day));
        if let Some(price) = price {
            let (of_tokens, _) = price.cost(&one.used.tokens);
            let (of_searches, _) = price.search_cost(one.used.web_searches);
            let micros = of_tokens.saturating_add(of_searches);
            sum = Some(micros.saturating_add(sum.unwrap_or(0)));
        }
    }
    sum
}

/// The sub-agent that a turn started, with the number of the turn's prompt.
fn started_by(turn: &Turn) -> Option<(Uuid, u64)> {
    let session = sub_agent_of(turn)?;
    Some((session, turn.prompt))
}

/// The sub-agent's session that a turn started.
pub(super) fn sub_agent_of(turn: &Turn) -> Option<Uuid> {
    match &turn.body {
        TurnBody::ToolCall(call) => call.sub_agent,
        TurnBody::SubAgent { session, .. } => Some(*session),
        _ => None,
    }
}

/// The cost in words: `$1.38, of it $0.40 by sub-agents`.
pub(super) fn words(cost: PromptCost) -> Option<Markup> {
    let micros = cost.micros?;
    Some(html! {
        (money(micros))
        @if cost.sub_agents > 0 { small { ", of it " (money(cost.sub_agents)) " by sub-agents" } }
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::{prompt, turn};
    use super::*;
    use crate::session_entry::sample;

    #[test]
    fn a_sub_agent_counts_to_the_prompt_that_started_it() {
        let id = Uuid::from_u128(7);
        let mut session = sample();
        let mut below = sample();
        (below.id, below.micros) = (id, Some(40));
        session.sub_agents = vec![below];
        let started = TurnBody::SubAgent {
            session: id,
            title: annals::projections::Text::from("x"),
            call: None,
        };
        let mut fold = annals::projections::ConversationFold::new();
        for (number, text) in [(1, "a"), (2, "b")] {
            fold.add_turn(prompt(number, 0, text));
        }
        let prompts = fold.finish().prompts;
        let costs = prompt_costs(&session, &prompts, &[turn(3, 2, started)]);
        let of = |number: u64| costs.get(&number).copied().unwrap_or_default();
        assert_eq!((of(1).micros, of(1).sub_agents), (None, 0));
        assert_eq!((of(2).micros, of(2).sub_agents), (Some(40), 40));
        // Without its turn, the time of its first event decides: an unknown one belongs to the first prompt.
        let costs = prompt_costs(&session, &prompts, &[]);
        assert_eq!(costs.get(&1).map(|it| it.sub_agents), Some(40));
    }
}

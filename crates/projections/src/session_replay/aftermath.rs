//! What followed from a command, as far as the record says.

use annals_domain::run::{self, StoredTokens};
use serde::Serialize;

/// What was recorded in a session and its runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Aftermath {
    /// Patch sets that its runs proposed.
    pub patch_sets: u64,
    /// Commit commands that succeeded.
    pub commits: u64,
    /// Decisions of its runs that name a commit.
    pub commit_decisions: u64,
    /// Tokens that its runs used.
    pub tokens: u64,
    /// What they cost, in USD, where that is known.
    pub cost_usd: Option<f64>,
}

impl Aftermath {
    /// What was added since an earlier moment.
    pub(super) fn since(&self, earlier: &Aftermath) -> Aftermath {
        Aftermath {
            patch_sets: self.patch_sets.saturating_sub(earlier.patch_sets),
            commits: self.commits.saturating_sub(earlier.commits),
            commit_decisions: self
                .commit_decisions
                .saturating_sub(earlier.commit_decisions),
            tokens: self.tokens.saturating_sub(earlier.tokens),
            cost_usd: self
                .cost_usd
                .map(|cost| cost - earlier.cost_usd.unwrap_or(0.0)),
        }
    }

    fn add_cost(&mut self, cost: Option<f64>) {
        if let Some(cost) = cost {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
    }

    fn add_tokens(&mut self, tokens: &StoredTokens) {
        let sum = tokens.input_tokens.saturating_add(tokens.output_tokens);
        self.tokens = self.tokens.saturating_add(sum);
        self.add_cost(tokens.cost_usd);
    }

    /// Counts what an event of a run adds.
    pub(super) fn run(&mut self, event: &run::Event) {
        use run::Event;
        match event {
            Event::PatchSetProposed(_) => self.patch_sets += 1,
            Event::DecisionMade(event) => {
                self.commit_decisions += u64::from(event.result_commit.is_some());
            }
            Event::UsageRecorded(event) => {
                let sum = event.tokens().into_iter().fold(0, u64::saturating_add);
                self.tokens = self.tokens.saturating_add(sum);
                self.add_cost(event.cost_usd);
            }
            Event::ProvenanceRecorded(event) => {
                if let Some(tokens) = &event.token_usage {
                    self.add_tokens(tokens);
                }
            }
            _ => {}
        }
    }
}

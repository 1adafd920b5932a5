//! What a log holds in a few numbers: sessions, projects, times and costs.

use std::collections::BTreeSet;

use annals::domain::Timestamp;
use annals::event_log::Position;
use annals::projections::{PriceTable, amount_of_money, dollars_and_cents};
use annals::{Annals, SessionListed, SessionQuery};
use serde_json::{Value, json};

use crate::error::CliError;

/// The numbers.
#[derive(Debug, Default)]
pub(crate) struct Overview {
    /// Sessions without those of sub-agents.
    pub(crate) sessions: u64,
    /// Those of them that were recorded for the first time.
    pub(crate) new_sessions: u64,
    /// The paths of the projects that they are in.
    pub(crate) projects: BTreeSet<String>,
    /// The first and the last time in them.
    pub(crate) times: Option<(Timestamp, Timestamp)>,
    /// The computed cost, in millionths of the currency.
    micros: u128,
    currency: String,
    /// Tokens of models without a price.
    unpriced: u128,
}

impl Overview {
    /// Of all sessions, or of those that have events behind a position.
    pub(crate) async fn of(
        annals: &Annals,
        behind: Option<Position>,
    ) -> Result<Overview, CliError> {
        let mut overview = Overview {
            currency: PriceTable::standard().currency().to_owned(),
            ..Overview::default()
        };
        let query = SessionQuery::default().with_limit(usize::MAX);
        let page = annals.conversations().list(&query).await?;
        for session in &page.sessions {
            overview.add(session, behind.unwrap_or_default());
        }
        Ok(overview)
    }

    fn add(&mut self, session: &SessionListed, behind: Position) {
        if last_position(session) <= behind.0 {
            return;
        }
        let summary = &session.summary;
        self.sessions += 1;
        self.new_sessions += u64::from(summary.first_position > behind.0);
        self.projects.extend(summary.project.clone());
        self.micros = self.micros.saturating_add(session.cost.micros);
        self.unpriced = self.unpriced.saturating_add(session.cost.unpriced_tokens);
        let last = session.last_activity.or(summary.last_activity);
        if let (Some(first), Some(last)) = (summary.started, last) {
            self.times = Some(match self.times {
                Some((begins, ends)) => (begins.min(first), ends.max(last)),
                None => (first, last),
            });
        }
    }

    /// The cost, for people.
    pub(crate) fn cost(&self) -> String {
        let money = match self.currency.as_str() {
            "USD" => dollars_and_cents(self.micros),
            other => amount_of_money(self.micros, other),
        };
        match self.unpriced {
            0 => money,
            tokens => format!(
                "{money} ({} tokens have no price)",
                crate::output::roughly(u64::try_from(tokens).unwrap_or(u64::MAX))
            ),
        }
    }

    /// The cost, for programs.
    pub(crate) fn cost_json(&self) -> Value {
        json!({
            "micros": u64::try_from(self.micros).unwrap_or(u64::MAX),
            "currency": self.currency,
            "unpriced_tokens": u64::try_from(self.unpriced).unwrap_or(u64::MAX),
        })
    }
}

/// The position of the last event of a session and of its sub-agents.
fn last_position(session: &SessionListed) -> u64 {
    let below = session.sub_agents.iter().map(last_position).max();
    session.summary.last_position.max(below.unwrap_or_default())
}

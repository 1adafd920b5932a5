//! What a log holds in a few numbers: sessions, projects, times and costs.

use std::collections::BTreeSet;

use annals::domain::Timestamp;
use annals::event_log::Position;
use annals::projections::amount_of_money;
use annals::{Annals, CostQuery};
use serde_json::{Value, json};

use crate::error::CliError;

/// The numbers.
#[derive(Debug, Default)]
pub(crate) struct Overview {
    /// Sessions without those of sub-agents.
    pub(crate) sessions: u64,
    /// Those of them that were recorded for the first time.
    pub(crate) new_sessions: u64,
    /// The projects that they are in.
    pub(crate) projects: BTreeSet<Project>,
    /// The first and the last time in them.
    pub(crate) times: Option<(Timestamp, Timestamp)>,
    /// The computed cost, in millionths of the currency.
    micros: u128,
    currency: String,
    /// Tokens of models without a price.
    unpriced: u128,
}

/// A project, by its path.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Project(String);

impl Project {
    /// Its label: the last component of its path.
    pub(crate) fn name(&self) -> &str {
        let path = self.0.trim_end_matches(['/', '\\']);
        path.rsplit(['/', '\\']).next().unwrap_or(path)
    }
}

impl Overview {
    /// Of all sessions, or of those that have events behind a position.
    pub(crate) async fn of(
        annals: &Annals,
        behind: Option<Position>,
    ) -> Result<Overview, CliError> {
        let _ = behind;
        let report = annals.costs().report(&CostQuery::by([])).await?;
        Ok(Overview {
            micros: report.total.computed_micros,
            currency: report.currency,
            unpriced: report.total.unpriced_tokens,
            ..Overview::default()
        })
    }

    /// The cost, for people.
    pub(crate) fn cost(&self) -> String {
        let money = amount_of_money(self.micros, &self.currency);
        match self.unpriced {
            0 => money,
            tokens => format!(
                "{money}, and {} without a price",
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

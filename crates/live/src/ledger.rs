//! The ledger: what agents' work cost lately, and the budgets, in a small file with the log. Hooks and status lines read it, so that
//! they open no log (ADR 33, ADR 41).
//!
//! ```text
//! writer of the log ──▶ LOG/LEDGER   costs of the month by day and project, of two days by session; the budgets
//!                   ──▶ LOG/BUDGETS  the budgets once more, if there are any
//! hook, status line ◀── both: a budget that only one of them has, or whose use is not known, is asked about
//! ```
//!
//! Both files are replaced whole, by renaming. A log on PostgreSQL has them in its spool.

mod file;
mod spending;
mod transcript;
mod verdict;

use std::collections::BTreeMap;

use annals::domain::Timestamp;
use annals::domain::settings::{Budget, BudgetPeriod};
use annals::event_log::{Classification, Classified, ErrorClass};
use annals::projections::{CostAxis, CostReport, CostZone, REMOVED_PROJECT};
use annals::{Annals, CostError, CostQuery, LoadError};
use chrono::{Days, NaiveDate, TimeDelta};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::file::{LedgerFile, LedgerState};
pub use self::spending::{BudgetVerdict, Spending};
pub use self::transcript::TranscriptUse;
pub use self::verdict::{SpendingSession, age_in_words, over_budget, project_of};
use crate::spool::SpoolError;

/// The version of the file. Another one is not read.
const VERSION: u8 = 1;
/// A ledger that was written so short a time ago is not written again by a process that merely passes by.
const RECENT: TimeDelta = TimeDelta::seconds(30);
/// The most sessions that are kept, those that cost most.
const SESSIONS: usize = 1_000;
/// Days of sessions that are kept: sessions go on past midnight.
const SESSION_DAYS: u64 = 1;

/// When to write a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerDue {
    /// If the log has more than the ledger, or another day has begun, and the ledger was not written just now.
    IfBehind,
    /// In any case.
    Now,
}

/// What agents' work cost lately, and the budgets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ledger {
    version: u8,
    /// The log.
    pub log: Uuid,
    /// The position up to which costs are counted.
    pub position: u64,
    /// When it was written, in milliseconds since 1970.
    pub written_ms: i64,
    /// The budgets.
    pub budgets: Vec<Budget>,
    /// Costs by local day and project, of this month and this week.
    pub days: Vec<DayCost>,
    /// Costs by local day and session, of today and yesterday.
    pub sessions: Vec<SessionDayCost>,
}

/// The cost of a project on a local day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DayCost {
    /// The day.
    pub day: NaiveDate,
    /// The project's path, if it is known.
    pub project: Option<String>,
    /// The cost.
    #[serde(flatten)]
    pub cost: LedgerCost,
}

/// The cost of a session on a local day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionDayCost {
    /// The day.
    pub day: NaiveDate,
    /// The agent.
    pub agent: String,
    /// The agent's session id.
    pub session: String,
    /// The project's path, if it is known.
    pub project: Option<String>,
    /// The cost.
    #[serde(flatten)]
    pub cost: LedgerCost,
}

/// A cost by list prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LedgerCost {
    /// Millionths of a USD.
    pub micros: u64,
    /// Tokens and searches of the web without a price, whose cost is not known.
    pub unpriced_tokens: u64,
}

impl LedgerCost {
    /// Adds more.
    pub fn add(&mut self, more: LedgerCost) {
        self.micros = self.micros.saturating_add(more.micros);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(more.unpriced_tokens);
    }
}

/// Why a ledger was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The log has no place for it.
    #[error(transparent)]
    Place(#[from] SpoolError),
    /// Costs could not be added up.
    #[error(transparent)]
    Costs(#[from] CostError),
    /// The budgets could not be read.
    #[error(transparent)]
    Budgets(#[from] LoadError),
    /// The file could not be written.
    #[error("the costs of today could not be written to {path}: {source}")]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// What the operating system reports.
        source: std::io::Error,
    },
}

impl Classified for LedgerError {
    fn classify(&self) -> Classification {
        match self {
            LedgerError::Place(error) => error.classify(),
            LedgerError::Costs(error) => error.classify(),
            LedgerError::Budgets(error) => error.classify(),
            LedgerError::Write { .. } => ErrorClass::Unavailable.code("ledger"),
        }
    }
}

impl Ledger {
    /// Adds up the costs of a log, and reads its budgets.
    ///
    /// # Errors
    /// [`LedgerError::Costs`] and [`LedgerError::Budgets`].
    pub async fn of(annals: &Annals, now: Timestamp) -> Result<Ledger, LedgerError> {
        let position = annals.position().0;
        let budgets = annals.inbox().settings().await?.budgets;
        let today = CostZone::Local.day_at(now);
        let month = BudgetPeriod::Month.first_day(today);
        let since = month.min(BudgetPeriod::Week.first_day(today));
        let axes = [
            CostAxis::Day,
            CostAxis::Agent,
            CostAxis::Session,
            CostAxis::Project,
        ];
        let query = CostQuery::by(axes)
            .with_since(CostZone::Local.begins(since))
            .with_zone(CostZone::Local);
        let report = annals.costs().report(&query).await?;
        let (days, sessions) = by_day(&report, today);
        Ok(Ledger {
            version: VERSION,
            log: annals.log().log_id(),
            position,
            written_ms: now.to_utc().timestamp_millis(),
            budgets,
            days,
            sessions,
        })
    }

    /// Writes the ledger of a log. Returns `None` if that was not due.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub async fn keep(
        annals: &Annals,
        file: &LedgerFile,
        due: LedgerDue,
    ) -> Result<Option<Ledger>, LedgerError> {
        let now = Timestamp::from(annals::event_log::now());
        if due == LedgerDue::IfBehind
            && let LedgerState::Known(before) = file.read()
            && before.is_current(annals, now)
        {
            return Ok(None);
        }
        let ledger = Ledger::of(annals, now).await?;
        file.write(&ledger)?;
        Ok(Some(ledger))
    }

    fn is_current(&self, annals: &Annals, now: Timestamp) -> bool {
        self.log == annals.log().log_id() && self.is_recent(now)
    }

    fn is_recent(&self, now: Timestamp) -> bool {
        self.age(now).is_some_and(|age| age < RECENT)
    }

    /// How long ago it was written; `None` if that is in the future.
    pub fn age(&self, now: Timestamp) -> Option<TimeDelta> {
        let age = now
            .to_utc()
            .timestamp_millis()
            .checked_sub(self.written_ms)?;
        TimeDelta::try_milliseconds(age).filter(|age| *age >= TimeDelta::zero())
    }

    /// The cost of a budget's projects in its period up to today; of a budget of all projects, of all.
    pub fn used(&self, budget: &Budget, today: NaiveDate) -> LedgerCost {
        let first = budget.period.first_day(today);
        let counts = |cost: &&DayCost| {
            cost.day >= first
                && match &cost.project {
                    Some(project) => budget.has(project),
                    None => budget.project.is_none(),
                }
        };
        let mut used = LedgerCost::default();
        self.days
            .iter()
            .filter(counts)
            .for_each(|it| used.add(it.cost));
        used
    }

    /// Returns `true` if the use of a budget is not known since a project was removed from the log: its own, or that of a cost
    /// in its period.
    pub fn is_hidden(&self, budget: &Budget, today: NaiveDate) -> bool {
        let first = budget.period.first_day(today);
        let is_hidden =
            |cost: &DayCost| cost.day >= first && cost.project.as_deref().is_some_and(is_removed);
        budget.is_of_removed_project()
            || budget.project.is_some() && self.days.iter().any(is_hidden)
    }

    /// The cost of all projects on a day.
    pub fn of_day(&self, day: NaiveDate) -> LedgerCost {
        let mut cost = LedgerCost::default();
        let days = self.days.iter().filter(|it| it.day == day);
        days.for_each(|it| cost.add(it.cost));
        cost
    }

    /// The cost of a session on a day, and its project.
    pub fn of_session(
        &self,
        agent: &str,
        session: &str,
        day: NaiveDate,
    ) -> (LedgerCost, Option<&str>) {
        let (mut cost, mut project) = (LedgerCost::default(), None);
        let is_it = |it: &&SessionDayCost| it.agent == agent && it.session == session;
        for it in self.sessions.iter().filter(is_it) {
            project = project.or(it.project.as_deref());
            if it.day == day {
                cost.add(it.cost);
            }
        }
        (cost, project)
    }
}

fn by_day(report: &CostReport, today: NaiveDate) -> (Vec<DayCost>, Vec<SessionDayCost>) {
    let mut days: BTreeMap<(NaiveDate, Option<String>), LedgerCost> = BTreeMap::new();
    let mut sessions = Vec::new();
    let recent = today
        .checked_sub_days(Days::new(SESSION_DAYS))
        .unwrap_or(today);
    for row in &report.rows {
        let [day, agent, session, project] = row.by.as_slice() else {
            continue;
        };
        let Some(day) = day.value.as_ref().and_then(|day| day.parse().ok()) else {
            continue;
        };
        let cost = LedgerCost {
            micros: fitting(row.sums.computed_micros),
            unpriced_tokens: fitting(
                row.sums
                    .unpriced_tokens
                    .saturating_add(row.sums.unpriced_searches),
            ),
        };
        let project = project.value.clone();
        if let (Some(agent), Some(session), true) = (&agent.value, &session.value, day >= recent) {
            sessions.push(SessionDayCost {
                day,
                agent: agent.clone(),
                session: session.clone(),
                project: project.clone(),
                cost,
            });
        }
        days.entry((day, project)).or_default().add(cost);
    }
    sessions.sort_by_key(|it: &SessionDayCost| std::cmp::Reverse(it.cost.micros));
    sessions.truncate(SESSIONS);
    let days = days
        .into_iter()
        .map(|((day, project), cost)| DayCost { day, project, cost });
    (days.collect(), sessions)
}

/// Returns `true` for the mark of a project whose path was removed.
fn is_removed(project: &str) -> bool {
    project == REMOVED_PROJECT
}

fn fitting(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;

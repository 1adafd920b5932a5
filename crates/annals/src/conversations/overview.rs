//! An overview of all sessions of a log: the waiting ones, counts and costs by day, and the values that filters can have.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use annals_domain::Timestamp;
use annals_projections::{
    CostSums, CostZone, PriceTable, Quarter, SessionActivity, SessionRow, SessionSummary,
};
use chrono::{Days, NaiveDate};
use derive_new::new;
use uuid::Uuid;

use super::{Conversations, SessionError, SessionListed, family_activity};
use crate::{LoadError, SessionQuery};

/// Days of an overview, and how much of it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverviewQuery {
    /// The last day.
    pub today: NaiveDate,
    /// The time zone of the days.
    pub zone: CostZone,
    /// Number of days whose sessions are counted, up to the last one.
    pub days: u32,
    /// The first day with costs.
    pub costs_since: NaiveDate,
    /// Waiting sessions that are returned: those with the newest activity.
    pub waiting: usize,
}

/// Facts about all sessions of a log. Sub-agent sessions count as parts of the sessions above them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionOverview {
    /// Number of sessions that wait for a person.
    pub waiting: usize,
    /// The waiting sessions with the newest activity, newest first.
    pub newest_waiting: Vec<SessionListed>,
    /// Number of sessions that failed.
    pub failed: usize,
    /// When the first session began; `None` if no recording has times.
    pub since: Option<Timestamp>,
    /// The projects by their paths.
    pub projects: BTreeSet<String>,
    /// The agents.
    pub agents: BTreeSet<String>,
    /// The models.
    pub models: BTreeSet<String>,
    /// The days, oldest first.
    pub days: Vec<OverviewDay>,
    /// Costs by day, project and model; the days from [`OverviewQuery::costs_since`] on that have any.
    pub costs: Vec<OverviewCost>,
    /// Number of files that were changed by the sessions with activity on the last day, each counted once.
    pub files_today: u64,
}

/// Sessions of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, new)]
#[non_exhaustive]
pub struct OverviewDay {
    /// The day.
    pub day: NaiveDate,
    /// Sessions with activity on the day: with their first event, their last one, or tokens used on it.
    pub sessions: u64,
    /// Sessions whose last activity was on the day.
    pub last_active: u64,
}

/// The cost of a project and a model on a day.
#[derive(Debug, Clone, PartialEq, Eq, new)]
#[non_exhaustive]
pub struct OverviewCost {
    /// The day.
    pub day: NaiveDate,
    /// The project's path, if it is known: that of the session at the top.
    pub project: Option<String>,
    /// The model, if it is known.
    pub model: Option<String>,
    /// Tokens and their cost.
    pub sums: CostSums,
}

/// The days of an overview with their beginnings.
#[derive(Debug)]
pub(super) struct OverviewDays {
    query: OverviewQuery,
    days: Vec<NaiveDate>,
    /// The beginning of each day, in seconds since 1970.
    begins: Vec<i64>,
    /// The end of the last day.
    end: i64,
    costs_since: Quarter,
}

impl OverviewDays {
    pub(super) fn new(query: &OverviewQuery) -> OverviewDays {
        let begins = |day: NaiveDate| {
            let begins = query.zone.begins(day)?;
            Some(begins.to_utc().timestamp())
        };
        let before = (0..query.days).rev().map(|days| Days::new(days.into()));
        let days = before.filter_map(|before| query.today.checked_sub_days(before));
        let days: Vec<(NaiveDate, i64)> =
            days.filter_map(|day| Some((day, begins(day)?))).collect();
        let since = query.zone.begins(query.costs_since);
        OverviewDays {
            query: *query,
            begins: days.iter().map(|(_, begins)| *begins).collect(),
            days: days.into_iter().map(|(day, _)| day).collect(),
            end: query.today.succ_opt().and_then(begins).unwrap_or(i64::MAX),
            costs_since: since.map_or(Quarter(i64::MIN), Quarter::of),
        }
    }

    /// The index of the day that a time is in.
    fn index(&self, seconds: i64) -> Option<usize> {
        let begun = self.begins.partition_point(|begins| *begins <= seconds);
        begun.checked_sub(1).filter(|_| seconds < self.end)
    }
}

/// Facts about sessions while their rows are read.
#[derive(Debug, Default)]
pub(super) struct SessionTally {
    waiting_total: usize,
    waiting: Vec<WaitingFamily>,
    failed: usize,
    since: Option<Timestamp>,
    projects: BTreeSet<String>,
    agents: BTreeSet<String>,
    models: BTreeSet<String>,
    days: Vec<DayTally>,
    costs: BTreeMap<(NaiveDate, Option<String>, Option<String>), CostSums>,
    /// The sessions of the last day.
    today: Vec<TodaySession>,
    sessions: u64,
}

/// A session that waits for a person, with its sub-agent sessions.
#[derive(Debug)]
struct WaitingFamily {
    last: Option<Timestamp>,
    own: Uuid,
    rows: Vec<SessionRow>,
}

/// Counts of a day.
#[derive(Debug, Default, Clone)]
struct DayTally {
    sessions: u64,
    last_active: u64,
    /// The session that was counted last, by its number.
    counted: u64,
}

/// A session with activity on the last day, or a sub-agent session of one.
#[derive(Debug)]
struct TodaySession {
    id: Uuid,
    project: Option<String>,
    /// The paths of its files, if they were read with its row.
    paths: Option<Vec<String>>,
}

impl SessionTally {
    /// Adds a session with its sub-agent sessions.
    pub(super) fn add(
        &mut self,
        family: &[SessionRow],
        days: &OverviewDays,
        now: Timestamp,
        prices: &PriceTable,
    ) {
        let is_top = |row: &&SessionRow| row.summary.id == row.summary.root;
        let Some(top) = family.iter().find(is_top).or(family.first()) else {
            return;
        };
        let own = &top.summary;
        let last = family
            .iter()
            .filter_map(|row| row.summary.last_activity)
            .max();
        let others = family.iter().filter(|row| row.summary.id != own.id);
        let others = others.map(|row| row.summary.activity(now));
        match family_activity(own, others, last, now) {
            SessionActivity::Waiting => self.add_waiting(family, own.id, last, days.query.waiting),
            SessionActivity::Failed => self.failed += 1,
            SessionActivity::Active | SessionActivity::Idle | SessionActivity::Ended => {}
        }
        let first = family.iter().filter_map(|row| row.summary.started).min();
        self.since = match (self.since, first) {
            (Some(before), Some(first)) => Some(before.min(first)),
            (before, first) => before.or(first),
        };
        self.add_values(own, family);
        self.add_days(family, own, last, days);
        self.add_costs(family, own, days, prices);
    }

    fn add_waiting(
        &mut self,
        family: &[SessionRow],
        own: Uuid,
        last: Option<Timestamp>,
        keep: usize,
    ) {
        self.waiting_total += 1;
        self.waiting.push(WaitingFamily {
            last,
            own,
            rows: family.to_vec(),
        });
        if self.waiting.len() > keep.saturating_mul(2).saturating_add(64) {
            self.keep_newest_waiting(keep);
        }
    }

    fn keep_newest_waiting(&mut self, keep: usize) {
        self.waiting
            .sort_by_key(|it| (std::cmp::Reverse(it.last), it.own));
        self.waiting.truncate(keep);
    }

    /// Notes the values that filters can have.
    fn add_values(&mut self, own: &SessionSummary, family: &[SessionRow]) {
        note(&mut self.projects, own.project.as_deref());
        note(&mut self.agents, own.agent.as_deref());
        for row in family {
            for used in &row.summary.models {
                note(&mut self.models, used.model.as_deref());
            }
        }
    }

    fn add_days(
        &mut self,
        family: &[SessionRow],
        own: &SessionSummary,
        last: Option<Timestamp>,
        days: &OverviewDays,
    ) {
        self.sessions += 1;
        let number = self.sessions;
        self.days.resize(days.days.len(), DayTally::default());
        for seconds in family.iter().flat_map(SessionRow::active_seconds) {
            let day = days.index(seconds).and_then(|at| self.days.get_mut(at));
            if let Some(day) = day.filter(|day| day.counted != number) {
                day.counted = number;
                day.sessions += 1;
            }
        }
        let last = last.and_then(|last| days.index(last.to_utc().timestamp()));
        let Some(at) = last else { return };
        if let Some(day) = self.days.get_mut(at) {
            day.last_active += 1;
        }
        if at + 1 == days.days.len() {
            let changed = family.iter().filter(|row| row.summary.files.files > 0);
            self.today.extend(changed.map(|row| TodaySession {
                id: row.summary.id,
                project: own.project.clone(),
                paths: row.files.as_ref().map(|files| {
                    let paths = files.iter().map(|file| file.path.clone());
                    paths.collect()
                }),
            }));
        }
    }

    fn add_costs(
        &mut self,
        family: &[SessionRow],
        own: &SessionSummary,
        days: &OverviewDays,
        prices: &PriceTable,
    ) {
        for row in family {
            for (quarter, model, sums) in row.costs_since(days.costs_since, prices) {
                let day = days.query.zone.day(quarter);
                let key = (day, own.project.clone(), model.map(str::to_owned));
                self.costs.entry(key).or_default().add(&sums);
            }
        }
    }
}

/// Notes a value, if there is one.
fn note(values: &mut BTreeSet<String>, value: Option<&str>) {
    if let Some(value) = value.filter(|value| !values.contains(*value)) {
        values.insert(value.to_owned());
    }
}

impl Conversations<'_> {
    /// The overview of what was read.
    pub(super) async fn overview(
        self,
        mut tally: SessionTally,
        days: &OverviewDays,
        now: Timestamp,
        query: &SessionQuery,
    ) -> Result<SessionOverview, SessionError> {
        tally.keep_newest_waiting(days.query.waiting);
        let waiting = std::mem::take(&mut tally.waiting).into_iter();
        let waiting = waiting.map(|it| (it.rows, it.own)).collect();
        let newest_waiting = self.listed(waiting, now, query.prices()).await?;
        let files_today = self.count_files(std::mem::take(&mut tally.today)).await?;
        tally.days.resize(days.days.len(), DayTally::default());
        let counted = days.days.iter().zip(tally.days);
        let costs = tally.costs.into_iter();
        Ok(SessionOverview {
            waiting: tally.waiting_total,
            newest_waiting,
            failed: tally.failed,
            since: tally.since,
            projects: tally.projects,
            agents: tally.agents,
            models: tally.models,
            days: counted
                .map(|(day, counts)| OverviewDay::new(*day, counts.sessions, counts.last_active))
                .collect(),
            costs: costs
                .map(|((day, project, model), sums)| OverviewCost::new(day, project, model, sums))
                .collect(),
            files_today,
        })
    }

    /// Counts the files that sessions changed, each once.
    async fn count_files(self, sessions: Vec<TodaySession>) -> Result<u64, SessionError> {
        let unread = sessions.iter().filter(|it| it.paths.is_none());
        let unread: Vec<Uuid> = unread.map(|it| it.id).collect();
        let mut read = Vec::new();
        if !unread.is_empty() {
            let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
            read = model.files(log, &unread).await.map_err(LoadError::from)?;
        }
        let mut paths: BTreeMap<Uuid, Vec<String>> = BTreeMap::new();
        for (session, file) in read {
            paths.entry(session).or_default().push(file.path);
        }
        let mut files: HashSet<(Option<String>, String)> = HashSet::new();
        for TodaySession {
            id,
            project,
            paths: own,
        } in sessions
        {
            let own = own.unwrap_or_else(|| paths.remove(&id).unwrap_or_default());
            files.extend(own.into_iter().map(|path| (project.clone(), path)));
        }
        Ok(files.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn times_are_in_the_days_of_the_zone() {
        let days = OverviewDays::new(&OverviewQuery {
            today: day("2026-11-28"),
            zone: "+02:00".parse().unwrap(),
            days: 3,
            costs_since: day("2026-11-01"),
            waiting: 4,
        });
        assert_eq!(days.days[0], day("2026-11-26"));
        for (time, index) in [
            ("2026-11-25T21:59:59Z", None),
            ("2026-11-25T22:00:00Z", Some(0)),
            ("2026-11-26T21:59:59Z", Some(0)),
            ("2026-11-26T22:00:00Z", Some(1)),
            ("2026-11-28T21:59:59Z", Some(2)),
            ("2026-11-28T22:00:00Z", None),
        ] {
            let seconds = chrono::DateTime::parse_from_rfc3339(time).unwrap();
            assert_eq!(days.index(seconds.timestamp()), index, "{time}");
        }
    }
}

//! Facts about all sessions, which the page shows above the list.

use std::collections::BTreeSet;

use annals::blocking::Wait as _;
use annals::domain::Timestamp;
use annals::projections::{CostZone, InboxQuery};
use annals::{
    OverviewCost, OverviewDay, OverviewQuery, SessionOverview, SessionPage, SessionQuery,
};
use chrono::{Days, NaiveDate};

use super::budget::BudgetUse;
use super::chart::{self, StackedDays};
use super::heat;
use crate::answer::Asked;
use crate::blocking::blocking;
use crate::figures::Clock;
use crate::inbox_count::waits_for_call;
use crate::pages::inbox::Waiting;
use crate::problem::Problem;
use crate::waiting_session::{WaitingSession, requests};

/// Entries on the card of what waits.
const WAITING: usize = 4;
/// Days of the sums, and of those that they are compared with.
const WEEK: u64 = 7;

/// Facts about all sessions of the log.
#[derive(Debug)]
pub(super) struct HomeSummary {
    /// The sessions that wait for a person, newest activity first, as far as the card has room for them.
    pub(super) waiting: Vec<WaitingSession>,
    /// Further entries of the inbox, the oldest first. None of a past position: the inbox is of now.
    pub(super) inbox: Vec<Waiting>,
    /// The number of entries in the inbox; of a past position the number of sessions that waited.
    pub(super) waiting_total: u64,
    /// The number of sessions that wait for a person.
    pub(super) waiting_sessions: usize,
    /// Number of sessions that failed.
    pub(super) failed: usize,
    /// When the first session began.
    pub(super) since: Option<Timestamp>,
    pub(super) today: DaySums,
    pub(super) week: DaySums,
    /// The cost of the week before, in millionths of a USD.
    pub(super) week_before_micros: u128,
    /// Sessions by day.
    pub(super) days: Vec<OverviewDay>,
    pub(super) costs: StackedDays,
    /// The budgets, the most used one first.
    pub(super) budgets: Vec<BudgetUse>,
    /// The projects by their paths.
    pub(super) projects: BTreeSet<String>,
    pub(super) agents: BTreeSet<String>,
    pub(super) models: BTreeSet<String>,
}

/// Sessions of some days.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct DaySums {
    pub(super) micros: u128,
    pub(super) sessions: u64,
    pub(super) files: u64,
}

/// Reads the sessions that match, and the facts about all of them.
pub(super) async fn read(
    asked: &Asked,
    query: SessionQuery,
    clock: Clock,
) -> Result<(SessionPage, HomeSummary), Problem> {
    let today = CostZone::Local.day_at(clock.now());
    let first = chart::first_day(today).min(BudgetUse::first_day(today));
    let overview = OverviewQuery {
        today,
        zone: CostZone::Local,
        days: heat::days(today),
        costs_since: first.min(days_before(today, 2 * WEEK - 1)),
        waiting: WAITING,
    };
    let annals = asked.annals().clone();
    let (page, overview) = blocking("sessions", move || {
        let conversations = annals.conversations();
        conversations.list_with_overview(&query, &overview).wait()
    })
    .await?;
    let settings = asked.annals().inbox().settings_at(asked.at()).await?;
    let budgets = BudgetUse::all(&settings.budgets, &overview.costs, today);
    let is_by_model = asked.params.get("stack") == Some("model");
    let mut costs = StackedDays::of(&overview.costs, today, is_by_model);
    costs.limit = BudgetUse::daily(&budgets);
    let waiting = Entries::read(asked, &overview).await?;
    let summary = HomeSummary::of(overview, waiting, (costs, budgets), today);
    Ok((page, summary))
}

/// Entries of the inbox.
struct Entries {
    sessions: Vec<WaitingSession>,
    others: Vec<Waiting>,
    total: u64,
}

impl Entries {
    async fn read(asked: &Asked, overview: &SessionOverview) -> Result<Entries, Problem> {
        let newest = &overview.newest_waiting;
        if asked.moment.is_chosen {
            return Ok(Entries {
                sessions: requests(asked, newest).await,
                others: Vec::new(),
                total: overview.waiting as u64,
            });
        }
        let count = asked.shared.inbox_count.get(asked.annals()).await;
        let mut sessions = Vec::new();
        for session in newest {
            if waits_for_call(asked.annals(), session).await? {
                sessions.push(session);
            }
        }
        let room = WAITING - sessions.len().min(WAITING);
        let mut others = Vec::new();
        if room > 0 && count != Some(sessions.len() as u64) {
            let query = InboxQuery::default().with_limit(room);
            let found = asked.annals().inbox().items(&query).await?;
            others.extend(found.items.iter().map(Waiting::of));
        }
        let shown = sessions.len().saturating_add(others.len()) as u64;
        Ok(Entries {
            sessions: requests(asked, sessions).await,
            others,
            total: count.unwrap_or(shown),
        })
    }
}

impl HomeSummary {
    fn of(
        overview: SessionOverview,
        waiting: Entries,
        (costs, budgets): (StackedDays, Vec<BudgetUse>),
        today: NaiveDate,
    ) -> HomeSummary {
        let sums = |days: u64| {
            let first = days_before(today, days - 1);
            let active = overview.days.iter().filter(|it| it.day >= first);
            DaySums {
                micros: cost(&overview.costs, first, today),
                sessions: active.map(|it| it.last_active).sum(),
                files: 0,
            }
        };
        let (before, last) = (days_before(today, 2 * WEEK - 1), days_before(today, WEEK));
        HomeSummary {
            today: DaySums {
                files: overview.files_today,
                ..sums(1)
            },
            week: sums(WEEK),
            week_before_micros: cost(&overview.costs, before, last),
            waiting: waiting.sessions,
            inbox: waiting.others,
            waiting_total: waiting.total,
            waiting_sessions: overview.waiting,
            failed: overview.failed,
            since: overview.since,
            costs,
            budgets,
            projects: overview.projects,
            agents: overview.agents,
            models: overview.models,
            days: overview.days,
        }
    }
}

/// The cost from a day to another one, in millionths of a USD.
fn cost(costs: &[OverviewCost], first: NaiveDate, last: NaiveDate) -> u128 {
    let of_days = costs.iter().filter(|it| (first..=last).contains(&it.day));
    let micros = of_days.map(|it| it.sums.computed_micros);
    micros.fold(0, u128::saturating_add)
}

fn days_before(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_sub_days(Days::new(days)).unwrap_or(day)
}

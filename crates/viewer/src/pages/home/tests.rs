//! Parts of the page drawn of made-up facts.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use annals::domain::Timestamp;
use annals::domain::settings::{Budget, BudgetPeriod, OverBudget};
use annals::event_log::Position;
use annals::projections::CostSums;
use annals::{OverviewCost, OverviewDay};
use chrono::{DateTime, Days, NaiveDate};

use super::budget::{self, BudgetUse};
use super::chart::{self, StackedDays};
use super::filter::{self, Choices, Filter};
use super::summary::{DaySums, HomeSummary};
use super::{SessionList, cards, head, heat};
use crate::figures::Clock;
use crate::moment::{Moment, Params};
use crate::session_entry::sample;
use crate::waiting_session::{WaitingRequest, WaitingSession};

const HOSTILE: &str = "<script>alert(1)</script><img src=x>\u{202e}\u{1b}[31m\"'";

fn now() -> Timestamp {
    let now = DateTime::parse_from_rfc3339("2026-11-28T12:00:00Z").unwrap();
    Timestamp::from(now.to_utc())
}

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn moment() -> Moment {
    Moment {
        position: Position(900),
        end: Position(900),
        is_chosen: false,
    }
}

fn cost(day: NaiveDate, project: Option<&str>, cents: u128) -> OverviewCost {
    let sums = CostSums {
        computed_micros: cents * 10_000,
        ..CostSums::default()
    };
    let model = Some("claude-opus-4-5".to_owned());
    OverviewCost::new(day, project.map(str::to_owned), model, sums)
}

fn of(project: Option<&str>, period: BudgetPeriod, dollars: u64) -> Budget {
    Budget {
        project: project.map(str::to_owned),
        period,
        limit_micros: dollars * 1_000_000,
        then: OverBudget::Ask,
        number: 0,
    }
}

/// 16.34 USD on 28 November (a Saturday), 12 of them in one project, and 5 on the Monday before.
fn costs(project: &str) -> Vec<OverviewCost> {
    let today = day("2026-11-28");
    vec![
        cost(today, Some(project), 1_200),
        cost(today, Some("/work/infra"), 400),
        cost(today, None, 34),
        cost(day("2026-11-23"), Some(project), 500),
        cost(day("2026-11-22"), Some(project), 7_700),
    ]
}

fn summary(project: &str) -> HomeSummary {
    let one = |value: &str| BTreeSet::from([value.to_owned()]);
    let costs = costs(project);
    let today = day("2026-11-28");
    let waiting = |request| {
        let mut session = sample();
        session.title = Some(project.to_owned());
        WaitingSession {
            session,
            since: Some(now()),
            request,
        }
    };
    let waiting = [
        None,
        Some(WaitingRequest::Permission(format!("Bash {project}"))),
        Some(WaitingRequest::Question(project.to_owned())),
    ]
    .map(waiting);
    HomeSummary {
        waiting: waiting.into(),
        inbox: Vec::new(),
        waiting_total: 5,
        waiting_sessions: 3,
        failed: 1,
        since: Some(now()),
        today: DaySums {
            micros: 16_340_000,
            sessions: 6,
            files: 24,
        },
        week: DaySums::default(),
        week_before_micros: 0,
        days: Vec::new(),
        costs: StackedDays::of(&costs, today, false),
        budgets: BudgetUse::all(&[of(None, BudgetPeriod::Day, 20)], &costs, today),
        projects: one(project),
        agents: one(project),
        models: one(project),
    }
}

#[test]
fn names_of_recordings_are_text() {
    let summary = summary(HOSTILE);
    let filter = Filter::read(&Params::of(&[("project", HOSTILE)]), now()).unwrap();
    let clock = Clock::new(now());
    let choices = Choices::of(&summary, &filter, clock);
    let list = SessionList {
        sessions: Vec::new(),
        total: 0,
        all: 1,
        from: 0,
        next: None,
        summary: None,
    };
    let budgets = [of(Some(HOSTILE), BudgetPeriod::Day, 20)];
    let budgets = BudgetUse::all(&budgets, &costs(HOSTILE), day("2026-11-28"));
    let no_stack = [String::new(), String::new()];
    let drawn = [
        cards::draw(&summary, moment(), clock),
        budget::draw(&budgets),
        chart::draw(&summary.costs, moment(), &no_stack),
        filter::draw(
            &filter,
            &choices,
            (1, 1),
            &list,
            (&Params::default(), moment()),
        ),
        filter::no_match(&filter, moment()),
    ];
    for part in drawn {
        let part = part.into_string();
        assert!(
            !part.contains("<script") && !part.contains("<img"),
            "{part}"
        );
        // A project's label is the end of its path.
        assert!(part.contains("&lt;img"), "{part}");
    }
}

#[test]
fn the_heading_has_the_projects_and_the_first_day() {
    let mut summary = summary("/work/shop");
    let text = |summary: &HomeSummary| head(52, summary, Clock::new(now())).into_string();
    assert!(text(&summary).contains("52 in 1 project, since 28 November<"));
    let long_ago = DateTime::parse_from_rfc3339("2025-06-02T12:00:00Z").unwrap();
    summary.since = Some(Timestamp::from(long_ago.to_utc()));
    summary.projects.insert("/work/infra".to_owned());
    assert!(text(&summary).contains("52 in 2 projects, since 2 June 2025<"));
    summary.since = None;
    summary.projects.clear();
    assert!(text(&summary).contains(">52</span>"));
}

#[test]
fn waiting_sessions_beyond_the_card_are_counted() {
    let drawn = cards::draw(&summary("shop"), moment(), Clock::new(now())).into_string();
    assert!(drawn.contains("href=\"/inbox\">2 more<"), "{drawn}");
    assert!(drawn.contains("Allow <code>Bash shop</code>?"), "{drawn}");
    assert!(drawn.contains("6 sessions</a>"), "{drawn}");
    assert!(drawn.contains(", 24 files changed"), "{drawn}");
}

#[test]
fn the_budget_with_the_largest_used_part_comes_first() {
    let today = day("2026-11-28");
    let budgets = [
        of(None, BudgetPeriod::Month, 1_000),
        of(Some("shop"), BudgetPeriod::Week, 10),
        of(None, BudgetPeriod::Day, 20),
        of(Some("/work/infra"), BudgetPeriod::Day, 100),
    ];
    let used = BudgetUse::all(&budgets, &costs("/work/shop"), today);
    assert_eq!(BudgetUse::daily(&used), Some(20_000_000));
    let drawn = budget::draw(&used).into_string();
    for part in [
        "Budget, shop <span class=\"badge bad\">over budget<",
        "aria-label=\"170 percent used\"",
        "<rect class=\"fill\" width=\"100.0\"",
        "170 %</strong> of $10.00 used this week",
        "over budget",
        "81 %</strong> of $20.00 used today, all projects",
        "9 %</strong> of $1,000.00 used this month, all projects",
        "And 1 budget: ",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    let exact = [of(None, BudgetPeriod::Day, 16)];
    let exact = BudgetUse::all(&exact, &[cost(today, None, 1_600)], today);
    assert!(budget::draw(&exact).into_string().contains("over budget"));
    let none = budget::draw(&[]).into_string();
    assert!(none.contains("annals budget set 20/day"), "{none}");
}

#[test]
fn tokens_without_a_price_are_said_to_be_left_out() {
    let today = day("2026-11-28");
    let mut unpriced = cost(today, None, 100);
    unpriced.sums.unpriced_tokens = 7;
    let used = BudgetUse::all(&[of(None, BudgetPeriod::Day, 20)], &[unpriced], today);
    let drawn = budget::draw(&used).into_string();
    assert!(
        drawn.contains("without tokens that have no price"),
        "{drawn}"
    );
}

#[test]
fn the_chart_has_the_daily_budget() {
    let mut costs = summary("/work/shop").costs;
    let no_stack = [String::new(), String::new()];
    let draw = |costs: &StackedDays| chart::draw(costs, moment(), &no_stack).into_string();
    assert!(!draw(&costs).contains("daily budget"));
    costs.limit = Some(20_000_000);
    let drawn = draw(&costs);
    assert!(drawn.contains(">daily budget<"), "{drawn}");
    assert!(drawn.contains("of a daily budget of $20.00"), "{drawn}");
    assert!(drawn.contains("href=\"/?date=2026-11-28\""), "{drawn}");
    costs.limit = Some(5_000_000_000);
    let drawn = draw(&costs);
    assert!(
        drawn.contains("class=\"limit-text\">daily budget $5,000<"),
        "{drawn}"
    );
    assert!(!drawn.contains("line class=\"limit\""), "{drawn}");
}

#[test]
fn each_day_with_sessions_leads_to_them() {
    let today = day("2026-11-28");
    let all = u64::from(heat::days(today));
    let days = (0..all).rev().map(|before| {
        let day = today - Days::new(before);
        let sessions = match before {
            0 | 1 => 6,
            40 => 1,
            _ => 0,
        };
        OverviewDay::new(day, sessions, sessions)
    });
    let days: Vec<OverviewDay> = days.collect();
    let drawn = heat::draw(&days, Some(day("2026-10-19")), moment()).into_string();
    for part in [
        "<a href=\"/?date=2026-11-28\"><title>Sat 28 Nov: 6 sessions</title><rect class=\"h4\"",
        "<a href=\"/?date=2026-10-19\" aria-current=\"date\"><title>Mon 19 Oct: 1 session</title>",
        "Most: 6 on 28 Nov",
        "at most 6 on 28 November",
        ">Jun</text>",
        ">Nov</text>",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    assert_eq!(drawn.matches("<a href=\"/?date=").count(), 3);
    assert_eq!(drawn.matches("class=\"h0\" x=").count(), 26 * 7 - 3);
    let past = Moment {
        is_chosen: true,
        ..moment()
    };
    let past = heat::draw(&days, None, past).into_string();
    assert!(past.contains("/?date=2026-11-28&amp;at=900"), "{past}");
    let empty: Vec<OverviewDay> = days
        .iter()
        .map(|it| OverviewDay::new(it.day, 0, 0))
        .collect();
    let empty = heat::draw(&empty, None, moment()).into_string();
    assert!(empty.contains("No session in the last 26 weeks"), "{empty}");
}

#[test]
fn chosen_values_stay_choosable() {
    let summary = summary("/work/shop");
    let params = Params::of(&[
        ("project", "/work/gone"),
        ("date", "2026-11-27"),
        ("cost", "..2.5"),
    ]);
    let filter = Filter::read(&params, now()).unwrap();
    let choices = Choices::of(&summary, &filter, Clock::new(now()));
    let list = SessionList {
        sessions: Vec::new(),
        total: 3,
        all: 52,
        from: 0,
        next: None,
        summary: None,
    };
    let drawn = filter::draw(&filter, &choices, (2, 0), &list, (&params, moment())).into_string();
    for part in [
        "<option value=\"/work/gone\" selected>",
        "<option value=\"/work/shop\">shop</option>",
        "<option value=\"2026-11-27\" selected>Fri 27 Nov</option>",
        "<option value=\"..2.5\" selected>Up to $2.5</option>",
        "3 of 52 sessions",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
}

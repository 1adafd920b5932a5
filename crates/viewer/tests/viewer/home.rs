//! The home page counts all sessions of a log, by the costs and budgets that the command line prints.

use annals::blocking::Wait;
use annals::domain::{ActorRef, Command};
use annals::projections::{CostAxis, CostZone};
use annals::{CostQuery, OverviewQuery, Request, SessionQuery};
use chrono::{DateTime, Days, TimeDelta, Utc};
use serde_json::json;

use crate::support::{Place, Viewing, uuid};

/// More sessions than one page lists.
const SESSIONS: u64 = 330;

/// Records sessions with one use of tokens each, twelve hours apart into the past; every tenth one failed. Returns the newest
/// time.
pub fn fill(place: &Place, sessions: u64) -> DateTime<Utc> {
    let now = annals::event_log::now();
    let give = |at: DateTime<Utc>, name: &str, fields: serde_json::Value| {
        let command = Command::from_json(name, &fields.to_string()).unwrap();
        let mut request = Request::new(ActorRef::agent("coder"), command);
        request.at = Some(at.into());
        place.annals.execute(request).wait().unwrap();
    };
    for number in 0..sessions {
        let at = now - TimeDelta::hours(i64::try_from(number).unwrap() * 12);
        let (task, run) = (uuid(0xb000 + number), uuid(0xc000 + number));
        let title = format!("Session {number}");
        give(at, "create_task", json!({ "id": task, "title": title }));
        let project = format!("/work/p{}", number % 4);
        give(
            at,
            "create_run",
            json!({ "id": run, "task": task, "environment": { "os": "linux", "arch": "x86_64", "cwd": project } }),
        );
        give(
            at,
            "record_usage",
            json!({ "run": run, "model": "claude-opus-4-5", "uncached_input_tokens": 1_000, "output_tokens": 100 + number }),
        );
        if number % 10 == 9 {
            give(at, "fail_run", json!({ "run": run, "error": "rate limit" }));
        }
    }
    now
}

#[test]
fn the_cards_and_filters_count_all_sessions() {
    let place = Place::new();
    fill(&place, SESSIONS);
    let viewing = Viewing::of(&place);
    let page = viewing.get("/").body;
    for part in [
        "330 in 4 projects, since ",
        "Failed<span class=\"dim num\">33<",
        "<option value=\"/work/p3\">p3</option>",
        "50 of 330",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Two sessions a day.
    let cells = page.matches("<rect class=\"h2\"").count();
    assert!((160..=168).contains(&cells), "{cells} days");
    let today = CostZone::Local.day_at(annals::event_log::now().into());
    let yesterday = today - Days::new(1);
    assert!(
        page.contains(&format!("/?date={yesterday}\"><title>")),
        "{page}"
    );
    let two = viewing.data(&format!("/sessions?date={yesterday}"));
    assert_eq!((&two["total"], &two["all"]), (&json!(2), &json!(330)));
    let past = viewing.get("/?at=40").body;
    assert!(
        past.contains("</span>") && !past.contains("330 in"),
        "{past}"
    );
}

#[test]
fn costs_of_the_overview_are_those_of_the_report() {
    let place = Place::new();
    let now = fill(&place, SESSIONS);
    let today = CostZone::Local.day_at(now.into());
    let since = today - Days::new(20);
    let overview = OverviewQuery {
        today,
        zone: CostZone::Local,
        days: 30,
        costs_since: since,
        waiting: 4,
    };
    let conversations = place.annals.conversations();
    let query = SessionQuery::default().with_limit(3);
    let listed = conversations.list_with_overview(&query, &overview).wait();
    let (page, overview) = listed.unwrap();
    assert_eq!((page.sessions.len(), page.total), (3, 330));
    let of_report = CostQuery::by([CostAxis::Day, CostAxis::Project, CostAxis::Model])
        .with_zone(CostZone::Local)
        .with_since(CostZone::Local.begins(since));
    let report = place.annals.costs().report(&of_report).wait().unwrap();
    let expected: Vec<_> = report
        .rows
        .iter()
        .map(|row| {
            let value = |axis: usize| row.by[axis].value.clone();
            (value(0).unwrap(), value(1), value(2), row.sums)
        })
        .collect();
    let found: Vec<_> = overview
        .costs
        .into_iter()
        .map(|it| (it.day.to_string(), it.project, it.model, it.sums))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(overview.failed, 33);
    assert_eq!(overview.days.len(), 30);
    assert!(overview.days.iter().map(|it| it.sessions).sum::<u64>() >= 58);
}

#[test]
fn costs_are_bounded_and_titles_are_sorted() {
    let place = Place::new();
    fill(&place, SESSIONS);
    let viewing = Viewing::of(&place);
    let total = |query: &str| viewing.data(&format!("/sessions?{query}"))["total"].clone();
    let all = total("");
    assert_eq!(all, SESSIONS);
    // 1,000 tokens of input and 100 of output are 0.0075 USD, and each further one of output 25 millionths.
    assert_eq!(total("cost=..0.0075"), 1);
    assert_eq!(total("cost=0.0075..0.007525"), 2);
    assert_eq!(total("cost=0.0076"), SESSIONS - 4);
    let first = viewing.data("/sessions?sort=title&limit=2");
    assert_eq!(first["sessions"][0]["title"], "Session 0");
    let last = viewing.data("/sessions?sort=title&order=desc&limit=2");
    assert_eq!(last["sessions"][0]["title"], "Session 99");
}

#[test]
fn budgets_and_the_inbox_are_shown() {
    let place = Place::new();
    fill(&place, 1);
    let end = place.annals.position();
    let viewing = Viewing::of(&place);
    let page = viewing.get("/").body;
    assert!(page.contains("annals budget set 20/day"), "{page}");
    assert!(!page.contains(" waiting</span></span>"), "{page}");
    let used = 1_000 * 5 + 100 * 25;
    place.human(
        "set_budget",
        json!({ "limit_micros": used * 2, "period": "day" }),
    );
    place.human(
        "set_budget",
        json!({ "limit_micros": used, "period": "day", "project": "p0" }),
    );
    place.human(
        "submit_intent",
        json!({ "prompt": "Delete it", "source": "human", "risk": "high" }),
    );
    let viewing = Viewing::of(&place);
    let page = viewing.get("/").body;
    for part in [
        "Budget, p0 <",
        "100 %</strong>",
        "over budget",
        "50 %</strong> of $0.02 used today, all projects",
        "daily budget",
        "Inbox <span class=\"count\">1<span class=\"unseen\"> waiting</span></span>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Of a moment before, the budgets of then.
    let before = viewing.get(&format!("/?at={end}")).body;
    assert!(before.contains("annals budget set 20/day"), "{before}");
    let problem = viewing.get("/?sort=x").body;
    assert!(!problem.contains("class=\"count\""), "{problem}");
}

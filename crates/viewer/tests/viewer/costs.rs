//! Costs are those of the library's report, which `annals cost` prints.

use annals::blocking::Wait;
use annals::domain::{ActorRef, Command};
use annals::projections::{CostAxis, CostZone};
use annals::{CostQuery, Request};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::support::{Place, RUN, TASK, Viewing, story, uuid};

/// A story whose run used two models, one of which has no price, and whose second run used one on another day.
fn used(place: &Place) -> String {
    story(place);
    let (task, run) = (uuid(0xb01), uuid(0xb02));
    place.agent("create_task", json!({ "id": task, "title": "Measure it" }));
    place.agent("create_run", json!({ "id": run, "task": task }));
    for (run, model, input, output, at) in [
        (
            &uuid(RUN),
            "claude-opus-4-5",
            1_000,
            200,
            "2026-01-02T10:00:00Z",
        ),
        (&uuid(RUN), "a <b>model</b>", 10, 20, "2026-01-02T11:00:00Z"),
        (&run, "claude-opus-4-5", 4_000, 100, "2026-01-05T10:00:00Z"),
    ] {
        let usage = json!({ "run": run, "model": model, "uncached_input_tokens": input, "output_tokens": output });
        let command = Command::from_json("record_usage", &usage.to_string()).unwrap();
        let mut request = Request::new(ActorRef::agent("coder"), command);
        let at: DateTime<Utc> = at.parse().unwrap();
        request.at = Some(at.into());
        place.annals.execute(request).wait().unwrap();
    }
    run
}

#[test]
fn rows_are_those_of_the_report() {
    let place = Place::new();
    used(&place);
    let viewing = Viewing::of(&place);
    for axis in CostAxis::ALL {
        let costs = viewing.data(&format!("/costs?by={axis}"));
        let query = CostQuery::by([axis]).with_zone(CostZone::Local);
        let report = place.annals.costs().report(&query).wait().unwrap();
        let total = u64::try_from(report.total.computed_micros).unwrap();
        assert_eq!(costs["total"]["computed_micros"], total, "{axis}");
        let shown: Vec<(Value, Value)> = costs["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let row = (&row["by"][0]["value"], &row["sums"]["total_tokens"]);
                (row.0.clone(), row.1.clone())
            })
            .collect();
        let mut expected: Vec<(Value, Value)> = report
            .rows
            .iter()
            .map(|row| {
                let tokens = u64::try_from(row.sums.used.tokens.total()).unwrap();
                (json!(row.by[0].value), json!(tokens))
            })
            .collect();
        // The newest day first.
        if axis == CostAxis::Day {
            expected.reverse();
        }
        assert_eq!(shown, expected, "{axis}");
        assert!(!shown.is_empty(), "{axis}");
    }
}

#[test]
fn a_page_draws_days_and_leads_to_what_they_were_spent_on() {
    let place = Place::new();
    let run = used(&place);
    let viewing = Viewing::of(&place);
    let days = viewing.get("/costs").body;
    assert!(days.contains("2026-01-02") && days.contains("2026-01-05"));
    assert!(days.contains("class=\"days\""), "the days are drawn");
    let runs = viewing.get("/costs?by=run").body;
    assert!(runs.contains(&format!("/objects/{run}")), "{runs}");
    assert!(runs.contains("Measure it"), "a run is called by its task");
    let sessions = viewing.get("/costs?by=session").body;
    assert!(sessions.contains("class=\"days\""), "{sessions}");
    let models = viewing.get("/costs?by=model").body;
    assert!(models.contains("a &lt;b&gt;model&lt;/b&gt;"), "{models}");
    assert!(models.contains("unpriced"), "{models}");
    let overview = viewing.data("/overview");
    let days = overview["costs"]["days"].as_array().unwrap();
    let days: Vec<&str> = days
        .iter()
        .map(|day| day["day"].as_str().unwrap())
        .collect();
    // The newest events are of now, and these days long before them.
    assert!(
        days.iter().all(|day| !day.starts_with("2026-01")),
        "{days:?}"
    );
}

#[test]
fn costs_are_asked_for_by_time_and_by_what_they_belong_to_and_in_parts() {
    let place = Place::new();
    let run = used(&place);
    let viewing = Viewing::of(&place);
    let tokens =
        |query: &str| viewing.data(&format!("/costs?{query}"))["total"]["total_tokens"].clone();
    assert_eq!(tokens("by=day"), 5_330);
    assert_eq!(tokens("since=2026-01-03"), 4_100);
    assert_eq!(tokens("until=2026-01-02"), 1_230);
    assert_eq!(tokens(&format!("of={run}")), 4_100);
    assert_eq!(tokens("project=/nowhere"), 0);
    assert_eq!(tokens("agent=nobody"), 0);
    let limited = viewing.get("/costs?by=model&project=%2Fnowhere").body;
    assert!(limited.contains("Only the project /nowhere"), "{limited}");
    let first = viewing.data("/costs?by=model&limit=1");
    assert_eq!(
        (&first["rows_total"], &first["next"]),
        (&json!(2), &json!(1))
    );
    let second = viewing.data("/costs?by=model&limit=1&from=1");
    assert_eq!(second["next"], Value::Null);
    assert_ne!(first["rows"][0]["by"], second["rows"][0]["by"]);
    // What is said of a page to be kept is an address that is answered.
    let page = viewing.get("/costs?by=model").body;
    let (_, rest) = page.split_once("class=\"button small\" href=\"").unwrap();
    let (lasting, _) = rest.split_once('"').unwrap();
    let lasting = lasting.replace("&amp;", "&");
    assert!(lasting.contains("until="), "{lasting}");
    assert_eq!(viewing.get(&lasting).status, 200, "{lasting}");
}

/// A session is named by its agent's id: the row has its title, and leads to it.
#[test]
fn a_row_of_a_session_leads_to_it() {
    let place = Place::new();
    let run = used(&place);
    for (task, name) in [(uuid(TASK), "s-1"), (uuid(0xb01), "s-2")] {
        let ids = json!({ "claude.session": name });
        place.agent(
            "set_metadata",
            json!({ "object": task, "external_ids": ids }),
        );
    }
    // The work of a sub-agent belongs to the session above it.
    let (child, child_run) = (uuid(0xb11), uuid(0xb12));
    let fields = json!({ "id": child, "title": "Look around", "parent": uuid(0xb01) });
    place.agent("create_task", fields);
    place.agent("create_run", json!({ "id": child_run, "task": child }));
    let usage = json!({ "run": child_run, "model": "claude-opus-4-5", "uncached_input_tokens": 9, "output_tokens": 1 });
    place.agent("record_usage", usage);
    let viewing = Viewing::of(&place);
    for by in ["session", "session,model", "day,session", "task,session"] {
        let page = viewing.get(&format!("/costs?by={by}")).body;
        for task in [uuid(TASK), uuid(0xb01)] {
            let link = format!("<a href=\"/sessions/{task}\" title=\"s-");
            assert!(page.contains(&link), "{by}, {link}: {page}");
        }
        let rows = viewing.data(&format!("/costs?by={by}"));
        let report = CostQuery::by(
            by.split(',')
                .map(|it| it.parse().unwrap())
                .collect::<Vec<CostAxis>>(),
        );
        let report = report.with_zone(CostZone::Local);
        let report = place.annals.costs().report(&report).wait().unwrap();
        let values = |row: &Value| -> Vec<Value> {
            let by = row["by"].as_array().unwrap().iter();
            by.map(|key| key["value"].clone()).collect()
        };
        let shown: Vec<(Vec<Value>, Value)> = rows["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (values(row), row["sums"]["total_tokens"].clone()))
            .collect();
        let mut expected: Vec<(Vec<Value>, Value)> = report
            .rows
            .iter()
            .map(|row| {
                let tokens = u64::try_from(row.sums.used.tokens.total()).unwrap();
                let values = row.by.iter().map(|key| json!(key.value)).collect();
                (values, json!(tokens))
            })
            .collect();
        if by.starts_with("day") {
            expected.reverse();
        }
        assert_eq!(shown, expected, "{by}");
        let column = by.split(',').position(|it| it == "session").unwrap();
        for row in rows["rows"].as_array().unwrap() {
            let key = &row["by"][column];
            let expected = match key["value"].as_str() {
                Some("s-1") => json!(uuid(TASK)),
                Some("s-2") => json!(uuid(0xb01)),
                _ => Value::Null,
            };
            assert_eq!(key["object"], expected, "{by}: {row}");
            assert_ne!(key["title"], Value::Null, "{by}: {row}");
        }
    }
    assert_ne!(run, uuid(TASK));
}

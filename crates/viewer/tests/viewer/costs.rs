//! Costs are those of the library's report, which `annals cost` prints.

use annals::blocking::Wait;
use annals::domain::{ActorRef, Command};
use annals::projections::CostAxis;
use annals::{CostQuery, Request};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::support::{Place, RUN, Viewing, story, uuid};

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
        let query = CostQuery::by([axis]);
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
        let expected: Vec<(Value, Value)> = report
            .rows
            .iter()
            .map(|row| {
                let tokens = u64::try_from(row.sums.used.tokens.total()).unwrap();
                (json!(row.by[0].value), json!(tokens))
            })
            .collect();
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

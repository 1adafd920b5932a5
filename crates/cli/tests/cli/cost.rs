//! `annals cost`: what is printed, and what is refused.

use serde_json::{Value, json};

use crate::support::Place;

const PRICES: &str = "currency = \"EUR\"\nas_of = \"2026-01-31\"\n[[price]]\nmodels = [\"model-1\"]\n\
    from = \"2026-01-01\"\ninput = 1000\ncache_read = 100\noutput = 2000\n";

/// A session with a sub-agent: two days, two models, one of which has no price.
fn lines() -> Vec<Value> {
    let line = |n: u8, at: &str, message: Value| {
        json!({ "type": if message["role"] == "user" { "user" } else { "assistant" }, "uuid": format!("u{n}"),
            "sessionId": "s", "cwd": "/w", "timestamp": at, "isSidechain": false, "message": message })
    };
    let says = |id: &str, model: &str, input: u64| {
        json!({ "role": "assistant", "id": id, "model": model, "content": [{ "type": "text", "text": "x" }],
            "usage": { "input_tokens": input, "cache_read_input_tokens": 1, "cache_creation_input_tokens": 0,
                "output_tokens": 2 } })
    };
    let mut lines = vec![
        line(
            1,
            "2026-01-02T23:50:00Z",
            json!({ "role": "user", "content": "Fix it" }),
        ),
        line(2, "2026-01-02T23:50:01Z", says("m1", "model-1", 10)),
        line(3, "2026-01-03T00:10:00Z", says("m2", "model-2", 20)),
        line(
            4,
            "2026-01-03T00:10:01Z",
            json!({ "role": "user", "content": "Look there" }),
        ),
        line(5, "2026-01-03T00:10:02Z", says("m3", "model-1", 30)),
    ];
    for side in &mut lines[3..] {
        side["isSidechain"] = json!(true);
        side["agentId"] = json!("helper");
    }
    lines
}

fn place() -> Place {
    let place = Place::with_log();
    let text: String = lines().iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path("s.jsonl"), text).unwrap();
    place.run(&["import", "claude", "s.jsonl", "--ended"]).ok();
    std::fs::write(place.path("prices.toml"), PRICES).unwrap();
    place
}

fn report(place: &Place, args: &[&str]) -> Value {
    let args = [&["cost", "--json", "--prices", "prices.toml"], args].concat();
    place.run(&args).ok().json()
}

/// What each row is of, and what it cost in millionths.
fn rows(report: &Value, axis: &str) -> Vec<(String, u64)> {
    let row = |row: &Value| {
        let of = row["by"][axis].as_str().unwrap_or("-").to_owned();
        (of, row["computed_micros"].as_u64().unwrap())
    };
    report["rows"].as_array().unwrap().iter().map(row).collect()
}

fn pairs(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter()
        .map(|(of, micros)| ((*of).to_owned(), *micros))
        .collect()
}

#[test]
fn costs_are_by_day_model_and_session() {
    let place = place();
    let by_day = report(&place, &[]);
    let expected = pairs(&[("2026-01-02", 14_100), ("2026-01-03", 34_100)]);
    assert_eq!(rows(&by_day, "day"), expected);
    assert_eq!(by_day["total"]["computed_micros"], 48_200);
    assert_eq!(by_day["total"]["uncached_input_tokens"], 60);
    assert_eq!(by_day["currency"], "EUR");
    let unpriced = json!([{ "model": "model-2", "tokens": 23, "web_searches": 0 }]);
    assert_eq!(by_day["unpriced"], unpriced);
    let by_model = report(&place, &["--by", "model"]);
    assert_eq!(
        rows(&by_model, "model"),
        pairs(&[("model-1", 48_200), ("model-2", 0)])
    );
    let both = report(&place, &["--by", "day,model"]);
    assert_eq!(both["rows"].as_array().unwrap().len(), 3);
    let session = report(&place, &["--by", "session"]);
    assert_eq!(rows(&session, "session"), pairs(&[("s", 48_200)]));
    let intent = report(&place, &["--by", "intent"]);
    assert_eq!(intent["rows"][0]["titles"]["intent"], "Fix it");
    // Days of another zone, and parts of the time.
    let zone = report(&place, &["--time-zone", "-01:00"]);
    assert_eq!(rows(&zone, "day"), pairs(&[("2026-01-02", 48_200)]));
    let since = report(&place, &["--since", "2026-01-03"]);
    assert_eq!(since["total"]["computed_micros"], 34_100);
    let until = report(&place, &["--until", "2026-01-02"]);
    assert_eq!(until["total"]["computed_micros"], 14_100);
    let quarter = report(&place, &["--since", "2026-01-03T00:15:00Z"]);
    assert_eq!(quarter["rows"], json!([]));
    assert_eq!(quarter["total"]["usages"], 0);
}

#[test]
fn a_sub_agent_is_below_its_session_and_counts_once() {
    let place = place();
    let report = report(&place, &["--by", "sub-agent"]);
    let rows = report["rows"].as_array().unwrap();
    let said: Vec<_> = rows
        .iter()
        .map(|row| {
            let with = &row["with_sub_agents"]["computed_micros"];
            (
                row["depth"].clone(),
                row["computed_micros"].clone(),
                with.clone(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            (json!(0), json!(14_100), json!(48_200)),
            (json!(1), json!(34_100), json!(34_100))
        ]
    );
    assert_eq!(report["total"]["computed_micros"], 48_200);
    let side = rows[1]["by"]["sub-agent"].as_str().unwrap();
    let of = self::report(&place, &[side]);
    assert_eq!(of["total"]["computed_micros"], 34_100);
    let all = rows[0]["by"]["sub-agent"].as_str().unwrap();
    assert_eq!(
        self::report(&place, &[all])["total"]["computed_micros"],
        48_200
    );
}

/// The sub-agent's run counts for the project and the agent of its session.
#[test]
fn costs_are_by_project_and_agent_with_sub_agents() {
    let place = place();
    for (axis, expected) in [("project", "/w"), ("agent", "claude")] {
        let report = report(&place, &["--by", axis]);
        assert_eq!(rows(&report, axis), pairs(&[(expected, 48_200)]));
    }
    let both = report(&place, &["--by", "day,project"]);
    assert_eq!(both["rows"][0]["titles"]["project"], "w");
    let sum = both["rows"].as_array().unwrap().iter();
    let sum: u64 = sum
        .map(|row| row["computed_micros"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, 48_200);
    let shown = place
        .run(&["cost", "--by", "day,project", "--prices", "prices.toml"])
        .ok();
    let chart: Vec<&str> = shown.stdout.lines().rev().take(4).collect();
    assert_eq!(chart[0], "█ w", "{}", shown.stdout);
    assert!(
        chart[2].starts_with("2026-01-03 Sat  █"),
        "{}",
        shown.stdout
    );
    assert!(chart[2].ends_with("0.0341 EUR"), "{}", shown.stdout);
    let model = place
        .run(&["cost", "--by", "model", "--prices", "prices.toml"])
        .ok();
    assert!(!model.stdout.contains("2026-01-03"), "{}", model.stdout);
}

#[test]
fn a_table_has_a_bar_a_row_and_says_what_has_no_price() {
    let place = place();
    let shown = place
        .run(&["cost", "--by", "model", "--prices", "prices.toml"])
        .ok()
        .stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].starts_with("MODEL") && lines[0].contains("COST"),
        "{shown}"
    );
    assert!(
        lines[1].contains("0.0482 EUR") && lines[1].ends_with(&"█".repeat(20)),
        "{shown}"
    );
    assert!(
        lines[2].contains("unpriced") && !lines[2].contains('█'),
        "{shown}"
    );
    assert!(
        lines[3].starts_with("TOTAL") && lines[3].contains("0.0482 EUR+"),
        "{shown}"
    );
    assert!(
        shown.contains("prices as of 2026-01-31, in EUR; days are local"),
        "{shown}"
    );
    assert!(
        shown.contains("Not in COST, without a price: 23 tokens of model-2"),
        "{shown}"
    );
    let tree = place
        .run(&["cost", "--by", "sub-agent", "--prices", "prices.toml"])
        .ok()
        .stdout;
    let side = tree.lines().nth(2).unwrap();
    assert!(
        side.starts_with("  ") && side.contains("Look there"),
        "{tree}"
    );
}

#[test]
fn the_table_of_the_program_can_be_given_back_to_it() {
    let place = place();
    let printed = place.run(&["cost", "--print-prices"]).ok().stdout;
    std::fs::write(place.path("own.toml"), &printed).unwrap();
    let own = place
        .run(&["cost", "--json", "--prices", "own.toml"])
        .ok()
        .json();
    assert_eq!(own, place.run(&["cost", "--json"]).ok().json());
    assert_eq!(own["unpriced"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_answered_is_refused_with_what_would_do() {
    let place = place();
    for (args, status, said) in [
        (
            &["--since", "2026-01-03T00:07:00Z"][..],
            1,
            "begins no quarter of an hour",
        ),
        (&["--since", "soon"], 2, "expected a day such as 2026-01-31"),
        (&["--by", "mood"], 2, "expected day, model, actor"),
        (
            &["--by", "sub-agent,day"],
            1,
            "costs by sub-agent go with no other axis",
        ),
        (&["--by", "day,model,run,task"], 2, "by 3 things at most"),
        (&["--time-zone", "Mars"], 2, "expected utc, local"),
        (&["--prices", "s.jsonl"], 1, "--print-prices"),
        (&["--prices", "none.toml"], 1, "none.toml"),
        (&["00000000-0000-4000-8000-000000000000"], 1, "00000000"),
    ] {
        let args = [&["cost"], args].concat();
        place.run(&args).fails(status, &[said]);
    }
}

//! `annals ls`: sessions as a table and as JSON, filters, and what is refused.

use annals::OpenOptions;
use annals::store_rocks::Options;
use annals_testkit::generators::objects;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::support::Place;

const PRICES: &str = "currency = \"USD\"\nas_of = \"2026-01-31\"\n[[price]]\nmodels = [\"model-1\"]\n\
    from = \"2026-01-01\"\ninput = 1000\ncache_read = 100\noutput = 2000\n";

/// A session with a sub-agent, or one of another project.
fn recording(session: &str, model: &str, with_sub_agent: bool) -> String {
    let line = |n: u8, at: &str, message: Value| {
        json!({ "type": if message["role"] == "user" { "user" } else { "assistant" },
            "uuid": format!("{session}-{n}"), "sessionId": session, "cwd": format!("/w/{session}"),
            "gitBranch": "main", "version": "2.1.0", "timestamp": at, "isSidechain": false, "message": message })
    };
    let says = |id: &str, input: u64| {
        json!({ "role": "assistant", "id": format!("{session}-{id}"), "model": model,
            "content": [{ "type": "text", "text": "Done" }],
            "usage": { "input_tokens": input, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
                "output_tokens": 2 } })
    };
    let person = |text: &str| json!({ "role": "user", "content": text });
    let mut lines = vec![
        line(
            1,
            "2026-01-02T10:00:00Z",
            person(&format!("# Task\n\nFix {session}")),
        ),
        line(2, "2026-01-02T10:05:00Z", says("m1", 10)),
    ];
    if with_sub_agent {
        let mut side = [
            line(3, "2026-01-02T10:06:00Z", person("Look there")),
            line(4, "2026-01-02T10:07:00Z", says("m2", 30)),
        ];
        for line in &mut side {
            line["isSidechain"] = json!(true);
            line["agentId"] = json!("helper");
        }
        lines.extend(side);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn place() -> Place {
    let place = Place::with_log();
    let files = [
        ("shop", recording("shop", "model-1", true)),
        ("blog", recording("blog", "model-2", false)),
    ];
    for (name, text) in files {
        let name = format!("{name}.jsonl");
        std::fs::write(place.path(&name), text).unwrap();
        place.run(&["import", "claude", &name, "--ended"]).ok();
    }
    std::fs::write(place.path("prices.toml"), PRICES).unwrap();
    place
}

/// Sessions as JSON.
fn sessions(place: &Place, args: &[&str]) -> Vec<Value> {
    let args = [&["ls", "--json", "--prices", "prices.toml"], args].concat();
    place.run(&args).ok().lines()
}

#[test]
fn a_log_without_sessions_says_how_to_record_them() {
    let place = Place::with_log();
    let printed = place.run(&["ls"]).ok().stdout;
    assert!(printed.contains("annals import"), "{printed}");
    assert!(place.run(&["ls", "--json"]).ok().stdout.is_empty());
}

#[test]
fn a_session_is_one_line_of_json() {
    let place = place();
    let all = sessions(&place, &[]);
    assert_eq!(all.len(), 2);
    let shop = &all[0];
    let expected = json!({
        "agent": "claude", "agent_version": "2.1.0", "agent_session": "shop", "project": "/w/shop",
        "branch": "main", "title": "Fix shop", "status": "idle", "started": "2026-01-02T10:00:00Z",
        "last_activity": "2026-01-02T10:07:00Z", "active_ms": 300_000, "prompts": 1, "answers": 1,
        "models": ["model-1"], "cost": 0.048, "unpriced_tokens": 0, "total_tokens": 44,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&shop[name], value, "{name}");
    }
    let helper = &shop["sub_agents"][0];
    assert_eq!(
        (&helper["title"], &helper["agent_session"]),
        (&json!("Look there"), &json!("helper"))
    );
    assert_eq!(helper["parent"], shop["id"]);
    // A cost that is not known is none.
    assert_eq!(all[1]["title"], "Fix blog");
    assert_eq!(all[1]["cost"], Value::Null);
    assert_eq!(all[1]["unpriced_tokens"], 12);
}

#[test]
fn filters_and_orders_choose_sessions() {
    let place = place();
    let titles = |args: &[&str]| {
        let sessions = sessions(&place, args);
        let titles = sessions
            .iter()
            .map(|it| it["title"].as_str().unwrap().to_owned());
        titles.collect::<Vec<_>>()
    };
    for (args, expected) in [
        (&["--project", "shop"][..], &["Fix shop"][..]),
        (&["--project", "/w"], &["Fix shop", "Fix blog"]),
        (&["--agent", "codex"], &[]),
        (&["--model", "model-2"], &["Fix blog"]),
        (&["--text", "BLOG fix"], &["Fix blog"]),
        (&["--since", "2026-01-02T10:06:00Z"], &["Fix shop"]),
        (&["--until", "2026-01-01"], &[]),
        (&["--sort", "title"], &["Fix blog", "Fix shop"]),
        (&["--sort", "title", "--reverse"], &["Fix shop", "Fix blog"]),
        (&["--sort", "tokens", "-n", "1"], &["Fix shop"]),
        (&["--sub-agents", "--text", "look"], &["Look there"]),
        (&["--waiting"], &[]),
        (&["--failed"], &[]),
        (&["--touched", "*.rs"], &[]),
        (&["--at", "1"], &[]),
        (
            &["--on", "2026-01-02", "--time-zone", "utc"],
            &["Fix shop", "Fix blog"],
        ),
        (&["--on", "2026-01-03", "--time-zone", "utc"], &[]),
        (&["--min-cost", "0.048"], &["Fix shop"]),
        (&["--min-cost", "$0.05"], &[]),
        // The cost of the other session is not known.
        (&["--max-cost", "0.048"], &["Fix shop"]),
        (&["--max-cost", "0.047"], &[]),
    ] {
        assert_eq!(titles(args), expected, "{args:?}");
    }
    let table = place.run(&["ls", "--prices", "prices.toml"]).ok().stdout;
    assert!(
        table.contains("Fix shop") && table.contains("$0.05"),
        "{table}"
    );
    let none = place.run(&["ls", "--agent", "codex"]).ok().stdout;
    assert!(none.contains("No session matches"), "{none}");
}

#[test]
fn an_order_a_day_and_an_amount_that_are_not_known_are_refused() {
    let place = Place::with_log();
    for args in [
        ["--sort", "size"],
        ["--on", "7d"],
        ["--on", "12:00"],
        ["--min-cost", "-1"],
        ["--max-cost", "free"],
    ] {
        let refused = place.run(&[&["ls"][..], &args].concat());
        assert_eq!(refused.status, 2, "{args:?}");
    }
}

/// What an upgrade leaves: rows of another form, which are behind by the whole log.
#[test]
fn rows_that_are_far_behind_are_written_by_the_first_command_that_lists() {
    let place = Place::empty();
    let store = Options::default().with_sync(false);
    let options = OpenOptions::new().create(true).store(store);
    let annals = options.open(place.log_dir().to_str().unwrap()).unwrap();
    // Past the annals' own commands, which keep the rows up to date.
    for append in objects::sample(7, 30_000).appends() {
        block_on(annals.log().append(append)).unwrap();
    }
    let whole = annals.position().0;
    // A writer that closes folds two pages of them.
    assert!(whole > 22_500, "{whole}");
    assert_eq!(block_on(annals.index().lag()).unwrap(), whole);
    block_on(annals.close());
    for arguments in [["ls", "--json"], ["cost", "--json"]] {
        place.run(&arguments).ok();
        let reader = OpenOptions::new().read_only(true);
        let reader = reader.open(place.log_dir().to_str().unwrap()).unwrap();
        assert_eq!(block_on(reader.index().lag()).unwrap(), 0);
        block_on(reader.close());
    }
}

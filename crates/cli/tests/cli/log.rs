//! `log`: what it shows, and what it leaves out.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::support::{Place, human, story, uuid};

fn positions(lines: &[Value]) -> Vec<u64> {
    lines
        .iter()
        .map(|line| line["position"].as_u64().unwrap())
        .collect()
}

#[test]
fn the_whole_log_in_either_direction() {
    let place = Place::with_log();
    let story = story(&place);
    let log = |args: &[&str]| place.run(&[&["log", "--json"], args].concat()).ok().lines();
    let all = log(&[]);
    let end = all.len() as u64;
    assert_eq!(positions(&all), (1..=end).collect::<Vec<u64>>());
    let mut backward = log(&["--backward"]);
    backward.reverse();
    assert_eq!(backward, all);
    assert_eq!(
        positions(&log(&["-n", "3", "--backward"])),
        [end, end - 1, end - 2]
    );
    assert_eq!(positions(&log(&["--limit", "2"])), [1, 2]);
    assert_eq!(log(&["--limit", "0"]), Vec::<Value>::new());

    let first = &all[0];
    assert_eq!(first["stream"], format!("intent-{}", story.intent));
    assert_eq!(
        (&first["version"], &first["event_type"]),
        (&json!(1), &json!("intent.submitted"))
    );
    assert_eq!(
        (&first["actor"]["kind"], &first["actor"]["id"]),
        (&json!("human"), &json!("ada"))
    );
    for field in ["recorded_at", "event_id", "batch_id", "summary"] {
        assert!(first[field].is_string(), "{first}");
    }

    let table = place.run(&["log"]).ok().stdout;
    assert_eq!(table.lines().count() as u64, end + 1);
    // The last digits in the table are an id that `show` takes.
    assert!(
        table.lines().nth(1).unwrap().contains("intent 00000001"),
        "{table}"
    );
}

#[test]
fn filters_narrow_it() {
    let place = Place::with_log();
    let story = story(&place);
    let log = |args: &[&str]| place.run(&[&["log", "--json"], args].concat()).ok().lines();
    let all = log(&[]);
    let of = |check: &dyn Fn(&Value) -> bool| -> Vec<Value> {
        all.iter().filter(|line| check(line)).cloned().collect()
    };
    let run = format!("run-{}", story.run);
    let runs = of(&|line| line["stream"] == run);
    assert!(runs.len() > 6);
    assert_eq!(log(&["--stream", &run]), runs);
    assert_eq!(log(&["--stream", &story.run[24..]]), runs);
    assert_eq!(
        log(&["--type", "run.created"]),
        of(&|line| line["event_type"] == "run.created")
    );
    assert_eq!(
        log(&["--stream", &run, "--type", "task.created"]),
        Vec::<Value>::new()
    );
    let ada = of(&|line| line["actor"]["id"] == "ada");
    assert!(!ada.is_empty() && ada.len() < all.len());
    assert_eq!(log(&["--actor", "ada"]), ada);
    assert_eq!(log(&["--actor", "human:ada"]), ada);
    assert_eq!(log(&["--actor", "agent:ada"]), Vec::<Value>::new());
    let share = place.run(&["log", "--stream", &story.patch_set]);
    share.fails(1, &["shares the stream of its run", "annals log history"]);
}

#[test]
fn since_goes_by_position_and_by_either_clock() {
    let place = Place::with_log();
    story(&place);
    let log = |args: &[&str]| place.run(&[&["log", "--json"], args].concat());
    let all = log(&[]).ok().lines();
    let end = all.len();
    assert_eq!(log(&["--since", "5"]).ok().lines(), all[4..]);
    let mut backward = log(&["--since", "5", "--backward"]).ok().lines();
    backward.reverse();
    assert_eq!(backward, all[4..]);
    assert_eq!(
        log(&["--since", &(end + 1).to_string()]).ok().lines(),
        Vec::<Value>::new()
    );
    log(&["--since", &(end + 2).to_string()]).fails(1, &["not there yet"]);

    // For any resolution of the clock: from the first event of that very moment on.
    let time = all[6]["recorded_at"].as_str().unwrap();
    let first = all
        .iter()
        .position(|line| line["recorded_at"] == time)
        .unwrap();
    assert_eq!(log(&["--since", time]).ok().lines(), all[first..]);
    assert_eq!(
        log(&["--since", "2999-01-01T00:00:00Z"]).ok().lines(),
        Vec::<Value>::new()
    );
    assert_eq!(log(&["--since", "1999-01-01T00:00:00Z"]).ok().lines(), all);
    let later = log(&["--since", "occurred:2026-01-03T00:00:00Z"])
        .ok()
        .lines();
    // All but the first happened, by their own clocks, when they were applied.
    assert_eq!(later, all[1..]);
}

#[test]
fn following_shows_what_is_there_and_then_what_comes() {
    let place = Place::with_log();
    place.accept(&[human(
        "create_intent",
        json!({ "id": uuid(1), "prompt": "p" }),
    )]);
    let mut child = place
        .command(&["log", "--follow", "--json", "--limit", "3"])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["position"], 1);
    for position in 2..=3 {
        place.accept(&[human("create_task", json!({ "title": "t" }))]);
        assert_eq!(next()["position"], position);
    }
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

#[test]
fn long_logs_are_read_page_by_page() {
    let place = Place::with_log();
    let line = human("create_pipeline", json!({ "id": uuid(2) })).to_string();
    let push = human(
        "push_frame",
        json!({ "pipeline": uuid(2), "kind": "checkpoint", "summary": "s" }),
    );
    let input = format!("{line}\n{}", format!("{push}\n").repeat(1_200));
    let answers = place.run_with(&["apply"], input).ok().lines();
    assert_eq!(answers[1_200]["frame_id"], 1_199);
    let log = |args: &[&str]| place.run(&[&["log", "--json"], args].concat()).ok().lines();
    assert_eq!(log(&[]).len(), 1_201);
    assert_eq!(positions(&log(&["--type", "pipeline.created"])), [1]);
    assert_eq!(
        positions(&log(&["-n", "2", "--backward", "--stream", &uuid(2)])),
        [1_201, 1_200]
    );
    assert_eq!(place.run(&["log"]).ok().stdout.lines().count(), 1_202);
    assert_eq!(
        place
            .run(&["history", &uuid(2)])
            .ok()
            .stdout
            .lines()
            .count(),
        1_202
    );
}

#[test]
fn a_subscription_goes_on_where_it_ended() {
    let place = Place::with_log();
    let create = |n: u64| {
        human(
            "create_intent",
            json!({ "id": uuid(n), "prompt": "Mend it" }),
        )
    };
    let take = |more: &[&str]| {
        let args = [&["log", "--subscription", "mailer", "--json"], more].concat();
        positions(&place.run(&args).ok().lines())
    };
    for n in 1..=3 {
        place.accept(&[create(n)]);
    }
    assert_eq!(take(&[]), [1, 2, 3]);
    assert_eq!(take(&[]), [0; 0]);
    place.accept(&[create(4)]);
    let listed = place.run(&["subscriptions", "--json"]).ok().json();
    assert_eq!(
        listed,
        json!({ "name": "mailer", "acknowledged": 3, "behind": 1 })
    );
    // What is left out was dealt with, too.
    assert_eq!(take(&["--type", "run.created"]), [0; 0]);
    assert_eq!(take(&[]), [0; 0]);
    let table = place.run(&["subscriptions"]).ok().stdout;
    assert!(
        table.contains("mailer") && table.contains("ACKNOWLEDGED"),
        "{table}"
    );
    // Its place outlives redactions.
    let redact = ["redact", "1", "--reason", "it leaked", "--actor", "ada"];
    place.run(&redact).ok();
    assert_eq!(take(&[]), [5]);
    place.run(&["subscriptions", "--drop", "mailer"]).ok();
    let unknown = place.run(&["subscriptions", "--drop", "mailer"]);
    unknown.fails(
        1,
        &[
            "there is no subscription mailer",
            "annals log subscriptions",
        ],
    );
    assert_eq!(take(&["--since", "3"]), [3, 4, 5]);
    let refused = place.run(&["log", "--subscription", "mailer", "--backward"]);
    refused.fails(2, &["--backward"]);
}

//! Tokens: the last line of a message counts, once.

use std::collections::BTreeMap;

use annals_domain::AnyEvent;
use annals_domain::run::Event as RunEvent;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::log::Log;
use super::recording::Recording;

fn text() -> serde_json::Value {
    json!({ "type": "text", "text": "x" })
}

#[test]
fn the_last_line_of_a_message_counts_once_and_kinds_are_kept_apart() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 20, 30, 1])
        .says("m1", text(), [10, 20, 30, 5])
        .says("m1", text(), [10, 20, 30, 9])
        .says("m2", text(), [1, 0, 0, 2]);
    let log = Log::of(&recording);
    assert_eq!(log.tokens(), [11, 20, 30, 11]);
    assert_eq!(log.count("run.usage_recorded"), 2);
}

#[test]
fn lines_of_two_messages_may_alternate() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 0, 0, 1])
        .says("m2", text(), [5, 0, 0, 1])
        .says("m1", text(), [10, 0, 0, 8])
        .says("m2", text(), [5, 0, 0, 3]);
    let log = Log::of(&recording);
    assert_eq!(log.tokens(), [15, 0, 0, 11]);
}

#[test]
fn a_message_that_grows_between_imports_is_recorded_by_differences() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 20, 30, 1])
        .says("m1", text(), [10, 20, 30, 5])
        .says("m1", text(), [10, 20, 30, 9]);
    let mut log = Log::empty();
    for (lines, output) in [(2, 1), (2, 1), (3, 5), (4, 9), (4, 9)] {
        log.grow(&recording, lines);
        assert_eq!(log.tokens(), [10, 20, 30, output], "{lines} lines");
    }
    assert_eq!(log.count("run.usage_recorded"), 3);
}

#[test]
fn tokens_that_shrink_between_imports_are_said() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 0, 0, 9])
        .says("m1", text(), [10, 0, 0, 4]);
    assert_eq!(Log::of(&recording).tokens(), [10, 0, 0, 4]);
    let mut log = Log::empty();
    log.grow(&recording, 2);
    log.grow(&recording, 3);
    assert_eq!(log.tokens(), [10, 0, 0, 9]);
    assert!(
        log.has_note("the log has more than the recording"),
        "{}",
        log.report
    );
}

#[test]
fn messages_without_tokens_record_none() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).says("m1", text(), [0; 4]);
    recording.says("m2", text(), [1; 4]).lines[2]["message"]["usage"] = json!(null);
    assert_eq!(Log::of(&recording).count("run.usage_recorded"), 0);
}

#[test]
fn a_message_may_grow_by_many_lines_between_imports() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go"));
    for output in 1..=200 {
        recording.says("m1", text(), [10, 0, 0, output]);
    }
    let mut log = Log::empty();
    for lines in [3, 201] {
        log.grow(&recording, lines);
    }
    assert_eq!(log.tokens(), [10, 0, 0, 200]);
}

/// A message with tokens that stay in a cache for an hour, and with a cost.
fn with_more(recording: &mut Recording) {
    let line = recording.lines.last_mut().unwrap();
    line["costUSD"] = json!(0.012_345_678_9);
    line["message"]["usage"]["cache_creation"] =
        json!({ "ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20 });
}

/// What the log has of the cache writes that stay for an hour, and of costs.
fn more_of(log: &Log) -> (u64, f64) {
    let mut sums = (0, 0.0);
    for entry in log.entries() {
        if let AnyEvent::Run(RunEvent::UsageRecorded(used)) = &entry.event {
            sums.0 += used.cache_write_1h_tokens;
            sums.1 += used.cost_usd.unwrap_or_default();
        }
    }
    sums
}

#[test]
fn what_stays_in_a_cache_for_an_hour_and_what_it_cost_is_recorded() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 20, 30, 9]);
    with_more(&mut recording);
    let log = Log::of(&recording);
    assert_eq!(log.tokens(), [10, 20, 30, 9]);
    assert_eq!(more_of(&log), (20, 0.012_345_679));
    assert_eq!(log.count("run.usage_recorded"), 1);
}

#[test]
fn what_older_versions_did_not_record_is_added_once() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 20, 30, 1])
        .says("m1", text(), [10, 20, 30, 9]);
    // As an older version left it: the same tokens, and nothing else of them.
    let mut log = Log::of(&recording);
    for lines in 1..=2 {
        let line = recording.lines.len() - lines;
        let mut of_line = recording.clone();
        of_line.lines.truncate(line + 1);
        with_more(&mut of_line);
        recording.lines[line] = of_line.lines[line].clone();
    }
    for _ in 0..3 {
        log.grow(&recording, recording.lines.len());
        assert_eq!(log.tokens(), [10, 20, 30, 9]);
        assert_eq!(more_of(&log), (20, 0.012_345_679));
        assert_eq!(log.count("run.usage_recorded"), 2);
    }
    // It goes on from there.
    recording.says("m1", text(), [10, 20, 30, 12]);
    with_more(&mut recording);
    log.grow(&recording, recording.lines.len());
    assert_eq!(log.tokens(), [10, 20, 30, 12]);
    assert_eq!(more_of(&log), (20, 0.012_345_679));
}

/// The searches of the web that a log has.
fn searches(log: &Log) -> u64 {
    let of = |event: &AnyEvent| match event {
        AnyEvent::Run(RunEvent::UsageRecorded(used)) => used.web_searches,
        _ => 0,
    };
    log.entries().iter().map(|entry| of(&entry.event)).sum()
}

/// They have a price of their own, and count once for a message, as its tokens do.
#[test]
fn searches_of_the_web_count_once() {
    let tools = |count: u64| json!({ "server_tool_use": { "web_search_requests": count, "web_fetch_requests": 1 } });
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 0, 0, 1]);
    with_usage(&mut recording, tools(1));
    recording.says("m1", text(), [10, 0, 0, 9]);
    with_usage(&mut recording, tools(3));
    recording.says("m2", text(), [10, 0, 0, 9]);
    with_usage(&mut recording, tools(2));
    let log = Log::of(&recording);
    assert_eq!((searches(&log), log.tokens()), (5, [20, 0, 0, 18]));
    // As an older version left it: with a cost, and without the searches.
    let mut old = Recording::of("s");
    old.user(json!("Go")).says("m1", text(), [10, 20, 30, 9]);
    with_more(&mut old);
    let mut log = Log::of(&old);
    let mut new = old.clone();
    with_usage(&mut new, tools(3));
    for _ in 0..2 {
        log.grow(&new, new.lines.len());
        assert_eq!((searches(&log), log.tokens()), (3, [10, 20, 30, 9]));
        assert_eq!(more_of(&log), (20, 0.012_345_679));
        assert_eq!(log.count("run.usage_recorded"), 2);
    }
    let mut none = Recording::of("s");
    none.user(json!("Go")).says("m1", text(), [0, 0, 0, 0]);
    with_usage(&mut none, tools(1));
    assert_eq!(searches(&Log::of(&none)), 1, "without tokens");
}

/// The usages of a log by model.
fn by_model(log: &Log) -> BTreeMap<String, [u64; 4]> {
    let mut models: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    for entry in log.entries() {
        if let AnyEvent::Run(RunEvent::UsageRecorded(used)) = &entry.event {
            let model = used.model.map(|model| entry.text(model).to_string());
            let sums = models.entry(model.unwrap_or_default()).or_default();
            let more = used.tokens();
            sums.iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more);
        }
    }
    models
}

/// Sets fields of the newest line's usage.
fn with_usage(recording: &mut Recording, fields: serde_json::Value) {
    let usage = &mut recording.lines.last_mut().unwrap()["message"]["usage"];
    for (name, value) in fields.as_object().unwrap() {
        usage[name] = value.clone();
    }
}

fn step(
    kind: &str,
    model: Option<&str>,
    [input, read, write, output]: [u64; 4],
) -> serde_json::Value {
    let mut step = json!({
        "type": kind, "input_tokens": input, "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write, "output_tokens": output,
    });
    if let Some(model) = model {
        step["model"] = json!(model);
    }
    step
}

#[test]
fn what_other_models_did_in_a_message_counts_under_their_names() {
    let advisor = |output| step("advisor_message", Some("advisor-1"), [500, 0, 0, output]);
    let own = |tokens| step("message", None, tokens);
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [4, 20, 30, 1]);
    with_usage(
        &mut recording,
        json!({ "iterations": [own([4, 20, 30, 1]), advisor(70)] }),
    );
    recording.says("m1", text(), [10, 20, 30, 9]);
    let steps = json!([
        own([4, 20, 30, 1]),
        advisor(70),
        own([6, 0, 0, 8]),
        advisor(5),
        step("compaction", None, [1_000, 0, 0, 3]),
        step("fallback_message", Some("another"), [10, 20, 30, 9]),
    ]);
    with_usage(&mut recording, json!({ "iterations": steps }));
    recording.says("m2", text(), [1, 0, 0, 2]);
    with_usage(&mut recording, json!({ "iterations": "none", "speed": 5 }));
    let expected = BTreeMap::from([
        ("model-1".to_owned(), [10 + 1_000 + 1, 20, 30, 9 + 3 + 2]),
        ("advisor-1".to_owned(), [1_000, 0, 0, 75]),
    ]);
    assert_eq!(by_model(&Log::of(&recording)), expected);
    // In pieces, and read again, it is the same.
    let mut log = Log::empty();
    for lines in [1, 2, 2, 3, 4, 4] {
        log.grow(&recording, lines);
    }
    assert_eq!(by_model(&log), expected);
    // A copy in a fork has nothing new.
    let mut fork = recording.clone();
    for line in &mut fork.lines {
        line["sessionId"] = json!("fork");
        line["uuid"] = json!(format!("fork-{}", line["uuid"]));
    }
    log.grow_any(&fork, 4);
    assert_eq!(by_model(&log), expected);
}

#[test]
fn what_was_served_faster_is_named_so() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).says("m1", text(), [1, 2, 3, 4]);
    with_usage(
        &mut recording,
        json!({ "speed": "fast", "service_tier": "standard" }),
    );
    recording.says("m2", text(), [5, 0, 0, 6]);
    with_usage(&mut recording, json!({ "speed": "standard" }));
    recording.says("m3", text(), [7, 0, 0, 8]);
    with_usage(
        &mut recording,
        json!({ "speed": null, "service_tier": "batch", "inference_geo": "global" }),
    );
    recording.says("m4", text(), [9, 0, 0, 1]);
    with_usage(
        &mut recording,
        json!({ "speed": "fast", "inference_geo": "us" }),
    );
    let log = Log::of(&recording);
    let expected = [
        ("model-1", [5, 0, 0, 6]),
        ("model-1-batch", [7, 0, 0, 8]),
        ("model-1-fast", [1, 2, 3, 4]),
        ("model-1-fast-us", [9, 0, 0, 1]),
    ];
    let expected = expected.map(|(model, tokens)| (model.to_owned(), tokens));
    assert_eq!(by_model(&log), BTreeMap::from(expected));
    // The run has the model's own name.
    let provenance = log
        .entries()
        .into_iter()
        .find_map(|entry| match &entry.event {
            AnyEvent::Run(RunEvent::ProvenanceRecorded(event)) => {
                Some(entry.text(event.model).to_string())
            }
            _ => None,
        });
    assert_eq!(provenance.as_deref(), Some("model-1"));
}

#[test]
fn a_log_of_an_older_version_adds_only_what_it_lacks() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 0, 0, 9]);
    // As an older version left it: it did not look at the speed, nor at the steps.
    let mut log = Log::of(&recording);
    let steps = json!([step("advisor_message", Some("advisor-1"), [5, 0, 0, 6])]);
    with_usage(
        &mut recording,
        json!({ "speed": "fast", "iterations": steps }),
    );
    for _ in 0..2 {
        log.grow(&recording, 2);
        let expected = [("advisor-1", [5, 0, 0, 6]), ("model-1", [10, 0, 0, 9])];
        let expected = expected.map(|(model, tokens)| (model.to_owned(), tokens));
        assert_eq!(by_model(&log), BTreeMap::from(expected));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A session is resumed and forked: files begin with copies of the lines of others. They come in any order, cut
    /// behind any message, and again.
    #[test]
    fn a_message_in_several_files_counts_once(
        messages in vec((1..4_usize, 1..50_u64), 1..6),
        forks in vec((0..20_usize, vec((1..4_usize, 1..50_u64), 0..3), any::<bool>()), 0..4),
        order in vec((0..5_usize, 0..40_usize), 1..8),
    ) {
        let mut expected: [u64; 4] = [0; 4];
        let mut base = Recording::of("s");
        base.user(json!("Go"));
        say(&mut base, "s", &messages, &mut expected);
        let mut all = vec![base];
        for (number, (lines, own, renames)) in forks.iter().enumerate() {
            let session = format!("fork{number}");
            let mut fork = Recording::of(&session);
            fork.user(json!("Go on"));
            // What it copies ends with a message, as programs write them.
            let copied = to_the_end_of_a_message(&all[0], *lines);
            let copies: Vec<_> = all[0].lines[..copied].to_vec();
            for mut line in copies {
                if *renames {
                    line["sessionId"] = json!(session);
                    line["uuid"] = json!(format!("{session}-{}", line["uuid"]));
                }
                fork.raw(line);
            }
            say(&mut fork, &session, own, &mut expected);
            all.push(fork);
        }
        let mut log = Log::empty();
        for (file, lines) in order {
            let recording = &all[file % all.len()];
            log.grow_any(recording, to_the_end_of_a_message(recording, lines));
        }
        for recording in &all {
            log.grow_any(recording, recording.lines.len());
        }
        prop_assert_eq!(log.tokens(), expected);
        let before = log.entries().len();
        for recording in all.iter().rev() {
            log.grow_any(recording, recording.lines.len());
        }
        prop_assert_eq!(log.entries().len(), before);
    }
}

/// So many lines, and the rest of the message that the last one is of.
fn to_the_end_of_a_message(recording: &Recording, lines: usize) -> usize {
    let id = |line: usize| recording.lines.get(line).map(|line| &line["message"]["id"]);
    let mut end = lines.min(recording.lines.len());
    while end > 0 && id(end).is_some_and(|it| !it.is_null()) && id(end) == id(end - 1) {
        end += 1;
    }
    end
}

/// Messages of so many lines, whose output grows from one to the next.
fn say(recording: &mut Recording, name: &str, messages: &[(usize, u64)], sum: &mut [u64; 4]) {
    for (number, (lines, tokens)) in messages.iter().enumerate() {
        let id = format!("{name}-m{number}");
        for line in 1..=*lines {
            let output = tokens * line as u64;
            recording.says(&id, text(), [*tokens, 2, 3, output]);
        }
        let more = [*tokens, 2, 3, tokens * *lines as u64];
        sum.iter_mut()
            .zip(more)
            .for_each(|(sum, more)| *sum += more);
    }
}

//! How many tokens the frames take.

use serde_json::{Value, json};

use super::log::Log;
use super::recording::{Recording, story};

const FIELD: &str = "frame.token_estimate (o200k_base over the text)";

fn counted(text: &str) -> Option<u64> {
    Some(bpe_openai::o200k_base().count(text) as u64)
}

/// The estimate and the data of the only frame whose summary begins so.
fn frame(log: &Log, summary: &str) -> (Option<u64>, Value) {
    let frames = log.estimates().into_iter();
    let mut found = frames.filter(|(said, ..)| said.starts_with(summary));
    let (_, estimate, data) = found.next().unwrap();
    assert!(found.next().is_none(), "{summary}");
    (estimate, data)
}

#[test]
fn a_frame_takes_the_tokens_of_its_whole_text() {
    let long = "A long thought about parsers. ".repeat(100);
    let mut recording = Recording::of("s");
    recording.user(json!("Add a cache")).text("m1", &long).says(
        "m2",
        json!({ "type": "thinking", "thinking": "Look first." }),
        [0; 4],
    );
    let log = Log::of(&recording);
    for (summary, text) in [
        ("Add a cache", "Add a cache"),
        ("A long thought", long.as_str()),
        ("Look first.", "Look first."),
    ] {
        let (estimate, data) = frame(&log, summary);
        assert_eq!(estimate, counted(text), "{summary}");
        assert_eq!(data["tokens_by"], "o200k_base");
    }
    assert!(counted(&long) > counted(&long[..500]));
    assert_eq!(log.fates(FIELD), [0, 3, 0], "{}", log.report);
}

#[test]
fn a_result_takes_the_tokens_of_its_texts() {
    let long = "line of a file\n".repeat(300);
    let image = json!({ "type": "image", "source": { "type": "base64", "data": "A".repeat(900) } });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let mut recording = Recording::of("s");
    recording.user(json!("Go"));
    for (id, content, is_error) in [
        ("whole", json!(long), false),
        (
            "parts",
            json!([text(&long), image, text("and more")]),
            false,
        ),
        ("failed", json!("no such file"), true),
        ("image", json!([image]), false),
        ("odd", json!({ "x": 1 }), false),
        ("empty", json!(""), false),
    ] {
        recording
            .calls(id, id, &format!("Tool-{id}"), json!({}))
            .result(id, content, is_error);
    }
    let log = Log::of(&recording);
    for (id, expected) in [
        ("whole", counted(&long)),
        ("parts", counted(&format!("{long}\nand more"))),
        ("failed", counted("no such file")),
        ("image", None),
        ("odd", None),
        ("empty", Some(0)),
    ] {
        let (estimate, data) = frame(&log, &format!("Tool-{id}"));
        assert_eq!(estimate, expected, "{id}");
        let by = expected.map(|_| "o200k_base");
        assert_eq!(data["tokens_by"].as_str(), by, "{id}");
    }
}

/// Only what was recorded is reported, and only what has a text is estimated.
#[test]
fn estimates_are_reported_once() {
    let story = story();
    let mut log = Log::of(&story);
    let frames = log.estimates();
    let with = frames.iter().filter(|(_, estimate, _)| estimate.is_some());
    let with = with.count() as u64;
    // All but the image.
    assert_eq!(with, frames.len() as u64 - 1);
    assert_eq!(log.fates(FIELD), [0, with, 0]);
    log.grow(&story, 99);
    assert_eq!(log.fates(FIELD), [0; 3]);
}

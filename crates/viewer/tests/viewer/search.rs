//! A search finds what `annals search` finds, with and without an index, as of any moment.

use std::time::{Duration, Instant};

use annals_viewer::ViewerOptions;
use serde_json::{Value, json};

use crate::support::{Answer, INTENT, Place, SCRIPT, TASK, Viewing, story, uuid};

fn positions(search: &Value) -> Vec<u64> {
    let hits = search["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["position"].as_u64().unwrap())
        .collect()
}

#[test]
fn words_are_found_by_the_index_and_by_looking_through_the_log() {
    let place = Place::new();
    story(&place);
    let with = Viewing::of(&place);
    let without = Viewing::with(&place, ViewerOptions::new(([127, 0, 0, 1], 0).into()));
    for query in [
        "cache",
        "cache%20parser",
        "%22add%20a%20cache%22",
        "cach*",
        "cargo",
    ] {
        let address = format!("/search?q={query}&limit=200");
        let (by_index, by_log) = (with.data(&address), without.data(&address));
        assert_eq!(
            (&by_index["by_index"], &by_log["by_index"]),
            (&json!(true), &json!(false))
        );
        let (mut found, mut scanned) = (positions(&by_index), positions(&by_log));
        found.sort_unstable();
        scanned.sort_unstable();
        assert!(!found.is_empty(), "{query}");
        assert_eq!(found, scanned, "{query}");
    }
    let none = with.data("/search?q=nothinglikeit");
    assert_eq!(none["count"], 0);
}

#[test]
fn what_was_found_is_text_with_its_words_marked_and_leads_to_its_object() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let search = viewing.data("/search?q=%22add%20a%20cache%22");
    let hit = &search["hits"][0];
    assert_eq!(hit["object"]["id"], uuid(INTENT));
    let marked: Vec<&str> = hit["snippet"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|piece| piece["mark"] == true)
        .map(|piece| piece["text"].as_str().unwrap())
        .collect();
    assert_eq!(marked.concat().replace(' ', ""), "Addacache");
    let page = viewing.get("/search?q=%22add%20a%20cache%22").body;
    assert!(page.contains("<mark>"), "{page}");
    assert!(!page.contains(SCRIPT), "{page}");
    assert!(page.contains("&lt;script&gt;"), "{page}");
    let address = format!("/sessions/{}?from=1#turn-", uuid(TASK));
    assert!(page.contains(&address), "{page}");
}

#[test]
fn a_search_is_of_a_moment_and_goes_on_in_parts() {
    let place = Place::new();
    story(&place);
    let before = place.annals.position().0;
    for n in 0..7 {
        place.human(
            "create_intent",
            json!({ "prompt": format!("A zebra, the {n}th") }),
        );
    }
    let viewing = Viewing::of(&place);
    let mut found = Vec::new();
    let mut from = Some(0);
    while let Some(part) = from {
        let search = viewing.data(&format!("/search?q=zebra&newest=1&limit=3&from={part}"));
        found.extend(positions(&search));
        from = search["next"].as_u64();
    }
    let expected: Vec<u64> = (before + 1..=before + 7).rev().collect();
    assert_eq!(found, expected);
    let at = before + 3;
    let then = viewing.data(&format!("/search?q=zebra&newest=1&at={at}"));
    assert_eq!(positions(&then), [before + 3, before + 2, before + 1]);
    let of_tasks = viewing.data("/search?q=zebra&kind=task");
    assert_eq!(of_tasks["count"], 0);
}

/// The suggestions for words, once the index is made.
fn suggestions(viewing: &Viewing, query: &str) -> Value {
    let began = Instant::now();
    loop {
        let list = viewing.data(&format!("/search/suggestions?{query}"));
        if list["index"] == "current" {
            return list;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{list}");
        assert_eq!(list["is_growing"], true, "{list}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Follows a link to a turn, which leads to the part of the conversation with it.
fn follow(viewing: &Viewing, address: &str) -> (String, Answer) {
    let answer = viewing.get(address);
    assert_eq!(answer.status, 303, "{address}: {answer:?}");
    let place = answer.header("location").to_owned();
    let page = viewing.get(place.split('#').next().unwrap());
    assert_eq!(page.status, 200, "{place}");
    (place, page)
}

#[test]
fn suggestions_lead_to_turns() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let list = suggestions(&viewing, "q=cargo%20te");
    let session = &list["sessions"][0];
    assert_eq!(session["id"], uuid(TASK), "{list}");
    let turn = &session["turns"][0];
    let marked: Vec<&Value> = turn["snippet"].as_array().unwrap().iter().collect();
    let marked = marked.iter().filter(|piece| piece["mark"] == true);
    let marked: Vec<&str> = marked
        .map(|piece| piece["text"].as_str().unwrap())
        .collect();
    assert_eq!(marked, ["cargo", "test"], "{list}");
    let position = turn["position"].as_u64().unwrap();
    let address = turn["address"].as_str().unwrap();
    let session = format!("/sessions/{}", uuid(TASK));
    assert_eq!(address, format!("{session}?position={position}"));
    let (of_turn, page) = follow(&viewing, address);
    let (page_address, id) = of_turn.split_once('#').unwrap();
    assert_eq!(page_address, format!("{session}?from=1"));
    assert!(page.body.contains(&format!("id=\"{id}\"")), "{id}");
    let at = position + 1;
    let then = suggestions(&viewing, &format!("q=cargo%20te&at={at}"));
    let address = then["sessions"][0]["turns"][0]["address"].as_str();
    assert_eq!(
        address.unwrap(),
        format!("{session}?position={position}&at={at}")
    );
    let (of_turn, _) = follow(&viewing, address.unwrap());
    assert!(of_turn.contains(&format!("at={at}")), "{of_turn}");
    let before = suggestions(&viewing, "q=cargo%20te&at=5");
    assert_eq!(before["sessions"], json!([]));
    let of_api = viewing.get(&format!("/api/v1{session}?position={position}"));
    assert!(
        of_api
            .header("location")
            .starts_with(&format!("/api/v1{session}?from="))
    );
    let beyond = viewing.get(&format!(
        "{session}?position={position}&at={}",
        position - 1
    ));
    assert_eq!(beyond.status, 404);
    assert_eq!(viewing.get(&format!("{session}?position=x")).status, 400);
}

#[test]
fn suggestions_are_a_part_of_a_page_in_which_text_stays_text() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    suggestions(&viewing, "q=cache");
    let part = viewing.get("/search/suggestions?q=add%20a%20ca").body;
    assert!(!part.contains("<html") && !part.contains("<head"), "{part}");
    assert!(
        !part.contains(SCRIPT) && !part.contains("<script"),
        "{part}"
    );
    assert!(part.contains("&lt;script&gt;"), "{part}");
    assert!(part.contains("<mark>cache</mark>"), "{part}");
    assert!(part.contains("href=\"/search?q=add%20a%20ca\""), "{part}");
    let none = viewing.get("/search/suggestions?q=nothinglikeit").body;
    assert!(none.contains("No turn has these words."), "{none}");
    for (typed, words) in [
        ("%22add%20a%20ca", "<mark>"),
        ("-cache", "name a word that must"),
        ("--", "There is no word in"),
        ("%22", "There is no word in"),
        ("", "All results"),
        ("%3Cscript%3E", "All results for “&lt;script&gt;”"),
    ] {
        let part = viewing.get(&format!("/search/suggestions?q={typed}"));
        assert_eq!(part.status, 200, "{typed}");
        assert!(part.body.contains(words), "{typed}: {part:?}");
    }
}

#[test]
fn without_an_index_nothing_is_suggested_and_the_log_is_not_read() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::with(&place, ViewerOptions::new(([127, 0, 0, 1], 0).into()));
    let list = viewing.data("/search/suggestions?q=cache");
    assert_eq!(
        (&list["index"], &list["sessions"]),
        (&json!("off"), &json!([]))
    );
    let part = viewing.get("/search/suggestions?q=cache").body;
    assert!(
        part.contains("No search index is kept of this log."),
        "{part}"
    );
    assert!(part.contains("href=\"/search?q=cache\""), "{part}");
}

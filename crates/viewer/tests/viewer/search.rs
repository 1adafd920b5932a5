//! A search finds what `annals search` finds, with and without an index, as of any moment.

use annals_viewer::ViewerOptions;
use serde_json::{Value, json};

use crate::support::{INTENT, Place, SCRIPT, TASK, Viewing, story, uuid};

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

//! The tabs of a session: the same header on each, all below the session's address.

use annals::blocking::Wait;
use annals_viewer::ViewerOptions;
use serde_json::json;

use crate::support::{Place, RUN, SCRIPT, TASK, Viewing, story, uuid};

/// The tabs and the ends of their addresses.
const TABS: [(&str, &str); 6] = [
    ("Conversation", ""),
    ("Timeline", "/timeline"),
    ("Context", "/context"),
    ("Files", "/files"),
    ("History", "/history"),
    ("Proof", "/proof"),
];

#[test]
fn every_tab_has_the_header_and_the_tabs() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let session = format!("/sessions/{}", uuid(TASK));
    let position = place.annals.position();
    for at in [String::new(), format!("?at={position}")] {
        for (tab, path) in TABS {
            let page = viewing.get(&format!("{session}{path}{at}"));
            assert_eq!(page.status, 200, "{tab}: {}", page.body);
            let body = &page.body;
            assert!(body.contains("<h1><span class=\"dot "), "{tab}: {body}");
            assert!(body.contains("aria-current=\"page\">Sessions"), "{tab}");
            assert!(body.contains("<nav class=\"crumb\""), "{tab}");
            for (name, other) in TABS {
                let current = if name == tab {
                    " aria-current=\"page\""
                } else {
                    ""
                };
                let link = format!("<a href=\"{session}{other}{at}\"{current}>{name}");
                assert!(body.contains(&link), "{tab}: {link}: {body}");
            }
            assert!(
                !body.contains("/objects/") || tab == "Context",
                "{tab} leads to objects"
            );
        }
    }
}

#[test]
fn a_hostile_title_is_text_on_every_tab() {
    let place = Place::new();
    place.agent(
        "create_task",
        json!({ "id": uuid(TASK), "title": format!("Title {SCRIPT}\u{202e}") }),
    );
    place.agent(
        "create_run",
        json!({ "id": uuid(RUN), "task": uuid(TASK), "commit": "1".repeat(40) }),
    );
    place.agent(
        "record_tool_invocation",
        json!({ "run": uuid(RUN), "tool_name": SCRIPT, "args": { "command": SCRIPT }, "status": "ok", "duration_ms": 5, "result_summary": SCRIPT }),
    );
    let viewing = Viewing::of(&place);
    for (tab, path) in TABS {
        let page = viewing.get(&format!("/sessions/{}{path}", uuid(TASK)));
        assert_eq!(page.status, 200, "{tab}: {}", page.body);
        assert_eq!(page.body.matches("<script").count(), 1, "{tab}");
        assert!(page.body.contains("&lt;script&gt;"), "{tab}");
        assert!(!page.body.contains("<img"), "{tab}");
        assert!(!page.body.contains('\u{202e}'), "{tab}");
    }
}

#[test]
fn the_history_has_all_events_of_task_run_and_pipeline_page_by_page() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let address = format!("/sessions/{}/history", uuid(TASK));
    let positions = |query: &str| {
        let data = viewing.data(&format!("{address}?{query}"));
        let events = data["events"].as_array().unwrap().clone();
        let all: Vec<u64> = events
            .iter()
            .map(|it| it["position"].as_u64().unwrap())
            .collect();
        (all, data["next"].as_u64())
    };
    let (newest, end) = positions("limit=200");
    assert_eq!(end, None);
    assert!(
        newest.is_sorted_by(|a, b| a > b) && newest.len() > 10,
        "{newest:?}"
    );
    for order in ["newest", "oldest"] {
        let (mut paged, mut after) = (Vec::new(), String::new());
        loop {
            let (part, next) = positions(&format!("order={order}&limit=3{after}"));
            assert!(part.len() <= 3);
            paged.extend(part);
            let Some(next) = next else { break };
            after = format!("&after={next}");
        }
        if order == "oldest" {
            paged.reverse();
        }
        assert_eq!(paged, newest, "{order}");
    }
    let (earlier, _) = positions(&format!("at={}", newest[4]));
    assert_eq!(earlier[0], newest[4]);
    let page = viewing.get(&address).body;
    for words in ["tool call", "answer", "files changed", "run began"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("run.tool_invoked"), "{page}");
}

#[test]
fn the_proof_is_sound_only_by_a_checkpoint_that_covers_the_session() {
    let place = Place::new();
    story(&place);
    let address = format!("/sessions/{}/proof", uuid(TASK));
    let viewing = Viewing::of(&place);
    let data = viewing.data(&address);
    assert_eq!(data["state"], "unchecked");
    assert!(data["inclusion"]["root"].is_string(), "{data}");
    let page = viewing.get(&address).body;
    for part in [
        "Not checked",
        "annals proof verify",
        "is included in the tree",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let end = place.annals.position().0;
    for (size, state, words) in [(end, "sound", "Sound"), (3, "behind", "Checked in part")] {
        let checkpoint = place.annals.proofs().checkpoint(Some(size)).wait().unwrap();
        let file = place.dir.path().join("checkpoint");
        std::fs::write(&file, checkpoint.to_bytes()).unwrap();
        let mut options = ViewerOptions::new(([127, 0, 0, 1], 0).into());
        options.checkpoint = Some(file);
        let viewing = Viewing::with(&place, options);
        assert_eq!(viewing.data(&address)["state"], state);
        let page = viewing.get(&address).body;
        assert!(page.contains(words), "{words}: {page}");
        assert_eq!(
            page.contains(" verified</span>"),
            state == "sound",
            "{page}"
        );
    }
}

#[test]
fn objects_lead_to_their_session() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let link = format!("session <a href=\"/sessions/{}\">", uuid(TASK));
    for object in [TASK, RUN, crate::support::CALL, crate::support::PIPELINE] {
        let page = viewing.get(&format!("/objects/{}", uuid(object))).body;
        assert!(page.contains(&link), "{page}");
    }
}

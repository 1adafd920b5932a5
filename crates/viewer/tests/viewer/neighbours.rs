//! The links to the sessions beside a session follow the list of sessions.

use annals::Request;
use annals::blocking::Wait;
use annals::domain::{ActorRef, Command};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use crate::home::fill;
use crate::support::{Place, Viewing, uuid};

/// The address of a link with this data attribute.
fn link(page: &str, which: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("data-neighbour=\"{which}\" href=\""))?;
    let (address, _) = rest.split_once('"')?;
    Some(address.replace("&amp;", "&"))
}

#[test]
fn each_session_leads_to_those_beside_it_in_the_list() {
    let place = Place::new();
    let newest = fill(&place, 8);
    // Sessions with the same last activity, and a sub-agent session.
    let same: DateTime<Utc> = newest - TimeDelta::hours(12);
    let give = |name: &str, fields: serde_json::Value| {
        let command = Command::from_json(name, &fields.to_string()).unwrap();
        let mut request = Request::new(ActorRef::agent("coder"), command);
        request.at = Some(same.into());
        place.annals.execute(request).wait().unwrap();
    };
    let used = |run: &str| json!({ "run": run, "model": "claude-opus-4-5", "uncached_input_tokens": 1_000, "output_tokens": 10 });
    for number in 0..3_u64 {
        let (task, run) = (uuid(0xd000 + number), uuid(0xe000 + number));
        let title = format!("Same {number}");
        give("create_task", json!({ "id": task, "title": title }));
        give("create_run", json!({ "id": run, "task": task }));
        give("record_usage", used(&run));
    }
    let (child, run) = (uuid(0xd100), uuid(0xe100));
    let below = json!({ "id": child, "title": "Below", "parent": uuid(0xd000) });
    give("create_task", below);
    give("create_run", json!({ "id": run, "task": child }));
    give("record_usage", used(&run));
    let viewing = Viewing::of(&place);
    let at = place.annals.position().0;
    for (end, list) in [
        (String::new(), "/sessions?limit=200".to_owned()),
        (format!("?at={at}"), format!("/sessions?limit=200&at={at}")),
    ] {
        let list = viewing.data(&list);
        let ids: Vec<&str> = list["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|session| session["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids.len(), 11, "{ids:?}");
        for (index, id) in ids.iter().enumerate() {
            for tab in ["", "/files", "/proof"] {
                let page = viewing.get(&format!("/sessions/{id}{tab}{end}")).body;
                let expected = |index: Option<usize>| {
                    let other = ids.get(index?)?;
                    Some(format!("/sessions/{other}{tab}{end}"))
                };
                assert_eq!(
                    link(&page, "previous"),
                    expected(index.checked_sub(1)),
                    "{index}{tab}"
                );
                assert_eq!(
                    link(&page, "next"),
                    expected(Some(index + 1)),
                    "{index}{tab}"
                );
            }
        }
        let page = viewing.get(&format!("/sessions/{child}{end}")).body;
        assert_eq!((link(&page, "previous"), link(&page, "next")), (None, None));
    }
    let keys = viewing.get("/").body;
    assert!(
        keys.contains("<kbd>Shift J, Shift K</kbd></dt><dd>next, previous session"),
        "{keys}"
    );
}

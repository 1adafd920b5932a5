//! What a page shows of a moment is what the library, and so `--at`, shows of it.

use annals::blocking::Wait;
use annals::event_log::Position;
use annals::projections::ObjectView;
use annals::{Annals, At, ViewError};
use serde_json::Value;
use uuid::Uuid;

use crate::support::{INTENT, PATCH_SET, PIPELINE, PLAN, Place, RUN, TASK, Viewing, story, uuid};

fn expected(annals: &Annals, id: &str, at: u64) -> Option<Value> {
    let id: Uuid = id.parse().unwrap();
    match annals.view_at(id, At::Position(Position(at))).wait() {
        Ok(view) => Some(serde_json::from_str(&view.to_json().unwrap()).unwrap()),
        Err(ViewError::NotYet { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_object_at_every_position_is_as_the_library_folds_it() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let end = place.annals.position().0;
    for object in [INTENT, TASK, RUN, PATCH_SET, PIPELINE, PLAN].map(uuid) {
        let mut were = 0;
        for at in 0..=end {
            let answer = viewing.get(&format!("/api/v1/objects/{object}?at={at}"));
            match expected(&place.annals, &object, at) {
                None => assert_eq!(
                    (answer.status, answer.json()["code"].as_str()),
                    (404, Some("not_yet")),
                    "{object} at {at}"
                ),
                Some(view) => {
                    assert_eq!(answer.status, 200, "{object} at {at}: {}", answer.body);
                    let json = answer.json();
                    assert_eq!(json["data"]["object"], view, "{object} at {at}");
                    assert_eq!(json["position"], at);
                    were += 1;
                }
            }
        }
        assert!(were > 0, "{object} was never there");
    }
}

#[test]
fn a_version_is_the_position_of_that_event() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let run = uuid(RUN);
    let history = place
        .annals
        .history(run.parse::<Uuid>().unwrap())
        .wait()
        .unwrap();
    for entry in &history {
        let by_version = viewing.get(&format!("/api/v1/objects/{run}?version={}", entry.version));
        let by_position = viewing.get(&format!("/api/v1/objects/{run}?at={}", entry.position));
        assert_eq!(
            by_version.body, by_position.body,
            "version {}",
            entry.version
        );
    }
    let beyond = viewing.get(&format!(
        "/api/v1/objects/{run}?version=18446744073709551615"
    ));
    assert_eq!(beyond.status, 200, "the last one");
}

#[test]
fn rows_of_lists_are_as_they_were() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let end = place.annals.position().0;
    for (path, object) in [
        ("/runs", RUN),
        ("/tasks", TASK),
        ("/intents", INTENT),
        ("/patch-sets", PATCH_SET),
    ] {
        for at in 1..=end {
            let list = viewing.data(&format!("{path}?at={at}"));
            let rows = list["rows"].as_array().unwrap();
            let row = rows.iter().find(|row| row["id"] == uuid(object).as_str());
            let id: Uuid = uuid(object).parse().unwrap();
            let status = match place.annals.view_at(id, At::Position(Position(at))).wait() {
                Ok(ObjectView::Run(run)) => Some(run.status().name().to_owned()),
                Ok(ObjectView::Task(task)) => Some(task.status().name().to_owned()),
                Ok(ObjectView::Intent(intent)) => Some(intent.status().to_string()),
                Ok(ObjectView::PatchSet(patch_set)) => Some(patch_set.status().to_string()),
                _ => None,
            };
            let shown = row.map(|row| row["status"].as_str().unwrap().to_owned());
            assert_eq!(shown, status, "{path} at {at}");
        }
    }
}

#[test]
fn a_time_is_the_last_position_by_then() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    for position in [1, 7, place.annals.position().0] {
        let record = place
            .annals
            .contents()
            .record(Position(position))
            .wait()
            .unwrap()
            .unwrap();
        let time = record
            .recorded_at()
            .to_rfc3339_opts(chrono::SecondsFormat::Nanos, true);
        let found = viewing.get(&format!("/api/v1/overview?at={time}")).json();
        let found = found["position"].as_u64().unwrap();
        let at = place
            .annals
            .contents()
            .record(Position(found))
            .wait()
            .unwrap()
            .unwrap();
        assert_eq!(
            at.recorded_at(),
            record.recorded_at(),
            "{position}: {found}"
        );
        assert!(found >= position);
    }
    let before = viewing
        .get("/api/v1/overview?at=1999-01-01T00:00:00Z")
        .json();
    assert_eq!(before["position"], 0);
}

/// Every page and every address of the API that is of a moment.
fn addresses() -> Vec<String> {
    let [intent, run, patch_set] = [INTENT, RUN, PATCH_SET].map(uuid);
    let pages = [
        "/sessions?q=cache",
        "/sessions/@last",
        "/sessions/@last/turns",
        "/sessions/@last/find?q=cache",
        "/sessions/@last/files",
        "/sessions/@last/timeline",
        "/sessions/@last/context",
        "/sessions/@last/history",
        "/sessions/@last/proof",
        "/overview",
        "/decisions",
        "/search?q=cache",
        "/log",
        "/intents",
        "/runs",
    ];
    let of_objects = [
        format!("/objects/{run}"),
        format!("/objects/{run}/history"),
        format!("/objects/{intent}/tree"),
        format!("/objects/{run}/timeline"),
        format!("/objects/{run}/window"),
        format!("/objects/{patch_set}/diff"),
        format!("/compare?a={run}&b={run}"),
    ];
    let pages: Vec<String> = pages
        .map(str::to_owned)
        .into_iter()
        .chain(of_objects)
        .collect();
    let api = pages.iter().map(|page| format!("/api/v1{page}"));
    api.chain(pages.clone()).chain(["/".to_owned()]).collect()
}

fn with_at(address: &str, at: &str) -> String {
    let sign = if address.contains('?') { '&' } else { '?' };
    format!("{address}{sign}at={at}")
}

#[test]
fn every_address_takes_the_names_of_times() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let end = place.annals.position().0;
    let tomorrow = chrono::Utc::now() + chrono::TimeDelta::days(2);
    let tomorrow = tomorrow.format("%Y-%m-%d").to_string();
    for address in addresses() {
        let known = viewing.get(&with_at(&address, &end.to_string()));
        assert_eq!(known.status, 200, "{address}: {}", known.body);
        for name in ["0m", &tomorrow, "today", "2100-01-01T00:00:00Z"] {
            let found = viewing.get(&with_at(&address, name));
            assert_eq!(found.status, 200, "{address} at {name}: {}", found.body);
            if address.starts_with("/api") {
                assert_eq!(found.json()["position"], end, "{address} at {name}");
            } else {
                assert!(
                    !found.body.contains(&format!("at={name}")),
                    "{address} keeps {name}"
                );
                assert!(
                    found.body.contains(&format!("at={end}")),
                    "{address} at {name}"
                );
            }
        }
        // Nothing had been recorded by then: an empty page, or no such object yet.
        for name in ["2d", "yesterday", "1999-01-01", "1999-01-01%2014:30"] {
            let found = viewing.get(&with_at(&address, name));
            assert!([200, 404].contains(&found.status), "{address} at {name}");
        }
        for name in ["soon", "25:00", "2026-13-01"] {
            let refused = viewing.get(&with_at(&address, name));
            assert_eq!(refused.status, 400, "{address} at {name}");
            for form in ["2026-01-31", "yesterday", "14:30", "2d", "position"] {
                assert!(refused.body.contains(form), "{address}: {}", refused.body);
            }
        }
    }
}

#[test]
fn now_is_no_past_moment() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let now = viewing.get("/overview?at=now");
    assert_eq!(now.status, 200, "{}", now.body);
    assert!(!now.body.contains("As of event"), "it is live");
    assert!(!now.body.contains("at=now"), "no link keeps the name");
}

#[test]
fn dates_of_filters_and_costs_take_the_same_names() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let names = [
        "yesterday",
        "today",
        "now",
        "2d",
        "3h",
        "90m",
        "14:30",
        "2026-01-31",
        "2026-01-31T12:00:00Z",
    ];
    for parameter in [
        "/sessions?date",
        "/sessions?since",
        "/sessions?until",
        "/costs?since",
        "/costs?until",
        "/costs?zone=utc&since",
    ] {
        for name in names {
            let found = viewing.get(&format!("/api/v1{parameter}={name}"));
            assert_eq!(found.status, 200, "{parameter}={name}: {}", found.body);
        }
        let refused = viewing.get(&format!("/api/v1{parameter}=soon"));
        assert_eq!(refused.status, 400, "{parameter}");
        for form in ["soon", "2026-01-31", "yesterday", "14:30", "2d"] {
            assert!(refused.body.contains(form), "{parameter}: {}", refused.body);
        }
    }
}

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

//! Of all processes that write to a log on PostgreSQL one keeps the catalogue's rows current. Where it is killed, another
//! one takes over when the lease has ended.

use std::time::{Duration, Instant};

use annals::domain::ActorRef;
use annals::domain::intent::CreateIntent;
use annals::{Annals, OpenOptions, Request};
use annals_testkit::postgres::Server;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::applying::Applying;
use crate::postgres::{place, server};
use crate::support::{Place, human};

/// Events that the rows lack: a process that leads writes rows after some thousand of them, and not before.
const BEHIND: usize = 7_000;
const BATCH: usize = 1_000;

/// A log with many events and no rows of any read model, as one has that was restored without them.
fn far_behind(server: &Server, place: &Place) {
    place.run(&["init"]).ok();
    let annals: Annals = OpenOptions::new().open(place.log()).unwrap();
    let create = |number| {
        let prompt = format!("request {number}");
        Request::new(ActorRef::human("ada"), CreateIntent::new(prompt))
    };
    for _ in 0..BEHIND / BATCH {
        let requests = (0..BATCH).map(create).collect();
        block_on(annals.execute_batch(None, requests)).unwrap();
    }
    block_on(annals.close());
    let nothing = "DELETE FROM {s}.model_rows; DELETE FROM {s}.models; DELETE FROM {s}.leases";
    sql(server, place, nothing);
}

/// Has the server do something with the schema of a place's log.
fn sql(server: &Server, place: &Place, text: &str) -> String {
    let (_, schema) = place.log().split_once("schema=").unwrap();
    server.sql("tests", &text.replace("{s}", schema)).unwrap()
}

fn create() -> Value {
    human("create_intent", json!({ "prompt": "one more" }))
}

#[test]
fn the_catalogue_is_kept_current_by_another_process_when_the_one_that_did_is_killed() {
    let (Some(server), Some(place)) = (server(), place()) else {
        return;
    };
    far_behind(server, &place);
    let sql = |text: &str| sql(server, &place, text);
    let leader = || sql("SELECT holder FROM {s}.leases WHERE name LIKE 'model catalogue.%'");
    let kept =
        || sql("SELECT coalesce(max(position), 0) FROM {s}.models WHERE model LIKE 'catalogue.%'");
    let [mut first, mut second] = [(); 2].map(|()| Applying::start(&place, place.log()));
    first.execute(&create());
    let of_first = leader();
    assert!(!of_first.is_empty(), "nobody leads");
    second.execute(&create());
    assert_eq!(leader(), of_first, "one leads");
    first.kill();
    for _ in 0..5 {
        second.execute(&create());
    }
    assert_eq!(leader(), of_first, "its lease lasts");
    assert_eq!(kept(), "0", "who follows writes no rows");
    // A lease of the program's lasts ten seconds: this one has less left. The second process asks again when a third of
    // that has passed since it last did.
    sql(
        "UPDATE {s}.leases SET held_until = clock_timestamp() + interval '0.5 seconds'
            WHERE name LIKE 'model catalogue.%'",
    );
    let begun = Instant::now();
    while leader() == of_first {
        assert!(begun.elapsed() < Duration::from_secs(120), "nobody leads");
        second.execute(&create());
        std::thread::sleep(Duration::from_millis(100));
    }
    // It folds two thousand events after each of its own.
    for _ in 0..BEHIND / 2_000 + 1 {
        second.execute(&create());
    }
    let now = kept().parse::<usize>().unwrap();
    assert!(now > BEHIND / 3, "the rows have {now} events");
    second.end();
    assert_eq!(leader(), "", "who ends lets others lead");
    let doctor = place.run(&["doctor"]).ok().stdout;
    assert!(doctor.contains("it has everything"), "{doctor}");
    assert_eq!(place.run(&["verify", "--json"]).ok().json()["ok"], true);
}

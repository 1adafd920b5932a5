//! One of several processes leads, and another takes over when it dies.

use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, ReadModels};
use annals_store_postgres::PostgresLog;
use annals_testkit::postgres::{Server, Setup};
use annals_testkit::process::assert_within;
use futures::executor::block_on;

use crate::support::{DATABASE, server, settings};

#[test]
fn one_leads_until_it_gives_up_or_dies() {
    let Some(server) = server() else { return };
    let settings = settings(server, DATABASE, "");
    let one = PostgresLog::create(&settings).unwrap();
    let two = PostgresLog::open(&settings).unwrap();
    // On a busy machine a step may take seconds.
    let lasts = Duration::from_secs(12);
    let (first, second) = (one.lease("catalogue", lasts), two.lease("catalogue", lasts));
    assert!(block_on(first.take()).unwrap());
    assert!(!block_on(second.take()).unwrap());
    assert!(block_on(first.take()).unwrap(), "it is renewed");
    assert!(
        block_on(two.lease("search", lasts).take()).unwrap(),
        "another name is another lease"
    );
    block_on(first.give_back()).unwrap();
    assert!(block_on(second.take()).unwrap());
    // The second dies without a word.
    drop(second);
    assert!(!block_on(first.take()).unwrap());
    thread::sleep(lasts + Duration::from_millis(200));
    assert!(block_on(first.take()).unwrap());
}

#[test]
fn one_process_keeps_a_read_model_current_for_all() {
    let Some(server) = server() else { return };
    // On a busy machine a step may take seconds.
    let lasts = Duration::from_secs(12);
    let settings = settings(server, DATABASE, "").with_leading_lasts(lasts);
    let one = PostgresLog::create(&settings).unwrap();
    let two = PostgresLog::open(&settings).unwrap();
    let three = PostgresLog::open(&settings).unwrap();
    let leads = |log: &PostgresLog| block_on(log.leads("catalogue.1"));
    assert!(leads(&one) && leads(&one));
    assert!(!leads(&two) && !leads(&three));
    assert!(
        block_on(two.leads("costs.1")),
        "each model has its own leader"
    );
    // Once it closes the log, the next one that asks leads; the answer of before is good for a third of the time.
    block_on(one.close());
    assert!(!leads(&one), "a log that is closed leads nothing");
    thread::sleep(lasts / 3 + Duration::from_millis(50));
    assert!(leads(&three));
    // That one dies without a word.
    std::mem::forget(three);
    thread::sleep(lasts / 3 + Duration::from_millis(50));
    assert!(!leads(&two));
    thread::sleep(lasts);
    assert!(leads(&two));
    let reader = settings.with_access(annals_store_postgres::Access::ReadOnly);
    let reader = PostgresLog::open(&reader).unwrap();
    assert!(!block_on(reader.leads("another.1")));
}

/// To lead is worth no wait: a server that is away is asked once, and a log closes without it.
#[test]
fn who_leads_is_not_asked_for_long_while_the_server_is_away() {
    let Some(mut server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    let lasts = Duration::from_millis(300);
    let settings = settings(&server, "postgres", "&patience=3600").with_leading_lasts(lasts);
    let log = PostgresLog::create(&settings).unwrap();
    let models = ["catalogue.1", "costs.1", "search.1"];
    assert!(models.iter().all(|model| block_on(log.leads(model))));
    server.stop().unwrap();
    thread::sleep(lasts / 3);
    let begun = Instant::now();
    assert!(!block_on(log.leads("catalogue.1")));
    block_on(log.close());
    let took = begun.elapsed();
    assert_within(took, Duration::from_secs(8));
}

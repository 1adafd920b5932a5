//! More processes than the server has connections for: who finds no room waits for it, and is told so when patience ends.

use std::thread;
use std::time::Duration;

use annals_event_log::{Classified, ErrorClass, EventLog};
use annals_store_postgres::{Failure, OpenError, PostgresLog};
use annals_testkit::postgres::{Server, Setup};
use futures::executor::block_on;

use crate::support::{all, batch, settings};

#[test]
fn who_finds_no_connection_waits_for_one_and_harms_nobody() {
    let few = [
        ("max_connections", "8"),
        ("superuser_reserved_connections", "0"),
    ];
    let setup = Setup {
        settings: few
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        ..Setup::default()
    };
    let Some(server) = Server::or_say_not_run(&setup) else {
        return;
    };
    let settings = settings(&server, "postgres", "&connections=1&patience=0.5");
    let log = PostgresLog::create(&settings).unwrap();
    block_on(log.append(batch("a-1", 1))).unwrap();
    let mut others = Vec::new();
    let refused = loop {
        match PostgresLog::open(&settings) {
            Ok(other) => others.push(other),
            Err(OpenError::Server(failure)) => break failure,
            Err(other) => panic!("{other}"),
        }
        assert!(others.len() < 8, "more connections than the server has");
    };
    assert!(matches!(refused, Failure::Overloaded { .. }), "{refused}");
    assert_eq!(
        (refused.class(), refused.code()),
        (ErrorClass::Unavailable, "server_overloaded")
    );
    assert!(!others.is_empty());
    // Those that have their connections go on.
    block_on(log.append(batch("a-1", 1))).unwrap();
    assert_eq!(all(&others[0]).len(), 2);
    // There is room again, and it is found by one that waits.
    let patient = settings.clone().with_patience(Duration::from_secs(30));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| PostgresLog::open(&patient));
        thread::sleep(Duration::from_millis(500));
        assert!(!waiting.is_finished(), "there is no room for it");
        drop(others);
        let late = waiting.join().unwrap().unwrap();
        block_on(late.append(batch("a-1", 1))).unwrap();
    });
    assert_eq!(all(&log).len(), 3);
}

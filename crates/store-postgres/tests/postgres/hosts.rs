//! Hosts that take connections and say nothing, as servers do that are stopped or cut off behind something that answers
//! for them.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use annals_event_log::EventLog;
use annals_store_postgres::{Failure, OpenError, PostgresLog, Settings};
use annals_testkit::process::assert_within;
use futures::executor::block_on;

use crate::support::{DATABASE, batch, server, url};

/// A host for which the system takes connections, and where nobody answers; it ends with this.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[test]
fn a_host_that_says_nothing_is_passed_by() {
    let Some(server) = server() else { return };
    let (_listener, silent) = silent();
    let own = format!("127.0.0.1:{}/", server.port());
    let url =
        url(server, DATABASE, "&connect_timeout=0.2").replace(&own, &format!("{silent},{own}"));
    let settings = Settings::from_url(&url).unwrap();
    let begun = Instant::now();
    let log = PostgresLog::create(&settings).unwrap();
    block_on(log.append(batch("a-1", 1))).unwrap();
    let took = begun.elapsed();
    assert_within(took, Duration::from_secs(10));
}

#[test]
fn hosts_that_all_say_nothing_are_given_up_in_time() {
    let (_listener, silent) = silent();
    let url = format!("postgres://u:p@{silent}/d?connect_timeout=0.2&patience=0.1");
    let begun = Instant::now();
    match PostgresLog::open(&Settings::from_url(&url).unwrap()) {
        Err(OpenError::Server(Failure::Unreachable { .. })) => {}
        other => panic!("{other:?}"),
    }
    let took = begun.elapsed();
    assert_within(took, Duration::from_secs(10));
}

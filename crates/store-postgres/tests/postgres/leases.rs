//! One of several processes leads, and another takes over when it dies.

use std::thread;
use std::time::Duration;

use annals_store_postgres::PostgresLog;
use futures::executor::block_on;

use crate::support::{DATABASE, server, settings};

#[test]
fn one_leads_until_it_gives_up_or_dies() {
    let Some(server) = server() else { return };
    let settings = settings(server, DATABASE, "");
    let one = PostgresLog::create(&settings).unwrap();
    let two = PostgresLog::open(&settings).unwrap();
    let lasts = Duration::from_secs(2);
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

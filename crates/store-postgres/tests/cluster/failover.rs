//! A primary that is killed, with all its processes and at any moment, and a standby that is promoted: what was
//! acknowledged is there, and nobody has to open a log again.

use annals_testkit::postgres::Cluster;

use crate::scenario::fail_overs;
use crate::servers::{cluster, new_log};
use crate::support::DATABASE;

/// How often, if nothing else is said: a few times, in seconds.
const FAILOVERS: u64 = 3;

#[test]
fn a_primary_that_is_killed_under_load_loses_nothing_and_service_goes_on() {
    let Some(mut cluster) = cluster(&Default::default()) else {
        return;
    };
    let count = std::env::var("ANNALS_FAILOVERS").ok();
    let count = count.map_or(FAILOVERS, |count| count.parse().expect("a number"));
    let settings = new_log(&cluster.url(DATABASE), "");
    let lose = |cluster: &mut Cluster, n: usize| cluster.kill(n).unwrap();
    let find = |_: &mut Cluster, _: usize| {};
    fail_overs(&mut cluster, &settings, count, (&lose, &find));
}

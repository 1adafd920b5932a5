//! What happens to a cluster under load, and what must hold then, whatever cuts and kills.

use std::thread;
use std::time::Duration;

use annals_store_postgres::Settings;
use annals_testkit::postgres::{Address, Cluster, Server};

use crate::load::{Load, check};
use crate::servers::{addresses, impatient, new_log, settings};
use crate::support::DATABASE;

/// Limits by which what is cut off is given up within seconds: after the first, and 5 seconds more on this side.
pub(crate) const SHORT: &str = "&statement_timeout=1&lock_timeout=1&idle_in_transaction_timeout=2";

/// How long a cut lasts by which everything that is under way is given up.
const LASTS: Duration = Duration::from_secs(10);

/// Cuts the primary that a cluster begins with off, and joins it again.
pub(crate) struct Cuts<'a> {
    /// From clients.
    pub(crate) clients: &'a dyn Fn(bool),
    /// From its standbys.
    pub(crate) standbys: &'a dyn Fn(bool),
}

/// Lets what was under way come to its end; what was acknowledged then.
fn quiet(load: &Load) -> Vec<u64> {
    thread::sleep(Duration::from_millis(300));
    load.acknowledged()
}

/// What is done to a cluster, in which round.
pub(crate) type Step<'a> = &'a dyn Fn(&mut Cluster, usize);

/// The primary is lost under load so many times, and a standby takes its place.
pub(crate) fn fail_overs(
    cluster: &mut Cluster,
    settings: &Settings,
    count: u64,
    (lose, find): (Step<'_>, Step<'_>),
) {
    let told = settings.clone().with_notify(true);
    let load = Load::start(&[settings, &told, &impatient(settings)], &[settings, &told]);
    for n in 0..count {
        // At another moment of what they do each time.
        thread::sleep(Duration::from_millis(200 + 137 * n % 400));
        let old = cluster.primary();
        lose(cluster, old);
        let new = cluster.fail_over().unwrap();
        assert_ne!(new, old);
        load.await_progress(&load.acknowledged());
        find(cluster, old);
        cluster.rejoin(old).unwrap();
        cluster.await_standbys(2).unwrap();
    }
    let outcome = load.finish();
    println!(
        "{} batches, {count} primaries lost, {} repeats by callers; no writer waited longer than {:?}",
        outcome.answers.len(),
        outcome.repeats,
        outcome.longest
    );
    assert!(outcome.answers.len() > 100, "too little happened");
    check(settings, &[&outcome]);
}

/// Clients are cut off from the primary: nothing is acknowledged, and when they are joined again what is not known is settled
/// by repeating it.
pub(crate) fn cut_from_clients(url: &str, cuts: &Cuts<'_>) {
    let patient = new_log(url, SHORT);
    let load = Load::start(&[&patient, &impatient(&patient)], &[&patient]);
    load.await_progress(&load.acknowledged());
    (cuts.clients)(true);
    let before = quiet(&load);
    thread::sleep(LASTS);
    assert_eq!(load.acknowledged(), before, "what was cut off has answered");
    (cuts.clients)(false);
    load.await_progress(&before);
    let outcome = load.finish();
    println!(
        "{} batches, clients cut off from the primary for {LASTS:?}, {} repeats by callers",
        outcome.answers.len(),
        outcome.repeats
    );
    assert!(outcome.repeats > 0, "nobody was told of the cut");
    check(&patient, &[&outcome]);
}

/// The primary is cut off from both standbys, and lives. It acknowledges nothing, whatever is done to it, also while a
/// standby has taken its place; what it has stored and no other one has is appended there.
pub(crate) fn cut_from_standbys(cluster: &mut Cluster, url: &str, cuts: &Cuts<'_>) {
    let (old, addresses) = (cluster.primary(), addresses(cluster));
    let patient = new_log(url, SHORT);
    // No readers: what they see of the old primary can be gone later (`docs/postgres.md`).
    let load = Load::start(&[&patient, &impatient(&patient)], &[]);
    // Clients who know of no other server.
    let captive = cluster.url_by(&addresses[old..=old], DATABASE);
    let captive = impatient(&settings(&captive, &patient.log, SHORT));
    let captives = Load::start(&[&captive], &[]);
    load.await_progress(&load.acknowledged());
    captives.await_progress(&captives.acknowledged());

    (cuts.standbys)(true);
    let before = (quiet(&load), quiet(&captives));
    let mut disturbed = disturb(cluster.server(old));
    cluster.restart(old).unwrap();
    disturbed += disturb(cluster.server(old));
    let acknowledged: u64 = before.0.iter().chain(&before.1).sum();
    let stored = count_batches(cluster.server(old), &patient);
    assert!(
        stored > acknowledged,
        "the old primary has nothing by itself"
    );
    let now = (load.acknowledged(), captives.acknowledged());
    assert_eq!(now, before, "what no standby has is acknowledged");

    cluster.fail_over().unwrap();
    // Both take writes now.
    let others: Vec<Address> = (0..3)
        .filter(|n| *n != old)
        .map(|n| addresses[n].clone())
        .collect();
    let others = settings(&cluster.url_by(&others, DATABASE), &patient.log, SHORT);
    let load_of_others = Load::start(&[&others], &[&others]);
    load_of_others.await_progress(&load_of_others.acknowledged());
    disturbed += disturb(cluster.server(old));
    load_of_others.await_progress(&load_of_others.acknowledged());
    // Who has all servers in their URL finds the new primary, at the latest without the old one.
    (cuts.clients)(true);
    load.await_progress(&before.0);
    assert_eq!(
        captives.acknowledged(),
        before.1,
        "two primaries acknowledge"
    );

    cluster.kill(old).unwrap();
    let captives = captives.abandon();
    (cuts.clients)(false);
    (cuts.standbys)(false);
    cluster.rejoin(old).unwrap();
    cluster.await_standbys(2).unwrap();
    let (outcome, of_others) = (load.finish(), load_of_others.finish());
    println!(
        "{} and {} batches, {disturbed} waits for standbys cut short, {} batches that the old primary had by itself",
        outcome.answers.len() + captives.answers.len(),
        of_others.answers.len(),
        stored - acknowledged
    );
    assert!(disturbed > 0, "nobody waited for standbys");
    check(&others, &[&outcome, &captives, &of_others]);
}

/// Ends what waits for standbys, in both ways that an operator has.
fn disturb(server: &Server) -> u64 {
    let ways = ["pg_cancel_backend", "pg_terminate_backend"];
    let mut disturbed = 0;
    for way in ways.into_iter().cycle().take(10) {
        let text =
            format!("SELECT count({way}(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        let ended = server.sql("postgres", &text).unwrap();
        disturbed += ended.parse::<u64>().unwrap();
        thread::sleep(Duration::from_millis(150));
    }
    disturbed
}

/// The batches of a log that a server shows.
fn count_batches(server: &Server, settings: &Settings) -> u64 {
    let text = format!(
        "SELECT count(*) FROM annals.batches JOIN annals.logs USING (log) WHERE name = '{}'",
        settings.log
    );
    server.sql(DATABASE, &text).unwrap().parse().unwrap()
}

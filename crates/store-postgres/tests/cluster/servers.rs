//! The clusters of these tests, and logs on them.

use std::time::Duration;

use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::postgres::{Address, Cluster, Setup};
use uuid::Uuid;

use crate::support::DATABASE;

/// A cluster with a database for these tests; `None` where none can be started, which was said.
pub(crate) fn cluster(setups: &[Setup; 3]) -> Option<Cluster> {
    let cluster = Cluster::or_say_not_run(setups)?;
    let create = format!("CREATE DATABASE {DATABASE}");
    let primary = cluster.server(cluster.primary());
    primary.sql("postgres", &create).unwrap();
    Some(cluster)
}

/// Where the servers of a cluster listen.
pub(crate) fn addresses(cluster: &Cluster) -> Vec<Address> {
    (0..3).map(|n| cluster.server(n).address()).collect()
}

/// The settings for a new log, which is made, by a URL without parameters.
pub(crate) fn new_log(url: &str, more: &str) -> Settings {
    let settings = settings(url, &Uuid::new_v4().simple().to_string(), more);
    drop(PostgresLog::create(&settings).unwrap());
    settings
}

/// The settings for a log, by a URL without parameters.
pub(crate) fn settings(url: &str, log: &str, more: &str) -> Settings {
    let usual = "sslmode=disable&connections=2&connect_timeout=0.5";
    Settings::from_url(&format!("{url}?log={log}&{usual}{more}")).unwrap()
}

/// The same settings for callers that are told what patience would hide from them.
pub(crate) fn impatient(settings: &Settings) -> Settings {
    settings.clone().with_patience(Duration::from_millis(50))
}

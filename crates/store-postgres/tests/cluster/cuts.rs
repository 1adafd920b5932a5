//! Cuts between clients and the primary, and between the primary and its standbys, by a proxy.

use annals_testkit::postgres::Cluster;

use crate::proxy::Proxy;
use crate::scenario::{Cuts, cut_from_clients, cut_from_standbys};
use crate::servers::{addresses, cluster};
use crate::support::DATABASE;

/// A cluster with proxies before its primary, one for clients and one for standbys, and its URL by way of the first.
fn behind_proxies() -> Option<(Cluster, Proxy, Proxy, String)> {
    let mut cluster = cluster(&Default::default())?;
    let primary = cluster.primary();
    let address = cluster.server(primary).address();
    let (clients, standbys) = (Proxy::before(address.clone()), Proxy::before(address));
    cluster.reach_by(primary, standbys.address()).unwrap();
    let mut addresses = addresses(&cluster);
    addresses[primary] = clients.address();
    let url = cluster.url_by(&addresses, DATABASE);
    Some((cluster, clients, standbys, url))
}

#[test]
fn clients_that_are_cut_off_from_the_primary_lose_nothing() {
    let Some((_cluster, clients, standbys, url)) = behind_proxies() else {
        return;
    };
    let cuts = Cuts {
        clients: &|is_cut| clients.cut(is_cut),
        standbys: &|is_cut| standbys.cut(is_cut),
    };
    cut_from_clients(&url, &cuts);
}

#[test]
fn a_primary_that_is_cut_off_from_its_standbys_acknowledges_nothing() {
    let Some((mut cluster, clients, standbys, url)) = behind_proxies() else {
        return;
    };
    let cuts = Cuts {
        clients: &|is_cut| clients.cut(is_cut),
        standbys: &|is_cut| standbys.cut(is_cut),
    };
    cut_from_standbys(&mut cluster, &url, &cuts);
}

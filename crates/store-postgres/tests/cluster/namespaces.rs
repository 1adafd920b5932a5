//! The same with the network itself: each server and the clients are in a name space of their own, behind bridges in a
//! fifth one, and a link goes down for a cut. Nothing outside of them is touched. It takes root, and is a part of
//! `make failover` alone.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use annals_testkit::postgres::{Address, Cluster, Network, Setup};

use crate::scenario::{Cuts, SHORT, cut_from_clients, cut_from_standbys, fail_overs};
use crate::servers::{cluster, new_log};
use crate::support::DATABASE;

/// Is set where this is asked for.
const ASKED: &str = "ANNALS_NAMESPACES";
/// Has what the names of the name spaces begin with, within that of the clients.
const INSIDE: &str = "ANNALS_INSIDE_NAMESPACES";
/// How often a primary is cut off from everybody.
const FAILOVERS: u64 = 5;

/// Makes the name spaces, and removes them when its input ends, which it does with the process that started it. Of
/// each server one link is to the clients, and one to the others, which copy from it.
const NETWORKS: &str = r#"
    set -e
    all() { for name in net n1 n2 n3 clients; do "$@" "$prefix-$name"; done; }
    remove() { ip netns del "$1" 2>/dev/null || true; }
    make() { ip netns add "$1"; ip -n "$1" link set lo up; }
    # A link of this name from a name space to a bridge, with an address at its end.
    join() {
        ip -n "$prefix-net" link add "$1" type veth peer name "$3" netns "$prefix-$2"
        ip -n "$prefix-net" link set "$1" master "$3" up
        ip -n "$prefix-$2" addr add "$4/24" dev "$3"
        ip -n "$prefix-$2" link set "$3" up
    }
    prefix=$1
    trap 'all remove' EXIT
    all make
    for bridge in service copies; do
        ip -n "$prefix-net" link add "$bridge" type bridge
        ip -n "$prefix-net" link set "$bridge" up
    done
    join clients clients service 10.77.0.9
    for n in 1 2 3; do
        join "service-$n" "n$n" service "10.77.0.$n"
        join "copies-$n" "n$n" copies "10.77.1.$n"
    done
    echo made
    cat >/dev/null
"#;

/// The name spaces, until this is dropped or the process ends.
struct Networks {
    prefix: String,
    keeper: Child,
}

impl Networks {
    /// Makes them, or says why that cannot be.
    fn make() -> Result<Networks, String> {
        let prefix = format!("annals-{}", std::process::id());
        let mut keeper = Command::new("sh")
            .args(["-c", NETWORKS, "networks", prefix.as_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut said = String::new();
        let mut output = BufReader::new(keeper.stdout.take().unwrap());
        output.read_line(&mut said).unwrap();
        if said.trim() != "made" {
            let mut why = String::new();
            let mut errors = keeper.stderr.take().unwrap();
            errors.read_to_string(&mut why).unwrap();
            keeper.wait().unwrap();
            return Err(why.trim().to_owned());
        }
        Ok(Networks { prefix, keeper })
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

#[test]
fn cuts_of_the_network_itself_lose_nothing() {
    if std::env::var_os(ASKED).is_none() {
        return;
    }
    let networks = match Networks::make() {
        Ok(networks) => networks,
        Err(why) => {
            println!("NOT RUN: cuts of the network itself take root and `ip netns`: {why}");
            return;
        }
    };
    let clients = format!("{}-clients", networks.prefix);
    let status = Command::new("ip")
        .args(["netns", "exec", clients.as_str()])
        .arg(std::env::current_exe().unwrap())
        .args(["namespaces::child_cuts_links", "--exact", "--nocapture"])
        .env(INSIDE, &networks.prefix)
        .status()
        .unwrap();
    assert!(status.success(), "it has failed within the name spaces");
}

/// Sets a link of a server, by which it is cut off.
fn cut(prefix: &str, link: &str, server: usize, is_cut: bool) {
    let state = if is_cut { "down" } else { "up" };
    let (network, name) = (format!("{prefix}-net"), format!("{link}-{}", server + 1));
    let status = Command::new("ip")
        .args(["-n", network.as_str(), "link", "set", name.as_str(), state])
        .status()
        .unwrap();
    assert!(status.success(), "{name} cannot be set");
}

/// Not a test by itself: what clients do, within their name space.
#[test]
fn child_cuts_links() {
    let Ok(prefix) = std::env::var(INSIDE) else {
        return;
    };
    let setups = [1, 2, 3].map(|n| Setup {
        network: Some(Network {
            name: format!("{prefix}-n{n}"),
            address: format!("10.77.0.{n}"),
        }),
        ..Setup::default()
    });
    let Some(mut cluster) = cluster(&setups) else {
        return;
    };
    for n in 0..3 {
        let host = format!("10.77.1.{}", n + 1);
        let port = cluster.server(n).address().port;
        cluster.reach_by(n, Address { host, port }).unwrap();
    }
    let url = cluster.url(DATABASE);

    // Nobody hears that the primary is gone: it is silent.
    let lose = |_: &mut Cluster, n: usize| {
        cut(&prefix, "service", n, true);
        cut(&prefix, "copies", n, true);
    };
    let find = |cluster: &mut Cluster, n: usize| {
        cluster.kill(n).unwrap();
        cut(&prefix, "service", n, false);
        cut(&prefix, "copies", n, false);
    };
    let settings = new_log(&url, SHORT);
    fail_overs(&mut cluster, &settings, FAILOVERS, (&lose, &find));

    let primary = cluster.primary();
    let cuts = Cuts {
        clients: &|is_cut| cut(&prefix, "service", primary, is_cut),
        standbys: &|is_cut| cut(&prefix, "copies", primary, is_cut),
    };
    cut_from_clients(&url, &cuts);
    cut_from_standbys(&mut cluster, &url, &cuts);
}

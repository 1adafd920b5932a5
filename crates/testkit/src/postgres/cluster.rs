//! Three servers: a primary, and two standbys of which one must have each commit before it is answered.

use super::error::{ServerError, or_say_not_run};
use super::replica::way;
use super::server::Server;
use super::setup::{Address, Setup, USER};

/// How many servers there are.
const SERVERS: usize = 3;

/// Who may connect: the servers listen where only their tests are.
const HBA: &str = "host all all all scram-sha-256\nhost replication all all scram-sha-256\n";

/// A server with its place in the cluster.
#[derive(Debug)]
struct Node {
    server: Server,
    /// Where those find it who are to follow it, if not where it listens.
    way: Option<Address>,
    /// Whether it is the primary, or follows that.
    is_member: bool,
}

/// A cluster of three servers, numbered from 0. A commit is answered when it is on the primary and on one of the
/// standbys. All of it is gone when this is dropped or the process ends.
///
/// Nothing happens by itself: [`Cluster::fail_over`] and [`Cluster::rejoin`] are what an operator, or a program such as
/// Patroni, would do.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Node>,
    primary: usize,
}

impl Cluster {
    /// Starts a cluster, whose first server is the primary.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(setups: &[Setup; SERVERS]) -> Result<Cluster, ServerError> {
        let primary = Server::start(&of_cluster(&setups[0], 0))?;
        let (password, address) = (primary.password().to_owned(), primary.address());
        let mut nodes = vec![Node::new(primary)];
        for (n, setup) in setups.iter().enumerate().skip(1) {
            let mut server = Server::without_data(&of_cluster(setup, n), &password)?;
            server.copy(&address, &way(&address, &password, &name(n)))?;
            server.run()?;
            nodes.push(Node::new(server));
        }
        let cluster = Cluster { nodes, primary: 0 };
        cluster.await_standbys(SERVERS - 1)?;
        Ok(cluster)
    }

    /// Starts a cluster. Where none can be started, a test says so and does not run; with `CI` set it fails.
    pub fn or_say_not_run(setups: &[Setup; SERVERS]) -> Option<Cluster> {
        or_say_not_run(Cluster::start(setups))
    }

    /// The URL of a database, with all servers: clients find the one that takes writes.
    pub fn url(&self, database: &str) -> String {
        let addresses: Vec<Address> = self.nodes.iter().map(|it| it.server.address()).collect();
        self.url_by(&addresses, database)
    }

    /// The URL of a database by way of these addresses.
    pub fn url_by(&self, addresses: &[Address], database: &str) -> String {
        let places = addresses
            .iter()
            .map(|Address { host, port }| format!("{host}:{port}"));
        let places: Vec<String> = places.collect();
        let password = self.nodes[self.primary].server.password();
        format!(
            "postgres://{USER}:{password}@{}/{database}",
            places.join(",")
        )
    }

    /// Which server is the primary.
    pub fn primary(&self) -> usize {
        self.primary
    }

    /// One of the servers, from 0 to 2.
    pub fn server(&self, n: usize) -> &Server {
        &self.nodes[n].server
    }

    /// Starts a server again, as what it was.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn restart(&mut self, n: usize) -> Result<(), ServerError> {
        self.nodes[n].server.restart()
    }

    /// Lets those who follow a server come by another address from now on, such as that of something which can be cut.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn reach_by(&mut self, n: usize, address: Address) -> Result<(), ServerError> {
        self.nodes[n].way = Some(address);
        if n == self.primary {
            for standby in self.standbys() {
                self.follow(standby)?;
            }
            self.await_standbys(self.standbys().len())?;
        }
        Ok(())
    }

    /// Waits until so many standbys follow the primary.
    ///
    /// # Errors
    /// [`ServerError::Failed`].
    pub fn await_standbys(&self, count: usize) -> Result<(), ServerError> {
        self.server(self.primary).await_followers(count)
    }

    /// Kills a server with all its processes.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn kill(&mut self, n: usize) -> Result<(), ServerError> {
        self.nodes[n].is_member &= n == self.primary;
        self.nodes[n].server.kill()
    }

    /// Puts a standby in the primary's place, whatever has become of that, and says which. In this order nothing is lost
    /// that was acknowledged:
    ///
    /// 1. No standby takes anything more of the old primary. It can have nothing confirmed any more, even if it lives
    ///    and clients are at it.
    /// 2. The standby that has received most has all that was confirmed before. It is promoted.
    /// 3. The others follow it.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn fail_over(&mut self) -> Result<usize, ServerError> {
        let standbys = self.standbys();
        for n in &standbys {
            self.server(*n).follow(None)?;
        }
        let mut most: Option<(u64, usize)> = None;
        for n in standbys {
            most = most.max(Some((self.server(n).received()?, n)));
        }
        let nobody = || ServerError::Failed("there is no standby".to_owned());
        let (_, chosen) = most.ok_or_else(nobody)?;
        self.server(chosen).promote()?;
        self.nodes[self.primary].is_member = false;
        self.primary = chosen;
        for n in self.standbys() {
            self.follow(n)?;
        }
        Ok(chosen)
    }

    /// Makes a server that was a primary, or was killed, a standby: with a new copy, for it may have what no other one has.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn rejoin(&mut self, n: usize) -> Result<(), ServerError> {
        let (address, way) = (self.server(self.primary).address(), self.way_of(n));
        let node = &mut self.nodes[n];
        node.server.kill()?;
        node.server.copy(&address, &way)?;
        node.server.run()?;
        node.is_member = true;
        Ok(())
    }

    /// Those who follow the primary.
    fn standbys(&self) -> Vec<usize> {
        let nodes = self.nodes.iter().enumerate();
        let standbys = nodes.filter(|(n, node)| node.is_member && *n != self.primary);
        standbys.map(|(n, _)| n).collect()
    }

    fn follow(&self, n: usize) -> Result<(), ServerError> {
        self.server(n).follow(Some(&self.way_of(n)))
    }

    /// How a server finds the primary.
    fn way_of(&self, n: usize) -> String {
        let primary = &self.nodes[self.primary];
        let address = primary.way.clone();
        let address = address.unwrap_or_else(|| primary.server.address());
        way(&address, primary.server.password(), &name(n))
    }
}

impl Node {
    fn new(server: Server) -> Node {
        Node {
            server,
            way: None,
            is_member: true,
        }
    }
}

fn name(n: usize) -> String {
    format!("n{}", n + 1)
}

/// What a server of the cluster is started with.
fn of_cluster(setup: &Setup, n: usize) -> Setup {
    let others = (0..SERVERS).filter(|other| *other != n).map(name);
    let others: Vec<String> = others.collect();
    let any = format!("ANY 1 ({})", others.join(", "));
    let own = name(n);
    let settings = [
        ("cluster_name", own.as_str()),
        ("synchronous_standby_names", any.as_str()),
        // Whoever comes back finds what it has missed.
        ("wal_keep_size", "1GB"),
        // A standby looks for its primary again at once, and does not wait long for one that is silent.
        ("wal_retrieve_retry_interval", "100ms"),
        ("wal_receiver_timeout", "5s"),
        ("wal_sender_timeout", "5s"),
        // What a killed server leaves is in its folder, and goes with that.
        ("dynamic_shared_memory_type", "mmap"),
        ("shared_buffers", "32MB"),
    ];
    let mut setup = setup.clone();
    let own = std::mem::take(&mut setup.settings);
    let usual = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    setup.settings = usual.into_iter().chain(own).collect();
    if setup.hba.is_none() {
        setup.hba = Some(HBA.to_owned());
    }
    setup
}

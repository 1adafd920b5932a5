//! Makes connections: to the hosts of a URL one after the other, with a limit for each, so that one that takes
//! connections and says nothing, such as a server that is stopped or cut off, does not keep the others from being asked.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deadpool_postgres::Connect;
use futures::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, LoadBalanceHosts};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use uuid::Uuid;

use crate::sqlstate::on_a_line;

/// The end of a connection that has to be driven.
pub(crate) type Wire = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// How connections to the hosts of a URL are made.
#[derive(Clone)]
pub(crate) struct Dialer {
    /// The server's settings, once for each host.
    hosts: Vec<Config>,
    tls: MakeRustlsConnect,
    limit: Duration,
}

impl Dialer {
    /// `limit` is for all that it takes with one host until it has let us in.
    pub(crate) fn new(server: &Config, tls: MakeRustlsConnect, limit: Duration) -> Dialer {
        Dialer {
            hosts: one_by_one(server),
            tls,
            limit,
        }
    }

    /// How long all of them together may take.
    pub(crate) fn longest(&self) -> Duration {
        let hosts = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        self.limit.saturating_mul(hosts)
    }

    /// Connects to the first host that will do. Else it gives the error of the last one that said something, and none
    /// where all were silent.
    pub(crate) async fn connect(&self) -> Result<(Client, Wire), Option<Error>> {
        let mut failed = None;
        for host in self.in_order() {
            let connecting = host.connect(self.tls.clone());
            match tokio::time::timeout(self.limit, connecting).await {
                Ok(Ok(made)) => return Ok(made),
                Ok(Err(error)) => failed = Some(error),
                Err(_) => {
                    tracing::debug!(host = ?host.get_hosts(), limit = ?self.limit, "a host is silent");
                }
            }
        }
        Err(failed)
    }

    fn in_order(&self) -> Vec<&Config> {
        let mut hosts: Vec<&Config> = self.hosts.iter().collect();
        let is_random = |host: &&Config| host.get_load_balance_hosts() == LoadBalanceHosts::Random;
        if hosts.iter().any(is_random) {
            hosts.sort_by_cached_key(|_| Uuid::new_v4());
        }
        hosts
    }
}

/// Makes the connections of a pool, and drives each.
pub(crate) struct Dialing {
    pub(crate) dialer: Dialer,
    pub(crate) warnings: Arc<AtomicU64>,
}

impl Connect for Dialing {
    fn connect(&self, _: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        Box::pin(async move {
            match self.dialer.connect().await {
                Ok((client, wire)) => Ok((
                    client,
                    tokio::spawn(drive(wire, Arc::clone(&self.warnings))),
                )),
                Err(Some(error)) => Err(error),
                // The pool's limit ends this: no error of the library's can be made here.
                Err(None) => pending().await,
            }
        })
    }
}

/// Drives a connection until it ends, and counts the warnings that come on it. A commit whose wait for standbys was
/// ended by hand is answered as every other one, and nothing but a warning says that they may not have it.
async fn drive(mut wire: Wire, warnings: Arc<AtomicU64>) {
    while let Some(message) = poll_fn(|context| wire.poll_message(context)).await {
        match message {
            // Before what it came with is answered: messages are handed on in their order.
            Ok(AsyncMessage::Notice(notice)) if is_cut_short(&notice) => {
                let count = warnings.fetch_add(1, Ordering::AcqRel) + 1;
                // A server may send any number of them.
                if count.is_power_of_two() {
                    let notice = on_a_line(&notice.to_string());
                    tracing::warn!(%notice, count, "a commit may not be on any standby");
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "a connection has ended");
                return;
            }
        }
    }
}

/// Its words are in the server's language; its code is that of warnings without one.
fn is_cut_short(notice: &DbError) -> bool {
    notice.parsed_severity() == Some(Severity::Warning) && *notice.code() == SqlState::WARNING
}

/// The same settings for each host by itself.
fn one_by_one(server: &Config) -> Vec<Config> {
    let hosts = server.get_hosts();
    let does_not_fit = |count: usize, least: usize| count > least && count != hosts.len();
    if does_not_fit(server.get_hostaddrs().len(), 0) || does_not_fit(server.get_ports().len(), 1) {
        // The library says what is wrong with it.
        return vec![server.clone()];
    }
    let hosts = hosts.iter().enumerate();
    hosts.map(|(n, host)| with_host(server, n, host)).collect()
}

/// The settings with one host alone.
fn with_host(server: &Config, n: usize, host: &Host) -> Config {
    let mut one = without_host(server);
    match host {
        Host::Tcp(name) => one.host(name.as_str()),
        Host::Unix(path) => one.host_path(path),
    };
    if let Some(address) = server.get_hostaddrs().get(n) {
        one.hostaddr(*address);
    }
    let ports = server.get_ports();
    if let Some(port) = ports.get(n).or(ports.first()) {
        one.port(*port);
    }
    one
}

/// Hosts can be added to settings and not be removed.
fn without_host(server: &Config) -> Config {
    let mut one = Config::new();
    one.ssl_mode(server.get_ssl_mode())
        .ssl_negotiation(server.get_ssl_negotiation())
        .keepalives(server.get_keepalives())
        .keepalives_idle(server.get_keepalives_idle())
        .target_session_attrs(server.get_target_session_attrs())
        .channel_binding(server.get_channel_binding())
        .load_balance_hosts(server.get_load_balance_hosts());
    if let Some(user) = server.get_user() {
        one.user(user);
    }
    if let Some(password) = server.get_password() {
        one.password(password);
    }
    if let Some(name) = server.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = server.get_options() {
        one.options(options);
    }
    if let Some(name) = server.get_application_name() {
        one.application_name(name);
    }
    if let Some(limit) = server.get_connect_timeout() {
        one.connect_timeout(*limit);
    }
    if let Some(limit) = server.get_tcp_user_timeout() {
        one.tcp_user_timeout(*limit);
    }
    if let Some(interval) = server.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = server.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A setting that is forgotten here has no effect.
    #[test]
    fn a_host_by_itself_has_all_settings() {
        let url = "postgres://u:p@db:6432/d?options=-c%20x%3D1&application_name=x&sslmode=require&connect_timeout=3\
                   &tcp_user_timeout=4&keepalives=1&keepalives_idle=5&keepalives_interval=6&keepalives_retries=7\
                   &target_session_attrs=read-write&channel_binding=require&load_balance_hosts=random\
                   &hostaddr=127.0.0.1&sslnegotiation=direct";
        let server: Config = url.parse().unwrap();
        assert_eq!(one_by_one(&server), [server]);
    }

    #[test]
    fn each_host_has_its_port() {
        let ports = |url: &str| -> Vec<u16> {
            let each = one_by_one(&url.parse().unwrap());
            let port = |one: &Config| {
                assert_eq!((one.get_hosts().len(), one.get_ports().len()), (1, 1));
                one.get_ports()[0]
            };
            each.iter().map(port).collect()
        };
        assert_eq!(ports("postgres://a:1,b:2,c:3/d"), [1, 2, 3]);
        assert_eq!(ports("postgres://a,b:2/d"), [5432, 2]);
        let odd: Config = "host=a,b,c port=1,2".parse().unwrap();
        assert_eq!(one_by_one(&odd), [odd]);
    }
}

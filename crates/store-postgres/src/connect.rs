//! Connections: how each is made and set up, and pools of them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts,
};
use tokio_postgres::Config;
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};

use crate::dial::{Dialer, Dialing};
use crate::failure::Failure;
use crate::settings::{Access, Settings, Tls};

/// How connections to a log's server are made.
#[derive(Clone)]
pub(crate) struct Connector {
    server: Config,
    tls: Tls,
    pub(crate) dialer: Dialer,
    set_up: String,
}

/// What the connections of a pool are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Appends, which are the same few statements all the time; and redactions.
    Appends,
    /// All else.
    Others,
}

impl Connector {
    /// For the server and the choices of these settings.
    pub(crate) fn new(settings: &Settings) -> Result<Connector, Failure> {
        let mut server = settings.server.clone();
        server.connect_timeout(settings.connect_timeout);
        notice_cuts(&mut server, settings.connect_timeout);
        if server.get_application_name().is_none() {
            server.application_name("annals");
        }
        // Of several servers the one that takes writes is chosen, also by those who read: a standby may lag behind
        // what this process has seen already.
        if settings.has_several_hosts() {
            server.target_session_attrs(TargetSessionAttrs::ReadWrite);
            // One that takes connections and does not answer must not be the first each time.
            server.load_balance_hosts(LoadBalanceHosts::Random);
        }
        let tls = crate::tls::connector(&settings.tls)?;
        // One that is connected to says who may come in within the same time once more.
        let dialer = Dialer::new(&server, tls, settings.connect_timeout * 2);
        Ok(Connector {
            server,
            tls: settings.tls.clone(),
            dialer,
            set_up: set_up(settings),
        })
    }

    /// Whether another one makes the same connections: with the same parameters, to the same hosts and database.
    pub(crate) fn is_as(&self, other: &Connector) -> bool {
        self.server == other.server && self.tls == other.tls
    }

    /// A pool of at most so many, and what counts the warnings of its connections.
    pub(crate) fn pool(
        &self,
        purpose: Purpose,
        most: usize,
        wait: Duration,
    ) -> Result<(Pool, Arc<AtomicU64>), Failure> {
        let warnings = Arc::<AtomicU64>::default();
        let dialing = Dialing {
            dialer: self.dialer.clone(),
            warnings: Arc::clone(&warnings),
        };
        let config = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_connect(self.server.clone(), dialing, config);
        let mut set_up = self.set_up.clone();
        if purpose == Purpose::Appends {
            set_up.push_str(PLAN_ONCE);
        }
        let hook = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
            let set_up = set_up.clone();
            Box::pin(async move {
                client
                    .batch_execute(&set_up)
                    .await
                    .map_err(HookError::Backend)
            })
        });
        let pool = Pool::builder(manager)
            .max_size(most.max(1))
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts {
                wait: Some(wait),
                create: Some(self.dialer.longest()),
                recycle: None,
            })
            .post_create(hook)
            .build();
        let pool = pool.map_err(|error| Failure::Other {
            code: String::new(),
            detail: error.to_string(),
        })?;
        Ok((pool, warnings))
    }
}

/// Has a connection into a network that was cut end soon, where the URL says nothing of it: until then its caller waits,
/// and another server may have been promoted.
fn notice_cuts(server: &mut Config, soon: Duration) {
    // The system counts in whole seconds, takes no 0 and no hours.
    let soon = soon.clamp(Duration::from_secs(1), Duration::from_secs(60));
    if server.get_tcp_user_timeout().is_none() {
        server.tcp_user_timeout(soon * 2);
    }
    if server.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        server.keepalives_idle(soon);
    }
    if server.get_keepalives_interval().is_none() {
        server.keepalives_interval(soon);
    }
    if server.get_keepalives_retries().is_none() {
        server.keepalives_retries(2);
    }
}

/// Has each statement of an append planned once for a connection, and after each `ANALYZE`. The server would plan it each
/// time: it takes an array that it has not seen for one of ten elements, and finds a plan for the real one
/// cheaper. The plan must use indexes, as it may be made while a table is small and used when it has grown; and
/// each statement must leave it no choice but whole keys. An engine that knows no such setting has nothing set.
const PLAN_ONCE: &str = "; SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END, false)
    FROM pg_settings WHERE name IN ('plan_cache_mode', 'enable_seqscan', 'jit')";

/// Has statements planned each time until the transaction ends: those that it takes seldom, and that go over many rows.
pub(crate) const PLAN_EACH: &str = "SELECT set_config(name, 'force_custom_plan', true) FROM pg_settings WHERE name = 'plan_cache_mode'";

/// Has functions and operators mean the server's own: where others may create some in a schema of the search path, such as
/// `public`, theirs would be called with the rights of this session's user.
pub(crate) const OWN_NAMES: &str = "SET search_path = pg_catalog, pg_temp";

/// What each session begins with: as settings of the session, as not every engine and pool takes them at the start.
fn set_up(settings: &Settings) -> String {
    // What a user's or a database's own defaults could make of it is not left to them. Nothing but a warning says that a
    // commit is not on the standbys that it waited for.
    let mut text = format!(
        "SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {}; \
         SET client_encoding = 'UTF8'; SET client_min_messages = warning; {OWN_NAMES}",
        settings.statement_timeout.as_millis(),
        settings.lock_timeout.as_millis(),
        settings.idle_in_transaction_timeout.as_millis(),
    );
    if settings.access == Access::ReadOnly {
        text.push_str("; SET default_transaction_read_only = on");
    }
    text
}

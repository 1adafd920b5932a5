//! Connections: how each is made and set up, and pools of them.

use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts,
};
use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::failure::Failure;
use crate::settings::{Access, Settings};

/// How connections to a log's server are made.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) server: Config,
    pub(crate) tls: MakeRustlsConnect,
    set_up: String,
}

impl Connector {
    /// For the server and the choices of these settings.
    pub(crate) fn new(settings: &Settings) -> Result<Connector, Failure> {
        let mut server = settings.server.clone();
        server.connect_timeout(settings.connect_timeout);
        server.keepalives_idle(Duration::from_secs(30));
        if server.get_application_name().is_none() {
            server.application_name("annals");
        }
        // Of several servers the one that takes writes is chosen, also by those who read: a standby may lag behind
        // what this process has seen already.
        if settings.has_several_hosts() {
            server.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        Ok(Connector {
            server,
            tls: crate::tls::connector(&settings.tls)?,
            set_up: set_up(settings),
        })
    }

    /// A pool of at most so many.
    pub(crate) fn pool(&self, most: usize, wait: Duration) -> Result<Pool, Failure> {
        let config = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_config(self.server.clone(), self.tls.clone(), config);
        let set_up = self.set_up.clone();
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
                create: None,
                recycle: None,
            })
            .post_create(hook)
            .build();
        pool.map_err(|error| Failure::Other {
            code: String::new(),
            detail: error.to_string(),
        })
    }
}

/// What each session begins with: as settings of the session, as not every engine and pool takes them at the start.
fn set_up(settings: &Settings) -> String {
    // What a user's or a database's own defaults could make of it is not left to them.
    let mut text = format!(
        "SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {}; \
         SET client_encoding = 'UTF8'",
        settings.statement_timeout.as_millis(),
        settings.lock_timeout.as_millis(),
        settings.idle_in_transaction_timeout.as_millis(),
    );
    if settings.access == Access::ReadOnly {
        text.push_str("; SET default_transaction_read_only = on");
    }
    text
}

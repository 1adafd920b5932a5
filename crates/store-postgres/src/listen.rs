//! Notifications between processes, where they are wanted: hints alone. One is sent behind an append's commit, in a
//! transaction of its own, and not for each of them: within the append, its commit would take a lock over the
//! whole server.

use std::sync::Arc;
use std::time::Duration;

use futures::future::poll_fn;
use tokio_postgres::{AsyncMessage, Error};
use uuid::Uuid;

use crate::connect::Connector;
use crate::shared::Shared;

/// The time between two notifications, at least.
const PAUSE: Duration = Duration::from_millis(20);

/// The channel of a log. It is a plain name: letters, digits and `_`.
fn channel(log_id: Uuid) -> String {
    format!("annals_{}", log_id.simple())
}

/// Tells other processes that this one has committed, for as long as the log is open.
pub(crate) async fn tell(shared: Arc<Shared>) {
    let channel = channel(shared.log_id);
    loop {
        shared.signals.has_committed().await;
        let channel = channel.clone();
        let told = shared
            .sessions
            .once(&|session: &crate::sessions::Session| {
                let channel = channel.clone();
                Box::pin(async move {
                    let notify = session.prepare_cached("SELECT pg_notify($1, '')").await?;
                    session.execute(&notify, &[&channel]).await?;
                    Ok(())
                })
            })
            .await;
        if let Err(failed) = told {
            tracing::debug!(error = %failed.failure, "a notification was not sent; readers poll");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Hears what other processes tell, for as long as the log is open.
pub(crate) async fn hear(shared: Arc<Shared>, connector: Connector) {
    loop {
        if let Err(error) = hear_on_one(&shared, &connector).await {
            tracing::debug!(
                ?error,
                "the connection for notifications is lost; readers poll"
            );
        }
        // What was told meanwhile is found by a look.
        shared.signals.ring();
        tokio::time::sleep(shared.settings.poll_most).await;
    }
}

async fn hear_on_one(shared: &Shared, connector: &Connector) -> Result<(), Option<Error>> {
    let (client, mut connection) = connector.dialer.connect().await?;
    let listen = format!("LISTEN {}", channel(shared.log_id));
    let heard = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(_) = message? {
                shared.signals.ring();
            }
        }
        Ok::<(), Error>(())
    };
    // The client asks, and the connection is what answers it: both are polled until the connection ends.
    let asked = async {
        client.batch_execute(&listen).await?;
        std::future::pending::<Result<(), Error>>().await
    };
    let ended = tokio::select! {
        ended = heard => ended,
        refused = asked => refused,
    };
    ended.map_err(Some)
}

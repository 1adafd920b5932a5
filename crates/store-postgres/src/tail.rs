//! Waiting for more: the log's head is looked at while somebody waits, often when it has just moved and seldom when
//! nothing happens, and now and then where nobody does. A notification only makes the next look come sooner, so that
//! nothing rests on it.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use annals_event_log::{Position, ReadError};
use futures::future::{Either, select};

use crate::lookup;
use crate::shared::Shared;
use crate::signals::Waiting;

/// The time between two looks while nobody waits: what a process reads is then no older than this, also where others
/// write.
const IDLE: Duration = Duration::from_secs(1);

/// Waits until the log is above a position. Dropping the future is safe.
pub(crate) async fn wait_above(shared: &Shared, seen: Position) -> Result<Position, ReadError> {
    let _waiting = Waiting::begin(&shared.signals);
    let lost = shared.signals.lost();
    match select(pin!(shared.watermark.above(seen)), lost).await {
        Either::Left((above, _)) => above,
        Either::Right(_) => Err(shared.signals.why().into()),
    }
}

/// Looks at the head: often while somebody waits, and else now and then.
pub(crate) async fn poll(shared: Arc<Shared>) {
    let (least, most) = (shared.settings.poll_least, shared.settings.poll_most);
    let mut wait = least;
    let mut failing_since: Option<Instant> = None;
    loop {
        if !shared.signals.has_waiting() {
            wait = least;
            tokio::select! {
                () = shared.signals.is_rung() => continue,
                () = tokio::time::sleep(IDLE) => {}
            }
        }
        let before = shared.watermark.get();
        match shared.sessions.once(&lookup::position_of(&shared)).await {
            Ok(position) => {
                shared.reached(position);
                failing_since = None;
                wait = match shared.watermark.get() > before {
                    true => least,
                    false => (wait * 2).min(most),
                };
            }
            Err(failed) => {
                let since = *failing_since.get_or_insert_with(Instant::now);
                let (error, what) = (&failed.failure, "the log's head cannot be looked at");
                match shared.signals.has_waiting() {
                    true => tracing::warn!(%error, "{what}"),
                    // What a call needs of the server, it says itself.
                    false => tracing::debug!(%error, "{what}"),
                }
                if since.elapsed() >= shared.settings.patience {
                    shared.signals.lose(failed.failure);
                    failing_since = None;
                }
                wait = most;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shared.signals.is_rung() => wait = least,
        }
    }
}

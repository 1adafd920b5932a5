//! Waiting for more: the log's head is looked at while somebody waits, often when it has just moved and seldom when
//! nothing happens, and now and then where nobody does. A notification only makes the next look come sooner, so that
//! nothing rests on it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use annals_event_log::{Position, ReadError};
use futures::future::{Either, select};

use crate::back_off::BackOff;
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
    let mut failing: Option<BackOff> = None;
    loop {
        if !shared.signals.has_waiting() {
            wait = least;
            tokio::select! {
                () = shared.signals.is_rung() => {}
                () = tokio::time::sleep(IDLE) => {}
            }
        }
        let before = shared.watermark.get();
        shared.metrics.looked();
        match shared
            .sessions
            .once(shared.sessions.limit(), &lookup::position_of(&shared))
            .await
        {
            Ok(position) => {
                shared.reached(position);
                failing = None;
                wait = match shared.watermark.get() > before {
                    true => least,
                    false => (wait * 2).min(most),
                };
            }
            Err(failed) => {
                let attempts = failing.get_or_insert_with(|| shared.sessions.back_off());
                let (error, what) = (&failed.failure, "the log's head cannot be looked at");
                match shared.signals.has_waiting() && attempts.is_to_say() {
                    true => tracing::warn!(%error, "{what}"),
                    // What a call needs of the server, it says itself.
                    false => tracing::debug!(%error, "{what}"),
                }
                // To look again does not help, or has not for long enough.
                if attempts.is_over() || !shared.sessions.helps_again(&failed.failure) {
                    shared.signals.lose(failed.failure);
                    failing = None;
                }
                // What a notification told of is still to be looked at.
                wait = most.min(IDLE);
            }
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shared.signals.is_rung() => wait = least,
        }
    }
}

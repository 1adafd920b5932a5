//! Clients that append, and repeat what they were not answered.

use std::sync::PoisonError;

use annals::{Annals, ExecuteError};
use annals_event_log::{AppendError, Store};
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::Shared;
use crate::soak::batch::{Batch, Kind};
use crate::soak::mutants;
use crate::soak::said::{Invariant, Said, Violation, say};

/// Bytes of a client's stack.
const STACK: usize = 256 * 1024;

/// Clients append at the same time, so many batches each, of so many events at most.
pub(super) fn append(
    annals: &Annals,
    shared: &Shared,
    rng: &mut StdRng,
    (clients, kind): (u16, Kind),
    (batches, most): (u16, u16),
) {
    let client = move |mut rng: StdRng| {
        for number in 0..batches {
            // Among those that are accepted are some that are not.
            let refused = kind != Kind::Intents && clients > 1 && rng.random_range(0..8) == 0;
            let kind = if refused { Kind::Refused } else { kind };
            // Large ones are rare, and one of the largest size is among the first.
            let count = match number == 0 || rng.random_range(0..10) == 0 {
                true => most,
                false => rng.random_range(1..=most.min(20)),
            };
            if !send(annals, shared, Batch::new(&mut rng, kind, count)) {
                break;
            }
        }
    };
    if clients == 1 {
        return client(StdRng::seed_from_u64(rng.random()));
    }
    std::thread::scope(|scope| {
        for _ in 0..clients {
            let rng = StdRng::seed_from_u64(rng.random());
            let thread = std::thread::Builder::new().stack_size(STACK);
            let started = thread.spawn_scoped(scope, move || client(rng));
            started.expect("a thread");
        }
    });
}

/// Sends what is not known to be stored once more, each twice.
pub(super) fn repeat(annals: &Annals, shared: &Shared) {
    let unknown = {
        let mut unknown = shared
            .unknown
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *unknown)
    };
    for batch in unknown {
        if send(annals, shared, batch) {
            send(annals, shared, batch);
        }
    }
}

/// What became of a batch.
pub(in crate::soak) enum Sent {
    /// It is stored: its first position, if that was said, and its last one.
    Stored(u64, u64),
    /// It is not.
    Refused(String),
    /// Its id was used for these positions, and its request is not stored any more.
    Unverifiable(u64, u64),
    /// Whether it is stored is not known.
    Unknown(String),
}

/// Sends a batch and says what became of it; whether the log goes on.
///
/// After a failure one more batch is sent: a log that has failed must take none.
fn send(annals: &Annals, shared: &Shared, batch: Batch) -> bool {
    say(&Said::Sent(batch));
    if mutants::is_on(mutants::ANSWERS_FIRST) {
        let last = annals.position().0 + u64::from(batch.count());
        say(&Said::Acknowledged {
            batch,
            first: 0,
            last,
        });
    }
    let sent = match batch.kind() {
        Kind::Intents => propose(annals, batch),
        _ => plain(annals.log().as_ref(), batch),
    };
    match sent {
        Sent::Stored(first, last) => {
            say(&Said::Acknowledged { batch, first, last });
            if batch.kind() == Kind::Refused {
                let found = format!("{batch} was stored against its expectation");
                say(&Said::Violation(Violation::new(Invariant::Sent, found)));
            }
            true
        }
        Sent::Refused(error) => {
            say(&Said::Refused(batch));
            let expected = batch.kind() == Kind::Refused;
            if !expected {
                let step = format!("{batch}");
                say(&Said::Failed { step, error });
            }
            expected
        }
        // Content of it was removed meanwhile; the check knows whether that is so.
        Sent::Unverifiable(..) => true,
        Sent::Unknown(error) => {
            let step = format!("{batch}");
            say(&Said::Failed { step, error });
            let mut unknown = shared
                .unknown
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            unknown.push(batch);
            // A few go on as if nothing had been: nothing may be stored then.
            unknown.len() < 4
        }
    }
}

/// Appends events without meaning.
pub(in crate::soak) fn plain(log: &dyn Store, batch: Batch) -> Sent {
    match block_on(log.append(batch.append())) {
        Ok(appended) => Sent::Stored(appended.first.0, appended.last.0),
        Err(error) => refused(&error),
    }
}

fn refused(error: &AppendError) -> Sent {
    match error {
        AppendError::RequestUnverifiable { first, last, .. } => Sent::Unverifiable(first.0, last.0),
        AppendError::Unavailable { .. } => Sent::Unknown(error.to_string()),
        error => Sent::Refused(error.to_string()),
    }
}

/// Proposes intents.
pub(in crate::soak) fn propose(annals: &Annals, batch: Batch) -> Sent {
    match block_on(annals.execute_batch(Some(batch.0), batch.requests())) {
        Ok(outcome) => Sent::Stored(0, outcome.position.0),
        Err(ExecuteError::Append(error)) => refused(&error),
        Err(ExecuteError::KeyUnverifiable { first, last, .. }) => {
            Sent::Unverifiable(first.0, last.0)
        }
        Err(error) => Sent::Refused(error.to_string()),
    }
}

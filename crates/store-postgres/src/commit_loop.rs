//! Takes what waits and has it committed, one transaction after the other.
//!
//! There is no timer. While a group is being committed the next one gathers in the queue, so that groups grow with the
//! load by themselves. One transaction is under way in each process: a second one would only wait for the same
//! row of the log's head, on a connection more.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use annals_event_log::AppendError;
use annals_event_log::store_support::Chains;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::group::{self, Done};
use crate::metrics::Outcome;
use crate::outcome::{AppendFailure, Failed};
use crate::queue::{Caller, Job, Queued, Removal, Work};
use crate::redaction;
use crate::shared::Shared;
use crate::uploads::{self, Uploads};

/// Appends in one transaction, at most.
const MOST: usize = 4_096;

/// Commits what comes until the queue is closed and empty.
pub(crate) async fn run(shared: Arc<Shared>, mut queued: UnboundedReceiver<Queued>) {
    let mut chains = Chains::default();
    let mut next: Option<Queued> = None;
    loop {
        let first = match next.take() {
            Some(first) => first,
            None => match queued.recv().await {
                Some(first) => first,
                None => return,
            },
        };
        match first.job {
            Job::Alone(removal, caller) => alone(&shared, *removal, caller).await,
            Job::Grouped(work, caller) => {
                // Callers that were just answered are about to come again.
                tokio::task::yield_now().await;
                let mut gathered = vec![(work, caller)];
                let (mut bytes, mut room) = (first.bytes, first.room);
                while gathered.len() < MOST && bytes < shared.settings.group_bytes {
                    let Ok(more) = queued.try_recv() else { break };
                    match more.job {
                        Job::Grouped(work, caller) => {
                            bytes = bytes.saturating_add(more.bytes);
                            room.merge(more.room);
                            gathered.push((work, caller));
                        }
                        Job::Alone(..) => {
                            next = Some(more);
                            break;
                        }
                    }
                }
                grouped(&shared, gathered, &mut chains).await;
                // Until then they are in memory.
                drop(room);
            }
        }
    }
}

async fn grouped(shared: &Shared, jobs: Vec<(Work, Caller<AppendError>)>, chains: &mut Chains) {
    let (mut works, callers): (Vec<Work>, Vec<_>) = jobs.into_iter().unzip();
    let begun = Instant::now();
    let mut back_off = shared.appends.back_off();
    let (mut written, mut is_unknown) = (Uploads::default(), false);
    let failed = loop {
        match attempt(shared, &mut works, chains, &mut written, is_unknown).await {
            Ok(done) => {
                done.links.iter().for_each(|link| chains.advance(*link));
                // First the watermark: a caller that is answered may look at once.
                shared.reached(done.position.0);
                count(shared, begun, &done);
                shared.signals.committed();
                for (caller, answer) in callers.into_iter().zip(done.answers) {
                    // A caller that is gone has dropped its future; that is allowed.
                    let _ = caller.send(answer);
                }
                // Unless an earlier attempt has named it.
                if !is_unknown {
                    uploads::discard(shared, written, &done.blobs).await;
                }
                return;
            }
            Err(failed) => {
                is_unknown |= failed.is_unknown;
                let helps = failed.is_unknown || shared.appends.helps_again(&failed.failure);
                let attempts = back_off.attempts();
                if !helps || !back_off.again().await {
                    let failure = failed.failure;
                    if !is_unknown {
                        uploads::discard(shared, written, &HashSet::new()).await;
                    }
                    break AppendFailure::new(
                        Failed {
                            failure,
                            is_unknown,
                        },
                        attempts,
                    );
                }
                shared.metrics.again("append");
                if back_off.is_to_say() {
                    tracing::warn!(error = %failed.failure, attempts, is_unknown, "appending again");
                }
            }
        }
    };
    tracing::error!(error = %failed, "appends were not acknowledged");
    let outcome = match is_unknown {
        true => Outcome::Unknown,
        false => Outcome::Refused,
    };
    shared.metrics.answered(works.len(), outcome);
    for (caller, work) in callers.into_iter().zip(works) {
        Job::Grouped(work, caller).fail(failed.clone());
    }
}

fn count(shared: &Shared, begun: Instant, done: &Done) {
    let (metrics, batches) = (&shared.metrics, done.answers.len());
    let refused = done.answers.iter().filter(|it| it.is_err()).count();
    metrics.answered(batches - refused, Outcome::Acknowledged);
    metrics.answered(refused, Outcome::Refused);
    if done.events > 0 {
        metrics.committed(begun.elapsed(), batches, done.events);
    }
}

async fn attempt(
    shared: &Shared,
    works: &mut [Work],
    chains: &Chains,
    written: &mut Uploads,
    is_again: bool,
) -> Result<Done, Failed> {
    let session = shared.appends.session().await?;
    // Each object has its own limit: to write many may take long, and leaves nothing unknown.
    if let Err(failed) = uploads::upload(shared, &session, works, written).await {
        session.end(false);
        return Err(failed);
    }
    let commit = group::commit(shared, &session, works, chains, &written.names, is_again);
    let done = session.commit_within(commit).await;
    session.end(done.is_ok());
    done
}

async fn alone(
    shared: &Shared,
    mut removal: Removal,
    caller: Caller<annals_event_log::RedactError>,
) {
    let mut back_off = shared.appends.back_off();
    let mut is_unknown = false;
    loop {
        let failed = match redact_once(shared, &mut removal).await {
            Ok(answer) => {
                if let Ok(appended) = &answer {
                    shared.reached(appended.last.0);
                    shared.signals.committed();
                }
                let _ = caller.send(answer);
                return;
            }
            Err(failed) => failed,
        };
        is_unknown |= failed.is_unknown;
        let helps = failed.is_unknown || shared.appends.helps_again(&failed.failure);
        let attempts = back_off.attempts();
        if !helps || !back_off.again().await {
            let failure = failed.failure;
            let failed = AppendFailure::new(
                Failed {
                    failure,
                    is_unknown,
                },
                attempts,
            );
            tracing::error!(error = %failed, "a redaction was not acknowledged");
            return Job::Alone(Box::new(removal), caller).fail(failed);
        }
        shared.metrics.again("redact");
        if back_off.is_to_say() {
            tracing::warn!(error = %failed.failure, attempts, is_unknown, "redacting again");
        }
    }
}

/// It may take long; each of its steps has the limit of one append, as all appends wait for it.
async fn redact_once(
    shared: &Shared,
    removal: &mut Removal,
) -> Result<Result<annals_event_log::Appended, annals_event_log::RedactError>, Failed> {
    let session = shared.appends.session().await?;
    let mut done = redaction::commit(shared, &session, removal).await;
    if let Ok(Ok(_)) = &done {
        // Also those that a repeat finds left.
        if let Err(mut failed) = uploads::sweep(shared, &session).await {
            // The redaction itself is made.
            failed.is_unknown = true;
            done = Err(failed);
        }
    }
    session.end(done.is_ok());
    done
}

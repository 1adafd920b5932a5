//! Recording what another system says of its sessions: its verdicts are kept as
//! they were, and never judged again.

use annals_domain::{ActorRef, Emitted, SessionId, StreamKind, StreamRef, Timestamp};
use annals_event_log::{Append, AppendError, Expectation, Expected, Position, Version};
use annals_wire::{Envelope, random_salt, stream_name};
use bytes::Bytes;
use uuid::Uuid;

use crate::{Annals, ExecuteError};

/// One event of another system's session.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEvent {
    /// Its own id there.
    pub id: Uuid,
    /// When it happened, as far as that is known: the stream of a contracts
    /// session has no times, and gets that of its import.
    pub at: Timestamp,
    /// What happened.
    pub emitted: Emitted,
}

impl Annals {
    /// Appends events to the streams of sessions that another system kept, in
    /// their order and together, if nothing else was appended to these streams
    /// meanwhile: `after` has the version of each that the caller knows.
    ///
    /// # Errors
    /// [`ExecuteError::Contended`] if something came between, and what the log
    /// says. Nothing is recorded then.
    pub async fn record_sessions(
        &self,
        after: &[(SessionId, Version)],
        actor: &ActorRef,
        recorded: &[RecordedEvent],
    ) -> Result<Position, ExecuteError> {
        let streams = || after.iter().map(|(session, _)| stream(*session));
        let _turn = self
            .lanes
            .turn(streams().map(|stream| stream.id).collect())
            .await;
        let append = prepare(after, actor, recorded)?;
        let appended = self.log.append(append).await;
        self.states.forget(streams());
        match appended {
            Ok(appended) => {
                self.keep_up().await;
                Ok(appended.last)
            }
            Err(AppendError::Conflict { .. }) => Err(ExecuteError::Contended { attempts: 1 }),
            Err(error) => Err(ExecuteError::Append(error)),
        }
    }
}

fn stream(session: SessionId) -> StreamRef {
    StreamRef {
        kind: StreamKind::Session,
        id: session.0,
    }
}

fn prepare(
    after: &[(SessionId, Version)],
    actor: &ActorRef,
    recorded: &[RecordedEvent],
) -> Result<Append, ExecuteError> {
    let (mut events, mut blobs) = (Vec::with_capacity(recorded.len()), Vec::new());
    for one in recorded {
        let envelope = Envelope {
            event_id: one.id,
            occurred_at: one.at,
            actor: actor.clone(),
            correlation: None,
            causation: None,
        };
        let encoded = annals_wire::encode(&one.emitted, &envelope, &mut random_salt)?;
        events.push(encoded.event);
        blobs.extend(encoded.blobs);
    }
    let expectation = |(session, version): &(SessionId, Version)| Expectation {
        stream: stream_name(stream(*session)),
        expected: match *version {
            Version::NONE => Expected::NoStream,
            version => Expected::Exactly(version),
        },
    };
    let batch = Uuid::now_v7();
    Ok(Append {
        batch,
        request: Bytes::copy_from_slice(batch.as_bytes()),
        events,
        expectations: after.iter().map(expectation).collect(),
        blobs,
    })
}

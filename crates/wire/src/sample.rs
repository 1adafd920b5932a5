//! One full example of every event, for goldens and for the documentation of the events.
//!
//! Every option is given, no list is empty, and texts are not all ASCII. The
//! examples are part of what the golden files pin: changing one changes
//! goldens that are already committed, so a new field is shown by a new
//! example of the new version.

mod alias;
mod bucket;
mod intent;
mod observation;
mod pipeline;
mod plan;
mod run;
mod session;
mod settings;
mod snapshot;
mod task;
mod values;

use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::{Emitted, Kind, StreamKind};

use values::{OWN, emitted, id};

/// The examples, aggregate by aggregate, in the order in which the aggregates
/// list their events.
pub fn samples() -> Vec<Emitted> {
    let mut all = intent::samples();
    all.push(redacted(StreamKind::Intent));
    all.extend(plan::samples());
    all.push(redacted(StreamKind::Plan));
    all.extend(task::samples());
    all.push(redacted(StreamKind::Task));
    all.extend(run::samples());
    all.push(redacted(StreamKind::Run));
    all.extend(snapshot::samples());
    all.push(redacted(StreamKind::Snapshot));
    all.extend(pipeline::samples());
    all.push(redacted(StreamKind::Pipeline));
    all.extend(alias::samples());
    all.push(redacted(StreamKind::Alias));
    all.extend(session::samples());
    all.push(redacted(StreamKind::Session));
    all.extend(bucket::samples());
    all.push(redacted(StreamKind::Bucket));
    all.extend(settings::samples());
    all.push(redacted(StreamKind::Settings));
    all.extend(observation::samples());
    all.push(redacted(StreamKind::Observation));
    all
}

fn redacted(stream: StreamKind) -> Emitted {
    let kind = stream.kind().unwrap_or(Kind::Intent);
    emitted(|pieces| {
        let event = Redacted {
            removed: vec![RemovedPieces {
                position: 17,
                pieces: vec![0, 2],
            }],
            objects: vec![(kind.number(), id(OWN))],
            reason: pieces.text("ein Passwort — случайно"),
        };
        event.in_stream(stream)
    })
}

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

use annals_domain::metadata::{MetadataSet, Sealed};
use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::{
    ActorKind, AdoptedHeader, AnyEvent, Dialect, Emitted, Environment, GitOid, IntegrityHash, Json,
    Kind, Ordered, Pieces, StoredActor, StoredArtifact, StoredEnvironment, StreamKind, StreamRef,
    Timestamp, Visibility,
};
use chrono::DateTime;
use uuid::Uuid;

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

/// Ids that people can tell apart in a dump.
fn id(number: u8) -> Uuid {
    Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000 | u128::from(number))
}

/// The object that the stream of each example is about.
const OWN: u8 = 1;

fn emitted(event: impl FnOnce(&mut Pieces) -> AnyEvent) -> Emitted {
    let mut pieces = Pieces::new();
    let event = event(&mut pieces);
    Emitted {
        stream: StreamRef {
            kind: event.stream_kind(),
            id: id(OWN),
        },
        event,
        pieces,
    }
}

fn sha1() -> GitOid {
    GitOid::Sha1([0x5a; 20])
}

fn sha256() -> GitOid {
    GitOid::Sha256([0xa5; 32])
}

/// 2026-01-02T03:04:05.500Z
fn time() -> Timestamp {
    DateTime::from_timestamp(1_767_323_045, 500_000_000)
        .unwrap_or_default()
        .into()
}

fn json(value: &serde_json::Value, pieces: &mut Pieces) -> annals_domain::Slot {
    pieces.text(value.to_string())
}

fn actor(pieces: &mut Pieces) -> StoredActor {
    StoredActor {
        kind: ActorKind::Human,
        id: "zoë@example.org".into(),
        display_name: Some(pieces.text("Zoë Müller")),
        auth_context: Some(pieces.text("oidc:example.org")),
    }
}

fn artifact(content: &str, pieces: &mut Pieces) -> StoredArtifact {
    let hash = IntegrityHash::of(content.as_bytes());
    StoredArtifact {
        store: pieces.text("annals"),
        key: pieces.text(hash.to_string()),
        content_type: Some(pieces.text("text/plain")),
        size_bytes: Some(content.len() as u64),
        hash: Some(hash),
        expires_at: Some(time()),
        content: Some(pieces.attachment(content.as_bytes().to_vec())),
    }
}

fn environment(pieces: &mut Pieces) -> StoredEnvironment {
    let extra: Ordered<Json> = Json::parse(r#"{"cores":2}"#)
        .into_iter()
        .map(|json| ("machine".to_owned(), json))
        .collect();
    let environment = Environment::new("linux", "x86_64", "/srv/проект").with_extra(extra);
    StoredEnvironment::store(&environment, pieces)
}

fn metadata_set(kind: StreamKind, pieces: &mut Pieces) -> MetadataSet {
    MetadataSet {
        kind: kind.kind().map_or(0, Kind::number),
        object: id(OWN),
        visibility: Some(Visibility::Public),
        tags: Some(vec![(pieces.text("équipe"), pieces.text("платформа"))]),
        external_ids: Some(vec![(pieces.text("jira"), pieces.text("ANN-7"))]),
    }
}

/// The header of an object that was taken over from another system.
fn adopted(pieces: &mut Pieces) -> Box<AdoptedHeader> {
    Box::new(AdoptedHeader {
        dialect: Dialect::GitInternal,
        header_version: 1,
        schema_version: 2,
        created_at: time(),
        updated_at: time(),
        created_by: actor(pieces),
        visibility: Visibility::Public,
        tags: vec![(pieces.text("équipe"), pieces.text("платформа"))],
        external_ids: vec![(pieces.text("jira"), pieces.text("ANN-7"))],
        checksum: Some(IntegrityHash([0xc3; 32])),
        digest: IntegrityHash([0xd4; 32]),
        violations: vec![pieces.text("status: completed → draft is no transition")],
    })
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

fn sealed(kind: Kind, pieces: &mut Pieces) -> Sealed {
    let checksum = IntegrityHash([0xc3; 32]);
    Sealed {
        kind: kind.number(),
        object: id(OWN),
        checksum: Some(pieces.text(checksum.to_string())),
        old_checksum: Some(checksum),
    }
}

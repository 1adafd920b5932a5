//! The values that examples are made of.

use annals_domain::metadata::{MetadataSet, Sealed};
use annals_domain::{
    ActorKind, AdoptedHeader, AnyEvent, Dialect, Emitted, Environment, GitOid, IntegrityHash, Json,
    Kind, Ordered, Pieces, StoredActor, StoredArtifact, StoredEnvironment, StreamKind, StreamRef,
    Timestamp, Visibility,
};
use chrono::DateTime;
use uuid::Uuid;

/// Ids that people can tell apart in a dump.
pub(super) fn id(number: u8) -> Uuid {
    Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000 | u128::from(number))
}

/// The object that the stream of each example is about.
pub(super) const OWN: u8 = 1;

pub(super) fn emitted(event: impl FnOnce(&mut Pieces) -> AnyEvent) -> Emitted {
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

pub(super) fn sha1() -> GitOid {
    GitOid::Sha1([0x5a; 20])
}

pub(super) fn sha256() -> GitOid {
    GitOid::Sha256([0xa5; 32])
}

/// 2026-01-02T03:04:05.500Z
pub(super) fn time() -> Timestamp {
    DateTime::from_timestamp(1_767_323_045, 500_000_000)
        .unwrap_or_default()
        .into()
}

pub(super) fn json(value: &serde_json::Value, pieces: &mut Pieces) -> annals_domain::Slot {
    pieces.text(crate::sorted(value.clone()).to_string())
}

pub(super) fn actor(pieces: &mut Pieces) -> StoredActor {
    StoredActor {
        kind: ActorKind::Human,
        id: "zoë@example.org".into(),
        display_name: Some(pieces.text("Zoë Müller")),
        auth_context: Some(pieces.text("oidc:example.org")),
    }
}

pub(super) fn artifact(content: &str, pieces: &mut Pieces) -> StoredArtifact {
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

pub(super) fn environment(pieces: &mut Pieces) -> StoredEnvironment {
    let extra: Ordered<Json> = Json::parse(r#"{"cores":2}"#)
        .into_iter()
        .map(|json| ("machine".to_owned(), json))
        .collect();
    let environment = Environment::new("linux", "x86_64", "/srv/проект").with_extra(extra);
    StoredEnvironment::store(&environment, pieces)
}

pub(super) fn metadata_set(kind: StreamKind, pieces: &mut Pieces) -> MetadataSet {
    MetadataSet {
        kind: kind.kind().map_or(0, Kind::number),
        object: id(OWN),
        visibility: Some(Visibility::Public),
        tags: Some(vec![(pieces.text("équipe"), pieces.text("платформа"))]),
        external_ids: Some(vec![(pieces.text("jira"), pieces.text("ANN-7"))]),
    }
}

/// The header of an object that was taken over from another system.
pub(super) fn adopted(pieces: &mut Pieces) -> Box<AdoptedHeader> {
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

pub(super) fn sealed(kind: Kind, pieces: &mut Pieces) -> Sealed {
    let checksum = IntegrityHash([0xc3; 32]);
    Sealed {
        kind: kind.number(),
        object: id(OWN),
        checksum: Some(pieces.text(checksum.to_string())),
        old_checksum: Some(checksum),
    }
}

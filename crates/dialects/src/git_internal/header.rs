//! The common header, which comes first in every object.

use annals_domain::{
    ActorKind, ActorRef, AdoptedHeader, AnyEvent, ArtifactRef, Dialect, IntegrityHash, Kind,
    Ordered, Pieces, Slot, StoredActor, Timestamp, Visibility,
};
use uuid::Uuid;

use super::fields::{Fields, Read};
use super::parts::Longest;

/// The common header of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub(super) id: Uuid,
    pub(super) kind: Kind,
    header_version: u32,
    schema_version: u32,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) created_by: ActorRef,
    visibility: Visibility,
    tags: Ordered<String>,
    external_ids: Ordered<String>,
    checksum: Option<IntegrityHash>,
}

/// The header's place in the event that begins an adoption.
pub(super) type StoreHeader<'a> = &'a dyn Fn(&mut Pieces) -> Box<AdoptedHeader>;

/// One event and its content.
pub(super) type Part = (AnyEvent, Pieces);

impl Header {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Header> {
        let id = fields.required(&["object_id"])?;
        let word: String = fields.required(&["object_type"])?;
        let kind: Kind = word
            .parse()
            .map_err(|error| fields.wrong("object_type", error))?;
        if !kind.is_git_internal() {
            let reason = format!("a {kind} is not an object of git-internal");
            return Err(fields.wrong("object_type", reason));
        }
        let header_version = version(fields, "header_version", Some(1))?;
        let schema_version = version(fields, "schema_version", None)?;
        let created_at = fields.required(&["created_at"])?;
        let created_by = fields.object(&["created_by"], actor)?;
        Ok(Header {
            id,
            kind,
            header_version,
            schema_version,
            created_at,
            updated_at: fields.optional(&["updated_at"])?.unwrap_or(created_at),
            created_by: created_by.ok_or_else(|| fields.wrong("created_by", "it is missing"))?,
            visibility: fields
                .optional(&["visibility"])?
                .unwrap_or(Visibility::Private),
            tags: fields.map("tags")?,
            external_ids: fields.map("external_ids")?,
            checksum: fields.optional(&["checksum"])?,
        })
    }

    pub(super) fn lists(&self, longest: &mut Longest) {
        longest.see(&self.tags.0, || "tags".to_owned());
        longest.see(&self.external_ids.0, || "external_ids".to_owned());
    }

    /// The header as an event has it.
    pub(super) fn store(
        &self,
        digest: IntegrityHash,
        violations: &[String],
        pieces: &mut Pieces,
    ) -> Box<AdoptedHeader> {
        Box::new(AdoptedHeader {
            dialect: Dialect::GitInternal,
            header_version: self.header_version,
            schema_version: self.schema_version,
            created_at: self.created_at,
            updated_at: self.updated_at,
            created_by: StoredActor::store(&self.created_by, pieces),
            visibility: self.visibility,
            tags: pairs(&self.tags, pieces),
            external_ids: pairs(&self.external_ids, pieces),
            checksum: self.checksum,
            digest,
            violations: pieces.texts(violations),
        })
    }
}

fn pairs(pairs: &Ordered<String>, pieces: &mut Pieces) -> Vec<(Slot, Slot)> {
    let pairs = pairs.0.iter();
    pairs
        .map(|(key, value)| (pieces.text(key.as_str()), pieces.text(value.as_str())))
        .collect()
}

fn version(fields: &mut Fields<'_>, name: &str, missing: Option<u32>) -> Read<u32> {
    let version = match (fields.optional(&[name])?, missing) {
        (Some(version), _) | (None, Some(version)) => version,
        (None, None) => return Err(fields.wrong(name, "it is missing")),
    };
    if version == 0 {
        return Err(fields.wrong(name, "it must not be 0"));
    }
    Ok(version)
}

/// Who created or requested something.
pub(super) fn actor(fields: &mut Fields<'_>) -> Read<ActorRef> {
    let kind: String = fields.required(&["kind"])?;
    Ok(
        ActorRef::new(ActorKind::from_word(&kind), fields.not_blank(&["id"])?)
            .with_display_name(fields.optional(&["display_name"])?)
            .with_auth_context(fields.optional(&["auth_context"])?),
    )
}

/// Where external content is.
pub(super) fn artifact(fields: &mut Fields<'_>) -> Read<ArtifactRef> {
    Ok(
        ArtifactRef::new(fields.not_blank(&["store"])?, fields.not_blank(&["key"])?)
            .with_content_type(fields.optional(&["content_type"])?)
            .with_size_bytes(fields.optional(&["size_bytes"])?)
            .with_hash(fields.optional(&["hash"])?)
            .with_expires_at(fields.optional(&["expires_at"])?),
    )
}

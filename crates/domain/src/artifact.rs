//! References to content outside the objects (docs/spec/git-internal.md, ArtifactRef).

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::folding::is_blank;
use crate::pieces::{BytesPiece, Pieces, Slot};
use crate::{ContentPart, IntegrityHash, Refusal, Timestamp};

/// Where external content is and how to tell that it is the right content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ArtifactRef {
    /// The storage backend: `local`, `s3`, ...; not blank.
    #[new(into)]
    #[setters(skip)]
    pub store: String,
    /// The key or path in that store; not blank.
    #[new(into)]
    #[setters(skip)]
    pub key: String,
    /// The MIME type.
    #[new(default)]
    #[serde(default)]
    pub content_type: Option<String>,
    /// The size in bytes.
    #[new(default)]
    #[serde(default)]
    pub size_bytes: Option<u64>,
    /// The SHA-256 of the content.
    #[new(default)]
    #[serde(default)]
    pub hash: Option<IntegrityHash>,
    /// When the store may forget it.
    #[new(default)]
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// What comparing content with an [`ArtifactRef`] showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// Size (where known) and hash agree.
    Verified,
    /// The reference has no hash, so nothing can be said.
    Unknown,
    /// Size or hash differ.
    Broken,
}

impl ArtifactRef {
    /// Whether `content` is what the reference names.
    ///
    /// ```
    /// use annals_domain::{ArtifactRef, Integrity, IntegrityHash};
    /// let artifact = ArtifactRef::new("local", "build.log")
    ///     .with_size_bytes(2)
    ///     .with_hash(IntegrityHash::of(b"ok"));
    /// assert_eq!(artifact.verify_integrity(b"ok"), Integrity::Verified);
    /// assert_eq!(artifact.verify_integrity(b"no"), Integrity::Broken);
    /// ```
    pub fn verify_integrity(&self, content: &[u8]) -> Integrity {
        if self
            .size_bytes
            .is_some_and(|size| size != content.len() as u64)
        {
            return Integrity::Broken;
        }
        match self.hash {
            None => Integrity::Unknown,
            Some(hash) if hash == IntegrityHash::of(content) => Integrity::Verified,
            Some(_) => Integrity::Broken,
        }
    }

    /// Whether both references name the same content: both hashes are known
    /// and equal, wherever the content is stored.
    pub fn content_eq(&self, other: &ArtifactRef) -> bool {
        self.hash.is_some() && self.hash == other.hash
    }

    /// Whether the store may have forgotten the content at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }

    /// Checks that neither store nor key is blank.
    ///
    /// # Errors
    /// [`Refusal::Invalid`].
    pub fn check(&self) -> Result<(), Refusal> {
        if is_blank(&self.store) {
            return Err(Refusal::invalid("artifact.store", "it must not be blank"));
        }
        if is_blank(&self.key) {
            return Err(Refusal::invalid("artifact.key", "it must not be blank"));
        }
        Ok(())
    }
}

/// An artifact inside an event's structure; the texts are content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "artifact")]
pub struct StoredArtifact {
    /// The storage backend; `annals` is this log.
    pub store: Slot,
    /// The key in that store; of content in this log, the number of the content itself, whose
    /// SHA-256 the key is (older events: that SHA-256).
    pub key: Slot,
    /// The MIME type.
    pub content_type: Option<Slot>,
    /// The size in bytes; absent for content in this log, which has its own size (except in older
    /// events).
    pub size_bytes: Option<u64>,
    /// The hash of the content; absent for content in this log, which has its own hash (except in
    /// older events).
    pub hash: Option<IntegrityHash>,
    /// When the store may forget it.
    pub expires_at: Option<Timestamp>,
    /// The content itself, where this log holds it; an attachment.
    #[schemars(with = "Option<BytesPiece>")]
    pub content: Option<Slot>,
}

impl StoredArtifact {
    /// Splits a reference into structure and content.
    pub fn store(artifact: &ArtifactRef, pieces: &mut Pieces) -> StoredArtifact {
        StoredArtifact {
            store: pieces.text(artifact.store.as_str()),
            key: pieces.text(artifact.key.as_str()),
            content_type: pieces.optional_text(artifact.content_type.as_deref()),
            size_bytes: artifact.size_bytes,
            hash: artifact.hash,
            expires_at: artifact.expires_at,
            content: None,
        }
    }

    /// Stores several references.
    pub fn store_all(artifacts: &[ArtifactRef], pieces: &mut Pieces) -> Vec<StoredArtifact> {
        artifacts
            .iter()
            .map(|artifact| StoredArtifact::store(artifact, pieces))
            .collect()
    }

    /// Stores references, and behind them parts whose content this log keeps.
    pub fn store_with_parts(
        artifacts: &[ArtifactRef],
        parts: &[ContentPart],
        pieces: &mut Pieces,
    ) -> Vec<StoredArtifact> {
        let mut stored = StoredArtifact::store_all(artifacts, pieces);
        stored.extend(parts.iter().map(|part| {
            let content = part.content.0.clone();
            StoredArtifact::store_content(content, &part.named_type(), pieces)
        }));
        stored
    }

    /// Puts content into this log and refers to it: store `annals`, the key is the content's
    /// SHA-256. Key, size and hash are not stored: they follow from the content, and a short one
    /// could be found by them after it was removed.
    pub fn store_content(
        content: Vec<u8>,
        content_type: &str,
        pieces: &mut Pieces,
    ) -> StoredArtifact {
        let store = pieces.text("annals");
        let content_type = Some(pieces.text(content_type));
        let content = pieces.attachment(content);
        StoredArtifact {
            store,
            key: content,
            content_type,
            size_bytes: None,
            hash: None,
            expires_at: None,
            content: Some(content),
        }
    }

    /// The content that key, size and hash are read from, where this log holds it and they are not
    /// stored.
    pub fn described_by_content(&self) -> Option<Slot> {
        self.content.filter(|content| *content == self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact() -> ArtifactRef {
        ArtifactRef {
            store: "s3".into(),
            key: "logs/1".into(),
            content_type: None,
            size_bytes: None,
            hash: None,
            expires_at: None,
        }
    }

    #[test]
    fn content_is_equal_only_by_a_known_hash() {
        let hashed = ArtifactRef {
            hash: Some(IntegrityHash::of(b"x")),
            ..artifact()
        };
        let elsewhere = ArtifactRef {
            store: "local".into(),
            ..hashed.clone()
        };
        assert!(hashed.content_eq(&elsewhere));
        assert!(!artifact().content_eq(&artifact()));
        assert_eq!(artifact().verify_integrity(b"x"), Integrity::Unknown);
    }

    #[test]
    fn expiry_is_at_its_time_and_after() {
        let expiring = ArtifactRef {
            expires_at: Some(Timestamp::EPOCH),
            ..artifact()
        };
        assert!(expiring.is_expired(Timestamp::EPOCH));
        assert!(!artifact().is_expired(Timestamp::EPOCH));
    }

    #[test]
    fn blank_store_and_key_are_refused() {
        assert!(artifact().check().is_ok());
        assert!(
            ArtifactRef {
                store: " ".into(),
                ..artifact()
            }
            .check()
            .is_err()
        );
        assert!(
            ArtifactRef {
                key: String::new(),
                ..artifact()
            }
            .check()
            .is_err()
        );
    }
}

//! Parts that several views have: labels, artifacts, the environment.

use annals_domain::{
    ArtifactRef, IntegrityHash, Slot, StoredArtifact, StoredEnvironment, Timestamp,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::{Entry, JsonText, PieceValue, Text};

/// Keys and values, in the order given. It serialises as a JSON object; a key
/// that was removed is shown as `[removed]`, the next one as `[removed 2]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels(pub Vec<(Text, Text)>);

impl Labels {
    pub(crate) fn read(pairs: &[(Slot, Slot)], entry: &Entry) -> Labels {
        Labels(
            pairs
                .iter()
                .map(|(k, v)| (entry.text(*k), entry.text(*v)))
                .collect(),
        )
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Text> {
        self.0
            .iter()
            .find(|(k, _)| k.as_str() == Some(key))
            .map(|(_, value)| value)
    }

    /// The value of the first key that ends like this, such as `.session`; `None` if it was removed.
    pub fn ending_with(&self, end: &str) -> Option<&str> {
        let is_it = |key: &Text| key.as_str().is_some_and(|key| key.ends_with(end));
        let (_, value) = self.0.iter().find(|(key, _)| is_it(key))?;
        value.as_str()
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        write_pairs(&mut map, self.0.iter())?;
        map.end()
    }
}

/// Writes pairs into a map. A JSON object cannot have a key twice, so the keys
/// that were removed are numbered.
fn write_pairs<'a, M: SerializeMap, V: Serialize + 'a>(
    map: &mut M,
    pairs: impl Iterator<Item = &'a (Text, V)>,
) -> Result<(), M::Error> {
    let mut removed = 0_u32;
    for (key, value) in pairs {
        match key {
            Text::Present(key) => map.serialize_entry(key, value)?,
            Text::Removed => {
                removed += 1;
                match removed {
                    1 => map.serialize_entry(key.to_string().as_str(), value)?,
                    n => map.serialize_entry(&format!("[removed {n}]"), value)?,
                }
            }
        }
    }
    Ok(())
}

/// Where external content is and how to tell that it is the right content
/// (docs/spec/git-internal.md, ArtifactRef).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactView {
    /// The storage backend; `annals` is this log.
    pub store: Text,
    /// The key in that store.
    pub key: Text,
    /// The MIME type.
    pub content_type: Option<Text>,
    /// The size in bytes.
    pub size_bytes: Option<u64>,
    /// The SHA-256 of the content.
    pub hash: Option<IntegrityHash>,
    /// When the store may forget it.
    pub expires_at: Option<Timestamp>,
    /// The content itself, where this log holds it; not part of the JSON.
    #[serde(skip)]
    pub content: Option<PieceValue>,
}

impl ArtifactView {
    pub(crate) fn read(artifact: &StoredArtifact, entry: &Entry) -> ArtifactView {
        let described = artifact
            .described_by_content()
            .map(|slot| entry.piece(slot));
        let (key, size_bytes, hash) = match described {
            None => (entry.text(artifact.key), artifact.size_bytes, artifact.hash),
            Some(content) => match content.digest_and_size() {
                None => (Text::Removed, None, None),
                Some((digest, size)) => {
                    let hash = IntegrityHash(digest.0);
                    (Text::Present(hash.to_string()), Some(size), Some(hash))
                }
            },
        };
        ArtifactView {
            store: entry.text(artifact.store),
            key,
            content_type: entry.optional_text(artifact.content_type),
            size_bytes,
            hash,
            expires_at: artifact.expires_at,
            content: artifact.content.map(|slot| entry.piece(slot)),
        }
    }

    pub(crate) fn read_all(artifacts: &[StoredArtifact], entry: &Entry) -> Vec<ArtifactView> {
        artifacts
            .iter()
            .map(|artifact| ArtifactView::read(artifact, entry))
            .collect()
    }

    /// The reference that commands take, unless its store or key was removed.
    /// It can verify content and tell whether it has expired.
    pub fn to_ref(&self) -> Option<ArtifactRef> {
        Some(
            ArtifactRef::new(
                self.store.as_str()?.to_owned(),
                self.key.as_str()?.to_owned(),
            )
            .with_content_type(self.content_type.as_ref().map(Text::to_string))
            .with_size_bytes(self.size_bytes)
            .with_hash(self.hash)
            .with_expires_at(self.expires_at),
        )
    }
}

/// The machine that a run is executed on (docs/spec/git-internal.md, Run.environment). It
/// serialises as one JSON object, with the extra members next to the others.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentView {
    /// The operating system.
    pub os: Text,
    /// The processor architecture.
    pub arch: Text,
    /// The working directory.
    pub cwd: Text,
    /// More, by name, in the order given.
    pub extra: Vec<(Text, JsonText)>,
}

impl EnvironmentView {
    pub(crate) fn read(environment: &StoredEnvironment, entry: &Entry) -> EnvironmentView {
        EnvironmentView {
            os: entry.text(environment.os),
            arch: entry.text(environment.arch),
            cwd: entry.text(environment.cwd),
            extra: environment
                .extra
                .iter()
                .map(|(name, json)| (entry.text(*name), entry.json(*json)))
                .collect(),
        }
    }
}

impl Serialize for EnvironmentView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("os", &self.os)?;
        map.serialize_entry("arch", &self.arch)?;
        map.serialize_entry("cwd", &self.cwd)?;
        // Something extra under the name of a field would be that field a
        // second time, and no reader would take the object.
        let is_free = |name: &Text| !matches!(name.as_str(), Some("os" | "arch" | "cwd"));
        write_pairs(
            &mut map,
            self.extra.iter().filter(|(name, _)| is_free(name)),
        )?;
        map.end()
    }
}

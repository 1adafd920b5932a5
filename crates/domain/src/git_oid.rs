//! Git object ids, SHA-1 and SHA-256.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The id of a git object. Document 000 allows 64 hex digits only; real
/// repositories are mostly SHA-1, so both are taken.
///
/// ```
/// use annals_domain::GitOid;
/// let oid: GitOid = "0123456789abcdef0123456789abcdef01234567".parse()?;
/// assert!(matches!(oid, GitOid::Sha1(_)));
/// # Ok::<(), annals_domain::InvalidGitOid>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GitOid {
    /// 20 bytes, 40 hex digits.
    Sha1([u8; 20]),
    /// 32 bytes, 64 hex digits.
    Sha256([u8; 32]),
}

/// A text that is no git object id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no git object id: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits are expected"
)]
pub struct InvalidGitOid {
    /// The text, cut to its first 80 characters.
    pub text: String,
}

impl GitOid {
    /// The id's bytes, 20 or 32.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            GitOid::Sha1(bytes) => bytes,
            GitOid::Sha256(bytes) => bytes,
        }
    }

    /// An id from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<GitOid> {
        if let Ok(sha1) = bytes.try_into() {
            return Some(GitOid::Sha1(sha1));
        }
        bytes.try_into().ok().map(GitOid::Sha256)
    }
}

impl FromStr for GitOid {
    type Err = InvalidGitOid;

    fn from_str(text: &str) -> Result<GitOid, InvalidGitOid> {
        let upper = text.bytes().any(|b| b.is_ascii_uppercase());
        let bytes = hex::decode(text).ok().filter(|_| !upper);
        bytes
            .and_then(|bytes| GitOid::from_bytes(&bytes))
            .ok_or_else(|| InvalidGitOid {
                text: text.chars().take(80).collect(),
            })
    }
}

impl fmt::Display for GitOid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.as_bytes()))
    }
}

impl fmt::Debug for GitOid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GitOid({self})")
    }
}

impl Serialize for GitOid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(self.as_bytes())
        }
    }
}

impl<'de> Deserialize<'de> for GitOid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<GitOid, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer)?
                .parse()
                .map_err(D::Error::custom);
        }
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        GitOid::from_bytes(&bytes)
            .ok_or_else(|| D::Error::custom("a git object id has 20 or 32 bytes"))
    }
}

impl JsonSchema for GitOid {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GitOid".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$" })
    }
}

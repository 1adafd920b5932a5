//! Git object ids, SHA-1 and SHA-256.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The id of a git object. git-internal allows 64 hex digits only; real
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

/// Content in which SHA-1 detects a collision attack, so that git computes no id for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this content contains a SHA-1 collision attack; git does not store such a blob")]
pub struct Sha1Attack;

/// A text that is not a git object id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid git object id {text:?}: expected 40 (SHA-1) or 64 (SHA-256) lower-case hex digits"
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

    /// The SHA-1 id of a blob with this content.
    ///
    /// ```
    /// use annals_domain::GitOid;
    /// let empty = GitOid::sha1_of_blob(b"").map(|id| id.to_string());
    /// assert_eq!(empty.as_deref(), Ok("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"));
    /// ```
    ///
    /// # Errors
    /// [`Sha1Attack`].
    pub fn sha1_of_blob(content: &[u8]) -> Result<GitOid, Sha1Attack> {
        let mut hasher = sha1dc::Hasher::new();
        hasher.update(blob_header(content).as_bytes());
        hasher.update(content);
        let digest = hasher.finalize().map_err(|_| Sha1Attack)?;
        Ok(GitOid::Sha1(digest.into()))
    }

    /// The SHA-256 id of a blob with this content.
    pub fn sha256_of_blob(content: &[u8]) -> GitOid {
        let mut hasher = Sha256::new();
        hasher.update(blob_header(content));
        hasher.update(content);
        GitOid::Sha256(hasher.finalize().into())
    }

    /// The id of a blob with this content, by the same hash as this one.
    ///
    /// # Errors
    /// [`Sha1Attack`].
    pub fn same_hash_of_blob(&self, content: &[u8]) -> Result<GitOid, Sha1Attack> {
        match self {
            GitOid::Sha1(_) => GitOid::sha1_of_blob(content),
            GitOid::Sha256(_) => Ok(GitOid::sha256_of_blob(content)),
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

/// What git hashes before a blob's content.
fn blob_header(content: &[u8]) -> String {
    format!("blob {}\0", content.len())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What `git hash-object --stdin` says, in repositories of both formats.
    #[test]
    fn the_ids_of_blobs_are_gits() {
        let sha1 = "45b983be36b73c0788dc9cbcb76cbb80fc7bb057";
        let sha256 = "96c18f0297e38d01f4b2dacddea4259aea6b2961eb0822bd2c0c3f6029030045";
        assert_eq!(
            GitOid::sha1_of_blob(b"hi\n"),
            Ok(sha1.parse().expect("an id"))
        );
        assert_eq!(
            GitOid::sha256_of_blob(b"hi\n"),
            sha256.parse().expect("an id")
        );
        for given in [sha1, sha256] {
            let id: GitOid = given.parse().expect("an id");
            assert_eq!(id.same_hash_of_blob(b"hi\n"), Ok(id));
            assert_ne!(id.same_hash_of_blob(b"hi"), Ok(id));
        }
    }
}

//! An object's hash, as git makes it.

use annals_domain::{GitOid, Kind};

/// The hash that a repository uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HashKind {
    /// 20 bytes; what most repositories use.
    #[default]
    Sha1,
    /// 32 bytes.
    Sha256,
}

/// The hash over the kind's identifier, a space, the length of the JSON in
/// bytes, a zero byte and the JSON (git-internal's `object_hash`). `None` for a
/// JSON in which SHA-1 finds an attack upon itself.
///
/// ```
/// use annals_dialects::git_internal::{HashKind, object_hash};
/// use annals_domain::Kind;
/// let hash = object_hash(Kind::Intent, "{}", HashKind::Sha1).map(|oid| oid.to_string());
/// assert_eq!(hash.as_deref(), Some("31a6bbb8c9b62fb6daf2c22f854c959bd639a413"));
/// ```
pub fn object_hash(kind: Kind, json: &str, hash: HashKind) -> Option<GitOid> {
    let mut hasher = gix::hash::hasher(match hash {
        HashKind::Sha1 => gix::hash::Kind::Sha1,
        HashKind::Sha256 => gix::hash::Kind::Sha256,
    });
    hasher.update(kind.identifier().as_bytes());
    hasher.update(format!(" {}\0", json.len()).as_bytes());
    hasher.update(json.as_bytes());
    GitOid::from_bytes(hasher.try_finalize().ok()?.as_slice())
}

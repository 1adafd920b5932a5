//! Names and numbers of the log: positions, versions, streams, digests.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use ring::digest::{Context, SHA256};
use uuid::Uuid;

/// A record's place in the whole log: dense, from 1. `Position(0)` is "before
/// the first record" and the watermark of an empty log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(pub u64);

/// A record's place in its stream: dense, from 1. `Version(0)` is "no such
/// stream yet".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Version(pub u64);

impl Position {
    /// Before the first record.
    pub const START: Position = Position(0);

    /// The position after this one.
    pub fn next(self) -> Position {
        Position(self.0.saturating_add(1))
    }
}

impl Version {
    /// The version of a stream that has no records.
    pub const NONE: Version = Version(0);

    /// The version after this one.
    pub fn next(self) -> Version {
        Version(self.0.saturating_add(1))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Identifies one event for ever.
pub type EventId = Uuid;

/// Identifies one append; repeating an append with the same id is safe.
pub type BatchId = Uuid;

/// A SHA-256 digest; written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The SHA-256 digest of `bytes`.
    ///
    /// ```
    /// use annals_event_log::Digest;
    /// assert!(Digest::of(b"").to_string().starts_with("e3b0c442"));
    /// ```
    pub fn of(bytes: &[u8]) -> Digest {
        // Requests and contents are often empty, and that digest is always the same.
        static OF_NOTHING: LazyLock<Digest> = LazyLock::new(|| Digest::of_parts([b""]));
        if bytes.is_empty() {
            return *OF_NOTHING;
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(ring::digest::digest(&SHA256, bytes).as_ref());
        Digest(digest)
    }

    /// The SHA-256 digest of all the parts, one after the other.
    pub(crate) fn of_parts<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> Digest {
        let mut context = Context::new(&SHA256);
        for part in parts {
            context.update(part.as_ref());
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(context.finish().as_ref());
        Digest(digest)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A digest is 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a SHA-256 digest: 64 hex digits are expected")]
pub struct InvalidDigest(String);

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Digest, InvalidDigest> {
        let mut bytes = [0_u8; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidDigest(text.to_owned()))?;
        Ok(Digest(bytes))
    }
}

/// The name of a stream: `<kind>-<id>`.
///
/// The kind is 1 to 32 bytes of `a-z`, `0-9` and `_`, beginning with a letter;
/// the id is 1 to 200 bytes of UTF-8 without control characters.
///
/// ```
/// use annals_event_log::StreamName;
/// let name: StreamName = "run-0198c0de".parse()?;
/// assert_eq!((name.kind(), name.id()), ("run", "0198c0de"));
/// assert!("run".parse::<StreamName>().is_err());
/// # Ok::<(), annals_event_log::InvalidStreamName>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamName(Arc<str>);

/// Why a text is not a valid stream name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is not a stream name: {reason}. A name is <kind>-<id>, the kind 1 to 32 bytes of a-z, 0-9 and _, the id 1 to 200 bytes without control characters"
)]
pub struct InvalidStreamName {
    /// The text that was refused, cut to its first 64 characters.
    pub name: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl StreamName {
    /// The longest id, in bytes.
    pub const MAX_ID: usize = 200;
    /// The longest kind, in bytes.
    pub const MAX_KIND: usize = 32;

    /// Puts a name together from its kind and id.
    ///
    /// # Errors
    /// [`InvalidStreamName`] when either part breaks the rules above.
    pub fn new(kind: &str, id: &str) -> Result<StreamName, InvalidStreamName> {
        StreamName::from_str(&format!("{kind}-{id}"))
    }

    /// A name that was checked before, when its record was decoded.
    pub(crate) fn trusted(text: &str) -> StreamName {
        StreamName(Arc::from(text))
    }

    /// Whether a text is a stream name, without making one.
    pub(crate) fn is_valid(text: &str) -> bool {
        check_name(text).is_ok()
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is before the first hyphen.
    pub fn kind(&self) -> &str {
        self.0.split_once('-').map_or("", |(kind, _)| kind)
    }

    /// What is after the first hyphen.
    pub fn id(&self) -> &str {
        self.0.split_once('-').map_or("", |(_, id)| id)
    }
}

/// Names are ordered, compared and hashed as their text.
impl Borrow<str> for StreamName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

fn check_name(text: &str) -> Result<(), &'static str> {
    let (kind, id) = text.split_once('-').ok_or("it has no hyphen")?;
    if kind.is_empty() || kind.len() > StreamName::MAX_KIND {
        return Err("its kind is empty or too long");
    }
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if !kind.bytes().all(allowed) || !kind.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err("its kind has a character that is not allowed");
    }
    if id.is_empty() {
        return Err("its id is empty");
    }
    if id.len() > StreamName::MAX_ID {
        return Err("its id is longer than 200 bytes");
    }
    if has_control(id) {
        return Err("its id has a control character");
    }
    Ok(())
}

/// Whether a text has control characters. Every record that is read asks, and
/// nearly all texts are plain ASCII, which bytes can tell.
pub(crate) fn has_control(text: &str) -> bool {
    let plain = |b: u8| (b' '..=b'~').contains(&b);
    !text.bytes().all(plain) && text.chars().any(char::is_control)
}

impl FromStr for StreamName {
    type Err = InvalidStreamName;

    fn from_str(text: &str) -> Result<StreamName, InvalidStreamName> {
        match check_name(text) {
            Ok(()) => Ok(StreamName(Arc::from(text))),
            Err(reason) => Err(InvalidStreamName {
                name: text.chars().take(64).collect(),
                reason,
            }),
        }
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamName({:?})", &*self.0)
    }
}

/// Which content of a log there was to fold: the position of the last event that said what
/// was removed from the log, [`Epoch::NONE`] where nothing was. It is kept with the log.
///
/// Copying records ([`crate::EventLog::append_records`]) removes nothing, so a copy of a
/// redacted log begins without an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Nothing was ever removed.
    pub const NONE: Epoch = Epoch(0);
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Epoch::NONE => f.write_str("before any redaction"),
            Epoch(position) => write!(f, "after the redaction at {position}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_accepted_and_refused() {
        let longest = format!("k-{}", "x".repeat(200));
        for good in [
            "run-1",
            "context_pipeline-0a",
            "a-é日本 -x",
            longest.as_str(),
        ] {
            assert_eq!(
                good.parse::<StreamName>().map(|n| n.to_string()).as_deref(),
                Ok(good)
            );
        }
        let too_long = format!("k-{}", "x".repeat(201));
        let kind_too_long = format!("{}-x", "k".repeat(33));
        for bad in [
            "",
            "-",
            "run",
            "run-",
            "-1",
            "Run-1",
            "1run-1",
            "r n-1",
            "run-a\nb",
            &too_long,
            &kind_too_long,
        ] {
            assert!(
                bad.parse::<StreamName>().is_err(),
                "{bad:?} must be refused"
            );
        }
    }
}

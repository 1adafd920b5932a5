//! The arguments of removing content, and of collecting what no event refers to.

use annals::event_log::{Digest, Position};
use clap::Args;
use regex::bytes::Regex;
use uuid::Uuid;

use super::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
Removes content (prompts, texts, paths, outputs, names) with its salt from the records, the blob store, the catalogue and the \
log's files, and records who removed it, when and why. Ids, kinds, numbers and times stay, and earlier proofs stay valid.

A target is an event (its position or id) or a blob (its SHA-256). --pattern removes every piece of content with a match, and \
queued events with one. Earlier backups, exports and proofs keep the content.

Examples:
  annals log redact 17 --reason \"a customer's name\" --dry-run
  annals log redact 17 --reason \"a customer's name\" --actor human:ada
  annals log redact --pattern 'ACME-[0-9]{8}' --reason \"keys that leaked\"
  annals log redact 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 --reason \"a core dump\"
  annals log redact --finish  remove the bytes that --fast left")]
pub(crate) struct Redact {
    /// Events and blobs: positions, event ids, SHA-256 digests
    #[arg(value_name = "EVENT|BLOB", value_parser = named, required_unless_present_any = ["patterns", "finish"])]
    pub(crate) targets: Vec<Named>,
    /// Remove every piece of content with a match of this regular expression; repeat it for more
    #[arg(long = "pattern", value_name = "REGEX")]
    pub(crate) patterns: Vec<Regex>,
    /// The reason, which is recorded
    #[arg(long, value_name = "TEXT", required_unless_present = "finish")]
    pub(crate) reason: Option<String>,
    /// Only list the content that would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Leave the old bytes in the log's files, where no command reads them; --finish removes them
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) fast: bool,
    /// Remove the bytes that earlier redactions left in the log's files
    #[arg(long, conflicts_with_all = ["targets", "patterns", "reason", "dry_run", "fast"])]
    pub(crate) finish: bool,
    #[command(flatten)]
    pub(crate) who: Who,
}

/// What is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// An event by its position.
    Position(Position),
    /// An event by its id.
    Event(Uuid),
    /// A blob.
    Blob(Digest),
}

/// A text that names nothing whose content could be removed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a position, an event id, or a SHA-256 in hexadecimal digits; for every piece of content with a text in \
     it use --pattern, for all of an object see its positions with `annals log history ID`"
)]
pub(crate) struct InvalidTarget;

fn named(text: &str) -> Result<Named, InvalidTarget> {
    // A digest first: it can be all decimal digits, and no position has as many.
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    if let Ok(digest) = hex.parse() {
        return Ok(Named::Blob(digest));
    }
    if let Ok(position) = text.parse() {
        return Ok(Named::Position(Position(position)));
    }
    if let Ok(id) = text.parse() {
        return Ok(Named::Event(id));
    }
    Err(InvalidTarget)
}

#[derive(Debug, Args)]
#[command(after_help = "\
Content over 4 KiB is stored once, as a blob by its digest. A redaction can leave blobs that no event refers to; this command \
deletes them. A referenced blob is never deleted, also while others write.

Examples:
  annals log gc          list unreferenced blobs
  annals log gc --apply  delete them")]
pub(crate) struct Gc {
    /// Collect it; without this, nothing is changed
    #[arg(long)]
    pub(crate) apply: bool,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_target_is_a_position_an_id_or_a_digest() {
        assert_eq!(named("17"), Ok(Named::Position(Position(17))));
        let id = Uuid::from_u128(7);
        assert_eq!(named(&id.to_string()), Ok(Named::Event(id)));
        let digest = Digest::of(b"x");
        assert_eq!(named(&digest.to_string()), Ok(Named::Blob(digest)));
        assert_eq!(named(&format!("sha256:{digest}")), Ok(Named::Blob(digest)));
        let zeros = Digest([0; 32]);
        assert_eq!(named(&zeros.to_string()), Ok(Named::Blob(zeros)));
        for bad in ["", "-1", "secret", "1a2b3c4d", "sha256:17"] {
            assert_eq!(named(bad), Err(InvalidTarget), "{bad}");
        }
    }
}

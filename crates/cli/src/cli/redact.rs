//! The arguments of removing content, and of collecting what no event refers to.

use annals::event_log::{Digest, Position};
use clap::Args;
use regex::bytes::Regex;
use uuid::Uuid;

use super::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
Content is what events say: prompts, texts, paths, outputs, names. Removing it takes the piece and
its salt out of the records, the blob store, the catalogue and the log's files; who had it removed,
when and why is recorded. Ids, kinds, numbers and times stay, and so does every proof that was made.

A target is an event (its position, or its id) or a blob (its SHA-256), or give --pattern, a regular
expression: every piece of content in which it is found goes, as a whole; so does what waits or was put
aside in the spool. Backups, exports and proofs that were made before keep what they have.

Examples:
  annals redact 17 --reason \"a customer's name\" --dry-run
  annals redact 17 --reason \"a customer's name\" --actor human:ada
  annals redact --pattern 'ACME-[0-9]{8}' --reason \"keys that leaked\"
  annals redact 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 --reason \"a core dump\"
  annals redact --finish            remove the bytes that --fast left")]
pub(crate) struct Redact {
    /// Events and blobs: positions, event ids, SHA-256 digests
    #[arg(value_name = "EVENT|BLOB", value_parser = named, required_unless_present_any = ["patterns", "finish"])]
    pub(crate) targets: Vec<Named>,
    /// Every piece of content in which this regular expression is found; repeat for more
    #[arg(long = "pattern", value_name = "REGEX")]
    pub(crate) patterns: Vec<Regex>,
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT", required_unless_present = "finish")]
    pub(crate) reason: Option<String>,
    /// Only say what would be removed
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
     it use --pattern, for all of an object see its positions with `annals history ID`"
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
Content over 4 KiB is stored once, as a blob by its digest. When the last event that referred to a
blob lost it by a redaction, the blob may be left over. Nothing that an event refers to is ever
collected, also while others write.

Examples:
  annals gc                       say what would be collected
  annals gc --apply               collect it, and give its room back")]
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

//! Which secrets of a file a patch would have shown: they alone would have been
//! stored.

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};

use super::patch::Side;
use super::tally::named;
use crate::secrets::{Hit, RedactedPlace, Redactions};

/// What is to be known of both sides of a change, once its patch is written.
#[derive(Debug, Default)]
pub(super) struct Sides {
    old: Option<(BString, Vec<Hit>)>,
    new: Option<(BString, Vec<Hit>)>,
}

impl Sides {
    pub(super) fn new(old: Option<Side>, new: Option<Side>) -> Sides {
        let known = |mut side: Side| {
            side.hits.sort_by_key(|hit| hit.line);
            (side.path, side.hits)
        };
        Sides {
            old: old.map(known),
            new: new.map(known),
        }
    }

    fn has_hits(&self) -> bool {
        let mut sides = [&self.old, &self.new].into_iter().flatten();
        sides.any(|(_, hits)| !hits.is_empty())
    }
}

/// Counts the secrets in the lines that a patch of a commit has: a line that both
/// sides have once.
pub(super) fn count(commit: ObjectId, sides: &Sides, patch: &[u8], redacted: &mut Redactions) {
    if !sides.has_hits() {
        return;
    }
    let (mut old, mut new) = (0, 0);
    for line in patch.lines() {
        if let Some((from, to)) = line.strip_prefix(b"@@ -").and_then(hunk) {
            (old, new) = (from, to);
            continue;
        }
        match line.first() {
            // A file that becomes something else is deleted and added.
            Some(b'd') => (old, new) = (0, 0),
            // Before the first hunk.
            _ if (old, new) == (0, 0) => {}
            Some(b'+') => {
                add(commit, "", sides.new.as_ref(), new, redacted);
                new += 1;
            }
            Some(b'-') => {
                add(commit, "^", sides.old.as_ref(), old, redacted);
                old += 1;
            }
            Some(b' ') => {
                add(commit, "", sides.new.as_ref(), new, redacted);
                (old, new) = (old + 1, new + 1);
            }
            _ => {}
        }
    }
}

/// Counts the secrets in a line of a side.
fn add(
    commit: ObjectId,
    revision: &str,
    side: Option<&(BString, Vec<Hit>)>,
    line: u64,
    redacted: &mut Redactions,
) {
    let Some((path, hits)) = side else {
        return;
    };
    // They are in the order of their lines; a file can be full of them.
    let first = hits.partition_point(|hit| hit.line < line);
    let later = hits.get(first..).unwrap_or_default().iter();
    for hit in later.take_while(|hit| hit.line == line) {
        let place = RedactedPlace {
            file: format!("{}{revision}:{path}", named(commit)),
            line,
            field: String::new(),
        };
        redacted.add(&hit.kind, place);
    }
}

/// The first lines of a hunk, by its header after `@@ -`.
fn hunk(header: &[u8]) -> Option<(u64, u64)> {
    let header = header.to_str_lossy();
    let (old, rest) = header.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let first = |range: &str| range.split(',').next()?.parse().ok();
    Some((first(old)?, first(new)?))
}

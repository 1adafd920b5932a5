//! What a commit's header says that has no place of its own in a log: parents but the first, time zones, the committer,
//! signatures. A commit that has any of these has its header as evidence of its run: as git stores it, but as UTF-8 and
//! without secrets.

use annals_domain::RunId;
use annals_domain::run::{EvidenceKind, RecordEvidence};
use annals_domain::{ContentPart, EvidenceId};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::CommitRef;

use super::remark::Remark;
use super::tally::{Tally, decode};
use crate::secrets::Secrets;

/// The longest header that is kept. A signature takes a thousand bytes, and a merged tag two thousand.
const LIMIT: usize = 64 * 1024;

/// A field of a header that has no place of its own, and how often it is there.
type Field = (&'static str, u64);

/// The header without its secrets, if it has something that has no place of its own.
pub(super) fn header(
    id: ObjectId,
    raw: &BStr,
    commit: &CommitRef<'_>,
    secrets: &Secrets,
    tally: &mut Tally,
) -> Option<String> {
    let fields = without_place(commit);
    if fields.is_empty() {
        return None;
    }
    if raw.len() > LIMIT {
        for (field, count) in fields {
            tally.fields.lost(field, count);
        }
        tally.remarks.add(Remark::HeaderTooLarge, id);
        return None;
    }
    let (text, lossless) = decode(raw, commit.encoding);
    if !lossless {
        tally.fields.lost("header's bytes", 1);
    }
    for (field, count) in fields {
        tally.fields.kept_times(field, count);
    }
    Some(tally.without_secrets(&text, secrets, id, "header"))
}

fn without_place(commit: &CommitRef<'_>) -> Vec<Field> {
    let has_zone = |person: &BStr| {
        let zone = person.fields().last();
        zone.is_some_and(|zone| zone != b"+0000" && matches!(zone.first(), Some(b'+' | b'-')))
    };
    let who = |person: &BStr| {
        let end = person.rfind_byte(b'>');
        end.and_then(|end| person.get(..end)).map(<[u8]>::to_vec)
    };
    let mut fields = Vec::new();
    if has_zone(commit.author) {
        fields.push(("author.date's time zone", 1));
    }
    if has_zone(commit.committer) {
        fields.push(("committer.date's time zone", 1));
    }
    if commit.encoding.is_some() {
        fields.push(("encoding", 1));
    }
    if who(commit.committer) != who(commit.author) {
        fields.push(("committer.name and committer.email", 1));
    }
    for (name, _) in &commit.extra_headers {
        let field = match name.as_bytes() {
            b"gpgsig" | b"gpgsig-sha256" => "gpgsig",
            b"mergetag" => "mergetag",
            _ => "other headers",
        };
        fields.push((field, 1));
    }
    if let Some(others @ 1..) = commit.parents.len().checked_sub(1) {
        fields.push(("parents but the first", others as u64));
    }
    fields
}

/// The evidence that a header is.
pub(super) fn evidence(run: RunId, id: EvidenceId, header: &str) -> RecordEvidence {
    RecordEvidence::new(run, EvidenceKind::Other("commit_header".to_owned()), "git")
        .with_id(id)
        .with_report(vec![ContentPart::new("header", header)])
}

//! What is noted while commits are read, and their texts: decoded, and without secrets.

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};

use super::remark::Remarks;
use crate::report::Fields;
use crate::secrets::{Redactions, Secrets};

/// How many digits of a commit's id name it in a report.
const NAME: usize = 12;

/// What is noted while a commit is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) fields: Fields,
    pub(super) remarks: Remarks,
    pub(super) redacted: Redactions,
}

impl Tally {
    /// A text of a commit without its secrets, which are counted.
    pub(super) fn without_secrets(
        &mut self,
        text: &str,
        secrets: &Secrets,
        commit: ObjectId,
        field: &str,
    ) -> String {
        let mut redacted = secrets.redact(text);
        for hit in &mut redacted.hits {
            field.clone_into(&mut hit.field);
        }
        self.redacted.add_hits(&named(commit), 1, &redacted.hits);
        redacted.content.into_owned()
    }
}

/// A commit as reports name it.
pub(super) fn named(commit: ObjectId) -> String {
    commit.to_hex_with_len(NAME).to_string()
}

/// A text in the encoding that the commit names; whether nothing was lost.
pub(super) fn decode(bytes: &BStr, encoding: Option<&BStr>) -> (String, bool) {
    if let Ok(text) = bytes.to_str() {
        return (text.to_owned(), true);
    }
    let name = encoding
        .map(|name| name.to_ascii_lowercase())
        .unwrap_or_default();
    if matches!(
        name.as_slice(),
        b"iso-8859-1" | b"iso8859-1" | b"latin1" | b"latin-1"
    ) {
        // Latin-1's bytes are the first 256 code points.
        return (bytes.iter().copied().map(char::from).collect(), true);
    }
    (bytes.to_str_lossy().into_owned(), false)
}

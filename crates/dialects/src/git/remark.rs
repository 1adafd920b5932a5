//! What a reader of an import should know, counted and said once each.

use std::collections::BTreeMap;

use gix::ObjectId;

/// Something about a commit that did not come over as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remark {
    CutOff,
    EmptyMessage,
    MessageCut,
    MessageNotUtf8,
    BlankAuthor,
    AuthorUnreadable,
    AuthorNotUtf8,
    AuthorCut,
    HeaderTooLarge,
    TimeUnreadable,
    TimeOutOfRange,
    PathNotUtf8,
    PathBlank,
    Submodule,
    DiffTooLarge,
    TooManyFiles,
    RenamesNotSearched,
    TooManyChanges,
    FileTooLarge,
    DiffUnreadable,
    BinaryTooLarge,
    BinarySecret,
}

impl Remark {
    fn text(self) -> &'static str {
        match self {
            Remark::CutOff => {
                "lacks its parents in this repository (a shallow clone), or they cannot be read: its first parent is named as the baseline, its diff and touched files are left out"
            }
            Remark::EmptyMessage => {
                "has an empty message: the prompt is \"(empty message)\", the title \"(no subject)\""
            }
            Remark::MessageCut => "has a message over 1 MiB, of which the beginning was kept",
            Remark::MessageNotUtf8 => {
                "has a message that is not UTF-8, whose unreadable bytes were replaced"
            }
            Remark::BlankAuthor => {
                "has an author without an e-mail address: the name, or \"unknown\", is used instead"
            }
            Remark::AuthorUnreadable => {
                "has an author line that cannot be read: \"unknown\" is used instead"
            }
            Remark::AuthorNotUtf8 => {
                "has an author that is not UTF-8, whose unreadable bytes were replaced"
            }
            Remark::AuthorCut => "has an author's e-mail address over 1,024 bytes, which was cut",
            Remark::HeaderTooLarge => "has a header over 64 KiB, which is not kept as evidence",
            Remark::TimeUnreadable => "has a date that cannot be read: 1970-01-01 is used instead",
            Remark::TimeOutOfRange => {
                "has a date outside the years 1 to 9999, moved to the nearest"
            }
            Remark::PathNotUtf8 => {
                "touches a path that is not UTF-8, whose unreadable bytes were replaced in the list of files; the diff has it whole"
            }
            Remark::PathBlank => {
                "touches a path of white space only, which is in quotes in the list of files"
            }
            Remark::Submodule => {
                "changes a submodule: it is listed with 0 lines, its content is not imported"
            }
            Remark::DiffTooLarge => {
                "has a diff that is too large (over 48 MiB, or 64 MiB as JSON): it is left out, the touched files are kept"
            }
            Remark::TooManyFiles => {
                "touches more than 2,000 files: the first 2,000 are listed, the diff has all"
            }
            Remark::RenamesNotSearched => {
                "adds and deletes too many files to compare them all: only unchanged files count as renamed"
            }
            Remark::TooManyChanges => {
                "changes more than 100,000 files and folders, or has very long paths: its diff and touched files are left out"
            }
            Remark::FileTooLarge => {
                "changes files that are too large to be compared (80 MiB before and after, 1,000,000 lines, or 1 GiB in one commit): they are listed with 0 lines, the diff has them as binary files"
            }
            Remark::DiffUnreadable => {
                "has files that cannot be read: its diff and touched files are left out"
            }
            Remark::BinaryTooLarge => {
                "changes binary files that are too large to be kept (16 MiB before and after, 24 MiB as patches of one commit, or more than its diff has room for): the diff says that they differ and cannot be applied, as the repository alone has their content"
            }
            Remark::BinarySecret => {
                "changes binary files with secrets, or private keys: the diff says that they differ and cannot be applied, as the repository alone has their content"
            }
        }
    }
}

/// The remarks of an import, each with how many commits it is about and the
/// first of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Remarks {
    counts: BTreeMap<Remark, (u64, Option<ObjectId>)>,
}

impl Remarks {
    /// Notes a remark about a commit, once however often it is made.
    pub(super) fn add(&mut self, remark: Remark, commit: ObjectId) {
        self.counts.entry(remark).or_insert((1, Some(commit)));
    }

    /// Takes in the remarks of another commit.
    pub(super) fn merge(&mut self, other: Remarks) {
        for (remark, (count, first)) in other.counts {
            let ours = self.counts.entry(remark).or_insert((0, first));
            ours.0 += count;
        }
    }

    /// The remarks as sentences.
    pub(super) fn sentences(&self) -> Vec<String> {
        let sentence = |(remark, (count, first)): (&Remark, &(u64, Option<ObjectId>))| {
            let commit = first.map(|id| id.to_string()).unwrap_or_default();
            match count {
                1 => format!("commit {commit} {}", remark.text()),
                _ => format!("each of {count} commits, {commit} first, {}", remark.text()),
            }
        };
        self.counts.iter().map(sentence).collect()
    }
}

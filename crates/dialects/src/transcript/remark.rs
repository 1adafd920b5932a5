//! What a reader of an import should know, counted and said once each.

use std::collections::BTreeMap;

/// Something about a line that did not come over as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remark {
    WorkBeforePrompt,
    EarlierThanLogged,
    SeveralValues,
    HalfCharacters,
    NoSession,
    NoTime,
    TextCut,
    PartTooLarge,
    DiffTooLarge,
    DiffMade,
    NoPath,
    NoResult,
    ResultWithoutUse,
    LateResult,
    AnotherResult,
    UsageShrinks,
    HeldTooLong,
    Waits,
    UseLost,
    DatabaseNotKept,
}

impl Remark {
    /// Returns `true` if something was left out, since it is too long.
    pub(super) fn is_left_out(self) -> bool {
        matches!(
            self,
            Remark::TextCut | Remark::PartTooLarge | Remark::DiffTooLarge
        )
    }

    fn text(self) -> &'static str {
        match self {
            Remark::WorkBeforePrompt => {
                "begins a session's work without a prompt: its task has no intent, and the title \"(no prompt)\""
            }
            Remark::EarlierThanLogged => {
                "comes before what the log has of its session, whose first prompt does not refine it: the log had the later part first. Import the files of a session together, or in their order"
            }
            Remark::SeveralValues => {
                "has several JSON values, as a writer leaves them that was interrupted: each was read"
            }
            Remark::HalfCharacters => {
                "has halves of surrogate pairs, which are no characters: each was replaced by U+FFFD"
            }
            Remark::NoSession => "names no session: the file's name stands for it",
            Remark::NoTime => {
                "has no time, or none that can be read: that of the line before stands for it"
            }
            Remark::TextCut => "has a text over 1 MiB, of which the beginning was kept",
            Remark::PartTooLarge => "has arguments, a result or a part over 16 MiB: it is left out",
            Remark::DiffTooLarge => "has a diff over 4 MiB: it is left out, the counts are kept",
            Remark::DiffMade => {
                "has an edit without a recorded patch: its diff compares the texts of the call, and its line numbers count from their beginning"
            }
            Remark::NoPath => "has an edit that names no file: it makes no patch set",
            Remark::NoResult => {
                "has a tool call that was given up without a result: it is recorded as an error"
            }
            Remark::ResultWithoutUse => "has the result of a tool call that was not read",
            Remark::LateResult => {
                "has a result that came after its call was given up: the call has the result's status from then on, and a frame has the result"
            }
            Remark::AnotherResult => {
                "has another result of a tool call that has one: the call stays as it is, and a frame has the result"
            }
            Remark::UsageShrinks => {
                "takes tokens back that an earlier import recorded: the log has more than the recording"
            }
            Remark::HeldTooLong => "belongs to a session of which no work was read: it is left out",
            Remark::Waits => {
                "belongs to something that is not there, or not yet: a later import records it, and --ended does without that"
            }
            Remark::UseLost => {
                "edits a file that a result before is about, and the step of the plan that says so could not be recorded, or not ended: the edit itself is not touched by that"
            }
            Remark::DatabaseNotKept => {
                "is a database, of which the rows are imported: its text is not kept. Keep a copy of the file"
            }
        }
    }
}

/// The remarks of an import, each with how many lines it is about and the
/// first of them.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    counts: BTreeMap<Remark, (u64, String)>,
}

impl Remarks {
    /// Notes a remark about a line.
    pub(super) fn add(&mut self, remark: Remark, file: &str, line: u64) {
        let first = || (0, format!("{file}:{line}"));
        self.counts.entry(remark).or_insert_with(first).0 += 1;
    }

    /// Remarks as sentences.
    pub(super) fn sentences(&self, which: impl Fn(Remark) -> bool) -> Vec<String> {
        let sentence = |(remark, (count, first)): (&Remark, &(u64, String))| match count {
            1 => format!("{first} {}", remark.text()),
            _ => format!("each of {count} lines, {first} first, {}", remark.text()),
        };
        let some = self.counts.iter().filter(|(remark, _)| which(**remark));
        some.map(sentence).collect()
    }
}

//! What an import did, and how faithful it was; every importer answers with one.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use uuid::Uuid;

use crate::secrets::{RedactedKind, Redactions};

/// How many broken records a report names; the others are only counted. The
/// same goes for objects with violations and for files that were passed over.
pub(crate) const NAMED: usize = 100;

/// How many paths of fields a report tells apart. Free keys (names of files,
/// say) would otherwise make a report as long as its source.
const PATHS: usize = 1_000;

/// A number of something, in words.
pub(crate) fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

/// What stands for all paths beyond [`PATHS`].
const OTHER_PATHS: &str = "(other paths)";

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is dealt with of the source: of a repository its commits, of
    /// recordings their bytes.
    pub done: u64,
    /// All that there is of it.
    pub total: u64,
}

/// A field of the source, and how often it occurred.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FieldCount {
    /// The field, named as the source names it.
    pub path: String,
    /// How many times.
    pub count: u64,
}

/// A kind of record, and how many there are of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TypeCount {
    /// The kind, named as the source names it.
    pub name: String,
    /// How many.
    pub count: u64,
}

/// A record that could not be read. Those after it were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrokenRecord {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// Something in a folder that was not looked into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// The file or link.
    pub file: String,
    /// Why it was not.
    pub reason: String,
}

/// An object that was taken over as it is, and what speaks against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violations {
    /// What it is.
    pub object_type: String,
    /// Which one it is.
    pub object_id: Uuid,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What our rules say, a sentence each.
    pub violations: Vec<String>,
}

/// What an import did. The fields are counted over the records that this
/// import appended, not over those that were there already.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// What was read: the format and the place.
    pub source: String,
    /// Records of the source that were read (of a repository: commits; of
    /// recordings: lines that are not blank, the broken ones too).
    pub records_read: u64,
    /// Records that were imported now.
    pub imported: u64,
    /// Records that an earlier import had brought in.
    pub already_there: u64,
    /// What cannot be recorded yet, because what ends it has not been read: a
    /// tool call without its result, say. A later import records it.
    pub waiting: u64,
    /// Records of types that this importer does not know.
    pub unknown_types: Vec<TypeCount>,
    /// Records of types that it knows, with nothing that a log has a place for.
    pub skipped_types: Vec<TypeCount>,
    /// How many files and links of the source's folders were not looked into.
    pub passed_over_count: u64,
    /// The first 100 of them, in the order of their paths.
    pub passed_over: Vec<PassedOver>,
    /// How many records could not be read.
    pub broken_count: u64,
    /// The first 100 of them.
    pub broken: Vec<BrokenRecord>,
    /// How many objects were taken over although rules of ours speak against
    /// them.
    pub violations_count: u64,
    /// The first 100 of them.
    pub violations: Vec<Violations>,
    /// Events that were appended.
    pub events_made: u64,
    /// What a reader of the import should know, one sentence each.
    pub notes: Vec<String>,
    /// Whether the source's history is cut off.
    pub shallow: bool,
    /// Fields that are in the log as they were.
    pub fields_kept: Vec<FieldCount>,
    /// Fields of the log that the source has only in another form, or not at all.
    pub fields_inferred: Vec<FieldCount>,
    /// Fields of the source that are not in the log.
    pub fields_lost: Vec<FieldCount>,
    /// Secrets that were taken out of what was read, also of records that were there
    /// already.
    pub redacted: Redactions,
}

impl ImportReport {
    /// Counts a record that could not be read, and names it if not too many
    /// are named already.
    pub(crate) fn add_broken(&mut self, file: &str, line: u64, reason: String) {
        self.broken_count += 1;
        if self.broken.len() < NAMED {
            let file = file.to_owned();
            self.broken.push(BrokenRecord { file, line, reason });
        }
    }

    /// Counts an object that rules speak against, and names it if not too many
    /// are named already.
    pub(crate) fn add_violations(&mut self, violations: Violations) {
        self.violations_count += 1;
        if self.violations.len() < NAMED {
            self.violations.push(violations);
        }
    }
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "source         {}", self.source)?;
        writeln!(f, "read           {}", self.records_read)?;
        writeln!(f, "imported       {}", self.imported)?;
        writeln!(f, "already there  {}", self.already_there)?;
        write!(f, "events made    {}", self.events_made)?;
        if self.waiting > 0 {
            write!(f, "\nwaiting        {}", self.waiting)?;
        }
        if self.shallow {
            write!(f, "\nshallow        yes: older history is missing")?;
        }
        write_types(f, "unknown type", &self.unknown_types)?;
        write_types(f, "skipped type", &self.skipped_types)?;
        write_passed_over(f, self)?;
        write_broken(f, self)?;
        write_violations(f, self)?;
        write_fields(f, "kept", &self.fields_kept)?;
        write_fields(f, "inferred", &self.fields_inferred)?;
        write_fields(f, "lost", &self.fields_lost)?;
        write_redacted(f, self.redacted.kinds())?;
        self.notes
            .iter()
            .try_for_each(|note| write!(f, "\nnote           {note}"))
    }
}

fn write_redacted(f: &mut fmt::Formatter<'_>, kinds: &[RedactedKind]) -> fmt::Result {
    kinds
        .iter()
        .try_for_each(|kind| write!(f, "\nredacted       {kind}"))?;
    match kinds {
        [] => Ok(()),
        _ => write!(
            f,
            "\nredacted       if one of these is no secret, import into a new log with --keep-secrets"
        ),
    }
}

fn write_types(f: &mut fmt::Formatter<'_>, name: &str, types: &[TypeCount]) -> fmt::Result {
    types
        .iter()
        .try_for_each(|kind| write!(f, "\n{name:<14} {} ({})", kind.name, kind.count))
}

fn write_passed_over(f: &mut fmt::Formatter<'_>, report: &ImportReport) -> fmt::Result {
    for PassedOver { file, reason } in &report.passed_over {
        write!(f, "\npassed over    {file}: {reason}")?;
    }
    match report.passed_over_count - report.passed_over.len() as u64 {
        0 => Ok(()),
        more => write!(f, "\npassed over    and {more} more"),
    }
}

fn write_broken(f: &mut fmt::Formatter<'_>, report: &ImportReport) -> fmt::Result {
    for BrokenRecord { file, line, reason } in &report.broken {
        write!(f, "\nbroken         {file}:{line}: {reason}")?;
    }
    match report.broken_count - report.broken.len() as u64 {
        0 => Ok(()),
        more => write!(f, "\nbroken         and {more} more"),
    }
}

fn write_violations(f: &mut fmt::Formatter<'_>, report: &ImportReport) -> fmt::Result {
    for against in &report.violations {
        let (kind, id) = (&against.object_type, against.object_id);
        let (file, line) = (&against.file, against.line);
        for violation in &against.violations {
            write!(
                f,
                "\nviolation      {file}:{line}: {kind} {id}: {violation}"
            )?;
        }
    }
    match report.violations_count - report.violations.len() as u64 {
        0 => Ok(()),
        more => write!(f, "\nviolation      and {more} more objects with some"),
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, name: &str, fields: &[FieldCount]) -> fmt::Result {
    fields
        .iter()
        .try_for_each(|field| write!(f, "\n{name:<14} {} ({})", field.path, field.count))
}

/// How many records there are of each type. A source could make up types
/// without end, so their number is limited like that of the fields' paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types(Counts);

impl Types {
    pub(crate) fn add(&mut self, name: &str) {
        self.0.add(name, 1);
    }

    pub(crate) fn list(self) -> Vec<TypeCount> {
        let count = |(name, count)| TypeCount { name, count };
        self.0.0.into_iter().map(count).collect()
    }
}

#[derive(Debug, Clone, Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, path: &str, count: u64) {
        if let Some(there) = self.0.get_mut(path) {
            *there += count;
            return;
        }
        let path = if self.0.len() < PATHS {
            path
        } else {
            OTHER_PATHS
        };
        *self.0.entry(path.to_owned()).or_default() += count;
    }

    fn add_all(&mut self, other: &Counts) {
        for (path, count) in &other.0 {
            self.add(path, *count);
        }
    }

    fn list(self) -> Vec<FieldCount> {
        let count = |(path, count)| FieldCount { path, count };
        self.0.into_iter().map(count).collect()
    }
}

/// Counts of fields while an import runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    kept: Counts,
    inferred: Counts,
    lost: Counts,
}

impl Fields {
    pub(crate) fn kept(&mut self, path: &str) {
        self.kept_times(path, 1);
    }

    pub(crate) fn kept_times(&mut self, path: &str, count: u64) {
        self.kept.add(path, count);
    }

    pub(crate) fn inferred(&mut self, path: &str) {
        self.inferred.add(path, 1);
    }

    pub(crate) fn lost(&mut self, path: &str, count: u64) {
        self.lost.add(path, count);
    }

    pub(crate) fn add(&mut self, other: &Fields) {
        self.kept.add_all(&other.kept);
        self.inferred.add_all(&other.inferred);
        self.lost.add_all(&other.lost);
    }

    /// Counts what would have been kept, had it not been refused.
    pub(crate) fn add_as_lost(&mut self, other: &Fields) {
        self.lost.add_all(&other.kept);
        self.lost.add_all(&other.lost);
    }

    /// The fields that are lost.
    pub(crate) fn into_lost(self) -> Vec<FieldCount> {
        self.lost.list()
    }

    /// Puts the counts into a report.
    pub(crate) fn report(self, report: &mut ImportReport) {
        report.fields_kept = self.kept.list();
        report.fields_inferred = self.inferred.list();
        report.fields_lost = self.lost.list();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_as_text() {
        let mut fields = Fields::default();
        fields.kept("message");
        fields.kept("message");
        fields.lost("committer", 3);
        let mut report = ImportReport {
            source: "git .".into(),
            records_read: 2,
            imported: 2,
            events_made: 28,
            shallow: true,
            notes: vec!["one commit has no message".into()],
            ..ImportReport::default()
        };
        fields.report(&mut report);
        let expected = "\
source         git .
read           2
imported       2
already there  0
events made    28
shallow        yes: older history is missing
kept           message (2)
lost           committer (3)
note           one commit has no message";
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn types_waiting_and_broken_records_are_said() {
        let mut types = Types::default();
        types.add("novelty");
        types.add("novelty");
        let mut report = ImportReport {
            source: "claude x".into(),
            waiting: 1,
            unknown_types: types.list(),
            ..ImportReport::default()
        };
        for line in 1..=102 {
            report.add_broken("a.jsonl", line, "it is no JSON".into());
        }
        let text = report.to_string();
        assert!(text.contains("waiting        1\n"), "{text}");
        assert!(text.contains("unknown type   novelty (2)\n"), "{text}");
        let last = "broken         a.jsonl:100: it is no JSON\nbroken         and 2 more";
        assert!(text.ends_with(last), "{text}");
    }

    #[test]
    fn paths_without_end_are_counted_together() {
        let mut fields = Fields::default();
        for n in 0..2 * PATHS {
            fields.lost(&format!("files.{n}"), 1);
        }
        fields.lost("files.0", 1);
        let mut report = ImportReport::default();
        fields.report(&mut report);
        let count = |path: &str| {
            let found = report.fields_lost.iter().find(|field| field.path == path);
            found.map(|field| field.count)
        };
        assert_eq!(report.fields_lost.len(), PATHS + 1);
        assert_eq!(count("files.0"), Some(2));
        assert_eq!(count(OTHER_PATHS), Some(PATHS as u64));
    }
}

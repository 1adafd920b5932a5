//! What an import did, and how faithful it was; every importer answers with one.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Records of the source that are dealt with.
    pub done: u64,
    /// Records of the source, all of them.
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

/// What an import did. The fields are counted over the records that this
/// import appended, not over those that were there already.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// What was read: the format and the place.
    pub source: String,
    /// Records of the source that were read (of a repository: commits).
    pub records_read: u64,
    /// Records that were imported now.
    pub imported: u64,
    /// Records that an earlier import had brought in.
    pub already_there: u64,
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
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "source         {}", self.source)?;
        writeln!(f, "read           {}", self.records_read)?;
        writeln!(f, "imported       {}", self.imported)?;
        writeln!(f, "already there  {}", self.already_there)?;
        write!(f, "events made    {}", self.events_made)?;
        if self.shallow {
            write!(f, "\nshallow        yes: older history is missing")?;
        }
        write_fields(f, "kept", &self.fields_kept)?;
        write_fields(f, "inferred", &self.fields_inferred)?;
        write_fields(f, "lost", &self.fields_lost)?;
        self.notes
            .iter()
            .try_for_each(|note| write!(f, "\nnote           {note}"))
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, name: &str, fields: &[FieldCount]) -> fmt::Result {
    fields
        .iter()
        .try_for_each(|field| write!(f, "\n{name:<14} {} ({})", field.path, field.count))
}

/// Counts of fields while an import runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    kept: BTreeMap<&'static str, u64>,
    inferred: BTreeMap<&'static str, u64>,
    lost: BTreeMap<&'static str, u64>,
}

impl Fields {
    pub(crate) fn kept(&mut self, path: &'static str) {
        *self.kept.entry(path).or_default() += 1;
    }

    pub(crate) fn inferred(&mut self, path: &'static str) {
        *self.inferred.entry(path).or_default() += 1;
    }

    pub(crate) fn lost(&mut self, path: &'static str, count: u64) {
        *self.lost.entry(path).or_default() += count;
    }

    pub(crate) fn add(&mut self, other: &Fields) {
        for (ours, theirs) in [
            (&mut self.kept, &other.kept),
            (&mut self.inferred, &other.inferred),
            (&mut self.lost, &other.lost),
        ] {
            for (path, count) in theirs {
                *ours.entry(path).or_default() += count;
            }
        }
    }

    /// Puts the counts into a report.
    pub(crate) fn report(self, report: &mut ImportReport) {
        let list = |counts: BTreeMap<&'static str, u64>| {
            let count = |(path, count): (&str, u64)| FieldCount {
                path: path.to_owned(),
                count,
            };
            counts.into_iter().map(count).collect()
        };
        report.fields_kept = list(self.kept);
        report.fields_inferred = list(self.inferred);
        report.fields_lost = list(self.lost);
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
}

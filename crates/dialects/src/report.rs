//! What an import did, and how faithful it was; every importer answers with one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use uuid::Uuid;

use crate::secrets::{RedactedKind, Redactions, Secrets};

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

/// Groups of fields in a line.
const GROUPS: usize = 4;

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
    /// The file, or what a source without files calls it: "commit " and its id.
    pub file: String,
    /// The line, from 1; 0 where it is not a line of a file.
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
    /// Recordings whose text was kept now, with `--keep-raw`.
    pub kept_raw: u64,
    /// What a reader of the import should know, one sentence each.
    pub notes: Vec<String>,
    /// Those of the notes that are about something which was left out, since it is too long.
    pub left_out: Vec<String>,
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

impl ImportReport {
    /// The report without the secrets that are in names of files and folders.
    #[must_use]
    pub(crate) fn without_secrets(mut self, secrets: &Secrets) -> ImportReport {
        let redacted = |text: &str| secrets.redact(text).content.into_owned();
        let named = |text: &mut String| *text = redacted(text);
        named(&mut self.source);
        for passed_over in &mut self.passed_over {
            named(&mut passed_over.file);
            named(&mut passed_over.reason);
        }
        for broken in &mut self.broken {
            named(&mut broken.file);
            named(&mut broken.reason);
        }
        let violations = self.violations.iter_mut();
        violations.for_each(|it| named(&mut it.file));
        self.notes.iter_mut().for_each(named);
        self.left_out.iter_mut().for_each(named);
        self.redacted = self.redacted.with_files(redacted);
        self
    }

    /// The report for people, a line each, with each field. `Display` has them in groups.
    pub fn with_all_fields(&self) -> impl fmt::Display {
        Shown(self.lines(true))
    }

    /// The report for people, a line each. What they name comes from the source, and may have
    /// line breaks of its own: `Display` shows those as escapes.
    fn lines(&self, has_all: bool) -> Vec<String> {
        let mut lines = vec![
            format!("source         {}", self.source),
            format!("read           {}", self.records_read),
            format!("imported       {}", self.imported),
            format!("already there  {}", self.already_there),
            format!("events made    {}", self.events_made),
        ];
        if self.kept_raw > 0 {
            let recordings = counted(self.kept_raw, "recording", "recordings");
            lines.push(format!("text kept      {recordings}: annals export raw"));
        }
        if self.waiting > 0 {
            lines.push(format!("waiting        {}", self.waiting));
        }
        if self.shallow {
            lines.push("shallow        yes: older history is missing".to_owned());
        }
        lines.extend(types("unknown type", &self.unknown_types));
        lines.extend(types("skipped type", &self.skipped_types));
        self.add_troubles(&mut lines);
        for (name, list) in [
            ("kept", &self.fields_kept),
            ("inferred", &self.fields_inferred),
            ("lost", &self.fields_lost),
        ] {
            match has_all {
                true => lines.extend(fields(name, list)),
                false => lines.extend(groups(name, list)),
            }
        }
        lines.extend(redacted(self.redacted.kinds()));
        let notes = self.notes.iter();
        lines.extend(notes.map(|note| format!("note           {note}")));
        lines
    }

    /// What was passed over, could not be read, or has rules against it.
    fn add_troubles(&self, lines: &mut Vec<String>) {
        for PassedOver { file, reason } in &self.passed_over {
            lines.push(format!("passed over    {file}: {reason}"));
        }
        let more = self.passed_over_count - self.passed_over.len() as u64;
        if more > 0 {
            lines.push(format!("passed over    and {more} more"));
        }
        for BrokenRecord { file, line, reason } in &self.broken {
            let line = match line {
                0 => String::new(),
                line => format!(":{line}"),
            };
            lines.push(format!("broken         {file}{line}: {reason}"));
        }
        let more = self.broken_count - self.broken.len() as u64;
        if more > 0 {
            lines.push(format!("broken         and {more} more"));
        }
        for against in &self.violations {
            let (kind, id) = (&against.object_type, against.object_id);
            let place = format!("{}:{}", against.file, against.line);
            for violation in &against.violations {
                lines.push(format!("violation      {place}: {kind} {id}: {violation}"));
            }
        }
        let more = self.violations_count - self.violations.len() as u64;
        if more > 0 {
            lines.push(format!("violation      and {more} more objects with some"));
        }
    }
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(self.lines(false)).fmt(f)
    }
}

/// Lines for people.
struct Shown(Vec<String>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.0.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{}", annals_terminal::line(line))?;
        }
        Ok(())
    }
}

fn redacted(kinds: &[RedactedKind]) -> impl Iterator<Item = String> {
    let advice =
        "redacted       if one of these is not a secret, import into a new log with --keep-secrets";
    let advice = (!kinds.is_empty()).then(|| advice.to_owned());
    let kinds = kinds.iter().map(|kind| format!("redacted       {kind}"));
    kinds.chain(advice)
}

fn types(name: &str, types: &[TypeCount]) -> impl Iterator<Item = String> {
    let line = move |kind: &TypeCount| format!("{name:<14} {} ({})", kind.name, kind.count);
    types.iter().map(line)
}

fn fields(name: &str, fields: &[FieldCount]) -> impl Iterator<Item = String> {
    let line = move |field: &FieldCount| format!("{name:<14} {} ({})", field.path, field.count);
    fields.iter().map(line)
}

/// The fields by the first name of their paths, most values first, in one line or a few.
fn groups(name: &str, fields: &[FieldCount]) -> Vec<String> {
    let mut by_first: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for field in fields {
        // An inferred field has words behind its path, in brackets or after a comma; an entry that is not
        // a path begins with a bracket.
        let path = field.path.split(" (").next().unwrap_or_default();
        let first = path.split(['.', '[', ',']).next();
        let first = match first.unwrap_or_default() {
            first if first.starts_with('(') => field.path.as_str(),
            first => first,
        };
        let group = by_first.entry(first).or_default();
        *group = (group.0 + 1, group.1 + field.count);
    }
    let mut groups: Vec<(&str, (u64, u64))> = by_first.into_iter().collect();
    groups.sort_by_key(|(first, (_, values))| (Reverse(*values), *first));
    let group = |(first, (fields, values)): &(&str, (u64, u64))| match fields {
        1 => format!("{first} ({values})"),
        fields => format!("{first} ({fields} fields, {values})"),
    };
    let of_all = |groups: &[(&str, (u64, u64))]| {
        let groups: Vec<String> = groups.iter().map(group).collect();
        format!("{name:<14} {}", groups.join(", "))
    };
    groups.chunks(GROUPS).map(of_all).collect()
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

/// The path of a field within what is at another path.
pub(crate) fn below(outer: &str, name: &str) -> String {
    if outer.is_empty() {
        name.to_owned()
    } else {
        format!("{outer}.{name}")
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
            report.add_broken("a.jsonl", line, "it is not valid JSON".into());
        }
        let text = report.to_string();
        assert!(text.contains("waiting        1\n"), "{text}");
        assert!(text.contains("unknown type   novelty (2)\n"), "{text}");
        let last = "broken         a.jsonl:100: it is not valid JSON\nbroken         and 2 more";
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

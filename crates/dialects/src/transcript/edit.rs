//! What calls do with files: paths, diffs and counts of lines.
//!
//! The diff is the one that the recording has. Where it has none (older versions, refused edits),
//! the diff compares the texts that the call names; its line numbers then count from the texts'
//! beginnings.

use annals_domain::run::{ChangeType, IoFootprint};
use serde::Deserialize;

use super::unified_diff;
use crate::diff::{Lines, Sink, hunks, names};

/// The longest diff that is kept, in bytes.
pub(super) const DIFF_LIMIT: usize = 4 * 1024 * 1024;

/// What a call is to do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A file that a call reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileUse {
    /// The file as the call names it.
    pub(crate) path: String,
    pub(crate) access: Access,
    pub(crate) texts: Texts,
}

impl FileUse {
    pub(crate) fn read(path: String) -> FileUse {
        FileUse {
            path,
            access: Access::Read,
            texts: Texts::default(),
        }
    }

    pub(crate) fn write(path: String, texts: Texts) -> FileUse {
        FileUse {
            path,
            access: Access::Write,
            texts,
        }
    }

    /// The file relative to `cwd`, if it is below.
    pub(crate) fn relative(&self, cwd: Option<&str>) -> String {
        relative(&self.path, cwd).to_owned()
    }

    /// The same file under the name that it has in every folder: a session may read it in one
    /// and edit it in another.
    pub(super) fn absolute(&self, cwd: Option<&str>) -> String {
        absolute(&self.path, cwd)
    }
}

/// The footprint of a call that reads and writes these files, by their names; none of one that names no file.
pub(super) fn footprint(files: impl IntoIterator<Item = (Access, String)>) -> Option<IoFootprint> {
    let mut footprint = IoFootprint::default();
    for (access, name) in files {
        match access {
            Access::Read => footprint.paths_read.push(name),
            Access::Write => footprint.paths_written.push(name),
        }
    }
    let is_empty = footprint.paths_read.is_empty() && footprint.paths_written.is_empty();
    (!is_empty).then_some(footprint)
}

/// What a call says of how it changes a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    /// All that is to be in the file.
    pub(crate) content: Option<String>,
    /// Texts and what is to stand for each of them, in order.
    pub(crate) replaced: Vec<(String, String)>,
    /// What becomes of the file, where the call says so.
    pub(crate) change: Option<ChangeType>,
    /// The file's unified diff.
    pub(crate) diff: Option<String>,
}

/// Either kind counts.
const SLASHES: [char; 2] = ['/', '\\'];

/// A path as it is if it begins at a root or a drive, or else below a folder.
fn absolute(path: &str, cwd: Option<&str>) -> String {
    let has_drive = path.chars().nth(1) == Some(':');
    match cwd {
        Some(cwd) if !path.starts_with(SLASHES) && !has_drive => {
            format!("{}/{path}", cwd.trim_end_matches(SLASHES))
        }
        _ => path.to_owned(),
    }
}

/// A path relative to a folder, if it is below.
fn relative<'a>(path: &'a str, cwd: Option<&str>) -> &'a str {
    let below = || {
        let cwd = cwd?.trim_end_matches(SLASHES);
        let rest = path.strip_prefix(cwd)?.strip_prefix(SLASHES)?;
        (!cwd.is_empty() && !rest.trim().is_empty()).then_some(rest)
    };
    below().unwrap_or(path)
}

/// What the recording has of an edit's result.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    /// The changed parts of the file.
    pub(crate) hunks: Option<Vec<PatchHunk>>,
    /// Whether the recording says that the file was made or that it was there.
    pub(crate) outcome: Option<PatchOutcome>,
}

/// What an edit found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchOutcome {
    Created,
    Updated,
}

/// Consecutive lines of a file before and after an edit, as a unified diff has them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PatchHunk {
    pub(crate) old_start: u64,
    pub(crate) old_lines: u64,
    pub(crate) new_start: u64,
    pub(crate) new_lines: u64,
    /// Each with its mark: a space, `+`, `-`, or a backslash for a note.
    pub(crate) lines: Vec<String>,
}

/// How an edit changes its file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) change_type: ChangeType,
    pub(crate) lines: Lines,
    /// The diff, unless there is none to be made or it is too long.
    pub(crate) diff: Option<Vec<u8>>,
    /// Whether the recording has no diff and this one was made.
    pub(crate) made: bool,
}

/// The change that a call makes to a file, from what it says and what the recording has of its
/// result. `path` is the file's name in the diff.
pub(crate) fn change(path: &str, texts: &Texts, patch: &Patch) -> Change {
    // What an update replaced is not always said.
    let updates = patch.outcome == Some(PatchOutcome::Updated);
    let is_new = patch.outcome == Some(PatchOutcome::Created);
    let own = texts.diff.as_deref().and_then(unified_diff::hunks);
    if let (None, Some(own)) = (&patch.hunks, own) {
        let change = from_patch(path, &own, is_new);
        return Change {
            change_type: texts.change.unwrap_or(change.change_type),
            ..change
        };
    }
    match &patch.hunks {
        Some(hunks) if !hunks.is_empty() => from_patch(path, hunks, is_new),
        Some(_) if !is_new => Change {
            change_type: ChangeType::Modify,
            lines: Lines::default(),
            diff: None,
            made: false,
        },
        _ => from_texts(path, texts, is_new, updates),
    }
}

fn from_patch(path: &str, patch: &[PatchHunk], is_new: bool) -> Change {
    let mut sink = Sink::new(DIFF_LIMIT);
    sink.write(&header(path, is_new));
    let mut lines = Lines::default();
    for hunk in patch {
        let (old, new) = (hunk.old_start, hunk.new_start);
        let range = format!(
            "@@ -{old},{} +{new},{} @@\n",
            hunk.old_lines, hunk.new_lines
        );
        sink.write(range.as_bytes());
        for line in &hunk.lines {
            lines.added += u32::from(line.starts_with('+'));
            lines.deleted += u32::from(line.starts_with('-'));
            sink.write(line.as_bytes());
            sink.write(b"\n");
        }
    }
    Change {
        change_type: change_type(is_new),
        lines,
        diff: sink.into_bytes(),
        made: false,
    }
}

fn from_texts(path: &str, texts: &Texts, is_new: bool, updates: bool) -> Change {
    let mut sink = Sink::new(DIFF_LIMIT);
    let is_new = is_new || (texts.content.is_some() && !updates);
    let content = texts.content.iter().map(|content| ("", content.as_str()));
    let replaced = texts.replaced.iter();
    let replaced = replaced.map(|(old, new)| (old.as_str(), new.as_str()));
    let mut lines = Lines::default();
    let mut header = header(path, is_new && texts.content.is_some());
    for (old, new) in content.chain(replaced) {
        let written = hunks::write(&ended(old), &ended(new), &header, &mut sink);
        if written != Lines::default() {
            header.clear();
        }
        lines.added = lines.added.saturating_add(written.added);
        lines.deleted = lines.deleted.saturating_add(written.deleted);
    }
    Change {
        change_type: texts.change.unwrap_or(change_type(is_new)),
        lines,
        diff: sink.into_bytes().filter(|diff| !diff.is_empty()),
        made: true,
    }
}

fn change_type(is_new: bool) -> ChangeType {
    if is_new {
        ChangeType::Add
    } else {
        ChangeType::Modify
    }
}

fn header(path: &str, is_new: bool) -> Vec<u8> {
    let old = if is_new {
        names::NOTHING.to_vec()
    } else {
        names::quoted("a/", path.as_bytes())
    };
    names::header(&old, &names::quoted("b/", path.as_bytes()))
}

/// A part of a file with a line end at its end: it is not the end of a file that lacks one.
fn ended(text: &str) -> Vec<u8> {
    let mut text = text.as_bytes().to_vec();
    if text.last().is_some_and(|last| *last != b'\n') {
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that is too long for a diff has as many lines as one that is not.
    #[test]
    fn the_lines_of_a_long_text_are_counted_without_a_diff() {
        for end in ["\n", "x"] {
            let long = format!("{}{end}", "line\n".repeat(DIFF_LIMIT / 5 + 7));
            let texts = Texts {
                content: Some(long.clone()),
                ..Texts::default()
            };
            let change = change("a", &texts, &Patch::default());
            // With room for all of it, it is compared.
            let mut sink = Sink::new(usize::MAX);
            let compared = hunks::write(b"", &ended(&long), b"", &mut sink);
            assert_eq!(change.lines, compared);
            assert_eq!(change.lines.added as usize, DIFF_LIMIT / 5 + 8);
            assert_eq!((change.diff, change.made), (None, true));
        }
    }

    #[test]
    fn paths_are_relative_to_the_folder_that_they_are_below() {
        for (path, cwd, expected) in [
            ("/a/b/c", "/a/b", "c"),
            ("/a/b/c", "/a/b/", "c"),
            ("/a/bc", "/a/b", "/a/bc"),
            ("/a/b", "/a/b", "/a/b"),
            ("c", "/a/b", "c"),
            ("/x", "", "/x"),
            (r"C:\a\b", r"C:\a", "b"),
        ] {
            assert_eq!(relative(path, Some(cwd)), expected, "{path} in {cwd}");
        }
        assert_eq!(relative("/x", None), "/x");
    }

    #[test]
    fn a_file_has_one_name_in_all_folders() {
        for (path, cwd, expected) in [
            ("/a/b/c", "/a/b", "/a/b/c"),
            ("b/c", "/a/", "/a/b/c"),
            (r"C:\a\b", r"C:\a", r"C:\a\b"),
        ] {
            assert_eq!(absolute(path, Some(cwd)), expected, "{path} in {cwd}");
        }
        assert_eq!(absolute("x", None), "x");
    }
}

//! What the tools that write files were asked to do, and what they did: paths,
//! diffs and counts of lines.
//!
//! The diff is the one that the recording has (`structuredPatch`). Where it
//! has none (older versions, refused edits), the diff compares the texts that
//! the call names; its line numbers then count from the texts' beginnings.

use std::collections::HashMap;

use annals_domain::run::ChangeType;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::diff::{Lines, Sink, hunks, names};

/// The longest diff that is kept, in bytes.
pub(super) const DIFF_LIMIT: usize = 4 * 1024 * 1024;

/// What a call is to do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// The field of a tool's input that names a file, and what it does with it;
/// none for tools whose footprint is not known.
pub(super) fn access(tool: &str) -> Option<(&'static str, Access)> {
    match tool {
        "Read" => Some(("file_path", Access::Read)),
        "Edit" | "MultiEdit" | "Write" => Some(("file_path", Access::Write)),
        "NotebookEdit" => Some(("notebook_path", Access::Write)),
        _ => None,
    }
}

/// The arguments of the tools that read and write files.
#[derive(Debug, Default)]
pub(super) struct Input {
    file_path: Option<String>,
    notebook_path: Option<String>,
    old_string: Option<String>,
    new_string: Option<String>,
    edits: Option<Vec<Replacement>>,
    content: Option<String>,
    new_source: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Replacement {
    #[serde(default)]
    old_string: String,
    #[serde(default)]
    new_string: String,
}

impl Input {
    /// Reads the arguments of a tool; what is not as expected is as if it
    /// were not there.
    pub(super) fn of(input: Option<&RawValue>) -> Input {
        let fields: HashMap<String, &RawValue> = input
            .and_then(|input| serde_json::from_str(input.get()).ok())
            .unwrap_or_default();
        // Each by itself: an odd one does not keep the others out.
        fn field<T: DeserializeOwned>(from: &HashMap<String, &RawValue>, name: &str) -> Option<T> {
            serde_json::from_str(from.get(name)?.get()).ok()
        }
        Input {
            file_path: field(&fields, "file_path"),
            notebook_path: field(&fields, "notebook_path"),
            old_string: field(&fields, "old_string"),
            new_string: field(&fields, "new_string"),
            edits: field(&fields, "edits"),
            content: field(&fields, "content"),
            new_source: field(&fields, "new_source"),
        }
    }

    /// The file that the call names, relative to `cwd` if it is below.
    pub(super) fn path(&self, field: &str, cwd: Option<&str>) -> Option<String> {
        Some(relative(self.named(field)?, cwd).to_owned())
    }

    /// The same file under the name that it has in every folder: a session
    /// may read it in one and edit it in another.
    pub(super) fn place(&self, field: &str, cwd: Option<&str>) -> Option<String> {
        Some(absolute(self.named(field)?, cwd))
    }

    fn named(&self, field: &str) -> Option<&str> {
        let path = match field {
            "notebook_path" => self.notebook_path.as_deref(),
            _ => self.file_path.as_deref(),
        };
        path.filter(|path| !path.trim().is_empty())
    }
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
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recorded {
    #[serde(default)]
    structured_patch: Option<Vec<PatchHunk>>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PatchHunk {
    old_start: u64,
    old_lines: u64,
    new_start: u64,
    new_lines: u64,
    lines: Vec<String>,
}

/// How an edit changes its file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) change_type: ChangeType,
    pub(super) lines: Lines,
    /// The diff, unless there is none to be made or it is too long.
    pub(super) diff: Option<Vec<u8>>,
    /// Whether the recording has no diff and this one was made.
    pub(super) made: bool,
}

/// The change that a call makes, from its arguments and what the recording
/// has of its result.
pub(super) fn change(path: &str, input: &Input, result: Option<&RawValue>) -> Change {
    let recorded: Recorded = result
        .and_then(|result| serde_json::from_str(result.get()).ok())
        .unwrap_or_default();
    // What an update replaced is not always said.
    let updates = recorded.kind.as_deref() == Some("update");
    let is_new = recorded.kind.as_deref() == Some("create");
    match recorded.structured_patch {
        Some(patch) if !patch.is_empty() => from_patch(path, &patch, is_new),
        Some(_) if !is_new => Change {
            change_type: ChangeType::Modify,
            lines: Lines::default(),
            diff: None,
            made: false,
        },
        _ => from_input(path, input, is_new, updates),
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

fn from_input(path: &str, input: &Input, is_new: bool, updates: bool) -> Change {
    let mut sink = Sink::new(DIFF_LIMIT);
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let is_new = is_new || (input.content.is_some() && !updates);
    if let Some(content) = &input.content {
        pairs.push(("", content));
    }
    if let (Some(old), Some(new)) = (&input.old_string, &input.new_string) {
        pairs.push((old, new));
    }
    let edits = input.edits.iter().flatten();
    pairs.extend(edits.map(|edit| (edit.old_string.as_str(), edit.new_string.as_str())));
    // What a notebook's cell held before is not said.
    if let Some(source) = &input.new_source {
        pairs.push(("", source));
    }
    let mut lines = Lines::default();
    let mut header = header(path, is_new && input.content.is_some());
    for (old, new) in pairs {
        let written = hunks::write(&ended(old), &ended(new), &header, &mut sink);
        if written != Lines::default() {
            header.clear();
        }
        lines.added = lines.added.saturating_add(written.added);
        lines.deleted = lines.deleted.saturating_add(written.deleted);
    }
    Change {
        change_type: change_type(is_new),
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

/// A part of a file ends where it ends: it is no file without a last line end.
fn ended(text: &str) -> Vec<u8> {
    let mut text = text.as_bytes().to_vec();
    if text.last().is_some_and(|last| *last != b'\n') {
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json, value::to_raw_value};

    use super::*;

    fn check(tool: &str, input: Value, result: Value, counts: (u32, u32), diff: &str) -> Change {
        let input = to_raw_value(&input).unwrap();
        let result = to_raw_value(&result).unwrap();
        let input = Input::of(Some(&input));
        let (field, access) = access(tool).unwrap();
        assert_eq!(access, Access::Write);
        let path = input.path(field, Some("/src")).unwrap();
        let change = change(&path, &input, Some(&result));
        assert_eq!((change.lines.added, change.lines.deleted), counts);
        let text = change.diff.as_deref().unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(text), diff);
        change
    }

    #[test]
    fn the_recorded_patch_is_the_diff() {
        let input = json!({"file_path": "/src/a b.txt", "old_string": "x", "new_string": "y"});
        let hunk = json!({"oldStart": 5, "oldLines": 2, "newStart": 5, "newLines": 3,
            "lines": [" keep", "-x", "+y", "+z", "\\ No newline at end of file"]});
        let diff = "--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -5,2 +5,3 @@\n keep\n-x\n+y\n+z\n\\ No newline at end of file\n";
        let change = check(
            "Edit",
            input,
            json!({"structuredPatch": [hunk]}),
            (2, 1),
            diff,
        );
        assert!(!change.made && change.change_type == ChangeType::Modify);
    }

    #[test]
    fn without_a_recorded_patch_the_texts_are_compared() {
        let input =
            json!({"file_path": "/src/a", "old_string": "1\n2\n3", "new_string": "1\n3\n4"});
        let diff = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n 3\n+4\n";
        assert!(check("Edit", input, json!("Error: refused"), (1, 1), diff).made);
        let edits =
            json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]);
        let input = json!({"file_path": "/elsewhere/a", "edits": edits});
        let diff =
            "--- a//elsewhere/a\n+++ b//elsewhere/a\n@@ -1 +1 @@\n-a\n+b\n@@ -1 +0,0 @@\n-c\n";
        check("MultiEdit", input, json!(null), (1, 2), diff);
    }

    #[test]
    fn a_new_file_is_added_whole() {
        let input = json!({"file_path": "/src/new", "content": "1\n2\n"});
        let result = json!({"type": "create", "structuredPatch": []});
        let diff = "--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+1\n+2\n";
        let change = check("Write", input, result, (2, 0), diff);
        assert_eq!(change.change_type, ChangeType::Add);
    }

    #[test]
    fn an_edit_that_changed_nothing_has_no_diff() {
        let input = json!({"file_path": "/src/a", "content": "1\n"});
        let result = json!({"type": "update", "structuredPatch": []});
        let change = check("Write", input, result, (0, 0), "");
        assert_eq!(
            (change.diff, change.change_type),
            (None, ChangeType::Modify)
        );
    }

    #[test]
    fn a_cell_of_a_notebook_is_what_was_written() {
        let input = json!({"notebook_path": "/src/n.ipynb", "new_source": "x = 1"});
        let diff = "--- a/n.ipynb\n+++ b/n.ipynb\n@@ -0,0 +1 @@\n+x = 1\n";
        check("NotebookEdit", input, json!({}), (1, 0), diff);
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

    #[test]
    fn odd_arguments_are_no_arguments() {
        let raw = to_raw_value(&json!({"file_path": 5, "content": "x"})).unwrap();
        assert_eq!(Input::of(Some(&raw)).path("file_path", None), None);
        assert_eq!(Input::of(None).path("file_path", None), None);
    }
}

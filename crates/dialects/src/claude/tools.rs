//! What Claude Code's tools do with files, by their names, inputs and results.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::edit::{FileUse, Patch, PatchHunk, PatchOutcome, Texts};

use super::{fields, written};

/// Claude Code.
pub(crate) static AGENT: Agent = Agent {
    key: "claude",
    actor: "claude-code",
    provider: "anthropic",
    version_key: "claude_code_version",
    no_model: "<synthetic>",
    token_paths: fields::TOKENS,
    setting_paths: ["cwd", "gitBranch", "version"],
    time_path: "timestamp",
    session_path: "sessionId",
    files,
    edits,
    patch,
    asked: written::asked,
    begins_beside: written::begins_beside,
};

#[derive(Debug, Deserialize)]
struct Replacement {
    #[serde(default)]
    old_string: String,
    #[serde(default)]
    new_string: String,
}

fn edits(tool: &str) -> bool {
    matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit")
}

/// The file that a call names; none for tools whose footprint is not known.
fn files(tool: &str, input: Option<&RawValue>) -> Vec<FileUse> {
    let field = match tool {
        "Read" | "Edit" | "MultiEdit" | "Write" => "file_path",
        "NotebookEdit" => "notebook_path",
        _ => return Vec::new(),
    };
    let input = Input::of(input);
    let Some(path) = input.text(field).filter(|path| !path.trim().is_empty()) else {
        return Vec::new();
    };
    match edits(tool) {
        true => vec![FileUse::write(path, input.texts())],
        false => vec![FileUse::read(path)],
    }
}

/// The arguments of a tool; what is not as expected is as if it were not there.
struct Input<'a>(HashMap<String, &'a RawValue>);

impl<'a> Input<'a> {
    fn of(input: Option<&'a RawValue>) -> Input<'a> {
        let fields = input.and_then(|input| serde_json::from_str(input.get()).ok());
        Input(fields.unwrap_or_default())
    }

    // Each by itself: an odd one does not keep the others out.
    fn field<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.field(name)
    }

    fn texts(&self) -> Texts {
        let mut replaced = Vec::new();
        if let (Some(old), Some(new)) = (self.text("old_string"), self.text("new_string")) {
            replaced.push((old, new));
        }
        let edits: Option<Vec<Replacement>> = self.field("edits");
        let edits = edits.into_iter().flatten();
        replaced.extend(edits.map(|edit| (edit.old_string, edit.new_string)));
        // What a notebook's cell held before is not said.
        let cell = self.text("new_source");
        replaced.extend(cell.map(|source| (String::new(), source)));
        Texts {
            content: self.text("content"),
            replaced,
            ..Texts::default()
        }
    }
}

fn patch(details: Option<&RawValue>) -> Patch {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Recorded {
        #[serde(default)]
        structured_patch: Option<Vec<PatchHunk>>,
        #[serde(default, rename = "type")]
        kind: Option<String>,
    }
    let recorded: Recorded = details
        .and_then(|details| serde_json::from_str(details.get()).ok())
        .unwrap_or_default();
    Patch {
        hunks: recorded.structured_patch,
        outcome: match recorded.kind.as_deref() {
            Some("create") => Some(PatchOutcome::Created),
            Some("update") => Some(PatchOutcome::Updated),
            _ => None,
        },
    }
}

/// The ids of what is imported.
pub fn ids() -> Ids {
    Ids::of(AGENT.key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json, value::to_raw_value};

    use annals_domain::run::ChangeType;

    use super::*;
    use crate::transcript::edit::{Access, Change, change};

    fn check(tool: &str, input: Value, result: Value, counts: (u32, u32), diff: &str) -> Change {
        let input = to_raw_value(&input).unwrap();
        let result = to_raw_value(&result).unwrap();
        let file = files(tool, Some(&input)).pop().unwrap();
        assert!(file.access == Access::Write && edits(tool));
        let path = file.relative(Some("/src"));
        let change = change(&path, &file.texts, &patch(Some(&result)));
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
    fn odd_arguments_do_not_count() {
        let raw = to_raw_value(&json!({"file_path": 5, "content": "x"})).unwrap();
        assert_eq!(files("Edit", Some(&raw)), []);
        assert_eq!(files("Edit", None), []);
    }
}

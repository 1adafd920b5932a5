//! What OpenCode's tools do with files, by their names, inputs and what they say of their edits.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::fields;
use crate::import::members::Members;
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::edit::{FileUse, Patch, PatchOutcome, Texts};
use crate::transcript::{apply_patch, unified_diff};

/// OpenCode. The provider of a model comes before its name, as in `anthropic/claude-1`.
pub(crate) static AGENT: Agent = Agent {
    key: "opencode",
    actor: "opencode",
    provider: "(in the model's name)",
    version_key: "opencode_version",
    no_model: "(none)",
    token_paths: fields::TOKENS,
    setting_paths: ["directory", "(the branch)", "version"],
    time_path: "time_created",
    session_path: "session_id",
    files,
    edits,
    patch,
    asked,
    begins_beside: |_| false,
};

/// What the program adds to a person's words is in parts of its own.
fn asked(text: &str) -> Option<&str> {
    (!text.trim().is_empty()).then_some(text)
}

fn edits(tool: &str) -> bool {
    matches!(
        tool,
        "edit" | "write" | "multiedit" | "apply_patch" | "patch"
    )
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    #[serde(default)]
    file_path: Option<String>,
    /// What newer versions call it.
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    old_string: Option<String>,
    #[serde(default)]
    new_string: Option<String>,
    #[serde(default)]
    patch_text: Option<String>,
    #[serde(default)]
    edits: Vec<Replacement>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    #[serde(default)]
    old_string: String,
    #[serde(default)]
    new_string: String,
}

impl Input {
    /// A replacement of nothing is a new file.
    fn texts(self) -> Texts {
        let one = match (self.old_string, self.new_string) {
            (Some(old_string), Some(new_string)) => Some(Replacement {
                old_string,
                new_string,
            }),
            _ => None,
        };
        let mut texts = Texts {
            content: self.content,
            ..Texts::default()
        };
        for edit in one.into_iter().chain(self.edits) {
            match edit.old_string.is_empty() && texts.content.is_none() {
                true => texts.content = Some(edit.new_string),
                false => texts.replaced.push((edit.old_string, edit.new_string)),
            }
        }
        texts
    }
}

/// The files that a call names; none for tools whose footprint is not known.
fn files(tool: &str, input: Option<&RawValue>) -> Vec<FileUse> {
    let input: Input = input
        .and_then(|input| serde_json::from_str(input.get()).ok())
        .unwrap_or_default();
    if let ("apply_patch" | "patch", Some(patch)) = (tool, &input.patch_text) {
        return apply_patch::files(patch);
    }
    let has_name = |path: &String| !path.trim().is_empty();
    let path = input.file_path.clone().or_else(|| input.path.clone());
    let Some(path) = path.filter(has_name) else {
        return Vec::new();
    };
    match tool {
        "read" => vec![FileUse::read(path)],
        "edit" | "write" | "multiedit" => vec![FileUse::write(path, input.texts())],
        _ => Vec::new(),
    }
}

fn patch(details: Option<&RawValue>) -> Patch {
    #[derive(Default, Deserialize)]
    struct Metadata {
        #[serde(default)]
        diff: Option<String>,
        #[serde(default, alias = "existed")]
        exists: Option<bool>,
        #[serde(default)]
        files: Vec<Changed>,
    }
    #[derive(Deserialize)]
    struct Changed {
        #[serde(default)]
        patch: Option<String>,
    }
    let metadata: Metadata = details
        .and_then(|details| serde_json::from_str(details.get()).ok())
        .unwrap_or_default();
    // Newer versions have a diff for each file.
    let patch = match metadata.files.as_slice() {
        [file] => file.patch.as_deref(),
        _ => None,
    };
    let diff = metadata.diff.as_deref().or(patch);
    Patch {
        hunks: diff.and_then(unified_diff::hunks),
        outcome: match metadata.exists {
            Some(true) => Some(PatchOutcome::Updated),
            Some(false) => Some(PatchOutcome::Created),
            None => None,
        },
    }
}

/// Returns `true` if the details of a result say that a command ended with another exit code than 0.
pub(super) fn has_failed(details: Option<&RawValue>) -> bool {
    let code: Option<i64> = Members::of(details).get("exit");
    code.is_some_and(|code| code != 0)
}

/// The ids of what is imported.
pub fn ids() -> Ids {
    Ids::of(AGENT.key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    #[test]
    fn a_command_that_exits_with_another_code_than_0_has_failed() {
        for (details, expected) in [
            (json!({ "exit": 3, "output": "x" }), true),
            (json!({ "exit": -1 }), true),
            (json!({ "exit": 0 }), false),
            (json!({ "exit": null }), false),
            (json!({ "exit": "3" }), false),
            (json!([]), false),
        ] {
            let raw = to_raw_value(&details).unwrap();
            assert_eq!(has_failed(Some(&raw)), expected, "{details}");
        }
        assert!(!has_failed(None));
    }

    use serde_json::{Value, json, value::to_raw_value};

    use super::*;
    use crate::transcript::edit::{Access, change};

    fn check(tool: &str, input: Value, metadata: Value, expected: &str) {
        let input = to_raw_value(&input).unwrap();
        let metadata = to_raw_value(&metadata).unwrap();
        let file = files(tool, Some(&input)).pop().unwrap();
        assert!(file.access == Access::Write && edits(tool));
        let path = file.relative(Some("/p"));
        let change = change(&path, &file.texts, &patch(Some(&metadata)));
        let diff = change.diff.unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&diff), expected);
    }

    #[test]
    fn the_diff_that_a_tool_says_is_the_diff() {
        let diff = "Index: /p/a\n===\n--- /p/a\n+++ /p/a\n@@ -7,1 +7,1 @@\n-x\n+y\n";
        let input = json!({ "filePath": "/p/a", "oldString": "x", "newString": "y" });
        let expected = "--- a/a\n+++ b/a\n@@ -7,1 +7,1 @@\n-x\n+y\n";
        check("edit", input, json!({ "diff": diff }), expected);
    }

    #[test]
    fn the_diff_of_the_only_file_is_the_diff() {
        let diff = "Index: a\n===\n--- a\n+++ a\n@@ -7,1 +7,1 @@\n-x\n+y\n";
        let input = json!({ "path": "/p/a", "oldString": "x", "newString": "y" });
        let files = json!({ "files": [{ "file": "a", "patch": diff, "additions": 1 }] });
        let expected = "--- a/a\n+++ b/a\n@@ -7,1 +7,1 @@\n-x\n+y\n";
        check("edit", input, files, expected);
    }

    #[test]
    fn without_one_the_texts_are_compared() {
        let input = json!({ "filePath": "/p/n", "oldString": "", "newString": "1\n" });
        let added = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n";
        check("edit", input, json!({}), added);
        let input = json!({ "filePath": "/p/n", "content": "1\n" });
        check("write", input.clone(), json!({ "exists": false }), added);
        let of_two = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n";
        check("write", input, json!({ "diff": of_two }), added);
        let edits = json!([{ "oldString": "a", "newString": "b" }]);
        let input = json!({ "filePath": "/p/n", "edits": edits });
        let changed = "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n";
        check("multiedit", input, json!(null), changed);
    }

    #[test]
    fn a_patch_names_its_files() {
        let text = "*** Begin Patch\n*** Add File: n\n+1\n*** Delete File: o\n*** End Patch";
        let input = to_raw_value(&json!({ "patchText": text })).unwrap();
        let files = files("apply_patch", Some(&input));
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["n", "o"]);
        assert!(files.iter().all(|file| file.access == Access::Write) && edits("apply_patch"));
    }

    #[test]
    fn odd_inputs_name_no_file() {
        let raw = to_raw_value(&json!({ "filePath": 5 })).unwrap();
        assert_eq!(files("edit", Some(&raw)), []);
        assert_eq!(files("edit", None), []);
        let raw = to_raw_value(&json!({ "filePath": "x" })).unwrap();
        assert_eq!(files("bash", Some(&raw)), []);
    }
}

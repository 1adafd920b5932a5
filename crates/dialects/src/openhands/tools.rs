//! What OpenHands' tools do with files, by their names, inputs and results.

use annals_domain::run::ChangeType;
use serde_json::value::RawValue;

use crate::import::members::Members;
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::edit::{FileUse, Patch, PatchOutcome, Texts};
use crate::transcript::{apply_patch, editor};

/// OpenHands.
pub(crate) static AGENT: Agent = Agent {
    key: "openhands",
    actor: "openhands",
    provider: "unknown",
    version_key: "openhands_version",
    no_model: "",
    token_paths: [
        "usage.prompt_tokens",
        "usage.cache_read_tokens",
        "usage.cache_write_tokens",
        "usage.completion_tokens",
        "usage.reasoning_tokens",
        "usage.(kept for an hour)",
        "accumulated_cost",
        "usage.(searches)",
    ],
    setting_paths: ["working_dir", "branch", "version"],
    time_path: "timestamp",
    session_path: "conversation",
    files,
    edits,
    patch,
    asked: |text| Some(text).filter(|text| !text.trim().is_empty()),
    begins_beside: |_| false,
};

/// The editor changes files only by some of its commands.
fn edits(tool: &str) -> bool {
    matches!(
        tool,
        "apply_patch" | "edit" | "edit_file" | "write" | "write_file"
    )
}

fn files(tool: &str, input: Option<&RawValue>) -> Vec<FileUse> {
    let input = Members::of(input);
    let path = || input.text("file_path").or_else(|| input.text("path"));
    let write = |texts| path().map(|path| FileUse::write(path, texts));
    let one = match tool {
        "str_replace_editor"
        | "file_editor"
        | "planning_file_editor"
        | "str_replace_based_edit_tool" => {
            return editor::files(&input);
        }
        // The editor, as the program reads its call.
        "edit" | "read" if input.text("command").is_some() => return editor::files(&input),
        "apply_patch" => {
            let patch = ["patch", "patch_text", "input"];
            let patch = patch.into_iter().find_map(|name| input.text(name));
            return apply_patch::files(&patch.unwrap_or_default());
        }
        "edit" | "edit_file" => write(edited(&input)),
        "write" | "write_file" => write(Texts {
            content: input.get("content"),
            ..Texts::default()
        }),
        "read" | "read_file" => path().map(FileUse::read),
        _ => None,
    };
    one.into_iter().collect()
}

/// An edit by a text and what stands for it, or by lines, of which only the new ones are said.
fn edited(input: &Members<'_>) -> Texts {
    let of = |name: &str| input.get::<String>(name);
    match (of("old_string"), of("new_string")) {
        (Some(old), Some(new)) if old.is_empty() => Texts {
            content: Some(new),
            ..Texts::default()
        },
        (Some(old), Some(new)) => Texts {
            replaced: vec![(old, new)],
            ..Texts::default()
        },
        _ => Texts {
            replaced: of("content")
                .map(|new| (String::new(), new))
                .into_iter()
                .collect(),
            change: Some(ChangeType::Modify),
            ..Texts::default()
        },
    }
}

/// The file before and after the edit, where the recording has both, or a diff of it.
fn patch(details: Option<&RawValue>) -> Patch {
    let details = Members::of(details);
    let content = |name: &str| details.get::<String>(name);
    let is_new =
        details.get("prev_exist") == Some(false) || details.get("is_new_file") == Some(true);
    let old = content("old_content").or_else(|| is_new.then(String::new));
    let hunks = match (old, content("new_content"), content("diff")) {
        (Some(old), Some(new), _) => editor::changed(&old, &new),
        (_, _, Some(diff)) => Some(editor::of_diff(&diff)).filter(|hunks| !hunks.is_empty()),
        _ => None,
    };
    let is_known = details.raw("prev_exist").is_some() || details.raw("is_new_file").is_some();
    let outcome = match is_new {
        true => Some(PatchOutcome::Created),
        false => is_known.then_some(PatchOutcome::Updated),
    };
    Patch { hunks, outcome }
}

/// The ids of what is imported.
pub fn ids() -> Ids {
    Ids::of(AGENT.key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json, value::to_raw_value};

    use super::*;
    use crate::transcript::edit::{Access, change};

    /// The files of a call as `access path type +added -deleted`.
    fn shown(tool: &str, input: Value, result: Value) -> Vec<String> {
        let [input, result] = [input, result].map(|json| to_raw_value(&json).unwrap());
        let shown = |file: FileUse| {
            let change = change(&file.path, &file.texts, &patch(Some(&result)));
            let (kind, lines) = (change.change_type, change.lines);
            match file.access {
                Access::Read => format!("read {}", file.path),
                Access::Write => {
                    format!("{kind} {} +{} -{}", file.path, lines.added, lines.deleted)
                }
            }
        };
        files(tool, Some(&input)).into_iter().map(shown).collect()
    }

    #[test]
    fn tools_read_and_write_files() {
        for (tool, input, expected) in [
            (
                "file_editor",
                json!({ "command": "view", "path": "/a" }),
                "read /a",
            ),
            (
                "file_editor",
                json!({ "command": "create", "path": "/a", "file_text": "1\n2\n" }),
                "add /a +2 -0",
            ),
            (
                "str_replace_editor",
                json!({ "command": "str_replace", "path": "/a", "old_str": "x\ny" }),
                "modify /a +0 -2",
            ),
            (
                "str_replace_editor",
                json!({ "command": "insert", "path": "/a", "new_str": "x" }),
                "modify /a +1 -0",
            ),
            (
                "edit",
                json!({ "file_path": "/a", "old_string": "x", "new_string": "y" }),
                "modify /a +1 -1",
            ),
            (
                "edit",
                json!({ "file_path": "/a", "old_string": "", "new_string": "y" }),
                "add /a +1 -0",
            ),
            (
                "edit",
                json!({ "path": "/a", "command": "str_replace", "old_str": "x", "new_str": "y" }),
                "modify /a +1 -1",
            ),
            (
                "edit_file",
                json!({ "path": "/a", "content": "x", "start": 1 }),
                "modify /a +1 -0",
            ),
            (
                "write_file",
                json!({ "file_path": "/a", "content": "x" }),
                "add /a +1 -0",
            ),
            ("read", json!({ "path": "/a" }), "read /a"),
        ] {
            assert_eq!(shown(tool, input, Value::Null), [expected], "{tool}");
        }
        for odd in [
            json!({ "path": 5 }),
            json!({ "path": " " }),
            json!([]),
            Value::Null,
        ] {
            assert!(shown("file_editor", odd.clone(), Value::Null).is_empty());
            assert!(shown("terminal", odd, Value::Null).is_empty());
        }
    }

    #[test]
    fn what_was_there_before_decides() {
        let input = json!({ "command": "create", "path": "/a", "file_text": "1\n2\n" });
        let of = |result| shown("file_editor", input.clone(), result);
        let overwrites =
            json!({ "prev_exist": true, "old_content": "1\n", "new_content": "1\n2\n" });
        assert_eq!(of(overwrites), ["modify /a +1 -0"]);
        let creates = json!({ "prev_exist": false, "new_content": "1\n2\n" });
        assert_eq!(of(creates), ["add /a +2 -0"]);
        let diff = json!({ "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+1\n" });
        assert_eq!(of(diff), ["modify /a +1 -1"]);
    }
}

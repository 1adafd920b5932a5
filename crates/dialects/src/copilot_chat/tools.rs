//! What the tools of Copilot Chat do with files, by their names and arguments, and what their results say.

use serde_json::value::RawValue;

use super::fields;
use crate::import::members::Members;
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::apply_patch;
use crate::transcript::edit::{FileUse, Patch, Texts};

/// Copilot Chat in VS Code.
pub(crate) static AGENT: Agent = Agent {
    key: "copilot-chat",
    actor: "copilot-chat",
    provider: "github-copilot",
    version_key: "copilot_chat_version",
    no_model: "",
    token_paths: fields::TOKENS,
    setting_paths: [
        "(the folder)",
        "attributes.copilot_chat.repo.head_branch_name",
        "(the version)",
    ],
    time_path: "start_time_ms",
    session_path: "chat_session_id",
    files,
    edits,
    patch: |_| Patch::default(),
    asked: |text| (!text.trim().is_empty()).then_some(text),
    begins_beside: |_| false,
};

fn edits(tool: &str) -> bool {
    matches!(
        tool,
        "apply_patch"
            | "create_file"
            | "insert_edit_into_file"
            | "multi_replace_string_in_file"
            | "replace_string_in_file"
    )
}

/// The files that a call names; none for tools whose footprint is not known.
fn files(tool: &str, arguments: Option<&RawValue>) -> Vec<FileUse> {
    let given = Members::of(arguments);
    let file = match tool {
        "apply_patch" => {
            let patch = given.text("input");
            return patch.map_or_else(Vec::new, |patch| apply_patch::files(&patch));
        }
        "multi_replace_string_in_file" => return replacements(&given),
        "read_file" => given.text("filePath").map(FileUse::read),
        "create_file" => written(&given, |given| Texts {
            content: given.get("content"),
            ..Texts::default()
        }),
        "replace_string_in_file" => written(&given, replaced),
        // Its code leaves out what stays as it is.
        "insert_edit_into_file" => written(&given, |_| Texts::default()),
        _ => None,
    };
    file.into_iter().collect()
}

fn written(given: &Members<'_>, texts: impl Fn(&Members<'_>) -> Texts) -> Option<FileUse> {
    let path = given.text("filePath")?;
    Some(FileUse::write(path, texts(given)))
}

fn replaced(given: &Members<'_>) -> Texts {
    let text = |name: &str| given.get::<String>(name);
    Texts {
        replaced: text("oldString")
            .zip(text("newString"))
            .into_iter()
            .collect(),
        ..Texts::default()
    }
}

/// Replacements in several files, or several ones in a file, which is named once.
fn replacements(given: &Members<'_>) -> Vec<FileUse> {
    let mut files: Vec<FileUse> = Vec::new();
    for replacement in given.list("replacements") {
        let Some(file) = written(&Members::of(Some(replacement)), replaced) else {
            continue;
        };
        match files.iter_mut().find(|known| known.path == file.path) {
            Some(known) => known.texts.replaced.extend(file.texts.replaced),
            None => files.push(file),
        }
    }
    files
}

/// The text of a result that is a tree of texts, as the program renders it for the model; nothing, if it is none.
pub(super) fn rendered(result: &str) -> Option<String> {
    let root: serde_json::Value = serde_json::from_str(result).ok()?;
    let node = root.get("node").filter(|node| node.is_object())?;
    let mut text = String::new();
    render(node, &mut text);
    Some(text)
}

/// No value that was read is deeper than 128.
fn render(node: &serde_json::Value, text: &mut String) {
    if let Some(own) = node.get("text").and_then(serde_json::Value::as_str) {
        let breaks = node.get("lineBreakBefore") == Some(&serde_json::Value::Bool(true));
        if breaks && !text.is_empty() {
            text.push('\n');
        }
        text.push_str(own);
    }
    let children = node.get("children").and_then(serde_json::Value::as_array);
    for child in children.into_iter().flatten() {
        render(child, text);
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

    use super::*;
    use crate::transcript::edit::{Access, change};

    fn uses(tool: &str, input: Value) -> Vec<FileUse> {
        files(tool, Some(&to_raw_value(&input).unwrap()))
    }

    fn diff(tool: &str, input: Value) -> String {
        let file = uses(tool, input).pop().unwrap();
        assert!(file.access == Access::Write && edits(tool));
        let change = change(&file.path, &file.texts, &Patch::default());
        String::from_utf8(change.diff.unwrap_or_default()).unwrap()
    }

    #[test]
    fn an_edit_has_the_diff_of_its_texts() {
        let new = json!({ "filePath": "n", "content": "1\n" });
        let added = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n";
        assert_eq!(diff("create_file", new), added);
        let changed = "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-x\n+y\n";
        let one = json!({ "filePath": "n", "oldString": "x", "newString": "y" });
        assert_eq!(diff("replace_string_in_file", one.clone()), changed);
        let many = json!({ "replacements": [one, { "filePath": 5 }] });
        assert_eq!(diff("multi_replace_string_in_file", many), changed);
        let part = json!({ "filePath": "n", "code": "// ...existing code...\nx" });
        assert_eq!(diff("insert_edit_into_file", part), "");
    }

    #[test]
    fn each_file_is_named_once() {
        let of = |path: &str| json!({ "filePath": path, "oldString": "x", "newString": "y" });
        let many = json!({ "replacements": [of("a"), of("b"), of("a")] });
        let files = uses("multi_replace_string_in_file", many);
        let files: Vec<_> = files
            .iter()
            .map(|file| (file.path.as_str(), file.texts.replaced.len()))
            .collect();
        assert_eq!(files, [("a", 2), ("b", 1)]);
        let patch = "*** Begin Patch\n*** Add File: n\n+1\n*** Delete File: o\n*** End Patch";
        let files = uses("apply_patch", json!({ "input": patch }));
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["n", "o"]);
    }

    #[test]
    fn odd_arguments_name_no_file() {
        assert_eq!(uses("create_file", json!({ "filePath": 5 })), []);
        assert_eq!(uses("read_file", json!(["x"])), []);
        assert_eq!(uses("run_in_terminal", json!({ "filePath": "x" })), []);
        assert_eq!(files("apply_patch", None), []);
    }

    #[test]
    fn a_tree_of_texts_is_what_the_model_read() {
        let text = |text: &str, breaks: bool| json!({ "type": 2, "text": text, "lineBreakBefore": breaks });
        let tree = json!({ "node": { "type": 1, "children": [
            text("a", true), { "type": 1, "children": [text("b", false), text("c", true)] }, { "x": 1 },
        ] } });
        assert_eq!(rendered(&tree.to_string()).unwrap(), "ab\nc");
        for other in ["x", "{}", "[1]", "{\"node\":null}"] {
            assert_eq!(rendered(other), None);
        }
        // One that would be too deep to go through stays as it is.
        let (open, end) = (r#"{"children":["#, "]}");
        let deep = format!(
            "{{\"node\":{}{{}}{}}}",
            open.repeat(20_000),
            end.repeat(20_000)
        );
        assert_eq!(rendered(&deep), None);
    }
}

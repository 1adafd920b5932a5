//! What the tools of Copilot CLI do with files, by their names, arguments and results.

use serde_json::value::RawValue;

use super::fields;
use crate::import::members::Members;
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::apply_patch;
use crate::transcript::edit::{FileUse, Patch, PatchOutcome, Texts};
use crate::transcript::unified_diff::hunks;

/// Copilot CLI.
pub(crate) static AGENT: Agent = Agent {
    key: "copilot",
    actor: "copilot-cli",
    provider: "github-copilot",
    version_key: "copilot_version",
    no_model: "",
    token_paths: fields::TOKENS,
    setting_paths: [
        "data.context.cwd",
        "data.context.branch",
        "data.copilotVersion",
    ],
    time_path: "timestamp",
    session_path: "data.sessionId",
    files,
    edits,
    patch,
    asked: |text| (!text.trim().is_empty()).then_some(text),
    begins_beside: |_| false,
};

fn edits(tool: &str) -> bool {
    matches!(tool, "apply_patch" | "create" | "edit")
}

/// The files that a call names; none for tools whose footprint is not known.
fn files(tool: &str, arguments: Option<&RawValue>) -> Vec<FileUse> {
    let given = Members::of(arguments);
    let tool = match tool {
        // One tool for all, as older versions have it.
        "str_replace_editor" => given.text("command").unwrap_or_default(),
        tool => tool.to_owned(),
    };
    let path = || given.text("path").or_else(|| given.text("file_path"));
    let file = match tool.as_str() {
        "apply_patch" => return patched(arguments, &given),
        "view" => path().map(FileUse::read),
        "create" => path().map(|path| {
            let content = given.get("file_text").or_else(|| given.get("content"));
            let texts = Texts {
                content,
                ..Texts::default()
            };
            FileUse::write(path, texts)
        }),
        "edit" | "str_replace" => path().map(|path| {
            let text = |name: &str| given.get::<String>(name).unwrap_or_default();
            FileUse::write(path, replaced(text("old_str"), text("new_str")))
        }),
        "insert" => path().map(|path| {
            let text = given.get("insert_text").or_else(|| given.get("new_str"));
            FileUse::write(path, replaced(String::new(), text.unwrap_or_default()))
        }),
        _ => None,
    };
    file.into_iter().collect()
}

fn replaced(old: String, new: String) -> Texts {
    Texts {
        replaced: vec![(old, new)],
        ..Texts::default()
    }
}

fn patched(arguments: Option<&RawValue>, given: &Members<'_>) -> Vec<FileUse> {
    let own: Option<String> = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let named = || given.text("input").or_else(|| given.text("patch"));
    let text = own.or_else(named);
    text.map_or_else(Vec::new, |text| apply_patch::files(&text))
}

/// The diff of an edit, which the program shows with the result.
fn patch(result: Option<&RawValue>) -> Patch {
    let result = Members::of(result);
    let shown = result.text("detailedContent");
    let diff = shown.filter(|text| text.contains("\n@@ -"));
    let Some(diff) = diff else {
        return Patch::default();
    };
    let is_new = diff.contains("\n--- /dev/null\n") || diff.starts_with("--- /dev/null\n");
    let outcome = match is_new {
        true => PatchOutcome::Created,
        false => PatchOutcome::Updated,
    };
    match hunks(&diff) {
        Some(hunks) => Patch {
            hunks: Some(hunks),
            outcome: Some(outcome),
        },
        None => Patch::default(),
    }
}

/// What a result says: what the model saw of it, and whether the call failed.
pub(super) fn outcome(data: &Members<'_>) -> (Option<Box<RawValue>>, bool) {
    let result = data.within("result");
    let kind = result
        .text("result_type")
        .or_else(|| result.text("resultType"));
    let by_kind = kind.map(|kind| kind != "success");
    let by_status = data.get::<bool>("success").map(|success| !success);
    let has_error = data.raw("error").is_some();
    let metrics = data.within("toolTelemetry").within("metrics");
    // A number with a point, too.
    let code: Option<f64> = data.within("shellExecution").get("exitCode");
    let code = code.or_else(|| metrics.get("exit_code"));
    let is_by_code = code.is_some_and(|code| code != 0.0);
    let failed = has_error || is_by_code || by_status.or(by_kind).unwrap_or(false);
    let names = [
        "content",
        "text_result_for_llm",
        "textResultForLlm",
        "contents",
    ];
    let seen = names.into_iter().find_map(|name| result.raw(name));
    let error = || {
        data.within("error")
            .raw("message")
            .or_else(|| data.raw("error"))
    };
    let content = seen.or_else(error).or_else(|| data.raw("result"));
    (content.map(ToOwned::to_owned), failed)
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

    fn used(tool: &str, arguments: Value) -> Vec<String> {
        let arguments = to_raw_value(&arguments).unwrap();
        let name = |file: FileUse| match file.access {
            Access::Read => format!("reads {}", file.path),
            Access::Write => {
                let change = change(&file.path, &file.texts, &Patch::default());
                let (kind, lines) = (change.change_type.as_str(), change.lines);
                format!("{kind} {} +{} -{}", file.path, lines.added, lines.deleted)
            }
        };
        files(tool, Some(&arguments))
            .into_iter()
            .map(name)
            .collect()
    }

    #[test]
    fn tools_name_their_files() {
        for (tool, arguments, expected) in [
            ("view", json!({ "path": "/a" }), "reads /a"),
            (
                "create",
                json!({ "path": "/a", "file_text": "1\n2\n" }),
                "add /a +2 -0",
            ),
            (
                "edit",
                json!({ "path": "/a", "old_str": "x", "new_str": "y" }),
                "modify /a +1 -1",
            ),
            (
                "str_replace_editor",
                json!({ "command": "view", "path": "/a" }),
                "reads /a",
            ),
            (
                "str_replace_editor",
                json!({ "command": "insert", "path": "/a", "insert_line": 1, "new_str": "y" }),
                "modify /a +1 -0",
            ),
            (
                "apply_patch",
                json!({ "input": "*** Begin Patch\n*** Delete File: /a\n*** End Patch" }),
                "delete /a +0 -0",
            ),
            (
                "apply_patch",
                json!("*** Begin Patch\n*** Add File: /a\n+1\n*** End Patch"),
                "add /a +1 -0",
            ),
        ] {
            assert_eq!(
                used(tool, arguments.clone()),
                [expected],
                "{tool} {arguments}"
            );
        }
        for (tool, arguments) in [
            ("bash", json!({ "command": "ls" })),
            ("edit", json!({ "path": 5 })),
            ("edit", json!("text")),
            ("str_replace_editor", json!({ "command": [] })),
        ] {
            assert_eq!(used(tool, arguments.clone()), [""; 0], "{tool} {arguments}");
        }
    }

    #[test]
    fn the_diff_that_is_shown_is_the_diff() {
        let shown = |detailed: &str| {
            let result = to_raw_value(&json!({ "content": "ok", "detailedContent": detailed }));
            let texts = replaced("x\n".to_owned(), "y\n".to_owned());
            let change = change("f", &texts, &patch(Some(&result.unwrap())));
            (
                change.made,
                String::from_utf8(change.diff.unwrap()).unwrap(),
            )
        };
        let part = "@@ -7,2 +7,2 @@\n keep\n-x\n+y\n";
        let git = format!("\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n{part}");
        assert_eq!(shown(&git), (false, format!("--- a/f\n+++ b/f\n{part}")));
        let made = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n".to_owned();
        assert_eq!(shown("no diff"), (true, made));
    }

    #[test]
    fn results_say_whether_the_call_worked() {
        for (data, content, failed) in [
            (
                json!({ "success": true, "result": { "content": "a" }, "shellExecution": { "exitCode": 0 } }),
                "\"a\"",
                false,
            ),
            (
                json!({ "success": false, "error": { "message": "b", "code": "denied" } }),
                "\"b\"",
                true,
            ),
            (
                json!({ "result": { "result_type": "success", "text_result_for_llm": "c" } }),
                "\"c\"",
                false,
            ),
            (
                json!({ "result": { "resultType": "rejected", "textResultForLlm": "d" } }),
                "\"d\"",
                true,
            ),
            (json!({ "success": true, "result": "e" }), "\"e\"", false),
            (
                json!({ "success": true, "result": "f", "shellExecution": { "exitCode": 3 } }),
                "\"f\"",
                true,
            ),
            (
                json!({ "success": true, "result": "g", "toolTelemetry": { "metrics": { "exit_code": 3.0 } } }),
                "\"g\"",
                true,
            ),
            (json!({ "success": "odd", "result": [1] }), "[1]", false),
        ] {
            let raw = to_raw_value(&data).unwrap();
            let (found, is_error) = outcome(&Members::of(Some(&raw)));
            assert_eq!(
                (found.unwrap().get(), is_error),
                (content, failed),
                "{data}"
            );
        }
    }
}

//! What Codex's tools do with files, and whether they worked, by what rollouts have of their calls and results.

use annals_domain::run::ChangeType;
use serde_json::value::RawValue;

use super::fields;
use crate::import::members::Members;
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::apply_patch;
use crate::transcript::edit::{FileUse, Patch, PatchOutcome, Texts};
use crate::transcript::unified_diff::hunks;

/// Codex.
pub(crate) static AGENT: Agent = Agent {
    key: "codex",
    actor: "codex",
    provider: "openai",
    version_key: "codex_version",
    no_model: "",
    token_paths: fields::TOKENS,
    setting_paths: ["payload.cwd", "payload.git.branch", "payload.cli_version"],
    time_path: "timestamp",
    session_path: "payload.id",
    files,
    edits,
    patch,
    asked,
    begins_beside: |_| false,
};

fn edits(tool: &str) -> bool {
    tool == "apply_patch"
}

/// The files that a call names. Commands are known as far as they run apply_patch.
fn files(tool: &str, input: Option<&RawValue>) -> Vec<FileUse> {
    let members = Members::of(input);
    match tool {
        "apply_patch" if members.raw("changes").is_some() => changed(&members.within("changes")),
        "apply_patch" => {
            let own: Option<String> = input.and_then(|raw| serde_json::from_str(raw.get()).ok());
            let named = || {
                let mut names = ["input", "patch", "command"].into_iter();
                names.find_map(|name| members.text(name))
            };
            let text = own.or_else(named).or_else(|| patch_in(&members));
            text.map_or_else(Vec::new, |text| below(apply_patch::files(&text), &members))
        }
        "shell" | "local_shell" | "container.exec" | "shell_command" | "exec_command" => {
            let text = patch_in(&members);
            text.map_or_else(Vec::new, |text| below(apply_patch::files(&text), &members))
        }
        "view_image" => members
            .text("path")
            .into_iter()
            .map(FileUse::read)
            .collect(),
        "read_file" => {
            let path = members.text("file_path").or_else(|| members.text("path"));
            path.into_iter().map(FileUse::read).collect()
        }
        _ => Vec::new(),
    }
}

/// The files that changes are of, by their paths.
fn changed(changes: &Members<'_>) -> Vec<FileUse> {
    let mut files = Vec::new();
    for (path, change) in changes.iter().filter(|(path, _)| !path.trim().is_empty()) {
        let change = Members::of(Some(change));
        let content = change.get::<String>("content");
        let moved_to = change.text("move_path");
        let mut texts = Texts {
            change: Some(match change.text("type").as_deref() {
                Some("add") => ChangeType::Add,
                Some("delete") => ChangeType::Delete,
                _ if moved_to.is_some() => ChangeType::Rename,
                _ => ChangeType::Modify,
            }),
            ..Texts::default()
        };
        match texts.change {
            Some(ChangeType::Add) => texts.content = content,
            Some(ChangeType::Delete) => {
                texts.replaced = content
                    .map(|text| (text, String::new()))
                    .into_iter()
                    .collect();
            }
            _ => texts.diff = change.get("unified_diff"),
        }
        match moved_to {
            Some(moved_to) => {
                let gone = Texts {
                    change: Some(ChangeType::Delete),
                    ..Texts::default()
                };
                files.push(FileUse::write(path.to_owned(), gone));
                files.push(FileUse::write(moved_to, texts));
            }
            None => files.push(FileUse::write(path.to_owned(), texts)),
        }
    }
    files
}

/// The envelope that a command gives to apply_patch.
fn patch_in(members: &Members<'_>) -> Option<String> {
    let given = ["command", "cmd", "script"];
    let command = given.into_iter().find_map(|name| words(members, name))?;
    let (before, envelope) = apply_patch::split(&command)?;
    let runs = before.contains("apply_patch") || before.contains("applypatch");
    runs.then(|| envelope.to_owned())
}

/// A command: one text, or a program and its arguments.
fn words(members: &Members<'_>, name: &str) -> Option<String> {
    let list = || {
        members
            .get::<Vec<String>>(name)
            .map(|words| words.join("\n"))
    };
    members.text(name).or_else(list)
}

/// Paths are relative to the folder that the command runs in, where the call names one.
fn below(mut files: Vec<FileUse>, members: &Members<'_>) -> Vec<FileUse> {
    let named = ["workdir", "working_directory", "cwd"];
    let folder = named.into_iter().find_map(|name| members.text(name));
    if let Some(folder) = folder {
        let folder = folder.trim_end_matches(['/', '\\']);
        for file in &mut files {
            let has_root = file.path.starts_with(['/', '\\', '~']);
            if !has_root && file.path.chars().nth(1) != Some(':') {
                file.path = format!("{folder}/{}", file.path);
            }
        }
    }
    files
}

/// The recorded patch of a call that changed one file.
fn patch(end: Option<&RawValue>) -> Patch {
    recorded(end).unwrap_or_default()
}

fn recorded(end: Option<&RawValue>) -> Option<Patch> {
    let end = Members::of(end);
    let changes: std::collections::HashMap<String, Box<RawValue>> = end.get("changes")?;
    let mut changes = changes.values();
    let (Some(change), None) = (changes.next(), changes.next()) else {
        // One patch is for one file.
        return None;
    };
    let change = Members::of(Some(change));
    // Older versions name the change by its only member.
    if change.text("type").as_deref() == Some("add") || change.raw("add").is_some() {
        return Some(Patch {
            hunks: None,
            outcome: Some(PatchOutcome::Created),
        });
    }
    let update = match change.raw("update") {
        Some(update) => Members::of(Some(update)),
        None => change,
    };
    if update.text("move_path").is_some() {
        return None;
    }
    Some(Patch {
        hunks: Some(hunks(&update.text("unified_diff")?)?),
        outcome: Some(PatchOutcome::Updated),
    })
}

/// How the text begins of a result of a call that did not do what it was to do.
const FAILURES: [&str; 16] = [
    "aborted",
    "apply_patch verification failed",
    "collab manager unavailable",
    "command timed out",
    "err: ",
    "error: ",
    "exec command rejected",
    "exec_command failed",
    "execution error",
    "failed in sandbox",
    "failed to parse function arguments",
    "patch rejected",
    "rejected by user",
    "tool call error",
    "unknown tool",
    "unsupported ",
];

/// What a result says.
#[derive(Debug)]
pub(super) struct Outcome {
    /// What the model saw of it.
    pub(super) content: Option<Box<RawValue>>,
    pub(super) failed: bool,
    pub(super) duration_ms: Option<u64>,
    /// What it has in addition.
    pub(super) metadata: Option<Box<RawValue>>,
}

/// What an output says: a text, a JSON text of an output and its metadata, a list of parts, or an object of a content
/// and of whether it worked.
pub(super) fn outcome(output: Option<&RawValue>) -> Outcome {
    let Some(raw) = output else {
        return Outcome::of(None, false);
    };
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return in_json(&text).unwrap_or_else(|| Outcome {
            failed: failed(&text),
            duration_ms: after(&text, "Wall time: ").and_then(milliseconds),
            ..Outcome::of(Some(raw), false)
        });
    }
    if is_failed_script(raw) {
        return Outcome::of(Some(raw), true);
    }
    let members = Members::of(Some(raw));
    match members.raw("content") {
        Some(content) => Outcome::of(Some(content), members.get("success") == Some(false)),
        None => Outcome::of(Some(raw), false),
    }
}

/// Whether an output in parts is that of a script that threw, as its first part says.
fn is_failed_script(raw: &RawValue) -> bool {
    let parts: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    let head = parts.first().map(|head| Members::of(Some(head)));
    let head = head.and_then(|head| head.text("text"));
    head.is_some_and(|head| head.starts_with("Script failed\nWall time "))
}

impl Outcome {
    fn of(content: Option<&RawValue>, failed: bool) -> Outcome {
        Outcome {
            content: content.map(ToOwned::to_owned),
            failed,
            duration_ms: None,
            metadata: None,
        }
    }
}

/// An output in a text that is a JSON object.
fn in_json(text: &str) -> Option<Outcome> {
    let members = Members::read(text).ok()?;
    let Some(output) = members.raw("output") else {
        // The result of another server's tool.
        let says_so = members.get("isError").or_else(|| members.get("is_error"));
        let content = crate::import::members::json_text(text);
        return (says_so == Some(true)).then(|| Outcome::of(content.as_deref(), true));
    };
    let metadata = members.raw("metadata");
    let known = Members::of(metadata);
    let exit_code: Option<i64> = known.get("exit_code");
    let seconds = known.raw("duration_seconds").map(RawValue::get);
    Some(Outcome {
        duration_ms: seconds.and_then(milliseconds),
        metadata: metadata.map(ToOwned::to_owned),
        ..Outcome::of(Some(output), exit_code.is_some_and(|code| code != 0))
    })
}

/// Whether a text is the result of a call that failed: by the exit code before the output, or by its beginning.
fn failed(text: &str) -> bool {
    let head = text.split("\nOutput:").next().unwrap_or_default();
    let codes = ["Exit code: ", "Process exited with code "];
    let code = codes.into_iter().find_map(|name| after(head, name));
    match code.and_then(|code| code.parse::<i64>().ok()) {
        Some(code) => code != 0,
        None => {
            let begins = |failure: &&str| {
                let beginning = text.trim_start().get(..failure.len());
                beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(failure))
            };
            FAILURES.iter().any(begins)
        }
    }
}

/// The word behind a name that begins one of the first lines of a text.
fn after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut lines = text.lines().take(8);
    let rest = lines.find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()
}

fn milliseconds(seconds: &str) -> Option<u64> {
    let seconds: f64 = seconds.parse().ok()?;
    let is_duration = seconds.is_finite() && seconds >= 0.0;
    is_duration.then(|| (seconds * 1_000.0).round() as u64)
}

/// How a call ended, by what the program shows of it: whether it failed, and how long it took.
pub(super) fn ended(end: &RawValue) -> (Option<bool>, Option<u64>) {
    let end = Members::of(Some(end));
    let exit_code: Option<i64> = end.get("exit_code");
    let by_code = exit_code.map(|code| code != 0);
    let success: Option<bool> = end.get("success");
    let by_result = end.raw("result").and_then(|result| {
        let result = Members::of(Some(result));
        let is_error: Option<bool> = result.within("Ok").get("isError");
        let is_error = is_error.or_else(|| result.within("Ok").get("is_error"));
        result.raw("Err").map(|_| true).or(is_error)
    });
    let duration = end.within("duration");
    let seconds = duration
        .count("secs")
        .map(|secs| secs.saturating_mul(1_000));
    let nanos = duration.count("nanos").unwrap_or_default() / 1_000_000;
    let by_status = match end.text("status").as_deref() {
        Some("failed" | "declined") => Some(true),
        Some("completed") => Some(false),
        _ => None,
    };
    let failed = by_code.or(success.map(|success| !success)).or(by_result);
    let failed = failed.or(by_status);
    (failed, seconds.map(|secs| secs.saturating_add(nanos)))
}

/// The ids of what is imported.
pub fn ids() -> Ids {
    Ids::of(AGENT.key)
}

/// How the summary begins that a compaction leaves there.
pub(super) const SUMMARY: &str = "Another language model started to solve this problem";

/// What an editor puts between its context and the person's words.
const REQUEST: &str = "## My request for Codex:\n";

/// What of a text in a user's message a person asked for; nothing where the program wrote all of it.
pub(super) fn asked(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    if is_by_program(trimmed) {
        return None;
    }
    let asked = match trimmed.starts_with("# Context from my IDE setup:") {
        true => text.split_once(REQUEST).map_or("", |(_, asked)| asked),
        false => text,
    };
    (!asked.trim().is_empty()).then_some(asked)
}

fn is_by_program(text: &str) -> bool {
    let is_element = |name: &&str| {
        let behind = text
            .strip_prefix('<')
            .and_then(|rest| rest.strip_prefix(*name));
        let is_begun = behind.is_some_and(|behind| behind.starts_with(['>', ' ']));
        is_begun && text.contains(&format!("</{name}>"))
    };
    // Marks around a picture.
    let is_mark = text.starts_with("<image name=") && text.ends_with('>');
    let is_mark = is_mark || matches!(text, "<image>" | "</image>");
    let begins = |start: &&str| text.starts_with(*start);
    is_mark || ELEMENTS.iter().any(is_element) || BEGINNINGS.iter().any(begins)
}

/// Elements that the program puts into a user's message.
const ELEMENTS: [&str; 15] = [
    "INSTRUCTIONS",
    "codex_internal_context",
    "collaboration_mode",
    "environment_context",
    "environments_instructions",
    "goal_context",
    "hook_prompt",
    "permissions instructions",
    "recommended_plugins",
    "skill",
    "subagent_notification",
    "turn_aborted",
    "user_action",
    "user_instructions",
    "user_shell_command",
];

/// How other texts begin that it puts there.
const BEGINNINGS: [&str; 4] = [
    "# AGENTS.md instructions",
    SUMMARY,
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via ",
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json, value::to_raw_value};

    use super::*;
    use crate::transcript::edit::{Access, change};

    const ENVELOPE: &str =
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch\n";

    fn used(tool: &str, input: Value) -> Vec<String> {
        let input = to_raw_value(&input).unwrap();
        let name = |file: FileUse| match file.access {
            Access::Read => format!("reads {}", file.path),
            Access::Write => format!("writes {}", file.path),
        };
        files(tool, Some(&input)).into_iter().map(name).collect()
    }

    #[test]
    fn a_patch_is_found_however_it_is_given() {
        let heredoc = format!("cd x && apply_patch <<'EOF'\n{ENVELOPE}EOF\n");
        for (tool, input) in [
            ("apply_patch", json!(ENVELOPE)),
            ("apply_patch", json!({ "input": ENVELOPE })),
            ("apply_patch", json!({ "patch": ENVELOPE })),
            ("apply_patch", json!({ "command": ENVELOPE })),
            ("shell", json!({ "command": ["apply_patch", ENVELOPE] })),
            ("shell", json!({ "command": ["bash", "-lc", heredoc] })),
            ("shell_command", json!({ "command": heredoc })),
            ("exec_command", json!({ "cmd": heredoc })),
            (
                "local_shell",
                json!({ "type": "exec", "command": ["apply_patch", ENVELOPE] }),
            ),
        ] {
            assert_eq!(
                used(tool, input.clone()),
                ["writes src/a.rs"],
                "{tool} {input}"
            );
        }
        let input = json!({ "command": ["apply_patch", ENVELOPE], "workdir": "/w/" });
        assert_eq!(used("shell", input), ["writes /w/src/a.rs"]);
        assert_eq!(
            used("view_image", json!({ "path": "/p.png" })),
            ["reads /p.png"]
        );
    }

    #[test]
    fn what_is_not_a_patch_names_no_files() {
        for (tool, input) in [
            ("shell", json!({ "command": ["cat", ENVELOPE] })),
            ("shell", json!({ "command": "ls" })),
            ("shell", json!({ "command": 5 })),
            ("apply_patch", json!(7)),
            ("apply_patch", json!({})),
            ("another", json!({ "input": ENVELOPE })),
        ] {
            assert_eq!(used(tool, input.clone()), [""; 0], "{tool} {input}");
        }
        assert_eq!(files("apply_patch", None), []);
    }

    #[test]
    fn the_recorded_patch_is_that_of_the_only_file() {
        let diff = "@@ -5,2 +5,2 @@\n keep\n-a\n+b\n";
        let made = |changes: Value| {
            let end = to_raw_value(&json!({ "changes": changes })).unwrap();
            let input = to_raw_value(ENVELOPE).unwrap();
            let file = files("apply_patch", Some(&input)).pop().unwrap();
            let change = change("a", &file.texts, &patch(Some(&end)));
            (
                change.made,
                String::from_utf8(change.diff.unwrap()).unwrap(),
            )
        };
        let exact = (false, format!("--- a/a\n+++ b/a\n{diff}"));
        let update = json!({ "type": "update", "unified_diff": diff, "move_path": null });
        assert_eq!(made(json!({ "a": update })), exact);
        let update = json!({ "update": { "unified_diff": diff, "move_path": null } });
        assert_eq!(made(json!({ "a": update })), exact);
        let compared = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n".to_owned();
        assert_eq!(
            made(json!({ "a": update, "b": update })),
            (true, compared.clone())
        );
        assert_eq!(
            made(json!({ "a": { "unified_diff": "@@ odd" } })),
            (true, compared)
        );
    }

    #[test]
    fn results_say_whether_the_call_worked() {
        for (output, failed) in [
            (json!("done"), false),
            (
                json!(
                    "{\"output\":\"ok\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.5}}"
                ),
                false,
            ),
            (
                json!(
                    "{\"output\":\"no\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.5}}"
                ),
                true,
            ),
            (
                json!("Exit code: 0\nWall time: 0.5 seconds\nOutput:\nExit code: 1"),
                false,
            ),
            (
                json!("Exit code: 2\nWall time: 0.5 seconds\nOutput:\n"),
                true,
            ),
            (
                json!(
                    "Chunk ID: a\nWall time: 0.5 seconds\nProcess exited with code 1\nOutput:\nx"
                ),
                true,
            ),
            (json!("Process running with session ID 5"), false),
            (json!("apply_patch verification failed: x"), true),
            (json!("Aborted by user after 2s"), true),
            (json!("{\"isError\":true,\"content\":[]}"), true),
            (json!({ "content": "no", "success": false }), true),
            (json!({ "content": "yes", "success": true }), false),
            (json!([{ "type": "input_text", "text": "x" }]), false),
            (json!(null), false),
            (json!(5), false),
        ] {
            let raw = to_raw_value(&output).unwrap();
            assert_eq!(outcome(Some(&raw)).failed, failed, "{output}");
        }
    }

    #[test]
    fn an_output_with_metadata_is_the_output() {
        let text = json!(
            "{\"output\":\"line\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":1.25}}"
        );
        let outcome = outcome(Some(&to_raw_value(&text).unwrap()));
        assert_eq!(outcome.content.unwrap().get(), "\"line\\n\"");
        assert_eq!(outcome.duration_ms, Some(1_250));
        let odd = json!("Wall time: -1 seconds\nOutput:\nx");
        let odd = super::outcome(Some(&to_raw_value(&odd).unwrap()));
        assert_eq!(odd.duration_ms, None);
    }

    #[test]
    fn an_end_says_how_it_went() {
        let of = |end: Value| ended(&to_raw_value(&end).unwrap());
        let duration = json!({ "secs": 2, "nanos": 500_000_000 });
        let end = json!({ "exit_code": 3, "duration": duration });
        assert_eq!(of(end), (Some(true), Some(2_500)));
        assert_eq!(of(json!({ "success": true })), (Some(false), None));
        assert_eq!(of(json!({ "result": { "Err": "no" } })), (Some(true), None));
        assert_eq!(
            of(json!({ "result": { "Ok": { "isError": false } } })),
            (Some(false), None)
        );
        assert_eq!(
            of(json!({ "duration": { "secs": u64::MAX } })).1,
            Some(u64::MAX)
        );
        assert_eq!(of(json!([])), (None, None));
    }
}

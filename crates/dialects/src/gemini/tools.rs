//! What Gemini CLI's tools do with files, by their names, arguments and what the program shows of them.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::fields;
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::edit::{FileUse, Patch, PatchOutcome, Texts};
use crate::transcript::unified_diff;

/// Gemini CLI.
pub(crate) static AGENT: Agent = Agent {
    key: "gemini",
    actor: "gemini-cli",
    provider: "google",
    version_key: "gemini_cli_version",
    no_model: "(none)",
    token_paths: fields::TOKENS,
    setting_paths: ["(the folder)", "(the branch)", "(the version)"],
    time_path: "timestamp",
    session_path: "sessionId",
    files,
    edits,
    patch,
    asked,
    begins_beside,
};

/// How texts begin in a user's message that the program wrote: what surrounds the session, and what is
/// left of one that was made shorter.
const BY_PROGRAM: [&str; 3] = [
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "<state_snapshot>",
];

/// What the program puts behind a prompt that names files: their contents.
const FILES: &str = "\n--- Content from referenced files ---";

/// What a person asked for in a text; nothing where the program wrote all of it.
pub(super) fn asked(text: &str) -> Option<&str> {
    let asked = text.split_once(FILES).map_or(text, |(before, _)| before);
    (!asked.trim().is_empty() && !begins_beside(text)).then_some(asked)
}

fn begins_beside(text: &str) -> bool {
    let text = text.trim_start();
    BY_PROGRAM.iter().any(|start| text.starts_with(start))
}

/// Whether a text is what is left of a conversation that was made shorter.
pub(super) fn is_summary(text: &str) -> bool {
    text.trim_start().starts_with("<state_snapshot>")
}

fn edits(tool: &str) -> bool {
    matches!(tool, "replace" | "write_file" | "edit")
}

/// Arguments, each as far as it is what is expected.
#[derive(Default)]
struct Arguments(serde_json::Map<String, serde_json::Value>);

impl Arguments {
    fn of(input: Option<&RawValue>) -> Arguments {
        let read = input.and_then(|input| serde_json::from_str(input.get()).ok());
        read.map(Arguments).unwrap_or_default()
    }

    fn text(&self, name: &str) -> Option<String> {
        Some(self.0.get(name)?.as_str()?.to_owned())
    }

    fn path(&self) -> Option<String> {
        let named = ["file_path", "absolute_path", "path"];
        let path = named.iter().find_map(|name| self.text(name))?;
        (!path.trim().is_empty()).then_some(path)
    }

    /// The files of a list; a pattern names none.
    fn paths(&self) -> Vec<String> {
        let lists = ["paths", "include"].iter();
        let lists = lists.filter_map(|name| self.0.get(*name)?.as_array());
        let paths = lists.flatten().filter_map(|path| path.as_str());
        let is_file = |path: &&str| !path.contains(['*', '?', '[']) && !path.trim().is_empty();
        paths.filter(is_file).map(str::to_owned).collect()
    }
}

/// The files that a call names; none for tools whose footprint is not known.
fn files(tool: &str, input: Option<&RawValue>) -> Vec<FileUse> {
    let input = Arguments::of(input);
    let texts = match tool {
        "read_file" => return input.path().map(FileUse::read).into_iter().collect(),
        "read_many_files" => return input.paths().into_iter().map(FileUse::read).collect(),
        "write_file" => Texts {
            content: input.text("content"),
            ..Texts::default()
        },
        "replace" | "edit" => replacement(&input),
        _ => return Vec::new(),
    };
    let path = input.path();
    let written = path.map(|path| FileUse::write(path, texts));
    written.into_iter().collect()
}

/// A replacement of nothing is a new file.
fn replacement(input: &Arguments) -> Texts {
    let old = input.text("old_string").unwrap_or_default();
    let new = input.text("new_string").unwrap_or_default();
    match old.is_empty() {
        true => Texts {
            content: Some(new),
            ..Texts::default()
        },
        false => Texts {
            replaced: vec![(old, new)],
            ..Texts::default()
        },
    }
}

fn patch(details: Option<&RawValue>) -> Patch {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shown {
        #[serde(default)]
        file_diff: Option<String>,
        #[serde(default)]
        original_content: Option<String>,
        #[serde(default)]
        is_new_file: Option<bool>,
    }
    let shown: Shown = details
        .and_then(|details| serde_json::from_str(details.get()).ok())
        .unwrap_or_default();
    Patch {
        hunks: shown.file_diff.as_deref().and_then(unified_diff::hunks),
        outcome: match (shown.is_new_file, shown.original_content) {
            (Some(true), _) => Some(PatchOutcome::Created),
            (_, Some(_)) => Some(PatchOutcome::Updated),
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

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::transcript::edit::{Access, change};

    fn uses(tool: &str, input: serde_json::Value) -> Vec<FileUse> {
        files(tool, Some(&to_raw_value(&input).unwrap()))
    }

    #[test]
    fn the_shown_diff_is_the_diff() {
        let diff = "Index: a.txt\n====\n--- a.txt\tCurrent\n+++ a.txt\tProposed\n@@ -3 +3,2 @@\n-x\n+y\n+z\n\\ No newline at end of file\n";
        let shown = json!({ "fileDiff": diff, "originalContent": "x" });
        let shown = to_raw_value(&shown).unwrap();
        let input = json!({ "file_path": "/p/a.txt", "old_string": "x", "new_string": "y\nz" });
        let file = uses("replace", input).pop().unwrap();
        let change = change("a.txt", &file.texts, &patch(Some(&shown)));
        let expected =
            "--- a/a.txt\n+++ b/a.txt\n@@ -3,1 +3,2 @@\n-x\n+y\n+z\n\\ No newline at end of file\n";
        assert_eq!(String::from_utf8_lossy(&change.diff.unwrap()), expected);
        assert_eq!((change.lines.added, change.lines.deleted), (2, 1));
        assert!(!change.made);
    }

    #[test]
    fn a_replacement_of_nothing_is_a_new_file() {
        let input = json!({ "file_path": "n", "old_string": "", "new_string": "1\n" });
        let file = uses("replace", input).pop().unwrap();
        let change = change("n", &file.texts, &patch(None));
        let expected = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n";
        assert_eq!(String::from_utf8_lossy(&change.diff.unwrap()), expected);
    }

    #[test]
    fn a_pattern_names_no_file() {
        let read = uses(
            "read_many_files",
            json!({ "include": ["a", "src/*.rs", 5] }),
        );
        let paths: Vec<&str> = read.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a"]);
        assert!(read.iter().all(|file| file.access == Access::Read));
        assert_eq!(uses("run_shell_command", json!({ "path": "x" })), []);
        assert_eq!(uses("write_file", json!({ "file_path": 5 })), []);
        assert_eq!(files("write_file", None), []);
    }

    #[test]
    fn what_the_program_adds_to_a_prompt_is_not_asked() {
        let text = "Look at @a\n--- Content from referenced files ---\nContent from @a:\nx";
        assert_eq!(asked(text), Some("Look at @a"));
        assert_eq!(asked("<session_context>\nx"), None);
        assert_eq!(asked(" \n"), None);
        assert_eq!(asked("Do it"), Some("Do it"));
    }
}

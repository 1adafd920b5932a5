//! What SWE-agent's tools do with files, and what of a task's message a person asked for.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};

use super::run::Run;
use crate::import::members::{Members, json_text};
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::edit::{FileUse, Patch, Texts};
use crate::transcript::editor;

/// SWE-agent and mini-swe-agent.
pub(crate) static AGENT: Agent = Agent {
    key: "swe-agent",
    actor: "swe-agent",
    provider: "unknown",
    version_key: "swe_agent_version",
    no_model: "",
    token_paths: [
        "usage.input_tokens",
        "usage.cache_read_tokens",
        "usage.cache_write_tokens",
        "usage.output_tokens",
        "usage.reasoning_tokens",
        "usage.(kept for an hour)",
        "info.model_stats.instance_cost",
        "usage.(searches)",
    ],
    setting_paths: ["working_dir", "branch", "version"],
    time_path: "message.extra.timestamp",
    session_path: "run",
    files,
    edits,
    patch: |_| Patch::default(),
    asked: |text| Some(text).filter(|text| !text.trim().is_empty()),
    begins_beside: |_| false,
};

/// The tools that are commands of their own where the model writes commands.
const COMMANDS: [&str; 21] = [
    "append",
    "create",
    "edit",
    "exit_forfeit",
    "filemap",
    "find_file",
    "goto",
    "insert",
    "open",
    "scroll_down",
    "scroll_up",
    "search",
    "search_dir",
    "search_file",
    "search_files",
    "set_cursors",
    "str_replace_based_edit_tool",
    "str_replace_editor",
    "submit",
    "undo_edit",
    "view_image",
];

/// The tools that change the file that is open.
const OPEN_FILE: [&str; 3] = ["append", "edit", "insert"];

/// The tool that a command is of: one of the agent's own, or else the shell.
pub(super) fn of_command(command: &str) -> String {
    let word = command.split_whitespace().next().unwrap_or_default();
    match COMMANDS.contains(&word) {
        true => word.to_owned(),
        false => "bash".to_owned(),
    }
}

/// The command in the one block of a text that has one.
pub(super) fn in_block(text: &str) -> Option<&str> {
    let starts = ["```mswea_bash_command", "```bash", "```sh"];
    let found = starts
        .into_iter()
        .find(|start| text.contains(&format!("{start}\n")))?;
    let (_, rest) = text.split_once(&format!("{found}\n"))?;
    let (command, behind) = rest.split_once("\n```")?;
    (!behind.contains(&format!("{found}\n"))).then_some(command)
}

/// The arguments of a call with the file that is open where the tool changes that: the call does not name it.
pub(super) fn with_open_file(
    tool: &str,
    input: Option<Box<RawValue>>,
    file: Option<&str>,
) -> Option<Box<RawValue>> {
    let Some(file) = file.filter(|_| OPEN_FILE.contains(&tool)) else {
        return input;
    };
    let own = Members::of(input.as_deref());
    let file = json_text(file);
    let mut members: BTreeMap<&str, &RawValue> = own.iter().collect();
    members.extend(file.as_deref().map(|file| ("open_file", file)));
    to_raw_value(&members).ok()
}

fn edits(tool: &str) -> bool {
    OPEN_FILE.contains(&tool) || tool == "create"
}

fn files(tool: &str, input: Option<&RawValue>) -> Vec<FileUse> {
    let input = Members::of(input);
    let named = ["path", "filename", "file_path", "file", "image_file"];
    let named = || {
        named
            .into_iter()
            .find_map(|name| input.text(name))
            .or_else(|| argument(&input))
    };
    let one = match tool {
        "str_replace_editor" | "str_replace_based_edit_tool" => return editor::files(&input),
        "open" | "filemap" | "view_image" => named().map(FileUse::read),
        "create" => named().map(|path| {
            let content = Some(String::new());
            FileUse::write(
                path,
                Texts {
                    content,
                    ..Texts::default()
                },
            )
        }),
        _ if OPEN_FILE.contains(&tool) => {
            let file = input.text("path").or_else(|| input.text("open_file"));
            file.map(|path| FileUse::write(path, texts(&input)))
        }
        _ => None,
    };
    one.into_iter().collect()
}

/// What an edit of the open file says. It does not say what was in lines that are named by their numbers.
fn texts(input: &Members<'_>) -> Texts {
    let of = |name: &str| input.get::<String>(name);
    let old = of("search").unwrap_or_default();
    let new = ["replace", "replacement_text", "text"]
        .into_iter()
        .find_map(of);
    let new = new.or_else(|| lines(&of("command")?).map(str::to_owned));
    Texts {
        replaced: new.map(|new| (old, new)).into_iter().collect(),
        ..Texts::default()
    }
}

/// The new lines of a command like `edit 1:2`, up to where it says that it ends.
fn lines(command: &str) -> Option<&str> {
    let (_, rest) = command.split_once('\n')?;
    let end = rest.rfind("end_of_edit").unwrap_or(rest.len());
    rest.get(..end)
}

/// The first argument of a command that the model wrote.
fn argument(input: &Members<'_>) -> Option<String> {
    let command = input.text("command")?;
    let (_, rest) = command.trim().split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let quote = rest
        .chars()
        .next()
        .filter(|first| ['"', '\''].contains(first));
    let word = match quote {
        Some(quote) => rest.get(1..)?.split(quote).next(),
        None => rest.split_whitespace().next(),
    };
    word.filter(|word| !word.is_empty()).map(str::to_owned)
}

/// What the templates of older versions put before and behind a task.
const AROUND: [(&str, &str); 4] = [
    ("ISSUE:\n", "\n\nINSTRUCTIONS:"),
    (
        "<pr_description>\nConsider the following PR description:\n",
        "\n</pr_description>",
    ),
    ("<pr_description>\n", "\n</pr_description>"),
    (
        "Please solve this issue: ",
        "\n\nYou can execute bash commands",
    ),
];

/// What a person asked for in a task's message: the program puts instructions around it.
pub(super) fn asked(text: &str, run: &Run<'_>) -> Option<String> {
    let problem = run
        .problem
        .as_deref()
        .filter(|problem| text.contains(problem.trim()));
    let of_template = || {
        run.template
            .as_deref()
            .and_then(|template| in_template(text, template))
    };
    let of_older = || {
        let mut around = AROUND.into_iter();
        around.find_map(|(before, behind)| between(text, before, behind))
    };
    let asked = problem
        .or_else(of_template)
        .or_else(of_older)
        .unwrap_or(text);
    Some(asked.trim().to_owned()).filter(|asked| !asked.is_empty())
}

/// What is in a text where its template has the task.
fn in_template<'t>(text: &'t str, template: &str) -> Option<&'t str> {
    let places = [
        "{{problem_statement}}",
        "{{ problem_statement }}",
        "{{task}}",
        "{{ task }}",
    ];
    let (before, behind) = places
        .into_iter()
        .find_map(|place| template.split_once(place))?;
    // Up to the next place that something else is put into.
    let before = before.rsplit(['}', '%']).next().unwrap_or(before);
    let behind = behind.split('{').next().unwrap_or(behind);
    between(text, before, behind)
}

fn between<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    match behind.trim_end() {
        "" => Some(rest),
        behind => rest.split_once(behind).map(|(asked, _)| asked),
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
    use crate::transcript::edit::Access;

    fn shown(tool: &str, input: Value) -> Vec<String> {
        let input = to_raw_value(&input).unwrap();
        let shown = |file: FileUse| match file.access {
            Access::Read => format!("read {}", file.path),
            Access::Write => format!("write {} {:?}", file.path, file.texts.replaced),
        };
        files(tool, Some(&input)).into_iter().map(shown).collect()
    }

    #[test]
    fn tools_read_and_write_files() {
        for (tool, input, expected) in [
            (
                "open",
                json!({ "path": "a.py", "line_number": 3 }),
                "read a.py",
            ),
            (
                "open",
                json!({ "command": "open \"a b.py\" 3" }),
                "read a b.py",
            ),
            ("create", json!({ "filename": "a.py" }), "write a.py []"),
            (
                "create",
                json!({ "command": "create a.py" }),
                "write a.py []",
            ),
            (
                "edit",
                json!({ "search": "x", "replace": "y", "open_file": "/a" }),
                r#"write /a [("x", "y")]"#,
            ),
            (
                "edit",
                json!({ "command": "edit 1:2\nnew\nend_of_edit", "open_file": "/a" }),
                r#"write /a [("", "new\n")]"#,
            ),
            (
                "insert",
                json!({ "text": "new", "open_file": "/a" }),
                r#"write /a [("", "new")]"#,
            ),
            (
                "str_replace_editor",
                json!({ "command": "view", "path": "/a" }),
                "read /a",
            ),
        ] {
            assert_eq!(shown(tool, input), [expected], "{tool}");
        }
        for (tool, input) in [
            ("edit", json!({ "search": "x" })),
            ("open", json!({ "command": "open" })),
            ("open", json!({ "command": "open \"" })),
            ("bash", json!({ "command": "rm a" })),
        ] {
            assert!(shown(tool, input).is_empty(), "{tool}");
        }
    }

    #[test]
    fn the_open_file_is_named_where_the_call_does_not() {
        let input = || to_raw_value(&json!({ "search": "x" })).ok();
        let with = |tool, file| {
            with_open_file(tool, input(), file)
                .unwrap()
                .get()
                .to_owned()
        };
        assert_eq!(
            with("edit", Some("/a")),
            r#"{"open_file":"/a","search":"x"}"#
        );
        assert_eq!(with("edit", None), r#"{"search":"x"}"#);
        assert_eq!(with("bash", Some("/a")), r#"{"search":"x"}"#);
    }

    #[test]
    fn commands_are_in_one_block() {
        assert_eq!(in_block("a\n```bash\nls\npwd\n```\nb"), Some("ls\npwd"));
        assert_eq!(in_block("```mswea_bash_command\nls\n```"), Some("ls"));
        assert_eq!(in_block("```bash\nls\n```\n```bash\npwd\n```"), None);
        assert_eq!(in_block("```bash\nls"), None);
        assert_eq!(in_block("```python\nx\n```"), None);
        assert_eq!(of_command("edit 1:2\nx"), "edit");
        assert_eq!(of_command("ls edit"), "bash");
    }

    #[test]
    fn what_is_around_a_task_is_not_asked() {
        let run = |template: &str| Run {
            template: Some(template.to_owned()),
            ..Run::default()
        };
        let of = |text: &str, template: &str| asked(text, &run(template));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            of("Do: it\nnow\nBye x", "Do: {{task}}\nBye {{name}}"),
            some("it\nnow")
        );
        assert_eq!(
            of("{x} Do: it", "{% if x %}{{x}}{% endif %} Do: {{ task }}"),
            some("it")
        );
        assert_eq!(
            of("something else", "Do: {{task}}\nBye"),
            some("something else")
        );
        assert_eq!(of("ISSUE:\nit\n\nINSTRUCTIONS:\nmore", ""), some("it"));
        assert_eq!(of(" ", ""), None);
    }
}

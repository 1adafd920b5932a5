//! What a call is about, by what its arguments are called.

use std::ops::Range;

use annals_domain::REMOVED;
use serde_json::Value;

use super::arguments::{Arguments, whole_number};
use super::patch::{self, Lines, PatchedFile};
use super::telling::telling;
use super::todo;
use super::words::{command, one_line};

/// Files that are named of many.
const NAMED: usize = 3;

const COMMANDS: [&str; 5] = ["command", "cmd", "script", "code", "python_code"];
const PATHS: [&str; 15] = [
    "file_path",
    "path",
    "notebook_path",
    "absolute_path",
    "filePath",
    "target_file",
    "filename",
    "file",
    "image_file",
    "dir_path",
    "directory",
    "relative_workspace_path",
    "target_directory",
    "dirPath",
    "dir",
];
const LISTS: [&str; 4] = ["paths", "files", "file_paths", "include"];
const CONTENTS: [&str; 4] = ["content", "contents", "file_text", "fileText"];
const OLD: [&str; 4] = ["old_string", "old_str", "oldString", "oldStr"];
const NEW: [&str; 6] = [
    "new_string",
    "new_str",
    "newString",
    "newStr",
    "replacement_text",
    "new_source",
];
const INSERTED: [&str; 3] = ["insert_text", "new_str", "text"];
const PATCHES: [&str; 5] = ["patch", "patchText", "patch_text", "input", "diff"];
const PATTERNS: [&str; 4] = ["pattern", "regex", "glob_pattern", "file_name"];
const QUERIES: [&str; 5] = ["query", "search_term", "q", "search_query", "searchTerm"];
const FILTERS: [&str; 5] = ["glob", "include", "include_pattern", "file_pattern", "type"];
/// What the commands of the editor that many agents have do.
const EDITOR: [&str; 5] = ["view", "create", "str_replace", "insert", "undo_edit"];

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct What {
    /// On one line; empty, if nothing is known.
    pub(super) text: String,
    /// Where in it the path of a file is.
    pub(super) path: Option<Range<usize>>,
    /// Lines that it adds and deletes, of an edit that says so.
    pub(super) lines: Option<Lines>,
    /// Whether a program is run, which has an exit code.
    pub(super) is_command: bool,
}

impl What {
    /// That of arguments that were removed.
    pub(super) fn removed() -> What {
        What::text(REMOVED.to_owned())
    }

    pub(super) fn of(tool: &str, args: &Arguments) -> What {
        let kinds: [fn(&str, &Arguments) -> Option<What>; 10] = [
            patched, progress, edit, write, run, search, fetch, handed_on, read, listed,
        ];
        let found = kinds.iter().find_map(|kind| kind(tool, args));
        found.unwrap_or_else(|| What::text(telling(tool, args)))
    }

    /// ` +3 -1`, of an edit that says so.
    pub(super) fn counts(&self) -> String {
        let counts = |lines: Lines| format!(" +{} -{}", lines.added, lines.deleted);
        self.lines.map(counts).unwrap_or_default()
    }

    fn text(text: String) -> What {
        What {
            text,
            ..What::default()
        }
    }

    /// A file, with a word before it and something behind it.
    fn file(before: &str, path: &str, behind: &str) -> What {
        let path = one_line(path);
        let start = before.len();
        What {
            path: Some(start..start + path.len()),
            text: format!("{before}{path}{behind}"),
            ..What::default()
        }
    }
}

/// A patch that says which files it changes, as what it is or in a command that applies it.
fn patched(_: &str, args: &Arguments) -> Option<What> {
    let own = args.whole().into_iter();
    let named = PATCHES.iter().chain(&COMMANDS);
    let named = named.filter_map(|name| args.get(name)?.as_str());
    let words = COMMANDS
        .iter()
        .filter_map(|name| args.get(name)?.as_array());
    let words = words.flatten().filter_map(Value::as_str);
    let mut files = own.chain(named).chain(words).map(patch::files);
    let files = files.find(|files| !files.is_empty())?;
    if let [file] = files.as_slice() {
        return Some(What {
            lines: Some(file.lines),
            ..What::file("", file.path, "")
        });
    }
    let counted = |file: &PatchedFile<'_>| {
        let Lines { added, deleted } = file.lines;
        format!("{} +{added} -{deleted}", one_line(file.path))
    };
    let shown: Vec<String> = files.iter().take(NAMED).map(counted).collect();
    Some(What::text(and_more(&shown, files.len())))
}

/// `a, b and 3 more`.
fn and_more(shown: &[String], all: usize) -> String {
    let shown_text = shown.join(", ");
    match all.saturating_sub(shown.len()) {
        0 => shown_text,
        more => format!("{shown_text} and {more} more"),
    }
}

/// A list of things to do.
fn progress(_: &str, args: &Arguments) -> Option<What> {
    let list = args.list(&["todos", "plan", "task_list", "todoList"])?;
    Some(What::text(todo::progress(list)?))
}

/// The path of the file that a call is about; of SWE-agent's tools that which is open.
fn path(args: &Arguments) -> Option<&str> {
    args.text(&PATHS).or_else(|| args.text(&["open_file"]))
}

/// The word of the editor's command, before a file's name.
fn editor_word(args: &Arguments) -> Option<String> {
    let word = args.text(&["command"])?;
    EDITOR.contains(&word).then(|| format!("{word} "))
}

fn edit(_: &str, args: &Arguments) -> Option<What> {
    let path = path(args)?;
    let word = editor_word(args);
    if word.is_none() && args.text(&COMMANDS).is_some() {
        return None;
    }
    let lines = edited(args, word.as_deref())?;
    let mut notes = String::new();
    if args.is_set(&["replace_all", "replaceAll", "replace-all"]) {
        notes.push_str(" (all)");
    }
    if let Some(cell) = args.text(&["cell_id"]) {
        notes.push_str(&format!(" cell {}", one_line(cell)));
    }
    if args.text(&["edit_mode"]) == Some("delete") {
        notes.push_str(" (deleted)");
    }
    Some(What {
        lines: lines.filter(|lines| *lines != Lines::default()),
        ..What::file(&word.unwrap_or_default(), path, &notes)
    })
}

/// The lines of an edit: none if it is none, and none within if it does not say them.
fn edited(args: &Arguments, word: Option<&str>) -> Option<Option<Lines>> {
    if word == Some("undo_edit ") {
        return Some(None);
    }
    if let Some(edits) = args.list(&["edits", "replacements"]) {
        let of = |edit: &Value| {
            let text = |names: &[&str]| names.iter().find_map(|name| edit.get(name)?.as_str());
            patch::replaced(
                text(&OLD).unwrap_or_default(),
                text(&NEW).unwrap_or_default(),
            )
        };
        let lines: Option<Vec<Lines>> = edits.iter().map(of).collect();
        return Some(lines.map(|all| all.into_iter().fold(Lines::default(), Lines::plus)));
    }
    // Tools that search have the first of these, too.
    if let (Some(old), Some(new)) = (args.content(&["search"]), args.content(&["replace"])) {
        return Some(patch::replaced(old, new));
    }
    let is_inserted = word == Some("insert ") || args.get("insert_line").is_some();
    match (args.content(&OLD), args.content(&NEW)) {
        (Some(old), new) => Some(patch::replaced(old, new.unwrap_or_default())),
        (None, _) if is_inserted => Some(patch::replaced(
            "",
            args.content(&INSERTED).unwrap_or_default(),
        )),
        (None, Some(new)) => Some(patch::replaced("", new)),
        (None, None) => None,
    }
}

fn write(_: &str, args: &Arguments) -> Option<What> {
    let path = path(args)?;
    let content = args.content(&CONTENTS)?;
    let word = editor_word(args);
    let lines = match content.lines().count() {
        1 => " (1 line)".to_owned(),
        lines => format!(" ({lines} lines)"),
    };
    Some(What::file(&word.unwrap_or_default(), path, &lines))
}

/// A command, as a text or as the words of a program.
fn run(tool: &str, args: &Arguments) -> Option<What> {
    if editor_word(args).is_some() && path(args).is_some() {
        return None;
    }
    let text = match args.any(&COMMANDS)? {
        Value::String(text) => text.clone(),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            script(&words?)
        }
        _ => return None,
    };
    // Where the model writes commands, the tool is the first word of them.
    let own = text.trim_start().strip_prefix(tool);
    let own = own.filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
    let mut text = command(own.unwrap_or(&text));
    if let Some(file) = args.text(&["open_file"]) {
        text = format!("{}: {text}", one_line(file));
    }
    if args.is_set(&["run_in_background", "is_background", "isBackground"]) {
        text.push_str(" &");
    }
    Some(What {
        is_command: true,
        ..What::text(text)
    })
}

/// The words of a program, or the text that a shell is given.
fn script(words: &[&str]) -> String {
    match words {
        [shell, flag, script]
            if flag.starts_with('-') && flag.ends_with('c') && shell.ends_with("sh") =>
        {
            (*script).to_owned()
        }
        words => words.join(" "),
    }
}

fn search(tool: &str, args: &Arguments) -> Option<What> {
    let pattern = args.text(&PATTERNS);
    let sought = pattern.or_else(|| args.text(&QUERIES))?;
    let sought = one_line(sought);
    let is_of_names = tool.to_ascii_lowercase().contains("glob") || tool.contains("find");
    let mut text = match is_of_names {
        true => sought,
        false => format!("\"{sought}\""),
    };
    if let Some(place) = args.text(&PATHS) {
        text.push_str(&format!(" in {}", one_line(place)));
    }
    if let Some(filter) = args.text(&FILTERS).filter(|_| pattern.is_some()) {
        text.push_str(&format!(" ({})", one_line(filter)));
    }
    Some(What::text(text))
}

fn fetch(_: &str, args: &Arguments) -> Option<What> {
    let url = args.text(&["url", "uri", "URL"])?;
    Some(What::text(one_line(url)))
}

/// What another agent is given to do.
fn handed_on(_: &str, args: &Arguments) -> Option<What> {
    let to = args.text(&[
        "subagent_type",
        "agent_type",
        "agent_name",
        "agent",
        "skill",
    ])?;
    let given = ["description", "args", "task", "message", "prompt"];
    let inner = args
        .get("inputs")
        .and_then(|inputs| inputs.get("task")?.as_str());
    let text = match args.text(&given).or(inner) {
        Some(given) => format!("{}: {}", one_line(to), one_line(given)),
        None => one_line(to),
    };
    Some(What::text(text))
}

fn read(_: &str, args: &Arguments) -> Option<What> {
    let path = path(args)?;
    let word = editor_word(args);
    Some(What::file(&word.unwrap_or_default(), path, &range(args)))
}

/// The lines of a file, as in `:1-90`.
fn range(args: &Arguments) -> String {
    let (first, last) = match args.list(&["view_range", "range"]) {
        Some([first, last]) => (whole_number(first), whole_number(last)),
        _ => {
            let first = args.number(&["offset", "start_line", "startLine", "line_number", "start"]);
            let last = args.number(&["end_line", "endLine", "end"]);
            let count = args
                .number(&["limit", "max_lines"])
                .filter(|count| *count > 0);
            let by_count = count.map(|count| {
                let first = first.unwrap_or(1).max(1);
                first.saturating_add(count).saturating_sub(1)
            });
            (first, last.or(by_count))
        }
    };
    let first = first.map(|first| first.max(1));
    match (first, last.filter(|last| *last > 0)) {
        (None | Some(1), None) => String::new(),
        (first, Some(last)) => format!(":{}-{last}", first.unwrap_or(1)),
        (Some(first), None) => format!(":{first}-"),
    }
}

/// Several files.
fn listed(_: &str, args: &Arguments) -> Option<What> {
    let list = args.list(&LISTS)?;
    let path = |item: &Value| {
        let path = item.as_str().or_else(|| item.get("path")?.as_str())?;
        Some(one_line(path))
    };
    let paths: Option<Vec<String>> = list.iter().map(path).collect();
    let paths = paths.filter(|paths| !paths.is_empty())?;
    let shown = paths.get(..NAMED.min(paths.len())).unwrap_or_default();
    Some(What::text(and_more(shown, paths.len())))
}

//! The tools of agents: what each of them does, and where its arguments say to what.

use serde_json::Value;

use crate::part::Kind;

/// Tools that have an action of their own in policies, by the kind that it is in.
pub(crate) const NAMED: [(Kind, &[&str]); 4] = [
    (
        Kind::Run,
        &[
            "Bash",
            "Shell",
            "container.exec",
            "exec_command",
            "execute_bash",
            "local_shell",
            "run_in_terminal",
            "run_shell_command",
            "run_terminal_cmd",
            "shell",
            "shell_command",
        ],
    ),
    (
        Kind::Read,
        &[
            "Glob",
            "Grep",
            "LS",
            "NotebookRead",
            "Read",
            "codebase_search",
            "file_search",
            "grep_files",
            "grep_search",
            "list_dir",
            "list_directory",
            "read_file",
            "read_many_files",
            "search_file_content",
            "view_image",
        ],
    ),
    (
        Kind::Edit,
        &[
            "Edit",
            "MultiEdit",
            "NotebookEdit",
            "Write",
            "apply_patch",
            "create_file",
            "delete_file",
            "edit_file",
            "insert_edit_into_file",
            "replace",
            "replace_string_in_file",
            "search_replace",
            "str_replace_editor",
            "write_file",
        ],
    ),
    (
        Kind::Fetch,
        &[
            "WebFetch",
            "WebSearch",
            "fetch_webpage",
            "google_web_search",
            "web_fetch",
            "web_search",
        ],
    ),
];

/// Tools whose names are too common for an action of their own.
const PLAIN: [(Kind, &[&str]); 4] = [
    (Kind::Run, &["bash", "run", "terminal"]),
    (Kind::Read, &["glob", "grep", "list", "ls", "read", "view"]),
    (
        Kind::Edit,
        &[
            "ApplyPatch",
            "Delete",
            "EditNotebook",
            "StrReplace",
            "create",
            "create_directory",
            "edit",
            "edit_notebook",
            "edit_notebook_file",
            "multi_replace_string_in_file",
            "multiedit",
            "patch",
            "str_replace",
            "write",
            "write_to_file",
        ],
    ),
    (Kind::Fetch, &["fetch", "webfetch", "websearch"]),
];

/// Arguments that name a file or folder.
const PATHS: [&str; 19] = [
    "file_path",
    "path",
    "notebook_path",
    "absolute_path",
    "filePath",
    "target_file",
    "file",
    "filename",
    "dir_path",
    "directory",
    "relative_workspace_path",
    "target_directory",
    "dirPath",
    "old_path",
    "new_path",
    "target_notebook",
    "TargetFile",
    "move_path",
    "destination",
];
/// Arguments that are lists of files.
const LISTS: [&str; 6] = [
    "paths",
    "files",
    "file_paths",
    "replacements",
    "target_directories",
    "targetDirectories",
];
/// Arguments that are patterns of file names, whatever the tool is.
const FILTERS: [&str; 12] = [
    "glob",
    "globs",
    "glob_pattern",
    "globPattern",
    "include",
    "includes",
    "includePattern",
    "includePatterns",
    "include_pattern",
    "include_patterns",
    "file_pattern",
    "filePattern",
];
/// Arguments that are a command.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "code"];
/// Arguments that name the folder in which a tool runs.
pub(crate) const FOLDERS: [&str; 3] = ["workdir", "working_directory", "cwd"];
/// Arguments that name the folder in which a command runs. For other tools some of them are files.
pub(crate) const COMMAND_FOLDERS: [&str; 5] = [
    "workdir",
    "working_directory",
    "cwd",
    "directory",
    "dir_path",
];

/// What a tool does; the action by which policies know it.
pub(crate) fn kind(tool: &str) -> (Kind, &str) {
    // Gemini CLI's names have one line where the others' have two.
    if tool.starts_with("mcp_") {
        return (Kind::Mcp, Kind::Mcp.name());
    }
    let in_table = |table: &'static [(Kind, &'static [&'static str])]| {
        table
            .iter()
            .find(|(_, names)| names.contains(&tool))
            .map(|(kind, _)| *kind)
    };
    match (in_table(&NAMED), in_table(&PLAIN)) {
        (Some(kind), _) => (kind, tool),
        (None, Some(kind)) => (kind, kind.name()),
        (None, None) => (Kind::Other, Kind::Other.name()),
    }
}

/// The actions of policies: the kinds, and the tools that have one of their own, with what they do.
pub(crate) fn actions() -> impl Iterator<Item = (Kind, &'static str)> {
    let kinds = Kind::ALL.into_iter().map(|kind| (kind, kind.name()));
    let named = NAMED.into_iter();
    kinds.chain(named.flat_map(|(kind, names)| names.iter().map(move |name| (kind, *name))))
}

/// A command, as a tool is given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// A text for a shell.
    Text(String),
    /// The words of a program.
    Words(Vec<String>),
}

/// Returns the arguments once for each command in them, if they have several that differ.
pub(crate) fn several_commands(args: &Value) -> Option<Vec<Value>> {
    let fields = args.as_object()?;
    let given: Vec<&str> = COMMANDS
        .into_iter()
        .filter(|name| fields.get(*name).is_some_and(|it| !it.is_null()))
        .collect();
    let first = fields.get(*given.first()?);
    if given.iter().all(|name| fields.get(*name) == first) {
        return None;
    }
    let only = |kept: &&str| {
        let is_kept = |name: &String| name == kept || !COMMANDS.contains(&name.as_str());
        let fields = fields.iter().filter(|(name, _)| is_kept(name));
        Value::Object(
            fields
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        )
    };
    Some(given.iter().map(only).collect())
}

/// The command that a tool runs.
pub(crate) fn command(args: &Value) -> Option<Given> {
    let given = COMMANDS.iter().find_map(|name| args.get(name))?;
    match given {
        Value::String(text) => Some(Given::Text(text.clone())),
        Value::Array(words) => {
            let words: Option<Vec<String>> = words
                .iter()
                .map(|it| it.as_str().map(str::to_owned))
                .collect();
            words.map(Given::Words)
        }
        _ => None,
    }
}

/// The paths that a tool is given; none, if an argument is not understood.
pub(crate) fn paths(args: &Value) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let named = PATHS.iter().filter_map(|name| args.get(name));
    for value in named.filter(|value| !value.is_null()) {
        found.push(value.as_str()?);
    }
    let lists = LISTS.iter().filter_map(|name| args.get(name));
    for value in lists.filter(|value| !value.is_null()) {
        if let Some(path) = value.as_str() {
            found.push(path);
            continue;
        }
        for item in value.as_array()? {
            // `{"path": ...}` of tools that take parts of files.
            let named = || PATHS.iter().find_map(|name| item.get(name)?.as_str());
            found.push(item.as_str().or_else(named)?);
        }
    }
    Some(found)
}

/// The patterns by which a tool chooses files.
pub(crate) fn filters(args: &Value) -> Vec<&str> {
    let named = FILTERS.iter().filter_map(|name| args.get(name));
    named.flat_map(texts).collect()
}

/// A text, or each of a list of them.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// What the arguments of a tool name of which nothing else is known, however deep they are.
#[derive(Debug, Default)]
pub(crate) struct Named<'a> {
    /// Files and folders, by the names of the arguments.
    pub(crate) paths: Vec<&'a str>,
    /// Addresses.
    pub(crate) addresses: Vec<&'a str>,
    /// Commands of a shell.
    pub(crate) commands: Vec<&'a str>,
    /// Code of other languages.
    pub(crate) codes: Vec<&'a str>,
    /// Whether there is more than was looked at.
    pub(crate) is_cut: bool,
}

/// Reads the arguments of a tool of which nothing else is known.
pub(crate) fn named(args: &Value) -> Named<'_> {
    const MOST: usize = 2_000;
    let mut named = Named::default();
    let mut rest = vec![("", args)];
    let mut seen = 0;
    while let Some((name, value)) = rest.pop() {
        seen += 1;
        if seen > MOST {
            named.is_cut = true;
            break;
        }
        match value {
            Value::String(text) => named.add(name, text),
            Value::Array(items) => rest.extend(items.iter().rev().map(|item| (name, item))),
            Value::Object(fields) => {
                rest.extend(fields.iter().map(|(name, value)| (name.as_str(), value)));
            }
            _ => {}
        }
    }
    named
}

impl<'a> Named<'a> {
    fn add(&mut self, name: &str, text: &'a str) {
        const PATHS: [&str; 7] = [
            "path",
            "file",
            "filename",
            "dir",
            "directory",
            "folder",
            "destination",
        ];
        let name = name.to_ascii_lowercase().replace(['_', '-'], "");
        let single = name.strip_suffix("ies").map(|it| format!("{it}y"));
        let single = single.unwrap_or_else(|| name.trim_end_matches('s').to_owned());
        if text.contains("://") && (single.ends_with("url") || single.ends_with("uri")) {
            self.addresses.push(text);
        } else if matches!(
            name.as_str(),
            "command" | "cmd" | "commandline" | "shellcommand"
        ) {
            self.commands.push(text);
        } else if matches!(name.as_str(), "code" | "script" | "javascript" | "python") {
            self.codes.push(text);
        } else if PATHS.iter().any(|it| single.ends_with(it)) && !text.contains('\n') {
            self.paths.push(text);
        }
    }
}

/// What a tool types into a program that runs already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed<'a> {
    /// This text.
    Text(&'a str),
    /// What could not be read.
    Unknown,
}

/// What a tool types into a program that runs already; none, if it does not.
pub(crate) fn typed<'a>(tool: &str, args: &'a Value) -> Option<Typed<'a>> {
    let is_set = |value: &Value| match value {
        Value::Bool(is) => *is,
        Value::String(text) => text.eq_ignore_ascii_case("true"),
        _ => false,
    };
    let is_input = args.get("is_input").is_some_and(is_set);
    // The last one begins a program or types into one, by whether it names a session.
    let is_typed = matches!(
        tool,
        "write_stdin" | "write_bash" | "write_powershell" | "send_to_terminal" | "unified_exec"
    );
    if !is_input && !is_typed {
        return None;
    }
    if several_commands(args).is_some() {
        return Some(Typed::Unknown);
    }
    let names: &[&str] = match is_input {
        true => &COMMANDS,
        false => &["chars", "input", "text", "data", "command"],
    };
    match names
        .iter()
        .find_map(|name| args.get(name).filter(|it| !it.is_null()))
    {
        // It only looks at what was printed.
        None => Some(Typed::Text("")),
        Some(Value::String(text)) => Some(Typed::Text(text)),
        Some(Value::Array(items)) if items.is_empty() => Some(Typed::Text("")),
        Some(Value::Array(items)) => match items.as_slice() {
            [Value::String(text)] => Some(Typed::Text(text)),
            _ => Some(Typed::Unknown),
        },
        Some(_) => Some(Typed::Unknown),
    }
}

/// Whether a text that is typed answers a question, ends the program, or is nothing: no command is made of it.
pub(crate) fn is_answer(text: &str) -> bool {
    let plain = text.trim_matches([' ', '\n', '\r']).to_ascii_lowercase();
    let ends = plain.chars().all(|c| matches!(c, '\u{3}' | '\u{4}'));
    ends || matches!(plain.as_str(), "y" | "n" | "yes" | "no" | "q")
}

/// The files that a patch in the form of `apply_patch` changes; none, if it is no such patch.
pub(crate) fn patched(patch: &str) -> Option<Vec<&str>> {
    const MARKS: [&str; 4] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    if !patch.contains("*** Begin Patch") {
        return None;
    }
    let named = patch.lines().filter_map(|line| {
        let line = line.trim();
        MARKS
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .map(str::trim)
    });
    let files: Vec<&str> = named.collect();
    (!files.is_empty()).then_some(files)
}

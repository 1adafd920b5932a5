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
            "create",
            "edit",
            "multiedit",
            "patch",
            "str_replace",
            "write",
        ],
    ),
    (Kind::Fetch, &["fetch", "webfetch", "websearch"]),
];

/// Arguments that name a file or folder.
const PATHS: [&str; 17] = [
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
    "move_path",
    "destination",
];
/// Arguments that are lists of files.
const LISTS: [&str; 3] = ["paths", "files", "file_paths"];
/// Arguments that are patterns of file names.
const PATTERNS: [&str; 4] = ["pattern", "glob", "include", "glob_pattern"];
/// Arguments that are a command.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "code"];
/// Arguments that name where a command runs.
const FOLDERS: [&str; 5] = [
    "workdir",
    "working_directory",
    "cwd",
    "directory",
    "dir_path",
];

/// What a tool does; the action by which policies know it.
pub(crate) fn kind(tool: &str) -> (Kind, &str) {
    if tool.starts_with("mcp__") {
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

/// Where a command runs, if its arguments say so.
pub(crate) fn folder(args: &Value) -> Option<&str> {
    FOLDERS.iter().find_map(|name| args.get(name)?.as_str())
}

/// The paths that a tool is given; none, if an argument is not understood.
pub(crate) fn paths(args: &Value) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let named = PATHS.iter().filter_map(|name| args.get(name));
    for value in named.filter(|value| !value.is_null()) {
        found.push(value.as_str()?);
    }
    for value in LISTS.iter().filter_map(|name| args.get(name)) {
        for item in value.as_array()? {
            // `{"path": ...}` of tools that take parts of files.
            let path = item.as_str().or_else(|| item.get("path")?.as_str());
            found.push(path?);
        }
    }
    Some(found)
}

/// Patterns of file names that a tool is given.
pub(crate) fn patterns(args: &Value) -> Vec<&str> {
    let named = PATTERNS.iter().filter_map(|name| args.get(name)?.as_str());
    named.collect()
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

//! The role of a tool call, from its tool's name and arguments.

use serde_json::Value;

use super::turn::{CallRole, ToolCallTurn};
use crate::{CallLine, Text};

const PLANS: [&str; 9] = [
    "todowrite",
    "todoread",
    "updateplan",
    "writetodos",
    "exitplanmode",
    "taskcreate",
    "taskupdate",
    "tasklist",
    "managetodolist",
];
/// Tools by which agents ask a person, by the letters of their names.
pub(crate) const QUESTIONS: [&str; 8] = [
    "askfollowupquestion",
    "askhuman",
    "askquestion",
    "askuser",
    "askuserquestion",
    "question",
    "requestuserinput",
    "requireuserinput",
];
const SUB_AGENTS: [&str; 8] = [
    "task",
    "agent",
    "spawnagent",
    "runsubagent",
    "delegate",
    "subagent",
    "dispatchagent",
    "callagent",
];
const READS: [&str; 26] = [
    "read",
    "grep",
    "glob",
    "ls",
    "notebookread",
    "readfile",
    "readfilev2",
    "view",
    "viewfile",
    "listdirectory",
    "listdir",
    "searchfilecontent",
    "codebasesearch",
    "grepsearch",
    "filesearch",
    "websearch",
    "webfetch",
    "fetch",
    "googlewebsearch",
    "readmanyfiles",
    "list",
    "find",
    "search",
    "ripgrep",
    "openfile",
    "toolsearch",
];
const EDITS: [&str; 13] = [
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "writefile",
    "replace",
    "applypatch",
    "createfile",
    "strreplace",
    "searchreplace",
    "editfile",
    "insertedit",
    "deletefile",
];

/// The role of a call.
pub(super) fn of(tool: &Text, line: &CallLine) -> CallRole {
    let name = tool.as_str().unwrap_or_default();
    // Tools of servers are called `mcp__SERVER__TOOL` or `SERVER.TOOL`.
    let name = name.rsplit("__").next().unwrap_or(name);
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    let is_in = |names: &[&str]| names.contains(&name.as_str());
    match () {
        () if is_in(&PLANS) => CallRole::Plan,
        () if is_in(&QUESTIONS) => CallRole::Question,
        () if is_in(&SUB_AGENTS) => CallRole::SubAgent,
        () if is_in(&READS) => CallRole::Read,
        () if is_in(&EDITS) => CallRole::Edit,
        () if line.is_command() => CallRole::Command,
        () => CallRole::Other,
    }
}

/// Whether an argument of a call is this task.
pub(super) fn gives_task(call: &ToolCallTurn, task: &str) -> bool {
    let json = call.args.as_ref().and_then(|args| args.json());
    let args: Option<Value> = json.and_then(|json| serde_json::from_str(json.text()).ok());
    let Some(Value::Object(args)) = args else {
        return false;
    };
    let is_it = |value: &Value| value.as_str().is_some_and(|text| text.trim() == task);
    args.values().any(is_it)
}

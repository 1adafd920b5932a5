//! Calls that a script of the model's made. They have no lines of their own among the model's calls: the rollout has
//! them as they ended.

use serde_json::value::{RawValue, to_raw_value};

use super::line::{CallEnd, ITEM, Spoken};
use super::{fields, tools};
use crate::import::members::Members;
use crate::transcript::item::{Details, Item, Speaker, What};

/// A call of a script, with its result.
#[derive(Debug)]
pub(super) struct NestedCall {
    pub(super) tool: String,
    pub(super) input: Option<Box<RawValue>>,
    content: Option<Box<RawValue>>,
    is_error: bool,
    duration_ms: Option<u64>,
    /// Nobody let it run.
    pub(super) is_declined: bool,
}

impl NestedCall {
    /// Reads how a call ended: an item that was completed, or an event. `None` for anything else, and for a person's own
    /// commands.
    pub(super) fn of(kind: &str, end: &CallEnd) -> Option<NestedCall> {
        let members = Members::of(Some(&end.raw));
        let (tool, input, content) = match plain(kind).as_str() {
            "commandexecution" | "execcommandend" => command(&members)?,
            "filechange" | "patchapplyend" => {
                let changes = members.raw("changes")?;
                let input = object(&[("changes", changes)]);
                ("apply_patch".to_owned(), input, output(&members))
            }
            "mcptoolcall" | "mcptoolcallend" => {
                let named = match members.raw("invocation") {
                    Some(_) => members.within("invocation"),
                    None => Members::of(Some(&end.raw)),
                };
                let tool = format!("mcp__{}__{}", named.text("server")?, named.text("tool")?);
                let content = members.raw("result").or_else(|| members.raw("error"));
                (tool, owned(named.raw("arguments")), owned(content))
            }
            "dynamictoolcall" => {
                let content = members
                    .raw("content_items")
                    .or_else(|| members.raw("error"));
                let input = owned(members.raw("arguments"));
                (members.text("tool")?, input, owned(content))
            }
            _ => return None,
        };
        let status = members.text("status");
        let (failed, duration_ms) = tools::ended(&end.raw);
        Some(NestedCall {
            tool,
            input,
            content,
            is_error: failed == Some(true),
            duration_ms,
            is_declined: status.as_deref() == Some("declined"),
        })
    }

    /// What its line says: the call and its result, by an id that no other call has.
    pub(super) fn spoken(self, id: &str, end: CallEnd) -> Spoken {
        let table = match end.path {
            ITEM => fields::DONE_ITEM,
            _ => fields::DONE,
        };
        let call = What::ToolCall {
            id: id.to_owned(),
            name: self.tool,
            input: self.input,
            input_path: end.path,
        };
        let result = What::ToolResult {
            call: id.to_owned(),
            content: self.content,
            is_error: self.is_error,
            content_path: end.path,
            error_path: end.path,
        };
        let items = vec![
            Item::of(0, end.path, Some(&end.raw), table, call),
            Item::new(1, end.path, Vec::new(), result),
        ];
        let details = Details {
            path: end.path,
            raw: end.raw,
            table: fields::ELSEWHERE,
            edit_table: fields::ELSEWHERE,
            duration_ms: self.duration_ms,
        };
        Spoken {
            details: Some(details),
            older_frame: Some(0),
            ..Spoken::new(Speaker::Model, fields::PAYLOAD, items)
        }
    }
}

/// A word in the letters that it has in each version: events write `exec_command`, items `CommandExecution`.
fn plain(word: &str) -> String {
    let letters = word.chars().filter(|it| *it != '_');
    letters.map(|it| it.to_ascii_lowercase()).collect()
}

type Parts = (String, Option<Box<RawValue>>, Option<Box<RawValue>>);

/// A command that the model ran.
fn command(members: &Members<'_>) -> Option<Parts> {
    let source = members.text("source").unwrap_or_default();
    if matches!(
        plain(&source).as_str(),
        "usershell" | "unifiedexecinteraction"
    ) {
        return None;
    }
    let command = members.raw("command")?;
    let folder = members.text("cwd");
    let folder = folder.map(|folder| match folder.strip_prefix("file://") {
        Some(path) => path.to_owned(),
        None => folder,
    });
    let folder = folder.and_then(|folder| to_raw_value(&folder).ok());
    let input = match &folder {
        Some(folder) => object(&[("command", command), ("workdir", folder)]),
        None => object(&[("command", command)]),
    };
    Some(("exec_command".to_owned(), input, output(members)))
}

/// What a call printed.
fn output(members: &Members<'_>) -> Option<Box<RawValue>> {
    let whole = ["aggregated_output", "formatted_output"];
    let whole = whole.into_iter().find_map(|name| members.text(name));
    let parts = || {
        let parts = ["stdout", "stderr"].into_iter();
        let parts: Vec<String> = parts.filter_map(|name| members.text(name)).collect();
        parts.join("\n")
    };
    to_raw_value(&whole.unwrap_or_else(parts)).ok()
}

/// An object of these members.
fn object(members: &[(&str, &RawValue)]) -> Option<Box<RawValue>> {
    let members = members.iter();
    let members = members.map(|(name, value)| format!("\"{name}\":{}", value.get()));
    let members: Vec<String> = members.collect();
    RawValue::from_string(format!("{{{}}}", members.join(","))).ok()
}

fn owned(raw: Option<&RawValue>) -> Option<Box<RawValue>> {
    raw.map(ToOwned::to_owned)
}

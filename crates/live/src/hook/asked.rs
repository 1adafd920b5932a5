//! The call that an event asks for, as policies judge it. It is read from the event as it came: with its secrets, which
//! a policy may know by their place, and which no verdict repeats.

use std::path::PathBuf;

use annals_dialects::import::JsonFields;
use annals_dialects::live;
use annals_tool_policy::{Call, UNNAMED_AGENT};
use serde_json::Value;

use super::HookAgent;
use super::fields::{as_it_came, first};
use super::table::Means;
use super::unreadable::UnreadableHook;
use crate::gate::branch;
use crate::ledger::Spending;

/// What an event asks for.
#[derive(Debug)]
#[non_exhaustive]
pub enum Asked {
    /// To make a call.
    Call(Box<Call>),
    /// Nothing: it only tells.
    Nothing,
    /// It cannot be read, for this reason.
    Unreadable(UnreadableHook),
}

/// What is known where an event comes in, and is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Surroundings {
    /// The folder that the agent was started to work on.
    pub workspace: Option<String>,
    /// The user's home folder.
    pub home: Option<String>,
    /// Where the agent has its settings, if that is said.
    pub settings: Option<String>,
}

impl Surroundings {
    /// Those of an agent that runs this process.
    pub fn of(agent: HookAgent) -> Surroundings {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let workspace = match agent {
            HookAgent::Claude => set("CLAUDE_PROJECT_DIR"),
            HookAgent::Cursor => set("CURSOR_PROJECT_DIR"),
            HookAgent::Gemini => set("GEMINI_PROJECT_DIR"),
            HookAgent::Codex => None,
        };
        Surroundings {
            workspace,
            home: set("HOME"),
            settings: match agent {
                HookAgent::Claude => set("CLAUDE_CONFIG_DIR"),
                HookAgent::Codex => set("CODEX_HOME"),
                HookAgent::Cursor | HookAgent::Gemini => None,
            },
        }
    }
}

impl Asked {
    /// Reads what an event asks for.
    pub fn read(agent: HookAgent, bytes: &[u8], around: &Surroundings) -> Asked {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Asked::Unreadable(UnreadableHook::NotUtf8);
        };
        let fields = match as_it_came(text) {
            Ok(fields) => fields,
            Err(error) => return Asked::Unreadable(error),
        };
        let dialect = agent.dialect();
        let Some(name) = first(&fields, dialect.event) else {
            return Asked::Unreadable(UnreadableHook::NoEvent);
        };
        match dialect.find(&name) {
            None => return Asked::Unreadable(UnreadableHook::UnknownEvent),
            Some(event) if event.means != Means::Requested => return Asked::Nothing,
            Some(_) => {}
        }
        call(agent, &fields, around)
            .map_or_else(Asked::Unreadable, |call| Asked::Call(Box::new(call)))
    }
}

impl Spending {
    /// Reads from an event that asks for a call whose money it spends. What cannot be read is not known.
    pub fn read(agent: HookAgent, bytes: &[u8], around: &Surroundings) -> Spending {
        let fields = std::str::from_utf8(bytes).ok();
        let fields = fields.and_then(|text| JsonFields::read(text).ok());
        let dialect = agent.dialect();
        let of = |names: &[&str]| fields.as_ref().and_then(|fields| first(fields, names));
        let workspace = around
            .workspace
            .clone()
            .or_else(|| of(&["workspace_roots"]));
        let folders = [of(dialect.cwd), workspace];
        Spending::new(agent)
            .with_session(of(dialect.session))
            .with_folders(folders.into_iter().flatten().collect())
            .with_model(of(dialect.model))
            .with_transcript(of(&["transcript_path"]).map(PathBuf::from))
    }
}

/// The call that an event asks for, or asks a person about; none, if it is another event, or cannot be read.
pub(crate) fn subject(agent: HookAgent, bytes: &[u8], around: &Surroundings) -> Option<Call> {
    let fields = JsonFields::read(std::str::from_utf8(bytes).ok()?).ok()?;
    let dialect = agent.dialect();
    let event = dialect.find(&first(&fields, dialect.event)?)?;
    let asks = matches!(event.means, Means::Requested | Means::Asked);
    asks.then(|| call(agent, &fields, around).ok()).flatten()
}

/// Returns the name of an MCP server's tool as policies know it, if the event names the server (Gemini CLI).
fn of_server(fields: &JsonFields<'_>) -> Option<String> {
    let context: Value = serde_json::from_str(fields.raw("mcp_context")?.get()).ok()?;
    let text = |name: &str| context.get(name).and_then(Value::as_str);
    Some(format!(
        "mcp__{}__{}",
        text("server_name")?,
        text("tool_name")?
    ))
}

fn call(
    agent: HookAgent,
    fields: &JsonFields<'_>,
    around: &Surroundings,
) -> Result<Call, UnreadableHook> {
    let tool = first(fields, &["tool_name"]).ok_or(UnreadableHook::NoTool)?;
    let tool = of_server(fields).unwrap_or(tool);
    let args = match fields.raw("tool_input") {
        Some(raw) => serde_json::from_str(raw.get()).map_err(UnreadableHook::Arguments)?,
        None => Value::Null,
    };
    let dialect = agent.dialect();
    let cwd = first(fields, dialect.cwd);
    let workspace = around.workspace.clone();
    let workspace = workspace.or_else(|| first(fields, &["workspace_roots"]));
    let name = live::agent(agent.key()).map_or(UNNAMED_AGENT, live::LiveAgent::actor);
    Ok(Call::new(tool, args)
        .with_agent(name)
        .with_session(first(fields, dialect.session))
        .with_branch(cwd.as_deref().and_then(branch))
        .with_workspace(workspace.or_else(|| cwd.clone()))
        .with_cwd(cwd)
        .with_home(around.home.clone())
        .with_mode(first(fields, &["permission_mode"])))
}

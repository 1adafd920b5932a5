//! What is printed above a conversation.

use annals::SessionListed;
use annals::projections::{amount_of_money, duration};

use super::walk::Walk;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Style, counted, when};

/// Prints the title and the facts of a session.
pub(super) fn print(walk: &Walk<'_>, context: &mut Context) -> Result<(), CliError> {
    let listed = walk.top();
    let output = &mut context.output;
    let title = output.style(Style::Bold, &super::title(&listed.summary));
    output.line(&title)?;
    let fields: Vec<(&str, String)> = fields(listed);
    output.fields(&fields)?;
    output.line("")
}

fn fields(listed: &SessionListed) -> Vec<(&'static str, String)> {
    let session = &listed.summary;
    let mut fields = Vec::new();
    let mut field = |name, value: Option<String>| fields.extend(value.map(|value| (name, value)));
    let project = session.project_name().zip(session.project.as_deref());
    field(
        "project",
        project.map(|(name, path)| format!("{name} ({path})")),
    );
    field("branch", session.branch.clone());
    field("agent", agent(listed));
    field("time", Some(times(listed)));
    field("status", Some(status(listed)));
    let counts = session.counts;
    let mut calls = counted(counts.tool_calls, "tool call", "tool calls");
    if counts.failed_calls > 0 {
        calls.push_str(&format!(", {} failed", counts.failed_calls));
    }
    if counts.denied_calls > 0 {
        calls.push_str(&format!(", {} denied", counts.denied_calls));
    }
    let prompts = counted(counts.prompts, "prompt", "prompts");
    field("turns", Some(format!("{prompts}, {calls}")));
    let files = listed.files;
    let changed = format!(
        "{} changed, +{} -{}",
        counted(files.files, "file", "files"),
        files.added,
        files.deleted
    );
    field("files", (files.files > 0).then_some(changed));
    field("cost", cost_of(listed));
    field("session", Some(ids(listed)));
    fields
}

fn agent(listed: &SessionListed) -> Option<String> {
    let session = &listed.summary;
    let mut agent = session.agent.clone()?;
    if let Some(version) = &session.agent_version {
        agent.push_str(&format!(" {version}"));
    }
    let mut models: Vec<&str> = Vec::new();
    for model in session.models.iter().filter_map(|it| it.model.as_deref()) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    if !models.is_empty() {
        agent.push_str(&format!(", {}", models.join(", ")));
    }
    Some(agent)
}

fn times(listed: &SessionListed) -> String {
    let session = &listed.summary;
    let (Some(started), Some(last)) = (session.started, listed.last_activity) else {
        return "time unknown".to_owned();
    };
    let active = duration(session.active_ms);
    format!(
        "{}, last activity {}, active for {active}",
        when(started),
        when(last)
    )
}

fn status(listed: &SessionListed) -> String {
    let word = listed.activity.as_str();
    let end = listed.summary.end.as_ref();
    let reason = end.and_then(|end| end.reason.as_deref());
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let event = end.map_or_else(String::new, |end| format!(" (event {})", end.position));
    format!("{word}{reason}{event}")
}

/// The cost of a session with its sub-agents; `None` if nothing was used.
pub(in crate::commands) fn cost_of(listed: &SessionListed) -> Option<String> {
    let cost = &listed.cost;
    if !cost.is_known {
        return Some("unknown".to_owned());
    }
    let mut amount = amount_of_money(cost.micros, "USD");
    if cost.sub_agent_micros > 0 {
        let share = amount_of_money(cost.sub_agent_micros, "USD");
        amount.push_str(&format!(", of which sub-agents {share}"));
    }
    if cost.unpriced_tokens > 0 {
        amount.push_str(&format!(
            ", without {} tokens of unknown price",
            cost.unpriced_tokens
        ));
    }
    Some(amount)
}

/// A sub-agent's session in one line.
pub(in crate::commands) fn sub_agent(listed: Option<&SessionListed>) -> String {
    let Some(listed) = listed else {
        return "session without a row".to_owned();
    };
    let calls = counted(listed.summary.counts.tool_calls, "tool call", "tool calls");
    let cost = cost_of(listed).map_or_else(String::new, |cost| match cost.as_str() {
        "unknown" => " · cost unknown".to_owned(),
        cost => format!(" · {cost}"),
    });
    format!(
        "{} · {calls}{cost} · {}",
        super::title(&listed.summary),
        listed.summary.id
    )
}

fn ids(listed: &SessionListed) -> String {
    let session = &listed.summary;
    let own = session.agent_session.as_deref();
    let own = own.map_or_else(String::new, |own| format!(", the agent's id {own}"));
    format!("{}{own}", session.id)
}

//! What happened to a tool call, in one line.

use annals_domain::run::{
    GrantScope, ToolBegun, ToolDecided, ToolEnded, ToolRequested, ToolVerdict,
};

use super::inferred;
use super::words::{because, excerpt, quoted, short};
use crate::{Entry, Text, ToolDecisionView};

pub(super) fn requested(event: &ToolRequested, entry: &Entry) -> String {
    let call = short(event.tool_invocation);
    format!(
        "tool {} requested, call {call}",
        quoted(entry, event.tool_name)
    )
}

pub(super) fn decided(event: &ToolDecided, entry: &Entry) -> String {
    let view = ToolDecisionView::read(event, entry);
    let verdict = match event.verdict {
        ToolVerdict::Allow => "allowed",
        ToolVerdict::Deny => "denied",
        ToolVerdict::Ask => "to be asked about",
    };
    let scope = match event.scope {
        GrantScope::Once => "",
        GrantScope::Session => " for the session",
    };
    let named = |before: &str, text: Option<&Text>| {
        text.map_or(String::new(), |text| format!(" {before}{}", excerpt(text)))
    };
    format!(
        "call {} {verdict}{scope} by {}{}{}{}{}",
        short(event.tool_invocation),
        event.by,
        named("", view.by_name.as_ref()),
        named("of ", view.source.as_ref()),
        because(entry, event.reason),
        inferred(event.inferred),
    )
}

pub(super) fn begun(event: &ToolBegun) -> String {
    format!("call {} began", short(event.tool_invocation))
}

pub(super) fn ended(event: &ToolEnded, entry: &Entry) -> String {
    let why = because(entry, event.failure.or(event.result_summary));
    let call = short(event.tool_invocation);
    format!("call {call} ended {}{why}", event.status)
}

//! What happened to a tool call, in one line, where nothing says what was called.

use annals_domain::run::{Event, GrantScope, ToolDecided, ToolVerdict};

use super::words::{because, excerpt, inferred, short};
use crate::{Entry, Text, ToolDecisionView};

/// What happened to a call that is known by its id alone.
pub(super) fn unnamed(event: &Event, entry: &Entry) -> String {
    match event {
        Event::ToolDecided(event) => {
            format!(
                "call {} {}",
                short(event.tool_invocation),
                decided(event, entry)
            )
        }
        Event::ToolBegun(event) => format!("call {} began", short(event.tool_invocation)),
        Event::ToolEnded(event) => {
            let why = because(entry, event.failure.or(event.result_summary));
            let call = short(event.tool_invocation);
            format!("call {call} ended {}{why}", event.status)
        }
        _ => String::new(),
    }
}

/// What was decided on a call, and by what.
pub(crate) fn decided(event: &ToolDecided, entry: &Entry) -> String {
    let view = ToolDecisionView::read(event, entry);
    let verdict = match event.verdict {
        ToolVerdict::Allow => "allowed",
        ToolVerdict::Deny => "denied",
        ToolVerdict::Ask => "to be asked about",
    };
    let scope = match event.scope {
        GrantScope::Once => "",
        GrantScope::Session => " for the session",
        GrantScope::Settings => " from then on",
    };
    let named = |before: &str, text: Option<&Text>| {
        text.map_or(String::new(), |text| format!(" {before}{}", excerpt(text)))
    };
    let source = match view.reported_by {
        Some(reporter) => format!(", reported by {reporter}"),
        None => named("of ", view.source.as_ref()),
    };
    format!(
        "{verdict}{scope} by {}{}{source}{}{}",
        event.by,
        named("", view.by_name.as_ref()),
        because(entry, event.reason),
        inferred(event.inferred),
    )
}

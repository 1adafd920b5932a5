//! What is said of tool calls, in one line each.

use std::collections::{HashMap, VecDeque};

use annals_domain::run::{
    Event, StoredFootprint, ToolEnded, ToolInvoked, ToolRequested, ToolStatus,
};
use annals_domain::{AnyEvent, Slot, ToolInvocationId};

use super::summary::{decided, short_id};
use crate::{CallEnd, CallLine, Entry, JsonText, Text};

/// Calls that are remembered.
const MOST: usize = 4_096;

/// What was called, by the calls' ids: of the last ones that said it.
#[derive(Debug, Default)]
pub(super) struct RecentCalls {
    lines: HashMap<ToolInvocationId, CallLine>,
    order: VecDeque<ToolInvocationId>,
}

impl RecentCalls {
    /// Remembers what an entry says was called.
    pub(super) fn learn(&mut self, entry: &Entry) {
        let AnyEvent::Run(event) = &entry.event else {
            return;
        };
        let (id, line) = match event {
            Event::ToolRequested(event) => (event.tool_invocation, requested(event, entry)),
            Event::ToolInvoked(event) => (event.tool_invocation, whole(event, entry)),
            _ => return,
        };
        if self.lines.insert(id, line).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.lines.remove(&oldest);
        }
    }

    /// The line of an entry that is about a call, where it is known what was called.
    pub(super) fn line(&self, entry: &Entry) -> Option<CallLine> {
        let AnyEvent::Run(event) = &entry.event else {
            return None;
        };
        let known = |id: ToolInvocationId, tool: Option<Slot>| {
            let known = self.lines.get(&id).cloned();
            known.or_else(|| Some(CallLine::new(&tool_name(entry, tool?), None)))
        };
        let call = |id: ToolInvocationId| format!(" (call {})", short_id(id));
        Some(match event {
            Event::ToolInvoked(event) => invoked(event, entry),
            Event::ToolInvocationAdopted(event) => {
                invoked(&event.invocation, entry).after("adopted: ")
            }
            Event::ToolRequested(event) => {
                let line = requested(event, entry).after("requested: ");
                line.followed_by(&call(event.tool_invocation))
            }
            Event::ToolDecided(event) => known(event.tool_invocation, event.tool_name)?
                .after(&format!("{}: ", decided(event, entry)))
                .followed_by(&call(event.tool_invocation)),
            Event::ToolBegun(event) => known(event.tool_invocation, event.tool_name)?
                .after("began: ")
                .followed_by(&call(event.tool_invocation)),
            Event::ToolEnded(event) => {
                known(event.tool_invocation, event.tool_name)?.ended(&ended(event, entry))
            }
            _ => return None,
        })
    }
}

/// A call as what tells of it as a whole says, with its end.
pub(crate) fn invoked(event: &ToolInvoked, entry: &Entry) -> CallLine {
    let result = entry.optional_text(event.result_summary);
    let end = end_of(event.status, event.duration_ms, result, None);
    whole(event, entry).ended(&end)
}

fn whole(event: &ToolInvoked, entry: &Entry) -> CallLine {
    called(
        entry,
        event.tool_name,
        event.args,
        event.io_footprint.as_ref(),
    )
}

/// What was called, as a request says.
pub(crate) fn requested(event: &ToolRequested, entry: &Entry) -> CallLine {
    called(
        entry,
        event.tool_name,
        event.args,
        event.io_footprint.as_ref(),
    )
}

/// How a call ended.
pub(crate) fn ended(event: &ToolEnded, entry: &Entry) -> CallEnd {
    end_of(
        event.status,
        event.duration_ms,
        entry.optional_text(event.result_summary),
        entry.optional_text(event.failure),
    )
}

fn end_of(
    status: ToolStatus,
    duration_ms: Option<u64>,
    result: Option<Text>,
    failure: Option<Text>,
) -> CallEnd {
    let mut end = CallEnd::new(status).with_duration_ms(duration_ms);
    end.result = result.map(|text| text.to_string());
    end.failure = failure.map(|text| text.to_string());
    end
}

fn called(
    entry: &Entry,
    tool: Slot,
    args: Option<Slot>,
    footprint: Option<&StoredFootprint>,
) -> CallLine {
    let tool = tool_name(entry, tool);
    let line = match entry.optional_json(args) {
        Some(JsonText::Removed) => CallLine::removed(&tool),
        Some(JsonText::Present(json)) => CallLine::new(&tool, Some(json.text())),
        None => CallLine::new(&tool, None),
    };
    let files = footprint.into_iter();
    let files = files.flat_map(|files| files.paths_written.iter().chain(&files.paths_read));
    let files: Vec<Text> = files.map(|slot| entry.text(*slot)).collect();
    line.touching(files.iter().filter_map(Text::as_str))
}

fn tool_name(entry: &Entry, tool: Slot) -> String {
    entry.text(tool).to_string()
}

//! The view of a tool invocation (docs/spec/git-internal.md, ToolInvocation).

use annals_domain::run::{Event, StoredFootprint, ToolStatus};
use annals_domain::{AnyEvent, RunId};
use serde::Serialize;

use crate::views::Project;
use crate::{ArtifactView, Entry, HeaderView, JsonText, Text};

/// Files that a tool call read and wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IoFootprintView {
    /// Files read, relative to the repository.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths_read: Vec<Text>,
    /// Files written, relative to the repository.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths_written: Vec<Text>,
}

impl IoFootprintView {
    fn read(footprint: &StoredFootprint, entry: &Entry) -> IoFootprintView {
        IoFootprintView {
            paths_read: entry.texts(&footprint.paths_read),
            paths_written: entry.texts(&footprint.paths_written),
        }
    }
}

/// One tool call of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolInvocationView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// The run that it belongs to.
    pub run_id: RunId,
    /// The tool's registered name.
    pub tool_name: Text,
    /// Files read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_footprint: Option<IoFootprintView>,
    /// Arguments; null when there are none.
    pub args: Option<JsonText>,
    status: ToolStatus,
    /// How long it took, in milliseconds; not part of the JSON.
    #[serde(skip)]
    pub duration_ms: Option<u64>,
    /// Short summary of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_summary: Option<Text>,
    /// Full output files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactView>,
}

impl ToolInvocationView {
    /// How it ended.
    pub fn status(&self) -> ToolStatus {
        self.status
    }
}

impl Project for ToolInvocationView {
    fn create(header: HeaderView, entry: &Entry) -> Option<ToolInvocationView> {
        let event = match &entry.event {
            AnyEvent::Run(Event::ToolInvoked(event)) => event,
            AnyEvent::Run(Event::ToolInvocationAdopted(event)) => &event.invocation,
            _ => return None,
        };
        let footprint = event.io_footprint.as_ref();
        Some(ToolInvocationView {
            header,
            run_id: RunId(entry.stream.id),
            tool_name: entry.text(event.tool_name),
            io_footprint: footprint.map(|stored| IoFootprintView::read(stored, entry)),
            args: entry.optional_json(event.args),
            status: event.status,
            duration_ms: event.duration_ms,
            result_summary: entry.optional_text(event.result_summary),
            artifacts: ArtifactView::read_all(&event.artifacts, entry),
        })
    }

    /// A tool invocation never changes; only its header does.
    fn evolve(&mut self, _: &Entry) {}
}

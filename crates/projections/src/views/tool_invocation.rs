//! The view of a tool invocation (docs/spec/git-internal.md, ToolInvocation).

mod life;

use annals_domain::run::{CallStatus, Event, StoredFootprint, ToolEnded, ToolInvoked};
use annals_domain::{AnyEvent, RunId, Slot};
use serde::Serialize;

use crate::conversation::NO_RESULT;
use crate::same_call::is_another_call;
use crate::tool_name::is_generic;
use crate::views::Project;
use crate::{ArtifactView, Entry, HeaderView, JsonText, Text};

pub use life::{CallLifeView, CallMoment, FileInForceView, JudgedCall, ToolDecisionView};

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
    status: CallStatus,
    /// How long it took, in milliseconds; not part of the JSON.
    #[serde(skip)]
    pub duration_ms: Option<u64>,
    /// Short summary of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_summary: Option<Text>,
    /// Full output files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactView>,
    /// When it was requested, decided on, begun and ended, as far as that is known; not part of the JSON.
    #[serde(skip)]
    pub life: CallLifeView,
}

impl ToolInvocationView {
    /// The tool's name and the arguments that the decisions on the call are about.
    pub fn judged(&self) -> (&Text, Option<&JsonText>) {
        match &self.life.judged {
            Some(judged) => (&judged.tool_name, judged.args.as_ref()),
            None => (&self.tool_name, self.args.as_ref()),
        }
    }

    /// Where it is in its life. What git-internal knows are calls that ended: [`CallStatus::ended`].
    pub fn status(&self) -> CallStatus {
        self.status
    }

    /// A call of which only the tool's name is known.
    fn new(header: HeaderView, entry: &Entry, tool_name: Slot, status: CallStatus) -> Self {
        ToolInvocationView {
            header,
            run_id: RunId(entry.stream.id),
            tool_name: entry.text(tool_name),
            io_footprint: None,
            args: None,
            status,
            duration_ms: None,
            result_summary: None,
            artifacts: Vec::new(),
            life: CallLifeView::default(),
        }
    }

    /// Adds what is not known yet.
    fn add(&mut self, event: &Event, entry: &Entry) {
        if let Event::ToolInvoked(event) = event {
            self.note_judged(event, entry);
        }
        self.learn_name(event, entry);
        let ended = self.status.ended();
        self.status = CallStatus::after(Some(self.status), event).unwrap_or(self.status);
        match event {
            Event::ToolRequested(event) => {
                self.learn_request(event.args, event.io_footprint.as_ref(), entry);
            }
            Event::ToolEnded(event) => {
                let contradicts = ended.is_some_and(|ended| ended != event.status);
                self.learn_end(event, contradicts, entry);
            }
            Event::ToolInvoked(event) => self.learn_all(event, entry),
            _ => {}
        }
        self.life.add(event, entry);
    }

    /// Keeps the call that was judged, if this is another one.
    fn note_judged(&mut self, event: &ToolInvoked, entry: &Entry) {
        if self.life.decisions.is_empty() || self.life.judged.is_some() {
            return;
        }
        let recorded_tool_name = entry.text(event.tool_name);
        let recorded_args = entry.optional_json(event.args);
        let before = (
            self.tool_name.as_str(),
            self.args.as_ref().map(JsonText::text),
        );
        let now = (
            recorded_tool_name.as_str(),
            recorded_args.as_ref().map(JsonText::text),
        );
        if is_another_call(before, now) {
            self.life.judged = Some(JudgedCall {
                tool_name: self.tool_name.clone(),
                args: self.args.clone(),
                recorded_tool_name,
                recorded_args,
            });
        }
    }

    /// The tool's name is that of the first source that says one.
    fn learn_name(&mut self, event: &Event, entry: &Entry) {
        if !self.tool_name.as_str().is_some_and(is_generic) {
            return;
        }
        let told = tool_name(event).map(|slot| entry.text(slot));
        if let Some(told) = told.filter(|told| !told.as_str().is_some_and(is_generic)) {
            self.tool_name = told;
        }
    }

    fn learn_request(
        &mut self,
        args: Option<Slot>,
        footprint: Option<&StoredFootprint>,
        entry: &Entry,
    ) {
        if self.args.is_none() {
            self.args = entry.optional_json(args);
        }
        if self.io_footprint.is_none() {
            self.io_footprint = footprint.map(|stored| IoFootprintView::read(stored, entry));
        }
    }

    /// Where sources disagree on how it ended, the last one counts, and with it what it says of the result.
    fn learn_end(&mut self, event: &ToolEnded, contradicts: bool, entry: &Entry) {
        self.duration_ms = self.duration_ms.or(event.duration_ms);
        let summary = self.result_summary.as_ref();
        let has_none = summary.is_none_or(|it| it.as_str() == Some(NO_RESULT));
        if has_none || (contradicts && event.result_summary.is_some()) {
            self.result_summary = entry.optional_text(event.result_summary);
        }
        if self.artifacts.is_empty() {
            self.artifacts = ArtifactView::read_all(&event.artifacts, entry);
        }
    }

    /// What tells of the call as a whole knows best what it was; only what it does not say stays.
    fn learn_all(&mut self, event: &ToolInvoked, entry: &Entry) {
        if let Some(args) = event.args {
            self.args = Some(entry.json(args));
        }
        if let Some(footprint) = &event.io_footprint {
            self.io_footprint = Some(IoFootprintView::read(footprint, entry));
        }
        if event.duration_ms.is_some() {
            self.duration_ms = event.duration_ms;
        }
        if let Some(summary) = event.result_summary {
            self.result_summary = Some(entry.text(summary));
        }
        if !event.artifacts.is_empty() {
            self.artifacts = ArtifactView::read_all(&event.artifacts, entry);
        }
    }
}

/// The tool's name, where an event on a call says it.
fn tool_name(event: &Event) -> Option<Slot> {
    match event {
        Event::ToolInvoked(event) => Some(event.tool_name),
        Event::ToolInvocationAdopted(event) => Some(event.invocation.tool_name),
        Event::ToolRequested(event) => Some(event.tool_name),
        Event::ToolDecided(event) => event.tool_name,
        Event::ToolBegun(event) => event.tool_name,
        Event::ToolEnded(event) => event.tool_name,
        _ => None,
    }
}

impl Project for ToolInvocationView {
    fn create(header: HeaderView, entry: &Entry) -> Option<ToolInvocationView> {
        let AnyEvent::Run(event) = &entry.event else {
            return None;
        };
        let tool_name = tool_name(event)?;
        let status = CallStatus::after(None, event)?;
        let mut view = ToolInvocationView::new(header, entry, tool_name, status);
        match event {
            Event::ToolInvocationAdopted(event) => view.learn_all(&event.invocation, entry),
            event => view.add(event, entry),
        }
        Some(view)
    }

    fn evolve(&mut self, entry: &Entry) {
        if let AnyEvent::Run(event) = &entry.event {
            self.add(event, entry);
        }
    }
}

//! The view of a piece of evidence (docs/spec/git-internal.md, Evidence).

use annals_domain::run::{Event, EvidenceKind};
use annals_domain::{AnyEvent, PatchSetId, RunId};
use serde::Serialize;

use crate::views::Project;
use crate::{ArtifactView, Entry, HeaderView, Text};

/// Output of one validation step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// The run that it belongs to.
    pub run_id: RunId,
    /// The patch set that was validated; none for the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patchset_id: Option<PatchSetId>,
    /// What kind of step it was.
    pub kind: EvidenceKind,
    /// The tool's name.
    pub tool: Text,
    /// The full command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Text>,
    /// The process's exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Short summary of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Text>,
    /// Full report files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub report_artifacts: Vec<ArtifactView>,
}

impl Project for EvidenceView {
    fn create(header: HeaderView, entry: &Entry) -> Option<EvidenceView> {
        let event = match &entry.event {
            AnyEvent::Run(Event::EvidenceRecorded(event)) => event,
            AnyEvent::Run(Event::EvidenceAdopted(event)) => &event.evidence,
            _ => return None,
        };
        Some(EvidenceView {
            header,
            run_id: RunId(entry.stream.id),
            patchset_id: event.patch_set,
            kind: event.kind.clone(),
            tool: entry.text(event.tool),
            command: entry.optional_text(event.command),
            exit_code: event.exit_code,
            summary: entry.optional_text(event.summary),
            report_artifacts: ArtifactView::read_all(&event.report_artifacts, entry),
        })
    }

    /// Evidence never changes; only its header does.
    fn evolve(&mut self, _: &Entry) {}
}

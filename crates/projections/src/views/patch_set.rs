//! The view of a patch set (docs/spec/git-internal.md, PatchSet).

use annals_domain::run::{
    ApplyStatus, ChangeType, DiffFormat, Event, PatchSetAdopted, StoredTouchedFile,
};
use annals_domain::{AnyEvent, GitOid, RunId};
use serde::{Serialize, Serializer};

use crate::views::Project;
use crate::{ArtifactView, Entry, HeaderView, Text};

/// One file of a patch set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TouchedFileView {
    /// The path, relative to the repository.
    pub path: Text,
    /// What happened to it.
    pub change_type: ChangeType,
    /// Lines added.
    pub lines_added: u32,
    /// Lines deleted.
    pub lines_deleted: u32,
}

impl TouchedFileView {
    fn read(file: &StoredTouchedFile, entry: &Entry) -> TouchedFileView {
        TouchedFileView {
            path: entry.text(file.path),
            change_type: file.change_type,
            lines_added: file.lines_added,
            lines_deleted: file.lines_deleted,
        }
    }
}

/// A candidate diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatchSetView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// The run that proposed it.
    pub run: RunId,
    /// The commit that the diff applies to; null before a repository's first.
    pub commit: Option<GitOid>,
    /// How the diff is written.
    pub format: DiffFormat,
    /// Where the diff is.
    pub artifact: Option<ArtifactView>,
    /// The files it touches.
    pub touched: Vec<TouchedFileView>,
    /// What was changed and why.
    pub rationale: Option<Text>,
    /// The JSON has no word for Reverted and says rejected.
    #[serde(serialize_with = "three_states")]
    apply_status: ApplyStatus,
    /// Why it was turned down; not part of the JSON.
    #[serde(skip)]
    pub rejection: Option<Text>,
    /// The run whose decision took it back; not part of the JSON.
    #[serde(skip)]
    pub reverted_by: Option<RunId>,
}

fn three_states<S: Serializer>(status: &ApplyStatus, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = match status {
        ApplyStatus::Proposed | ApplyStatus::Applied | ApplyStatus::Rejected => *status,
        ApplyStatus::Reverted => ApplyStatus::Rejected,
    };
    shown.serialize(serializer)
}

impl PatchSetView {
    /// What became of it: `apply_status` in the JSON, which says rejected of one that was reverted.
    pub fn status(&self) -> ApplyStatus {
        self.apply_status
    }

    fn adopt(header: HeaderView, event: &PatchSetAdopted, entry: &Entry) -> Option<PatchSetView> {
        let object = event.object.as_ref()?;
        let artifact = object.artifact.as_ref();
        let mut view = PatchSetView {
            header,
            run: RunId(entry.stream.id),
            commit: object.commit,
            format: object.format,
            artifact: artifact.map(|stored| ArtifactView::read(stored, entry)),
            touched: Vec::new(),
            rationale: entry.optional_text(object.rationale),
            apply_status: object.apply_status,
            rejection: None,
            reverted_by: None,
        };
        view.adopt_files(event, entry);
        Some(view)
    }

    fn adopt_files(&mut self, event: &PatchSetAdopted, entry: &Entry) {
        let files = event.touched.iter();
        self.touched
            .extend(files.map(|file| TouchedFileView::read(file, entry)));
    }
}

impl Project for PatchSetView {
    fn create(header: HeaderView, entry: &Entry) -> Option<PatchSetView> {
        let event = match &entry.event {
            AnyEvent::Run(Event::PatchSetProposed(event)) => event,
            AnyEvent::Run(Event::PatchSetAdopted(event)) => {
                return PatchSetView::adopt(header, event, entry);
            }
            _ => return None,
        };
        let touched = event.touched.iter();
        Some(PatchSetView {
            header,
            run: RunId(entry.stream.id),
            commit: event.commit,
            format: event.format,
            artifact: event
                .artifact
                .as_ref()
                .map(|stored| ArtifactView::read(stored, entry)),
            touched: touched
                .map(|file| TouchedFileView::read(file, entry))
                .collect(),
            rationale: entry.optional_text(event.rationale),
            apply_status: ApplyStatus::Proposed,
            rejection: None,
            reverted_by: None,
        })
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Run(event) = &entry.event else {
            return;
        };
        match event {
            Event::PatchSetAdopted(event) => self.adopt_files(event, entry),
            Event::PatchSetApplied(_) => self.apply_status = ApplyStatus::Applied,
            Event::PatchSetRejected(event) => {
                self.apply_status = ApplyStatus::Rejected;
                self.rejection = entry.optional_text(event.reason);
            }
            Event::PatchSetReverted(event) => {
                self.apply_status = ApplyStatus::Reverted;
                self.reverted_by = Some(event.reverted_by);
            }
            Event::RationaleOverridden(event) => {
                self.rationale = entry.optional_text(event.rationale);
            }
            // The header's facts; nothing else in a run is about a patch set.
            _ => {}
        }
    }
}

//! What the runs of a session show in its stream: their patch sets, evidence and
//! failures are artifacts there.

use std::cell::Cell;

use annals::domain::run::{self, Event, EvidenceKind};
use annals::domain::session::{Artifact, ArtifactKind};
use annals::domain::{AnyEvent, SessionId, StoredArtifact};
use annals::projections::{Entry, PieceValue};
use annals_event_log::Digest;

use super::core_type::Correlation;
use super::event::{ArtifactAvailable, ContractEvent};
use super::object::Object;
use super::render::Rendered;

/// The most bytes of a patch that are written into the stream.
const MAX_INLINE: u64 = 1024 * 1024;

/// An event of a run that its session's stream shows.
#[derive(Debug, Clone, Copy)]
pub(super) enum RunEvent<'a> {
    PatchSet(&'a run::PatchSetProposed),
    Evidence(&'a run::EvidenceRecorded),
    Failed(&'a run::Failed),
}

impl<'a> RunEvent<'a> {
    pub(super) fn of(entry: &'a Entry) -> Option<RunEvent<'a>> {
        match &entry.event {
            AnyEvent::Run(Event::PatchSetProposed(event)) => Some(RunEvent::PatchSet(event)),
            // A conflict is in the session's own stream.
            AnyEvent::Run(Event::EvidenceRecorded(event)) if !is_conflict(&event.kind) => {
                Some(RunEvent::Evidence(event))
            }
            AnyEvent::Run(Event::Failed(event)) => Some(RunEvent::Failed(event)),
            _ => None,
        }
    }

    fn artifact(self) -> Option<&'a StoredArtifact> {
        match self {
            RunEvent::PatchSet(event) => event.artifact.as_ref(),
            RunEvent::Evidence(_) | RunEvent::Failed(_) => None,
        }
    }

    fn patch_is_gone(self, entry: &Entry) -> bool {
        let slot = self.artifact().and_then(|artifact| artifact.content);
        let piece = slot.and_then(|slot| entry.pieces.get(usize::from(slot.0)));
        matches!(piece, Some(PieceValue::Removed))
    }

    /// The patch, where it is stored by itself and not too large.
    pub(super) fn wanted(self, entry: &Entry) -> Option<Digest> {
        let slot = self.artifact()?.content?;
        match entry.pieces.get(usize::from(slot.0))? {
            PieceValue::Attachment { digest, size } if *size <= MAX_INLINE => Some(*digest),
            _ => None,
        }
    }
}

fn is_conflict(kind: &EvidenceKind) -> bool {
    kind.as_str() == "rebase"
}

/// The artifact that an event of a run is.
pub(super) fn shown_of_run(
    session: SessionId,
    entry: &Entry,
    event: RunEvent<'_>,
    file: Option<&[u8]>,
) -> Rendered {
    let incomplete = Cell::new(event.patch_is_gone(entry));
    let text = |slot| {
        let text = entry.text(slot);
        incomplete.set(incomplete.get() || text.as_str().is_none());
        text.to_string()
    };
    let artifact = match event {
        RunEvent::PatchSet(event) => {
            Artifact::new(ArtifactKind::Patch, event.patch_set.to_string())
                .with_inline_text(file.and_then(|file| String::from_utf8(file.to_vec()).ok()))
                .with_content_type(
                    event
                        .artifact
                        .as_ref()
                        .and_then(|artifact| artifact.content_type.map(text)),
                )
        }
        RunEvent::Evidence(event) => Artifact::new(ArtifactKind::TestResults, text(event.tool))
            .with_inline_text(event.summary.map(text)),
        RunEvent::Failed(event) => {
            Artifact::new(ArtifactKind::ErrorReport, entry.stream.to_string())
                .with_inline_text(text(event.error))
        }
    };
    Rendered {
        object: Object::Event(ContractEvent {
            id: entry.event_id,
            correlation: Correlation::of_session(session),
            body: ArtifactAvailable { artifact }.into(),
        }),
        incomplete: incomplete.get(),
    }
}

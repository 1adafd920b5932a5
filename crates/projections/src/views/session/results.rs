//! What came out of a session's commands (docs/spec/contracts.md, Artifact and
//! ConflictDetected).

use annals_domain::session::{ArtifactAvailable, ArtifactKind, ConflictDetected};
use annals_domain::{CommandId, Timestamp};
use serde::Serialize;

use super::config::RepoView;
use crate::{Entry, Text};

/// Something that a command made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionArtifactView {
    /// What it is.
    pub kind: ArtifactKind,
    /// Its name.
    pub name: Text,
    /// Its content, where it came as a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline_text: Option<Text>,
    /// Where it is in the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hint: Option<Text>,
    /// Where it can be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_uri: Option<Text>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<Text>,
    /// The command that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandId>,
    /// When that was said.
    pub at: Timestamp,
}

/// A conflict that a command met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConflictView {
    /// The repository.
    pub repo: RepoView,
    /// What is in conflict.
    pub details: Text,
    /// The patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Text>,
    /// The command that met it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandId>,
    /// When that was said.
    pub at: Timestamp,
}

impl SessionArtifactView {
    pub(super) fn read(event: &ArtifactAvailable, entry: &Entry) -> SessionArtifactView {
        SessionArtifactView {
            kind: event.kind,
            name: entry.text(event.name),
            inline_text: entry.optional_text(event.inline_text),
            path_hint: entry.optional_text(event.path_hint),
            download_uri: entry.optional_text(event.download_uri),
            content_type: entry.optional_text(event.content_type),
            command: event.correlation.command,
            at: entry.occurred_at,
        }
    }
}

impl ConflictView {
    pub(super) fn read(event: &ConflictDetected, entry: &Entry) -> ConflictView {
        ConflictView {
            repo: RepoView::read(&event.repo, entry),
            details: entry.text(event.details),
            patch: entry.optional_text(event.patch),
            command: event.correlation.command,
            at: entry.occurred_at,
        }
    }
}

//! The git blobs that the log names: those of snapshots' items, and artifacts whose store is `git`.

use std::collections::{BTreeMap, HashMap, HashSet};

use annals::Annals;
use annals_domain::{AnyEvent, GitOid, Kind, StoredArtifact, run, snapshot};
use annals_event_log::Digest;
use annals_projections::{Entry, Fold, ObjectView, PieceValue};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::RetentionError;
use crate::pages::{first, page};

/// A git blob that objects of the log name.
#[derive(Debug, Clone)]
pub struct NamedBlob {
    /// The id that they give it.
    pub blob: GitOid,
    /// The objects, in the log's order.
    pub places: Vec<Place>,
    /// Its content, where the log has it.
    pub content: Option<Digest>,
    /// Whether the log had its content and removed it, in every place that names it.
    pub removed: bool,
}

/// Where an object names a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// What the object is.
    #[serde(serialize_with = "kind_name")]
    pub kind: Kind,
    /// Which one it is.
    pub id: Uuid,
    /// The run that it belongs to, if it belongs to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Uuid>,
    /// The number of the item or the artifact within it, from 0.
    pub number: u32,
    /// What people call it: a path, a URL, a command line, a label.
    pub label: String,
}

fn kind_name<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.object_type())
}

impl Place {
    fn is_of(&self, scope: &HashSet<Uuid>) -> bool {
        scope.contains(&self.id) || self.run.is_some_and(|run| scope.contains(&run))
    }
}

impl NamedBlob {
    /// Whether one of these objects names it.
    pub fn is_of(&self, scope: &HashSet<Uuid>) -> bool {
        self.places.iter().any(|place| place.is_of(scope))
    }

    /// Forgets the places of other objects than these.
    pub(super) fn limit_to(&mut self, scope: &HashSet<Uuid>) {
        self.places.retain(|place| place.is_of(scope));
    }

    /// Whether another object than these names it.
    pub fn is_of_others(&self, scope: &HashSet<Uuid>) -> bool {
        self.places.iter().any(|place| !place.is_of(scope))
    }
}

/// All of them, by their ids.
pub(super) async fn all(annals: &Annals) -> Result<Vec<NamedBlob>, RetentionError> {
    let end = annals.position();
    let mut found = Found::default();
    let mut next = first(end);
    while let Some(from) = next {
        let records;
        (records, next) = page(annals, from, end).await?;
        for record in records.iter().filter(|it| may_name(it.event_type())) {
            found.see(&annals.contents().entry(record).await?);
        }
    }
    Ok(found.into_blobs())
}

/// Whether events of this type may name blobs.
fn may_name(event_type: &str) -> bool {
    event_type.starts_with("snapshot.") || may_have_artifacts(event_type)
}

/// Whether events of this type make an object of a run that may refer to artifacts.
pub(crate) fn may_have_artifacts(event_type: &str) -> bool {
    matches!(
        event_type,
        "run.patch_set_proposed"
            | "run.patch_set_adopted"
            | "run.evidence_recorded"
            | "run.evidence_adopted"
            | "run.tool_invoked"
            | "run.tool_ended"
            | "run.tool_invocation_adopted"
    )
}

#[derive(Default)]
struct Found {
    snapshots: HashMap<Uuid, Fold>,
    /// Snapshots in the order of their first event.
    order: Vec<Uuid>,
    blobs: BTreeMap<GitOid, NamedBlob>,
}

impl Found {
    fn see(&mut self, entry: &Entry) {
        match &entry.event {
            AnyEvent::Snapshot(event) => self.see_snapshot(entry, event),
            AnyEvent::Run(event) => self.see_run(entry, event),
            _ => {}
        }
    }

    fn see_snapshot(&mut self, entry: &Entry, event: &snapshot::Event) {
        if matches!(
            event,
            snapshot::Event::MetadataSet(_) | snapshot::Event::Sealed(_)
        ) {
            return;
        }
        let id = entry.stream.id;
        let fold = self.snapshots.entry(id).or_insert_with(|| {
            self.order.push(id);
            Fold::new(Kind::ContextSnapshot, id)
        });
        fold.apply(entry);
    }

    fn see_run(&mut self, entry: &Entry, event: &run::Event) {
        let run = entry.stream.id;
        let (kind, id, artifacts): (Kind, Uuid, &[StoredArtifact]) = match event {
            run::Event::PatchSetProposed(event) => {
                let artifact = event.artifact.as_ref();
                let artifacts = artifact.map_or(&[][..], std::slice::from_ref);
                (Kind::PatchSet, event.patch_set.0, artifacts)
            }
            run::Event::PatchSetAdopted(event) => {
                let artifact = event.object.as_ref().and_then(|it| it.artifact.as_ref());
                let artifacts = artifact.map_or(&[][..], std::slice::from_ref);
                (Kind::PatchSet, event.patch_set.0, artifacts)
            }
            run::Event::EvidenceRecorded(event) => {
                (Kind::Evidence, event.evidence.0, &event.report_artifacts)
            }
            run::Event::EvidenceAdopted(event) => {
                let evidence = &event.evidence;
                (
                    Kind::Evidence,
                    evidence.evidence.0,
                    &evidence.report_artifacts,
                )
            }
            run::Event::ToolInvoked(event) => (
                Kind::ToolInvocation,
                event.tool_invocation.0,
                &event.artifacts,
            ),
            run::Event::ToolEnded(event) => (
                Kind::ToolInvocation,
                event.tool_invocation.0,
                &event.artifacts,
            ),
            run::Event::ToolInvocationAdopted(event) => {
                let call = &event.invocation;
                (
                    Kind::ToolInvocation,
                    call.tool_invocation.0,
                    &call.artifacts,
                )
            }
            _ => return,
        };
        for (number, artifact) in (0..).zip(artifacts) {
            let text = |slot| entry.text(slot);
            if text(artifact.store).as_str() != Some("git") {
                continue;
            }
            let key = text(artifact.key);
            let Some(blob) = key.as_str().and_then(|key| key.parse().ok()) else {
                continue;
            };
            let label = artifact.content_type.map(text);
            let place = Place {
                kind,
                id,
                run: Some(run),
                number,
                label: label.map_or_else(|| "artifact".to_owned(), |label| label.to_string()),
            };
            self.add(blob, place, None, false);
        }
    }

    fn add(&mut self, blob: GitOid, place: Place, content: Option<Digest>, removed: bool) {
        let named = self.blobs.entry(blob).or_insert_with(|| NamedBlob {
            blob,
            places: Vec::new(),
            content: None,
            removed: true,
        });
        named.removed &= removed;
        // What tells of a call that ended, and of the call as a whole, name the same.
        if !named.places.contains(&place) {
            named.places.push(place);
        }
        named.content = named.content.or(content);
    }

    fn into_blobs(mut self) -> Vec<NamedBlob> {
        for id in std::mem::take(&mut self.order) {
            let fold = self.snapshots.remove(&id);
            let Some(ObjectView::ContextSnapshot(view)) = fold.and_then(|fold| fold.view()) else {
                continue;
            };
            for item in &view.items {
                let Some(blob) = item.blob else { continue };
                let place = Place {
                    kind: Kind::ContextSnapshot,
                    id,
                    run: None,
                    number: item.index,
                    label: item.path.to_string(),
                };
                let content = match &item.content {
                    Some(PieceValue::Attachment { digest, .. }) => Some(*digest),
                    Some(PieceValue::Bytes(_) | PieceValue::Removed) | None => None,
                };
                let removed = item.content == Some(PieceValue::Removed);
                self.add(blob, place, content, removed);
            }
        }
        self.blobs.into_values().collect()
    }
}

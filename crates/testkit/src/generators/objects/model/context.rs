//! The reference for snapshots, pipelines, metadata and aliases.

use annals_domain::{GitOid, Kind, alias, metadata, pipeline, snapshot};
use uuid::Uuid;

use super::judged::{Judged, demand, text};
use super::{Model, Pipeline, Snapshot, SnapshotItem, window};

impl Model {
    pub(super) fn open_items(&mut self, snapshot: Uuid) -> Option<&mut Vec<SnapshotItem>> {
        let snapshot = self.snapshots.get_mut(&snapshot)?;
        demand(!snapshot.finalized)?;
        Some(&mut snapshot.items)
    }

    /// What git gives the content as its id must be what the item says, if it says anything.
    pub(super) fn new_item(item: &snapshot::NewItem) -> Option<SnapshotItem> {
        text(&item.path)?;
        let Some(content) = &item.content else {
            let (blob, kept) = (item.blob, false);
            return Some(SnapshotItem { blob, kept });
        };
        let content = &content.0;
        let ids = [
            GitOid::sha1_of_blob(content).ok()?,
            GitOid::sha256_of_blob(content),
        ];
        let blob = item.blob.unwrap_or(ids[0]);
        demand(ids.contains(&blob))?;
        let (blob, kept) = (Some(blob), true);
        Some(SnapshotItem { blob, kept })
    }

    pub(super) fn attach_blob(&mut self, c: &snapshot::AttachBlob) -> Judged {
        let items = self.open_items(c.snapshot.0)?;
        let item = items.get_mut(c.item as usize)?;
        demand(!item.kept)?;
        item.blob = Some(c.blob);
        Some(true)
    }

    pub(super) fn finalize_snapshot(&mut self, snapshot: Uuid) -> Judged {
        let items = self.open_items(snapshot)?;
        demand(items.iter().all(|item| item.blob.is_some()))?;
        self.snapshots.get_mut(&snapshot)?.finalized = true;
        Some(true)
    }

    pub(super) fn open_snapshot(&mut self, c: &snapshot::OpenSnapshot) -> Judged {
        let items = c.items.iter().map(Model::new_item);
        let items = items.collect::<Option<Vec<SnapshotItem>>>()?;
        let id = c.id?.0;
        self.snapshots.insert(
            id,
            Snapshot {
                finalized: false,
                items,
            },
        );
        self.place(Some(id), Kind::ContextSnapshot)
    }

    /// A run's snapshot is finalized, and complete.
    pub(super) fn snapshot_of_run(&mut self, snapshot: Uuid) -> Judged {
        if self.snapshots.get(&snapshot)?.finalized {
            return Some(true);
        }
        self.finalize_snapshot(snapshot)
    }

    pub(super) fn create_pipeline(&mut self, c: &pipeline::CreatePipeline) -> Judged {
        let id = c.id?.0;
        let mut pipeline = Pipeline::default();
        if let Some(policy) = &c.policy {
            demand(window::makes_sense(policy) && window::go_together(policy, c.max_frames))?;
            pipeline.set_policy(policy);
        }
        pipeline.max_frames = c.max_frames.unwrap_or(pipeline.max_frames);
        self.place(Some(id), Kind::ContextPipeline)?;
        self.pipelines.insert(id, pipeline);
        Some(true)
    }

    pub(super) fn push_frame(&mut self, c: &pipeline::PushFrame) -> Judged {
        if let (Some(data), Some(_)) = (&c.data, &c.content) {
            let data = serde_json::from_str(data.text()).unwrap_or_default();
            let serde_json::Value::Object(data) = data else {
                return None;
            };
            demand(!data.contains_key("content"))?;
        }
        let pipeline = self.pipelines.get_mut(&c.pipeline.0)?;
        pipeline.push(&c.kind, c.token_estimate.unwrap_or(0));
        Some(true)
    }

    /// The generator makes no alias that looks like an id.
    pub(super) fn reserve_alias(&mut self, c: &alias::ReserveAlias) -> Judged {
        demand(!c.alias.is_empty() && !c.alias.contains([' ', '/', '\n']))?;
        self.kinds.get(&c.object)?;
        match self.aliases.insert(c.alias.clone(), c.object) {
            Some(object) => demand(object == c.object).map(|()| false),
            None => Some(true),
        }
    }

    pub(super) fn set_metadata(&mut self, c: &metadata::SetMetadata) -> Judged {
        demand(c.visibility.is_some() || c.tags.is_some() || c.external_ids.is_some())?;
        self.kinds.get(&c.object).map(|_| true)
    }
}

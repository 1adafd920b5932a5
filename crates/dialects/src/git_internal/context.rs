//! Context snapshots and context pipelines.

use annals_domain::pipeline::{self, AdoptedFrame, AdoptedPipeline, FrameKind};
use annals_domain::snapshot::{
    self, AdoptedItem, AdoptedSnapshot, ContextItemKind, SelectionStrategy,
};
use annals_domain::{AnyEvent, FrameId, GitOid, Json, Pieces, Timestamp};

use super::fields::{Fields, Read};
use super::header::{Part, StoreHeader};
use super::parts::cut;

#[derive(Debug, Clone, PartialEq)]
struct Item {
    kind: ContextItemKind,
    path: String,
    preview: Option<String>,
    blob: Option<GitOid>,
}

impl Item {
    fn read(fields: &mut Fields<'_>) -> Read<Item> {
        Ok(Item {
            kind: fields.required(&["kind"])?,
            path: fields.not_blank(&["path"])?,
            preview: fields.optional(&["preview"])?,
            blob: fields.object(&["blob"], blob)?,
        })
    }
}

/// A git blob, written as its algorithm and its bytes.
fn blob(fields: &mut Fields<'_>) -> Read<GitOid> {
    match (
        fields.optional::<[u8; 20]>(&["Sha1"])?,
        fields.optional::<[u8; 32]>(&["Sha256"])?,
    ) {
        (Some(bytes), None) => Ok(GitOid::Sha1(bytes)),
        (None, Some(bytes)) => Ok(GitOid::Sha256(bytes)),
        _ => Err(fields.wrong("Sha1", "a blob is either Sha1 or Sha256")),
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Snapshot {
    strategy: SelectionStrategy,
    items: Vec<Item>,
    summary: Option<String>,
}

impl Snapshot {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Snapshot> {
        Ok(Snapshot {
            strategy: fields.required(&["selection_strategy"])?,
            items: fields.list(&["items"], Item::read)?,
            summary: fields.optional(&["summary"])?,
        })
    }

    pub(super) fn parts(&self, header: StoreHeader<'_>) -> Vec<Part> {
        let cost = |item: &&Item| 48 + item.kind.as_str().len();
        let items = cut(self.items.iter().collect(), cost);
        let parts = items.into_iter().enumerate().map(|(part, items)| {
            let mut pieces = Pieces::new();
            let object = (part == 0).then(|| AdoptedSnapshot {
                header: header(&mut pieces),
                strategy: self.strategy,
                summary: pieces.optional_text(self.summary.as_deref()),
            });
            let items = items.into_iter().map(|item| AdoptedItem {
                kind: item.kind.clone(),
                path: pieces.text(item.path.as_str()),
                preview: pieces.optional_text(item.preview.as_deref()),
                blob: item.blob,
            });
            let items = items.collect();
            (
                AnyEvent::Snapshot(snapshot::Adopted { object, items }.into()),
                pieces,
            )
        });
        parts.collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    pub(super) frame_id: FrameId,
    pub(super) kind: FrameKind,
    summary: String,
    data: Option<Json>,
    created_at: Timestamp,
    token_estimate: Option<u64>,
}

impl Frame {
    fn read(fields: &mut Fields<'_>) -> Read<Frame> {
        Ok(Frame {
            frame_id: fields.required(&["frame_id"])?,
            kind: fields.required(&["kind"])?,
            summary: fields.required(&["summary"])?,
            data: fields.json(&["data"])?,
            created_at: fields.required(&["created_at"])?,
            token_estimate: fields.optional(&["token_estimate"])?,
        })
    }

    fn store(&self, pieces: &mut Pieces) -> AdoptedFrame {
        AdoptedFrame {
            frame_id: self.frame_id,
            kind: self.kind.clone(),
            summary: pieces.text(self.summary.as_str()),
            data: pieces.optional_json(self.data.as_ref()),
            created_at: self.created_at,
            token_estimate: self.token_estimate,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pipeline {
    pub(super) frames: Vec<Frame>,
    pub(super) next_frame_id: FrameId,
    max_frames: u32,
    global_summary: Option<String>,
}

impl Pipeline {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Pipeline> {
        Ok(Pipeline {
            frames: fields.list(&["frames"], Frame::read)?,
            next_frame_id: fields.optional(&["next_frame_id"])?.unwrap_or(FrameId(0)),
            max_frames: fields.or_default(&["max_frames"])?,
            global_summary: fields.optional(&["global_summary"])?,
        })
    }

    pub(super) fn parts(&self, header: StoreHeader<'_>) -> Vec<Part> {
        let cost = |frame: &&Frame| 48 + frame.kind.as_str().len();
        let frames = cut(self.frames.iter().collect(), cost);
        let parts = frames.into_iter().enumerate().map(|(part, frames)| {
            let mut pieces = Pieces::new();
            let object = (part == 0).then(|| AdoptedPipeline {
                header: header(&mut pieces),
                next_frame_id: self.next_frame_id,
                max_frames: self.max_frames,
                global_summary: pieces.optional_text(self.global_summary.as_deref()),
            });
            let frames = frames.iter().map(|frame| frame.store(&mut pieces));
            let frames = frames.collect();
            (
                AnyEvent::Pipeline(pipeline::Adopted { object, frames }.into()),
                pieces,
            )
        });
        parts.collect()
    }
}

//! The files that a run touched, over all its patch sets.

use std::collections::HashMap;

use annals_domain::PatchSetId;
use annals_domain::run::{ApplyStatus, ChangeType, Event, StoredTouchedFile};

use crate::{Entry, Text};

/// A file that a run touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFile {
    /// The path, relative to the repository.
    pub path: Text,
    /// What became of it first: whether it was there before.
    pub change: ChangeType,
    /// Lines added, by all patch sets.
    pub added: u64,
    /// Lines deleted, by all patch sets.
    pub deleted: u64,
    /// Patch sets that touch it.
    pub patch_sets: u64,
    /// The last one of them.
    pub last: PatchSetId,
}

/// What a patch set does with a file.
#[derive(Debug, Clone)]
struct Touch {
    file: usize,
    change: ChangeType,
    added: u32,
    deleted: u32,
}

/// The patch sets so far.
#[derive(Debug, Default)]
pub(super) struct Files {
    paths: Vec<Text>,
    by_path: HashMap<Text, usize>,
    /// In their order.
    patch_sets: Vec<(PatchSetId, Vec<Touch>)>,
    by_id: HashMap<PatchSetId, usize>,
}

impl Files {
    pub(super) fn apply(&mut self, event: &Event, entry: &Entry) {
        match event {
            Event::PatchSetProposed(event) => self.touch(event.patch_set, &event.touched, entry),
            Event::PatchSetAdopted(event) => {
                let object = event.object.as_ref();
                if object.is_none_or(|object| object.apply_status != ApplyStatus::Rejected) {
                    self.touch(event.patch_set, &event.touched, entry);
                }
            }
            Event::PatchSetRejected(event) => self.forget(event.patch_set),
            Event::PatchSetReverted(event) => self.forget(event.patch_set),
            _ => {}
        }
    }

    fn touch(&mut self, id: PatchSetId, files: &[StoredTouchedFile], entry: &Entry) {
        let touches: Vec<Touch> = files
            .iter()
            .map(|file| Touch {
                file: self.file(entry.text(file.path)),
                change: file.change_type,
                added: file.lines_added,
                deleted: file.lines_deleted,
            })
            .collect();
        let at = *self.by_id.entry(id).or_insert(self.patch_sets.len());
        match self.patch_sets.get_mut(at) {
            Some((_, known)) => known.extend(touches),
            None => self.patch_sets.push((id, touches)),
        }
    }

    fn file(&mut self, path: Text) -> usize {
        if let Some(known) = self.by_path.get(&path) {
            return *known;
        }
        let file = self.paths.len();
        self.by_path.insert(path.clone(), file);
        self.paths.push(path);
        file
    }

    /// One that was turned down or taken back changed nothing in the end.
    fn forget(&mut self, id: PatchSetId) {
        let at = self.by_id.get(&id);
        if let Some((_, touches)) = at.and_then(|at| self.patch_sets.get_mut(*at)) {
            touches.clear();
        }
    }

    /// How many patch sets count, and their files.
    pub(super) fn finish(self) -> (u64, Vec<ReportedFile>) {
        let mut reported: Vec<Option<ReportedFile>> = self.paths.iter().map(|_| None).collect();
        let mut counted = 0;
        for (id, touches) in &self.patch_sets {
            counted += u64::from(!touches.is_empty());
            for touch in touches {
                let Some((slot, path)) =
                    reported.get_mut(touch.file).zip(self.paths.get(touch.file))
                else {
                    continue;
                };
                let file = slot.get_or_insert_with(|| ReportedFile {
                    path: path.clone(),
                    change: touch.change,
                    added: 0,
                    deleted: 0,
                    patch_sets: 0,
                    last: *id,
                });
                file.added += u64::from(touch.added);
                file.deleted += u64::from(touch.deleted);
                file.patch_sets += 1;
                file.last = *id;
            }
        }
        (counted, reported.into_iter().flatten().collect())
    }
}

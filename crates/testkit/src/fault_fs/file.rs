//! A file as its processes see it, and what of that a power cut would leave.

use std::collections::BTreeSet;

use super::content::{Content, PAGE, parts};

/// The two contents of a file and the way from one to the other.
///
/// `visible` is the page cache: what every process reads. `durable` is the disk
/// as the last sync left it. `pending` leads from the second to the first and is
/// empty after a sync; `dirty` are the pages that it touched.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    visible: Content,
    durable: Content,
    pending: Vec<Change>,
    dirty: BTreeSet<u64>,
    /// The smallest size since the last sync, where it shrank.
    shrunk_to: Option<u64>,
    /// Pages whose write-back failed and which were then marked clean: visible
    /// still, and written by no sync until a process writes to them.
    forgotten: BTreeSet<u64>,
}

/// One change of a file that no sync has made durable.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write {
        at: u64,
        bytes: Vec<u8>,
    },
    /// A truncation, down or up.
    Resize {
        to: u64,
    },
    /// A write whose bytes were forgotten; that the file grew was not.
    Grown {
        to: u64,
    },
}

impl File {
    /// A file that a power cut left with `content`.
    pub(super) fn restored(content: Content) -> File {
        File {
            visible: content.clone(),
            durable: content,
            ..File::default()
        }
    }

    pub(super) fn visible(&self) -> &Content {
        &self.visible
    }

    pub(super) fn durable(&self) -> &Content {
        &self.durable
    }

    pub(super) fn pending(&self) -> &[Change] {
        &self.pending
    }

    /// Whether a power cut would leave exactly what is visible.
    pub(super) fn is_synced(&self) -> bool {
        self.pending.is_empty() && self.forgotten.is_empty()
    }

    /// The pages that were forgotten, for a report.
    pub(super) fn forgotten(&self) -> usize {
        self.forgotten.len()
    }

    /// How many bytes of `bytes`, written at `at`, fit where `free` further pages
    /// are to be had.
    pub(super) fn fitting(&self, at: u64, bytes: &[u8], free: u64) -> usize {
        let (mut free, mut fitting) = (free, 0);
        for part in parts(at, bytes) {
            if !self.visible.has_page(part.page) {
                if free == 0 {
                    break;
                }
                free -= 1;
            }
            fitting += part.bytes.len();
        }
        fitting
    }

    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.visible.write(at, bytes);
        let (first, last) = (at / PAGE, (at + bytes.len() as u64 - 1) / PAGE);
        self.dirty.extend(first..=last);
        if self.forgotten.range(first..=last).next().is_none() {
            self.pending.push(Change::Write {
                at,
                bytes: bytes.to_vec(),
            });
            return;
        }
        // A kernel writes whole pages back: with the new bytes go those that it
        // had forgotten in the same pages.
        self.forgotten.retain(|page| !(first..=last).contains(page));
        let (at, len) = (first * PAGE, (last + 1 - first) * PAGE);
        self.pending.push(Change::Write {
            at,
            bytes: self.visible.read(at, len),
        });
    }

    pub(super) fn resize(&mut self, to: u64) {
        if to == self.visible.size() {
            return;
        }
        if to < self.visible.size() {
            self.shrunk_to = Some(self.shrunk_to.map_or(to, |before| before.min(to)));
            drop(self.dirty.split_off(&to.div_ceil(PAGE)));
            drop(self.forgotten.split_off(&to.div_ceil(PAGE)));
        }
        self.visible.crop(to);
        self.pending.push(Change::Resize { to });
    }

    /// Makes everything pending durable. It costs what changed since the last
    /// sync, not what the file is large.
    pub(super) fn sync(&mut self) {
        if let Some(to) = self.shrunk_to.take() {
            self.durable.crop(self.durable.size().min(to));
        }
        for page in std::mem::take(&mut self.dirty) {
            self.durable.take_page(page, &self.visible);
        }
        self.durable.take_size(&self.visible);
        self.pending = Vec::new();
    }

    /// A sync that failed as Linux' do: what was to be written is marked clean.
    /// Sizes are metadata, which the journal still has and commits later.
    pub(super) fn forget(&mut self) {
        self.forgotten.append(&mut self.dirty);
        let mut size = self.durable.size();
        let mut kept = Vec::new();
        for change in std::mem::take(&mut self.pending) {
            let to = match change {
                Change::Write { at, bytes } => size.max(at + bytes.len() as u64),
                Change::Grown { to } => size.max(to),
                Change::Resize { to } => {
                    kept.push(Change::Resize { to });
                    size = to;
                    continue;
                }
            };
            if to > size {
                kept.push(Change::Grown { to });
                size = to;
            }
        }
        self.pending = kept;
    }
}

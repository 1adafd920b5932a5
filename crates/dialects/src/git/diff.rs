//! What a commit changed: its tree against its first parent's.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;

use annals_domain::run::{ChangeType, TouchedFile};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::diff::tree_with_rewrites::Change;
use gix::objs::Kind;
use gix::objs::tree::{EntryKind, EntryMode};
use lru::LruCache;

use super::binary::{self, Binaries, LeftOut};
use super::changes::Changes;
use super::objects::{Fault, Objects};
use super::patch::{self, Content, Side, Similarity};
use super::remark::Remark;
use super::shown::{self, Sides};
use super::tally::Tally;
use crate::diff::{Lines, Sink};
use crate::secrets::{Hit, Secrets};

/// The largest diff that is kept, in bytes. The log takes a blob of 64 MiB, but has it in memory several
/// times until it is written.
const DIFF_LIMIT: usize = 48 << 20;

/// Bytes of a file before and after, together, that are compared: they are in memory, several times.
const TEXTS: u64 = 80 << 20;

/// Lines of a file that is compared: each takes memory, however short it is.
const LINES: usize = 1_000_000;

/// Bytes of files that are read for one commit: a small folder can have a large file many times.
const CONTENT: u64 = 1 << 30;

/// The most files that are listed: an event's structure has 64 KiB.
const FILES: usize = 2_000;

/// So many files without secrets are remembered: what one commit adds, the next ones
/// compare with.
const CLEAN: NonZeroUsize = NonZeroUsize::MIN.saturating_add(65_535);

/// What a commit changed.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// The diff's text, unless it is over the limit.
    pub(super) diff: Option<Vec<u8>>,
    pub(super) touched: Vec<TouchedFile>,
    /// Whether the diff has the content of binary files, and may be tried without.
    pub(super) has_binaries: bool,
}

/// Compares trees of one repository.
pub(super) struct Differ<'o> {
    objects: &'o Objects,
    secrets: Secrets,
    /// Files that were looked through and have no secret.
    clean: RefCell<LruCache<ObjectId, ()>>,
    changes: Changes,
    /// Bytes that were read for the commit in hand.
    read: Cell<u64>,
}

impl<'o> Differ<'o> {
    pub(super) fn new(objects: &'o Objects, secrets: Secrets) -> Differ<'o> {
        Differ {
            objects,
            secrets,
            clean: RefCell::new(LruCache::new(CLEAN)),
            changes: Changes::new(objects.hash()),
            read: Cell::new(0),
        }
    }

    /// What leads from one tree to another; without the old one, everything
    /// is new. None where too much changed for that to be said. Of binary files it
    /// has the content that `binaries` has room for.
    pub(super) fn patch(
        &mut self,
        commit: ObjectId,
        (old, new): (Option<ObjectId>, ObjectId),
        mut binaries: Binaries,
        tally: &mut Tally,
    ) -> Result<Option<Patch>, Fault> {
        let changes = self
            .changes
            .between(self.objects, old, new, (commit, tally))?;
        let Some(mut changes) = changes else {
            return Ok(None);
        };
        changes.sort_by(|a, b| a.location().cmp(b.location()));
        self.read.set(0);
        let mut sink = Sink::new(DIFF_LIMIT);
        let mut touched = Vec::new();
        let mut left_out = 0_u64;
        for change in &changes {
            let is_listed = touched.len() < FILES;
            // Nothing of it would be kept.
            if is_listed || !sink.is_full() {
                let out = (&mut binaries, &mut sink);
                let lines = self.write(commit, change, out, tally)?;
                if is_listed {
                    touched.push(self.touched_file(commit, change, lines, tally));
                }
            }
            left_out += u64::from(!is_listed);
            if is_submodule(change) {
                tally.remarks.add(Remark::Submodule, commit);
            }
        }
        if left_out > 0 {
            tally.remarks.add(Remark::TooManyFiles, commit);
            tally
                .fields
                .lost("files of the list, beyond 2,000", left_out);
        }
        Ok(Some(Patch {
            diff: sink.into_bytes(),
            touched,
            has_binaries: binaries.is_any(),
        }))
    }

    /// Both sides of a change, or the one that there is. Where they are too large to be compared, neither
    /// is read.
    fn sides(
        &self,
        commit: ObjectId,
        old: End<'_>,
        new: End<'_>,
        tally: &mut Tally,
    ) -> Result<(Option<Side>, Option<Side>), Fault> {
        let mut bytes = 0_u64;
        for (_, mode, id) in [old, new].into_iter().flatten() {
            if !mode.is_commit() {
                let header = self.objects.header(&id)?.ok_or(Fault::Missing(id))?;
                bytes = bytes.saturating_add(header.size);
            }
        }
        let all = self.read.get().saturating_add(bytes);
        let mut is_huge = bytes > TEXTS || all > CONTENT;
        let mut contents = [Content::Huge, Content::Huge];
        if !is_huge {
            self.read.set(all);
            for (side, content) in [old, new].into_iter().zip(&mut contents) {
                if let Some((_, mode, id)) = side {
                    *content = self.content(mode, id)?;
                    is_huge |= content.text().is_some_and(has_too_many_lines);
                }
            }
        }
        if is_huge {
            tally.remarks.add(Remark::FileTooLarge, commit);
            contents = [Content::Huge, Content::Huge];
        }
        let [before, after] = contents;
        let side = |side: End<'_>, content| {
            side.map(|(path, mode, id)| self.side(path, mode, id, content))
        };
        Ok((side(old, before), side(new, after)))
    }

    fn content(&self, mode: EntryMode, id: ObjectId) -> Result<Content, Fault> {
        Ok(Content::Bytes(if mode.is_commit() {
            format!("Subproject commit {id}\n").into_bytes()
        } else {
            self.objects.get_as(id, Kind::Blob)?
        }))
    }

    fn side(&self, path: &BStr, mode: EntryMode, id: ObjectId, content: Content) -> Side {
        let (content, hits) = self.without_secrets(id, content);
        let is_key = matches!(&content, Content::Bytes(bytes)
            if content.text().is_none() && self.secrets.is_key_file(bytes));
        Side {
            path: self.secrets.redact_bytes(path).content.into_owned().into(),
            kind: mode.kind(),
            id,
            content,
            hits,
            is_key,
        }
    }

    /// A file's content without its secrets. What is not text stays as it is: it is written whole or not at all.
    fn without_secrets(&self, id: ObjectId, content: Content) -> (Content, Vec<Hit>) {
        let is_text = content.text().is_some();
        let bytes = match &content {
            Content::Bytes(bytes) => {
                Some(bytes).filter(|_| is_text || bytes.len() <= binary::CONTENT)
            }
            Content::Huge => None,
        };
        let unknown = bytes.filter(|_| self.clean.borrow_mut().get(&id).is_none());
        let Some(bytes) = unknown else {
            return (content, Vec::new());
        };
        let redacted = self.secrets.redact_bytes(bytes);
        let hits = redacted.hits;
        match redacted.content {
            Cow::Owned(text) if is_text => (Content::Bytes(text), hits),
            Cow::Owned(_) => (content, hits),
            Cow::Borrowed(_) => {
                self.clean.borrow_mut().put(id, ());
                (content, hits)
            }
        }
    }

    /// Writes a change's patch, counts its lines and the secrets that it would have
    /// shown.
    fn write(
        &self,
        commit: ObjectId,
        change: &Change,
        (binaries, sink): (&mut Binaries, &mut Sink),
        tally: &mut Tally,
    ) -> Result<Lines, Fault> {
        let begin = sink.len();
        let (from, to, similarity) = ends(change);
        let (old, new) = self.sides(commit, from, to, tally)?;
        let lines = match (&old, &new) {
            (Some(old), Some(new)) if similarity.is_none() => {
                write_modification(old, new, binaries, sink)
            }
            (old, new) => patch::write(old.as_ref(), new.as_ref(), similarity, binaries, sink),
        };
        let left_out = binaries.take_left_out();
        if let Some(why) = left_out {
            let remark = match why {
                LeftOut::Large => Remark::BinaryTooLarge,
                LeftOut::Secret => Remark::BinarySecret,
            };
            tally.remarks.add(remark, commit);
            tally.fields.lost("content of binary files", 1);
        } else if is_binary(old.as_ref(), new.as_ref()) {
            tally.fields.kept("content of binary files");
        }
        let sides = Sides::new(old, new);
        shown::count(commit, &sides, sink.from(begin), &mut tally.redacted);
        // A submodule's line in the patch is not a line of a file in the repository.
        Ok(if is_submodule(change) {
            Lines::default()
        } else {
            lines
        })
    }

    fn touched_file(
        &self,
        commit: ObjectId,
        change: &Change,
        lines: Lines,
        tally: &mut Tally,
    ) -> TouchedFile {
        let (path, change_type) = touched(change, tally);
        let path = path_text(commit, path, tally);
        TouchedFile::new(
            tally.without_secrets(&path, &self.secrets, commit, "path"),
            change_type,
        )
        .with_lines_added(lines.added)
        .with_lines_deleted(lines.deleted)
    }
}

/// Whether the patch of a file has contents, as one side is not text.
fn is_binary(old: Option<&Side>, new: Option<&Side>) -> bool {
    let is_other = old.map(|side| side.id) != new.map(|side| side.id);
    let is_bytes =
        |side: &&Side| matches!(side.content, Content::Bytes(_)) && side.content.text().is_none();
    is_other && [old, new].into_iter().flatten().any(|side| is_bytes(&side))
}

/// A file as it is in a tree.
type End<'c> = Option<(&'c BStr, EntryMode, ObjectId)>;

/// What a change leads from and to, and how alike they are where it is a rename.
fn ends(change: &Change) -> (End<'_>, End<'_>, Option<Similarity>) {
    match change {
        Change::Addition {
            location,
            entry_mode,
            id,
            ..
        } => (None, Some((location.as_ref(), *entry_mode, *id)), None),
        Change::Deletion {
            location,
            entry_mode,
            id,
            ..
        } => (Some((location.as_ref(), *entry_mode, *id)), None, None),
        Change::Modification {
            location,
            previous_entry_mode,
            previous_id,
            entry_mode,
            id,
        } => (
            Some((location.as_ref(), *previous_entry_mode, *previous_id)),
            Some((location.as_ref(), *entry_mode, *id)),
            None,
        ),
        Change::Rewrite {
            source_location,
            source_entry_mode,
            source_id,
            diff,
            entry_mode,
            id,
            location,
            copy,
            ..
        } => {
            let similarity = Similarity {
                copy: *copy,
                percent: diff.map_or(100, |diff| percent(diff.similarity)),
            };
            (
                Some((source_location.as_ref(), *source_entry_mode, *source_id)),
                Some((location.as_ref(), *entry_mode, *id)),
                Some(similarity),
            )
        }
    }
}

fn has_too_many_lines(text: &[u8]) -> bool {
    // A quick look first: a line has a byte at least.
    text.len() > LINES && text.find_iter("\n").nth(LINES).is_some()
}

/// A file that became something else (a symbolic link, a submodule) is deleted
/// and added, as git prints it.
fn write_modification(old: &Side, new: &Side, binaries: &mut Binaries, sink: &mut Sink) -> Lines {
    let class = |kind: EntryKind| match kind {
        EntryKind::BlobExecutable => EntryKind::Blob,
        kind => kind,
    };
    if class(old.kind) == class(new.kind) {
        return patch::write(Some(old), Some(new), None, binaries, sink);
    }
    let deleted = patch::write(Some(old), None, None, binaries, sink).deleted;
    Lines {
        deleted,
        added: patch::write(None, Some(new), None, binaries, sink).added,
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A share is from 0 to 1.
fn percent(share: f32) -> u8 {
    (share.clamp(0.0, 1.0) * 100.0) as u8
}

fn is_submodule(change: &Change) -> bool {
    match change {
        Change::Modification {
            previous_entry_mode,
            entry_mode,
            ..
        } => previous_entry_mode.is_commit() || entry_mode.is_commit(),
        Change::Addition { entry_mode, .. }
        | Change::Deletion { entry_mode, .. }
        | Change::Rewrite { entry_mode, .. } => entry_mode.is_commit(),
    }
}

fn touched<'c>(change: &'c Change, tally: &mut Tally) -> (&'c BString, ChangeType) {
    match change {
        Change::Addition { location, .. } => (location, ChangeType::Add),
        Change::Deletion { location, .. } => (location, ChangeType::Delete),
        Change::Modification { location, .. } => (location, ChangeType::Modify),
        Change::Rewrite {
            location,
            copy: true,
            ..
        } => (location, ChangeType::Copy),
        Change::Rewrite {
            location,
            copy: false,
            ..
        } => {
            tally.fields.inferred("renames, by similarity");
            (location, ChangeType::Rename)
        }
    }
}

fn path_text(commit: ObjectId, path: &BString, tally: &mut Tally) -> String {
    let text = match path.to_str() {
        Ok(text) => text.to_owned(),
        Err(_) => {
            tally.remarks.add(Remark::PathNotUtf8, commit);
            tally.fields.lost("path's bytes", 1);
            path.to_str_lossy().into_owned()
        }
    };
    if text.trim().is_empty() {
        tally.remarks.add(Remark::PathBlank, commit);
        return format!("{text:?}");
    }
    text
}

//! What a commit changed: its tree against its first parent's.

use std::borrow::Cow;
use std::cell::RefCell;
use std::num::NonZeroUsize;

use annals_domain::run::{ChangeType, TouchedFile};
use gix::bstr::{BStr, BString, ByteSlice};
use gix::diff::blob::{Algorithm, Pipeline, Platform, pipeline, platform};
use gix::diff::tree_with_rewrites::Change;
use gix::diff::{Rewrites, tree_with_rewrites};
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind, EntryMode};
use gix::{ObjectId, Repository};
use lru::LruCache;

use super::commit::Tally;
use super::error::Trouble;
use super::patch::{self, Content, Side, Similarity};
use super::remark::Remark;
use super::shown::{self, Sides};
use crate::diff::{Lines, Sink};
use crate::secrets::{Hit, Secrets};

/// The largest diff that is kept, in bytes: what the log takes as one blob.
const DIFF_LIMIT: usize = 64 * 1024 * 1024;

/// A blob of this size is binary to git (its `core.bigFileThreshold`).
const HUGE: u64 = 512 * 1024 * 1024;

/// The most files that are listed: an event's structure has 64 KiB.
const FILES: usize = 2_000;

/// Renamed and changed files are looked for among so many, squared. Git looks
/// among 1,000, but it compares sketches and not whole files.
const RENAMES: usize = 200;

/// So many files without secrets are remembered: what one commit adds, the next ones
/// compare with.
const CLEAN: NonZeroUsize = NonZeroUsize::MIN.saturating_add(65_535);

/// What a commit changed.
#[derive(Debug)]
pub(super) struct Patch {
    /// The diff's text, unless it is over the limit.
    pub(super) diff: Option<Vec<u8>>,
    pub(super) touched: Vec<TouchedFile>,
}

/// Compares trees of one repository. It depends on the objects alone: neither
/// the user's git configuration nor attributes change what it gives, and it
/// runs no programs that they name.
pub(super) struct Differ<'repo> {
    repo: &'repo Repository,
    secrets: Secrets,
    /// Files that were looked through and have no secret.
    clean: RefCell<LruCache<ObjectId, ()>>,
    similar: Platform,
    state: gix::diff::tree::State,
}

impl<'repo> Differ<'repo> {
    pub(super) fn new(repo: &'repo Repository, secrets: Secrets) -> Differ<'repo> {
        let filters = gix::filter::plumbing::Pipeline::new(
            gix::command::Context::default(),
            repo.object_hash(),
            gix::filter::plumbing::pipeline::Options::default(),
        );
        let options = pipeline::Options {
            large_file_threshold_bytes: HUGE,
            ..Default::default()
        };
        let roots = pipeline::WorktreeRoots::default();
        let attributes = gix::worktree::stack::State::AttributesStack(Default::default());
        let case = gix::glob::pattern::Case::Sensitive;
        let similar = Platform::new(
            platform::Options {
                algorithm: Some(Algorithm::Myers),
                ..Default::default()
            },
            Pipeline::new(roots, filters, Vec::new(), options),
            pipeline::Mode::ToGit,
            gix::worktree::Stack::new("", attributes, case, Vec::new(), Vec::new()),
        );
        Differ {
            repo,
            secrets,
            clean: RefCell::new(LruCache::new(CLEAN)),
            similar,
            state: gix::diff::tree::State::default(),
        }
    }

    /// What leads from one tree to another; without the old one, everything
    /// is new.
    pub(super) fn patch(
        &mut self,
        commit: ObjectId,
        old: Option<ObjectId>,
        new: ObjectId,
        tally: &mut Tally,
    ) -> Result<Patch, Trouble> {
        let mut changes = self.changes(commit, old, new, tally)?;
        changes.sort_by(|a, b| a.location().cmp(b.location()));
        let mut sink = Sink::new(DIFF_LIMIT);
        let mut touched = Vec::new();
        let mut left_out = 0_u64;
        for change in &changes {
            let lines = self.write(commit, change, &mut sink, tally)?;
            if touched.len() < FILES {
                touched.push(self.touched_file(commit, change, lines, tally));
            } else {
                left_out += 1;
            }
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
        Ok(Patch {
            diff: sink.into_bytes(),
            touched,
        })
    }

    /// The changed files, renames found, folders left out.
    fn changes(
        &mut self,
        commit: ObjectId,
        old: Option<ObjectId>,
        new: ObjectId,
        tally: &mut Tally,
    ) -> Result<Vec<Change>, Trouble> {
        let before = old
            .map(|id| self.object(id))
            .transpose()?
            .unwrap_or_default();
        let after = self.object(new)?;
        let hash = self.repo.object_hash();
        let options = tree_with_rewrites::Options {
            location: Some(gix::diff::tree::recorder::Location::Path),
            rewrites: Some(Rewrites {
                limit: RENAMES,
                ..Rewrites::default()
            }),
        };
        let mut changes = Vec::new();
        self.similar.clear_resource_cache_keep_allocation();
        let outcome = tree_with_rewrites(
            TreeRefIter::from_bytes(&before, hash),
            TreeRefIter::from_bytes(&after, hash),
            &mut self.similar,
            &mut self.state,
            &self.repo.objects,
            |change| {
                if !change.entry_mode().is_tree() {
                    changes.push(change.into_owned());
                }
                Ok(std::ops::ControlFlow::Continue(()))
            },
            options,
        )
        .map_err(|error| Trouble::Unreadable(Box::new(error)))?;
        let skipped = outcome.is_some_and(|outcome| {
            outcome.num_similarity_checks_skipped_for_rename_tracking_due_to_limit > 0
        });
        if skipped {
            tally.remarks.add(Remark::RenamesNotSearched, commit);
        }
        Ok(changes)
    }

    fn object(&self, id: ObjectId) -> Result<Vec<u8>, Trouble> {
        let object = self.repo.try_find_object(id)?.ok_or(Trouble::Missing(id))?;
        Ok(object.detach().data)
    }

    fn side(&self, path: &BStr, mode: EntryMode, id: ObjectId) -> Result<Side, Trouble> {
        let content = if mode.is_commit() {
            Content::Bytes(format!("Subproject commit {id}\n").into_bytes())
        } else {
            let header = self.repo.try_find_header(id)?.ok_or(Trouble::Missing(id))?;
            if header.size() > HUGE {
                Content::Huge
            } else {
                Content::Bytes(self.object(id)?)
            }
        };
        let (content, hits) = self.without_secrets(id, content);
        Ok(Side {
            path: self.secrets.redact_bytes(path).content.into_owned().into(),
            kind: mode.kind(),
            id,
            content,
            hits,
        })
    }

    /// A file's content without its secrets. What is not text is not written.
    fn without_secrets(&self, id: ObjectId, content: Content) -> (Content, Vec<Hit>) {
        let text = content.text();
        let unknown = text.filter(|_| self.clean.borrow_mut().get(&id).is_none());
        let Some(text) = unknown else {
            return (content, Vec::new());
        };
        let redacted = self.secrets.redact_bytes(text);
        let hits = redacted.hits;
        let Cow::Owned(text) = redacted.content else {
            self.clean.borrow_mut().put(id, ());
            return (content, hits);
        };
        (Content::Bytes(text), hits)
    }

    /// Writes a change's patch, counts its lines and the secrets that it would have
    /// shown.
    fn write(
        &self,
        commit: ObjectId,
        change: &Change,
        sink: &mut Sink,
        tally: &mut Tally,
    ) -> Result<Lines, Trouble> {
        let begin = sink.len();
        let (sides, lines) = self.write_sides(change, sink)?;
        shown::count(commit, &sides, sink.from(begin), &mut tally.redacted);
        // A submodule's line in the patch is no line of the repository's.
        Ok(if is_submodule(change) {
            Lines::default()
        } else {
            lines
        })
    }

    fn write_sides(&self, change: &Change, sink: &mut Sink) -> Result<(Sides, Lines), Trouble> {
        Ok(match change {
            Change::Addition {
                location,
                entry_mode,
                id,
                ..
            } => {
                let new = self.side(location.as_ref(), *entry_mode, *id)?;
                let lines = patch::write(None, Some(&new), None, sink);
                (Sides::new(None, Some(new)), lines)
            }
            Change::Deletion {
                location,
                entry_mode,
                id,
                ..
            } => {
                let old = self.side(location.as_ref(), *entry_mode, *id)?;
                let lines = patch::write(Some(&old), None, None, sink);
                (Sides::new(Some(old), None), lines)
            }
            Change::Modification {
                location,
                previous_entry_mode,
                previous_id,
                entry_mode,
                id,
            } => {
                let old = self.side(location.as_ref(), *previous_entry_mode, *previous_id)?;
                let new = self.side(location.as_ref(), *entry_mode, *id)?;
                let lines = write_modification(&old, &new, sink);
                (Sides::new(Some(old), Some(new)), lines)
            }
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
                let old = self.side(source_location.as_ref(), *source_entry_mode, *source_id)?;
                let new = self.side(location.as_ref(), *entry_mode, *id)?;
                let percent = diff.map_or(100, |diff| percent(diff.similarity));
                let similarity = Similarity {
                    copy: *copy,
                    percent,
                };
                let lines = patch::write(Some(&old), Some(&new), Some(similarity), sink);
                (Sides::new(Some(old), Some(new)), lines)
            }
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
        TouchedFile {
            path: tally.without_secrets(&path, &self.secrets, commit, "path"),
            change_type,
            lines_added: lines.added,
            lines_deleted: lines.deleted,
        }
    }
}

/// A file that became something else (a symbolic link, a submodule) is deleted
/// and added, as git prints it.
fn write_modification(old: &Side, new: &Side, sink: &mut Sink) -> Lines {
    let class = |kind: EntryKind| match kind {
        EntryKind::BlobExecutable => EntryKind::Blob,
        kind => kind,
    };
    if class(old.kind) == class(new.kind) {
        return patch::write(Some(old), Some(new), None, sink);
    }
    let deleted = patch::write(Some(old), None, None, sink).deleted;
    Lines {
        deleted,
        added: patch::write(None, Some(new), None, sink).added,
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

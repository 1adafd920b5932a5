//! Which files a commit changed, within bounds: its tree against its first parent's, renames found.

use std::collections::HashSet;
use std::convert::Infallible;
use std::ops::ControlFlow;

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use gix::diff::Rewrites;
use gix::diff::blob::{Algorithm, Pipeline, Platform, pipeline, platform};
use gix::diff::rewrites::Tracker;
use gix::diff::rewrites::tracker::visit::{Destination, Source, SourceKind};
use gix::diff::rewrites::tracker::{Change as _, ChangeKind};
use gix::diff::tree::visit::Change as Entry;
use gix::diff::tree::{Recorder, Visit};
use gix::diff::tree_with_rewrites::Change;
use gix::objs::{Kind, TreeRefIter};

use super::objects::{Fault, Objects};
use super::remark::Remark;
use super::tally::Tally;

/// The most files and folders that a commit may change: they are in memory at once. A small tree can
/// have any number of files, as a folder may be in it many times.
const CHANGES: usize = 100_000;

/// Bytes of the paths of a commit's changes, together.
const PATHS: usize = 64 << 20;

/// Renamed and changed files are looked for among so many, squared. Git looks
/// among 1,000, but it compares sketches and not whole files.
const RENAMES: usize = 200;

/// Bytes of a file that is compared with others.
const COMPARED: u64 = 4 << 20;

/// Bytes of all files that are compared with each other: they are in memory at once.
const COMPARED_TOGETHER: u64 = 64 << 20;

/// Bytes of all pairs that are compared.
const COMPARED_IN_PAIRS: u64 = 4 << 30;

/// Finds changes between trees. It depends on the objects alone: neither the user's git configuration
/// nor attributes change what it gives, and it runs no programs that they name.
pub(super) struct Changes {
    similar: Platform,
    state: gix::diff::tree::State,
}

impl Changes {
    pub(super) fn new(hash: gix::hash::Kind) -> Changes {
        let filters = gix::filter::plumbing::Pipeline::new(
            gix::command::Context::default(),
            hash,
            gix::filter::plumbing::pipeline::Options::default(),
        );
        let options = pipeline::Options {
            large_file_threshold_bytes: COMPARED,
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
        Changes {
            similar,
            state: gix::diff::tree::State::default(),
        }
    }

    /// The changed files, renames found, folders left out; none where there are too many.
    pub(super) fn between(
        &mut self,
        objects: &Objects,
        old: Option<ObjectId>,
        new: ObjectId,
        (commit, tally): (ObjectId, &mut Tally),
    ) -> Result<Option<Vec<Change>>, Fault> {
        let expected = "entries of a folder";
        let malformed = Fault::Malformed { id: new, expected };
        let tree = |id| objects.get_as(id, Kind::Tree);
        let (before, after) = (old.map(tree).transpose()?.unwrap_or_default(), tree(new)?);
        let mut collector = Collector::default();
        objects.take_fault();
        let walked = gix::diff::tree(
            TreeRefIter::from_bytes(&before, objects.hash()),
            TreeRefIter::from_bytes(&after, objects.hash()),
            &mut self.state,
            objects,
            &mut collector,
        );
        if collector.is_full {
            return Ok(None);
        }
        let walked = walked.map_err(|_| objects.take_fault().unwrap_or(malformed.clone()));
        walked?;
        let rewrites = rewrites(objects, &collector.entries)?;
        if rewrites.percentage.is_none() {
            tally.remarks.add(Remark::RenamesNotSearched, commit);
        }
        let mut tracker = Tracker::new(rewrites);
        let mut changes = Vec::new();
        for (entry, path) in collector.entries {
            changes.extend(
                tracker
                    .try_push_change(entry, path.as_ref())
                    .map(|entry| plain(entry, path)),
            );
        }
        self.similar.clear_resource_cache_keep_allocation();
        let outcome = tracker.emit(
            |destination, source| {
                changes.push(found(destination, source));
                ControlFlow::Continue(())
            },
            &mut self.similar,
            objects,
            |_| Ok::<_, Infallible>(()),
        );
        // What was compared goes at once, and not when the next commit is looked at.
        self.similar.clear_resource_cache();
        let outcome = outcome.map_err(|_| objects.take_fault().unwrap_or(malformed))?;
        if outcome.num_similarity_checks_skipped_for_rename_tracking_due_to_limit > 0 {
            tally.remarks.add(Remark::RenamesNotSearched, commit);
        }
        changes.retain(|change| !change.entry_mode().is_tree());
        Ok(Some(changes))
    }
}

/// Takes what differs, as long as it is not too much.
#[derive(Default)]
struct Collector {
    paths: Recorder,
    entries: Vec<(Entry, BString)>,
    bytes: usize,
    is_full: bool,
}

impl Visit for Collector {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.paths.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.paths.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.paths.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.paths.pop_path_component();
    }

    fn visit(&mut self, entry: Entry) -> ControlFlow<()> {
        self.bytes += self.paths.path().len();
        if self.entries.len() == CHANGES || self.bytes > PATHS {
            self.is_full = true;
            return ControlFlow::Break(());
        }
        self.entries.push((entry, self.paths.path_clone()));
        ControlFlow::Continue(())
    }
}

/// How renames are looked for: only those of unchanged files where it would take too much to compare
/// the others.
fn rewrites(objects: &Objects, entries: &[(Entry, BString)]) -> Result<Rewrites, Fault> {
    let all = Rewrites {
        limit: RENAMES,
        ..Rewrites::default()
    };
    let of_kind = |kind: ChangeKind| {
        let blobs = entries.iter().map(|(entry, _)| entry);
        let blobs = blobs.filter(|it| it.kind() == kind && it.entry_mode().is_blob());
        blobs.map(|entry| entry.id().to_owned()).collect::<Vec<_>>()
    };
    let (sources, targets) = (of_kind(ChangeKind::Deletion), of_kind(ChangeKind::Addition));
    let of = |ids: &[ObjectId]| ids.iter().copied().collect::<HashSet<_>>();
    let (known, new) = (of(&sources), of(&targets));
    // Unchanged files are found by their ids.
    let left = |ids: Vec<ObjectId>, others: &HashSet<ObjectId>| {
        let left = ids.into_iter().filter(|id| !others.contains(id));
        left.collect::<Vec<_>>()
    };
    let (sources, targets) = (left(sources, &new), left(targets, &known));
    let pairs = sources.len().saturating_mul(targets.len());
    // Of more than these none are compared anyhow.
    if pairs == 0 || pairs > RENAMES * RENAMES {
        return Ok(all);
    }
    let bytes = |ids: &[ObjectId]| {
        let mut sum = 0_u64;
        for id in ids {
            let header = objects.header(id)?.ok_or(Fault::Missing(*id))?;
            // Larger ones are passed over, as binary ones are.
            sum += if header.size > COMPARED {
                0
            } else {
                header.size
            };
        }
        Ok::<_, Fault>(sum)
    };
    let (from, to) = (bytes(&sources)?, bytes(&targets)?);
    let in_pairs = from * targets.len() as u64 + to * sources.len() as u64;
    let is_bounded = from + to <= COMPARED_TOGETHER && in_pairs <= COMPARED_IN_PAIRS;
    Ok(Rewrites {
        percentage: all.percentage.filter(|_| is_bounded),
        ..all
    })
}

/// A change that is what it is by itself.
fn plain(entry: Entry, location: BString) -> Change {
    match entry {
        Entry::Addition {
            entry_mode,
            oid: id,
            relation,
        } => Change::Addition {
            location,
            relation,
            entry_mode,
            id,
        },
        Entry::Deletion {
            entry_mode,
            oid: id,
            relation,
        } => Change::Deletion {
            location,
            relation,
            entry_mode,
            id,
        },
        Entry::Modification {
            previous_entry_mode,
            previous_oid: previous_id,
            entry_mode,
            oid: id,
        } => Change::Modification {
            location,
            previous_entry_mode,
            previous_id,
            entry_mode,
            id,
        },
    }
}

/// A change with the file that it was made from, if there is one.
fn found(to: Destination<'_, Entry>, from: Option<Source<'_, Entry>>) -> Change {
    let location = to.location.to_owned();
    let Some(from) = from else {
        return plain(to.change, location);
    };
    let (id, entry_mode) = to.change.id_and_entry_mode();
    Change::Rewrite {
        source_location: from.location.to_owned(),
        source_entry_mode: from.entry_mode,
        source_relation: from.change.relation(),
        source_id: from.id,
        diff: from.diff,
        entry_mode,
        location,
        id: id.to_owned(),
        relation: to.change.relation(),
        copy: matches!(from.kind, SourceKind::Copy),
    }
}

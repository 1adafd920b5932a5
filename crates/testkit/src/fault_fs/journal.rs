//! Changes of directories that are not durable yet, and which of them belong together.
//!
//! A journal commits what concerns one name or one file in the order in which it
//! happened, and a rename between two directories as one. So an operation is made
//! durable only with the earlier ones that it depends on: a cut leaves no file
//! without its content's name because the new one came before the old one.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

/// An inode's number. None is used twice, not even after a cut: what was open
/// before it is stale.
pub(super) type Ino = u64;

/// One operation on names: it becomes durable wholly or not at all.
#[derive(Clone, Debug)]
pub(super) struct EntryOperation {
    /// The system call, for reports.
    pub(super) call: &'static str,
    /// The names that it changes; a rename has two.
    pub(super) slots: Vec<Slot>,
    /// It makes a directory or moves one.
    pub(super) shapes_tree: bool,
    /// The directory that it removes or replaces.
    pub(super) removes: Option<Ino>,
}

/// What an operation makes of one name.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) directory: Ino,
    pub(super) name: OsString,
    pub(super) before: Option<Ino>,
    pub(super) after: Option<Ino>,
}

impl EntryOperation {
    /// The inodes that must be kept while the operation is pending.
    pub(super) fn holds(&self) -> impl Iterator<Item = Ino> + '_ {
        self.slots
            .iter()
            .flat_map(|slot| [Some(slot.directory), slot.before, slot.after])
            .flatten()
    }

    fn targets(&self) -> impl Iterator<Item = Ino> + '_ {
        self.slots
            .iter()
            .flat_map(|slot| [slot.before, slot.after])
            .flatten()
    }

    /// Whether it takes something from one directory to another, or moves a
    /// directory: what it moves is lost where the way to its new place is.
    fn moves(&self) -> bool {
        let mut directories = self.slots.iter().map(|slot| slot.directory);
        let first = directories.next();
        self.slots.len() > 1
            && (self.shapes_tree || directories.any(|directory| Some(directory) != first))
    }
}

/// What a set of operations touches, to find those that depend on it or that it
/// depends on.
#[derive(Default)]
struct Touched<'a> {
    names: HashSet<(Ino, &'a OsStr)>,
    targets: HashSet<Ino>,
    directories: HashSet<Ino>,
    removed: HashSet<Ino>,
    moves: bool,
    shapes: bool,
}

impl<'a> Touched<'a> {
    fn add(&mut self, operation: &'a EntryOperation) {
        for slot in &operation.slots {
            self.names.insert((slot.directory, slot.name.as_os_str()));
            self.directories.insert(slot.directory);
        }
        self.targets.extend(operation.targets());
        self.removed.extend(operation.removes);
        self.moves |= operation.moves();
        self.shapes |= operation.shapes_tree;
    }

    fn shares(&self, operation: &EntryOperation) -> bool {
        operation.slots.iter().any(|slot| {
            self.names
                .contains(&(slot.directory, slot.name.as_os_str()))
        }) || operation
            .targets()
            .any(|target| self.targets.contains(&target))
    }

    /// Whether one of these, all later than `operation`, depends on it.
    fn depends_on(&self, operation: &EntryOperation) -> bool {
        self.shares(operation)
            || (self.moves && operation.shapes_tree)
            || operation
                .slots
                .iter()
                .any(|slot| self.removed.contains(&slot.directory))
    }

    /// Whether `operation`, later than all these, depends on one of them.
    fn is_needed_by(&self, operation: &EntryOperation) -> bool {
        self.shares(operation)
            || (self.shapes && operation.moves())
            || operation
                .removes
                .is_some_and(|directory| self.directories.contains(&directory))
    }
}

/// Which of `pending` a sync of `directory` makes durable: those that change it,
/// and what they depend on.
pub(super) fn synced_with(pending: &[EntryOperation], directory: Ino) -> Vec<bool> {
    let mut chosen = vec![false; pending.len()];
    let mut touched = Touched::default();
    for (operation, chosen) in pending.iter().zip(&mut chosen).rev() {
        let changes_it = operation
            .slots
            .iter()
            .any(|slot| slot.directory == directory);
        if changes_it || touched.depends_on(operation) {
            touched.add(operation);
            *chosen = true;
        }
    }
    chosen
}

/// Which of `pending` survive where `wanted` picks one by one: none whose
/// predecessors do not.
pub(super) fn surviving(
    pending: &[EntryOperation],
    mut wanted: impl FnMut(usize) -> bool,
) -> Vec<bool> {
    let mut lost = Touched::default();
    let mut chosen = Vec::with_capacity(pending.len());
    for (number, operation) in pending.iter().enumerate() {
        let survives = wanted(number) && !lost.is_needed_by(operation);
        if !survives {
            lost.add(operation);
        }
        chosen.push(survives);
    }
    chosen
}

//! Inodes and directories, as processes see them and as the disk has them.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::SystemTime;

use fuser::{Errno, FileType};

use super::file::File;
use super::journal::{self, EntryOperation, Ino, Slot};

/// The root's number, in FUSE.
pub(super) const ROOT: Ino = 1;

/// Who may do what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attributes {
    /// The permissions, without the type.
    pub(super) mode: u16,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// What an inode is.
#[derive(Clone, Debug)]
pub(super) enum Node {
    File(File),
    Directory(Directory),
    Symlink(PathBuf),
    /// A pipe or a socket, which the kernel does the work of.
    Special(FileType),
}

/// The names of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    pub(super) visible: BTreeMap<OsString, Ino>,
    pub(super) durable: BTreeMap<OsString, Ino>,
}

/// A file or directory with its attributes.
#[derive(Clone, Debug)]
pub(super) struct Inode {
    pub(super) node: Node,
    pub(super) attributes: Attributes,
    /// The attributes that a cut would leave.
    pub(super) durable_attributes: Attributes,
    /// When it was read, written and changed. A cut leaves them alone.
    pub(super) times: Times,
    /// Visible names.
    pub(super) links: u32,
    /// Open handles.
    pub(super) opens: u32,
    /// Pending operations that name it. What has a durable name and no visible one
    /// has such an operation, so this keeps all that a cut could bring back.
    holds: u32,
    /// A visible name, or the last one that it had: for patterns and reports.
    name: (Ino, OsString),
}

/// The three times of an inode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) accessed: SystemTime,
    pub(super) modified: SystemTime,
    pub(super) changed: SystemTime,
}

impl Times {
    fn now() -> Times {
        let now = SystemTime::now();
        Times {
            accessed: now,
            modified: now,
            changed: now,
        }
    }
}

/// The whole file system.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    inodes: HashMap<Ino, Inode>,
    next: Ino,
    /// Operations on names that no sync has made durable, in their order.
    pub(super) pending: Vec<EntryOperation>,
    /// Pages that visible or open files take.
    used: u64,
    /// Pages that there are.
    pub(super) capacity: u64,
}

impl Tree {
    /// An empty file system of `capacity` pages, whose root belongs to `owner`.
    pub(super) fn new(capacity: u64, owner: Attributes) -> Tree {
        let mut tree = Tree {
            inodes: HashMap::new(),
            next: ROOT,
            pending: Vec::new(),
            used: 0,
            capacity,
        };
        let root = tree.allocate(
            Node::Directory(Directory::default()),
            owner,
            (ROOT, "".into()),
        );
        if let Some(root) = tree.inodes.get_mut(&root) {
            root.links = 1;
        }
        tree
    }

    /// Continues the numbers of `before`, so that none of its handles fits.
    pub(super) fn after(before: &Tree, root: Attributes) -> Tree {
        let mut tree = Tree::new(before.capacity, root);
        tree.next = before.next;
        tree
    }

    /// As it was once, but for the numbers that were given since.
    pub(super) fn as_of(&self, snapshot: &Tree) -> Tree {
        let next = self.next.max(snapshot.next);
        Tree {
            next,
            ..snapshot.clone()
        }
    }

    /// Adds an inode without a name.
    pub(super) fn allocate(
        &mut self,
        node: Node,
        attributes: Attributes,
        name: (Ino, OsString),
    ) -> Ino {
        let ino = self.next;
        self.next += 1;
        if let Node::File(file) = &node {
            self.used += file.visible().pages();
        }
        self.inodes.insert(
            ino,
            Inode {
                node,
                attributes,
                durable_attributes: attributes,
                times: Times::now(),
                links: 0,
                opens: 0,
                holds: 0,
                name,
            },
        );
        ino
    }

    /// Gives an inode a name that is visible and durable, after a cut.
    pub(super) fn restore_name(&mut self, parent: Ino, name: &OsStr, ino: Ino) {
        if let Ok(directory) = self.directory_mut(parent) {
            directory.visible.insert(name.to_owned(), ino);
            directory.durable.insert(name.to_owned(), ino);
        }
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.links += 1;
        }
    }

    /// Pages in use and pages there are.
    pub(super) fn space(&self) -> (u64, u64) {
        (self.used, self.capacity)
    }

    pub(super) fn count(&self) -> usize {
        self.inodes.len()
    }

    pub(super) fn inode(&self, ino: Ino) -> Result<&Inode, Errno> {
        self.inodes.get(&ino).ok_or(Errno::ESTALE)
    }

    pub(super) fn inode_mut(&mut self, ino: Ino) -> Result<&mut Inode, Errno> {
        self.inodes.get_mut(&ino).ok_or(Errno::ESTALE)
    }

    pub(super) fn directory(&self, ino: Ino) -> Result<&Directory, Errno> {
        match &self.inode(ino)?.node {
            Node::Directory(directory) => Ok(directory),
            _ => Err(Errno::ENOTDIR),
        }
    }

    fn directory_mut(&mut self, ino: Ino) -> Result<&mut Directory, Errno> {
        match &mut self.inode_mut(ino)?.node {
            Node::Directory(directory) => Ok(directory),
            _ => Err(Errno::ENOTDIR),
        }
    }

    pub(super) fn file(&self, ino: Ino) -> Result<&File, Errno> {
        match &self.inode(ino)?.node {
            Node::File(file) => Ok(file),
            Node::Directory(_) => Err(Errno::EISDIR),
            _ => Err(Errno::EINVAL),
        }
    }

    pub(super) fn file_mut(&mut self, ino: Ino) -> Result<&mut File, Errno> {
        match &mut self.inode_mut(ino)?.node {
            Node::File(file) => Ok(file),
            Node::Directory(_) => Err(Errno::EISDIR),
            _ => Err(Errno::EINVAL),
        }
    }

    pub(super) fn lookup(&self, parent: Ino, name: &OsStr) -> Result<Ino, Errno> {
        self.directory(parent)?
            .visible
            .get(name)
            .copied()
            .ok_or(Errno::ENOENT)
    }

    /// The path of an inode from the root, or the last one that it had.
    pub(super) fn path(&self, ino: Ino) -> PathBuf {
        let mut names = Vec::new();
        let mut at = ino;
        while at != ROOT
            && names.len() <= self.inodes.len()
            && let Some(inode) = self.inodes.get(&at)
        {
            names.push(inode.name.1.as_os_str());
            at = inode.name.0;
        }
        names.iter().rev().collect()
    }

    // Content --------------------------------------------------------------

    /// Writes what there is space for; `ENOSPC` where that is nothing.
    pub(super) fn write(&mut self, ino: Ino, at: u64, bytes: &[u8]) -> Result<usize, Errno> {
        let free = self.capacity.saturating_sub(self.used);
        let file = self.file_mut(ino)?;
        let before = file.visible().pages();
        let fitting = file.fitting(at, bytes, free);
        let Some(bytes) = bytes
            .get(..fitting)
            .filter(|fit| bytes.is_empty() || !fit.is_empty())
        else {
            return Err(Errno::ENOSPC);
        };
        file.write(at, bytes);
        let grown = file.visible().pages() - before;
        self.used += grown;
        self.modified(ino);
        Ok(fitting)
    }

    pub(super) fn resize(&mut self, ino: Ino, to: u64) -> Result<(), Errno> {
        if to > i64::MAX as u64 {
            return Err(Errno::EFBIG);
        }
        let file = self.file_mut(ino)?;
        let before = file.visible().pages();
        file.resize(to);
        let freed = before - file.visible().pages();
        self.used -= freed;
        self.modified(ino);
        Ok(())
    }

    fn modified(&mut self, ino: Ino) {
        if let Some(inode) = self.inodes.get_mut(&ino) {
            let now = SystemTime::now();
            (inode.times.modified, inode.times.changed) = (now, now);
        }
    }

    // Syncs ----------------------------------------------------------------

    /// Makes a file's content durable, and unless `only_data` its attributes. Its
    /// name is the directory's.
    pub(super) fn sync_file(&mut self, ino: Ino, only_data: bool) -> Result<(), Errno> {
        self.file_mut(ino)?.sync();
        let inode = self.inode_mut(ino)?;
        if !only_data {
            inode.durable_attributes = inode.attributes;
        }
        Ok(())
    }

    /// Makes a directory's names durable, with what they depend on.
    pub(super) fn sync_directory(&mut self, ino: Ino) -> Result<(), Errno> {
        self.directory(ino)?;
        let chosen = journal::synced_with(&self.pending, ino);
        self.commit(&chosen);
        let inode = self.inode_mut(ino)?;
        inode.durable_attributes = inode.attributes;
        Ok(())
    }

    /// Makes the chosen ones of the pending operations durable.
    pub(super) fn commit(&mut self, chosen: &[bool]) {
        let pending = std::mem::take(&mut self.pending);
        let mut released = Vec::new();
        for (operation, chosen) in pending.into_iter().zip(chosen) {
            if !chosen {
                self.pending.push(operation);
                continue;
            }
            released.extend(operation.holds());
            for slot in operation.slots {
                self.make_durable(slot);
            }
        }
        for ino in released {
            if let Some(inode) = self.inodes.get_mut(&ino) {
                inode.holds = inode.holds.saturating_sub(1);
            }
            self.collect(ino);
        }
    }

    fn make_durable(&mut self, slot: Slot) {
        if let Ok(directory) = self.directory_mut(slot.directory) {
            match slot.after {
                Some(after) => directory.durable.insert(slot.name, after),
                None => directory.durable.remove(&slot.name),
            };
        }
    }

    fn hold(&mut self, ino: Ino) {
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.holds += 1;
        }
    }

    /// Frees an inode that no name, handle or cut can lead to.
    fn collect(&mut self, ino: Ino) {
        if let Some(inode) = self.inodes.get(&ino)
            && (inode.links, inode.opens, inode.holds) == (0, 0, 0)
        {
            self.inodes.remove(&ino);
        }
    }

    // Handles --------------------------------------------------------------

    pub(super) fn opened(&mut self, ino: Ino) {
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.opens += 1;
        }
    }

    pub(super) fn closed(&mut self, ino: Ino) {
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.opens = inode.opens.saturating_sub(1);
        }
        self.invisible(ino);
    }

    /// What follows when an inode has lost a name or a handle.
    fn invisible(&mut self, ino: Ino) {
        if let Some(inode) = self.inodes.get(&ino)
            && (inode.links, inode.opens) == (0, 0)
            && let Node::File(file) = &inode.node
        {
            self.used = self.used.saturating_sub(file.visible().pages());
        }
        self.collect(ino);
    }

    // Names ----------------------------------------------------------------

    /// Changes names at once for processes, and with the next sync on disk.
    fn change_names(&mut self, operation: EntryOperation) {
        for ino in operation.holds() {
            self.hold(ino);
        }
        for slot in &operation.slots {
            if let Ok(directory) = self.directory_mut(slot.directory) {
                match slot.after {
                    Some(after) => directory.visible.insert(slot.name.clone(), after),
                    None => directory.visible.remove(&slot.name),
                };
            }
            self.modified(slot.directory);
            if let Some(inode) = slot.after.and_then(|ino| self.inodes.get_mut(&ino)) {
                inode.links += 1;
                inode.times.changed = SystemTime::now();
                inode.name = (slot.directory, slot.name.clone());
            }
        }
        let removed: Vec<Ino> = operation
            .slots
            .iter()
            .filter_map(|slot| slot.before)
            .collect();
        self.pending.push(operation);
        for ino in removed {
            if let Some(inode) = self.inodes.get_mut(&ino) {
                inode.links = inode.links.saturating_sub(1);
                inode.times.changed = SystemTime::now();
            }
            self.invisible(ino);
        }
    }

    /// Makes a file, directory or other node.
    pub(super) fn make(
        &mut self,
        call: &'static str,
        (parent, name): (Ino, &OsStr),
        node: Node,
        attributes: Attributes,
    ) -> Result<Ino, Errno> {
        self.check_new_name(parent, name)?;
        let shapes_tree = matches!(node, Node::Directory(_));
        let ino = self.allocate(node, attributes, (parent, name.to_owned()));
        let slot = Slot {
            directory: parent,
            name: name.to_owned(),
            before: None,
            after: Some(ino),
        };
        self.change_names(EntryOperation {
            call,
            slots: vec![slot],
            shapes_tree,
            removes: None,
        });
        Ok(ino)
    }

    fn check_new_name(&self, parent: Ino, name: &OsStr) -> Result<(), Errno> {
        if name.len() > 255 {
            return Err(Errno::ENAMETOOLONG);
        }
        if self.inode(parent)?.links == 0 {
            return Err(Errno::ENOENT);
        }
        match self.lookup(parent, name) {
            Ok(_) => Err(Errno::EEXIST),
            Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn link(&mut self, ino: Ino, parent: Ino, name: &OsStr) -> Result<(), Errno> {
        self.check_new_name(parent, name)?;
        match &self.inode(ino)? {
            Inode {
                node: Node::Directory(_),
                ..
            } => return Err(Errno::EPERM),
            Inode { links: 0, .. } => return Err(Errno::ENOENT),
            _ => {}
        }
        let slot = Slot {
            directory: parent,
            name: name.to_owned(),
            before: None,
            after: Some(ino),
        };
        self.change_names(EntryOperation {
            call: "link",
            slots: vec![slot],
            shapes_tree: false,
            removes: None,
        });
        Ok(())
    }

    pub(super) fn unlink(&mut self, parent: Ino, name: &OsStr) -> Result<(), Errno> {
        let ino = self.lookup(parent, name)?;
        if self.directory(ino).is_ok() {
            return Err(Errno::EISDIR);
        }
        self.remove_name("unlink", parent, name, ino, None);
        Ok(())
    }

    pub(super) fn remove_directory(&mut self, parent: Ino, name: &OsStr) -> Result<(), Errno> {
        let ino = self.lookup(parent, name)?;
        if !self.directory(ino)?.visible.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.remove_name("rmdir", parent, name, ino, Some(ino));
        Ok(())
    }

    fn remove_name(
        &mut self,
        call: &'static str,
        parent: Ino,
        name: &OsStr,
        ino: Ino,
        removes: Option<Ino>,
    ) {
        let slot = Slot {
            directory: parent,
            name: name.to_owned(),
            before: Some(ino),
            after: None,
        };
        self.change_names(EntryOperation {
            call,
            slots: vec![slot],
            shapes_tree: false,
            removes,
        });
    }

    /// Renames, replacing what has the new name unless `keep_existing`.
    pub(super) fn rename(
        &mut self,
        from: (Ino, &OsStr),
        to: (Ino, &OsStr),
        keep_existing: bool,
    ) -> Result<(), Errno> {
        let moved = self.lookup(from.0, from.1)?;
        let replaced = match self.check_new_name(to.0, to.1) {
            Ok(()) => None,
            Err(Errno::EEXIST) if !keep_existing => Some(self.lookup(to.0, to.1)?),
            Err(error) => return Err(error),
        };
        if replaced == Some(moved) {
            return Ok(()); // two names of one file: POSIX leaves both
        }
        let is_directory = self.directory(moved).is_ok();
        let mut removes = None;
        if let Some(replaced) = replaced {
            match (is_directory, self.directory(replaced)) {
                (true, Err(_)) => return Err(Errno::ENOTDIR),
                (false, Ok(_)) => return Err(Errno::EISDIR),
                (true, Ok(directory)) if !directory.visible.is_empty() => {
                    return Err(Errno::ENOTEMPTY);
                }
                (true, Ok(_)) => removes = Some(replaced),
                (false, Err(_)) => {}
            }
        }
        let slot = |(directory, name): (Ino, &OsStr), before, after| Slot {
            directory,
            name: name.to_owned(),
            before,
            after,
        };
        self.change_names(EntryOperation {
            call: "rename",
            slots: vec![
                slot(from, Some(moved), None),
                slot(to, replaced, Some(moved)),
            ],
            shapes_tree: is_directory,
            removes,
        });
        Ok(())
    }

    /// Swaps two names.
    pub(super) fn exchange(
        &mut self,
        one: (Ino, &OsStr),
        other: (Ino, &OsStr),
    ) -> Result<(), Errno> {
        let (first, second) = (self.lookup(one.0, one.1)?, self.lookup(other.0, other.1)?);
        let slot = |(directory, name): (Ino, &OsStr), before, after| Slot {
            directory,
            name: name.to_owned(),
            before: Some(before),
            after: Some(after),
        };
        if first != second {
            self.change_names(EntryOperation {
                call: "rename (exchange)",
                slots: vec![slot(one, first, second), slot(other, second, first)],
                shapes_tree: self.directory(first).is_ok() || self.directory(second).is_ok(),
                removes: None,
            });
        }
        Ok(())
    }
}

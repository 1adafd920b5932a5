//! What the kernel's requests do to the state, where that is more than one call.

use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

use fuser::{Errno, FileAttr, FileType, INodeNo, OpenFlags, Request, TimeOrNow};
use rustix::fs::OFlags;

use super::content::PAGE;
use super::disk::{Handle, Manner, State};
use super::file::File;
use super::journal::Ino;
use super::tree::{Attributes, Inode, Node};

const KEEP_SIZE: i32 = 1;

/// What `stat` shows of an inode.
pub(super) fn attributes(state: &State, ino: u64) -> Result<FileAttr, Errno> {
    let inode = state.tree.inode(ino)?;
    let (kind, size, pages) = match &inode.node {
        Node::File(file) => (
            FileType::RegularFile,
            file.visible().size(),
            file.visible().pages(),
        ),
        Node::Directory(_) => (FileType::Directory, PAGE, 1),
        Node::Symlink(to) => (FileType::Symlink, to.as_os_str().len() as u64, 0),
        Node::Special(kind) => (*kind, 0, 0),
    };
    Ok(FileAttr {
        ino: INodeNo(ino),
        size,
        blocks: pages * (PAGE / 512),
        atime: inode.times.accessed,
        mtime: inode.times.modified,
        ctime: inode.times.changed,
        crtime: SystemTime::UNIX_EPOCH,
        kind,
        perm: inode.attributes.mode,
        nlink: links(state, inode),
        uid: inode.attributes.uid,
        gid: inode.attributes.gid,
        rdev: 0,
        blksize: PAGE as u32,
        flags: 0,
    })
}

/// What belongs to the process that makes it.
pub(super) fn owned(request: &Request, mode: u32) -> Attributes {
    Attributes {
        mode: (mode & 0o7777) as u16,
        uid: request.uid(),
        gid: request.gid(),
    }
}

fn links(state: &State, inode: &Inode) -> u32 {
    let Node::Directory(directory) = &inode.node else {
        return inode.links;
    };
    let children = directory.visible.values();
    2 + children
        .filter(|child| state.tree.directory(**child).is_ok())
        .count() as u32
}

/// For operations that are done wholly or not at all.
pub(super) fn whole(manner: Manner) -> Result<(), Errno> {
    if manner == Manner::Properly {
        Ok(())
    } else {
        Err(Errno::EIO)
    }
}

/// A time as `utimens` takes it.
pub(super) fn time(time: TimeOrNow) -> SystemTime {
    match time {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

/// Writes, as much as the fault lets.
pub(super) fn write(
    state: &mut State,
    (ino, at): (u64, u64),
    bytes: &[u8],
    flags: OpenFlags,
    manner: Manner,
) -> Result<usize, Errno> {
    if let Some(error) = state.faults.full.remove(&ino) {
        return Err(error);
    }
    let bytes = match manner {
        Manner::Properly => bytes,
        Manner::Partly { bytes: 0, then } => return Err(then),
        Manner::Partly { bytes: some, then } => {
            state.faults.full.insert(ino, then);
            bytes.get(..some).unwrap_or(bytes)
        }
        Manner::Forgetting | Manner::NotAtAll => return Err(Errno::EIO),
    };
    let written = state.tree.write(ino, at, bytes)?;
    let flags = OFlags::from_bits_retain(flags.0 as u32);
    if flags.intersects(OFlags::DSYNC | OFlags::SYNC) {
        state.tree.sync_file(ino, !flags.contains(OFlags::SYNC))?;
    }
    Ok(written)
}

/// Opens a file. One without a name and handles is gone, even where a cut could bring
/// it back.
pub(super) fn open(state: &mut State, ino: Ino, manner: Manner) -> Result<u64, Errno> {
    whole(manner)?;
    let inode = state.tree.inode(ino)?;
    if (inode.links, inode.opens) == (0, 0) {
        return Err(Errno::ESTALE);
    }
    Ok(state.open(Handle::File(ino)))
}

/// Creates and opens a file, or opens it where another process was quicker than the
/// kernel's own look.
pub(super) fn create(
    state: &mut State,
    name: (Ino, &OsStr),
    owner: Attributes,
    exclusive: bool,
) -> Result<(FileAttr, u64), Errno> {
    let ino = match state.tree.lookup(name.0, name.1) {
        Ok(_) if exclusive => return Err(Errno::EEXIST),
        Ok(ino) => state.tree.file(ino).map(|_| ino)?,
        Err(_) => state
            .tree
            .make("create", name, Node::File(File::default()), owner)?,
    };
    let handle = state.open(Handle::File(ino));
    Ok((attributes(state, ino)?, handle))
}

/// Syncs a file, or does of it what the fault lets.
pub(super) fn sync_file(
    state: &mut State,
    ino: Ino,
    only_data: bool,
    manner: Manner,
) -> Result<(), Errno> {
    match manner {
        Manner::Properly => state.tree.sync_file(ino, only_data),
        Manner::NotAtAll => Ok(()),
        Manner::Forgetting => {
            state.tree.file_mut(ino)?.forget();
            Err(Errno::EIO)
        }
        Manner::Partly { .. } => Err(Errno::EIO),
    }
}

/// Syncs a directory, or says so.
pub(super) fn sync_directory(state: &mut State, ino: Ino, manner: Manner) -> Result<(), Errno> {
    match manner {
        Manner::Properly => state.tree.sync_directory(ino),
        Manner::NotAtAll => Ok(()),
        Manner::Forgetting | Manner::Partly { .. } => Err(Errno::EIO),
    }
}

/// Reserves space, which costs nothing here; it may make a file larger.
pub(super) fn allocate(
    state: &mut State,
    ino: Ino,
    (offset, length): (u64, u64),
    mode: i32,
) -> Result<(), Errno> {
    let end = offset.checked_add(length).ok_or(Errno::EFBIG)?;
    let size = state.tree.file(ino)?.visible().size();
    match mode {
        0 if end > size => state.tree.resize(ino, end),
        0 | KEEP_SIZE => Ok(()),
        _ => Err(Errno::EOPNOTSUPP),
    }
}

/// The names of a directory, with those of itself and its parent.
pub(super) fn list(state: &State, ino: u64) -> Result<Vec<(u64, FileType, OsString)>, Errno> {
    let mut names = vec![
        (ino, FileType::Directory, ".".into()),
        (ino, FileType::Directory, "..".into()),
    ];
    for (name, child) in &state.tree.directory(ino)?.visible {
        let kind = match &state.tree.inode(*child)?.node {
            Node::File(_) => FileType::RegularFile,
            Node::Directory(_) => FileType::Directory,
            Node::Symlink(_) => FileType::Symlink,
            Node::Special(kind) => *kind,
        };
        names.push((*child, kind, name.clone()));
    }
    Ok(names)
}

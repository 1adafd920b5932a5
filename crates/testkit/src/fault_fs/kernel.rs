//! The operations as the kernel asks for them. Nothing is left in its caches: every
//! attribute and name is asked for again, and files are read past the page cache.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    AccessFlags, BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr,
    ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::OFlags;

use super::content::PAGE;
use super::disk::{Disk, Handle, Manner, State, Subject};
use super::faults::Operation;
use super::file::File;
use super::tree::{Attributes, Directory, Inode, Node};

/// How long the kernel may believe what it was told.
const NEVER: Duration = Duration::ZERO;

/// No page cache, and no call for each `close`.
const OPENED: FopenFlags = FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_NOFLUSH);

const KEEP_SIZE: i32 = 1;
const NOREPLACE: u32 = 1;
const EXCHANGE: u32 = 2;

#[derive(Debug)]
pub(super) struct Kernel(pub(super) Arc<Disk>);

impl Kernel {
    fn attributes(state: &State, ino: u64) -> Result<FileAttr, Errno> {
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

    fn entry(reply: ReplyEntry, made: Result<FileAttr, Errno>) {
        match made {
            Ok(attributes) => reply.entry(&NEVER, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn empty(reply: ReplyEmpty, done: Result<(), Errno>) {
        match done {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    /// Makes a node under a name.
    fn make(
        &self,
        request: &Request,
        (operation, call): (Operation, &'static str),
        (parent, name): (INodeNo, &OsStr),
        node: Node,
        mode: u32,
    ) -> Result<FileAttr, Errno> {
        let attributes = owned(request, mode);
        let subject = Subject::Name(parent.0, name);
        self.0
            .operate(request.pid(), operation, subject, |state, manner| {
                whole(manner)?;
                let ino = state.tree.make(call, (parent.0, name), node, attributes)?;
                Self::attributes(state, ino)
            })
    }

    /// Truncates, or changes what else there is of an inode.
    fn set_attributes(
        &self,
        request: &Request,
        ino: u64,
        change: impl FnOnce(&mut Inode),
    ) -> Result<(), Errno> {
        let subject = Subject::Inode(ino);
        self.0.operate(
            request.pid(),
            Operation::SetAttributes,
            subject,
            |state, manner| {
                whole(manner)?;
                let inode = state.tree.inode_mut(ino)?;
                change(inode);
                inode.times.changed = SystemTime::now();
                Ok(())
            },
        )
    }
}

fn owned(request: &Request, mode: u32) -> Attributes {
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
fn whole(manner: Manner) -> Result<(), Errno> {
    if manner == Manner::Properly {
        Ok(())
    } else {
        Err(Errno::EIO)
    }
}

fn time(time: TimeOrNow) -> SystemTime {
    match time {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

fn write(
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

impl Filesystem for Kernel {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Whatever of these a kernel lacks costs speed, or mmap, and nothing else.
        let _ = config.add_capabilities(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP);
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        Self::entry(
            reply,
            self.0.look(|state| {
                let ino = state.tree.lookup(parent.0, name)?;
                Self::attributes(state, ino)
            }),
        );
    }

    fn getattr(&self, _request: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.0.look(|state| Self::attributes(state, ino.0)) {
            Ok(attributes) => reply.attr(&NEVER, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _changed: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _change: Option<SystemTime>,
        _backup: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let truncated = size.map_or(Ok(()), |size| {
            let subject = Subject::Inode(ino.0);
            self.0.operate(
                request.pid(),
                Operation::Truncate,
                subject,
                |state, manner| {
                    whole(manner)?;
                    state.tree.resize(ino.0, size)
                },
            )
        });
        let changes = mode.is_some() || uid.is_some() || gid.is_some();
        let touches = size.is_none() && (accessed.is_some() || modified.is_some());
        let done = truncated.and_then(|()| {
            if changes || touches {
                self.set_attributes(request, ino.0, |inode| {
                    let attributes = &mut inode.attributes;
                    attributes.mode = mode.map_or(attributes.mode, |mode| (mode & 0o7777) as u16);
                    attributes.uid = uid.unwrap_or(attributes.uid);
                    attributes.gid = gid.unwrap_or(attributes.gid);
                    let times = &mut inode.times;
                    times.accessed = accessed.map_or(times.accessed, time);
                    times.modified = modified.map_or(times.modified, time);
                })?;
            }
            self.0.look(|state| Self::attributes(state, ino.0))
        });
        match done {
            Ok(attributes) => reply.attr(&NEVER, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _request: &Request, ino: INodeNo, reply: ReplyData) {
        let target = self.0.look(|state| match &state.tree.inode(ino.0)?.node {
            Node::Symlink(target) => Ok(target.clone()),
            _ => Err(Errno::EINVAL),
        });
        match target {
            Ok(target) => reply.data(target.as_os_str().as_encoded_bytes()),
            Err(error) => reply.error(error),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _device: u32,
        reply: ReplyEntry,
    ) {
        let node = match rustix::fs::FileType::from_raw_mode(mode) {
            rustix::fs::FileType::RegularFile => Node::File(File::default()),
            rustix::fs::FileType::Fifo => Node::Special(FileType::NamedPipe),
            rustix::fs::FileType::Socket => Node::Special(FileType::Socket),
            _ => return reply.error(Errno::EPERM),
        };
        let made = self.make(
            request,
            (Operation::Create, "mknod"),
            (parent, name),
            node,
            mode,
        );
        Self::entry(reply, made);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let node = Node::Directory(Directory::default());
        let made = self.make(
            request,
            (Operation::MakeDir, "mkdir"),
            (parent, name),
            node,
            mode,
        );
        Self::entry(reply, made);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let node = Node::Symlink(target.to_owned());
        let made = self.make(
            request,
            (Operation::Create, "symlink"),
            (parent, name),
            node,
            0o777,
        );
        Self::entry(reply, made);
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let subject = Subject::Name(parent.0, name);
        let done = self.0.operate(
            request.pid(),
            Operation::Unlink,
            subject,
            |state, manner| {
                whole(manner)?;
                state.tree.unlink(parent.0, name)
            },
        );
        Self::empty(reply, done);
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let subject = Subject::Name(parent.0, name);
        let done = self.0.operate(
            request.pid(),
            Operation::RemoveDir,
            subject,
            |state, manner| {
                whole(manner)?;
                state.tree.remove_directory(parent.0, name)
            },
        );
        Self::empty(reply, done);
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        to_parent: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (from, to) = ((parent.0, name), (to_parent.0, to_name));
        let subject = Subject::Name(to_parent.0, to_name);
        let done = self.0.operate(
            request.pid(),
            Operation::Rename,
            subject,
            |state, manner| {
                whole(manner)?;
                match flags.bits() {
                    0 => state.tree.rename(from, to, false),
                    NOREPLACE => state.tree.rename(from, to, true),
                    EXCHANGE => state.tree.exchange(from, to),
                    _ => Err(Errno::EINVAL),
                }
            },
        );
        Self::empty(reply, done);
    }

    fn link(
        &self,
        request: &Request,
        ino: INodeNo,
        parent: INodeNo,
        name: &OsStr,
        reply: ReplyEntry,
    ) {
        let subject = Subject::Name(parent.0, name);
        let done = self
            .0
            .operate(request.pid(), Operation::Link, subject, |state, manner| {
                whole(manner)?;
                state.tree.link(ino.0, parent.0, name)?;
                Self::attributes(state, ino.0)
            });
        Self::entry(reply, done);
    }

    fn open(&self, request: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let subject = Subject::Inode(ino.0);
        let done = self
            .0
            .operate(request.pid(), Operation::Open, subject, |state, manner| {
                whole(manner)?;
                let inode = state.tree.inode(ino.0)?;
                if (inode.links, inode.opens) == (0, 0) {
                    return Err(Errno::ESTALE);
                }
                Ok(state.open(Handle::File(ino.0)))
            });
        match done {
            Ok(handle) => reply.opened(FileHandle(handle), OPENED),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let exclusive = OFlags::from_bits_retain(flags as u32).contains(OFlags::EXCL);
        let attributes = owned(request, mode);
        let subject = Subject::Name(parent.0, name);
        let done = self.0.operate(
            request.pid(),
            Operation::Create,
            subject,
            |state, manner| {
                whole(manner)?;
                let ino = match state.tree.lookup(parent.0, name) {
                    Ok(_) if exclusive => return Err(Errno::EEXIST),
                    // Another process was quicker than the kernel's own look.
                    Ok(ino) => state.tree.file(ino).map(|_| ino)?,
                    Err(_) => {
                        let node = Node::File(File::default());
                        state
                            .tree
                            .make("create", (parent.0, name), node, attributes)?
                    }
                };
                let handle = state.open(Handle::File(ino));
                Ok((Self::attributes(state, ino)?, handle))
            },
        );
        match done {
            Ok((attributes, handle)) => {
                reply.created(
                    &NEVER,
                    &attributes,
                    Generation(0),
                    FileHandle(handle),
                    OPENED,
                );
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let subject = Subject::Inode(ino.0);
        let done = self
            .0
            .operate(request.pid(), Operation::Read, subject, |state, manner| {
                whole(manner)?;
                state.check(handle.0)?;
                Ok(state
                    .tree
                    .file(ino.0)?
                    .visible()
                    .read(offset, u64::from(size)))
            });
        match done {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let subject = Subject::Inode(ino.0);
        let done = self
            .0
            .operate(request.pid(), Operation::Write, subject, |state, manner| {
                state.check(handle.0)?;
                write(state, (ino.0, offset), data, flags, manner)
            });
        match done {
            Ok(written) => reply.written(written as u32),
            Err(error) => reply.error(error),
        }
    }

    fn flush(
        &self,
        _request: &Request,
        _ino: INodeNo,
        _handle: FileHandle,
        _owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok(); // closing a file makes nothing durable
    }

    fn release(
        &self,
        _request: &Request,
        _ino: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.0.state().close(handle.0);
        reply.ok();
    }

    fn fsync(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        only_data: bool,
        reply: ReplyEmpty,
    ) {
        let subject = Subject::Inode(ino.0);
        let done = self
            .0
            .operate(request.pid(), Operation::Sync, subject, |state, manner| {
                state.check(handle.0)?;
                match manner {
                    Manner::Properly => state.tree.sync_file(ino.0, only_data),
                    Manner::NotAtAll => Ok(()),
                    Manner::Forgetting => {
                        state.tree.file_mut(ino.0)?.forget();
                        Err(Errno::EIO)
                    }
                    Manner::Partly { then, .. } => Err(then),
                }
            });
        Self::empty(reply, done);
    }

    fn opendir(&self, request: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let subject = Subject::Inode(ino.0);
        let done = self
            .0
            .operate(request.pid(), Operation::List, subject, |state, manner| {
                whole(manner)?;
                state.tree.directory(ino.0)?;
                Ok(state.open(Handle::Directory {
                    ino: ino.0,
                    names: Vec::new(),
                }))
            });
        match done {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(error) => reply.error(error),
        }
    }

    fn readdir(
        &self,
        _request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = self.0.look(|state| {
            state.check(handle.0)?;
            if offset == 0 {
                let listing = list(state, ino.0)?;
                if let Some(Handle::Directory { names, .. }) = state.handles.get_mut(&handle.0) {
                    *names = listing;
                }
            }
            let Some(Handle::Directory { names, .. }) = state.handles.get(&handle.0) else {
                return Err(Errno::EBADF);
            };
            for (number, (ino, kind, name)) in names.iter().enumerate().skip(offset as usize) {
                if reply.add(INodeNo(*ino), number as u64 + 1, *kind, name) {
                    break;
                }
            }
            Ok(())
        });
        match listed {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn releasedir(
        &self,
        _request: &Request,
        _ino: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.0.state().close(handle.0);
        reply.ok();
    }

    fn fsyncdir(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        _only_data: bool,
        reply: ReplyEmpty,
    ) {
        let subject = Subject::Inode(ino.0);
        let done = self.0.operate(
            request.pid(),
            Operation::SyncDir,
            subject,
            |state, manner| {
                state.check(handle.0)?;
                match manner {
                    Manner::Properly => state.tree.sync_directory(ino.0),
                    Manner::NotAtAll => Ok(()),
                    Manner::Forgetting => Err(Errno::EIO),
                    Manner::Partly { then, .. } => Err(then),
                }
            },
        );
        Self::empty(reply, done);
    }

    fn statfs(&self, _request: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        let space = self.0.look(|state| {
            let (used, capacity) = state.tree.space();
            Ok((
                capacity,
                capacity.saturating_sub(used),
                state.tree.count() as u64,
            ))
        });
        match space {
            Ok((blocks, free, files)) => {
                let page = PAGE as u32;
                reply.statfs(
                    blocks,
                    free,
                    free,
                    files + (1 << 20),
                    1 << 20,
                    page,
                    255,
                    page,
                );
            }
            Err(error) => reply.error(error),
        }
    }

    fn access(&self, _request: &Request, ino: INodeNo, _mask: AccessFlags, reply: ReplyEmpty) {
        // The kernel judges permissions itself (`default_permissions`).
        Self::empty(
            reply,
            self.0.look(|state| state.tree.inode(ino.0).map(|_| ())),
        );
    }

    fn fallocate(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let subject = Subject::Inode(ino.0);
        let done = self.0.operate(
            request.pid(),
            Operation::Allocate,
            subject,
            |state, manner| {
                whole(manner)?;
                state.check(handle.0)?;
                let end = offset.checked_add(length).ok_or(Errno::EFBIG)?;
                let size = state.tree.file(ino.0)?.visible().size();
                match mode {
                    0 if end > size => state.tree.resize(ino.0, end),
                    0 | KEEP_SIZE => Ok(()),
                    _ => Err(Errno::EOPNOTSUPP),
                }
            },
        );
        Self::empty(reply, done);
    }
}

fn list(state: &State, ino: u64) -> Result<Vec<(u64, FileType, std::ffi::OsString)>, Errno> {
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

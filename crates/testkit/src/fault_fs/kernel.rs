//! The operations as the kernel asks for them. Nothing is left in its caches: every
//! attribute and name is requested again, and files are read past the page cache.

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
use super::requests;
use super::tree::{Directory, Inode, Node};

/// How long the kernel may cache an answer.
const NEVER: Duration = Duration::ZERO;

/// No page cache, and no call for each `close`.
const OPENED: FopenFlags = FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_NOFLUSH);

const NOREPLACE: u32 = 1;
const EXCHANGE: u32 = 2;

#[derive(Debug)]
pub(super) struct Kernel(pub(super) Arc<Disk>);

impl Kernel {
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

    /// Does one operation for the process that asks.
    fn operate<T>(
        &self,
        request: &Request,
        operation: Operation,
        subject: Subject<'_>,
        act: impl FnOnce(&mut State, Manner) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.0.operate(request.pid(), operation, subject, act)
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
        let attributes = requests::owned(request, mode);
        let subject = Subject::Name(parent.0, name);
        self.operate(request, operation, subject, |state, manner| {
            requests::whole(manner)?;
            let ino = state.tree.make(call, (parent.0, name), node, attributes)?;
            requests::attributes(state, ino)
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
        self.operate(
            request,
            Operation::SetAttributes,
            subject,
            |state, manner| {
                requests::whole(manner)?;
                let inode = state.tree.inode_mut(ino)?;
                change(inode);
                inode.times.changed = SystemTime::now();
                Ok(())
            },
        )
    }
}

impl Filesystem for Kernel {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // A kernel that lacks them is slower, or has no shared mappings here.
        let _ = config.add_capabilities(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP);
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        Self::entry(
            reply,
            self.0.look(|state| {
                let ino = state.tree.lookup(parent.0, name)?;
                requests::attributes(state, ino)
            }),
        );
    }

    fn getattr(&self, _request: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.0.look(|state| requests::attributes(state, ino.0)) {
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
            self.operate(request, Operation::Truncate, subject, |state, manner| {
                requests::whole(manner)?;
                state.tree.resize(ino.0, size)
            })
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
                    times.accessed = accessed.map_or(times.accessed, requests::time);
                    times.modified = modified.map_or(times.modified, requests::time);
                })?;
            }
            self.0.look(|state| requests::attributes(state, ino.0))
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
        let done = self.operate(request, Operation::Unlink, subject, |state, manner| {
            requests::whole(manner)?;
            state.tree.unlink(parent.0, name)
        });
        Self::empty(reply, done);
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let subject = Subject::Name(parent.0, name);
        let done = self.operate(request, Operation::RemoveDir, subject, |state, manner| {
            requests::whole(manner)?;
            state.tree.remove_directory(parent.0, name)
        });
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
        let done = self.operate(request, Operation::Rename, subject, |state, manner| {
            requests::whole(manner)?;
            match flags.bits() {
                0 => state.tree.rename(from, to, false),
                NOREPLACE => state.tree.rename(from, to, true),
                EXCHANGE => state.tree.exchange(from, to),
                _ => Err(Errno::EINVAL),
            }
        });
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
        let done = self.operate(request, Operation::Link, subject, |state, manner| {
            requests::whole(manner)?;
            state.tree.link(ino.0, parent.0, name)?;
            requests::attributes(state, ino.0)
        });
        Self::entry(reply, done);
    }

    fn open(&self, request: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let subject = Subject::Inode(ino.0);
        let done = self.operate(request, Operation::Open, subject, |state, manner| {
            requests::open(state, ino.0, manner)
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
        let attributes = requests::owned(request, mode);
        let subject = Subject::Name(parent.0, name);
        let done = self.operate(request, Operation::Create, subject, |state, manner| {
            requests::whole(manner)?;
            requests::create(state, (parent.0, name), attributes, exclusive)
        });
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
        let done = self.operate(request, Operation::Read, subject, |state, manner| {
            requests::whole(manner)?;
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
        let done = self.operate(request, Operation::Write, subject, |state, manner| {
            state.check(handle.0)?;
            requests::write(state, (ino.0, offset), data, flags, manner)
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
        let done = self.operate(request, Operation::Sync, subject, |state, manner| {
            state.check(handle.0)?;
            requests::sync_file(state, ino.0, only_data, manner)
        });
        Self::empty(reply, done);
    }

    fn opendir(&self, request: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let subject = Subject::Inode(ino.0);
        let done = self.operate(request, Operation::List, subject, |state, manner| {
            requests::whole(manner)?;
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
                let listing = requests::list(state, ino.0)?;
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
        let done = self.operate(request, Operation::SyncDir, subject, |state, manner| {
            state.check(handle.0)?;
            requests::sync_directory(state, ino.0, manner)
        });
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
        let done = self.operate(request, Operation::Allocate, subject, |state, manner| {
            requests::whole(manner)?;
            state.check(handle.0)?;
            requests::allocate(state, ino.0, (offset, length), mode)
        });
        Self::empty(reply, done);
    }
}

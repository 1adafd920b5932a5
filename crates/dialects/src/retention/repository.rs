//! The repository that is written to: opened without links out of it, and searched for blobs.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use annals_domain::GitOid;
use annals_event_log::Store;
use bytes::Bytes;
use futures::executor::block_on;
use gix::ObjectId;
use gix::hash::Kind as HashKind;
use gix::lock::acquire::Fail;
use gix::objs::Write;
use gix::refs::transaction::RefEdit;

use super::blobs::{NamedBlob, Place};
use super::error::{NotHeld, RetentionError, Unreadable};
use super::odd_files::{self, OddFile};
use super::{MissingBlob, RetentionReport, Strategy};

/// One of more bytes is never read at once: it can be read if it is not stored as a change of another.
pub(super) const MEMORY: u64 = 256 << 20;

/// How long others' locks are waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// How long until a lock is tried again.
const PAUSE: Duration = Duration::from_millis(20);

/// A blob that is in the repository.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// Its id there.
    pub(super) id: ObjectId,
    /// What names it.
    pub(super) places: Vec<Place>,
}

/// A blob that is in the repository and cannot be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unread {
    /// Its id there.
    pub(super) id: ObjectId,
    /// Why.
    pub(super) reason: Unreadable,
}

/// A repository that may be written to.
pub(super) struct Repository {
    pub(super) git: gix::Repository,
    path: PathBuf,
}

impl Repository {
    /// Opens the repository at this path and no other: not one above it, and none that a link or
    /// a file leads to.
    pub(super) fn open(path: &Path) -> Result<Repository, RetentionError> {
        let inside = path.join(".git");
        match fs::symlink_metadata(&inside) {
            Ok(found) if !found.is_dir() => return Err(elsewhere(path, inside)),
            _ => {}
        }
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir()) {
            return Err(elsewhere(path, path.to_owned()));
        }
        let io_error = |error: io::Error| RetentionError::io(path, path, &error);
        if let Some(OddFile { path: file, reason }) = odd_files::find(path).map_err(io_error)? {
            let error = io::Error::new(io::ErrorKind::InvalidInput, reason);
            return Err(RetentionError::io(path, &file, &error));
        }
        // Reflogs would keep what is let go: none is written. No object takes more memory than that,
        // and none that it is a change of.
        let options = gix::open::Options::default()
            .config_overrides([
                "core.logAllRefUpdates=false".to_owned(),
                // One that names packs which are gone hides what is in the others.
                "core.multiPackIndex=false".to_owned(),
                format!("gitoxide.objects.allocLimit={MEMORY}"),
            ])
            .strict_config(false);
        let mut git =
            gix::open_opts(path, options).map_err(|error| match error.is_not_found() {
                true => RetentionError::NotARepository {
                    path: path.to_owned(),
                },
                false => RetentionError::git(path, error),
            })?;
        // A blob is what its id says, and not what a replacement shows.
        git.objects.ignore_replacements = true;
        // Our refs are those of the whole repository, also where the environment names a namespace.
        git.refs.namespace = None;
        let path = path.to_owned();
        let repository = Repository { git, path };
        repository.check_format()?;
        repository.check_own()?;
        repository.check_links()?;
        Ok(repository)
    }

    /// What is written to is the repository that was named: only a linked work tree's own folder, which
    /// is in it, names another one as the place of its objects and refs.
    fn check_own(&self) -> Result<(), RetentionError> {
        let (own, common) = (self.git.git_dir(), self.git.common_dir());
        let absolute = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (own, common) = (absolute(own), absolute(common));
        let is_work_tree = own.parent() == Some(common.join("worktrees").as_path());
        match own == common || is_work_tree {
            true => Ok(()),
            false => Err(RetentionError::Elsewhere {
                path: own,
                target: common,
            }),
        }
    }

    /// Demands that no ref is in the way of others below its name; `packed` are those of `packed-refs`
    /// that begin so.
    pub(super) fn check_free(
        &self,
        names: &[&'static str],
        packed: &[(String, ObjectId)],
    ) -> Result<(), RetentionError> {
        for name in names {
            let is_file = self.git.common_dir().join(name).is_file();
            if is_file || packed.iter().any(|(packed, _)| packed == name) {
                return Err(self.foreign(name, "it is in the way of refs below that name"));
            }
        }
        Ok(())
    }

    pub(super) fn foreign(&self, name: &'static str, reason: impl Into<String>) -> RetentionError {
        RetentionError::Foreign {
            path: self.path.clone(),
            name,
            reason: reason.into(),
        }
    }

    /// Waits until no other `annals log retain` works on the repository, and keeps them away as long as the
    /// answer is kept: what one of them keeps another could let go. git does not look at this lock.
    pub(super) fn lock(&self) -> Result<File, RetentionError> {
        let folder = self.git.common_dir();
        let opened = File::open(folder).map_err(|error| self.io_error(folder, &error))?;
        let until = Instant::now() + PATIENCE;
        loop {
            match opened.try_lock() {
                Ok(()) => return Ok(opened),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(PAUSE);
                }
                Err(error) => {
                    let path = self.path.clone();
                    let source = io::Error::other(match error {
                        TryLockError::WouldBlock => "it is another `annals log retain`".to_owned(),
                        TryLockError::Error(error) => error.to_string(),
                    });
                    let source = Box::new(source);
                    return Err(RetentionError::Busy { path, source });
                }
            }
        }
    }

    /// Removes a file of the repository's own, if it is there.
    pub(super) fn remove(&self, file: &Path) -> Result<(), RetentionError> {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.io_error(file, &error))
            }
            _ => Ok(()),
        }
    }

    /// Nothing that is written to is a link, which could lead anywhere.
    fn check_links(&self) -> Result<(), RetentionError> {
        let own = self.git.common_dir();
        let mut paths = vec![own.to_owned(), own.join("packed-refs")];
        let objects = own.join("objects");
        paths.extend([objects.clone(), objects.join("pack")]);
        // Objects lie in folders of two digits.
        if let Ok(entries) = fs::read_dir(&objects) {
            let entries = entries.filter_map(Result::ok);
            paths.extend(entries.map(|entry| entry.path()));
        }
        let mut refs = own.to_owned();
        for part in ["refs", "ai", "blobs"] {
            refs.push(part);
            paths.push(refs.clone());
        }
        paths.push(own.join("refs/ai/uploads"));
        let is_link = |path: &PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink())
        };
        match paths.into_iter().find(is_link) {
            Some(path) => Err(RetentionError::Link { path }),
            None => Ok(()),
        }
    }

    /// Refs are written as files, which a repository may not have them in.
    pub(super) fn check_for(&self, strategy: Strategy) -> Result<(), RetentionError> {
        if matches!(strategy, Strategy::KeepPack | Strategy::CustomGc) {
            return Ok(());
        }
        let config = self.git.config_snapshot();
        let format = config.string("extensions.refStorage");
        match format.map(|format| format.to_string()) {
            Some(format) if format != "files" => Err(RetentionError::RefFormat {
                path: self.path.clone(),
                format,
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn error(&self, error: gix::Error) -> RetentionError {
        RetentionError::git(&self.path, error)
    }

    pub(super) fn other_error(
        &self,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> RetentionError {
        RetentionError::Git {
            path: self.path.clone(),
            source: Box::new(error),
        }
    }

    pub(super) fn io_error(&self, file: &Path, error: &io::Error) -> RetentionError {
        RetentionError::io(&self.path, file, error)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the objects.
    pub(super) fn objects_folder(&self) -> PathBuf {
        self.git.common_dir().join("objects")
    }

    /// Finds each blob in the repository, or writes it there from the log.
    pub(super) fn hold(
        &self,
        log: &dyn Store,
        named: Vec<NamedBlob>,
        report: &mut RetentionReport,
    ) -> Result<Vec<Held>, RetentionError> {
        let mut held = Vec::with_capacity(named.len());
        let mut new = Vec::new();
        for blob in named {
            let written = report.written;
            let found = self.hold_one(log, &blob, report)?;
            if report.written > written {
                new.extend(found.as_ref().ok().copied());
            }
            let NamedBlob { blob, places, .. } = blob;
            match found {
                Ok(id) => held.push(Held { id, places }),
                Err(reason) => {
                    let named_by = places.into_iter().next();
                    report.missing.extend(named_by.map(|named_by| MissingBlob {
                        blob,
                        named_by,
                        reason: reason.to_string(),
                    }));
                }
            }
        }
        self.sync_objects(&new)?;
        // Under both hashes the same content may be named twice.
        held.sort_by_key(|held| held.id);
        held.dedup_by(|later, first| {
            let same = later.id == first.id;
            if same {
                first.places.append(&mut later.places);
            }
            same
        });
        Ok(held)
    }

    fn hold_one(
        &self,
        log: &dyn Store,
        named: &NamedBlob,
        report: &mut RetentionReport,
    ) -> Result<Result<ObjectId, NotHeld>, RetentionError> {
        let own = self.own(named.blob);
        if let Some(id) = own
            && let Some(header) = self.git.try_find_header(id).transpose()
        {
            return Ok(match header.map(|header| header.kind()) {
                Ok(gix::objs::Kind::Blob) => Ok(id),
                Ok(other) => Err(NotHeld::OtherKind(other)),
                // A mark pass lists what it cannot read: what it left out a gc would remove.
                Err(_) if report.strategy == Strategy::CustomGc => Ok(id),
                Err(error) => Err(NotHeld::Damaged(Box::new(error))),
            });
        }
        let Some(content) = content(log, named)? else {
            return Ok(Err(match own {
                Some(_) => NotHeld::Nowhere,
                None => NotHeld::OtherHash,
            }));
        };
        if named.blob.same_hash_of_blob(&content) != Ok(named.blob) {
            return Ok(Err(NotHeld::OtherContent));
        }
        let written = self.git.write_blob(&content);
        let id = written.map_err(|error| self.error(error))?.detach();
        report.written += 1;
        report.other_hash += usize::from(own.is_none());
        Ok(Ok(id))
    }

    /// The ids of blobs in the repository, as far as they can be found out.
    pub(super) fn ids(
        &self,
        log: &dyn Store,
        named: &[NamedBlob],
    ) -> Result<HashSet<ObjectId>, RetentionError> {
        let mut ids = HashSet::new();
        for named in named {
            if let Some(id) = self.own(named.blob) {
                ids.insert(id);
            } else if let Some(content) = content(log, named)? {
                let hash = self.git.object_hash();
                let id = gix::objs::compute_hash(hash, gix::objs::Kind::Blob, &content);
                ids.insert(id.map_err(|error| self.error(error))?);
            }
        }
        Ok(ids)
    }

    /// Puts objects on disk that were just written as files of their own.
    pub(super) fn sync_objects(&self, ids: &[ObjectId]) -> Result<(), RetentionError> {
        let loose = self.loose();
        let mut folders = BTreeSet::new();
        for id in ids {
            let path = loose.object_path(id);
            // What was packed meanwhile is on disk.
            match File::open(&path).and_then(|file| file.sync_all()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(self.io_error(&path, &error));
                }
                _ => folders.extend(path.parent().map(Path::to_owned)),
            }
        }
        if !folders.is_empty() {
            folders.insert(self.objects_folder());
        }
        folders
            .iter()
            .try_for_each(|folder| self.sync_folder(folder))
    }

    /// Puts the names in a folder on disk.
    pub(super) fn sync_folder(&self, folder: &Path) -> Result<(), RetentionError> {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        match synced {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            synced => synced.map_err(|error| self.io_error(folder, &error)),
        }
    }

    pub(super) fn loose(&self) -> gix::odb::loose::Store {
        gix::odb::loose::Store::at(self.objects_folder(), self.git.object_hash())
    }

    /// Demands that an object is what its id says.
    pub(super) fn check_content(&self, id: ObjectId) -> Result<(), RetentionError> {
        self.read_whole(id)
            .map_err(|error| error.of(self.path(), id))
    }

    fn read_whole(&self, id: ObjectId) -> Result<(), Unreadable> {
        let opened = self.find(id)?.ok_or(Unreadable::Damaged)?;
        match opened.read_through(id.kind(), |_| Ok(())) {
            Ok(Some(found)) if found == id => Ok(()),
            _ => Err(Unreadable::Damaged),
        }
    }

    /// Reads objects, so that nothing damaged is taken for kept: the answer is which can be read, and why
    /// the others cannot.
    pub(super) fn readable(
        &self,
        ids: impl IntoIterator<Item = ObjectId>,
    ) -> (Vec<ObjectId>, Vec<Unread>) {
        let (mut whole, mut unread) = (Vec::new(), Vec::new());
        for id in ids {
            match self.read_whole(id) {
                Ok(()) => whole.push(id),
                Err(reason) => unread.push(Unread { id, reason }),
            }
        }
        (whole, unread)
    }

    /// Gives an object a file of its own.
    pub(super) fn write_loose(&self, id: ObjectId) -> Result<(), RetentionError> {
        // Read first, so that a failure to read is distinguished from a failure to write.
        self.check_content(id)?;
        let mut object = self.opened(id)?;
        let (kind, size) = (object.kind, object.size);
        let written = self.loose().write_stream(kind, size, &mut object);
        match written.map_err(|error| self.error(error))? == id {
            true => Ok(()),
            false => Err(Unreadable::Damaged.of(self.path(), id)),
        }
    }

    /// Makes objects look as new as if they were just written, as git does with those that it finds:
    /// a gc that has listed the refs already leaves what is new. The callers have read them, so that
    /// nothing damaged is taken for kept.
    pub(super) fn freshen(
        &self,
        ids: impl IntoIterator<Item = ObjectId>,
    ) -> Result<(), RetentionError> {
        let (loose, now) = (self.loose(), SystemTime::now());
        let touch = |path: &Path| {
            let touched = File::open(path).and_then(|file| file.set_modified(now));
            match touched {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                // Only its owner may; whether it is still there is looked at in the end.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(true),
                touched => touched
                    .map(|()| true)
                    .map_err(|error| self.io_error(path, &error)),
            }
        };
        let mut packed = Vec::new();
        for id in ids {
            if !touch(&loose.object_path(&id))? {
                packed.push(id);
            }
        }
        if packed.is_empty() {
            return Ok(());
        }
        let folder = self.objects_folder().join("pack");
        let Ok(entries) = fs::read_dir(&folder) else {
            return Ok(());
        };
        for index in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if index.extension().is_none_or(|ending| ending != "idx") {
                continue;
            }
            let opened = gix_pack::index::File::at(&index, self.git.object_hash());
            let opened = opened.map_err(|error| self.error(error))?;
            let has = |id: &&ObjectId| opened.lookup(**id).is_some();
            if !index.with_extension("mtimes").exists() {
                if packed.iter().any(|id| has(&id)) {
                    touch(&index.with_extension("pack"))?;
                }
                continue;
            }
            // Of what is in such a pack git takes the age from there: a new file of its own counts.
            let old: Vec<ObjectId> = packed.iter().filter(has).copied().collect();
            old.iter().try_for_each(|id| self.write_loose(*id))?;
            self.sync_objects(&old)?;
        }
        Ok(())
    }

    /// The id, if it is of the repository's hash.
    pub(super) fn own(&self, blob: GitOid) -> Option<ObjectId> {
        match (blob, self.git.object_hash()) {
            (GitOid::Sha1(_), HashKind::Sha1) | (GitOid::Sha256(_), HashKind::Sha256) => {
                ObjectId::try_from(blob.as_bytes()).ok()
            }
            _ => None,
        }
    }

    /// A gc of another process may have removed objects before anything held them.
    pub(super) fn check_all_there(
        &self,
        held: impl IntoIterator<Item = ObjectId>,
    ) -> Result<(), RetentionError> {
        let options = gix::open::Options::default().open_path_as_is(true);
        let fresh = gix::open_opts(self.git.git_dir(), options);
        let mut fresh = fresh.map_err(|error| self.error(error))?;
        fresh.objects.ignore_replacements = true;
        let mut gone = held.into_iter().filter(|id| !fresh.has_object(*id));
        match gone.next() {
            None => Ok(()),
            Some(first) => Err(RetentionError::Removed {
                path: self.path.clone(),
                first,
                count: 1 + gone.count(),
            }),
        }
    }

    /// git's own lock on a ref that is a file of its own.
    pub(super) fn lock_ref(&self, file: &Path) -> Result<gix::lock::Marker, RetentionError> {
        let patience = Fail::AfterDurationWithBackoff(PATIENCE);
        let boundary = Some(self.git.common_dir().to_owned());
        let lock = gix::lock::Marker::acquire_to_hold_resource(file, patience, boundary, 0);
        lock.map_err(|error| self.error(error))
    }

    /// Sets a ref as a file of its own, under git's own lock on it, and puts it on disk.
    pub(super) fn set_ref(&self, edit: RefEdit) -> Result<(), RetentionError> {
        let patience = Fail::AfterDurationWithBackoff(PATIENCE);
        let name = edit.name.to_path().map_err(|error| self.error(error))?;
        let file = self.git.common_dir().join(name);
        let transaction = self.git.refs.transaction();
        let prepared = transaction.prepare(Some(edit), patience, patience);
        let prepared = prepared.map_err(|error| self.error(error))?;
        let committed = prepared.commit(None);
        committed.map_err(|error| self.error(error))?;
        let synced = File::open(&file).and_then(|file| file.sync_all());
        synced.map_err(|error| self.io_error(&file, &error))?;
        file.ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(self.git.common_dir()))
            .try_for_each(|folder| self.sync_folder(folder))
    }
}

/// A link, or the file of a linked worktree or a submodule: where it leads is to be named.
fn elsewhere(path: &Path, inside: PathBuf) -> RetentionError {
    let named = annals_files::open(&inside).and_then(io::read_to_string);
    let named = named.ok().and_then(|text| {
        let named = text.strip_prefix("gitdir:")?.trim().to_owned();
        Some(path.join(named))
    });
    let target = named.or_else(|| fs::canonicalize(&inside).ok());
    RetentionError::Elsewhere {
        target: target.unwrap_or_else(|| inside.clone()),
        path: inside,
    }
}

/// A blob's content, where the log has it.
fn content(log: &dyn Store, named: &NamedBlob) -> Result<Option<Bytes>, RetentionError> {
    match named.content {
        Some(digest) => Ok(block_on(log.blob(digest))?),
        None => Ok(None),
    }
}

/// What a strategy did.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) changed: usize,
    /// Of a release: blobs that entries of others still hold.
    pub(super) held_by_others: usize,
    pub(super) holder: Option<String>,
    /// What cannot be read, and is not kept.
    pub(super) unread: Vec<Unread>,
}

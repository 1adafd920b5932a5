//! Packs of their own, each with a `.keep` file, which git leaves as they are. The file has a line
//! for each log that keeps the pack. A pack whose file names no log was kept by an older version.
//!
//! A pack is made in a folder of its own and then moved into place: the pack, the `.keep` file,
//! and the index last, as git sees a pack by its index.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::zlib::Compression;
use gix_pack::data::output;

use super::content::AT_ONCE;
use super::error::RetentionError;
use super::keep_file::KeepFile;
use super::large_pack;
use super::owner::{Belongs, Owner};
use super::repository::{Done, Held, Repository, Unread};

/// How the names of the folders begin in which packs are made.
const WORKSHOP: &str = "annals-retain-";

/// A kept pack.
struct Kept {
    /// Where its `.keep` file is.
    keep: PathBuf,
    /// What that says.
    file: KeepFile,
    /// What is in it.
    ids: BTreeSet<ObjectId>,
}

pub(super) fn retain(
    repository: &Repository,
    held: &[Held],
    owner: &Owner,
) -> Result<Done, RetentionError> {
    let kept = there(repository)?;
    let own = kept
        .iter()
        .filter(|kept| kept.file.whose(owner) == Belongs::Own);
    let is_kept = |id: &ObjectId| own.clone().any(|kept| kept.ids.contains(id));
    let new = held.iter().map(|held| held.id).filter(|id| !is_kept(id));
    let new: BTreeSet<ObjectId> = new.collect();
    // Read before: of a pack that cannot be made, nothing says which of its objects is damaged.
    let (new, unread) = repository.readable(new);
    let changed = new.len();
    let holder = write(repository, &new.into_iter().collect(), Some(owner))?;
    Ok(Done {
        changed,
        holder,
        unread,
        ..Done::default()
    })
}

pub(super) fn release(
    repository: &Repository,
    going: &HashSet<ObjectId>,
    owner: &Owner,
) -> Result<Done, RetentionError> {
    let all = there(repository)?;
    let of = |belongs: Belongs| {
        all.iter()
            .filter(move |kept| kept.file.whose(owner) == belongs)
    };
    let own = Parting::of(of(Belongs::Own).collect(), going);
    let unowned = match owner.unowned {
        true => Parting::of(of(Belongs::Unowned).collect(), going),
        false => Parting::default(),
    };
    let (own_rest, own_unread) = repository.readable(own.rest.iter().copied());
    let (rest, unread) = repository.readable(unowned.rest.iter().copied());
    // Of a pack that cannot be made again without it, nothing is let go.
    if let Some(Unread { id, reason }) = own_unread.first().or(unread.first()) {
        return Err(reason.of(repository.path(), *id));
    }
    let holder = write(repository, &own_rest.into_iter().collect(), Some(owner))?;
    write(repository, &rest.into_iter().collect(), None)?;
    let changed: HashSet<ObjectId> = own.gone.union(&unowned.gone).copied().collect();
    for kept in own.broken_up.iter().chain(&unowned.broken_up) {
        kept.leave(repository, owner)?;
    }
    let stays = |kept: &&Kept| kept.file.stays_without(owner);
    let stay: HashSet<ObjectId> = all
        .iter()
        .filter(stays)
        .flat_map(|it| &it.ids)
        .copied()
        .collect();
    Ok(Done {
        changed: changed.len(),
        held_by_others: stay.intersection(going).count(),
        holder,
        ..Done::default()
    })
}

/// Packs of one owner, as a release leaves them.
#[derive(Default)]
struct Parting<'a> {
    /// Those with a blob that goes.
    broken_up: Vec<&'a Kept>,
    /// The blobs that go.
    gone: HashSet<ObjectId>,
    /// The blobs that stay, and are in no other pack of the owner.
    rest: BTreeSet<ObjectId>,
}

impl<'a> Parting<'a> {
    fn of(packs: Vec<&'a Kept>, going: &HashSet<ObjectId>) -> Parting<'a> {
        let goes = |id: &ObjectId| going.contains(id);
        let (broken_up, staying): (Vec<&Kept>, Vec<&Kept>) = packs
            .into_iter()
            .partition(|kept| kept.ids.iter().any(goes));
        let all = || broken_up.iter().flat_map(|kept| &kept.ids).copied();
        let is_kept = |id: &ObjectId| staying.iter().any(|kept| kept.ids.contains(id));
        let gone = all().filter(goes).collect();
        let rest = all().filter(|id| !goes(id) && !is_kept(id)).collect();
        Parting {
            broken_up,
            gone,
            rest,
        }
    }
}

impl Kept {
    /// Takes a log, or no log, out of the pack's `.keep` file; one that nobody is left in goes.
    fn leave(&self, repository: &Repository, owner: &Owner) -> Result<(), RetentionError> {
        let io_error = |error: io::Error| repository.io_error(&self.keep, &error);
        match self.file.without(owner) {
            None => fs::remove_file(&self.keep).map_err(io_error),
            Some(text) => {
                let workshop = Workshop::new(repository)?;
                let new = workshop.0.join(self.keep.file_name().unwrap_or_default());
                fs::write(&new, text).map_err(io_error)?;
                move_into(&folder(repository), &new, 0o644).map_err(io_error)
            }
        }
    }
}

fn folder(repository: &Repository) -> PathBuf {
    repository.objects_folder().join("pack")
}

/// The packs with a `.keep` file that this strategy wrote to.
fn there(repository: &Repository) -> Result<Vec<Kept>, RetentionError> {
    let folder = folder(repository);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(repository.io_error(&folder, &error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let keep = entry.map_err(|error| repository.io_error(&folder, &error))?;
        let keep = keep.path();
        let index = keep.with_extension("idx");
        if keep.extension().is_none_or(|ending| ending != "keep") || !index.is_file() {
            continue;
        }
        let text = annals_files::open(&keep).and_then(io::read_to_string);
        let Some(file) = text.ok().and_then(|text| KeepFile::read(&text)) else {
            continue;
        };
        let index = gix_pack::index::File::at(&index, repository.git.object_hash());
        let index = index.map_err(|error| repository.error(error))?;
        let ids = index.iter().map(|entry| entry.oid).collect();
        found.push(Kept { keep, file, ids });
    }
    Ok(found)
}

/// A folder that goes with what is left in it.
struct Workshop(PathBuf);

impl Workshop {
    fn new(repository: &Repository) -> Result<Workshop, RetentionError> {
        remove_old(repository)?;
        let name = format!("{WORKSHOP}{}.tmp", uuid::Uuid::new_v4().simple());
        let path = repository.git.common_dir().join(name);
        let made = fs::DirBuilder::new()
            .mode(annals_files::OWN_FOLDER)
            .create(&path);
        made.map_err(|error| repository.io_error(&path, &error))?;
        Ok(Workshop(path))
    }
}

/// Removes what a process left that was killed; no other process works there now.
fn remove_old(repository: &Repository) -> Result<(), RetentionError> {
    let folder = repository.git.common_dir();
    let entries = fs::read_dir(folder).map_err(|error| repository.io_error(folder, &error))?;
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let is_old = name.to_str().is_some_and(|name| {
            name.starts_with(WORKSHOP) && Path::new(name).extension() == Some("tmp".as_ref())
        });
        if is_old {
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(|error| repository.io_error(&path, &error))?;
        }
    }
    Ok(())
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What cannot be removed does no harm there.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a kept pack of these blobs, of none none; the answer is its name. Blobs that are too large to be
/// read at once have a pack each.
fn write(
    repository: &Repository,
    ids: &BTreeSet<ObjectId>,
    owner: Option<&Owner>,
) -> Result<Option<String>, RetentionError> {
    if ids.is_empty() {
        return Ok(None);
    }
    let (mut small, mut large) = (BTreeSet::new(), Vec::new());
    for id in ids {
        match repository.size_of(*id)? > AT_ONCE {
            true => large.push(*id),
            false => drop(small.insert(*id)),
        }
    }
    let workshop = Workshop::new(repository)?;
    let mut packs = Vec::new();
    if !small.is_empty() {
        packs.extend(write_small(repository, &small, &workshop)?);
    }
    for id in large {
        packs.push(large_pack::write(repository, id, &workshop.0)?);
    }
    let mut name = None;
    for (data, index) in packs {
        keep(repository, &data, &index, owner)?;
        name.get_or_insert_with(|| {
            let name = data.file_stem().unwrap_or_default();
            name.to_string_lossy().into_owned()
        });
    }
    Ok(name)
}

/// Makes one pack of these blobs; the answer is where it and its index are.
fn write_small(
    repository: &Repository,
    ids: &BTreeSet<ObjectId>,
    workshop: &Workshop,
) -> Result<Option<(PathBuf, PathBuf)>, RetentionError> {
    let stream = workshop.0.join("stream");
    let io_error = |error: io::Error| repository.io_error(&stream, &error);
    write_stream(repository, ids, &stream)?;
    let mut stream = BufReader::new(File::open(&stream).map_err(io_error)?);
    let written = gix_pack::Bundle::write_to_directory(
        &mut stream,
        Some(&workshop.0),
        &mut gix::progress::Discard,
        &AtomicBool::new(false),
        None::<gix::objs::find::Never>,
        repository.git.object_hash(),
        gix_pack::bundle::write::Options::default(),
    );
    let written = written.map_err(|error| repository.error(error))?;
    let (Some(data), Some(index)) = (written.data_path, written.index_path) else {
        return Ok(None);
    };
    check(repository, ids, &index)?;
    Ok(Some((data, index)))
}

/// Puts a pack where git finds it, with a `.keep` file. Others may keep the same pack, since its
/// name is that of its content: their lines stay.
fn keep(
    repository: &Repository,
    data: &Path,
    index: &Path,
    owner: Option<&Owner>,
) -> Result<(), RetentionError> {
    let keep = data.with_extension("keep");
    let folder = folder(repository);
    let there = folder.join(keep.file_name().unwrap_or_default());
    let before = match annals_files::open(&there).and_then(io::read_to_string) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(repository.io_error(&there, &error)),
    };
    let text = KeepFile::with(before.as_deref(), owner);
    fs::write(&keep, text).map_err(|error| repository.io_error(&keep, &error))?;
    fs::create_dir_all(&folder).map_err(|error| repository.io_error(&folder, &error))?;
    for (from, mode) in [(data, 0o444), (keep.as_path(), 0o644), (index, 0o444)] {
        move_into(&folder, from, mode).map_err(|error| repository.io_error(from, &error))?;
    }
    Ok(())
}

/// Puts a finished file into a folder, for good.
fn move_into(folder: &Path, from: &Path, mode: u32) -> io::Result<()> {
    let file = File::open(from)?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.sync_all()?;
    fs::rename(from, folder.join(from.file_name().unwrap_or_default()))?;
    File::open(folder)?.sync_all()
}

/// A pack as it goes over a wire, of whole objects.
fn write_stream(
    repository: &Repository,
    ids: &BTreeSet<ObjectId>,
    stream: &Path,
) -> Result<(), RetentionError> {
    let file = File::create_new(stream);
    let file = file.map_err(|error| repository.io_error(stream, &error))?;
    let entries = ids.iter().map(|id| {
        let blob = repository.git.find_blob(*id)?;
        let count = output::Count::from_data(*id, None);
        let data = gix::objs::Data {
            kind: gix::objs::Kind::Blob,
            data: &blob.data,
            object_hash: id.kind(),
        };
        Ok(vec![output::Entry::from_data(
            &count,
            &data,
            Compression::DEFAULT,
        )?])
    });
    let number = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    let hash = repository.git.object_hash();
    let version = gix_pack::data::Version::V2;
    let mut writer =
        output::bytes::FromEntriesIter::new(entries, BufWriter::new(file), number, version, hash);
    for written in writer.by_ref() {
        written.map_err(|error| repository.error(error))?;
    }
    let flushed = writer.into_write().flush();
    flushed.map_err(|error| repository.io_error(stream, &error))
}

/// Ids follow from the content: a damaged object has another one.
fn check(
    repository: &Repository,
    ids: &BTreeSet<ObjectId>,
    index: &Path,
) -> Result<(), RetentionError> {
    let file = gix_pack::index::File::at(index, repository.git.object_hash());
    let file = file.map_err(|error| repository.error(error))?;
    let there: HashSet<ObjectId> = file.iter().map(|entry| entry.oid).collect();
    match ids.iter().find(|id| !there.contains(*id)) {
        Some(id) => Err(RetentionError::Damaged {
            path: repository.path().to_owned(),
            id: *id,
        }),
        None => Ok(()),
    }
}

//! A ref for each blob of a log: `refs/ai/blobs/<log>/<id>`. They are written into `packed-refs`,
//! many at once. Refs of the form `refs/ai/blobs/<id>`, as older versions and other tools write
//! them, belong to no log.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use gix::ObjectId;

use super::error::RetentionError;
use super::owner::{Belongs, Owner};
use super::packed_refs::{self, Locked};
use super::repository::{Done, Held, Repository};

/// Where the refs are.
const PREFIX: &str = "refs/ai/blobs/";
/// What they and all that could be in their way begin with.
const ABOVE: &str = "refs/ai";

/// What [`PREFIX`] and the name of a log make, for messages.
const NAMESPACE: &str = "refs/ai/blobs/<id of the log>";

pub(super) fn retain(
    repository: &Repository,
    held: &[Held],
    owner: &Owner,
) -> Result<Done, RetentionError> {
    let wanted: BTreeSet<ObjectId> = held.iter().map(|held| held.id).collect();
    let missing = |there: There| -> BTreeSet<ObjectId> {
        let new = wanted.iter().filter(|id| !there.own.contains(*id));
        new.copied().collect()
    };
    let look = |packed: Vec<(String, ObjectId)>| {
        repository.check_free(&["refs/ai", "refs/ai/blobs"], &packed)?;
        check_namespace(repository, owner, &packed)?;
        there(repository, packed, owner).map(missing)
    };
    if look(packed_refs::ids(repository, ABOVE)?)?.is_empty() {
        return Ok(Done::default());
    }
    let mut packed = Locked::take(repository)?;
    let (new, unread) = repository.readable(look(packed.under(ABOVE))?);
    repository.freshen(new.iter().copied())?;
    for id in &new {
        packed.add(&name(owner, *id), *id);
    }
    if !new.is_empty() {
        packed.write()?;
    }
    Ok(Done {
        changed: new.len(),
        unread,
        ..Done::default()
    })
}

pub(super) fn release(
    repository: &Repository,
    going: &HashSet<ObjectId>,
    owner: &Owner,
) -> Result<Done, RetentionError> {
    let look = |packed| there(repository, packed, owner);
    let found = look(packed_refs::ids(repository, PREFIX)?)?;
    if found.released(owner).all(|(id, _)| !going.contains(&id)) {
        return Ok(Done {
            held_by_others: found.stay(going, owner),
            ..Done::default()
        });
    }
    check_namespace(repository, owner, &[])?;
    // While this is held, no process packs a ref that is about to be removed.
    let mut packed = Locked::take(repository)?;
    let found = look(packed.under(PREFIX))?;
    let mut changed = HashSet::new();
    for (id, name) in found.released(owner).filter(|(id, _)| going.contains(id)) {
        repository.remove(&repository.git.common_dir().join(&name))?;
        packed.remove(&name);
        changed.insert(id);
    }
    packed.write()?;
    Ok(Done {
        changed: changed.len(),
        held_by_others: found.stay(going, owner),
        ..Done::default()
    })
}

/// The blobs that have a ref, by whose it is.
#[derive(Default)]
struct There {
    own: HashSet<ObjectId>,
    unowned: HashSet<ObjectId>,
    others: HashSet<ObjectId>,
}

impl There {
    fn of(&mut self, belongs: Belongs) -> &mut HashSet<ObjectId> {
        match belongs {
            Belongs::Own => &mut self.own,
            Belongs::Unowned => &mut self.unowned,
            Belongs::Other => &mut self.others,
        }
    }

    /// The refs that a release may remove.
    fn released(&self, owner: &Owner) -> impl Iterator<Item = (ObjectId, String)> {
        let own = self.own.iter().map(move |id| (*id, name(owner, *id)));
        let unowned = self.unowned.iter().filter(move |_| owner.unowned);
        own.chain(unowned.map(|id| (*id, format!("{PREFIX}{id}"))))
    }

    /// How many of the blobs have a ref that a release leaves.
    fn stay(&self, going: &HashSet<ObjectId>, owner: &Owner) -> usize {
        let unowned = |id: &ObjectId| !owner.unowned && self.unowned.contains(id);
        let stays = |id: &&ObjectId| self.others.contains(*id) || unowned(id);
        going.iter().filter(stays).count()
    }
}

/// Refuses a namespace that is a ref itself, or a link.
fn check_namespace(
    repository: &Repository,
    owner: &Owner,
    packed: &[(String, ObjectId)],
) -> Result<(), RetentionError> {
    let namespace = format!("{PREFIX}{}", owner.name);
    let found = fs::symlink_metadata(repository.git.common_dir().join(&namespace));
    let is_odd = found.is_ok_and(|found| !found.is_dir());
    if is_odd || packed.iter().any(|(name, _)| *name == namespace) {
        return Err(repository.foreign(NAMESPACE, "it is in the way of refs below that name"));
    }
    Ok(())
}

/// The blobs that have a ref: in `packed-refs`, or as a file.
fn there(
    repository: &Repository,
    packed: Vec<(String, ObjectId)>,
    owner: &Owner,
) -> Result<There, RetentionError> {
    let mut found = There::default();
    for (name, id) in packed {
        let Some(rest) = name.strip_prefix(PREFIX) else {
            continue;
        };
        let (namespace, hex) = match rest.rsplit_once('/') {
            Some((namespace, hex)) => (Some(namespace), hex),
            None => (None, rest),
        };
        if hex.parse().ok() == Some(id) {
            found.of(owner.whose(namespace)).insert(id);
        }
    }
    let folder = repository.git.common_dir().join(PREFIX);
    for entry in entries(repository, &folder)? {
        let named = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        let Some(named) = named.to_str() else {
            continue;
        };
        if !is_folder {
            let id = loose(repository, &entry, Belongs::Unowned)?;
            found.unowned.extend(id);
            continue;
        }
        let belongs = owner.whose(Some(named));
        for entry in entries(repository, &entry.path())? {
            let id = loose(repository, &entry, belongs)?;
            found.of(belongs).extend(id);
        }
    }
    Ok(found)
}

fn entries(repository: &Repository, folder: &Path) -> Result<Vec<DirEntry>, RetentionError> {
    let io_error = |error: io::Error| repository.io_error(folder, &error);
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect::<io::Result<_>>().map_err(io_error),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io_error(error)),
    }
}

/// The blob of a ref that is a file. One of this log that is something else is refused; of
/// others it holds nothing.
fn loose(
    repository: &Repository,
    entry: &DirEntry,
    belongs: Belongs,
) -> Result<Option<ObjectId>, RetentionError> {
    let named = entry.file_name();
    let id = named
        .to_str()
        .and_then(|name| name.parse::<ObjectId>().ok())
        .filter(|id| id.kind() == repository.git.object_hash());
    let Some(id) = id else {
        return Ok(None);
    };
    let path = entry.path();
    let text = match annals_files::open(&path).and_then(io::read_to_string) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) if belongs != Belongs::Own => return Ok(None),
        Err(error) => return Err(repository.io_error(&path, &error)),
    };
    match text.trim().parse().ok() == Some(id) {
        true => Ok(Some(id)),
        false if belongs == Belongs::Own => {
            let reason = format!("{} does not name that blob", path.display());
            Err(repository.foreign("a ref below refs/ai/blobs", reason))
        }
        false => Ok(None),
    }
}

fn name(owner: &Owner, id: ObjectId) -> String {
    format!("{PREFIX}{}/{id}", owner.name)
}

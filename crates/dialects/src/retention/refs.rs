//! A ref for each blob: `refs/ai/blobs/<id>`. They are written into `packed-refs`, many at once.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;

use gix::ObjectId;

use super::error::RetentionError;
use super::packed_refs::{self, Locked};
use super::repository::{Done, Held, Repository};

/// Where the refs are.
const PREFIX: &str = "refs/ai/blobs/";
/// What they and all that could be in their way begin with.
const ABOVE: &str = "refs/ai";

pub(super) fn retain(repository: &Repository, held: &[Held]) -> Result<Done, RetentionError> {
    let wanted: BTreeSet<ObjectId> = held.iter().map(|held| held.id).collect();
    let missing = |there: HashSet<ObjectId>| -> BTreeSet<ObjectId> {
        let new = wanted.iter().filter(|id| !there.contains(*id));
        new.copied().collect()
    };
    let look = |packed: Vec<(String, ObjectId)>| {
        repository.check_free(&["refs/ai", "refs/ai/blobs"], &packed)?;
        there(repository, packed).map(missing)
    };
    if look(packed_refs::ids(repository, ABOVE)?)?.is_empty() {
        return Ok(Done::default());
    }
    let mut packed = Locked::take(repository)?;
    let (new, unread) = repository.readable(look(packed.under(ABOVE))?);
    repository.freshen(new.iter().copied())?;
    for id in &new {
        packed.add(&name(*id), *id);
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
) -> Result<Done, RetentionError> {
    let there = there(repository, packed_refs::ids(repository, PREFIX)?)?;
    if there.is_disjoint(going) {
        return Ok(Done::default());
    }
    // While this is held, no process packs a ref that is about to be removed.
    let mut packed = Locked::take(repository)?;
    let there = self::there(repository, packed.under(PREFIX))?;
    let mut changed = 0;
    for id in there.intersection(going) {
        repository.remove(&repository.git.common_dir().join(name(*id)))?;
        packed.remove(&name(*id));
        changed += 1;
    }
    packed.write()?;
    Ok(Done {
        changed,
        ..Done::default()
    })
}

/// The blobs that have their ref: those of `packed-refs`, and those that are files of their own.
fn there(
    repository: &Repository,
    packed: Vec<(String, ObjectId)>,
) -> Result<HashSet<ObjectId>, RetentionError> {
    let own = packed.into_iter().filter(|(named, id)| *named == name(*id));
    let mut found: HashSet<ObjectId> = own.map(|(_, id)| id).collect();
    let folder = repository.git.common_dir().join(PREFIX);
    let io_error = |error: io::Error| repository.io_error(&folder, &error);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(io_error(error)),
    };
    for entry in entries {
        let entry = entry.map_err(io_error)?;
        let named = entry.file_name();
        let id = named
            .to_str()
            .and_then(|name| name.parse::<ObjectId>().ok());
        let Some(id) = id.filter(|id| id.kind() == repository.git.object_hash()) else {
            continue;
        };
        let text = match fs::read_to_string(entry.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            read => read.map_err(io_error)?,
        };
        if text.trim().parse().ok() != Some(id) {
            let reason = format!("{} does not name that blob", entry.path().display());
            return Err(repository.foreign("a ref below refs/ai/blobs", reason));
        }
        found.insert(id);
    }
    Ok(found)
}

fn name(id: ObjectId) -> String {
    format!("{PREFIX}{id}")
}

//! A mark pass: which blobs a gc must keep. git's own gc asks for them where
//! `gc.recentObjectsHook` names the command (git 2.41 and newer).

use std::fs::File;
use std::time::SystemTime;

use gix::ObjectId;

use super::error::RetentionError;
use super::repository::{Done, Held, Repository};

/// Nothing is held, unless it is to be protected: a gc with `--prune=now` drops what is unreachable
/// in packs without asking, and asks before it drops an object of its own file.
pub(super) fn mark(
    repository: &Repository,
    held: &[Held],
    protect: bool,
) -> Result<Done, RetentionError> {
    if !protect {
        return Ok(Done::default());
    }
    let loose = repository.loose();
    let (own, missing): (Vec<ObjectId>, Vec<ObjectId>) = held
        .iter()
        .map(|held| held.id)
        .partition(|id| loose.contains(id));
    // A file of its own that is damaged protects nothing.
    let (own, mut unread) = repository.readable(own);
    for id in own {
        let path = loose.object_path(&id);
        let touched = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        touched.map_err(|error| repository.io_error(&path, &error))?;
    }
    let (new, more) = repository.readable(missing);
    unread.extend(more);
    new.iter().try_for_each(|id| repository.write_loose(*id))?;
    repository.sync_objects(&new)?;
    Ok(Done {
        changed: new.len(),
        unread,
        ..Done::default()
    })
}

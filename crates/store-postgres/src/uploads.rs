//! Content on its way to the object store: what a group of appends brings, and what redactions took away.

use std::collections::{HashMap, HashSet};

use annals_event_log::{Blob, Digest};
use futures::future::join_all;

use crate::batches;
use crate::failure::Failure;
use crate::objects::Objects;
use crate::outcome::Failed;
use crate::queue::Work;
use crate::sessions::{Parameters, Session};
use crate::shared::Shared;

/// The names of objects, by the digests of what they hold.
pub(crate) type Names = HashMap<Digest, String>;

/// Objects that are written or removed at once, at most.
const AT_ONCE: usize = 16;
/// Removed objects that are dealt with in one go, at most.
const STEP: i64 = 1_000;

/// What the attempts at one group have written.
#[derive(Debug, Default)]
pub(crate) struct Uploads {
    pub(crate) names: Names,
    /// What was begun and failed; it may be there all the same.
    failed: Vec<String>,
}

/// Writes what a group brings and the log does not have, before its transaction; nothing where content is kept in the
/// database. What was written in an earlier attempt stays.
pub(crate) async fn upload(
    shared: &Shared,
    session: &Session,
    works: &[Work],
    uploads: &mut Uploads,
) -> Result<(), Failed> {
    let Some(objects) = &shared.objects else {
        return Ok(());
    };
    let brought: HashMap<Digest, &Blob> = works
        .iter()
        .flat_map(Work::blobs)
        .map(|blob| (blob.digest(), blob))
        .filter(|(digest, _)| !uploads.names.contains_key(digest))
        .collect();
    if brought.is_empty() {
        return Ok(());
    }
    let digests: Vec<&[u8]> = brought.keys().map(|digest| &digest.0[..]).collect();
    let stored = &shared.sql.stored_blobs;
    let mut known = HashSet::new();
    for row in session
        .query_within(stored, &[&shared.log, &digests])
        .await?
    {
        known.insert(batches::digest(row.try_get(0)?)?);
    }
    let new = brought.into_iter();
    let new = new.filter(|(digest, _)| !known.contains(digest));
    let new: Vec<&Blob> = new.map(|(_, blob)| blob).collect();
    for some in new.chunks(AT_ONCE) {
        write(objects, some, uploads).await?;
    }
    Ok(())
}

/// Writes some objects at once. Where one fails the others still come to their end: nothing may be there that is not
/// named here.
async fn write(objects: &Objects, blobs: &[&Blob], uploads: &mut Uploads) -> Result<(), Failure> {
    let written = join_all(blobs.iter().map(|blob| put(objects, blob))).await;
    let mut first = Ok(());
    for (digest, name, written) in written {
        match written {
            Ok(()) => drop(uploads.names.insert(digest, name)),
            Err(failure) => {
                uploads.failed.push(name);
                first = first.and(Err(failure));
            }
        }
    }
    first
}

async fn put(objects: &Objects, blob: &Blob) -> (Digest, String, Result<(), Failure>) {
    let (digest, name) = (blob.digest(), Objects::name(blob.digest()));
    let written = objects.put(&name, blob).await;
    (digest, name, written)
}

/// Removes what no row came to name.
pub(crate) async fn discard(shared: &Shared, uploads: Uploads, used: &HashSet<Digest>) {
    let Some(objects) = &shared.objects else {
        return;
    };
    let names = uploads.names.into_iter();
    let unused = names.filter(|(digest, _)| !used.contains(digest));
    let unused: Vec<String> = unused.map(|(_, name)| name).chain(uploads.failed).collect();
    if let (_, Err(failure)) = remove(objects, &unused).await {
        tracing::warn!(error = %failure, "objects that nothing names are left");
    }
}

/// Removes objects, some at once: all that can be, though one cannot. Those that were removed, and why another was not.
async fn remove(objects: &Objects, names: &[String]) -> (Vec<String>, Result<(), Failure>) {
    let (mut gone, mut first) = (Vec::with_capacity(names.len()), Ok(()));
    for some in names.chunks(AT_ONCE) {
        let removed = join_all(some.iter().map(|name| objects.remove(name))).await;
        for (name, removed) in some.iter().zip(removed) {
            match removed {
                Ok(()) => gone.push(name.clone()),
                Err(failure) => first = first.and(Err(failure)),
            }
        }
    }
    (gone, first)
}

/// Removes what redactions took away, by the list that they left; also that of an earlier process.
pub(crate) async fn sweep(shared: &Shared, session: &Session) -> Result<(), Failed> {
    let Some(objects) = &shared.objects else {
        return Ok(());
    };
    let (sql, mut after, mut first) = (&shared.sql, String::new(), Ok(()));
    loop {
        let listed: Parameters<'_> = &[&shared.log, &shared.log_id, &after, &STEP];
        let rows = session.query_within(&sql.removed_objects, listed).await?;
        let mut names = Vec::with_capacity(rows.len());
        for row in &rows {
            names.push(row.try_get::<_, String>(0)?);
        }
        let Some(last) = names.last() else {
            return first;
        };
        after.clone_from(last);
        // What no object was ever named is on the list by another's doing, and keeps nothing from being removed.
        let (names, mut done): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|name| Objects::is_name(name));
        let (gone, removed) = remove(objects, &names).await;
        first = first.and(removed.map_err(Failed::from));
        done.extend(gone);
        // Before the list is forgotten: afterwards nobody looks for them any more.
        objects.sync().await?;
        let forgotten: Parameters<'_> = &[&shared.log, &done];
        session
            .execute_within(&sql.forget_objects, forgotten)
            .await?;
    }
}

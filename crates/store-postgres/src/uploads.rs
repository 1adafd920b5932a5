//! Content on its way to the object store: what a group of appends brings, and what redactions took away.

use std::collections::{HashMap, HashSet};

use annals_event_log::{Blob, Digest};
use futures::future::{join_all, try_join_all};

use crate::batches;
use crate::objects::Objects;
use crate::outcome::Failed;
use crate::queue::Work;
use crate::sessions::Session;
use crate::shared::Shared;

/// The names of objects, by the digests of what they hold.
pub(crate) type Names = HashMap<Digest, String>;

/// Writes what a group brings and the log does not have, before its transaction; nothing where content is kept in the
/// database. What was written in an earlier attempt stays.
pub(crate) async fn upload(
    shared: &Shared,
    session: &Session,
    works: &[Work],
    names: &mut Names,
) -> Result<(), Failed> {
    let Some(objects) = &shared.objects else {
        return Ok(());
    };
    let brought: HashMap<Digest, &Blob> = works
        .iter()
        .flat_map(Work::blobs)
        .map(|blob| (blob.digest(), blob))
        .filter(|(digest, _)| !names.contains_key(digest))
        .collect();
    if brought.is_empty() {
        return Ok(());
    }
    let digests: Vec<&[u8]> = brought.keys().map(|digest| &digest.0[..]).collect();
    let stored = session.prepare_cached(&shared.sql.stored_blobs).await?;
    let mut known = HashSet::new();
    for row in session.query(&stored, &[&shared.log, &digests]).await? {
        known.insert(batches::digest(row.try_get(0)?)?);
    }
    let new = brought
        .into_iter()
        .filter(|(digest, _)| !known.contains(digest));
    let written = try_join_all(new.map(|(digest, blob)| put(objects, digest, blob))).await?;
    names.extend(written);
    Ok(())
}

async fn put(objects: &Objects, digest: Digest, blob: &Blob) -> Result<(Digest, String), Failed> {
    Ok((digest, objects.put(blob).await?))
}

/// Removes what no row came to name.
pub(crate) async fn discard(shared: &Shared, names: Names, used: &HashSet<Digest>) {
    let Some(objects) = &shared.objects else {
        return;
    };
    let unused = names.iter().filter(|(digest, _)| !used.contains(*digest));
    let removed = join_all(unused.map(|(_, name)| objects.remove(name))).await;
    for failure in removed.into_iter().filter_map(Result::err) {
        tracing::warn!(error = %failure, "an object that nothing names is left");
    }
}

/// Removes what redactions took away, by the list that they left; also that of an earlier process.
pub(crate) async fn sweep(shared: &Shared, session: &Session) -> Result<(), Failed> {
    let Some(objects) = &shared.objects else {
        return Ok(());
    };
    let list = session.prepare_cached(&shared.sql.removed_objects).await?;
    let rows = session.query(&list, &[&shared.log]).await?;
    if rows.is_empty() {
        return Ok(());
    }
    let mut names = Vec::with_capacity(rows.len());
    for row in &rows {
        names.push(row.try_get::<_, String>(0)?);
    }
    try_join_all(names.iter().map(|name| objects.remove(name))).await?;
    let forget = session.prepare_cached(&shared.sql.forget_objects).await?;
    session.execute(&forget, &[&shared.log, &names]).await?;
    Ok(())
}

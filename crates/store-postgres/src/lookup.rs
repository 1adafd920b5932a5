//! Look-ups: versions, streams, batches, hashes, counts. Each asks for the log's head behind what it looks up, in the
//! same round trip, so that the watermark is never below what a caller was given.

use std::sync::Arc;

use annals_event_log::store_support::{BatchRow, clamp_limit};
use annals_event_log::tree::STEP;
use annals_event_log::{
    BatchId, Digest, IdSecret, Position, Stats, StreamHead, StreamName, Version,
};
use futures::future::BoxFuture;
use futures::try_join;
use tokio_postgres::Row;

use crate::batches;
use crate::failure::Failure;
use crate::head::{self, signed, unsigned};
use crate::outcome::Failed;
use crate::sessions::{Parameters, Session};
use crate::settings::Access;
use crate::shared::Shared;

/// The rows of a statement, with the watermark brought to what they are of.
pub(crate) async fn rows(
    shared: &Shared,
    session: &Session,
    text: &str,
    parameters: Parameters<'_>,
) -> Result<Vec<Row>, Failed> {
    let (statement, head) = try_join!(
        session.prepare_cached(text),
        session.prepare_cached(&shared.sql.head_position),
    )?;
    let of_log: Parameters<'_> = &[&shared.log, &shared.log_id];
    let seen = shared.watermark.get();
    let (rows, head) = try_join!(
        session.query(&statement, parameters),
        session.query_opt(&head, of_log),
    )?;
    let head = unsigned(shared.demand_there(head)?.try_get(0)?)?;
    shared.demand_onward(seen, head)?;
    shared.reached(head);
    Ok(rows)
}

/// Looks at the head alone.
pub(crate) fn position_of(
    shared: &Arc<Shared>,
) -> impl for<'a> Fn(&'a Session) -> BoxFuture<'a, Result<u64, Failed>> + Send + Sync {
    let shared = Arc::clone(shared);
    move |session| {
        let shared = Arc::clone(&shared);
        Box::pin(async move {
            let statement = session.prepare_cached(&shared.sql.head_position).await?;
            let seen = shared.watermark.get();
            let of_log: Parameters<'_> = &[&shared.log, &shared.log_id];
            let row = session.query_opt(&statement, of_log).await?;
            let head = unsigned(shared.demand_there(row)?.try_get(0)?)?;
            shared.demand_onward(seen, head)?;
            Ok(head)
        })
    }
}

/// The version of a stream's last record.
pub(crate) async fn version(
    shared: &Shared,
    session: &Session,
    stream: &str,
) -> Result<Version, Failed> {
    let rows = rows(
        shared,
        session,
        &shared.sql.version,
        &[&shared.log, &stream],
    )
    .await?;
    match rows.first() {
        None => Ok(Version::NONE),
        Some(row) => Ok(Version(unsigned(row.try_get(0)?)?)),
    }
}

/// Streams whose names begin with a text.
pub(crate) async fn streams(
    shared: &Shared,
    session: &Session,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<StreamHead>, Failed> {
    // No name has one, and the server takes none.
    if prefix.contains('\0') {
        return Ok(Vec::new());
    }
    let limit = signed(clamp_limit(limit) as u64);
    let (text, from) = match after.filter(|after| *after >= prefix) {
        Some(after) => (&shared.sql.streams_after, after),
        None => (&shared.sql.streams, prefix),
    };
    let mut heads = Vec::new();
    for row in rows(shared, session, text, &[&shared.log, &from, &limit]).await? {
        let name: &str = row.try_get(0)?;
        // Names with one prefix are next to each other.
        if !name.starts_with(prefix) {
            break;
        }
        let name: StreamName =
            name.parse()
                .map_err(|error: annals_event_log::InvalidStreamName| {
                    Failure::damaged(error.to_string())
                })?;
        let version = Version(unsigned(row.try_get(1)?)?);
        heads.push(StreamHead { name, version });
    }
    Ok(heads)
}

/// What is known of a batch.
pub(crate) async fn batch(
    shared: &Shared,
    session: &Session,
    batch: BatchId,
) -> Result<Option<BatchRow>, Failed> {
    let rows = rows(shared, session, &shared.sql.batch, &[&shared.log, &batch]).await?;
    match rows.first() {
        None => Ok(None),
        Some(row) => {
            let row = batches::read(row, 0)?.1;
            // Callers take it for acknowledged.
            if shared.settings.access == Access::ReadWrite {
                head::confirm_up_to(shared, session, row.appended.last).await?;
            }
            Ok(Some(row))
        }
    }
}

/// Hashes of the tree.
pub(crate) async fn hashes(
    shared: &Shared,
    session: &Session,
    level: u8,
    first: u64,
    limit: usize,
) -> Result<Vec<Digest>, Failed> {
    if !level.is_multiple_of(STEP) {
        return Ok(Vec::new());
    }
    let complete = shared.watermark.get().0.checked_shr(level.into());
    let expected = complete.unwrap_or_default().saturating_sub(first);
    let expected = expected.min(clamp_limit(limit) as u64);
    let end = signed(first.saturating_add(clamp_limit(limit) as u64));
    let first = signed(first);
    let rows = match level {
        0 => {
            rows(
                shared,
                session,
                &shared.sql.leaves,
                &[&shared.log, &first, &end],
            )
            .await?
        }
        _ => {
            let level = i64::from(level);
            let parameters: Parameters<'_> = &[&shared.log, &first, &end, &level];
            rows(shared, session, &shared.sql.hashes, parameters).await?
        }
    };
    // They come with the records, in one transaction.
    if (rows.len() as u64) < expected {
        let reason = format!(
            "of level {level} of the tree, {expected} hashes from {first} on are not all there"
        );
        return Err(Failure::damaged(reason).into());
    }
    let digests = rows.iter().map(|row| Ok(batches::digest(row.try_get(0)?)?));
    digests.collect()
}

/// The secret of the log's ids.
pub(crate) async fn id_secret(shared: &Shared, session: &Session) -> Result<IdSecret, Failed> {
    let rows = rows(shared, session, &shared.sql.id_secret, &[&shared.log]).await?;
    let row = rows
        .first()
        .ok_or_else(|| Failure::damaged("the log has no epoch"))?;
    let secret = IdSecret::from_bytes(row.try_get(0)?);
    Ok(secret.ok_or_else(|| Failure::damaged("the secret of the log's ids has not 32 bytes"))?)
}

/// Counts of the log, and the bytes of all tables of its schema.
pub(crate) async fn stats(shared: &Shared, session: &Session) -> Result<Stats, Failed> {
    let size = session.prepare_cached(&shared.sql.size).await?;
    let bytes = session.query_one(&size, &[&shared.settings.schema]).await?;
    let rows = rows(shared, session, &shared.sql.counts, &[&shared.log]).await?;
    let row = rows
        .first()
        .ok_or_else(|| Failure::damaged("the log has no head"))?;
    let count = |at: usize| -> Result<u64, Failed> { Ok(unsigned(row.try_get(at)?)?) };
    Ok(Stats {
        position: Position(count(0)?),
        streams: count(1)?,
        batches: count(2)?,
        blobs: count(3)?,
        blob_bytes: count(4)?,
        bytes: unsigned(bytes.try_get(0)?)?,
    })
}

//! Removing content: in one transaction with the batch that says so, while the log's head is locked. It is done when
//! it is committed, or not at all.

use std::collections::{HashMap, HashSet};

use annals_event_log::store_support::Chains;
use annals_event_log::{
    AppendError, Appended, BatchId, Digest, IdSecret, PiecesOf, Position, Record, RedactError,
    Redaction, SUBSCRIPTIONS,
};
use bytes::Bytes;
use futures::try_join;
use tokio_postgres::Error;

use crate::connect::PLAN_EACH;
use crate::failure::Failure;
use crate::head::{self, signed, unsigned};
use crate::known::{self, Asked, Known};
use crate::outcome::Failed;
use crate::queue::Removal;
use crate::rows::Writing;
use crate::sessions::{Parameters, Session};
use crate::shared::Shared;
use crate::staging::{Staged, Staging};
use crate::uploads::Names;

/// Records that are looked at or rewritten in one go, at most.
const STEP: usize = 200;

type Answer = Result<Appended, RedactError>;

/// Why a look at records ended.
enum Stop {
    Refused(RedactError),
    Failed(Failed),
}

impl From<Failed> for Stop {
    fn from(failed: Failed) -> Stop {
        Stop::Failed(failed)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure.into())
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error.into())
    }
}

/// Makes a redaction, or refuses it.
pub(crate) async fn commit(
    shared: &Shared,
    session: &Session,
    removal: &mut Removal,
) -> Result<Answer, Failed> {
    match made(shared, session, removal).await {
        Ok(appended) => Ok(Ok(appended)),
        Err(Stop::Refused(error)) => {
            session.within(session.batch_execute("ROLLBACK")).await?;
            Ok(Err(error))
        }
        Err(Stop::Failed(failed)) => Err(failed),
    }
}

async fn made(shared: &Shared, session: &Session, removal: &mut Removal) -> Result<Appended, Stop> {
    let Removal {
        redaction,
        prepared,
        request,
    } = removal;
    let asked = Asked::of(prepared);
    let (writing, known) = session.within(begin(shared, session, &asked)).await?;
    // What comes with a redaction is small, and stays in the database.
    let (chains, names) = (Chains::default(), Names::new());
    let mut staging = Staging::new(known, &chains, &names);
    let end = staging.position();
    // A repeat is answered; what it removed is gone.
    let is_repeat = staging.batch(prepared.batch).is_some();
    let left = match is_repeat {
        true => Vec::new(),
        false => check(shared, session, redaction, end).await?,
    };
    let appended = staging.append(prepared, *request).map_err(refused)?;
    if is_repeat {
        session
            .commit_within(head::confirm(shared, session))
            .await?;
        return Ok(appended);
    }
    let mut staged = staging.finish();
    replace(shared, session, &left).await?;
    forget(shared, session, redaction, &mut staged, appended.last).await?;
    let write = staged
        .rows
        .write(session, &writing, shared.log, &staged.head);
    let warnings = session.warnings();
    let commit = session.batch_execute("COMMIT");
    let committed = async { try_join!(write, commit).map_err(Failed::at_commit) };
    session.commit_within(committed).await?;
    session.demand_no_warning(warnings)?;
    Ok(appended)
}

async fn begin(
    shared: &Shared,
    session: &Session,
    asked: &Asked,
) -> Result<(Writing, Known), Failed> {
    let writing = Writing::prepare(session, &shared.sql).await?;
    let known = known::begin(shared, session, asked).await?;
    session.batch_execute(PLAN_EACH).await?;
    Ok((writing, known))
}

fn refused(error: AppendError) -> Stop {
    match error {
        AppendError::Corrupt { reason } => Stop::Failed(Failure::damaged(reason).into()),
        error => Stop::Refused(error.into()),
    }
}

/// Checks what goes against the records; gives those that lose pieces, as they are then.
async fn check(
    shared: &Shared,
    session: &Session,
    redaction: &Redaction,
    end: Position,
) -> Result<Vec<Record>, Stop> {
    let blobs: HashSet<Digest> = redaction.blobs.iter().copied().collect();
    let beyond = |from: &&PiecesOf| from.position == Position::START || from.position > end;
    if let Some(from) = redaction.removed.iter().find(beyond) {
        return Err(Stop::Refused(RedactError::NoPiece {
            position: from.position,
            piece: from.pieces.first().copied().unwrap_or_default(),
        }));
    }
    let mut left = Vec::with_capacity(redaction.removed.len());
    for some in redaction.removed.chunks(STEP) {
        let positions: Vec<i64> = some.iter().map(|from| signed(from.position.0)).collect();
        let records = records_at(shared, session, &positions).await?;
        for (from, record) in some.iter().zip(&records) {
            check_record(record, &from.pieces, &blobs)?;
            left.push(record.without(&from.pieces).map_err(malformed)?);
        }
    }
    if !blobs.is_empty() {
        check_later(shared, session, redaction, &blobs, end).await?;
    }
    Ok(left)
}

/// Records that came after the caller has looked for what refers to the blobs.
async fn check_later(
    shared: &Shared,
    session: &Session,
    redaction: &Redaction,
    blobs: &HashSet<Digest>,
    end: Position,
) -> Result<(), Stop> {
    let removed = redaction.removed.iter();
    let of: HashMap<Position, &[u16]> = removed
        .map(|from| (from.position, &from.pieces[..]))
        .collect();
    let mut next = redaction.seen.next();
    while next <= end {
        let last = end.0.min(next.0.saturating_add(STEP as u64 - 1));
        let positions: Vec<i64> = (next.0..=last).map(signed).collect();
        for record in records_at(shared, session, &positions).await? {
            let pieces = of.get(&record.position()).copied().unwrap_or_default();
            check_record(&record, pieces, blobs)?;
        }
        next = Position(last).next();
    }
    Ok(())
}

fn check_record(record: &Record, pieces: &[u16], blobs: &HashSet<Digest>) -> Result<(), Stop> {
    Redaction::check_record(record, pieces, blobs).map_err(Stop::Refused)
}

fn malformed(error: annals_event_log::MalformedRecord) -> Stop {
    Stop::Failed(Failure::damaged(error.to_string()).into())
}

/// The records at these positions, all of which are there.
async fn records_at(
    shared: &Shared,
    session: &Session,
    positions: &[i64],
) -> Result<Vec<Record>, Stop> {
    let at = &shared.sql.records_at;
    let rows = session.query_within(at, &[&shared.log, &positions]).await?;
    if rows.len() != positions.len() {
        let detail = format!(
            "{} of {} records are missing",
            positions.len() - rows.len(),
            positions.len()
        );
        return Err(Failure::damaged(detail).into());
    }
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        let bytes = Bytes::copy_from_slice(row.try_get(1)?);
        records.push(Record::decode(bytes).map_err(malformed)?);
    }
    Ok(records)
}

async fn replace(shared: &Shared, session: &Session, records: &[Record]) -> Result<(), Stop> {
    let (replace, forget) = (&shared.sql.replace_records, &shared.sql.forget_requests);
    for some in records.chunks(STEP) {
        let positions: Vec<i64> = some.iter().map(|it| signed(it.position().0)).collect();
        let bytes: Vec<&[u8]> = some.iter().map(|it| &it.as_bytes()[..]).collect();
        session
            .execute_within(replace, &[&shared.log, &positions, &bytes])
            .await?;
    }
    let batches: HashSet<BatchId> = records.iter().map(Record::batch_id).collect();
    let batches: Vec<BatchId> = batches.into_iter().collect();
    session
        .execute_within(forget, &[&shared.log, &batches])
        .await?;
    Ok(())
}

/// Removes blobs, and what was derived from content.
async fn forget(
    shared: &Shared,
    session: &Session,
    redaction: &Redaction,
    staged: &mut Staged,
    said: Position,
) -> Result<(), Stop> {
    let sql = &shared.sql;
    // First the epoch: it waits for commits of rows that are under way, and keeps others from beginning.
    let (said, secret) = (signed(said.0), IdSecret::random());
    session
        .execute_within(
            &sql.set_epoch,
            &[&shared.log, &said, &&secret.as_bytes()[..]],
        )
        .await?;
    session
        .execute_within(&sql.drop_other_models, &[&shared.log, &SUBSCRIPTIONS])
        .await?;
    session
        .execute_within(&sql.drop_other_rows, &[&shared.log, &SUBSCRIPTIONS])
        .await?;
    let mut objects: Vec<String> = Vec::new();
    let digests: Vec<&[u8]> = redaction.blobs.iter().map(|digest| &digest.0[..]).collect();
    let gone: Parameters<'_> = &[&shared.log, &digests];
    for gone in session.query_within(&sql.remove_blobs, gone).await? {
        let size = unsigned(gone.try_get(0)?)?;
        staged.head.blobs = staged.head.blobs.saturating_sub(1);
        staged.head.blob_bytes = staged.head.blob_bytes.saturating_sub(signed(size));
        objects.extend(gone.try_get::<_, Option<String>>(1)?);
    }
    if let (Some(name), None) = (objects.first(), &shared.objects) {
        let detail = format!("what is to be removed ({name})");
        return Err(Failure::NoObjectStore { detail }.into());
    }
    // No head is written that nobody could go on from.
    staged.head.demand_counts()?;
    session
        .execute_within(&sql.remove_objects, &[&shared.log, &objects])
        .await?;
    Ok(())
}

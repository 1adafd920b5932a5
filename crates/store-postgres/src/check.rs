//! What is kept beside the records' own bytes, compared with them: the tables that records and batches are found by, and
//! the counts. No digest is over it, and what the server checks of itself knows nothing of what it means.

use annals_event_log::Digest;
use futures::try_join;
use tokio_postgres::Row;

use crate::head::{Head, signed, unsigned};
use crate::outcome::Failed;
use crate::sessions::{Parameters, Session};
use crate::shared::Shared;

/// How many faults of each kind are named.
const NAMED: i64 = 10;

/// How many looks it takes, each of which may go over all rows.
pub(crate) const STEPS: u32 = 8;

/// What does not fit, in words.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) position: u64,
    /// Of the tree, as the head has it.
    pub(crate) root: Digest,
    pub(crate) faults: Vec<String>,
}

/// Compares the tables, as they are at one moment.
pub(crate) async fn tables(shared: &Shared, session: &Session) -> Result<Checked, Failed> {
    let sql = &shared.sql;
    let (head, records, counts) = try_join!(
        session.prepare_cached(&sql.read_head),
        session.prepare_cached(&sql.check_records),
        session.prepare_cached(&sql.check_counts),
    )?;
    let of_log: Parameters<'_> = &[&shared.log];
    session
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .await?;
    let head = session
        .query_opt(&head, &[&shared.log, &shared.log_id])
        .await?;
    let head = Head::read(&shared.demand_there(head)?)?;
    let mut faults = wrong_end(&head, &session.query_one(&records, of_log).await?)?;
    faults.extend(named_faults(shared, session, &head).await?);
    faults.extend(wrong_counts(
        &head,
        &session.query_one(&counts, of_log).await?,
    )?);
    session.batch_execute("ROLLBACK").await?;
    Ok(Checked {
        position: head.position.0,
        root: head.frontier.root(),
        faults,
    })
}

fn wrong_end(head: &Head, records: &Row) -> Result<Vec<String>, Failed> {
    let (found, last) = (
        unsigned(records.try_get(0)?)?,
        unsigned(records.try_get(1)?)?,
    );
    if (found, last) == (head.position.0, head.position.0) {
        return Ok(Vec::new());
    }
    Ok(vec![format!(
        "the log ends at {}, and there are {found} records, the last of which is at {last}",
        head.position
    )])
}

/// Some of the rows of each table that do not fit.
async fn named_faults(
    shared: &Shared,
    session: &Session,
    head: &Head,
) -> Result<Vec<String>, Failed> {
    let (sql, end) = (&shared.sql, signed(head.position.0));
    let some: Parameters<'_> = &[&shared.log, &NAMED];
    let up_to_end: Parameters<'_> = &[&shared.log, &NAMED, &end];
    let mut faults = Vec::new();
    for row in session.query_within(&sql.check_streams, some).await? {
        let stream: &str = row.try_get(0)?;
        faults.push(format!(
            "the version of the stream {stream:?} is not that of its last record"
        ));
    }
    for row in session.query_within(&sql.check_batches, up_to_end).await? {
        let first: i64 = row.try_get(0)?;
        faults.push(format!(
            "the batch from {first} on does not border on the next one"
        ));
    }
    for row in session.query_within(&sql.check_batch_ids, some).await? {
        let first: i64 = row.try_get(0)?;
        faults.push(format!(
            "the batch from {first} on has another id than its records name"
        ));
    }
    for row in session.query_within(&sql.check_tree, up_to_end).await? {
        let (level, number): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        faults.push(format!(
            "the tree of the records has no hash {number} of level {level}"
        ));
    }
    for row in session.query_within(&sql.check_models, up_to_end).await? {
        let (model, at): (&str, i64) = (row.try_get(0)?, row.try_get(1)?);
        faults.push(format!(
            "the read model {model:?} has events up to {at}, and the log ends at {end}; `annals log rebuild` mends it"
        ));
    }
    Ok(faults)
}

fn wrong_counts(head: &Head, counts: &Row) -> Result<Vec<String>, Failed> {
    let mut faults = Vec::new();
    for (at, (what, counted)) in [
        ("streams", head.streams),
        ("batches", head.batches),
        ("blobs", head.blobs),
        ("bytes of blobs", head.blob_bytes),
    ]
    .into_iter()
    .enumerate()
    {
        let found: i64 = counts.try_get(at)?;
        if found != counted {
            faults.push(format!(
                "the head counts {counted} {what}, and there are {found}"
            ));
        }
    }
    Ok(faults)
}

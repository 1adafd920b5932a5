//! One transaction over appends that wait together: all of them are decided on the locked head, written, and
//! committed; or, where the server fails, none.

use std::collections::HashSet;

use annals_event_log::store_support::Chains;
use annals_event_log::{AppendError, Appended, Digest, Link, Position, Record};
use futures::try_join;

use crate::failure::Failure;
use crate::head::{self, signed};
use crate::known::{self, Asked};
use crate::outcome::Failed;
use crate::queue::Work;
use crate::rows::Writing;
use crate::sessions::Session;
use crate::shared::Shared;
use crate::staging::Staging;
use crate::uploads::Names;

/// What became of a group.
pub(crate) struct Done {
    /// The answer of each, in their order.
    pub(crate) answers: Vec<Result<Appended, AppendError>>,
    /// How many events it added.
    pub(crate) events: usize,
    /// Where the log ends.
    pub(crate) position: Position,
    pub(crate) links: Vec<Link>,
    /// The content that rows name now.
    pub(crate) blobs: HashSet<Digest>,
}

/// Makes all appends of a group that are not refused. `is_again` says that an attempt before this one may have been
/// committed.
pub(crate) async fn commit(
    shared: &Shared,
    session: &Session,
    works: &mut [Work],
    chains: &Chains,
    names: &Names,
    is_again: bool,
) -> Result<Done, Failed> {
    let mut asked = Asked::default();
    works.iter().for_each(|work| asked.add(work));
    let writing = Writing::prepare(session, &shared.sql).await?;
    let known = known::begin(shared, session, &asked).await?;
    let mut staging = Staging::new(known, chains, names);
    let mut answers = Vec::with_capacity(works.len());
    for work in works {
        let answer = match work {
            Work::Append { prepared, request } => staging.append(prepared, *request),
            Work::Copy { records, .. }
                if is_again && is_stored(shared, session, records).await? =>
            {
                Ok(place(records))
            }
            Work::Copy { records, blobs } => staging.copy(records, blobs),
        };
        // Nothing is built on rows that contradict each other.
        if let Err(AppendError::Corrupt { reason }) = answer {
            return Err(Failure::damaged(reason).into());
        }
        answers.push(answer);
    }
    let staged = staging.finish();
    let position = staged.head.position;
    match staged.rows.records.is_empty() {
        true if answers.iter().any(Result::is_ok) => head::confirm(shared, session).await?,
        true => session.batch_execute("ROLLBACK").await?,
        false => {
            let write = staged
                .rows
                .write(session, &writing, shared.log, &staged.head);
            let warnings = session.warnings();
            // Sent with the rows: the head is locked for one round trip less. A statement that fails makes a
            // rollback of it.
            let commit = session.batch_execute("COMMIT");
            try_join!(write, commit).map_err(Failed::at_commit)?;
            session.demand_no_warning(warnings)?;
            shared.confirmed(position.0);
        }
    }
    Ok(Done {
        answers,
        events: staged.rows.records.len(),
        position,
        links: staged.links,
        blobs: staged
            .rows
            .blobs
            .iter()
            .map(|(blob, _)| blob.digest())
            .collect(),
    })
}

fn place(records: &[Record]) -> Appended {
    let first = records.first().map_or(Position::START, Record::position);
    let last = records.last().map_or(Position::START, Record::position);
    Appended::new(first, last)
}

/// Whether copied records are in the log already. They come whole or not at all, so that the ends show it.
async fn is_stored(shared: &Shared, session: &Session, records: &[Record]) -> Result<bool, Failed> {
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Ok(false);
    };
    let mut ends = vec![first];
    if last.position() != first.position() {
        ends.push(last);
    }
    let positions: Vec<i64> = ends.iter().map(|end| signed(end.position().0)).collect();
    let at = session.prepare_cached(&shared.sql.records_at).await?;
    let found = session.query(&at, &[&shared.log, &positions]).await?;
    let mut is_same = found.len() == ends.len();
    for (row, end) in found.iter().zip(ends) {
        is_same &= row.try_get::<_, &[u8]>(1)? == &end.as_bytes()[..];
    }
    Ok(is_same)
}

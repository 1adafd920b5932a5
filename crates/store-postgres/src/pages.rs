//! Pages of records.

use annals_event_log::store_support::{PAGE_BYTES, clamp_limit};
use annals_event_log::{Direction, Page, Position, Query, Record, Source};
use bytes::Bytes;
use tokio_postgres::Row;

use crate::failure::Failure;
use crate::head::{signed, unsigned};
use crate::lookup;
use crate::outcome::Failed;
use crate::sessions::{Parameters, Session};
use crate::shared::Shared;

/// One page. Its content is sent up to the bytes of a page, and of one record more, which shows that there is more,
/// only the place.
pub(crate) async fn read(
    shared: &Shared,
    session: &Session,
    query: &Query,
) -> Result<Page, Failed> {
    let limit = clamp_limit(query.limit);
    let (from, most, bytes) = (
        signed(query.from),
        signed(limit as u64 + 1),
        PAGE_BYTES as i64,
    );
    let name = match &query.source {
        Source::All => None,
        Source::Stream(stream) => Some(stream.as_str()),
        // No type has one, and the server takes none.
        Source::EventType(name) if name.contains('\0') => return Ok(Page::default()),
        Source::EventType(name) => Some(name.as_str()),
    };
    let parameters: Parameters<'_> = match &name {
        None => &[&shared.log, &from, &most, &bytes],
        Some(name) => &[&shared.log, &from, &most, &bytes, name],
    };
    let seen = shared.watermark.get();
    let mut rows = lookup::rows(shared, session, text(shared, query), parameters).await?;
    if demand_dense(query, seen, &keys(&rows)?, limit).is_err() {
        // A standby may have caught up between the rows and the head, which is asked for behind them.
        rows = lookup::rows(shared, session, text(shared, query), parameters).await?;
        demand_dense(query, seen, &keys(&rows)?, limit)?;
    }
    let mut page = Page::default();
    let end = last(shared, query);
    for (row, key) in rows.iter().zip(keys(&rows)?) {
        if key > end {
            let reason = format!("the record at {key} is not where the log has one");
            return Err(Failure::damaged(reason).into());
        }
        let record: Option<&[u8]> = row.try_get(1)?;
        if page.records.is_empty() && record.is_none() {
            let reason = format!("the row at {key} has no record");
            return Err(Failure::damaged(reason).into());
        }
        let Some(record) = record.filter(|_| page.records.len() < limit) else {
            page.next = Some(key);
            break;
        };
        let record = Record::decode(Bytes::copy_from_slice(record));
        let record =
            record.map_err(|error| Failure::damaged(format!("record at {key}: {error}")))?;
        demand_place(&record, row)?;
        page.records.push(record);
    }
    Ok(page)
}

fn keys(rows: &[Row]) -> Result<Vec<u64>, Failed> {
    rows.iter()
        .map(|row| Ok(unsigned(row.try_get(0)?)?))
        .collect()
}

/// Demands that no record is missing within a page, nor at its ends as far as those are known: the keys of all records and
/// of a stream are dense.
fn demand_dense(query: &Query, seen: Position, keys: &[u64], limit: usize) -> Result<(), Failure> {
    let (is_all, is_forward) = (
        query.source == Source::All,
        query.direction == Direction::Forward,
    );
    if matches!(query.source, Source::EventType(_)) {
        let mut pairs = keys.iter().zip(keys.iter().skip(1));
        let leads_on = |(one, next): (&u64, &u64)| (one < next) == is_forward && one != next;
        return match pairs.all(leads_on) {
            true => Ok(()),
            false => Err(Failure::damaged(
                "records of a type are there more than once",
            )),
        };
    }
    let from = query.from.max(1);
    let missing = |key: u64| Failure::damaged(format!("the record at {key} is missing"));
    let mut next = match (is_forward, keys.first()) {
        (true, _) => from,
        // Where the log ends by now is not known to be the end of the rows, but not before what was seen.
        (false, Some(first)) => (*first).max(if is_all { query.from.min(seen.0) } else { 0 }),
        (false, None) if is_all => query.from.min(seen.0),
        (false, None) => 0,
    };
    for key in keys {
        if *key != next {
            return Err(missing(next));
        }
        next = if is_forward {
            next.saturating_add(1)
        } else {
            next.saturating_sub(1)
        };
    }
    // One more than the page was asked for, so that this is the end.
    let is_end = keys.len() <= limit;
    let is_whole = match is_forward {
        true => !is_all || next > seen.0,
        false => next == 0,
    };
    match is_end && !is_whole {
        true => Err(missing(next)),
        false => Ok(()),
    }
}

/// The last key that there can be.
fn last(shared: &Shared, query: &Query) -> u64 {
    match &query.source {
        Source::Stream(_) => u64::MAX,
        // It was asked for behind the rows.
        Source::All | Source::EventType(_) => shared.watermark.get().0,
    }
}

/// Demands that a record belongs where its row says that it does: by its columns it is found, and no digest is over
/// them.
fn demand_place(record: &Record, row: &Row) -> Result<(), Failed> {
    let (stream, event_type): (&str, &str) = (row.try_get(3)?, row.try_get(5)?);
    let (position, version) = (unsigned(row.try_get(2)?)?, unsigned(row.try_get(4)?)?);
    let is_there = record.position().0 == position
        && record.version().0 == version
        && record.stream() == stream
        && record.event_type() == event_type;
    match is_there {
        true => Ok(()),
        false => {
            let reason = format!("the row at {position} says otherwise where its record belongs");
            Err(Failure::damaged(reason).into())
        }
    }
}

fn text<'a>(shared: &'a Shared, query: &Query) -> &'a str {
    let sql = &shared.sql;
    match (&query.source, query.direction) {
        (Source::All, Direction::Forward) => &sql.page,
        (Source::All, Direction::Backward) => &sql.page_back,
        (Source::Stream(_), Direction::Forward) => &sql.page_of_stream,
        (Source::Stream(_), Direction::Backward) => &sql.page_of_stream_back,
        (Source::EventType(_), Direction::Forward) => &sql.page_of_type,
        (Source::EventType(_), Direction::Backward) => &sql.page_of_type_back,
    }
}

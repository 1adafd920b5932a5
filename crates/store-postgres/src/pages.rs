//! Pages of records.

use annals_event_log::store_support::{PAGE_BYTES, clamp_limit};
use annals_event_log::{Direction, Page, Query, Record, Source};
use bytes::Bytes;

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
    let rows = lookup::rows(shared, session, text(shared, query), parameters).await?;
    let mut page = Page::default();
    for row in &rows {
        let key = unsigned(row.try_get(0)?)?;
        let record: Option<&[u8]> = row.try_get(1)?;
        let Some(record) = record.filter(|_| page.records.len() < limit) else {
            page.next = Some(key);
            break;
        };
        let record = Record::decode(Bytes::copy_from_slice(record));
        let record =
            record.map_err(|error| Failure::damaged(format!("record at {key}: {error}")))?;
        page.records.push(record);
    }
    Ok(page)
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

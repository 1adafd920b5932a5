//! A log's records, page by page, up to an end.

use annals::Annals;
use annals_event_log::{Position, Query, ReadError, Record};

/// Records read at once.
const PAGE: usize = 1_000;

/// Where the records up to `end` begin, if there are any.
pub(crate) fn first(end: Position) -> Option<u64> {
    Some(1).filter(|first| *first <= end.0)
}

/// Records from a position on, none behind the end, and where to go on.
pub(crate) async fn page(
    annals: &Annals,
    from: u64,
    end: Position,
) -> Result<(Vec<Record>, Option<u64>), ReadError> {
    let query = Query::all(Position(from)).limit(PAGE);
    let mut page = annals.log().read(query).await?;
    page.records.retain(|record| record.position() <= end);
    Ok((page.records, page.next.filter(|next| *next <= end.0)))
}

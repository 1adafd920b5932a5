//! The events of one stream, read page by page and decoded.

use std::ops::ControlFlow;

use annals_domain::{AnyEvent, StreamRef};
use annals_event_log::{Query, Record, Store, Version};
use annals_wire::stream_name;

use crate::LoadError;

/// Records read at once.
const PAGE: usize = 1_000;

/// Gives the events of a stream to `each` from a version on, until it has
/// enough.
pub(crate) async fn each_event(
    log: &dyn Store,
    stream: StreamRef,
    first: u64,
    mut each: impl FnMut(&Record, &AnyEvent) -> ControlFlow<()>,
) -> Result<(), LoadError> {
    let name = stream_name(stream);
    let mut next = Some(first);
    while let Some(from) = next {
        let page = log
            .read(Query::stream(name.clone(), Version(from)).limit(PAGE))
            .await?;
        for record in &page.records {
            if each(record, &annals_wire::decode(record)?.event).is_break() {
                return Ok(());
            }
        }
        next = page.next;
    }
    Ok(())
}

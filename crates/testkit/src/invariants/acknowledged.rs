//! One batch that was acknowledged is there, whole, as it was given.

use annals_event_log::{
    Append, Appended, BatchId, BatchStatus, Content, NewEvent, Position, Query, Record, Store,
};

use super::read::must;
use super::violation::{Invariant, Violation};

/// Demands that an append that was answered is in the log: at the positions of its
/// answer, each event as it was given, and known as a batch. Pieces that were
/// removed since are compared by their salted digests.
///
/// # Errors
/// A [`Violation`] of [`Invariant::Acknowledged`], or of [`Invariant::Readable`].
pub fn acknowledged(log: &dyn Store, append: &Append, answer: Appended) -> Result<(), Violation> {
    let (first, last) = (answer.first, answer.last);
    let wrong = |position: Position, expected: String, found: String| {
        Err(Violation {
            invariant: Invariant::Acknowledged,
            position: Some(position),
            expected,
            found,
        })
    };
    let batch = append.batch;
    let what = || format!("the status of batch {batch}");
    let status = must(what, log.batch(batch, &append.request))?;
    match status {
        BatchStatus::Known(known) | BatchStatus::Unverifiable(known)
            if (known.first, known.last) == (first, last) => {}
        status => wrong(
            first,
            format!("batch {batch} from {first} to {last}"),
            format!("{status:?}"),
        )?,
    }
    let count = (last.0 + 1).saturating_sub(first.0);
    if count != append.events.len() as u64 {
        let events = append.events.len();
        let expected = format!("an answer for the {events} events of batch {batch}");
        wrong(first, expected, format!("{first} to {last}"))?;
    }
    let mut from = first;
    let mut rest = append.events.as_slice();
    while let Some(event) = rest.first() {
        let what = || format!("the records of batch {batch} from {from}");
        let page = must(what, log.read(Query::all(from).limit(rest.len())))?;
        if page.records.is_empty() {
            wrong(from, show(event, batch), "the end of the log".to_owned())?;
        }
        for (record, event) in page.records.iter().zip(rest) {
            let there = record.position() == from && record.batch_id() == batch;
            if !there || !is_as_given(record, event) {
                let found = format!("{record:?} of batch {}", record.batch_id());
                wrong(from, show(event, batch), found)?;
            }
            from = from.next();
        }
        rest = rest.get(page.records.len()..).unwrap_or_default();
    }
    Ok(())
}

fn show(event: &NewEvent, batch: BatchId) -> String {
    let NewEvent {
        event_type, stream, ..
    } = event;
    format!("{event_type} in {stream}, of batch {batch}")
}

fn is_as_given(record: &Record, event: &NewEvent) -> bool {
    let content = record.content();
    let same_piece = |(is, was): (&Content, &Content)| match is {
        Content::Removed { salted } => *salted == was.salted_digest(),
        is => is == was,
    };
    record.stream() == event.stream.as_str()
        && record.event_id() == event.id
        && record.event_type() == event.event_type
        && record.schema_version() == event.schema_version
        && record.occurred_at() == event.occurred_at
        && record.actor() == event.actor
        && record.correlation() == event.correlation
        && record.causation() == event.causation
        && record.structure() == event.structure
        && content.len() == event.content.len()
        && content.iter().zip(&event.content).all(same_piece)
}

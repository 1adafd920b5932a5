//! The records against what was sent, acknowledged and shown.

use std::collections::{BTreeMap, HashMap};

use annals_event_log::tree::{Frontier, leaf};
use annals_event_log::{BatchId, Content, EventId, Position, Record, Version};

use super::violation;
use crate::soak::batch::{Batch, Kind};
use crate::soak::job::Check;
use crate::soak::said::{Fate, History, Invariant};

/// Invariants 1 to 4, 7 and 8.
pub(super) fn check(records: &[Record], end: Position, history: &History, how: Check) {
    dense(records, end);
    let batches = batches(records);
    for (id, records) in &batches {
        one_batch(*id, records, history);
    }
    if how.lied {
        return;
    }
    for (batch, fate) in &history.batches {
        if let Fate::Acknowledged(last) = fate
            && !batches.contains_key(&batch.0)
        {
            let found = format!("{batch} was acknowledged up to {last} and is gone (end {end})");
            violation(Invariant::Acknowledged, found);
        }
    }
    removed(records, &batches, history);
    prefixes(records, history);
}

/// Invariant 4.
fn dense(records: &[Record], end: Position) {
    let mut versions: HashMap<&str, Version> = HashMap::new();
    let mut ids: HashMap<EventId, Position> = HashMap::new();
    let mut expected = Position::START;
    for record in records {
        expected = expected.next();
        let at = record.position();
        if at != expected {
            return violation(
                Invariant::Dense,
                format!("found position {at}, expected {expected}"),
            );
        }
        let version = versions.entry(record.stream()).or_default();
        *version = version.next();
        if record.version() != *version {
            let found = format!(
                "the record {at} of {} has version {}, and {version} comes next",
                record.stream(),
                record.version()
            );
            violation(Invariant::Dense, found);
        }
        if let Some(before) = ids.insert(record.event_id(), at) {
            let found = format!("the event at {before} is at {at} again");
            violation(Invariant::Once, found);
        }
        if record.verify().is_err() {
            let found = format!("the payload of {at} is not what its header says");
            violation(Invariant::Whole, found);
        }
    }
    if expected != end {
        let found = format!("the watermark is {end}, and the last record {expected}");
        violation(Invariant::Dense, found);
    }
}

fn batches(records: &[Record]) -> BTreeMap<BatchId, Vec<&Record>> {
    let mut batches: BTreeMap<BatchId, Vec<&Record>> = BTreeMap::new();
    for record in records {
        batches.entry(record.batch_id()).or_default().push(record);
    }
    batches
}

/// Invariants 2 and 3, and that an acknowledgement named the right place.
fn one_batch(id: BatchId, records: &[&Record], history: &History) {
    let batch = Batch(id);
    let first = records.first().map_or(0, |record| record.position().0);
    let last = records.last().map_or(0, |record| record.position().0);
    let Some(fate) = history.batches.get(&batch) else {
        // Batches of the facade's redactions have ids of their own.
        let says_redaction = |record: &&Record| record.event_type().ends_with(".redacted");
        let redacting = !history.removed.is_empty() && records.iter().all(says_redaction);
        if !redacting {
            let found = format!("the batch {id} at {first} was never sent");
            violation(Invariant::Sent, found);
        }
        return;
    };
    match fate {
        Fate::Refused => {
            let found = format!("{batch} was refused, and is at {first}");
            violation(Invariant::Sent, found);
        }
        Fate::Acknowledged(said) if *said != last => {
            let found = format!("{batch} was acknowledged up to {said}, and ends at {last}");
            violation(Invariant::Acknowledged, found);
        }
        _ => {}
    }
    let dense = last - first + 1 == records.len() as u64;
    if records.len() != usize::from(batch.count()) || !dense {
        let found = format!("{batch} has {} records, {first} to {last}", records.len());
        return violation(Invariant::Whole, found);
    }
    for (index, record) in (0..).zip(records) {
        if let Err(what) = same(batch, index, record) {
            let at = record.position();
            let found =
                format!("{what} of event {index} of {batch}, at {at}, is not what was sent");
            violation(Invariant::Whole, found);
        }
    }
}

/// Compares a record with the event that was sent.
fn same(batch: Batch, index: u16, record: &Record) -> Result<(), &'static str> {
    let demand = |holds: bool, what| if holds { Ok(()) } else { Err(what) };
    if batch.kind() == Kind::Intents {
        let id = record.stream_name().id().parse();
        return demand(id == Ok(batch.id_of(index)), "the stream");
    }
    let sent = batch.event(index, &mut Vec::new());
    demand(record.stream() == sent.stream.as_str(), "the stream")?;
    demand(record.event_type() == sent.event_type, "the type")?;
    demand(record.event_id() == sent.id, "the id")?;
    demand(record.structure() == sent.structure, "the structure")?;
    let found = record.content();
    demand(found.len() == sent.content.len(), "the number of pieces")?;
    let mut pieces = found.iter().zip(&sent.content);
    let alike = pieces.all(|(found, sent)| found.salted_digest() == sent.salted_digest());
    demand(alike, "the content")
}

/// What was removed is removed, and nothing else is.
fn removed(records: &[Record], batches: &BTreeMap<BatchId, Vec<&Record>>, history: &History) {
    for record in records {
        let gone = |piece: &Content| matches!(piece, Content::Removed { .. });
        let pieces = record.content();
        let any = pieces.iter().any(gone);
        let at = record.position().0;
        match history.removed.get(&at) {
            Some(removal)
                if !pieces.iter().all(gone)
                    && (removal.done
                        || removal.by.iter().any(|by| batches.contains_key(&by.0))) =>
            {
                violation(
                    Invariant::Removed,
                    format!("the content of {at} is there again"),
                );
            }
            None if any => {
                violation(
                    Invariant::Removed,
                    format!("content of {at} is gone unasked"),
                );
            }
            _ => {}
        }
    }
}

/// Invariants 7 and 8: the roots of all prefixes that were signed or shown.
fn prefixes(records: &[Record], history: &History) {
    let signed = history
        .checkpoints
        .iter()
        .map(|(n, root)| (*n, root, Invariant::Checkpoints));
    let shown = history
        .records
        .iter()
        .map(|(n, root)| (*n, root, Invariant::Shown));
    let mut wanted: Vec<_> = signed.chain(shown).collect();
    wanted.sort_unstable_by_key(|(size, ..)| *size);
    let mut frontier = Frontier::default();
    for (size, root, invariant) in wanted {
        let from = frontier.size() as usize;
        let Some(more) = records.get(from..size as usize) else {
            let found = format!(
                "{size} records were signed or shown, and {} are there",
                records.len()
            );
            return violation(invariant, found);
        };
        let leaves: Vec<_> = more
            .iter()
            .map(|record| leaf(record.header_bytes()))
            .collect();
        frontier.extend(&leaves, |_| {});
        if frontier.root().to_string() != *root {
            let found = format!("the first {size} records are others than were signed or shown");
            return violation(invariant, found);
        }
    }
}

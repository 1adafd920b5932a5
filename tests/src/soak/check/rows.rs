//! The rows of read models: they are those of their checkpoint.

use std::collections::HashSet;

use annals::Annals;
use annals::event_log::memory::MemoryLog;
use annals::projections::Catalogue;
use annals_event_log::{
    Blob, Content, EventLog, Position, ReadError, ReadModels, Record, Row, Store,
};
use futures::executor::block_on;
use uuid::Uuid;

use super::violation;
use crate::soak::job::Check;
use crate::soak::projection::{self, TEXTS, WHOLE};
use crate::soak::said::{History, Invariant};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The models of a log without a catalogue.
pub(super) fn models(log: &dyn Store, records: &[Record]) {
    for error in [whole(log, records), texts(log, records)]
        .into_iter()
        .filter_map(Result::err)
    {
        violation(Invariant::Derived, format!("rows cannot be read: {error}"));
    }
}

fn checkpoint(log: &dyn ReadModels, model: &str, end: usize) -> Result<Position, ReadError> {
    let checkpoint = block_on(log.checkpoint(model))?.position;
    if checkpoint.0 > end as u64 {
        let found = format!("{model} is at {checkpoint}, and the log ends at {end}");
        violation(Invariant::Derived, found);
    }
    Ok(checkpoint)
}

fn whole(log: &dyn Store, records: &[Record]) -> Result<(), ReadError> {
    let checkpoint = checkpoint(log, WHOLE, records.len())?;
    let rows = projection::dump(log, WHOLE)?;
    let Some((_, value)) = rows.first() else {
        return Ok(());
    };
    let value = String::from_utf8_lossy(value).into_owned();
    let count = value
        .split_once(' ')
        .and_then(|(_, count)| count.parse().ok());
    let expected = projection::whole(checkpoint, count.unwrap_or(0));
    // A commit of fewer rows leaves those of an earlier one behind it.
    let of = |row: Option<&Row>, key: &[u8]| row.is_some_and(|(found, _)| found == key);
    let alike = (0..).zip(&expected).all(|(n, (key, value))| {
        of(rows.get(n), key) && rows.get(n).map(|(_, found)| found) == value.as_ref()
    });
    if !alike || expected.is_empty() {
        let found = format!("{WHOLE} is at {checkpoint}, and its first row says {value}");
        violation(Invariant::Derived, found);
    }
    Ok(())
}

fn texts(log: &dyn Store, records: &[Record]) -> Result<(), ReadError> {
    let checkpoint = checkpoint(log, TEXTS, records.len())?;
    let rows = projection::dump(log, TEXTS)?;
    let folded = records.iter().take_while(|r| r.position() <= checkpoint);
    let expected: Vec<Row> = folded.filter_map(projection::text_row).collect();
    if rows != expected {
        let surplus = rows.iter().find(|row| !expected.contains(row));
        let found = format!(
            "{TEXTS} at {checkpoint} has {} rows, {} follow from the records; {surplus:?} does not",
            rows.len(),
            expected.len()
        );
        violation(Invariant::Derived, found);
    }
    Ok(())
}

/// The catalogue's rows, and that every object that was shown is there.
pub(super) fn catalogue(annals: &Annals, records: &[Record], history: &History, how: Check) {
    let log = annals.log().as_ref();
    if let Err(error) = as_folded(log, records) {
        violation(Invariant::Derived, format!("the catalogue: {error}"));
    }
    let created = records
        .iter()
        .filter(|r| r.event_type() == "intent.submitted");
    let created: HashSet<Uuid> = created
        .filter_map(|r| r.stream_name().id().parse().ok())
        .collect();
    for id in &created {
        if let Err(error) = block_on(annals.index().row(*id)) {
            return violation(
                Invariant::Derived,
                format!("{id} is in the log, and: {error}"),
            );
        }
    }
    let gone = history.objects.iter().find(|id| !created.contains(*id));
    if let Some(id) = gone.filter(|_| !how.lied) {
        violation(
            Invariant::Shown,
            format!("the object {id} was shown, and is gone"),
        );
    }
}

/// The rows as they are stored, and as another log with the same records makes them.
fn as_folded(log: &dyn Store, records: &[Record]) -> Result<(), Failure> {
    let model = block_on(Catalogue::new().model(log))?;
    let checkpoint = block_on(log.checkpoint(&model))?.position;
    if checkpoint.0 > records.len() as u64 {
        let found = format!(
            "{model} is at {checkpoint}, and the log ends at {}",
            records.len()
        );
        violation(Invariant::Derived, found);
        return Ok(());
    }
    let copy = MemoryLog::new(log.log_id());
    let prefix = &records[..checkpoint.0 as usize];
    for part in prefix.chunks(1_000) {
        let content = part.iter().flat_map(Record::content);
        let mut blobs = Vec::new();
        for digest in content.filter_map(|piece| Content::blob(&piece)) {
            match block_on(log.blob(digest))? {
                Some(bytes) => blobs.push(Blob::new(bytes)),
                None => violation(Invariant::Whole, format!("the blob {digest} is missing")),
            }
        }
        block_on(copy.append_records(part.to_vec(), blobs))?;
    }
    let catalogue = Catalogue::new();
    block_on(catalogue.rebuild(&copy, &mut |_| {}))?;
    let made = block_on(catalogue.model(&copy))?;
    let (stored, expected) = (
        projection::dump(log, &model)?,
        projection::dump(&copy, &made)?,
    );
    if checkpoint.0 > 0 && stored != expected {
        let found = format!(
            "{model} at {checkpoint} has {} rows, and the records give {}",
            stored.len(),
            expected.len()
        );
        violation(Invariant::Derived, found);
    }
    Ok(())
}

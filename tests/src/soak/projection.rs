//! Two read models of the log without a catalogue: one is written whole at each commit,
//! the other is a fold of the records' texts, as a service has them.

use annals_event_log::{
    CommitError, Content, Position, Query, ReadError, ReadModels, Record, Row, Rows, Store,
};
use bytes::Bytes;
use futures::executor::block_on;

/// The model that is written whole.
pub const WHOLE: &str = "soak.whole";
/// The model of texts.
pub const TEXTS: &str = "soak.texts";

/// All rows of the model that is written whole, as of a checkpoint. Their number is in
/// every one of them.
pub fn whole(checkpoint: Position, rows: u32) -> Rows {
    let value = Bytes::from(format!("{checkpoint} {rows}"));
    let row = |n: u32| (Bytes::from(n.to_be_bytes().to_vec()), Some(value.clone()));
    (0..rows).map(row).collect()
}

/// All rows of a model.
///
/// # Errors
/// [`ReadError`].
pub fn dump(log: &dyn ReadModels, model: &str) -> Result<Vec<Row>, ReadError> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let after = rows.last().map(|(key, _)| key.clone());
        let page = block_on(log.scan(model, b"", after.as_deref(), 10_000))?;
        if page.is_empty() {
            return Ok(rows);
        }
        rows.extend(page);
    }
}

/// The text of a record, unless it has none or it was removed.
pub fn text(record: &Record) -> Option<Bytes> {
    match record.content().into_iter().next() {
        Some(Content::Inline { bytes, .. }) => Some(bytes),
        _ => None,
    }
}

/// The row of a record in the model of texts.
pub fn text_row(record: &Record) -> Option<Row> {
    let key = Bytes::from(record.position().0.to_be_bytes().to_vec());
    text(record).map(|text| (key, text))
}

/// Folds the next records into the model of texts, as every projection must: what was
/// read before the checkpoint moved is thrown away.
///
/// # Errors
/// [`CommitError`], but for a checkpoint or an epoch that moved.
pub fn fold(log: &dyn Store, slowly: bool) -> Result<(), CommitError> {
    let unreadable = |error: ReadError| CommitError::Unavailable {
        source: Box::new(error),
    };
    let checkpoint = block_on(log.checkpoint(TEXTS)).map_err(unreadable)?;
    let query = Query::all(checkpoint.position.next()).limit(500);
    let page = block_on(log.read(query)).map_err(unreadable)?;
    let Some(last) = page.records.last().map(Record::position) else {
        return Ok(());
    };
    let rows = page.records.iter().filter_map(text_row);
    let rows = rows.map(|(key, text)| (key, Some(text))).collect();
    if slowly {
        std::thread::sleep(std::time::Duration::from_micros(300));
    }
    match block_on(log.commit(TEXTS, checkpoint, rows, last)) {
        Err(CommitError::Checkpoint { .. } | CommitError::Epoch { .. }) => Ok(()),
        done => done,
    }
}

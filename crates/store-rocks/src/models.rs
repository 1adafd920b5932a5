//! The read models: rows and their checkpoint in one write.
//!
//! The write is not synced. It is in the write-ahead log behind the records that it was
//! folded from, so a power cut can take the newest commits back, but never one
//! without those behind it, and never rows without their checkpoint. What no later group has
//! synced is synced when the log is closed ([`crate::durability`]). Where the rows are many,
//! ingest.rs writes them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use annals_event_log::store_support::{behind, check_checkpoint, check_model_name, clamp_limit};
use annals_event_log::{CommitError, Epoch, ModelCheckpoint, Position, ReadError, Row, Rows};
use bytes::Bytes;
use rocksdb::{DBPinnableSlice, WriteBatch};

use crate::columns::Columns;
use crate::db::{Db, synced};
use crate::error::{OpenError, corrupt, unreadable};
use crate::ingest;
use crate::read::{Shown, View};
use crate::{keys, mutants};

/// What one commit does.
pub(crate) struct Commit {
    pub(crate) model: String,
    pub(crate) expected: ModelCheckpoint,
    pub(crate) rows: Rows,
    /// Up to where the rows are folded.
    pub(crate) position: Position,
}

/// Commits to all models take turns: each looks at its checkpoint and at the epoch and then
/// writes. A writer that moves the epoch takes the turn, too.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<()>);

impl Turns {
    /// Waits for the turn.
    pub(crate) fn take(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far a model has come, and the log's epoch.
pub(crate) fn checkpoint(view: &View<'_>, model: &str) -> Result<ModelCheckpoint, ReadError> {
    // The epoch first: if a redaction comes between the two reads, it is the older one.
    let epoch = epoch(view.db, &view.columns)?;
    let stored = stored_position(view, model)?;
    let position = match is_shown(view, stored) {
        true => stored,
        false => Position::START,
    };
    Ok(ModelCheckpoint { position, epoch })
}

/// How far a model of a writer's log has come, and the log's epoch, where memory shows both without the
/// disk. Every answer of a catalogue asks this, and to ask another thread would take longer than the answer.
pub(crate) fn checkpoint_from_memory(
    db: &Db,
    model: &str,
) -> Result<Option<ModelCheckpoint>, ReadError> {
    let columns = db.columns()?;
    // The epoch first, as in `checkpoint`.
    let Some(epoch) = db.get_from_memory(columns.meta, keys::META_EPOCH)? else {
        return Ok(None);
    };
    let epoch = epoch_of(epoch.as_deref())?;
    if check_model_name(model).is_err() {
        let position = Position::START;
        return Ok(Some(ModelCheckpoint { position, epoch }));
    }
    let position = db.get_from_memory(columns.models, &keys::model_checkpoint(model))?;
    let Some(position) = position else {
        return Ok(None);
    };
    let position = position_of(model, position.as_deref())?;
    Ok(Some(ModelCheckpoint { position, epoch }))
}

/// Whether memory shows without the disk that a model has none of these rows.
pub(crate) fn has_none_of(db: &Db, model: &str, keys: &[Bytes]) -> Result<bool, ReadError> {
    let columns = db.columns()?;
    let may_have = |key: &Bytes| db.may_have(columns.models, &keys::model_row(model, key));
    Ok(!keys.iter().any(may_have))
}

/// What content there is to fold. Older programs did not say it.
pub(crate) fn epoch(db: &Db, columns: &Columns<'_>) -> Result<Epoch, ReadError> {
    epoch_of(db.get(columns.meta, keys::META_EPOCH)?.as_deref())
}

fn epoch_of(value: Option<&[u8]>) -> Result<Epoch, ReadError> {
    let Some(value) = value else {
        return Ok(Epoch::NONE);
    };
    let malformed = || corrupt("the epoch of the log's content is malformed");
    keys::number(value).map(Epoch).ok_or_else(malformed)
}

/// Whether a model has rows that are to be seen: one without a valid name has none, and those
/// of one that was folded from more than is served are not shown.
fn has_rows(view: &View<'_>, model: &str) -> Result<bool, ReadError> {
    if check_model_name(model).is_err() {
        return Ok(false);
    }
    match view.rows {
        Shown::All => Ok(true),
        _ => Ok(is_shown(view, stored_position(view, model)?)),
    }
}

/// Whether the rows of a model that is folded up to this position are shown.
fn is_shown(view: &View<'_>, stored: Position) -> bool {
    match view.rows {
        Shown::All => true,
        Shown::UpToWatermark => stored <= view.watermark,
        Shown::None => false,
    }
}

/// The models whose rows are not shown, with the positions up to which they are folded.
pub(crate) fn hidden(view: &View<'_>) -> Result<Vec<(String, Position)>, ReadError> {
    let mut hidden = Vec::new();
    let mut iterator = view.db.iterate(view.columns.models, None);
    iterator.seek_to_first();
    while let Some(name) = iterator.key().and_then(keys::split_model) {
        let name = name.0.to_owned();
        let stored = stored_position(view, &name)?;
        if stored > Position::START && !is_shown(view, stored) {
            hidden.push((name.clone(), stored));
        }
        iterator.seek(keys::model_rows_end(&name));
    }
    view.db.check(&iterator)?;
    Ok(hidden)
}

fn stored_position(view: &View<'_>, model: &str) -> Result<Position, ReadError> {
    if check_model_name(model).is_err() {
        return Ok(Position::START);
    }
    let key = keys::model_checkpoint(model);
    let value = view.db.get(view.columns.models, &key)?;
    position_of(model, value.as_deref())
}

fn position_of(model: &str, value: Option<&[u8]>) -> Result<Position, ReadError> {
    let Some(value) = value else {
        return Ok(Position::START);
    };
    match keys::number(value) {
        Some(position) => Ok(Position(position)),
        None => Err(corrupt(format!("the checkpoint of {model} is malformed"))),
    }
}

/// Writes rows and checkpoint, or nothing.
pub(crate) fn commit(view: &View<'_>, turns: &Turns, commit: Commit) -> Result<(), CommitError> {
    check_model_name(&commit.model)?;
    let _turn = turns.take();
    let actual = checkpoint(view, &commit.model)?;
    let actual = match mutants::is(mutants::REDACT_BESIDE_COMMIT) {
        true => ModelCheckpoint {
            epoch: commit.expected.epoch,
            ..actual
        },
        false => actual,
    };
    check_checkpoint(&commit.model, commit.expected, actual)?;
    if commit.position > view.watermark {
        return Err(CommitError::BeyondWatermark {
            checkpoint: commit.position,
            watermark: view.watermark,
        });
    }
    match ingest::is_for(commit.expected.position, commit.rows.len()) {
        true => ingest::commit(view, &commit.model, commit.rows, commit.position),
        false => write(view, &commit),
    }
}

/// Whether the rows of read models were synced by the program that wrote them.
pub(crate) fn are_synced(db: &Db) -> Result<bool, ReadError> {
    let meta = db.columns()?.meta;
    Ok(db.get(meta, keys::META_ROWS_SYNCED)?.is_some())
}

/// Drops the rows of read models that an older program wrote: it did not sync them when it closed
/// the log, so that a power cut may have taken older ones and left newer ones with their checkpoint.
/// They are folded again from the log, once.
pub(crate) fn drop_unsynced(db: &Db) -> Result<(), OpenError> {
    let path = db.path.as_path();
    let columns = db.columns().map_err(|error| unreadable(path, error))?;
    if are_synced(db).map_err(|error| unreadable(path, error))? {
        return Ok(());
    }
    let mut write = WriteBatch::default();
    let (from, to) = ([].as_slice(), keys::BEYOND_MODELS.as_slice());
    write.delete_range_cf(columns.models, from, to);
    write.put_cf(columns.meta, keys::META_ROWS_SYNCED, keys::ROWS_SYNCED);
    let written = db.rocks.write_opt(write, &synced(true));
    written.map_err(|error| OpenError::rocks(path, error))
}

fn write(view: &View<'_>, commit: &Commit) -> Result<(), CommitError> {
    let Commit {
        model,
        rows,
        position,
        ..
    } = commit;
    let mut write = WriteBatch::default();
    // One key's room serves them all.
    let mut full = keys::model_row(model, &[]);
    let before = full.len();
    for (key, value) in rows {
        full.truncate(before);
        full.extend_from_slice(key);
        match value {
            Some(value) => write.put_cf(view.columns.models, &full, value),
            None => write.delete_cf(view.columns.models, &full),
        }
    }
    write.put_cf(
        view.columns.models,
        keys::model_checkpoint(model),
        position.0.to_be_bytes(),
    );
    let written = view.db.rocks.write(write);
    written.map_err(|error| view.db.write_failure(&error))?;
    view.db.unsynced();
    Ok(())
}

/// One row.
pub(crate) fn get(view: &View<'_>, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
    if !has_rows(view, model)? {
        return Ok(None);
    }
    let value = view
        .db
        .get(view.columns.models, &keys::model_row(model, key))?;
    Ok(value.map(|value| Bytes::copy_from_slice(&value)))
}

/// Rows in the order of their keys.
pub(crate) fn scan(
    view: &View<'_>,
    model: &str,
    prefix: &[u8],
    after: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<Row>, ReadError> {
    if !has_rows(view, model)? {
        return Ok(Vec::new());
    }
    let limit = clamp_limit(limit);
    let rows_begin = keys::model_row(model, &[]);
    let bounds = (rows_begin.clone(), keys::model_rows_end(model));
    let mut iterator = view.db.iterate(view.columns.models, Some(bounds));
    match after {
        Some(after) if after >= prefix => {
            let mut behind = keys::model_row(model, after);
            behind.push(0);
            iterator.seek(behind);
        }
        _ => iterator.seek(keys::model_row(model, prefix)),
    }
    let mut rows = Vec::new();
    while let Some((key, value)) = iterator.item() {
        let key = key.get(rows_begin.len()..).unwrap_or_default();
        if !key.starts_with(prefix) || rows.len() == limit {
            return Ok(rows);
        }
        rows.push((Bytes::copy_from_slice(key), Bytes::copy_from_slice(value)));
        iterator.next();
    }
    view.db.check(&iterator)?;
    Ok(rows)
}

/// Several rows, in the order of their keys as given.
pub(crate) fn get_many(
    view: &View<'_>,
    model: &str,
    keys: &[Bytes],
) -> Result<Vec<Option<Bytes>>, ReadError> {
    if !has_rows(view, model)? {
        return Ok(vec![None; keys.len()]);
    }
    let keys: Vec<Vec<u8>> = keys.iter().map(|key| keys::model_row(model, key)).collect();
    let values = view
        .db
        .rocks
        .batched_multi_get_cf(view.columns.models, &keys, false);
    let copy = |value: DBPinnableSlice<'_>| Bytes::copy_from_slice(&value);
    values
        .into_iter()
        .map(|value| match value {
            Ok(value) => Ok(value.map(copy)),
            Err(error) => Err(view.db.read_error(&error)),
        })
        .collect()
}

/// Rows from the last key to the first.
pub(crate) fn scan_back(
    view: &View<'_>,
    model: &str,
    prefix: &[u8],
    before: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<Row>, ReadError> {
    if !has_rows(view, model)? {
        return Ok(Vec::new());
    }
    let limit = clamp_limit(limit);
    let rows_begin = keys::model_row(model, &[]);
    let from = keys::model_row(model, prefix);
    let beyond = behind(&from).unwrap_or_else(|| keys::model_rows_end(model));
    let to = match before {
        Some(before) => keys::model_row(model, before).min(beyond),
        None => beyond,
    };
    if to <= from {
        return Ok(Vec::new());
    }
    let mut iterator = view.db.iterate(view.columns.models, Some((from, to)));
    iterator.seek_to_last();
    let mut rows = Vec::new();
    while let Some((key, value)) = iterator.item() {
        let key = key.get(rows_begin.len()..).unwrap_or_default();
        rows.push((Bytes::copy_from_slice(key), Bytes::copy_from_slice(value)));
        if rows.len() == limit {
            return Ok(rows);
        }
        iterator.prev();
    }
    view.db.check(&iterator)?;
    Ok(rows)
}

/// Removes a model with everything of it.
pub(crate) fn drop_model(view: &View<'_>, turns: &Turns, model: &str) -> Result<(), CommitError> {
    check_model_name(model)?;
    let _turn = turns.take();
    let (from, to) = keys::bounds(model);
    if is_nothing_between(view, &from, &to)? {
        return Ok(());
    }
    let failure = |error| view.db.write_failure(&error);
    let mut write = WriteBatch::default();
    write.delete_range_cf(view.columns.models, &from, &to);
    let options = synced(true);
    view.db.rocks.write_opt(write, &options).map_err(failure)?;
    // Whole tables of it need not be read once more to be rid of them. What
    // they hid is gone too: the deletion is newer, and on the disk.
    let files = view
        .db
        .rocks
        .delete_file_in_range_cf(view.columns.models, &from, &to);
    Ok(files.map_err(failure)?)
}

fn is_nothing_between(view: &View<'_>, from: &[u8], to: &[u8]) -> Result<bool, ReadError> {
    let bounds = (from.to_vec(), to.to_vec());
    let mut iterator = view.db.iterate(view.columns.models, Some(bounds));
    iterator.seek_to_first();
    if iterator.valid() {
        return Ok(false);
    }
    view.db.check(&iterator)?;
    Ok(true)
}

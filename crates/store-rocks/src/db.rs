//! One open RocksDB and what must live exactly as long as it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

use annals_event_log::{NamedRemovals, Position, ReadError, Record};
use annals_files::Scratch;
use bytes::Bytes;
use rocksdb::{
    ColumnFamily, DB, DBPinnableSlice, DBRawIterator, FlushOptions, Options as DbOptions,
    ReadOptions, ReadTier, WriteOptions,
};

use crate::columns::{self, Columns};
use crate::durability::Durability;
use crate::error::{StoreFailure, corrupt, is_blob_file_missing};
use crate::folder::{Folder, files, named};
use crate::latch::OnDrop;
use crate::pace::Pace;
use crate::{blob_files, chunk, keys, small_tables, watermark_file};

/// An open database. A writer's is made durable when it is dropped. Then its fields are
/// dropped in this order: RocksDB is closed first, then the lock is given back, and at last
/// the signal is given.
pub(crate) struct Db {
    pub(crate) rocks: DB,
    /// A writer's only.
    pub(crate) durability: Option<Durability>,
    /// Holds RocksDB's statistics.
    pub(crate) options: DbOptions,
    pub(crate) path: PathBuf,
    /// The directory that RocksDB works in.
    pub(crate) folder: Arc<Folder>,
    /// [`Options::redaction_step_bytes`](crate::Options::redaction_step_bytes).
    pub(crate) redaction_step_bytes: usize,
    /// [`Options::named_removals`](crate::Options::named_removals).
    pub(crate) named_removals: Option<NamedRemovals>,
    /// How a reader's keeps up with the writer.
    pub(crate) pace: Pace,
    /// Where a reader's RocksDB keeps its own files.
    pub(crate) _scratch: Option<Scratch>,
    /// The writer's lock.
    pub(crate) _lock: Option<File>,
    /// Shared with the database that takes this one's place, if one does.
    pub(crate) released: Arc<OnDrop>,
}

impl Drop for Db {
    fn drop(&mut self) {
        if let Some(durability) = &self.durability {
            durability.close(&self.rocks, &self.folder.held());
        }
    }
}

impl Db {
    /// RocksDB's error as the source of an `Unavailable`, where a write has failed: what is
    /// on the disk is unknown from now on.
    pub(crate) fn write_failure(&self, error: &rocksdb::Error) -> StoreFailure {
        self.failed();
        self.failure(error)
    }

    /// Says that a write has failed: what is on the disk is unknown from now on.
    pub(crate) fn failed(&self) {
        if let Some(durability) = &self.durability {
            durability.failed();
        }
    }

    /// Has readers in other processes open the log again, before they answer anything: they may have in memory
    /// what was removed.
    pub(crate) fn renew_readers(&self) -> Result<(), StoreFailure> {
        let Some(durability) = &self.durability else {
            return Ok(());
        };
        let counted = durability.file().count_removal();
        counted.map_err(|error| StoreFailure::io(&self.path.join(watermark_file::NAME), &error))
    }

    /// Refuses where the directory is not where it was.
    pub(crate) fn check_place(&self) -> Result<(), StoreFailure> {
        if self.folder.is_in_place() {
            return Ok(());
        }
        self.failed();
        let path = Arc::from(self.path.as_path());
        Err(StoreFailure::Moved { path })
    }

    /// Says that something was written without a sync.
    pub(crate) fn unsynced(&self) {
        if let Some(durability) = &self.durability {
            durability.unsynced();
        }
    }

    /// The column families' handles.
    pub(crate) fn columns(&self) -> Result<Columns<'_>, ReadError> {
        Columns::of(&self.rocks).map_err(|name| corrupt(format!("column family {name} is missing")))
    }

    /// RocksDB's error as a port reports it.
    pub(crate) fn read_error(&self, error: &rocksdb::Error) -> ReadError {
        match error.kind() {
            rocksdb::ErrorKind::Corruption => corrupt(blob_files::with_name(
                &self.folder.held(),
                named(&self.path, error.as_ref()),
            )),
            // They are opened when a value is read.
            _ if is_blob_file_missing(error.as_ref()) => corrupt(named(&self.path, error.as_ref())),
            _ => self.failure(error).into(),
        }
    }

    /// RocksDB's error as the source of an `Unavailable`.
    pub(crate) fn failure(&self, error: &rocksdb::Error) -> StoreFailure {
        StoreFailure::rocks(&self.path, error)
    }

    /// One value, without copying it.
    pub(crate) fn get(
        &self,
        column: &ColumnFamily,
        key: &[u8],
    ) -> Result<Option<DBPinnableSlice<'_>>, ReadError> {
        self.rocks
            .get_pinned_cf(column, key)
            .map_err(|error| self.read_error(&error))
    }

    /// One value, as far as memory shows without reading from the disk; `None` where the disk would be needed.
    pub(crate) fn get_from_memory(
        &self,
        column: &ColumnFamily,
        key: &[u8],
    ) -> Result<Option<Option<DBPinnableSlice<'_>>>, ReadError> {
        let mut options = ReadOptions::default();
        options.set_read_tier(ReadTier::BlockCache);
        match self.rocks.get_pinned_cf_opt(column, key, &options) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == rocksdb::ErrorKind::Incomplete => Ok(None),
            Err(error) => Err(self.read_error(&error)),
        }
    }

    /// Whether there may be a value: as far as memory shows without reading from the disk.
    pub(crate) fn may_have(&self, column: &ColumnFamily, key: &[u8]) -> bool {
        self.rocks.key_may_exist_cf(column, key)
    }

    /// Several values by ascending keys, without copying them. It costs less than one after another.
    pub(crate) fn get_sorted<K: AsRef<[u8]>>(
        &self,
        column: &ColumnFamily,
        keys: &[K],
    ) -> impl Iterator<Item = Result<Option<DBPinnableSlice<'_>>, ReadError>> {
        let found = self.rocks.batched_multi_get_cf(column, keys, true);
        let found = found.into_iter();
        found.map(|value| value.map_err(|error| self.read_error(&error)))
    }

    /// An iterator over the keys within `bounds`. Ask [`Db::check`] when it ends.
    pub(crate) fn iterate(
        &self,
        column: &ColumnFamily,
        bounds: Option<(Vec<u8>, Vec<u8>)>,
    ) -> DBRawIterator<'_> {
        let mut options = ReadOptions::default();
        if let Some((from, to)) = bounds {
            options.set_iterate_lower_bound(from);
            options.set_iterate_upper_bound(to);
        }
        self.rocks.raw_iterator_cf_opt(column, options)
    }

    /// An iterator over the keys within `bounds` as far as memory has them: where the disk would be needed it ends, and its
    /// status says so.
    pub(crate) fn iterate_in_memory(
        &self,
        column: &ColumnFamily,
        (from, to): (Vec<u8>, Vec<u8>),
    ) -> DBRawIterator<'_> {
        let mut options = ReadOptions::default();
        options.set_read_tier(ReadTier::BlockCache);
        options.set_iterate_lower_bound(from);
        options.set_iterate_upper_bound(to);
        self.rocks.raw_iterator_cf_opt(column, options)
    }

    /// An iterator that does not push others' blocks out of the cache.
    pub(crate) fn iterate_once(&self, column: &ColumnFamily) -> DBRawIterator<'_> {
        let mut options = ReadOptions::default();
        options.fill_cache(false);
        options.set_readahead_size(2 * 1024 * 1024);
        self.rocks.raw_iterator_cf_opt(column, options)
    }

    /// The same of what is less than all: it reads no further ahead than a small part of that.
    pub(crate) fn iterate_part(&self, column: &ColumnFamily) -> DBRawIterator<'_> {
        let mut options = ReadOptions::default();
        options.fill_cache(false);
        options.set_readahead_size(256 * 1024);
        self.rocks.raw_iterator_cf_opt(column, options)
    }

    /// Whether an iterator came to the end, and not to an error that looks like it.
    pub(crate) fn check(&self, iterator: &DBRawIterator<'_>) -> Result<(), ReadError> {
        iterator.status().map_err(|error| self.read_error(&error))
    }

    /// The record at a position; `None` where it is not there.
    pub(crate) fn record_at(&self, position: Position) -> Result<Option<Record>, ReadError> {
        let mut iterator = self.iterate(self.columns()?.records, None);
        iterator.seek_for_prev(keys::record(position));
        let Some((key, value)) = iterator.item() else {
            self.check(&iterator)?;
            return Ok(None);
        };
        let first = keys::number(key).ok_or_else(|| corrupt("a chunk's key is not a position"))?;
        for (at, place) in (first..).zip(chunk::places(value)?) {
            let place = place?;
            if at == position.0 {
                let record = place.copied(value)?;
                chunk::check_position(&record, at)?;
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// The record before a position; `None` where it is not there.
    pub(crate) fn record_before(&self, position: Position) -> Result<Option<Record>, ReadError> {
        match position.0.checked_sub(1) {
            Some(before) => self.record_at(Position(before)),
            None => Ok(None),
        }
    }

    /// The last record; `None` in an empty log.
    pub(crate) fn last_record(&self) -> Result<Option<Record>, ReadError> {
        let mut iterator = self.iterate(self.columns()?.records, None);
        iterator.seek_to_last();
        let Some((key, value)) = iterator.item() else {
            self.check(&iterator)?;
            return Ok(None);
        };
        let first = keys::number(key).ok_or_else(|| corrupt("a chunk's key is not a position"))?;
        let mut last = None;
        let mut count = 0;
        for place in chunk::places(value)? {
            last = Some(place?);
            count += 1;
        }
        let Some(place) = last else {
            return Err(corrupt(format!("the chunk at {first} is empty")));
        };
        let record = place.copied(value)?;
        let expected = first.saturating_add(count).saturating_sub(1);
        chunk::check_position(&record, expected)?;
        Ok(Some(record))
    }

    /// The last record's position; 0 in an empty log.
    pub(crate) fn last_position(&self) -> Result<Position, ReadError> {
        Ok(self
            .last_record()?
            .map_or(Position::START, |record| record.position()))
    }

    /// Reads the records behind a position, also those that are not published, up to one that cannot be read.
    pub(crate) fn each_behind(
        &self,
        after: Position,
        mut each: impl FnMut(&Record),
    ) -> Result<(), ReadError> {
        let mut iterator = self.iterate(self.columns()?.records, None);
        iterator.seek_for_prev(keys::record(after.next()));
        while let Some((_, value)) = iterator.item() {
            let Ok(records) = chunk::records(&Bytes::copy_from_slice(value)) else {
                break;
            };
            let behind = records.iter().filter(|it| it.position() > after);
            behind.for_each(&mut each);
            iterator.next();
        }
        self.check(&iterator)
    }

    /// Bytes that are in memory and not yet in tables.
    pub(crate) fn unflushed_bytes(&self) -> u64 {
        let of = |name: &str| {
            let column = self.rocks.cf_handle(name)?;
            let property = "rocksdb.cur-size-active-mem-table";
            self.rocks
                .property_int_value_cf(column, property)
                .ok()
                .flatten()
        };
        columns::ALL.iter().filter_map(|name| of(name)).sum()
    }

    /// Write-ahead logs in the directory, as far as it can be read.
    pub(crate) fn wal_files(&self) -> usize {
        files(&self.folder.held(), "log").map_or(0, |found| found.len())
    }

    /// Bytes of the write-ahead logs, which a process that opens the log reads; as far as that can be known.
    pub(crate) fn wal_bytes(&self) -> u64 {
        let folder = self.folder.held();
        let length = |name: &String| fs::metadata(folder.join(name)).map_or(0, |found| found.len());
        files(&folder, "log").map_or(0, |found| found.iter().map(length).sum())
    }

    /// Begins to write what is in memory to tables, and does not wait for it.
    pub(crate) fn begin_flush(&self) -> Result<(), rocksdb::Error> {
        let columns = columns::ALL.iter();
        let columns: Vec<&ColumnFamily> = columns
            .filter_map(|name| self.rocks.cf_handle(name))
            .collect();
        let mut options = FlushOptions::default();
        options.set_wait(false);
        self.rocks.flush_cfs_opt(&columns, &options)
    }

    /// Merges small tables, where there are many.
    pub(crate) fn merge_small_tables(&self) {
        small_tables::merge(self);
    }

    /// Writes what is in memory to tables, so that the next open need not
    /// replay it. All of it is in the synced WAL already.
    pub(crate) fn flush(&self) -> Result<(), rocksdb::Error> {
        columns::ALL
            .iter()
            .filter_map(|name| self.rocks.cf_handle(name))
            .try_for_each(|column| self.rocks.flush_cf(column))
    }
}

/// How a write is made durable: synced when it is made, or with a later one.
pub(crate) fn synced(sync: bool) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(sync);
    options
}

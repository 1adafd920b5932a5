//! Merging small tables and blob files, so that a log of many short-lived writers has few files.
//!
//! RocksDB merges tables in the background, which a process that appends once does not live to see, and moves tables
//! whose keys do not overlap to the last level as they are, where nothing ever merges them. So a writer that wrote
//! tables at its end looks at their number. Of a column family with too many small ones it merges the keys between the
//! first and the last of these. What they are merged into grows until it is small no longer, and stays then.

use std::fs;

use rocksdb::{BottommostLevelCompaction, CompactOptions, LiveFile};

use crate::columns;
use crate::db::Db;
use crate::error::StoreFailure;
use crate::folder::files;
use crate::purge;

const MIB: u64 = 1024 * 1024;
/// A table or a blob file with fewer bytes is small.
const SMALL: u64 = 16 * MIB;
/// Small tables that a column family keeps. RocksDB merges as many by itself, where a writer stays.
const TABLES: usize = 3;
/// The same of a large column family, of which nearly all may have to be rewritten.
const TABLES_OF_LARGE: usize = 7;
/// A column family with more bytes is large.
const LARGE: u64 = 64 * MIB;
/// Small blob files that a log keeps: to merge them, all of its blobs are rewritten.
const BLOB_FILES: usize = 16;
/// The same of a log with more than [`LARGE`] bytes of blobs.
const BLOB_FILES_OF_LARGE: usize = 96;

/// Keys from the first to the last, both included.
type Keys<'a> = (&'a [u8], &'a [u8]);

/// Merges the small tables and blob files of a log that has too many of them. Nothing depends on it: where it fails,
/// the log is as it was.
pub(crate) fn merge(db: &Db) {
    if let Err(error) = merge_tables(db) {
        tracing::warn!(%error, "small tables were not merged");
        return;
    }
    match has_many_blob_files(db) {
        Ok(false) => {}
        Ok(true) => {
            if let Err(error) = purge::shrink_blobs(db) {
                tracing::warn!(%error, "small blob files were not merged");
            }
        }
        Err(error) => tracing::warn!(%error, "blob files were not counted"),
    }
}

fn merge_tables(db: &Db) -> Result<(), StoreFailure> {
    let live = db.rocks.live_files();
    let live = live.map_err(|error| db.failure(&error))?;
    for name in columns::ALL {
        let tables: Vec<&LiveFile> = live
            .iter()
            .filter(|table| table.column_family_name == name)
            .collect();
        let (Some((from, to)), Some(column)) = (crowded(&tables), db.rocks.cf_handle(name)) else {
            continue;
        };
        let mut options = CompactOptions::default();
        // Also in the last level, but no table twice.
        options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        options.set_exclusive_manual_compaction(false);
        db.rocks
            .compact_range_cf_opt(column, Some(from), Some(to), &options);
        purge::check_background(db)?;
    }
    Ok(())
}

/// The keys of a column family's small tables, if there are too many.
fn crowded<'a>(tables: &[&'a LiveFile]) -> Option<Keys<'a>> {
    let bytes: u64 = tables.iter().map(|table| table.size as u64).sum();
    let small = tables.iter().filter(|table| (table.size as u64) < SMALL);
    let most = match bytes > LARGE {
        true => TABLES_OF_LARGE,
        false => TABLES,
    };
    if small.clone().count() <= most {
        return None;
    }
    let from = small.clone().filter_map(|table| table.start_key.as_deref());
    let to = small.filter_map(|table| table.end_key.as_deref());
    from.min().zip(to.max())
}

fn has_many_blob_files(db: &Db) -> std::io::Result<bool> {
    let folder = db.folder.held();
    let (mut small, mut bytes) = (0, 0);
    for name in files(&folder, "blob")? {
        let length = fs::metadata(folder.join(name)).map_or(0, |found| found.len());
        small += usize::from(length < SMALL);
        bytes += length;
    }
    let most = match bytes > LARGE {
        true => BLOB_FILES_OF_LARGE,
        false => BLOB_FILES,
    };
    Ok(small > most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(from: u8, to: u8, bytes: u64) -> LiveFile {
        LiveFile {
            column_family_name: columns::RECORDS.into(),
            name: String::new(),
            size: usize::try_from(bytes).unwrap_or(usize::MAX),
            level: 6,
            start_key: Some(vec![from]),
            end_key: Some(vec![to]),
            num_entries: 1,
            num_deletions: 0,
        }
    }

    fn keys(tables: &[LiveFile]) -> Option<(u8, u8)> {
        let tables: Vec<_> = tables.iter().collect();
        crowded(&tables).map(|(from, to)| (from[0], to[0]))
    }

    #[test]
    fn small_tables_are_merged_when_there_are_too_many_and_large_ones_stay() {
        let large = table(0, 9, SMALL);
        let mut tables = vec![large.clone()];
        for at in 10..13 {
            tables.push(table(at, at, 1_000));
        }
        assert_eq!(keys(&tables), None);
        tables.push(table(13, 13, 1_000));
        assert_eq!(keys(&tables), Some((10, 13)));
        tables.push(table(14, 20, LARGE));
        assert_eq!(keys(&tables), None, "much would be rewritten");
        for at in 21..25 {
            tables.push(table(at, at, 1_000));
        }
        assert_eq!(keys(&tables), Some((10, 24)));
        assert_eq!(keys(&[]), None);
    }
}

//! The column families: their names, their options, their handles.

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB,
    DBCompressionType, DBRecoveryMode, InfoLogger, LogLevel, Options as DbOptions,
};

use crate::chunk;
use crate::options::Options;

const MIB: usize = 1024 * 1024;
/// Levels of tables, as RocksDB has them unless told otherwise.
const LEVELS: usize = 7;
/// Values from this size on went to blob files, where a log still writes them.
const BLOB_FILE_VALUE: u64 = 4 * 1024;

/// Bytes of a table's block.
const BLOCK: usize = 16 * 1024;
/// Bits of a filter for each key: one look-up in a hundred is for nothing.
const BLOOM_BITS: f64 = 10.0;

/// Tables of rows in the first level before they are merged. Those of a bulk
/// commit are large and have filters, so that a few of them cost reads little.
const MODELS_TABLES: i32 = 12;

/// The same of the tree, where every key that is looked up is there.
const TREE_TABLES: i32 = 16;

/// A table of rows is merged with the next level soon where so many of so many keys that follow each other say
/// that something is gone. Objects that come and go leave the lists of those that are under way full of such
/// keys, and a scan for the newest ones steps over each.
const GONE: usize = 500;
const GONE_OF: usize = 1_000;

/// RocksDB's own column family, which holds nothing.
pub(crate) const DEFAULT: &str = "default";
/// Chunks of records, by position.
pub(crate) const RECORDS: &str = "records";
/// Where the records of each stream are.
pub(crate) const STREAMS: &str = "streams";
/// Which batch ids were used.
pub(crate) const BATCHES: &str = "batches";
/// Where the records of each event type are.
pub(crate) const TYPES: &str = "types";
/// Content by digest.
pub(crate) const BLOBS: &str = "blobs";
/// Hashes of the Merkle tree.
pub(crate) const TREE: &str = "tree";
/// Rows and checkpoints of the read models.
pub(crate) const MODELS: &str = "models";
/// Format, id, counts.
pub(crate) const META: &str = "meta";

/// All of them. A log has exactly these.
pub(crate) const ALL: [&str; 9] = [
    DEFAULT, RECORDS, STREAMS, BATCHES, TYPES, BLOBS, TREE, MODELS, META,
];

/// Who opens the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Makes a new one.
    Creator,
    /// Writes to an existing one.
    Writer,
    /// Follows another process's.
    Reader,
    /// Takes what comes before the first damage of the write-ahead log, and drops the
    /// rest.
    Truncator,
    /// Takes what is whole of the write-ahead log, and drops what is damaged.
    Salvager,
}

/// The options of the whole database.
pub(crate) fn database_options(options: &Options, role: Role) -> DbOptions {
    // Or every short-lived writer would leave a table in each column family, and
    // tables that do not overlap are never merged. This option has no setter; a
    // test of the readers counts the tables. Truncating needs just that: the
    // damaged write-ahead log goes once all before the damage is in tables.
    let keeps_wal = match role {
        Role::Truncator | Role::Salvager => "avoid_flush_during_recovery=false",
        Role::Creator | Role::Writer | Role::Reader => "avoid_flush_during_recovery=true",
    };
    // Nor has this one. After some errors of the disk RocksDB would go on by itself, where the
    // log says that it must be opened again.
    let keeps_failing = "max_bgerror_resume_count=0";
    // Nor this one. RocksDB would set room aside for files before it writes them, 70 MiB for a write-ahead log alone: a
    // log of one event could not be opened on a small disk.
    let takes_room = "allow_fallocate=false";
    let mut db = DbOptions::default()
        .get_options_from_string(format!("{keeps_wal};{keeps_failing};{takes_room}"))
        .unwrap_or_default();
    db.create_if_missing(role == Role::Creator);
    db.create_missing_column_families(role == Role::Creator);
    db.set_paranoid_checks(true);
    // The default recovery drops, in silence, everything behind a corruption.
    // This one forgives a torn tail and refuses anything else.
    db.set_wal_recovery_mode(match role {
        Role::Truncator => DBRecoveryMode::PointInTime,
        Role::Salvager => DBRecoveryMode::SkipAnyCorruptedRecord,
        _ => DBRecoveryMode::TolerateCorruptedTailRecords,
    });
    // Where a full disk kept a write-ahead log from being synced, RocksDB writes what it has in
    // memory to tables as soon as there is room, one column family after the other, and gives the
    // log up. A power cut between two of them would leave counts without their records.
    db.set_atomic_flush(true);
    db.set_recycle_log_file_num(0);
    db.set_max_total_wal_size(256 * MIB as u64);
    // A reader must hold its files open, as the writer may delete them.
    db.set_max_open_files(match role {
        Role::Reader => -1,
        Role::Creator | Role::Writer | Role::Truncator | Role::Salvager => {
            i32::from(options.max_open_files)
        }
    });
    // For each column family RocksDB starts so many threads less one to open its tables, also where
    // there are none, and once more for each flush that its list of files tells of: hundreds of
    // threads to open a log.
    db.set_max_file_opening_threads(1);
    if role == Role::Reader {
        // These numbers are for choosing what to compact, which no reader does.
        db.set_skip_stats_update_on_db_open(true);
    }
    // There is one writer. Alone it may remember where it inserted last, which
    // makes ascending keys cheap.
    db.set_allow_concurrent_memtable_write(false);
    db.set_max_background_jobs(2);
    db.set_bytes_per_sync(MIB as u64);
    db.set_stats_dump_period_sec(0);
    db.set_stats_persist_period_sec(0);
    db.set_keep_log_file_num(2);
    db.set_log_level(LogLevel::Warn);
    // RocksDB's words go where the program's own go. This also keeps an open
    // that is refused from renaming its log files in another process's directory.
    db.set_info_logger(InfoLogger::new_callback_logger(LogLevel::Warn, forward));
    if options.statistics {
        db.enable_statistics();
    }
    db
}

fn forward(level: LogLevel, message: &str) {
    let message = message.trim_end();
    match level {
        LogLevel::Error | LogLevel::Fatal => tracing::error!(target: "rocksdb", "{message}"),
        LogLevel::Warn => tracing::warn!(target: "rocksdb", "{message}"),
        LogLevel::Debug | LogLevel::Info | LogLevel::Header => {
            tracing::debug!(target: "rocksdb", "{message}");
        }
    }
}

/// Every column family with its options; they share one block cache.
pub(crate) fn descriptors(options: &Options, role: Role) -> Vec<ColumnFamilyDescriptor> {
    let cache = Cache::new_lru_cache(options.cache_bytes);
    let descriptor = |name: &&str| {
        let mut family = family(name, &cache);
        if role == Role::Reader {
            // Megabytes that each opening would fill with zeros, for the few rows of a write-ahead log.
            family.set_memtable_prefix_bloom_ratio(0.0);
        }
        if *name == BLOBS && options.blob_files {
            write_blob_files(&mut family);
        }
        if !options.compression {
            leave_as_it_is(&mut family);
        }
        ColumnFamilyDescriptor::new(*name, family)
    };
    ALL.iter().map(descriptor).collect()
}

/// As older programs wrote content. Once no value is in a blob file any more, a secondary takes no state at all of a
/// list of files that names one which is gone: RocksDB compares its number with that of the oldest one in use, 0.
fn write_blob_files(family: &mut DbOptions) {
    family.set_enable_blob_files(true);
    family.set_blob_file_size(1024 * MIB as u64);
    family.set_min_blob_size(BLOB_FILE_VALUE);
    family.set_blob_compression_type(DBCompressionType::Zstd);
}

fn leave_as_it_is(family: &mut DbOptions) {
    family.set_compression_type(DBCompressionType::None);
    family.set_bottommost_compression_type(DBCompressionType::None);
    family.set_compression_per_level(&[DBCompressionType::None; LEVELS]);
    family.set_blob_compression_type(DBCompressionType::None);
}

fn family(name: &str, cache: &Cache) -> DbOptions {
    let mut family = DbOptions::default();
    family.set_compression_type(DBCompressionType::Lz4);
    family.set_bottommost_compression_type(DBCompressionType::Zstd);
    // A reader holds all tables open. With tables of 64 MiB, 256 MiB and 1 GiB by level, a column family of 25 GB has
    // about 40 of them.
    family.set_target_file_size_multiplier(4);
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    // Indexes and filters count against the cache, so that its size is the bound.
    table.set_cache_index_and_filter_blocks(true);
    table.set_pin_l0_filter_and_index_blocks_in_cache(true);
    table.set_block_size(BLOCK);
    match name {
        RECORDS => {
            family.set_write_buffer_size(64 * MIB);
            // The first level is soon merged into the second. To compress it
            // would take the processor from those who are appending.
            let mut levels = [DBCompressionType::Lz4; LEVELS];
            levels[0] = DBCompressionType::None;
            family.set_compression_per_level(&levels);
            // A block for each chunk: who wants one reads no other one.
            table.set_block_size(chunk::TARGET_BYTES);
        }
        STREAMS => family.set_write_buffer_size(16 * MIB),
        TREE => {
            family.set_write_buffer_size(16 * MIB);
            // Hashes cannot be made smaller, but where both levels are compressed alike, RocksDB moves tables
            // instead of merging them. All column families are flushed together, so that those of the tree
            // are small: there would be one for each flush, and to open a log is to open all of them.
            let mut levels = [DBCompressionType::Lz4; LEVELS];
            levels[0] = DBCompressionType::None;
            family.set_compression_per_level(&levels);
            family.set_bottommost_compression_type(DBCompressionType::Lz4);
            family.set_level_zero_file_num_compaction_trigger(TREE_TABLES);
        }
        BATCHES => {
            family.set_write_buffer_size(16 * MIB);
            // Nearly every look-up is for a new id: let it end in a filter.
            filter(&mut table);
            family.set_memtable_whole_key_filtering(true);
            family.set_memtable_prefix_bloom_ratio(0.05);
        }
        BLOBS => {
            family.set_write_buffer_size(32 * MIB);
            filter(&mut table);
        }
        MODELS => {
            // Rows that change often are merged in memory first.
            family.set_write_buffer_size(64 * MIB);
            // As for the records: it is soon merged into the second level.
            let mut levels = [DBCompressionType::Lz4; LEVELS];
            levels[0] = DBCompressionType::None;
            family.set_compression_per_level(&levels);
            // Rows are overwritten often and read often, so what is cheap to
            // read and write goes before what is small.
            family.set_bottommost_compression_type(DBCompressionType::Lz4);
            family.set_level_zero_file_num_compaction_trigger(MODELS_TABLES);
            family.add_compact_on_deletion_collector_factory(GONE_OF, GONE, 0.0);
            // A projection asks for the row of every new object, to see that
            // there is none yet: let that end in a filter.
            filter(&mut table);
            family.set_memtable_whole_key_filtering(true);
            // It is there as soon as the first row is, and counts among what a close would write to tables.
            family.set_memtable_prefix_bloom_ratio(0.025);
        }
        // Counts and the tree's edge are written with each group, under the same keys: in memory they are all
        // kept until they are flushed, and everything else with them.
        META => family.set_write_buffer_size(32 * MIB),
        _ => family.set_write_buffer_size(8 * MIB),
    }
    family.set_block_based_table_factory(&table);
    family
}

/// The options of a table of rows that is written next to the database and then
/// taken over by it.
pub(crate) fn table_of_rows() -> DbOptions {
    let mut family = DbOptions::default();
    family.set_compression_type(DBCompressionType::Lz4);
    let mut table = BlockBasedOptions::default();
    table.disable_cache();
    table.set_block_size(BLOCK);
    filter(&mut table);
    family.set_block_based_table_factory(&table);
    family
}

/// Gives a table filters, in parts as large as other blocks. A table of a million keys has more than a
/// megabyte of them, and look-ups of random keys go to all tables: where each filter is one block, and the cache
/// holds fewer than all, every look-up would read and check megabytes.
fn filter(table: &mut BlockBasedOptions) {
    table.set_bloom_filter(BLOOM_BITS, false);
    table.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    table.set_partition_filters(true);
    table.set_metadata_block_size(BLOCK);
    table.set_pin_top_level_index_and_filter(true);
}

/// The handles of the column families in use.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) records: &'a ColumnFamily,
    pub(crate) streams: &'a ColumnFamily,
    pub(crate) batches: &'a ColumnFamily,
    pub(crate) types: &'a ColumnFamily,
    pub(crate) blobs: &'a ColumnFamily,
    pub(crate) tree: &'a ColumnFamily,
    pub(crate) models: &'a ColumnFamily,
    pub(crate) meta: &'a ColumnFamily,
}

impl<'a> Columns<'a> {
    /// Looks them up; the name of the first one that is not there.
    pub(crate) fn of(db: &'a DB) -> Result<Columns<'a>, &'static str> {
        let get = |name: &'static str| db.cf_handle(name).ok_or(name);
        Ok(Columns {
            records: get(RECORDS)?,
            streams: get(STREAMS)?,
            batches: get(BATCHES)?,
            types: get(TYPES)?,
            blobs: get(BLOBS)?,
            tree: get(TREE)?,
            models: get(MODELS)?,
            meta: get(META)?,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    /// What RocksDB writes down of the options that a role has.
    fn written(role: Role) -> String {
        let home = tempfile::tempdir().unwrap();
        let mut options = database_options(&Options::default(), role);
        options.create_if_missing(true);
        drop(DB::open(&options, home.path()).unwrap());
        options_in(home.path())
    }

    fn options_in(database: &Path) -> String {
        let files = fs::read_dir(database).unwrap();
        let mut files = files.map(|entry| entry.unwrap().path());
        let is_options = |path: &PathBuf| path.to_string_lossy().contains("/OPTIONS-");
        fs::read_to_string(files.find(is_options).unwrap()).unwrap()
    }

    /// A filter of one block for a table is what a log of ten million events spent 40 % of
    /// its processors on.
    #[test]
    fn filters_are_in_parts() {
        let home = tempfile::tempdir().unwrap();
        drop(crate::RocksLog::create(&home.path().join("log"), &Options::default()).unwrap());
        let options = options_in(&home.path().join("log"));
        for name in [BATCHES, BLOBS, MODELS] {
            let table = format!("[TableOptions/BlockBasedTable \"{name}\"]");
            let (_, table) = options.split_once(&table).unwrap();
            let table = table.split("\n[").next().unwrap();
            for option in ["partition_filters=true", "index_type=kTwoLevelIndexSearch"] {
                assert!(table.contains(option), "{option} of {name} in {table}");
            }
            assert!(
                table.contains("filter_policy=bloomfilter"),
                "{name}: {table}"
            );
        }
    }

    /// Otherwise reading one record of a chunk would read and decompress other chunks with it.
    #[test]
    fn a_block_of_records_is_no_larger_than_a_chunk() {
        let home = tempfile::tempdir().unwrap();
        drop(crate::RocksLog::create(&home.path().join("log"), &Options::default()).unwrap());
        let options = options_in(&home.path().join("log"));
        let table = format!("[TableOptions/BlockBasedTable \"{RECORDS}\"]");
        let (_, table) = options.split_once(&table).unwrap();
        let table = table.split("\n[").next().unwrap();
        let size = format!("  block_size={}\n", chunk::TARGET_BYTES);
        assert!(table.contains(&size), "{table}");
    }

    #[test]
    fn a_reader_opens_tables_on_its_own_thread_and_is_as_strict_as_a_writer() {
        let (reader, writer) = (written(Role::Reader), written(Role::Writer));
        let cheap = [
            "max_file_opening_threads=1",
            "skip_stats_update_on_db_open=true",
        ];
        for option in cheap {
            assert!(
                reader.contains(&format!("{option}\n")),
                "{option} in {reader}"
            );
        }
        let strict = [
            "paranoid_checks=true",
            "wal_recovery_mode=kTolerateCorruptedTailRecords",
        ];
        for option in strict {
            let option = format!("{option}\n");
            assert!(
                reader.contains(&option) && writer.contains(&option),
                "{option}"
            );
        }
    }
}

//! `compare-ours`: one measurement of our log, or of raw RocksDB below it. `compare`
//! (benches/measure) calls it.
//!
//! It is a program of this package and not of `benches/compare`, so that it is built with the
//! workspace's RocksDB.

mod annals;
mod rocks;

use std::path::Path;

use annals_measure::program;
use annals_measure::store::{Store, StoreError};

fn main() -> std::process::ExitCode {
    program::run(open)
}

fn open(store: &str, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(match store {
        "annals" => Box::new(annals::open(folder)?),
        "rocksdb" => Box::new(rocks::open(folder)?),
        _ => return program::unknown(store),
    })
}

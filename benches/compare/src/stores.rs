//! The peers, one file each.

use std::path::Path;

use annals_measure::program;
use annals_measure::store::{Store, StoreError};

mod allsource;
mod file;
mod git_objects;
mod sqlite;
mod tephra;
mod umadb;
mod varvedb;

/// Opens a store in its folder.
///
/// # Errors
/// The store's; when there is none of that name.
pub fn open(store: &str, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(match store {
        "allsource" => Box::new(allsource::open(folder)?),
        "file" => Box::new(file::growing(folder)?),
        "file-preallocated" => Box::new(file::preallocated(folder)?),
        "git-internal" => Box::new(git_objects::open(folder)?),
        "sqlite" => Box::new(sqlite::open(folder)?),
        "tephra" => Box::new(tephra::open(folder)?),
        "umadb" => Box::new(umadb::open(folder)?),
        "varvedb" => Box::new(varvedb::open(folder)?),
        _ => return program::unknown(store),
    })
}

/// What a lock protects, even if another thread has panicked: then nothing is measured anyway.
fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

//! The measurements, one file each. Each opens the store again, checks what the store says
//! afterwards, and answers with numbers.

use std::io;
use std::path::Path;

use crate::measurement::Measurement;
use crate::results::Line;
use crate::store::{Store, StoreError};
use crate::workload::Workload;

mod append;
mod conditional;
mod fill;
mod grown;
mod read;

/// Opens the store at a folder, which is there; makes it if it is empty.
pub type Open<'a> = dyn Fn(&Path) -> Result<Box<dyn Store>, StoreError> + 'a;

/// Why a measurement has no number.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The store's own error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store answered what cannot be.
    #[error("wrong answer: expected {expected}, found {found}")]
    Wrong {
        /// What it was asked, and what is right.
        expected: String,
        /// What it said.
        found: String,
    },
    /// Its folder.
    #[error("the store's folder: {0}")]
    Folder(#[from] io::Error),
}

/// Does one measurement.
///
/// # Errors
/// See [`MeasureError`].
pub fn measure(
    measurement: Measurement,
    open: &Open<'_>,
    workload: &Workload,
) -> Result<Vec<Line>, MeasureError> {
    let figures = match measurement {
        Measurement::Read => return read::read(open, workload),
        Measurement::Append(clients) => append::append(open, workload, clients, 1)?,
        Measurement::Batch(events) => append::append(open, workload, 1, events)?,
        Measurement::Conditional(clients) => conditional::conditional(open, workload, clients)?,
        Measurement::Fill => fill::fill(open, workload)?,
        Measurement::Grown => grown::grown(open, workload)?,
    };
    Ok(figures.into_iter().map(Line::Figure).collect())
}

/// Fails unless a count is what it must be.
fn check(what: &str, expected: u64, found: u64) -> Result<(), MeasureError> {
    if expected == found {
        return Ok(());
    }
    Err(MeasureError::Wrong {
        expected: format!("{what}: {expected}"),
        found: found.to_string(),
    })
}

#[cfg(test)]
mod tests;

//! Appends to the large log: what is fast on an empty log should be fast on this one.

use super::append::appends;
use super::conditional::conditionals;
use super::{MeasureError, Open, check};
use crate::results::Figure;
use crate::store::StoreError;
use crate::workload::{STREAM_EVENTS, STREAMS, Workload};

/// The same measurements as on an empty log, one after another.
pub(super) fn grown(open: &Open<'_>, workload: &Workload) -> Result<Vec<Figure>, MeasureError> {
    let store = open(&workload.folder)?;
    let mut events = store.events()?;
    let mut figures = Vec::new();
    for (clients, batch) in [(1, 1), (64, 1), (1, STREAM_EVENTS)] {
        let timed = appends(store.as_ref(), workload, clients, batch)?;
        events += timed.all;
        let name = match batch {
            1 => format!("append-{clients} "),
            _ => format!("batch-{batch} "),
        };
        figures.extend(timed.figures(&name));
    }
    // After the appends every one of these streams is there, however small the log was.
    for clients in [1, 64] {
        let timed = match conditionals(store.as_ref(), workload, clients, STREAMS) {
            Err(MeasureError::Store(StoreError::Cannot(_))) => break,
            timed => timed?,
        };
        events += timed.all;
        figures.extend(timed.figures(&format!("conditional-{clients} ")));
    }
    check("events of the grown log", events, store.events()?)?;
    store.close()?;
    Ok(figures)
}

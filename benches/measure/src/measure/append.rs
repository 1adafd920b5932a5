//! Durable appends: one event at a time by several clients, or batches by one.

use std::path::Path;

use super::{MeasureError, Open, check};
use crate::clients::{self, Timed};
use crate::payload::Numbers;
use crate::results::Figure;
use crate::store::{Event, Store, StoreError};
use crate::workload::{STREAMS, Workload};

/// To a new store.
pub(super) fn append(
    open: &Open<'_>,
    workload: &Workload,
    clients: usize,
    batch_events: usize,
) -> Result<Vec<Figure>, MeasureError> {
    let folder: &Path = &workload.folder;
    let store = open(folder)?;
    let timed = appends(store.as_ref(), workload, clients, batch_events)?;
    check("events after the appends", timed.all, store.events()?)?;
    store.close()?;
    Ok(timed.figures(""))
}

/// To an open store with any content.
pub(super) fn appends(
    store: &dyn Store,
    workload: &Workload,
    clients: usize,
    batch_events: usize,
) -> Result<Timed, StoreError> {
    let call = |client: usize| -> clients::Call<'_> {
        let mut numbers = Numbers::new(client as u64 + 1);
        // Clients begin at different streams, as they would.
        let mut batch = client * (STREAMS / clients.max(1));
        Box::new(move || {
            let event = |place| Event {
                stream: workload.layout.stream(batch, batch_events, place, STREAMS),
                payload: numbers.payload(workload.payload_bytes),
            };
            let events: Vec<Event> = (0..batch_events).map(event).collect();
            batch += 1;
            store.append(events)?;
            Ok(batch_events as u64)
        })
    };
    clients::run(clients, workload.warm_up, workload.time, call)
}

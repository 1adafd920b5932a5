//! Makes the large log, and says how large it is.

use std::time::Instant;

use super::{MeasureError, Open, check};
use crate::disk;
use crate::payload::Numbers;
use crate::results::Figure;
use crate::store::Event;
use crate::workload::{STREAM_EVENTS, Workload};

/// By batches of [`STREAM_EVENTS`], each of them durable.
pub(super) fn fill(open: &Open<'_>, workload: &Workload) -> Result<Vec<Figure>, MeasureError> {
    let store = open(&workload.folder)?;
    let streams = workload.filled_streams();
    let mut numbers = Numbers::new(1);
    let start = Instant::now();
    for batch in 0..streams {
        let event = |place| Event {
            stream: workload.layout.stream(batch, STREAM_EVENTS, place, streams),
            payload: numbers.payload(workload.payload_bytes),
        };
        store.append((0..STREAM_EVENTS).map(event).collect())?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let events = (streams * STREAM_EVENTS) as u64;
    check("events of the filled log", events, store.events()?)?;
    store.close()?;
    let bytes = disk::bytes(&workload.folder)?;
    Ok(vec![
        Figure::new("rate", events as f64 / seconds),
        Figure::new("bytes", bytes as f64 / events as f64),
    ])
}

//! Durable appends on the condition that the stream did not move, as every decision makes them.

use super::{MeasureError, Open, check};
use crate::clients::{self, Timed};
use crate::payload::Numbers;
use crate::results::Figure;
use crate::store::{Event, Store, StoreError, Token};
use crate::workload::{STREAMS, Workload};

/// To a new store whose streams have one event each.
pub(super) fn conditional(
    open: &Open<'_>,
    workload: &Workload,
    clients: usize,
) -> Result<Vec<Figure>, MeasureError> {
    let store = open(&workload.folder)?;
    let mut numbers = Numbers::new(0);
    let seed = |stream| Event {
        stream,
        payload: numbers.payload(workload.payload_bytes),
    };
    store.append((0..STREAMS).map(seed).collect())?;
    let timed = conditionals(store.as_ref(), workload, clients, STREAMS)?;
    let expected = STREAMS as u64 + timed.all;
    check("events after the appends", expected, store.events()?)?;
    store.close()?;
    Ok(timed.figures(""))
}

/// To an open store. Each client has streams of its own, so that no append is refused, and goes
/// from one to the next; in the end one that must be refused is tried.
pub(super) fn conditionals(
    store: &dyn Store,
    workload: &Workload,
    clients: usize,
    streams: usize,
) -> Result<Timed, MeasureError> {
    let tokens = store.tokens(streams)?;
    let clients = clients.min(streams);
    let call = |client: usize| -> clients::Call<'_> {
        let mut numbers = Numbers::new(client as u64 + 1);
        let own = tokens.iter().copied().enumerate().skip(client);
        let mut own: Vec<(usize, Token)> = own.step_by(clients).collect();
        let mut turn = 0;
        Box::new(move || {
            let place = turn % own.len().max(1);
            let Some((stream, last)) = own.get_mut(place) else {
                return Err(StoreError::Cannot("give every client a stream"));
            };
            let event = Event {
                stream: *stream,
                payload: numbers.payload(workload.payload_bytes),
            };
            *last = store.append_if(event, *last)?;
            turn += 1;
            Ok(1)
        })
    };
    let timed = clients::run(clients, workload.warm_up, workload.time, call)?;
    refuses_what_is_stale(store, &tokens)?;
    Ok(timed)
}

/// A store that takes an append whose condition does not hold is not measured.
fn refuses_what_is_stale(store: &dyn Store, tokens: &[Token]) -> Result<(), MeasureError> {
    let before = store.events()?;
    let now = store.tokens(tokens.len())?;
    let moved = tokens.iter().zip(&now).position(|(old, new)| old != new);
    let Some((stream, old)) = moved.and_then(|moved| Some((moved, *tokens.get(moved)?))) else {
        return Err(MeasureError::Wrong {
            expected: "a stream that moved".into(),
            found: "none".into(),
        });
    };
    let event = Event {
        stream,
        payload: vec![0; 8],
    };
    match store.append_if(event, old) {
        Err(StoreError::Conflict) => check("events after a refusal", before, store.events()?),
        Err(error) => Err(error.into()),
        Ok(_) => Err(MeasureError::Wrong {
            expected: "a refusal of a stale condition".into(),
            found: "an append".into(),
        }),
    }
}

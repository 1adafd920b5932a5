//! Lets the clients of a load append, each to streams of its own, and times them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use annals_measure::clients::{self, Call, Timed};
use annals_measure::payload::Numbers;
use annals_measure::postgres::loads::Load;
use annals_measure::store::StoreError;

use crate::target::{Client, Target};

/// How long, and what.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long clients append before it counts.
    pub warm_up: Duration,
    /// How long they append then.
    pub time: Duration,
    /// Bytes of a payload.
    pub payload_bytes: usize,
}

/// Connects all clients, and has them append.
pub fn run(target: &dyn Target, load: &Load, pace: Pace) -> Result<Timed, StoreError> {
    let connect = |number: usize| -> Result<Mutex<Box<dyn Client>>, StoreError> {
        Ok(Mutex::new(target.client(load.log(number))?))
    };
    let count = load.all_clients();
    let all: Vec<_> = (0..count).map(connect).collect::<Result<_, StoreError>>()?;
    let call = |number: usize| -> Call<'_> {
        let mut numbers = Numbers::new(number as u64 + 1);
        let mut append = 0;
        let own = all.get(number);
        Box::new(move || {
            let own = own.ok_or_else(|| StoreError::failed("there is no such client"))?;
            let stream = load.stream(number, append);
            let payload = |_| numbers.document(pace.payload_bytes);
            let payloads = (0..load.batch).map(payload).collect();
            append += 1;
            // Nobody else has this client; the lock is what lets threads share the list.
            let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
            own.append(stream, payloads)?;
            Ok(load.batch as u64)
        })
    };
    clients::run(count, pace.warm_up, pace.time, call)
}

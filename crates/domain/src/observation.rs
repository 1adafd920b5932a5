//! Observations: what an agent noticed (Forge's sources `epiphany` and
//! `reflection`), with what it rests on, and what came of it.
//!
//! An observation is open until it is processed: an intent that is submitted with
//! it as its cause does that, once, or an actor who looked and found nothing to do.

mod command;
pub(crate) mod decide;
mod event;
mod evolve;

#[cfg(test)]
mod tests;

pub use command::{ProcessObservation, RecordObservation};
pub use event::{Event, ObservationKind, Processed, Recorded, Subject};
pub use evolve::{State, evolve};

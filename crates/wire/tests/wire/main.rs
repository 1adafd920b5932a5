//! What holds of events as bytes: round trips, goldens, upcasters, the
//! documentation of events.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod arbitrary;
mod decoding;
mod event_docs;
mod golden;
mod names;
mod records;
mod round_trip;
mod shape;
mod shapes;
mod support;
mod upcasting;

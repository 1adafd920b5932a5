//! What holds of events as bytes: round trips, goldens, upcasters, the event
//! catalogue.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod arbitrary;
mod catalogue;
mod decoding;
mod golden;
mod names;
mod records;
mod round_trip;
mod shape;
mod shapes;
mod support;
mod upcasting;

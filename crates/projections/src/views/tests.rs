//! Tests of the views: their exact JSON, and what each event does to them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adopted;
mod behaviour;
mod json;
mod sets;

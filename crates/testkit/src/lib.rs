//! Tests for services on Annals.

pub mod generators;
pub mod invariants;
mod rfc6962;

//! Tests for services on Annals.

pub mod conformance;
pub mod fault_fs;
pub mod generators;
pub mod invariants;
pub mod linearizability;
pub mod model;
mod rfc6962;

#[doc(no_inline)]
pub use annals_event_log::conformance_suite;

//! The conformance suite over the in-memory store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conformance {
    use annals_event_log::conformance::MemoryHarness;

    annals_event_log::conformance_suite!(MemoryHarness::default());
}

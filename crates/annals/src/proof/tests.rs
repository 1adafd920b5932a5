//! Proofs against another implementation, against forgers, and against bad files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod blobs;
mod document;
mod event_ids;
mod files;
mod forged;
mod kept;
mod notes;
mod support;
mod tampered;
mod vectors;

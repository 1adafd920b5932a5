//! The search over real logs: what it finds, what it must not find any more, and what becomes of it.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines
)]

mod damage;
mod facets;
mod model;
mod phrases;
mod properties;
mod redaction;
mod suggest;
mod support;

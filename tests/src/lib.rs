//! Tests over the whole product, in one binary: `tests/tests/all/main.rs`.
//!
//! This library is empty; Cargo wants a target for the package.

//! A regression guard that needs no quiet machine: the instructions that the hot paths
//! take, counted by valgrind and held against a committed file.
//!
//! The cases are in `benches/guard`; what is here does not know them. [`baseline`] is the
//! file, [`toolchain`] what the counts depend on apart from our code, [`callgrind`] counts, and
//! [`report`] compares.

pub mod baseline;
pub mod callgrind;
pub mod report;
pub mod toolchain;

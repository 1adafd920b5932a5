//! Histories to test with: appends without meaning for stores, and commands and
//! events of Annals' own objects for what is built on them.
//!
//! [`appends`] knows only bytes. Its [`Sample`](appends::Sample) makes appends that
//! any store must take, the same for the same seed.

pub mod appends;

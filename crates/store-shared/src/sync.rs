//! What threads share, by the names that the tests of `crates/concurrency` replace: they compile the same files over
//! primitives that a scheduler controls.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
pub(crate) use std::thread;

pub(crate) use event_listener::Event;

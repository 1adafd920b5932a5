//! Context pipelines: frames that accumulate throughout the work (document
//! 001).

pub(crate) mod command;
pub(crate) mod decide;
mod event;
mod evolve;
mod window;

#[cfg(test)]
mod tests;

pub use command::*;
pub use event::*;
pub use evolve::{State, evolve};
pub use window::{Admitted, Occupancy, Pushed, Window};

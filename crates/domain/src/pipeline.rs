//! Context pipelines: frames that accumulate throughout the work (
//! docs/spec/git-internal.md).

pub(crate) mod command;
pub(crate) mod decide;
mod event;
mod evict;
mod evolve;
mod frame_kind;
mod line;
mod policy;
mod ranges;
mod stored;
mod tally;
mod window;

#[cfg(test)]
mod tests;

pub use command::*;
pub use event::*;
pub use evict::{Evictor, Excess, FrameFacts, RolledUp, Rules, Totals};
pub use evolve::{Open, State, evolve, evolve_window, evolve_window_with};
pub use frame_kind::FrameKind;
pub use policy::*;
pub use ranges::FrameRanges;
pub use tally::Tally;
pub use window::{Pushed, Window};

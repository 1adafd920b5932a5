//! Tasks: units of work, stable across retries (docs/spec/git-internal.md, Task).

pub(crate) mod command;
pub(crate) mod decide;
mod event;
mod evolve;
mod names;
pub(crate) mod review;
mod shared;
mod text;

#[cfg(test)]
mod tests;

pub use command::*;
pub use event::*;
pub use evolve::{State, Status, evolve};
pub(crate) use names::{each_name, may_have_names};
pub use text::TaskText;

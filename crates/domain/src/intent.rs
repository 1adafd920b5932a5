//! Intents: the entry point of every workflow (docs/spec/git-internal.md, Intent), and what
//! people and agents let through to it (docs/spec/forge.md).

mod above;
pub(crate) mod analysis;
mod approval;
mod classification;
pub(crate) mod command;
mod conditions;
pub(crate) mod decide;
mod dependents;
mod event;
mod evolve;
pub(crate) mod intake;
mod intake_command;
mod intake_event;
mod names;
mod open_work;
mod rejections;
pub(crate) mod rerun;
mod rings;
mod shared;
mod status;
mod tasks;
mod who;

#[cfg(test)]
mod tests;

pub use analysis::{AnalyzedTask, ChildIntent, RecordAnalysis};
pub use approval::*;
pub use classification::*;
pub use command::*;
pub(crate) use dependents::{Lost, end_dependents, end_without, newest};
pub use event::*;
pub use evolve::{Life, State, evolve};
pub use intake::run_begins;
pub use intake_command::*;
pub use intake_event::*;
pub(crate) use names::{each_name, may_have_names};
pub(crate) use rejections::{is_rejected_by_a_person, require_none, require_settled, worked_on};
pub use status::{approval_status, status_in};
pub use tasks::intents_of_task;
pub(crate) use tasks::{added, if_any};

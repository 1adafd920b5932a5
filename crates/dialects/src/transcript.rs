//! Agents' conversations, free of any format: from entries to batches of the log.

pub(crate) mod agent;
pub(crate) mod apply_patch;
mod batch;
mod callers;
mod calls;
mod claim;
pub(crate) mod commands;
mod compare;
mod counts;
mod decisions;
mod dropped;
pub(crate) mod edit;
pub(crate) mod editor;
pub(crate) mod ids;
pub(crate) mod importer;
pub(crate) mod item;
mod keep;
mod late;
pub(crate) mod live;
mod place;
mod record;
mod remark;
pub(crate) mod response_usage;
mod session;
mod speech;
pub(crate) mod telling;
pub(crate) mod texts;
mod told_call;
pub(crate) mod tool;
pub(crate) mod unified_diff;
mod usage;
mod uses;

pub use ids::{ChainIds, Ids, ToolIds};

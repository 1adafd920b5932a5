//! Sessions: one row for each conversation with an agent, folded from the log's events.

mod summary;

pub use summary::{
    FileCounts, ModelUse, SessionActivity, SessionCounts, SessionEnd, SessionSummary, SessionWait,
};

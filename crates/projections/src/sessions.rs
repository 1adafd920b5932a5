//! Sessions: one row for each conversation with an agent, folded from the log's events.

mod resume;
mod summary;

pub use resume::ResumeCommand;
pub use summary::{
    FileCounts, ModelUse, SessionActivity, SessionCounts, SessionEnd, SessionSummary, SessionWait,
};

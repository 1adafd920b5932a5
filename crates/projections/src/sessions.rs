//! Sessions: one row for each conversation with an agent, folded from the log's events.
//!
//! ```text
//! events ──▶ rows of sessions, tasks, runs, calls and files ──▶ families: a session with its sub-agent sessions
//! ```
//!
//! A task is a session if an agent has a name for it, or if one of its runs has a context pipeline, a tool call or
//! tokens. A contracts session is one, too. `docs/sessions.md` has the rules.

mod clusters;
mod facts;
mod fold;
mod held;
mod model;
mod resume;
mod row;
mod summary;
mod title;

#[cfg(test)]
mod tests;

pub use model::{PastStep, SessionModel};
pub use resume::ResumeCommand;
pub use row::{SessionFile, SessionRow};
pub use summary::{
    FileCounts, ModelUse, SessionActivity, SessionCounts, SessionEnd, SessionSummary, SessionWait,
};

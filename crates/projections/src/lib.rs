//! Read models: what the log says, as people and programs ask for it.
//!
//! - An [`Entry`] is one record decoded, with its content at hand.
//! - A [`Fold`] folds the entries of a stream into the view of one object: an
//!   [`ObjectView`], one of eleven structs that serialise as git-internal's
//!   JSON, or that of a session or an observation, whose JSON is our own. Folding a prefix of the stream
//!   gives the object as it was.
//! - [`history_entry`] says in one line what an entry changed, [`Teller`] with what is known from those before it.
//! - [`RunReport`] is what a person wants to know of a run, and [`CallLine`] what a tool call was, in one line.
//! - The [`Catalogue`] has a small row for every object, and answers lists and
//!   look-ups: by id, by kind, by what belongs to what. It knows the tickets
//!   that sessions read, too.
//! - A [`Projection`] of one's own is a fold and a table; [`ReadModel`] gives it a checkpoint, a rebuild without
//!   downtime and its lag.
//! - [`past`] has functions over two folds: what differs, and which event made it so.
//! - [`CostGroups`] and [`CostModel`] say what agents' work cost.
//! - [`SessionModel`] has a row for each conversation with an agent.
//! - [`seal_hash`] is the checksum of an object, [`check_seal`] whether its seal holds.
//!
//! One more event costs the same however large its object has grown: no view
//! is rewritten as a whole.
//!
//! A fold is all that there is to a view, so it needs no log:
//!
//! ```
//! use annals_domain::Kind;
//! use annals_event_log::Record;
//! use annals_projections::{Entry, Fold};
//! use std::collections::HashMap;
//! use uuid::Uuid;
//!
//! fn intent_as_of(records: &[Record], id: Uuid) -> Result<Option<String>, Box<dyn std::error::Error>> {
//!     let mut fold = Fold::new(Kind::Intent, id);
//!     for record in records {
//!         // The map has the blobs that `Entry::wanted` names: texts above 4 KiB.
//!         fold.apply(&Entry::new(record, &HashMap::new())?);
//!     }
//!     Ok(fold.view().map(|view| serde_json::to_string_pretty(&view)).transpose()?)
//! }
//! # assert_eq!(intent_as_of(&[], Uuid::nil()).unwrap(), None);
//! ```

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

mod adoption;
mod aside;
mod call_line;
mod catalogue;
mod conversation;
mod costs;
mod entry;
mod field_time;
mod fold;
mod frame_data;
mod generation;
mod header;
mod history;
mod kept;
mod merged;
mod named_stream;
mod naming;
mod object;
mod parts;
pub mod past;
mod projection;
pub mod replay;
mod run_report;
mod same_call;
mod seal;
pub mod session_replay;
mod sessions;
mod slash_command;
#[cfg(test)]
mod testing;
mod text;
mod time_name;
pub mod tool_calls;
mod tool_name;
mod views;
mod work_item;

pub use adoption::adopted_view;
pub use call_line::{CallEnd, CallLine, duration};
pub use catalogue::{
    ActorName, Catalogue, CatalogueError, CatalogueFault, CatalogueReport, CatalogueRow,
    DecisionPage, DecisionPlace, DecisionsQuery, Going, GrantUses, InboxEntry, InboxPage,
    InboxQuery, InboxReason, IntentFilter, LinkRow, Links, LinksQuery, ListQuery, Listed,
    PlacedObject, Rebuilt, Relation, SkewReport, Status, Tokens, Tree, TreeNode, TreeQuery,
    WorkItems, WorkItemsQuery,
};
pub use conversation::{
    CallDecisionTurn, CallOutcome, CallResult, CallRole, Conversation, ConversationFold,
    ConversationIndex, Diffs, Emphasis, FileEdit, Folding, LineWriter, MarkdownWriter, NO_RESULT,
    NoteLine, PartStart, PromptSummary, PromptTurn, REPEATED_PROMPT, SubAgentStart, TextLine,
    TextPart, TextSpan, ToolCallTurn, Turn, TurnBody, is_metadata, text_parts,
};
pub use costs::*;
pub use entry::{Entry, EntryError, PieceValue, origin_of};
pub use field_time::{is_content_field, time_of_field};
pub use fold::{Fold, is_about};
pub use header::{AdoptedView, ClockSkew, HeaderView};
pub use history::{HistoryEntry, Teller, history_entry};
pub use kept::KeptContent;
pub use merged::Merged;
pub use named_stream::{bucket_stream, new_alias_stream};
pub use naming::{ProjectLabels, agent_name, is_agent, is_project, project_label, project_root};
pub use object::{ObjectView, View};
pub use parts::{ArtifactView, EnvironmentView, Labels};
pub use projection::{
    Lag, Projection, ProjectionError, ReadModel, RecordSource, Table, TableQuery,
};
pub use run_report::{
    FailedCall, ReportedCheck, ReportedDecision, ReportedFile, ReportedModel, RunReport,
    RunReportFold,
};
pub use seal::{SealCheck, check_seal, seal_hash};
pub use sessions::{
    FileCounts, ModelUse, PastStep, ResumeCommand, SessionActivity, SessionCounts, SessionEnd,
    SessionFile, SessionModel, SessionRow, SessionSummary, SessionWait,
};
pub use text::{JsonText, Removable, Text};
pub use time_name::{InvalidTimeName, TimeName};
pub use views::*;
pub use work_item::{WorkItemDetailsView, WorkItemView};

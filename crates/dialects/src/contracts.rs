//! The contracts (docs/spec/contracts.md): the JSON of sessions, their
//! commands and events, policy profiles and plans.
//!
//! - [`Object`] is one command or event of a stream, read by its `kind` and
//!   written as Contracts v1.1's options write it. What has another kind is kept as
//!   it came.
//! - [`read()`] and [`write()`] do the same for each [core type](CoreType) by itself: a
//!   file with a policy profile, or a session's configuration.
//! - [`Texts`] cuts a file into its objects, each with its place.
//! - [`record`] makes an object the events that record it, and [`Renderer`] shows a
//!   session's events as objects.
//!
//! # On the wire
//!
//! camelCase; names of properties are read in any case. Null is never written and
//! read as nothing; empty arrays and `false` are written, and read where they are
//! missing. Durations are `00:05:00`, bytes base64, enums words in PascalCase,
//! GUIDs in lower case with hyphens. A time is written in UTC with the offset
//! `+00:00`: one that is read with another offset is the same instant, but the offset
//! itself is not kept, as .NET would. Letters, marks, digits and signs of the basic
//! plane are written as they are, `< > & ' +` among them; all else that is not ASCII is
//! written as `\uXXXX`.
//!
//! # Where our gate is not v1.1's
//!
//! A recorded verdict is never judged again, so none of this changes what was
//! recorded. In sessions of our own:
//!
//! - Policy is judged before approval; v1.1's own code asks for an approval first,
//!   also of a push that its policy then refuses.
//! - Protected branches hold for CreateBranch, and for Commit and Push where the
//!   branch is known; v1.1 looks at CreateBranch alone.
//! - `requireTestsBeforePush` and `allowedWorkItemTransitions` are enforced; v1.1
//!   reads them and does nothing. Tests count if a RunTests completed with Success
//!   that began after the last ApplyPatch or Commit: one that was under way before
//!   may not have seen it.
//! - Rate limits are token buckets that start full, refill continuously and honour
//!   `burst` and `perCommandCaps`; v1.1 counted in fixed windows of one minute and
//!   ignored both. Its later versions have this bucket.
//! - A command that waits for an approval is queued, and gets its verdict when that
//!   is answered; no object of the contracts shows that it waits.

mod command;
mod content;
mod core_type;
mod error;
mod escaping;
mod event;
mod event_ids;
mod export;
mod fields;
mod import;
mod import_error;
mod object;
mod of_plan;
mod of_run;
mod record;
mod remains;
mod render;
mod source;
mod target;
mod time;
mod writing;

pub use command::ContractCommand;
pub use core_type::{CORE_TYPES, CoreType, Correlation, Parsed, read, write};
pub use error::{ContractsError, PropertyProblem};
pub use event::{
    ArtifactAvailable, BacklogQueried, CommandAccepted, CommandCompleted, CommandRejected,
    ConflictDetected, ContractEvent, EventBody, PlanUpdated, SessionStatusChanged, Throttled,
    WorkItemQueried,
};
pub use export::{export, show};
pub use import::import;
pub use import_error::ContractsImportError;
pub use object::{Foreign, Object};
pub use record::record;
pub use render::{Commands, Rendered, Renderer};
pub use source::{MAX_OBJECT, Text, TextError, Texts};
pub use time::InvalidTime;
pub use writing::Style;

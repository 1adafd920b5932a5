//! Read models: what the log says, as people and programs ask for it.
//!
//! - An [`Entry`] is one record decoded, with its content at hand.
//! - A [`Fold`] folds the entries of a stream into the view of one object: an
//!   [`ObjectView`], one of eleven structs that serialise as git-internal's
//!   JSON, or that of a session or an observation, whose JSON is our own. Folding a prefix of the stream
//!   gives the object as it was.
//! - [`history_entry`] says in one line what an entry changed.
//! - The [`Catalogue`] has a small row for every object, and answers lists and
//!   look-ups: by id, by kind, by what belongs to what. It knows the tickets
//!   that sessions read, too.
//! - [`seal_hash`] is the checksum of an object, [`check_seal`] whether its seal holds.
//!
//! One more event costs the same however large its object has grown: no view
//! is rewritten as a whole.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

mod adoption;
mod aside;
mod catalogue;
mod entry;
mod fold;
mod header;
mod history;
mod kept;
mod merged;
mod named_stream;
mod object;
mod parts;
pub mod replay;
mod seal;
pub mod session_replay;
#[cfg(test)]
mod testing;
mod text;
mod views;
mod work_item;

pub use adoption::adopted_view;
pub use catalogue::{
    ActorName, Catalogue, CatalogueError, CatalogueFault, CatalogueReport, CatalogueRow,
    DecisionPage, DecisionPlace, DecisionsQuery, Going, GrantUses, InboxEntry, InboxPage,
    InboxQuery, InboxReason, IntentFilter, LinkRow, Links, LinksQuery, ListQuery, Listed, Rebuilt,
    Relation, SkewReport, Status, Tokens, Tree, TreeNode, TreeQuery, WorkItems, WorkItemsQuery,
};
pub use entry::{Entry, EntryError, PieceValue};
pub use fold::{Fold, is_about};
pub use header::{AdoptedView, ClockSkew, HeaderView};
pub use history::{HistoryEntry, history_entry};
pub use kept::KeptContent;
pub use merged::Merged;
pub use named_stream::{bucket_stream, new_alias_stream};
pub use object::{ObjectView, View};
pub use parts::{ArtifactView, EnvironmentView, Labels};
pub use seal::{SealCheck, check_seal, seal_hash};
pub use text::{JsonText, Removable, Text};
pub use views::*;
pub use work_item::{WorkItemDetailsView, WorkItemView};

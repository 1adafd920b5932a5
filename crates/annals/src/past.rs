//! The past of objects: what changed between two moments and which event changed it, where a condition changes, where
//! two pieces of work part.

mod about;
mod bisect;
mod compare;
mod compared_call;
mod diff;
mod diff_all;
mod error;
mod moment;
mod side;
mod why;

pub use bisect::{BisectOutcome, Bisected, Probe, Probed, TestAnswer};
pub use compare::{Comparison, FileBeside};
pub use compared_call::ComparedCall;
pub use diff::{CausedChange, ObjectDiff};
pub use error::PastError;
pub use moment::{AtName, InvalidAtName, MomentError};
pub use side::{CompareSide, FileLines, SideCheck};
pub use why::{FieldChange, FieldHistory};

use crate::Annals;

/// The past of objects, as functions over folds of the same events: [`projections::past`](crate::projections::past) has
/// what needs no log. [`Annals::past`] gives it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::domain::ActorRef;
/// use annals::event_log::Position;
/// use annals::{Annals, At};
///
/// let annals = Annals::open("memory:").await?;
/// let ada = ActorRef::human("ada");
/// let intent = annals.by(&ada).submit("Add pagination").await?;
/// let submitted = At::Position(annals.position());
/// annals.by(&ada).analyze(intent, "GET /users takes offset and limit").await?;
///
/// let object = annals.resolve(&intent.to_string()).await?;
/// let diff = annals.past().diff(object, submitted, At::Now).await?;
/// let content = diff.changes.iter().find(|it| it.change.path == "/content").ok_or("it was analyzed")?;
/// assert_eq!(content.cause.event_type, "intent.analyzed");
///
/// let why = annals.past().why(object, &"content".parse()?, At::Now, 10).await?;
/// assert_eq!(why.changes[0].cause, content.cause);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Past<'a> {
    annals: &'a Annals,
}

impl Annals {
    /// The past of objects: what changed, and which event changed it.
    pub fn past(&self) -> Past<'_> {
        Past { annals: self }
    }
}

//! Functions over two folds of the same events: what differs between them and which event made it so, where a
//! condition changes, where two pieces of work part.
//!
//! - A [`document`] is an object as JSON, as far as its events say it; it is what all of this works on.
//! - [`changes`] says what differs between two of them, as the operations of an RFC 6902 patch, each with the
//!   [`Place`] that it changes.
//! - A [`Watch`] is given the documents in between, event by event, and says which event changed which place.
//! - A [`FieldName`] is a place as people write it, a [`Condition`] a comparison of what is there.
//! - A [`Bisection`] finds where an answer changes, in as few questions as it takes.
//! - [`align`] lays two lists beside each other, and [`parting`] says where they part.
//!
//! Nothing here reads a log. A program that has entries needs no more:
//!
//! ```
//! use annals_projections::past::{Watch, changes, document};
//! use annals_projections::{Entry, Fold};
//!
//! /// The fields of an object that the later ones of its entries changed, each with the position of the last change.
//! fn changed(mut fold: Fold, later: &[Entry]) -> Result<Vec<(String, u64)>, serde_json::Error> {
//!     let (before, mut after) = (document(fold.peek())?, fold.clone());
//!     later.iter().for_each(|entry| after.apply(entry));
//!     let changes = changes(&before, &document(after.peek())?);
//!     let mut watch = Watch::new(changes.iter().map(|change| &change.place));
//!     watch.see(fold.peek(), |_| {})?;
//!     let mut made_by = vec![0; changes.len()];
//!     for entry in later {
//!         fold.apply(entry);
//!         watch.see(fold.peek(), |seen| made_by[seen.place] = entry.position.0)?;
//!     }
//!     Ok(changes.iter().map(|change| change.place.to_string()).zip(made_by).collect())
//! }
//! ```

mod bisection;
mod cause;
mod changes;
mod condition;
mod document;
mod field_name;
mod identity;
mod lines;
mod place;
mod side_by_side;
mod watch;

#[cfg(test)]
mod tests;

pub use bisection::Bisection;
pub use cause::Cause;
pub use changes::{Change, PatchOp, changes};
pub use condition::{Condition, InvalidCondition};
pub use document::{document, document_text};
pub use field_name::{FieldName, InvalidFieldName};
pub use lines::{DiffLine, line_diff};
pub use place::{Place, Step};
pub use side_by_side::{Aligned, align, parting};
pub use watch::{Seen, Watch};

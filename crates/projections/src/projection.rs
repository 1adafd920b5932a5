//! Read models of one's own: a fold and a table give the checkpoint, the rebuild and the lag.

mod error;
mod kept_model;
mod read_model;
mod table;
mod unwritten;

pub use error::ProjectionError;
pub(crate) use kept_model::KeptModel;
pub use read_model::{Lag, ReadModel, RecordSource, TableQuery};
pub use table::Table;

use crate::Entry;

/// What a read model makes of the log's events: rows, keys with values of one's own form.
///
/// [`ReadModel`] runs it: it keeps the rows with the log, under the projection's name, with a checkpoint that moves in
/// the same write, so that each event counts exactly once however often the process is killed.
///
/// What [`Projection::apply`] makes of an event must follow from the event and the table alone: rows that are rebuilt,
/// in another process and another year, are the same then. It must pass over events that it does not know, and take
/// removed content (`[removed]`) for what it is.
///
/// ```
/// use annals_event_log::memory::MemoryLog;
/// use annals_projections::{Entry, Projection, ProjectionError, ReadModel, Table};
/// use futures::executor::block_on;
///
/// /// How many events there are of each type.
/// struct Types;
///
/// impl Projection for Types {
///     fn name(&self) -> &str {
///         "types"
///     }
///
///     async fn apply(&self, entry: &Entry, table: &mut Table<'_>) -> Result<(), ProjectionError> {
///         let key = entry.event.event_type().as_bytes();
///         let count: u64 = table.get(key).await?.unwrap_or_default();
///         table.put(key, &(count + 1))
///     }
/// }
///
/// # block_on(async {
/// let log = MemoryLog::new(uuid::Uuid::nil());
/// let types = ReadModel::new(Types)?;
/// let position = types.catch_up(&log).await?;
/// assert_eq!(types.lag(&log).await?.events(), 0);
/// let runs: Option<u64> = types.get(&log, b"run.created").await?;
/// assert_eq!(runs, None);
/// # assert_eq!(position.0, 0);
/// # Ok::<(), ProjectionError>(())
/// # }).unwrap();
/// ```
pub trait Projection: Send + Sync {
    /// The read model's name: 1 to 60 bytes of `a-z`, `0-9` and `_`. `catalogue`, `costs`, `directory`, `sessions` and
    /// `subscriptions` are taken.
    fn name(&self) -> &str;

    /// The form of the rows, counted from 1. With another one the rows are folded from the whole log again, under a
    /// name of their own, and those of the older forms are dropped when that is done: programs of the old form can be
    /// asked until then.
    fn version(&self) -> u32 {
        1
    }

    /// Whether events of this type change rows, such as `run.tool_invoked`. Others are not decoded.
    fn wants(&self, event_type: &str) -> bool {
        let _ = event_type;
        true
    }

    /// The only types of events that change rows, if they are few: then those alone are read, by the log's index of
    /// types, and a log of which little counts is folded in a moment. Empty for any.
    fn types(&self) -> &[&str] {
        &[]
    }

    /// Returns `true` if [`Projection::apply`] reads texts above 4 KiB of events of this type. Otherwise they are not
    /// fetched, and are attachments in the entry.
    fn reads_blobs(&self, event_type: &str) -> bool {
        let _ = event_type;
        true
    }

    /// Folds one event into the table.
    ///
    /// # Errors
    /// [`ProjectionError`]; nothing of the page that the event is in is written then.
    fn apply(
        &self,
        entry: &Entry,
        table: &mut Table<'_>,
    ) -> impl Future<Output = Result<(), ProjectionError>> + Send;

    /// Ends a page of events: rows that the projection held decoded in the table's scratch space are put into the
    /// table.
    ///
    /// # Errors
    /// [`ProjectionError`]; nothing of the page is written then.
    fn finish_page(
        &self,
        table: &mut Table<'_>,
    ) -> impl Future<Output = Result<(), ProjectionError>> + Send {
        let _ = table;
        std::future::ready(Ok(()))
    }
}

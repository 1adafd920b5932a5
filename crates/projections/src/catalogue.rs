//! The catalogue: a small row for every object, and every list and look-up
//! that is answered from such rows.
//!
//! Its rows are written rarely, and an overlay in memory has what they lack. So
//! it is always up to date, also where the log is open for reading only, and no
//! command waits for its rows.
//!
//! ```text
//! position  1 ........ checkpoint ........ folded
//!             in rows          in overlay
//! ```
//!
//! A row is a pure function of the log's prefix. Rows that were written event
//! by event and rows that were rebuilt from the whole log are the same, byte
//! for byte. `keys.rs` has the table of all rows.

mod arena;
mod changes;
mod error;
mod facet;
mod fold;
mod generation;
mod going;
mod inbox;
mod keys;
mod layer;
mod links;
mod list;
mod load;
mod overlay_view;
mod placed;
mod rebuild;
mod relation;
mod row;
mod state;
mod status;
mod step;
mod taken;
mod tool_calls;
mod tree;
mod verify;
mod view;
mod waits;
mod walk;
mod work_items;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod watched;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use annals_domain::redaction::Redacted;
use annals_domain::{Kind, StreamKind, StreamRef};
use annals_event_log::{CommitError, Position, Query, Record, Store};
use uuid::Uuid;

use self::generation::ROWS;
use self::load::Source;
use self::overlay_view::OverlayView;
use self::state::State;
use self::step::Step;
use crate::projection::Lag;

pub use self::error::CatalogueError;
pub use self::facet::IntentFilter;
pub use self::going::Going;
pub use self::inbox::{InboxEntry, InboxPage, InboxQuery, InboxReason};
pub use self::links::{LinkRow, Links, LinksQuery};
pub use self::list::{ListQuery, Listed};
pub use self::placed::PlacedObject;
pub use self::rebuild::Rebuilt;
pub use self::relation::Relation;
pub use self::status::Status;
pub use self::tool_calls::{DecisionPage, DecisionPlace, DecisionsQuery, GrantUses};
pub use self::tree::{Tree, TreeNode, TreeQuery};
pub use self::verify::{CatalogueFault, CatalogueReport, SkewReport};
pub use self::view::{ActorName, CatalogueRow, Tokens};
pub use self::work_items::{WorkItems, WorkItemsQuery};

/// Records that are folded at once.
const PAGE: usize = 1_000;
/// Changed rows in the overlay beyond which they are written.
const OVERLAY_ROWS: usize = 8_192;
/// Records beyond which they are written too, however few rows there are: what
/// the rows lack is folded at every opening.
const BEHIND_LIMIT: u64 = 10_000;
/// Records that a writer lets come before it folds them without a query.
const KEEP_UP_FROM: u64 = 1_000;
/// How often a flush starts again because another writer was faster.
const FLUSH_ATTEMPTS: u32 = 4;
/// How often a question is asked again because rows were written meanwhile.
const READ_ATTEMPTS: u32 = 16;
/// Digits by which an object can be found at least.
const MIN_SUFFIX: usize = 8;

/// Finds and lists objects. It can be shared by any number of threads.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Held while the overlay is brought forward or written out.
    folding: futures::lock::Mutex<()>,
    /// Held while the rows are rebuilt.
    rebuilding: futures::lock::Mutex<()>,
    /// Never held across an await.
    state: Mutex<State>,
    /// Whether it was looked how far the rows are before something was written to them unasked.
    has_looked: AtomicBool,
}

impl Catalogue {
    /// Nothing is folded yet; it begins where the log's rows end.
    pub fn new() -> Catalogue {
        Catalogue::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is whole before the lock is released.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Folds in everything that the log has by now, and says up to where.
    ///
    /// # Errors
    /// [`CatalogueError`]. What was folded before it stays.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn catch_up(&self, log: &dyn Store) -> Result<Position, CatalogueError> {
        let target = log.watermark();
        if let Some(folded) = self.state().folded().filter(|folded| *folded >= target) {
            return Ok(folded);
        }
        let _folding = self.folding.lock().await;
        self.fold_to(log, target).await
    }

    /// Folds in a part of what the log has by now, if that is much and no other
    /// caller does. A writer calls this after each append, so that its rows are
    /// never far behind, even if they are not queried.
    ///
    /// # Errors
    /// [`CatalogueError`].
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn keep_up(&self, log: &dyn Store) -> Result<(), CatalogueError> {
        let end = log.watermark();
        let is_current = || {
            let folded = self.state().folded().unwrap_or(Position::START);
            end.0.saturating_sub(folded.0) < KEEP_UP_FROM
        };
        if is_current() {
            return Ok(());
        }
        let Some(_folding) = self.folding.try_lock() else {
            return Ok(());
        };
        if !self.has_looked.swap(true, Ordering::Relaxed) {
            // Before the lead is asked for: a process that is about to end is not to take it for rows that are current.
            self.begin(log).await?;
            if is_current() {
                return Ok(());
            }
        }
        if !log.leads(ROWS.pointer).await {
            // Another process writes the rows: who asks here begins where they end.
            self.state().forget();
            return Ok(());
        }
        self.begin(log).await?;
        let folded = self.state().folded().unwrap_or(Position::START);
        let target = end.0.min(folded.0.saturating_add(2 * KEEP_UP_FROM));
        self.fold_to(log, Position(target)).await.map(|_| ())
    }

    /// How far the stored rows are behind the log.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn lag(&self, log: &dyn Store) -> Result<Lag, CatalogueError> {
        let (_, checkpoint) = ROWS.begin(log).await?;
        Ok(Lag {
            position: checkpoint.position,
            end: log.watermark(),
        })
    }

    /// Where an object is, as of the last [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn find(
        &self,
        log: &dyn Store,
        id: Uuid,
    ) -> Result<Option<(Kind, StreamRef)>, CatalogueError> {
        let mut attempt = 0;
        loop {
            let view = self.view(log).await?;
            let row = view.object(id).await;
            // Where an object is never changes, so a row that is found is
            // right, even if rows were written meanwhile.
            if matches!(row, Ok(Some(_))) || self.is_whole(&view, &mut attempt).await? {
                return Ok(row?.map(|row| (row.kind, row.stream_ref())));
            }
        }
    }

    /// The stream that has an alias, as of the last [`Catalogue::catch_up`] or later; none where
    /// no object has it, or its text was removed.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn alias_stream(
        &self,
        log: &dyn Store,
        alias: &str,
    ) -> Result<Option<StreamRef>, CatalogueError> {
        let key = keys::alias_stream(alias);
        let found = self.ask(log, |view| {
            let key = key.clone();
            async move { view.rows(&[key]).await }
        });
        let Some(row) = found.await?.pop().flatten() else {
            return Ok(None);
        };
        let id = Uuid::from_slice(&row).map_err(|_| CatalogueError::malformed(&key))?;
        let kind = StreamKind::Alias;
        Ok(Some(StreamRef { kind, id }))
    }

    /// Where the events on a tool call are, in their order, as of the last [`Catalogue::catch_up`] or later;
    /// none where there is no such call.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn events_of_call(
        &self,
        log: &dyn Store,
        call: Uuid,
    ) -> Result<Vec<Position>, CatalogueError> {
        self.ask(log, |view| async move {
            tool_calls::events_of(&view, call).await
        })
        .await
    }

    /// Decisions on tool calls, as of the last [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn decisions(
        &self,
        log: &dyn Store,
        query: &DecisionsQuery,
    ) -> Result<DecisionPage, CatalogueError> {
        self.ask(log, |view| async move {
            tool_calls::decisions(&view, query).await
        })
        .await
    }

    /// How often a permission was used that was given with a tool call, as of the last
    /// [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn uses_of_grant(
        &self,
        log: &dyn Store,
        grant: Uuid,
    ) -> Result<GrantUses, CatalogueError> {
        self.ask(log, |view| async move {
            tool_calls::uses_of(&view, grant).await
        })
        .await
    }

    /// Objects whose ids end with these hex digits, at most `limit`. Hyphens
    /// are ignored, and so is the digits' case.
    ///
    /// # Errors
    /// [`CatalogueError::InvalidSuffix`] for fewer than 8 or more than 32
    /// digits, or for other characters.
    pub async fn by_suffix(
        &self,
        log: &dyn Store,
        suffix_hex: &str,
        limit: usize,
    ) -> Result<Vec<(Kind, Uuid)>, CatalogueError> {
        let Some(digits) = reversed_suffix(suffix_hex) else {
            return Err(CatalogueError::InvalidSuffix {
                suffix: suffix_hex.chars().take(64).collect(),
            });
        };
        let digits = digits.as_slice();
        let found = self.ask(log, |view| async move { view.ending(digits, limit).await });
        let found = found.await?;
        Ok(found.into_iter().map(|row| (row.kind, row.id)).collect())
    }

    /// What the catalogue knows of an object, as of the last
    /// [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn row(
        &self,
        log: &dyn Store,
        id: Uuid,
    ) -> Result<Option<CatalogueRow>, CatalogueError> {
        self.ask(log, |view| async move { view::one(&view, id).await })
            .await
    }

    /// The objects that there are of some ids, in their order, with what they name and, if that is asked for, their
    /// ids in other systems; as of the last [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn placed(
        &self,
        log: &dyn Store,
        ids: &[Uuid],
        with_external_ids: bool,
    ) -> Result<Vec<PlacedObject>, CatalogueError> {
        let read = |view| async move { placed::placed(&view, ids, with_external_ids).await };
        self.ask(log, read).await
    }

    /// Objects of a kind, as of the last [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn list(&self, log: &dyn Store, query: &ListQuery) -> Result<Listed, CatalogueError> {
        self.ask(log, |view| async move { list::list(&view, query).await })
            .await
    }

    /// Counts the objects of a kind in a status, as of the last [`Catalogue::catch_up`] or later, without reading them.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn count(
        &self,
        log: &dyn Store,
        kind: Kind,
        status: Status,
    ) -> Result<u64, CatalogueError> {
        self.ask(log, |view| async move {
            inbox::count(&view, &[keys::of_kind(kind, Some(status))]).await
        })
        .await
    }

    /// Tickets of other systems as sessions read them last, as of the last
    /// [`Catalogue::catch_up`] or later. What commands did to a ticket counts
    /// only once it was read again.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn work_items(
        &self,
        log: &dyn Store,
        query: &WorkItemsQuery,
    ) -> Result<WorkItems, CatalogueError> {
        let read = |view| async move { work_items::work_items(&view, query).await };
        self.ask(log, read).await
    }

    /// The intents that wait for a person, oldest first, as of the last
    /// [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn inbox(
        &self,
        log: &dyn Store,
        query: &InboxQuery,
    ) -> Result<InboxPage, CatalogueError> {
        self.ask(log, |view| async move { inbox::inbox(&view, query).await })
            .await
    }

    /// Counts the intents that wait for a person, as of the last [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn inbox_count(&self, log: &dyn Store) -> Result<u64, CatalogueError> {
        self.ask(log, |view| async move { inbox::total(&view).await })
            .await
    }

    /// What an object names and what names it; `None` if there is no such
    /// object. As of the last [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn links(
        &self,
        log: &dyn Store,
        query: &LinksQuery,
    ) -> Result<Option<Links>, CatalogueError> {
        self.ask(log, |view| async move { links::links(&view, query).await })
            .await
    }

    /// What an object names in one field, in the order given, at most `limit`;
    /// nothing, if there is no such object. As of the last
    /// [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn named(
        &self,
        log: &dyn Store,
        source: Uuid,
        relation: Relation,
        limit: usize,
    ) -> Result<Vec<Uuid>, CatalogueError> {
        let read = |view| async move { links::named(&view, source, relation, limit).await };
        self.ask(log, read).await
    }

    /// The objects that name one in a field, the oldest first, at most `limit`.
    /// The one that is named need not exist. As of the last
    /// [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn naming(
        &self,
        log: &dyn Store,
        target: Uuid,
        relation: Relation,
        limit: usize,
    ) -> Result<Vec<Uuid>, CatalogueError> {
        let read = |view| async move { links::naming(&view, target, relation, limit).await };
        self.ask(log, read).await
    }

    /// An object with what belongs to it; `None` if there is no such object.
    /// As of the last [`Catalogue::catch_up`] or later.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn tree(
        &self,
        log: &dyn Store,
        query: &TreeQuery,
    ) -> Result<Option<Tree>, CatalogueError> {
        self.ask(log, |view| async move { tree::tree(&view, query).await })
            .await
    }

    /// The read model that holds the rows now.
    ///
    /// # Errors
    /// [`CatalogueError::Read`].
    pub async fn model(&self, log: &dyn Store) -> Result<String, CatalogueError> {
        let current = ROWS.current(log).await?;
        Ok(ROWS.model(current))
    }

    /// Writes the overlay out as rows. On a log that is open for reading only
    /// it does nothing.
    ///
    /// # Errors
    /// [`CatalogueError`]; the overlay stays then.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn flush(&self, log: &dyn Store) -> Result<(), CatalogueError> {
        let _folding = self.folding.lock().await;
        for attempt in 1.. {
            match self.write(log).await {
                Err(CatalogueError::Commit(error)) if attempt < FLUSH_ATTEMPTS => {
                    if !self.outdone(&error) {
                        return Err(error.into());
                    }
                    self.fold_to(log, log.watermark()).await?;
                }
                result => return result,
            }
        }
        Ok(())
    }

    /// Begins where the rows end, unless it has begun. The caller holds
    /// `folding`.
    async fn begin(&self, log: &dyn Store) -> Result<(), CatalogueError> {
        if self.state().folded().is_none() {
            let since = log.watermark();
            let (generation, checkpoint) = ROWS.begin(log).await?;
            self.state().start(generation, checkpoint, since);
        }
        Ok(())
    }

    /// The rows with the overlay over them, as they are now. What was forgotten is folded again
    /// first, so that no answer is of an earlier moment than the one before.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    async fn view<'l>(&self, log: &'l dyn Store) -> Result<OverlayView<'l>, CatalogueError> {
        loop {
            if let Some(view) = self.state().view_to_answer(log) {
                return Ok(view);
            }
            let _folding = self.folding.lock().await;
            let reached = self.state().reached();
            self.fold_to(log, reached).await?;
            // Of a log that ends before that now, this is all there is.
            if let Some(view) = self.state().view(log) {
                return Ok(view);
            }
        }
    }

    /// What `read` answers from rows that are all of one moment: it is asked
    /// again while they are not.
    async fn ask<'l, T, F>(
        &self,
        log: &'l dyn Store,
        read: impl Fn(OverlayView<'l>) -> F,
    ) -> Result<T, CatalogueError>
    where
        F: Future<Output = Result<T, CatalogueError>>,
    {
        let mut attempt = 0;
        loop {
            let view = self.view(log).await?;
            let answer = read(view.clone()).await;
            if self.is_whole(&view, &mut attempt).await? {
                return answer;
            }
        }
    }

    /// Whether what was read through a view is all of one moment. If not,
    /// the overlay is brought to what the rows are now.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    async fn is_whole(
        &self,
        view: &OverlayView<'_>,
        attempt: &mut u32,
    ) -> Result<bool, CatalogueError> {
        let actual = view.log.checkpoint(&view.model).await?;
        if actual == view.rows_at {
            return Ok(true);
        }
        *attempt += 1;
        if *attempt >= READ_ATTEMPTS {
            return Err(CatalogueError::Moving { attempts: *attempt });
        }
        // A writer of rows in this process has finished once this lock is held.
        let _folding = self.folding.lock().await;
        let log = view.log;
        if self.state().is_as(view) {
            let actual = log.checkpoint(&view.model).await?;
            self.state().rows_moved(actual);
        }
        self.fold_to(log, log.watermark()).await?;
        Ok(false)
    }

    /// The caller holds `folding`.
    async fn fold_to(&self, log: &dyn Store, target: Position) -> Result<Position, CatalogueError> {
        loop {
            self.begin(log).await?;
            let folded = self.state().folded().unwrap_or(Position::START);
            if folded >= target {
                return Ok(folded);
            }
            let page = log.read(Query::all(folded.next()).limit(PAGE)).await?;
            let Some(last) = page.records.last().map(Record::position) else {
                return Ok(folded);
            };
            self.fold(log, page.records, last).await?;
            if self.state().is_over(OVERLAY_ROWS, BEHIND_LIMIT) {
                self.write_if_possible(log).await?;
            }
        }
    }

    /// Folds a page in. The caller holds `folding`.
    async fn fold(
        &self,
        log: &dyn Store,
        records: Vec<Record>,
        last: Position,
    ) -> Result<(), CatalogueError> {
        let mut steps = step::steps(log, records).await?;
        if self.must_forget(&steps) {
            // What was removed may be in what is folded.
            self.state().forget();
            return Ok(());
        }
        let loaded = {
            let Some(view) = self.state().view(log) else {
                // It was forgotten since the page was read: the caller begins again.
                return Ok(());
            };
            let source = Source {
                log,
                model: &view.model,
                newest: &view.layer,
                writing: None,
                taken: None,
            };
            let loaded = source.load(&steps).await?;
            // Rows that another process wrote meanwhile have more in them than
            // what is folded here.
            if !view.is_whole().await? {
                let actual = log.checkpoint(&view.model).await?;
                self.state().rows_moved(actual);
                return Ok(());
            }
            loaded
        };
        self.state().advance(&mut steps, loaded, last);
        Ok(())
    }

    fn must_forget(&self, steps: &[Step]) -> bool {
        let redacts = |step: &&Step| Redacted::of(&step.decoded.event).is_some();
        let newest = steps.iter().rev().find(redacts);
        newest.is_some_and(|step| self.state().is_older_than(Position(step.position())))
    }

    /// Does something that takes content out of the log, and forgets then what was folded, so
    /// that memory has it no longer, either. Others fold, write rows and ask meanwhile.
    ///
    /// What keeps removed content out of answers and rows is the epoch, here as in other
    /// processes: all that was folded belongs to the epoch that was read before anything of it
    /// was read, and is compared with the log's before rows are written
    /// ([`CommitError::Epoch`]), before a page is folded in, and after each answer was read.
    pub async fn forgetting<T>(&self, work: impl Future<Output = T>) -> T {
        // Also where it is dropped midway: then the log does the work all the same.
        let _forgetting = Forgetting(self);
        work.await
    }

    /// As [`Catalogue::write`]; but where another writer was faster, the rows
    /// are as good as ours, and folding goes on from what they say. Where the
    /// log is open for reading only, what its writer has written meanwhile
    /// needs no place in memory any more.
    async fn write_if_possible(&self, log: &dyn Store) -> Result<(), CatalogueError> {
        match self.write(log).await {
            Err(CatalogueError::Commit(error)) if self.outdone(&error) => Ok(()),
            Ok(()) if self.state().is_read_only() => self.trim(log).await,
            result => result,
        }
    }

    /// Takes notice of why rows were refused; whether it can go on from there.
    fn outdone(&self, error: &CommitError) -> bool {
        match error {
            CommitError::Checkpoint { actual, .. } => {
                self.state().rows_are_at(*actual);
                true
            }
            // What is folded may have what was removed.
            CommitError::Epoch { .. } => {
                self.state().forget();
                true
            }
            _ => false,
        }
    }

    /// Folds again from where the rows are now, if they have moved.
    async fn trim(&self, log: &dyn Store) -> Result<(), CatalogueError> {
        let since = log.watermark();
        let (generation, checkpoint) = ROWS.begin(log).await?;
        self.state().trim(generation, checkpoint, since);
        Ok(())
    }

    /// Commits the overlay as rows. The caller holds `folding`, so that the
    /// overlay does not grow meanwhile.
    async fn write(&self, log: &dyn Store) -> Result<(), CatalogueError> {
        let Some(pending) = self.state().pending() else {
            return Ok(());
        };
        let rows = pending.layer.to_rows()?;
        match log
            .commit(&pending.model, pending.expected, rows, pending.checkpoint)
            .await
        {
            Ok(()) => self.state().written(pending.checkpoint),
            Err(CommitError::ReadOnly) => {
                self.state().never_write();
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        if pending.expected.position == Position::START {
            generation::drop_older_formats(log).await?;
        }
        Ok(())
    }
}

/// Has what was folded forgotten when it goes.
struct Forgetting<'a>(&'a Catalogue);

impl Drop for Forgetting<'_> {
    fn drop(&mut self) {
        self.0.state().forget();
    }
}

/// The digits of a suffix from the last to the first, as numbers.
fn reversed_suffix(suffix: &str) -> Option<Vec<u8>> {
    let digits = suffix.chars().rev().filter(|c| *c != '-');
    let digits: Option<Vec<u8>> = digits
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    digits.filter(|digits| (MIN_SUFFIX..=keys::DIGITS).contains(&digits.len()))
}

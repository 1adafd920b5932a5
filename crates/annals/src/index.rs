//! Lists, look-ups, links and trees: what the catalogue of objects answers.

mod upkeep;

use std::collections::HashSet;

use annals_domain::{IntentId, Kind, StreamRef};
use annals_event_log::Position;
use annals_projections::{
    CatalogueRow, Links, LinksQuery, ListQuery, Listed, Relation, Tree, TreeQuery, WorkItems,
    WorkItemsQuery, new_alias_stream,
};
use uuid::Uuid;

use crate::{Annals, LoadError, ViewError};

/// Refinements of one intent that are looked at for the newest.
const REFINEMENTS: usize = 10_000;

/// The index of a log's objects: lists, look-ups, links and trees. [`Annals::index`] gives it.
///
/// A row costs the same however large its object is; [`Annals::view`] has all that an object says. The rows
/// follow the log by themselves, and can be rebuilt from it at any time.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::Annals;
/// use annals::domain::{ActorRef, Kind};
/// use annals::projections::{ListQuery, Relation};
///
/// let annals = Annals::open("memory:").await?;
/// let ada = ActorRef::human("ada");
/// let intent = annals.by(&ada).submit("Add pagination").await?;
/// annals.by(&ada).analyze(intent, "GET /users takes offset and limit").await?;
/// let task = annals.by(&ada).task(intent, "Paginate GET /users").await?;
///
/// let index = annals.index();
/// let intents = index.list(&ListQuery::new(Kind::Intent)).await?;
/// assert_eq!(intents.rows[0].id, intent.0);
/// assert_eq!(index.naming(intent, Relation::TaskIntent, 10).await?, [task.0]);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Index<'a> {
    pub(crate) annals: &'a Annals,
}

impl Annals {
    /// Lists, look-ups, links and trees of the objects.
    pub fn index(&self) -> Index<'_> {
        Index { annals: self }
    }
}

impl Index<'_> {
    /// What an object is and which stream holds it; `None` if there is no such
    /// object.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn place(self, id: impl Into<Uuid>) -> Result<Option<(Kind, StreamRef)>, LoadError> {
        self.annals.catch_up().await?;
        Ok(self
            .annals
            .catalogue
            .find(self.annals.log.as_ref(), id.into())
            .await?)
    }

    /// The stream that has an alias, or the one that it would get: its id follows from a secret of the
    /// log, which is another one after each redaction, so that an alias that was removed cannot be
    /// found out by trying which text leads to the stream that is left.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn alias_stream(self, alias: &str) -> Result<StreamRef, LoadError> {
        self.annals.catch_up().await?;
        let log = self.annals.log.as_ref();
        if let Some(stream) = self.annals.catalogue.alias_stream(log, alias).await? {
            return Ok(stream);
        }
        let secret = log.id_secret().await?;
        Ok(new_alias_stream(secret.as_ref(), alias))
    }

    /// What the catalogue knows of an object: its title, status, counts,
    /// tokens. It costs the same however large the object is.
    ///
    /// # Errors
    /// [`ViewError::NotFound`] and [`ViewError::Load`].
    pub async fn row(self, id: impl Into<Uuid>) -> Result<CatalogueRow, ViewError> {
        let id = id.into();
        let row = self.annals.row_if_any(id).await?;
        row.ok_or_else(|| ViewError::NotFound { id: id.to_string() })
    }

    /// Where the events on a tool call are, in their order; none where there is no such call.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn events_of_call(self, call: impl Into<Uuid>) -> Result<Vec<Position>, LoadError> {
        self.annals.catch_up().await?;
        let (log, call) = (self.annals.log.as_ref(), call.into());
        Ok(self.annals.catalogue.events_of_call(log, call).await?)
    }

    /// Objects of one kind.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn list(self, query: &ListQuery) -> Result<Listed, LoadError> {
        self.annals.catch_up().await?;
        Ok(self
            .annals
            .catalogue
            .list(self.annals.log.as_ref(), query)
            .await?)
    }

    /// Tickets of other systems as sessions read them last, the newest first.
    /// What commands did to a ticket counts only once it was read again.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn work_items(self, query: &WorkItemsQuery) -> Result<WorkItems, LoadError> {
        self.annals.catch_up().await?;
        Ok(self
            .annals
            .catalogue
            .work_items(self.annals.log.as_ref(), query)
            .await?)
    }

    /// What an object names, and what names it, at most `limit` of each.
    ///
    /// # Errors
    /// [`ViewError::NotFound`] and [`ViewError::Load`].
    pub async fn refs(self, id: impl Into<Uuid>, limit: usize) -> Result<Links, ViewError> {
        let query = LinksQuery::new(id.into()).with_limit(limit);
        self.annals.catch_up().await?;
        let links = self
            .annals
            .catalogue
            .links(self.annals.log.as_ref(), &query)
            .await;
        let id = query.id.to_string();
        let links = links.map_err(LoadError::from)?;
        links.ok_or(ViewError::NotFound { id })
    }

    /// What an object names in one field, in the order given, at most `limit`;
    /// nothing, if there is no such object.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn named(
        self,
        source: impl Into<Uuid>,
        relation: Relation,
        limit: usize,
    ) -> Result<Vec<Uuid>, LoadError> {
        self.annals.catch_up().await?;
        let (log, source) = (self.annals.log.as_ref(), source.into());
        Ok(self
            .annals
            .catalogue
            .named(log, source, relation, limit)
            .await?)
    }

    /// The objects that name one in a field, the oldest first, at most `limit`.
    /// The one that is named need not exist.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn naming(
        self,
        target: impl Into<Uuid>,
        relation: Relation,
        limit: usize,
    ) -> Result<Vec<Uuid>, LoadError> {
        self.annals.catch_up().await?;
        let (log, target) = (self.annals.log.as_ref(), target.into());
        Ok(self
            .annals
            .catalogue
            .naming(log, target, relation, limit)
            .await?)
    }

    /// An object with what belongs to it, and what belongs to that.
    ///
    /// # Errors
    /// [`ViewError::NotFound`] and [`ViewError::Load`].
    pub async fn tree(self, query: &TreeQuery) -> Result<Tree, ViewError> {
        self.annals.catch_up().await?;
        let tree = self
            .annals
            .catalogue
            .tree(self.annals.log.as_ref(), query)
            .await;
        let id = query.id.to_string();
        let tree = tree.map_err(LoadError::from)?;
        tree.ok_or(ViewError::NotFound { id })
    }

    /// A chain of refinements (docs/spec/git-internal.md, Intent, `parent`), the newest first:
    /// the intent, what refines it, and what it refines. Where several refine one,
    /// the newest of them goes on.
    ///
    /// # Errors
    /// [`ViewError::NotFound`] and [`ViewError::Load`].
    pub async fn refinements(self, intent: IntentId) -> Result<Vec<CatalogueRow>, ViewError> {
        let mut seen = HashSet::from([intent.0]);
        let mut newest = intent.0;
        loop {
            let refining = self
                .naming(newest, Relation::IntentParent, REFINEMENTS)
                .await?;
            match refining.last().filter(|next| seen.insert(**next)) {
                Some(next) => newest = *next,
                None => break,
            }
        }
        let (mut chain, mut next, mut shown) = (Vec::new(), Some(newest), HashSet::new());
        while let Some(id) = next.filter(|id| shown.insert(*id)) {
            let row = match self.row(id).await {
                Ok(row) => row,
                // What was adopted may refine an intent that this log does not have.
                Err(ViewError::NotFound { .. }) if !chain.is_empty() => break,
                Err(error) => return Err(error),
            };
            let mut links = row.links.iter();
            let refined = links.find(|(relation, _)| *relation == Relation::IntentParent);
            next = refined.map(|(_, target)| *target);
            chain.push(row);
        }
        Ok(chain)
    }

    /// What an object is called: its first alias, or else its id, which need not be
    /// an object's.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn called(self, id: Uuid) -> Result<String, LoadError> {
        self.annals.catch_up().await?;
        let row = self
            .annals
            .catalogue
            .row(self.annals.log.as_ref(), id)
            .await?;
        let alias = row.and_then(|row| row.aliases.into_iter().next());
        Ok(alias.unwrap_or_else(|| id.to_string()))
    }
}

//! What an object names, and what names it.

use annals_domain::Kind;
use annals_event_log::Direction;
use derive_new::new;
use derive_setters::Setters;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::CatalogueError;
use super::keys;
use super::overlay_view::OverlayView;
use super::relation::Relation;
use super::status::Status;
use super::view::{kind_word, status_word};
use crate::Text;

/// Rows that are read at once; a store gives no more than 10,000.
const PAGE: usize = 1_000;

/// Of which object to show the links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, new, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct LinksQuery {
    /// The object.
    #[setters(skip)]
    pub id: Uuid,
    /// At most so many in each direction; 100 unless it is said.
    #[new(value = "100")]
    pub limit: usize,
}

/// What an object names, and what names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Links {
    /// Objects that it names, by field and then in the order given.
    pub forward: Vec<LinkRow>,
    /// Objects that name it, by field and then by their age, the oldest first.
    pub backward: Vec<LinkRow>,
    /// Whether there are more than were requested.
    pub more: bool,
}

/// One end of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LinkRow {
    /// The field that makes the link.
    #[serde(serialize_with = "relation_name")]
    pub relation: Relation,
    /// The object at the other end.
    pub id: Uuid,
    /// What it is.
    #[serde(serialize_with = "kind_word")]
    pub kind: Kind,
    /// Whether it exists. What another system recorded may name what it did
    /// not hand over.
    pub exists: bool,
    /// What it is called by.
    pub title: Option<Text>,
    /// Where it is in its life.
    #[serde(serialize_with = "status_word")]
    pub status: Option<Status>,
}

fn relation_name<S: Serializer>(relation: &Relation, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(relation.name())
}

/// Both directions; `None` if there is no such object.
pub(super) async fn links(
    view: &OverlayView<'_>,
    query: &LinksQuery,
) -> Result<Option<Links>, CatalogueError> {
    let Some(row) = view.object(query.id).await? else {
        return Ok(None);
    };
    let limit = query.limit.max(1);
    let mut forward: Vec<(Relation, Uuid)> = row
        .to_one()
        .map(|link| (link.relation, link.target))
        .collect();
    forward.extend(ends(view, &keys::named_by(query.id), limit.saturating_add(1)).await?);
    forward.sort_by_key(|(relation, _)| *relation);
    let mut backward = ends(
        view,
        &keys::naming_anyhow(query.id),
        limit.saturating_add(1),
    )
    .await?;
    let more = forward.len() > limit || backward.len() > limit;
    forward.truncate(limit);
    backward.truncate(limit);
    Ok(Some(Links {
        forward: rows(view, forward, Relation::target).await?,
        backward: rows(view, backward, Relation::source).await?,
        more,
    }))
}

/// What an object names in one field, in the order given, at most `limit`.
pub(super) async fn named(
    view: &OverlayView<'_>,
    source: Uuid,
    relation: Relation,
    limit: usize,
) -> Result<Vec<Uuid>, CatalogueError> {
    if relation.is_many() {
        let ends = ends(view, &keys::named_in(source, relation), limit).await?;
        return Ok(ends.into_iter().map(|(_, id)| id).collect());
    }
    let row = view.object(source).await?;
    let links = row.iter().flat_map(|row| row.to_one());
    let targets = links.filter(|link| link.relation == relation);
    Ok(targets.map(|link| link.target).take(limit).collect())
}

/// The objects that name one in a field, the oldest first, at most `limit`.
pub(super) async fn naming(
    view: &OverlayView<'_>,
    target: Uuid,
    relation: Relation,
    limit: usize,
) -> Result<Vec<Uuid>, CatalogueError> {
    let ends = ends(view, &keys::naming(target, relation), limit).await?;
    Ok(ends.into_iter().map(|(_, id)| id).collect())
}

async fn ends(
    view: &OverlayView<'_>,
    prefix: &[u8],
    limit: usize,
) -> Result<Vec<(Relation, Uuid)>, CatalogueError> {
    let (mut ends, mut after) = (Vec::new(), None);
    while ends.len() < limit {
        let page = (limit - ends.len()).min(PAGE);
        let read = view.scan(prefix, after.as_deref(), Direction::Forward, page);
        let rows = read.await?;
        for (key, value) in &rows {
            let malformed = || CatalogueError::malformed(key);
            let relation = keys::relation_in(key).ok_or_else(malformed)?;
            ends.push((relation, Uuid::from_slice(value).map_err(|_| malformed())?));
        }
        if rows.len() < page {
            break;
        }
        after = rows.into_iter().next_back().map(|(key, _)| key);
    }
    Ok(ends)
}

async fn rows(
    view: &OverlayView<'_>,
    ends: Vec<(Relation, Uuid)>,
    kind: impl Fn(Relation) -> Kind,
) -> Result<Vec<LinkRow>, CatalogueError> {
    let ids: Vec<Uuid> = ends.iter().map(|(_, id)| *id).collect();
    let found = view.objects(&ids).await?;
    let row = |((relation, id), row): ((Relation, Uuid), Option<super::row::ObjectRow>)| LinkRow {
        relation,
        id,
        kind: row.as_ref().map_or(kind(relation), |row| row.kind),
        exists: row.is_some(),
        status: row.as_ref().and_then(|row| row.status),
        title: row.and_then(|row| row.title),
    };
    Ok(ends.into_iter().zip(found).map(row).collect())
}

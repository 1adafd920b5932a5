//! Lists of objects of one kind.
//!
//! Every filter but the time is a list of its own (that by actor says in which
//! stretches of the log to look), in the order in which the
//! objects were created; several filters are what their lists have in common.
//! So a filter that few objects pass costs what those few cost.

use annals_domain::{Kind, Timestamp};
use annals_event_log::{Direction, Position};
use bytes::Bytes;
use derive_new::new;
use derive_setters::Setters;
use serde::Serialize;
use uuid::Uuid;

use super::CatalogueError;
use super::facet::IntentFilter;
use super::keys;
use super::overlay_view::OverlayView;
use super::relation::Relation;
use super::row::{LabelMap, ObjectRow};
use super::status::Status;
use super::view::{CatalogueRow, whole};
use super::walk::{Walk, next_of_all};

/// Rows that are looked at at once.
const PAGE: usize = 256;

/// Which objects to list: the newest 20 of a kind, unless more is said.
#[derive(Debug, Clone, PartialEq, Eq, new, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ListQuery {
    /// Objects of this kind.
    #[setters(skip)]
    pub kind: Kind,
    /// Only those in this status.
    #[new(default)]
    #[setters(into)]
    pub status: Option<Status>,
    /// Only those whose first event this actor caused.
    #[new(default)]
    #[setters(into)]
    pub actor_id: Option<String>,
    /// Only where the actor is of this kind.
    #[new(default)]
    #[setters(into)]
    pub actor_kind: Option<String>,
    /// Only those that belong to this object: whose field names it as parent,
    /// run, task, plan, snapshot, pipeline or patch set.
    #[new(default)]
    #[setters(into)]
    pub parent: Option<Uuid>,
    /// Only those that have a tag of this name, and this value if there is one.
    #[new(default)]
    #[setters(into)]
    pub tag: Option<(String, Option<String>)>,
    /// Of intents, only those that have all of this.
    #[new(default)]
    pub intents: IntentFilter,
    /// Only those that have an id of this name in another system, and this value if there is one.
    #[new(default)]
    #[setters(into)]
    pub external_id: Option<(String, Option<String>)>,
    /// Only those whose first event happened at this time or later.
    #[new(default)]
    #[setters(into)]
    pub since: Option<Timestamp>,
    /// Only those whose first event happened before this time.
    #[new(default)]
    #[setters(into)]
    pub until: Option<Timestamp>,
    /// The oldest first; otherwise the newest.
    #[new(default)]
    pub oldest_first: bool,
    /// Only those behind the object that began at this position; a list's
    /// `next` goes on where it ended.
    #[new(default)]
    #[setters(into)]
    pub after: Option<Position>,
    /// At most so many; 0 counts as 1.
    #[new(value = "20")]
    pub limit: usize,
}

/// Part of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// The objects, in the order of their first events.
    pub rows: Vec<CatalogueRow>,
    /// Where the list goes on, if there is more of it.
    #[serde(skip)]
    pub next: Option<Position>,
}

/// Lists objects.
pub(super) async fn list(
    view: &OverlayView<'_>,
    query: &ListQuery,
) -> Result<Listed, CatalogueError> {
    let limit = query.limit.max(1);
    let mut walks = walks(view, query).await?;
    let mut found: Vec<ObjectRow> = Vec::new();
    // One more than is wanted says whether the list goes on.
    while found.len() <= limit {
        let mut ids: Vec<Uuid> = Vec::new();
        let wanted = if query.looks_at_rows() {
            PAGE
        } else {
            limit.saturating_add(1)
        };
        while ids.len() < wanted.min(PAGE) {
            match next_of_all(&mut walks, view).await? {
                Some((_, id)) => ids.push(id),
                None => break,
            }
        }
        if ids.is_empty() {
            break;
        }
        let rows = view.objects(&ids).await?;
        let rows = rows.into_iter().flatten();
        found.extend(rows.filter(|row| query.admits(row)));
    }
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(ObjectRow::first_position);
    let mut rows = Vec::with_capacity(found.len());
    for row in found {
        rows.push(whole(view, row).await?);
    }
    give_task_titles(view, &mut rows).await?;
    Ok(Listed { rows, next })
}

/// Says of runs what they are for: their tasks' titles, which are looked up together.
async fn give_task_titles(
    view: &OverlayView<'_>,
    rows: &mut [CatalogueRow],
) -> Result<(), CatalogueError> {
    let task_of = |row: &CatalogueRow| {
        let mut links = row.links.iter();
        let task = links.find(|(relation, _)| *relation == Relation::RunTask);
        task.map(|(_, task)| *task)
    };
    let tasks: Vec<Uuid> = rows.iter().filter_map(task_of).collect();
    let mut titles = view.objects(&tasks).await?.into_iter();
    for row in rows.iter_mut().filter(|row| task_of(row).is_some()) {
        row.task_title = titles.next().flatten().and_then(|task| task.title);
    }
    Ok(())
}

impl ListQuery {
    /// Whether some filter is not an exact list, so that rows must be looked at.
    fn looks_at_rows(&self) -> bool {
        self.since.is_some() || self.until.is_some() || self.actor_id.is_some()
    }

    fn admits(&self, row: &ObjectRow) -> bool {
        let (kind, id) = (self.actor_kind.as_ref(), self.actor_id.as_ref());
        id.is_none_or(|id| *id == row.actor_id)
            && kind.is_none_or(|kind| kind == row.actor_kind.as_str())
            && self.since.is_none_or(|since| row.created_at >= since)
            && self.until.is_none_or(|until| row.created_at < until)
    }

    fn direction(&self) -> Direction {
        if self.oldest_first {
            Direction::Forward
        } else {
            Direction::Backward
        }
    }
}

/// The lists that an object must be in, those that are likely shorter first.
async fn walks(view: &OverlayView<'_>, query: &ListQuery) -> Result<Vec<Walk>, CatalogueError> {
    let kind = query.kind;
    let mut lists: Vec<Vec<Bytes>> = Vec::new();
    if let Some((name, value)) = &query.tag {
        let list = keys::of_label(LabelMap::Tags, kind, name, value.as_deref());
        lists.push(vec![list]);
    }
    if let Some((name, value)) = &query.external_id {
        let list = keys::of_label(LabelMap::ExternalIds, kind, name, value.as_deref());
        lists.push(vec![list]);
    }
    if let Some(parent) = query.parent {
        lists.push(children(view, kind, parent).await?);
    }
    if !query.intents.is_empty() {
        if kind != Kind::Intent {
            return Err(CatalogueError::OnlyIntents { kind });
        }
        lists.extend(query.intents.lists().into_iter().map(|list| vec![list]));
    }
    if let Some(status) = query.status {
        lists.push(vec![keys::of_kind(kind, Some(status))]);
    }
    if lists.is_empty() {
        lists.push(in_any_status(kind));
    }
    let (direction, after) = (query.direction(), query.after.map(|after| after.0));
    let walk = |list| Walk::new(list, direction, after);
    let mut walks: Vec<Walk> = lists.into_iter().map(walk).collect();
    if let Some(actor) = &query.actor_id {
        walks.push(Walk::of_blocks(keys::of_actor(kind, actor), direction));
    }
    Ok(walks)
}

/// The lists of all objects of a kind: one for each status.
fn in_any_status(kind: Kind) -> Vec<Bytes> {
    match Status::of(kind) {
        [] => vec![keys::of_kind(kind, None)],
        statuses => statuses
            .iter()
            .map(|status| keys::of_kind(kind, Some(*status)))
            .collect(),
    }
}

/// The lists of the objects of a kind that belong to another object.
async fn children(
    view: &OverlayView<'_>,
    kind: Kind,
    parent: Uuid,
) -> Result<Vec<Bytes>, CatalogueError> {
    let Some(row) = view.object(parent).await? else {
        return Ok(Vec::new());
    };
    let relations = Relation::parents(kind, row.kind);
    let lists: Vec<Bytes> = relations
        .map(|relation| keys::naming(parent, relation))
        .collect();
    if lists.is_empty() {
        return Err(CatalogueError::NotAParent {
            child: kind,
            parent: row.kind,
        });
    }
    Ok(lists)
}

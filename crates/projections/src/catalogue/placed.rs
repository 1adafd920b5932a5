//! Where objects belong: of many at once, what they name and what they are called, and no more.

use annals_domain::Kind;
use annals_event_log::Direction;
use uuid::Uuid;

use super::CatalogueError;
use super::fold::read_label;
use super::keys;
use super::overlay_view::OverlayView;
use super::relation::Relation;
use super::row::{LabelMap, ObjectRow};
use crate::Text;

/// External ids that are looked at of one object.
const MOST_LABELS: usize = 100;

/// An object with what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedObject {
    /// Its id.
    pub id: Uuid,
    /// What it is.
    pub kind: Kind,
    /// What it is called, as in a list.
    pub title: Option<Text>,
    /// What it names in fields that hold one object.
    pub links: Vec<(Relation, Uuid)>,
    /// Its ids in other systems, if they were asked for.
    pub external_ids: Vec<(String, String)>,
}

impl PlacedObject {
    /// What it names in a field that holds one object.
    pub fn link(&self, relation: Relation) -> Option<Uuid> {
        let mut links = self.links.iter();
        let link = links.find(|(named, _)| *named == relation);
        link.map(|(_, target)| *target)
    }
}

/// The objects that there are of some ids, in their order.
pub(super) async fn placed(
    view: &OverlayView<'_>,
    ids: &[Uuid],
    with_external_ids: bool,
) -> Result<Vec<PlacedObject>, CatalogueError> {
    let mut placed = Vec::with_capacity(ids.len());
    for row in view.objects(ids).await?.into_iter().flatten() {
        let external_ids = match with_external_ids && row.external_ids > 0 {
            true => external_ids(view, &row).await?,
            false => Vec::new(),
        };
        placed.push(PlacedObject {
            id: row.id,
            kind: row.kind,
            links: row
                .to_one()
                .map(|link| (link.relation, link.target))
                .collect(),
            external_ids,
            title: row.title,
        });
    }
    Ok(placed)
}

async fn external_ids(
    view: &OverlayView<'_>,
    row: &ObjectRow,
) -> Result<Vec<(String, String)>, CatalogueError> {
    let prefix = keys::labels(LabelMap::ExternalIds, row.id);
    let scanned = view.scan(&prefix, None, Direction::Forward, MOST_LABELS);
    let labels = scanned.await?.into_iter();
    labels
        .map(|(key, value)| read_label(&value).ok_or_else(|| CatalogueError::malformed(&key)))
        .collect()
}

//! Which objects a command means: those that it names, and what belongs to them.

use std::collections::HashSet;

use annals::{Annals, At};
use annals_domain::Kind;
use annals_projections::{ObjectView, TreeQuery};
use uuid::Uuid;

use super::RetentionError;

/// Objects below one that is named, at most.
const MOST: usize = 1_000_000;
const DEEPEST: usize = 256;

/// The snapshots, runs and objects of runs that are meant; `None` for all of the log.
pub(super) async fn of(
    annals: &Annals,
    objects: &[Uuid],
) -> Result<Option<HashSet<Uuid>>, RetentionError> {
    if objects.is_empty() {
        return Ok(None);
    }
    let mut meant = HashSet::new();
    for id in objects {
        let query = TreeQuery::new(*id)
            .with_depth(DEEPEST)
            .with_breadth(MOST)
            .with_objects(MOST);
        let tree = annals.index().tree(&query).await?;
        if tree.more {
            return Err(RetentionError::TooMuch { id: *id });
        }
        for node in tree.nodes {
            meant.insert(node.row.id);
            if node.row.kind == Kind::Run
                && let ObjectView::Run(run) = annals.view_at(node.row.id, At::Now).await?
            {
                meant.extend(run.snapshot.map(|snapshot| snapshot.0));
            }
        }
    }
    Ok(Some(meant))
}

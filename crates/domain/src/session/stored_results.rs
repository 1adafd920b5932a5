//! Results and plans as events store them.

use serde::Serialize;

use super::{
    Artifact, ArtifactAvailable, BacklogQueried, Correlation, ItemStatus, PlanUpdated, TaskPlan,
    WorkItemDetails, WorkItemQueried, WorkItemSummary, plan::STAND,
};
use crate::pieces::Pieces;
use crate::{Json, Refusal};

/// Bytes of ids and states in one event of a backlog; the structure of an event
/// has room for twice as much.
const BACKLOG_BYTES: usize = 32 * 1024;

/// A value as free JSON; `field` is what a refusal names.
pub(super) fn json<T: Serialize>(field: &'static str, value: &T) -> Result<Json, Refusal> {
    Json::from_value(value).map_err(|error| Refusal::invalid(field, error.to_string()))
}

impl ArtifactAvailable {
    /// An artifact, its texts as content.
    pub fn store(
        artifact: &Artifact,
        correlation: Correlation,
        pieces: &mut Pieces,
    ) -> ArtifactAvailable {
        ArtifactAvailable {
            kind: artifact.kind,
            name: pieces.text(artifact.name.as_str()),
            inline_text: pieces.optional_text(artifact.inline_text.as_deref()),
            path_hint: pieces.optional_text(artifact.path_hint.as_deref()),
            download_uri: pieces.optional_text(artifact.download_uri.as_deref()),
            content_type: pieces.optional_text(artifact.content_type.as_deref()),
            correlation,
        }
    }
}

impl BacklogQueried {
    /// A backlog as events, with their content: one, or several for a long one.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], if it cannot be written as JSON.
    pub fn store(
        items: &[WorkItemSummary],
        correlation: &Correlation,
    ) -> Result<Vec<(BacklogQueried, Pieces)>, Refusal> {
        let mut events = Vec::new();
        let mut rest = items;
        loop {
            let (part, more) = rest.split_at(fitting(rest));
            let mut pieces = Pieces::new();
            let event = BacklogQueried {
                items: part.iter().map(item_status).collect(),
                rows: pieces.json(&json("items", &part)?),
                more: !more.is_empty(),
                correlation: correlation.clone(),
            };
            events.push((event, pieces));
            rest = more;
            if rest.is_empty() {
                return Ok(events);
            }
        }
    }
}

/// How many tickets go into one event: at least one, if there is one.
fn fitting(items: &[WorkItemSummary]) -> usize {
    let mut bytes = 0_usize;
    for (index, item) in items.iter().enumerate() {
        let texts = item.id.len().max(STAND) + item.status.len().max(STAND);
        bytes = bytes.saturating_add(texts + 2);
        if bytes > BACKLOG_BYTES {
            return index.max(1);
        }
    }
    items.len()
}

fn item_status(item: &WorkItemSummary) -> ItemStatus {
    ItemStatus {
        id: item.id.clone(),
        status: item.status.clone(),
    }
}

impl WorkItemQueried {
    /// A ticket, all that was said of it as content.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], if it cannot be written as JSON.
    pub fn store(
        details: &WorkItemDetails,
        correlation: Correlation,
        pieces: &mut Pieces,
    ) -> Result<WorkItemQueried, Refusal> {
        Ok(WorkItemQueried {
            item: ItemStatus {
                id: details.id.clone(),
                status: details.status.clone(),
            },
            details: pieces.json(&json("details", details)?),
            correlation,
        })
    }
}

impl PlanUpdated {
    /// A plan, all but the ids of its nodes as content.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], if it cannot be written as JSON.
    pub fn store(
        plan: &TaskPlan,
        correlation: Correlation,
        pieces: &mut Pieces,
    ) -> Result<PlanUpdated, Refusal> {
        Ok(PlanUpdated {
            nodes: plan.nodes.iter().map(|node| node.id.clone()).collect(),
            plan: pieces.json(&json("plan", plan)?),
            correlation,
        })
    }
}

//! Tool calls: where the events on one are, and the decisions on all of them.
//!
//! A list of decisions is a walk through rows that have their positions: what a decision says is in its
//! record. So a row costs the same for each of them, and has no content.

use annals_domain::Kind;
use annals_domain::run::{ToolDecider, ToolVerdict};
use annals_event_log::{Direction, Position};
use bytes::Bytes;
use derive_setters::Setters;
use serde::Serialize;
use uuid::Uuid;

use super::CatalogueError;
use super::keys;
use super::overlay_view::OverlayView;
use super::row::ObjectRow;
use super::walk::{Walk, next_of_all};
use crate::Text;

/// Events on one call that are read at once; few calls have more.
const PAGE: usize = 256;

/// Rows that are looked at at once.
const AT_ONCE: usize = 256;
/// Uses of one permission that are counted.
const MOST_USES: usize = 100_000;

/// Which decisions on tool calls to list: the newest 20 of all, unless more is said.
#[derive(Debug, Clone, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct DecisionsQuery {
    /// Only with one of these verdicts; any, if there are none.
    pub verdicts: Vec<ToolVerdict>,
    /// Only by one of these; by any, if there are none.
    pub by: Vec<ToolDecider>,
    /// Only in these runs.
    #[setters(into)]
    pub runs: Option<Vec<Uuid>>,
    /// Only on calls of this tool, in any letters.
    #[setters(into)]
    pub tool: Option<String>,
    /// Only those that later calls can rest on: for a session, or kept in settings.
    pub grants: bool,
    /// Only those at this position or behind it.
    #[setters(into)]
    pub since: Option<Position>,
    /// The oldest first; otherwise the newest.
    pub oldest_first: bool,
    /// Only those behind this position in the list's direction; a list's `next` goes on where it ended.
    #[setters(into)]
    pub after: Option<Position>,
    /// At most so many; 0 counts as 1.
    pub limit: usize,
}

impl Default for DecisionsQuery {
    fn default() -> DecisionsQuery {
        DecisionsQuery {
            verdicts: Vec::new(),
            by: Vec::new(),
            runs: None,
            tool: None,
            grants: false,
            since: None,
            oldest_first: false,
            after: None,
            limit: 20,
        }
    }
}

/// Where a decision on a tool call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionPlace {
    /// The position of the decision's record.
    pub position: Position,
    /// The call.
    pub call: Uuid,
    /// The call's run.
    pub run: Uuid,
    /// The tool's name.
    pub tool: Option<Text>,
    /// The position of the first event on the call.
    pub first_position: Position,
}

/// Part of a list of decisions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DecisionPage {
    /// The decisions, in the order of their positions.
    pub rows: Vec<DecisionPlace>,
    /// Where the list goes on, if there is more of it.
    pub next: Option<Position>,
}

/// Uses of a permission that was given with a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct GrantUses {
    /// Decisions that rest on it.
    pub count: usize,
    /// The position of the last one.
    #[serde(serialize_with = "crate::history::optional_position")]
    pub last: Option<Position>,
}

impl DecisionsQuery {
    fn direction(&self) -> Direction {
        match self.oldest_first {
            true => Direction::Forward,
            false => Direction::Backward,
        }
    }

    /// The lists that a decision must be in, those that are likely shorter first.
    fn walks(&self) -> Vec<Walk> {
        let mut lists: Vec<Vec<Bytes>> = Vec::new();
        if self.grants {
            lists.push(vec![keys::granted()]);
        }
        if let Some(runs) = &self.runs {
            lists.push(runs.iter().map(|run| keys::decided_in(*run)).collect());
        }
        let is_of =
            |verdict: &ToolVerdict| self.verdicts.is_empty() || self.verdicts.contains(verdict);
        let is_by = |by: &ToolDecider| self.by.is_empty() || self.by.contains(by);
        let verdicts = ToolVerdict::ALL.iter().filter(|it| is_of(it));
        let decided = verdicts.flat_map(|verdict| {
            let by = ToolDecider::ALL.iter().filter(|it| is_by(it));
            by.map(|by| keys::decided(*verdict, *by))
        });
        lists.push(decided.collect());
        let begins = match (self.after, self.since) {
            (None, Some(since)) if self.oldest_first => Some(since.0.saturating_sub(1)),
            (after, _) => after.map(|after| after.0),
        };
        let direction = self.direction();
        let walk = |prefixes| Walk::new(prefixes, direction, begins);
        lists.into_iter().map(walk).collect()
    }

    fn admits(&self, row: &ObjectRow) -> bool {
        let Some(tool) = &self.tool else {
            return true;
        };
        let name = row.title.as_ref().and_then(Text::as_str);
        name.is_some_and(|name| name.to_lowercase() == tool.to_lowercase())
    }
}

/// Lists decisions.
pub(super) async fn decisions(
    view: &OverlayView<'_>,
    query: &DecisionsQuery,
) -> Result<DecisionPage, CatalogueError> {
    let limit = query.limit.max(1);
    let mut walks = query.walks();
    let mut rows: Vec<DecisionPlace> = Vec::new();
    // One more than is wanted says whether the list goes on.
    while rows.len() <= limit {
        let mut found = Vec::new();
        while found.len() < AT_ONCE {
            match next_of_all(&mut walks, view).await? {
                Some((position, _)) if query.since.is_some_and(|since| position < since.0) => {
                    if !query.oldest_first {
                        walks.clear();
                    }
                }
                Some(next) => found.push(next),
                None => break,
            }
        }
        if found.is_empty() {
            break;
        }
        let calls: Vec<Uuid> = found.iter().map(|(_, call)| *call).collect();
        let objects = view.objects(&calls).await?;
        for ((position, call), row) in found.into_iter().zip(objects) {
            if let Some(row) = row.filter(|row| query.admits(row)) {
                rows.push(DecisionPlace {
                    position: Position(position),
                    call,
                    run: row.stream,
                    first_position: row.first_position(),
                    tool: row.title,
                });
            }
        }
    }
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| row.position);
    Ok(DecisionPage { rows, next })
}

/// The decisions that rest on a permission that was given with a tool call.
pub(super) async fn uses_of(
    view: &OverlayView<'_>,
    grant: Uuid,
) -> Result<GrantUses, CatalogueError> {
    let prefix = keys::using(grant);
    let mut uses = GrantUses::default();
    let mut after: Option<Bytes> = None;
    while uses.count < MOST_USES {
        let forward = Direction::Forward;
        let page = view
            .scan(&prefix, after.as_deref(), forward, AT_ONCE)
            .await?;
        uses.count += page.len();
        let Some((key, _)) = page.last() else {
            break;
        };
        uses.last = keys::position_in(key, &prefix).map(Position);
        if page.len() < AT_ONCE {
            break;
        }
        after = Some(key.clone());
    }
    Ok(uses)
}

/// The positions of the events on a tool call.
pub(super) async fn events_of(
    view: &OverlayView<'_>,
    call: Uuid,
) -> Result<Vec<Position>, CatalogueError> {
    let Some(row) = view.object(call).await? else {
        return Ok(Vec::new());
    };
    if row.kind != Kind::ToolInvocation {
        return Ok(Vec::new());
    }
    let mut positions = vec![row.first_position()];
    let prefix = keys::later_events_of(call);
    let mut after = None;
    loop {
        let forward = Direction::Forward;
        let page = view.scan(&prefix, after.as_deref(), forward, PAGE).await?;
        for (key, _) in &page {
            let position = keys::position_in(key, &prefix);
            let position = position.ok_or_else(|| CatalogueError::malformed(key))?;
            positions.push(Position(position));
        }
        match page.last() {
            Some((key, _)) if page.len() == PAGE => after = Some(key.clone()),
            _ => return Ok(positions),
        }
    }
}

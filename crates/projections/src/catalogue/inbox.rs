//! The inbox: the intents that wait for a person (docs/spec/forge.md, Inbox).
//!
//! An intent that waits is in one list, by what it waits for. So what the
//! inbox costs does not depend on how many intents there are. What is approved and depends on
//! others is in a list, too, and is looked at each time: it waits for a person
//! where one of those was turned down.

use std::collections::HashSet;

use annals_domain::Timestamp;
use annals_domain::intent::ApprovalStatus;
use annals_event_log::{Direction, Position};
use bytes::Bytes;
use derive_setters::Setters;
use serde::Serialize;
use uuid::Uuid;

use super::CatalogueError;
use super::fold::{
    MOST_ANCESTORS, approval, approval_without_open, intent_counts, waits_for_tasks,
};
use super::keys;
use super::links::{named, naming};
use super::overlay_view::OverlayView;
use super::relation::Relation;
use super::row::{Counts, IntentCounts, Link, ObjectRow};
use super::status::Status;
use super::view::{CatalogueRow, whole};
use super::waits::{Waits, waits};
use super::walk::{Walk, next_of_all};

/// Rows that are looked at at once.
const PAGE: usize = 256;

/// Why an intent is in the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxReason {
    /// It is proposed, and nothing approved it by itself.
    Approval,
    /// A question has no answer.
    Clarification,
    /// Some of its tasks failed, or some of its children.
    Blocked,
    /// All of them failed.
    Error,
    /// It begins when an intent is done that was rejected or cancelled, or a task of it when another
    /// one is that failed or was cancelled; or it is a part of what has ended.
    Dependency,
}

impl InboxReason {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            InboxReason::Approval => "approval",
            InboxReason::Clarification => "clarification",
            InboxReason::Blocked => "blocked",
            InboxReason::Error => "error",
            InboxReason::Dependency => "dependency",
        }
    }
}

/// Which of the inbox to show: the oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct InboxQuery {
    /// Only those behind the intent that began at this position; an inbox's
    /// `next` goes on where it ended.
    #[setters(into)]
    pub after: Option<Position>,
    /// At most so many; 0 counts as 1.
    pub limit: usize,
}

impl Default for InboxQuery {
    /// The oldest 100.
    fn default() -> InboxQuery {
        InboxQuery {
            after: None,
            limit: 100,
        }
    }
}

/// Part of the inbox.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InboxPage {
    /// The intents, oldest first.
    pub entries: Vec<InboxEntry>,
    /// How many there are in all.
    pub total: u64,
    /// Where the inbox goes on, if there is more of it.
    #[serde(skip)]
    pub next: Option<Position>,
}

/// An intent in the inbox.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InboxEntry {
    /// Why it is there; the first reason is what it waits for most.
    pub reasons: Vec<InboxReason>,
    /// How many questions have no answer.
    pub unanswered: u32,
    /// The intent.
    #[serde(flatten)]
    pub row: CatalogueRow,
}

impl InboxEntry {
    /// The intent's id.
    pub fn id(&self) -> Uuid {
        self.row.id
    }

    /// When it was proposed.
    pub fn since(&self) -> Timestamp {
        self.row.created_at
    }
}

/// An intent that may be in the inbox.
struct Candidate {
    row: ObjectRow,
    /// Whether it or a task of it waits for what is never done.
    is_stuck: bool,
}

impl Candidate {
    async fn of(view: &OverlayView<'_>, row: ObjectRow) -> Result<Candidate, CatalogueError> {
        let is_stuck = is_stuck(view, &row).await?
            || has_stuck_task(view, &row).await?
            || is_left_over(view, &row).await?;
        Ok(Candidate { row, is_stuck })
    }

    /// Whether it waits for a person.
    fn waits(&self) -> bool {
        let statuses = approval(&self.row).zip(approval_without_open(&self.row));
        let counts = intent_counts(&self.row).zip(statuses);
        match counts.and_then(|(counts, (status, settled))| waits(counts, status, settled)) {
            Some(Waits::Dependency) => self.is_stuck,
            waits => waits.is_some(),
        }
    }
}

/// Whether an approved intent depends on one that was turned down.
async fn is_stuck(view: &OverlayView<'_>, row: &ObjectRow) -> Result<bool, CatalogueError> {
    let many = intent_counts(row).map_or(0, |counts| counts.dependencies);
    if many == 0 || approval(row) != Some(ApprovalStatus::Approved) {
        return Ok(false);
    }
    let many = usize::try_from(many).unwrap_or(usize::MAX);
    let needed = named(view, row.id, Relation::IntentDependencies, many).await?;
    for page in needed.chunks(PAGE) {
        let rows = view.objects(page).await?;
        let is_over = |status| {
            matches!(
                status,
                Some(ApprovalStatus::Rejected | ApprovalStatus::Cancelled)
            )
        };
        if rows.iter().flatten().any(|row| is_over(approval(row))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a task of an intent was not begun and waits for one that failed or was called off.
async fn has_stuck_task(view: &OverlayView<'_>, row: &ObjectRow) -> Result<bool, CatalogueError> {
    let waiting = intent_counts(row).map_or(0, |counts| counts.waiting);
    let goes_on = matches!(
        approval(row),
        Some(ApprovalStatus::Approved | ApprovalStatus::Executing)
    );
    if waiting == 0 || !goes_on {
        return Ok(false);
    }
    for relation in [Relation::TaskIntent, Relation::TaskPartOf] {
        let tasks = naming(view, row.id, relation, usize::MAX).await?;
        for page in tasks.chunks(PAGE) {
            for task in view.objects(page).await?.into_iter().flatten() {
                if is_counted(&task) && waits_for_tasks(&task) && waits_in_vain(view, &task).await?
                {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Whether an intent is a part of one that has ended, at any level: an import may leave such a part.
async fn is_left_over(view: &OverlayView<'_>, row: &ObjectRow) -> Result<bool, CatalogueError> {
    let goes_on = matches!(
        approval(row),
        Some(ApprovalStatus::Approved | ApprovalStatus::Executing)
    );
    let mut next = whole_of(row).filter(|_| goes_on);
    for _ in 0..MOST_ANCESTORS {
        let Some(whole) = next else {
            break;
        };
        let Some(row) = view.object(whole).await? else {
            break;
        };
        let has_ended = matches!(row.status, Some(Status::Completed | Status::Cancelled));
        if has_ended || approval(&row) == Some(ApprovalStatus::Rejected) {
            return Ok(true);
        }
        next = whole_of(&row);
    }
    Ok(false)
}

/// The intent that one is a part of.
fn whole_of(row: &ObjectRow) -> Option<Uuid> {
    let mut links = row.links.iter();
    let link = links.find(|link| link.relation == Relation::IntentChildOf);
    link.map(|link| link.target)
}

/// Whether the intent of a task counts it among its parts.
fn is_counted(task: &ObjectRow) -> bool {
    matches!(
        task.counts,
        Counts::Task {
            is_counted: true,
            ..
        }
    )
}

/// Whether a task waits for one that is never done, or whose place another such one took.
async fn waits_in_vain(view: &OverlayView<'_>, task: &ObjectRow) -> Result<bool, CatalogueError> {
    let needed = named(view, task.id, Relation::TaskDependencies, usize::MAX).await?;
    for id in needed {
        let (mut newest, mut seen) = (id, HashSet::new());
        while seen.insert(newest)
            && let Some(next) = naming(view, newest, Relation::TaskSupersedes, 1)
                .await?
                .pop()
        {
            newest = next;
        }
        let row = view.object(newest).await?;
        let Some(row) = row else {
            continue;
        };
        if matches!(row.status, Some(Status::Failed | Status::Cancelled))
            || (row.status != Some(Status::Done) && is_of_what_was_turned_down(view, &row).await?)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an intent that a task is work on was rejected or cancelled.
async fn is_of_what_was_turned_down(
    view: &OverlayView<'_>,
    task: &ObjectRow,
) -> Result<bool, CatalogueError> {
    let of = |link: &&Link| matches!(link.relation, Relation::TaskIntent | Relation::TaskPartOf);
    let mut next = Some(task.clone());
    for _ in 0..MOST_ANCESTORS {
        let Some(task) = next else {
            break;
        };
        for link in task.links.iter().filter(of) {
            let intent = view.object(link.target).await?;
            let status = intent.as_ref().and_then(approval);
            if matches!(
                status,
                Some(ApprovalStatus::Rejected | ApprovalStatus::Cancelled)
            ) {
                return Ok(true);
            }
        }
        // A part says no intent.
        let is_parent = |link: &&Link| link.relation == Relation::TaskParent;
        let has_intent = task.links.iter().any(|link| of(&link));
        next = match task.links.iter().find(is_parent) {
            Some(parent) if !has_intent => view.object(parent.target).await?,
            _ => None,
        };
    }
    Ok(false)
}

/// The intents that wait for a person.
pub(super) async fn inbox(
    view: &OverlayView<'_>,
    query: &InboxQuery,
) -> Result<InboxPage, CatalogueError> {
    let limit = query.limit.max(1);
    let (forward, after) = (Direction::Forward, query.after.map(|after| after.0));
    let lists: Vec<Bytes> = Waits::ALL.map(keys::all_waiting).to_vec();
    let mut walks = [Walk::new(lists, forward, after)];
    // One more than is shown says whether there is more.
    let mut found = waiting(view, &mut walks, limit.saturating_add(1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let mut entries = Vec::with_capacity(found.len());
    for Candidate { row, is_stuck } in found {
        let counts = intent_counts(&row).copied();
        let settled = approval_without_open(&row);
        let row = whole(view, row).await?;
        entries.push(entry(row, counts, settled, is_stuck));
    }
    let last = entries.last().filter(|_| more);
    let next = last.map(|entry| entry.row.first_position);
    Ok(InboxPage {
        total: total(view).await?,
        entries,
        next,
    })
}

/// The next intents of some lists that wait for a person, at most so many.
async fn waiting(
    view: &OverlayView<'_>,
    walks: &mut [Walk],
    most: usize,
) -> Result<Vec<Candidate>, CatalogueError> {
    let mut found: Vec<Candidate> = Vec::new();
    while found.len() < most {
        let mut ids: Vec<Uuid> = Vec::new();
        let page = PAGE.min(most - found.len());
        while ids.len() < page
            && let Some((_, id)) = next_of_all(walks, view).await?
        {
            ids.push(id);
        }
        if ids.is_empty() {
            break;
        }
        for row in view.objects(&ids).await?.into_iter().flatten() {
            let candidate = Candidate::of(view, row).await?;
            found.extend(Some(candidate).filter(Candidate::waits));
        }
    }
    Ok(found)
}

/// How many intents wait for a person.
pub(super) async fn total(view: &OverlayView<'_>) -> Result<u64, CatalogueError> {
    let certain = Waits::ALL.into_iter();
    let certain = certain.filter(|waits| *waits != Waits::Dependency);
    let certain: Vec<Bytes> = certain.map(keys::all_waiting).collect();
    let mut total = count(view, &certain).await?;
    let list = keys::all_waiting(Waits::Dependency);
    let mut walks = [Walk::new([list], Direction::Forward, None)];
    loop {
        let stuck = waiting(view, &mut walks, PAGE).await?.len();
        total += stuck as u64;
        if stuck < PAGE {
            return Ok(total);
        }
    }
}

fn entry(
    row: CatalogueRow,
    counts: Option<IntentCounts>,
    settled: Option<ApprovalStatus>,
    is_stuck: bool,
) -> InboxEntry {
    let unanswered = counts.map_or(0, |counts| counts.unanswered);
    let mut reasons = Vec::new();
    match settled {
        Some(ApprovalStatus::Blocked) => reasons.push(InboxReason::Blocked),
        Some(ApprovalStatus::Error) => reasons.push(InboxReason::Error),
        _ => {}
    }
    if unanswered > 0 {
        reasons.push(InboxReason::Clarification);
    }
    if row.approval == Some(ApprovalStatus::Proposed) {
        reasons.push(InboxReason::Approval);
    }
    if is_stuck {
        reasons.push(InboxReason::Dependency);
    }
    InboxEntry {
        reasons,
        unanswered,
        row,
    }
}

/// Counts the rows of lists, by their keys alone.
pub(super) async fn count(view: &OverlayView<'_>, lists: &[Bytes]) -> Result<u64, CatalogueError> {
    let mut count = 0;
    for list in lists {
        let mut cursor: Option<Bytes> = None;
        loop {
            let rows = view
                .scan(list, cursor.as_deref(), Direction::Forward, PAGE)
                .await?;
            count += rows.len() as u64;
            if rows.len() < PAGE {
                break;
            }
            cursor = rows.into_iter().next_back().map(|(key, _)| key);
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_intent_waits_for_has_a_number_of_its_own() {
        for (number, waits) in (1..).zip(Waits::ALL) {
            assert_eq!(waits.code(), number);
        }
    }
}

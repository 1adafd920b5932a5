//! What the catalogue shows of an object.

use annals_domain::intent::{ApprovalStatus, PartsTally, Risk};
use annals_domain::run::UsageRecorded;
use annals_domain::{GitOid, Kind, Timestamp, Visibility};
use annals_event_log::{Direction, Position};
use bytes::Bytes;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::CatalogueError;
use super::fold::{approval, intent_counts, read_label};
use super::keys;
use super::overlay_view::OverlayView;
use super::relation::Relation;
use super::row::{Counts, IntentCounts, LabelMap, ObjectRow, Usage};
use super::status::Status;
use crate::Text;

/// Tags that are shown of one object.
const LABELS_SHOWN: usize = 1_000;
/// Aliases that are shown of one object.
const ALIASES_SHOWN: usize = 100;

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CatalogueRow {
    /// The object.
    pub id: Uuid,
    /// What it is.
    #[serde(serialize_with = "kind_word")]
    pub kind: Kind,
    /// Its aliases, oldest first; those whose text was removed are left out.
    pub aliases: Vec<String>,
    /// The first line of what it is called by, cut to 100 characters: an
    /// intent's prompt, a task's title, a tool's or model's name, a plan's first
    /// step, a rationale, a summary, a failed run's error, a session's agent
    /// profile.
    pub title: Option<Text>,
    /// Where it is in its life, if its kind has a life.
    #[serde(serialize_with = "status_word")]
    pub status: Option<Status>,
    /// Of an intent that was put on Forge's axis, its status there.
    pub approval: Option<ApprovalStatus>,
    /// Of an intent, how risky it is, if anything said so.
    pub risk: Option<Risk>,
    /// Of an intent, what kind of work it is, if anything said so.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub work_type: Option<String>,
    /// Of a run in a list, its task's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_title: Option<Text>,
    /// What sort of its kind it is: where an intent comes from, a task's goal, evidence's kind, a decision's
    /// type, how a snapshot's items were selected, the name of a session's policy.
    pub sort: Option<String>,
    /// Who caused its first event.
    pub created_by: ActorName,
    /// When its first event happened.
    pub created_at: Timestamp,
    /// When the last event on it happened.
    pub updated_at: Timestamp,
    /// Who may see it.
    pub visibility: Visibility,
    /// Its tags, in the order given, at most a thousand; those whose text was
    /// removed are left out.
    #[serde(serialize_with = "pairs")]
    pub tags: Vec<(String, String)>,
    /// Its ids in other systems, likewise.
    #[serde(serialize_with = "pairs")]
    pub external_ids: Vec<(String, String)>,
    /// What it names in fields that hold one object, by the field's name.
    #[serde(serialize_with = "links")]
    pub links: Vec<(Relation, Uuid)>,
    /// How much there is of what it consists of, by name.
    #[serde(serialize_with = "counts")]
    pub counts: Vec<(&'static str, u64)>,
    /// The git commit that a decision or an intent led to.
    pub commit: Option<GitOid>,
    /// Tokens that a run used, or that are known to its provenance.
    pub tokens: Option<Tokens>,
    /// How many events there were on it.
    pub events: u64,
    /// The position of the first event on it.
    #[serde(serialize_with = "crate::history::position")]
    pub first_position: Position,
    /// The position of the last event on it.
    #[serde(serialize_with = "crate::history::position")]
    pub last_position: Position,
}

/// Who did something, without what may be removed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ActorName {
    /// The actor's kind.
    pub kind: String,
    /// The actor's id.
    pub id: String,
}

/// Tokens by what they were, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tokens {
    /// Prompt tokens that came neither from a cache nor went into one, and those
    /// of which that is not known.
    pub uncached_input_tokens: u64,
    /// Prompt tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to a cache.
    pub cache_write_tokens: u64,
    /// Completion tokens.
    pub output_tokens: u64,
    /// Their sum, at most 2^64 - 1.
    pub total_tokens: u64,
    /// The sum of the costs that are known, in USD; null if none is.
    pub cost_usd: Option<f64>,
}

impl Tokens {
    /// What an event says was used.
    pub(crate) fn of(usage: &UsageRecorded) -> Tokens {
        Tokens::from(Usage {
            uncached_input: usage.uncached_input_tokens,
            cache_read: usage.cache_read_tokens,
            cache_write: usage.cache_write_tokens,
            output: usage.output_tokens,
            cost_usd: usage.cost_usd,
        })
    }

    /// The sum of both, at most 2^64 - 1 of each sort.
    #[must_use]
    pub fn plus(self, more: Tokens) -> Tokens {
        let mut sum = Some(Usage::from(self));
        Usage::add(&mut sum, Usage::from(more));
        sum.map_or(self, Tokens::from)
    }

    /// Prompt tokens of all sorts.
    pub fn input_tokens(self) -> u64 {
        let sorts = [self.cache_read_tokens, self.cache_write_tokens];
        sorts
            .into_iter()
            .fold(self.uncached_input_tokens, u64::saturating_add)
    }
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Usage {
        Usage {
            uncached_input: tokens.uncached_input_tokens,
            cache_read: tokens.cache_read_tokens,
            cache_write: tokens.cache_write_tokens,
            output: tokens.output_tokens,
            cost_usd: tokens.cost_usd,
        }
    }
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Tokens {
        let sorts = [
            usage.uncached_input,
            usage.cache_read,
            usage.cache_write,
            usage.output,
        ];
        Tokens {
            uncached_input_tokens: usage.uncached_input,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
            output_tokens: usage.output,
            total_tokens: sorts.into_iter().fold(0, u64::saturating_add),
            cost_usd: usage.cost_usd,
        }
    }
}

/// One object, if it exists.
pub(super) async fn one(
    view: &OverlayView<'_>,
    id: Uuid,
) -> Result<Option<CatalogueRow>, CatalogueError> {
    match view.object(id).await? {
        Some(row) => Ok(Some(whole(view, row).await?)),
        None => Ok(None),
    }
}

/// An object with what is in other rows.
pub(super) async fn whole(
    view: &OverlayView<'_>,
    row: ObjectRow,
) -> Result<CatalogueRow, CatalogueError> {
    let tags = labels(view, &row, LabelMap::Tags).await?;
    let external_ids = labels(view, &row, LabelMap::ExternalIds).await?;
    let mut aliases = Vec::new();
    if row.aliases > 0 {
        let prefix = keys::aliases(row.id);
        let rows = view
            .scan(&prefix, None, Direction::Forward, ALIASES_SHOWN)
            .await?;
        let text = |(_, value): &(_, Bytes)| String::from_utf8_lossy(value).into_owned();
        aliases = rows.iter().map(text).collect();
    }
    Ok(CatalogueRow {
        id: row.id,
        aliases,
        kind: row.kind,
        links: row
            .to_one()
            .map(|link| (link.relation, link.target))
            .collect(),
        counts: shown(row.counts),
        commit: row.commit(),
        tokens: row.tokens().map(Tokens::from),
        approval: approval(&row).filter(|_| is_taken_in(&row)),
        risk: intent_counts(&row).and_then(IntentCounts::risk),
        work_type: row.work_type,
        task_title: None,
        title: row.title,
        status: row.status,
        sort: row.sort,
        created_by: ActorName {
            kind: row.actor_kind.as_str().to_owned(),
            id: row.actor_id,
        },
        created_at: row.created_at,
        updated_at: row.updated_at,
        visibility: row.visibility,
        tags,
        external_ids,
        events: row.events,
        first_position: Position(row.first),
        last_position: Position(row.last),
    })
}

/// One of an object's maps, as far as it is shown.
async fn labels(
    view: &OverlayView<'_>,
    row: &ObjectRow,
    map: LabelMap,
) -> Result<Vec<(String, String)>, CatalogueError> {
    let mut labels = Vec::new();
    if row.labels(map) > 0 {
        let prefix = keys::labels(map, row.id);
        let scanned = view.scan(&prefix, None, Direction::Forward, LABELS_SHOWN);
        for (key, value) in scanned.await? {
            labels.push(read_label(&value).ok_or_else(|| CatalogueError::malformed(&key))?);
        }
    }
    Ok(labels)
}

fn shown(counts: Counts) -> Vec<(&'static str, u64)> {
    match counts {
        Counts::None | Counts::Decision { .. } => Vec::new(),
        Counts::Run {
            tool_invocations,
            errors,
            patch_sets,
            evidence,
            named_patch_sets: _,
        } => vec![
            ("tool_invocations", tool_invocations),
            ("tool_errors", errors),
            ("patch_sets", patch_sets),
            ("evidence", evidence),
        ],
        Counts::Task {
            runs, dependencies, ..
        } => vec![("runs", runs), ("dependencies", dependencies)],
        Counts::Intent(counts) => parts(&counts.parts),
        Counts::Plan {
            pending,
            progressing,
            completed,
            failed,
            skipped,
        } => vec![
            ("pending_steps", pending),
            ("progressing_steps", progressing),
            ("completed_steps", completed),
            ("failed_steps", failed),
            ("skipped_steps", skipped),
        ],
        Counts::Pipeline { frames, window } => {
            // Under most policies only the window itself says how many it holds.
            let in_window = window.len().map(|len| ("frames_in_window", len));
            let mut counts = vec![("frames_pushed", frames)];
            counts.extend(in_window);
            let limit = window.limit().map(|limit| ("max_frames", u64::from(limit)));
            counts.extend(limit);
            counts
        }
        Counts::Snapshot { items } => vec![("items", items)],
        Counts::Session {
            commands,
            accepted,
            rejected,
            throttled,
            completed,
            failed,
            runs: _,
            tasks: _,
        } => vec![
            ("commands", commands),
            ("accepted", accepted),
            ("rejected", rejected),
            ("throttled", throttled),
            ("completed", completed),
            ("failed", failed),
        ],
    }
}

fn is_taken_in(row: &ObjectRow) -> bool {
    intent_counts(row).is_some_and(|counts| counts.is_taken_in)
}

/// How many tasks and children an intent has, by their state.
fn parts(parts: &PartsTally) -> Vec<(&'static str, u64)> {
    let counts = [
        ("open_parts", parts.open),
        ("done_parts", parts.done),
        ("failed_parts", parts.failed),
        ("blocked_parts", parts.blocked),
        ("called_off_parts", parts.called_off),
    ];
    let some = counts.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(name, count)| (name, u64::from(count))).collect()
}

pub(super) fn kind_word<S: Serializer>(kind: &Kind, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(kind.object_type())
}

pub(super) fn status_word<S: Serializer>(status: &Option<Status>, s: S) -> Result<S::Ok, S::Error> {
    status.map(Status::word).serialize(s)
}

fn pairs<S: Serializer>(pairs: &[(String, String)], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

fn links<S: Serializer>(links: &[(Relation, Uuid)], s: S) -> Result<S::Ok, S::Error> {
    let mut map = s.serialize_map(Some(links.len()))?;
    for (relation, target) in links {
        let (_, field) = relation.name().split_once('.').unwrap_or_default();
        map.serialize_entry(field, target)?;
    }
    map.end()
}

fn counts<S: Serializer>(counts: &[(&'static str, u64)], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(counts.iter().map(|(name, count)| (name, count)))
}

//! The rows of the read model of sessions.
//!
//! ```text
//! key                               value
//! "s", session at the top, session  a session; those below the same one are neighbours
//! "h", task                         a task that is not a session, or not yet
//! "x", task                         facts that only the fold needs
//! "t", task                         the node of the tree of tasks
//! "k", task, task below it          nothing
//! "r", run                          the run's task and model
//! "p", plan                         the plan's pipeline
//! "q", pipeline                     the task that uses it
//! "c", tool call                    the call's session and outcome
//! "g", patch set                    the files of a patch set
//! "f", session, mark of a path (16) a changed file
//! "n", mark of a name (16)          the session that an agent calls so
//! "i", intent                       a prompt that was told live
//! ```
//!
//! A mark is the first half of a SHA-256. A contracts session, and a run whose task is not known, have rows like a
//! task until they are merged into one.

use annals_domain::Timestamp;
use annals_event_log::Digest;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::clusters::Clusters;
use super::summary::{FileCounts, ModelUse, SessionCounts, SessionSummary, SessionWait};
use crate::costs::{CostSums, PriceTable, Quarter, Used, priced};
use crate::projection::{ProjectionError, Table};

pub(super) const SESSION: u8 = b's';
pub(super) const HIDDEN: u8 = b'h';
pub(super) const FACTS: u8 = b'x';
pub(super) const NODE: u8 = b't';
pub(super) const BELOW: u8 = b'k';
pub(super) const RUN: u8 = b'r';
pub(super) const PLAN: u8 = b'p';
pub(super) const PIPELINE: u8 = b'q';
pub(super) const CALL: u8 = b'c';
pub(super) const PATCH: u8 = b'g';
pub(super) const FILE: u8 = b'f';
pub(super) const NAME: u8 = b'n';
pub(super) const TOLD: u8 = b'i';

/// Bytes of a mark.
const MARK: usize = 16;

/// A session with the tokens that it used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRow {
    /// The session.
    pub summary: SessionSummary,
    /// Tokens as `annals cost` counts them.
    pub(super) uses: Vec<SessionUse>,
    /// The mark of the name of the session that it continues.
    pub(super) continues: Option<[u8; MARK]>,
    /// The files that it changed, if they were read with it.
    #[serde(skip)]
    pub files: Option<Vec<SessionFile>>,
}

/// Tokens of one run, model and actor in a quarter of an hour: a cell of `annals cost`, so that sums are the same to the
/// last millionth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionUse {
    pub(super) run: Uuid,
    pub(super) quarter: i64,
    pub(super) model: Option<String>,
    /// The mark of the actor.
    pub(super) actor: [u8; MARK],
    pub(super) used: Used,
}

impl SessionRow {
    pub(super) fn new(id: Uuid) -> SessionRow {
        SessionRow {
            summary: SessionSummary {
                id,
                root: id,
                parent: None,
                agent: None,
                agent_version: None,
                agent_session: None,
                directory: None,
                project: None,
                branch: None,
                models: Vec::new(),
                title: None,
                is_agents_title: false,
                started: None,
                last_activity: None,
                active_ms: 0,
                waiting: None,
                end: None,
                counts: SessionCounts::default(),
                files: FileCounts::default(),
                runs: Vec::new(),
                intent: None,
                continues: None,
                first_position: 0,
                last_position: 0,
            },
            uses: Vec::new(),
            continues: None,
            files: None,
        }
    }

    /// The row in a table, with its models filled in.
    pub(super) fn read(key: &[u8], value: &[u8]) -> Result<SessionRow, ProjectionError> {
        let mut row: SessionRow = read(key, value)?;
        row.summary.models = models(&row.uses);
        Ok(row)
    }

    /// The tokens and their cost.
    pub fn cost(&self, prices: &PriceTable) -> CostSums {
        let mut sums = CostSums::default();
        for used in &self.uses {
            let (model, quarter) = (used.model.as_deref(), Quarter(used.quarter));
            sums.add(&priced(model, quarter, used.used, prices));
        }
        sums
    }

    /// The tokens.
    pub fn used(&self) -> Used {
        let mut sum = Used::default();
        self.uses.iter().for_each(|it| sum.add(&it.used));
        sum
    }

    /// The tokens that were used from a quarter of an hour on, with their model and their cost: a cell of `annals cost`
    /// each.
    pub fn costs_since<'a>(
        &'a self,
        since: Quarter,
        prices: &'a PriceTable,
    ) -> impl Iterator<Item = (Quarter, Option<&'a str>, CostSums)> + 'a {
        let uses = self.uses.iter().filter(move |it| it.quarter >= since.0);
        uses.map(move |it| {
            let (model, quarter) = (it.model.as_deref(), Quarter(it.quarter));
            (quarter, model, priced(model, quarter, it.used, prices))
        })
    }

    /// The times of activity that the row has, in seconds since 1970: the first event, the last one, and the beginning
    /// of each quarter of an hour in which tokens were used.
    pub fn active_seconds(&self) -> impl Iterator<Item = i64> + '_ {
        let ends = [self.summary.started, self.summary.last_activity];
        let ends = ends.into_iter().flatten();
        let ends = ends.map(|time| time.to_utc().timestamp());
        let uses = self.uses.iter().map(|it| Quarter(it.quarter).seconds());
        ends.chain(uses)
    }

    /// Adds tokens to the cell that they belong to.
    pub(super) fn add(&mut self, more: SessionUse) {
        let is_same = |it: &&mut SessionUse| {
            it.run == more.run
                && it.quarter == more.quarter
                && it.model == more.model
                && it.actor == more.actor
        };
        match self.uses.iter_mut().rev().find(is_same) {
            Some(cell) => cell.used.add(&more.used),
            None => self.uses.push(more),
        }
    }

    /// Takes tokens out of the cell that they were added to.
    pub(super) fn take(&mut self, less: &SessionUse) {
        let is_same = |it: &&mut SessionUse| {
            it.run == less.run
                && it.quarter == less.quarter
                && it.model == less.model
                && it.actor == less.actor
        };
        if let Some(cell) = self.uses.iter_mut().rev().find(is_same) {
            cell.used.take(&less.used);
        }
    }
}

/// Tokens by model and day, those that were used last behind the others.
fn models(uses: &[SessionUse]) -> Vec<ModelUse> {
    let mut sums: Vec<(i64, ModelUse)> = Vec::new();
    for it in uses {
        let day = Quarter(it.quarter).seconds().div_euclid(24 * 60 * 60);
        let day = i32::try_from(day).unwrap_or(i32::MAX);
        let is_same = |(_, sum): &&mut (i64, ModelUse)| sum.day == day && sum.model == it.model;
        match sums.iter_mut().rev().find(is_same) {
            Some((last, sum)) => {
                *last = it.quarter.max(*last);
                sum.used.add(&it.used);
            }
            None => sums.push((
                it.quarter,
                ModelUse {
                    model: it.model.clone(),
                    day,
                    used: it.used,
                },
            )),
        }
    }
    sums.sort_by_key(|(last, _)| *last);
    sums.into_iter().map(|(_, sum)| sum).collect()
}

/// Facts that only the fold needs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct SessionFacts {
    pub(super) task_title: Option<String>,
    /// The best title of a prompt: whether it is a weak one, its time, and the text.
    pub(super) prompt_title: Option<(bool, Option<Timestamp>, String)>,
    /// The title that the agent gave: its rank, and the text.
    pub(super) agent_title: Option<(u8, String)>,
    /// A title that is of the session which has a line: the line, and the text.
    pub(super) title_by_line: Option<(String, String)>,
    pub(super) clusters: Clusters,
    /// Open permissions and questions, oldest first.
    pub(super) waits: Vec<SessionWait>,
    /// When prompts were told live of which no frame is known.
    pub(super) told: Vec<Timestamp>,
    /// Whether its end is the agent's, which may go on.
    pub(super) may_go_on: bool,
    /// Whether the newest frame is a checkpoint.
    pub(super) is_after_checkpoint: bool,
    /// The time of the newest branch.
    pub(super) branch_at: Option<Timestamp>,
    /// The streams that it is folded from, beside its task and its runs: kind and id.
    pub(super) streams: Vec<(String, Uuid)>,
    /// The agent as its own external id names it.
    pub(super) is_named: bool,
}

/// The node of a task in the tree of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Node {
    /// The task that it is a part of.
    pub(super) parent: Option<Uuid>,
    /// The session at the top, if it is a session.
    pub(super) root: Option<Uuid>,
    /// The session that it was merged into.
    pub(super) into: Option<Uuid>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RunRow {
    pub(super) task: Uuid,
    /// The model that its provenance names.
    pub(super) model: Option<String>,
    /// Tokens that its provenance states.
    pub(super) stated: Option<SessionUse>,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct PlanRow {
    pub(super) pipeline: Option<Uuid>,
    /// The task of a run that follows it.
    pub(super) task: Option<Uuid>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallRow {
    pub(super) session: Uuid,
    pub(super) is_denied: bool,
    pub(super) is_failed: bool,
    pub(super) is_over: bool,
}

/// The files of a patch set, each with the lines added and deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PatchRow {
    pub(super) session: Uuid,
    pub(super) files: Vec<([u8; MARK], u64, u64)>,
    pub(super) is_rejected: bool,
}

/// A file that a session changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionFile {
    /// The path, relative to the project.
    pub path: String,
    /// Lines added.
    pub added: u64,
    /// Lines deleted.
    pub deleted: u64,
    /// Patch sets that change it and were not rejected.
    pub patch_sets: u64,
}

/// The session with a name that its agent gave it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct NameRow {
    pub(super) session: Option<Uuid>,
    /// Prompts that were told before the session began.
    pub(super) told: Vec<ToldPrompt>,
}

/// A prompt that was told live.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldPrompt {
    pub(super) intent: Uuid,
    pub(super) at: Timestamp,
    pub(super) position: u64,
    pub(super) title: Option<(bool, String)>,
}

/// The key of an object's row.
pub(super) fn key(kind: u8, id: Uuid) -> Vec<u8> {
    [&[kind], id.as_bytes().as_slice()].concat()
}

/// The key of a row of two ids.
pub(super) fn pair(kind: u8, first: Uuid, second: Uuid) -> Vec<u8> {
    [&[kind], first.as_bytes().as_slice(), second.as_bytes()].concat()
}

/// The key of a row of an id and a mark.
pub(super) fn marked(kind: u8, id: Uuid, mark: &[u8; MARK]) -> Vec<u8> {
    [&[kind], id.as_bytes().as_slice(), mark].concat()
}

/// The key of a row of a mark.
pub(super) fn by_mark(kind: u8, mark: &[u8; MARK]) -> Vec<u8> {
    [&[kind], mark.as_slice()].concat()
}

/// The mark of some texts.
pub(super) fn mark(parts: &[&str]) -> [u8; MARK] {
    let Digest(digest) = Digest::of(parts.join("\0").as_bytes());
    let mut mark = [0; MARK];
    mark.iter_mut()
        .zip(digest)
        .for_each(|(to, from)| *to = from);
    mark
}

/// The second id of a key of two.
pub(super) fn second_id(key: &[u8]) -> Option<Uuid> {
    let bytes = key.get(1 + MARK..)?;
    Uuid::from_slice(bytes).ok()
}

/// The first id of a key.
pub(super) fn first_id(key: &[u8]) -> Option<Uuid> {
    Uuid::from_slice(key.get(1..=MARK)?).ok()
}

pub(super) fn read<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, ProjectionError> {
    annals_wire::decode_row(value).map_err(|_| {
        ProjectionError::own(format!(
            "the row {} of the read model of sessions is malformed; `annals log rebuild` makes it again",
            hex::encode(key)
        ))
    })
}

pub(super) fn write<T: Serialize>(value: &T) -> Result<Bytes, ProjectionError> {
    let bytes = annals_wire::encode_row(value).map_err(ProjectionError::own)?;
    Ok(bytes.into())
}

/// A row of a table.
pub(super) async fn get<T: DeserializeOwned>(
    table: &Table<'_>,
    key: &[u8],
) -> Result<Option<T>, ProjectionError> {
    let row = table.get_bytes(key).await?;
    row.map(|row| read(key, &row)).transpose()
}

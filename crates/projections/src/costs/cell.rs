//! Cells: what one run used of one model in a quarter of an hour, as rows.
//!
//! ```text
//! key                                            value
//! "c", quarter of an hour, run, mark (16)        the cell
//! "r", run, quarter of an hour, mark (16)        nothing: the same cell, by its run
//! "m", run                                       the model of the run's provenance
//! "s", run                                       what its provenance states, and the key of its cell
//! ```
//!
//! A quarter of an hour is an i64 of those since 1970 with its first bit flipped, big-endian, so that keys are in the
//! order of time. The mark is the first half of the SHA-256 of the model and the actor.

use annals_domain::run::{self, AdoptedTokens, StoredTokens, UsageRecorded};
use annals_domain::{AnyEvent, Slot, Timestamp, cut};
use annals_event_log::Digest;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Entry;
use crate::catalogue::ActorName;
use crate::projection::{Projection, ProjectionError, Table};

/// Seconds of a cell's time.
const SECONDS: i64 = 15 * 60;
/// The longest name of a model that is kept, in bytes.
const MODEL_BYTES: usize = 256;
/// Bytes of a mark, and of an id.
const MARK: usize = 16;

const CELL: u8 = b'c';
const OF_RUN: u8 = b'r';
const MODEL_OF_RUN: u8 = b'm';
const STATED: u8 = b's';

const USAGE: &str = "run.usage_recorded";
const PROVENANCE: &str = "run.provenance_recorded";
const ADOPTED: &str = "run.provenance_adopted";

/// A quarter of an hour: how many of them began since 1970 before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quarter(pub i64);

impl Quarter {
    /// The one that a time is in.
    pub fn of(time: Timestamp) -> Quarter {
        Quarter(time.to_utc().timestamp().div_euclid(SECONDS))
    }

    /// The one that begins at a time, if one does.
    pub fn beginning_at(time: Timestamp) -> Option<Quarter> {
        let time = time.to_utc();
        let is_whole = time.timestamp().rem_euclid(SECONDS) == 0;
        (is_whole && time.timestamp_subsec_nanos() == 0).then(|| Quarter::of(time.into()))
    }

    /// When it begins, in seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.0.saturating_mul(SECONDS)
    }

    fn bytes(self) -> [u8; 8] {
        (self.0 ^ i64::MIN).to_be_bytes()
    }
}

/// Tokens by what they were. Sums of many counts of 64 bits, they are wider, and never overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenSums {
    /// Prompt tokens that came neither from a cache nor went into one.
    pub uncached_input_tokens: u128,
    /// Prompt tokens read from a cache.
    pub cache_read_tokens: u128,
    /// Prompt tokens written to a cache.
    pub cache_write_tokens: u128,
    /// How many of those stay there for an hour.
    pub cache_write_1h_tokens: u128,
    /// Completion tokens.
    pub output_tokens: u128,
    /// How many of those the model thought with.
    pub reasoning_tokens: u128,
}

impl TokenSums {
    /// All tokens, each once.
    pub fn total(&self) -> u128 {
        let sorts = [
            self.uncached_input_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.output_tokens,
        ];
        sorts.into_iter().fold(0, u128::saturating_add)
    }

    /// The same with each count changed by the other's.
    fn with(&self, other: &TokenSums, change: fn(u128, u128) -> u128) -> TokenSums {
        let of = |field: fn(&TokenSums) -> u128| change(field(self), field(other));
        TokenSums {
            uncached_input_tokens: of(|it| it.uncached_input_tokens),
            cache_read_tokens: of(|it| it.cache_read_tokens),
            cache_write_tokens: of(|it| it.cache_write_tokens),
            cache_write_1h_tokens: of(|it| it.cache_write_1h_tokens),
            output_tokens: of(|it| it.output_tokens),
            reasoning_tokens: of(|it| it.reasoning_tokens),
        }
    }

    /// Adds more.
    pub fn add(&mut self, more: &TokenSums) {
        *self = self.with(more, u128::saturating_add);
    }
}

/// Returns the correlation of a usage that continues another one: the tokens that the same message has beyond those of an
/// earlier event, which is its causation.
pub fn continued_usage(earlier: Uuid) -> Uuid {
    Uuid::new_v5(&earlier, b"annals: usage continued")
}

/// Returns `true` if an event continues an earlier usage.
fn is_continued(entry: &Entry) -> bool {
    let earlier = entry.causation.map(continued_usage);
    earlier.is_some() && entry.correlation == earlier
}

/// What was used, as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Used {
    /// The tokens.
    pub tokens: TokenSums,
    /// Searches of the web that vendors made for their models.
    pub web_searches: u128,
    /// What the agents' programs said that it cost, in millionths of a USD.
    pub recorded_micros: u128,
    /// How many usages say it. One that an import recorded in several events, as its recording grew, counts once.
    pub usages: u64,
    /// How many of them say what it cost.
    pub with_cost: u64,
}

impl Used {
    fn new(tokens: TokenSums, cost_usd: Option<f64>) -> Used {
        Used {
            tokens,
            web_searches: 0,
            recorded_micros: cost_usd.map_or(0, micros),
            usages: 1,
            with_cost: u64::from(cost_usd.is_some()),
        }
    }

    pub(crate) fn recorded(entry: &Entry, usage: &UsageRecorded) -> Used {
        let tokens = TokenSums {
            uncached_input_tokens: usage.uncached_input_tokens.into(),
            cache_read_tokens: usage.cache_read_tokens.into(),
            cache_write_tokens: usage.cache_write_tokens.into(),
            cache_write_1h_tokens: usage.cache_write_1h_tokens.into(),
            output_tokens: usage.output_tokens.into(),
            reasoning_tokens: usage.reasoning_tokens.into(),
        };
        let used = Used {
            web_searches: usage.web_searches.into(),
            ..Used::new(tokens, usage.cost_usd)
        };
        match is_continued(entry) {
            true => Used {
                usages: 0,
                with_cost: 0,
                ..used
            },
            false => used,
        }
    }

    /// What a provenance says was used before it. It does not say what of the prompt was cached.
    pub(crate) fn stated(input: u64, output: u64, cost_usd: Option<f64>) -> Used {
        let tokens = TokenSums {
            uncached_input_tokens: input.into(),
            output_tokens: output.into(),
            ..TokenSums::default()
        };
        Used::new(tokens, cost_usd)
    }

    /// Adds more.
    pub fn add(&mut self, more: &Used) {
        self.tokens.add(&more.tokens);
        self.web_searches = self.web_searches.saturating_add(more.web_searches);
        self.recorded_micros = self.recorded_micros.saturating_add(more.recorded_micros);
        self.usages = self.usages.saturating_add(more.usages);
        self.with_cost = self.with_cost.saturating_add(more.with_cost);
    }

    /// Takes out what was added before.
    pub(crate) fn take(&mut self, less: &Used) {
        self.tokens = self.tokens.with(&less.tokens, u128::saturating_sub);
        self.web_searches = self.web_searches.saturating_sub(less.web_searches);
        self.recorded_micros = self.recorded_micros.saturating_sub(less.recorded_micros);
        self.usages = self.usages.saturating_sub(less.usages);
        self.with_cost = self.with_cost.saturating_sub(less.with_cost);
    }
}

/// An amount in USD in millionths, rounded to the nearest, half away from zero. What was adopted may be no amount:
/// then it is 0.
pub(super) fn micros(usd: f64) -> u128 {
    let micros = (usd * 1e6).round();
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "such a cast saturates, and takes what is no number for 0"
    )]
    let micros = micros.max(0.0) as u128;
    micros
}

/// What one run used of one model, by one actor, in a quarter of an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostCell {
    /// When.
    pub quarter: Quarter,
    /// The run.
    pub run: Uuid,
    /// The model, if it is known; `[removed]` where its name was removed.
    pub model: Option<String>,
    /// Who recorded it.
    pub actor: ActorName,
    /// How much.
    pub used: Used,
}

/// A cell as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCell {
    model: Option<String>,
    actor_kind: String,
    actor_id: String,
    used: Used,
}

/// What a provenance states, and where it was added.
#[derive(Debug, Serialize, Deserialize)]
struct StoredStatement {
    cell: Vec<u8>,
    used: Used,
}

impl CostCell {
    /// The cell in a row.
    pub(super) fn read(key: &[u8], value: &[u8]) -> Result<CostCell, ProjectionError> {
        let (quarter, run) = place_in(key).ok_or_else(|| malformed(key))?;
        let stored: StoredCell = read(key, value)?;
        Ok(CostCell {
            quarter,
            run,
            model: stored.model,
            actor: ActorName {
                kind: stored.actor_kind,
                id: stored.actor_id,
            },
            used: stored.used,
        })
    }
}

fn key(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// The prefix of all cells.
pub(super) const CELLS: &[u8] = &[CELL];

/// The key behind which the cells from a time on begin.
pub(super) fn before(since: Quarter) -> Vec<u8> {
    let before = Quarter(since.0.saturating_sub(1));
    // Behind it the keys of that time are shorter than this.
    key(&[&[CELL], &before.bytes(), &[0xff; 2 * MARK + 1]])
}

/// The prefix of the rows that lead to a run's cells.
pub(super) fn of_run(run: Uuid) -> Vec<u8> {
    key(&[&[OF_RUN], run.as_bytes()])
}

/// The key of the cell that such a row leads to.
pub(super) fn cell_of(row: &[u8]) -> Result<Vec<u8>, ProjectionError> {
    let split = || {
        let (run, rest) = row.get(1..)?.split_at_checked(MARK)?;
        let (quarter, mark) = rest.split_at_checked(8)?;
        Some(key(&[&[CELL], quarter, run, mark]))
    };
    split().ok_or_else(|| malformed(row))
}

fn place_in(key: &[u8]) -> Option<(Quarter, Uuid)> {
    let (quarter, rest) = key.get(1..)?.split_first_chunk::<8>()?;
    let (run, _) = rest.split_first_chunk::<MARK>()?;
    let quarter = Quarter(i64::from_be_bytes(*quarter) ^ i64::MIN);
    Some((quarter, Uuid::from_bytes(*run)))
}

fn malformed(key: &[u8]) -> ProjectionError {
    ProjectionError::own(format!(
        "the row {} of the read model of costs is malformed; `annals log rebuild` makes it again",
        hex::encode(key)
    ))
}

fn read<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, ProjectionError> {
    annals_wire::decode_row(value).map_err(|_| malformed(key))
}

fn write<T: Serialize>(value: &T) -> Result<Vec<u8>, ProjectionError> {
    annals_wire::encode_row(value).map_err(ProjectionError::own)
}

/// The fold of usage into cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct CostRows;

impl Projection for CostRows {
    fn name(&self) -> &str {
        "costs"
    }

    /// 2: the rows count searches of the web.
    fn version(&self) -> u32 {
        2
    }

    fn wants(&self, event_type: &str) -> bool {
        self.types().contains(&event_type)
    }

    fn types(&self) -> &[&str] {
        &[USAGE, PROVENANCE, ADOPTED]
    }

    async fn apply(&self, entry: &Entry, table: &mut Table<'_>) -> Result<(), ProjectionError> {
        let AnyEvent::Run(event) = &entry.event else {
            return Ok(());
        };
        match event {
            run::Event::UsageRecorded(usage) => {
                let model = match usage.model {
                    Some(model) => Some(model_name(entry, model)),
                    None => model_of(entry.stream.id, table).await?,
                };
                add(entry, model, Used::recorded(entry, usage), table).await?;
            }
            run::Event::ProvenanceRecorded(event) => {
                let used = event.token_usage.map(
                    |StoredTokens {
                         input_tokens,
                         output_tokens,
                         cost_usd,
                     }| Used::stated(input_tokens, output_tokens, cost_usd),
                );
                state(entry, event.model, used, table).await?;
            }
            run::Event::ProvenanceAdopted(event) => {
                let used = event.token_usage.as_ref().map(
                    |AdoptedTokens {
                         input_tokens,
                         output_tokens,
                         cost_usd,
                         ..
                     }| Used::stated(*input_tokens, *output_tokens, *cost_usd),
                );
                state(entry, event.model, used, table).await?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The name of a model, as cells have it.
pub(crate) fn model_name(entry: &Entry, model: Slot) -> String {
    cut(&entry.text(model).to_string(), MODEL_BYTES).to_owned()
}

fn model_key(run: Uuid) -> Vec<u8> {
    key(&[&[MODEL_OF_RUN], run.as_bytes()])
}

/// The model that a run's provenance names.
async fn model_of(run: Uuid, table: &Table<'_>) -> Result<Option<String>, ProjectionError> {
    let row = table.get_bytes(&model_key(run)).await?;
    Ok(row.map(|model| String::from_utf8_lossy(&model).into_owned()))
}

/// Adds to the cell of an event; its key.
async fn add(
    entry: &Entry,
    model: Option<String>,
    used: Used,
    table: &mut Table<'_>,
) -> Result<Vec<u8>, ProjectionError> {
    let (quarter, run) = (Quarter::of(entry.occurred_at), entry.stream.id);
    let kind = entry.actor.kind.as_str();
    let said = [model.as_deref().unwrap_or_default(), kind, &entry.actor.id].join("\0");
    let Digest(digest) = Digest::of(said.as_bytes());
    let mark = digest.get(..MARK).unwrap_or_default();
    let key = key(&[&[CELL], &quarter.bytes(), run.as_bytes(), mark]);
    let mut cell = match table.get_bytes(&key).await? {
        Some(row) => read(&key, &row)?,
        None => {
            let of_run = self::key(&[&[OF_RUN], run.as_bytes(), &quarter.bytes(), mark]);
            table.put_bytes(&of_run, Bytes::new());
            StoredCell {
                model,
                actor_kind: kind.to_owned(),
                actor_id: entry.actor.id.clone(),
                used: Used::default(),
            }
        }
    };
    cell.used.add(&used);
    table.put_bytes(&key, write(&cell)?);
    Ok(key)
}

/// Takes in a run's provenance. A later one, where it is adopted again, stands in its place.
async fn state(
    entry: &Entry,
    model: Slot,
    used: Option<Used>,
    table: &mut Table<'_>,
) -> Result<(), ProjectionError> {
    let run = entry.stream.id;
    let model = model_name(entry, model);
    table.put_bytes(&model_key(run), model.clone());
    let key = key(&[&[STATED], run.as_bytes()]);
    if let Some(row) = table.get_bytes(&key).await? {
        let before: StoredStatement = read(&key, &row)?;
        forget(&before, table).await?;
        table.delete(&key);
    }
    if let Some(used) = used {
        let cell = add(entry, Some(model), used, table).await?;
        table.put_bytes(&key, write(&StoredStatement { cell, used })?);
    }
    Ok(())
}

/// Takes out of its cell what a provenance stated.
async fn forget(before: &StoredStatement, table: &mut Table<'_>) -> Result<(), ProjectionError> {
    let Some(row) = table.get_bytes(&before.cell).await? else {
        return Ok(());
    };
    let mut cell: StoredCell = read(&before.cell, &row)?;
    cell.used.take(&before.used);
    table.put_bytes(&before.cell, write(&cell)?);
    Ok(())
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn money_is_rounded_to_the_nearest_millionth() {
        for (usd, expected) in [
            (0.0, 0),
            (0.000_000_4, 0),
            (0.000_000_5, 1),
            (1.5, 1_500_000),
            (0.1 + 0.2, 300_000),
            (-1.0, 0),
            (f64::NAN, 0),
            (f64::INFINITY, u128::MAX),
        ] {
            assert_eq!(micros(usd), expected, "{usd}");
        }
    }

    #[test]
    fn keys_are_in_the_order_of_time() {
        let quarters = [i64::MIN, -1, 0, 1, i64::MAX].map(Quarter);
        assert!(quarters.map(Quarter::bytes).is_sorted());
        for quarter in quarters {
            let run = Uuid::from_u128(7);
            let cell = key(&[&[CELL], &quarter.bytes(), run.as_bytes(), &[0xff; MARK]]);
            assert_eq!(place_in(&cell), Some((quarter, run)));
            let row = key(&[&of_run(run), &quarter.bytes(), &[0xff; MARK]]);
            assert_eq!(cell_of(&row).unwrap_or_default(), cell);
            assert!(quarter.0 == i64::MIN || before(quarter) < cell);
            assert!(quarter.0 == i64::MAX || before(Quarter(quarter.0 + 1)) > cell);
        }
    }

    #[test]
    fn a_time_begins_a_quarter_of_an_hour_or_does_not() {
        let at = |text: &str| chrono::DateTime::parse_from_rfc3339(text).map(|at| at.to_utc());
        for (text, expected) in [
            ("1970-01-01T00:15:00Z", Some(Quarter(1))),
            ("1969-12-31T23:45:00Z", Some(Quarter(-1))),
            ("1970-01-01T00:15:00.5Z", None),
            ("1970-01-01T00:14:59Z", None),
        ] {
            let time = at(text).ok().map(Timestamp::from);
            assert_eq!(time.and_then(Quarter::beginning_at), expected, "{text}");
        }
    }
}

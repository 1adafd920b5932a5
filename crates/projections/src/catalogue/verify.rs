//! Comparing the rows with those that the whole log gives when it is folded again.
//!
//! The new rows go to another store, which need not last, and then both are read in the
//! order of their keys. So memory does not grow with the catalogue, and the log may be open
//! for reading only. Rows are compared as of their own checkpoint, wherever the log ends.

use annals_event_log::{Position, ReadError, Row, Store};
use bytes::Bytes;
use uuid::Uuid;

use super::generation::ROWS;
use super::going::Going;
use super::rebuild::Building;
use super::row::ObjectRow;
use super::{Catalogue, CatalogueError, keys};
use crate::generation::CURRENT;

/// Findings that a report holds; the rest are only counted.
const MAX_FINDINGS: usize = 100;
/// Rows that are read at once.
const PAGE: usize = 4_096;
/// Bytes of rows in memory after which they are written. It is less than where a catalogue is
/// made to stay: here nothing is asked of it meanwhile.
const BATCH_BYTES: usize = 16 * 1024 * 1024;
/// How often it is begun again because rows were written meanwhile.
const ATTEMPTS: u32 = 16;
/// The model of the new rows, in their own store.
const REBUILT: &str = "catalogue.rebuilt";

/// What a comparison read, and what it found wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogueReport {
    /// Up to where the rows are folded: that is what they were compared as of.
    pub position: Position,
    /// Rows that are stored.
    pub rows: u64,
    /// Where the log ends for readers, if the rows are ahead of that: then they were not
    /// compared. A writer that ended before it published its last records leaves it so,
    /// and the next opening for writing settles it.
    pub ahead_of: Option<Position>,
    /// Rows that differ only by content that a redaction is removing, which is not at its end:
    /// they have it until then, and are then made again.
    pub going: u64,
    /// Objects with events that are dated before what came before them, which is not a
    /// fault of the log.
    pub skew: SkewReport,
    /// What is wrong: the first hundred findings.
    pub findings: Vec<CatalogueFault>,
    /// How many findings there are in all.
    pub total_findings: u64,
}

/// What the clocks of those who recorded events disagree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkewReport {
    /// Events that are dated before an earlier one on the same object, an event on two objects twice.
    pub events: u64,
    /// Objects that have such events.
    pub objects: u64,
    /// One of those objects.
    pub example: Option<Uuid>,
}

impl CatalogueReport {
    /// The report on rows that are not shown, as they are ahead of the log's end for readers: among the models that are
    /// hidden are those of the catalogue.
    pub fn of_hidden(hidden: &[(String, Position)], end: Position) -> Option<CatalogueReport> {
        let is_ours = |name: &str| name.starts_with(ROWS.pointer);
        let ours = hidden.iter().filter(|(name, _)| is_ours(name));
        let position = ours.map(|(_, position)| *position).max()?;
        Some(CatalogueReport {
            position,
            ahead_of: Some(end),
            ..CatalogueReport::default()
        })
    }

    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.total_findings == 0
    }

    fn find(&mut self, fault: CatalogueFault) {
        self.total_findings += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(fault);
        }
    }
}

/// Ways in which the catalogue can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueFault {
    /// A row is not there.
    #[error("the catalogue's row {row} is missing")]
    Missing {
        /// The row's table and key.
        row: String,
    },
    /// A row is there that no event gives.
    #[error("the catalogue's row {row} should not be there")]
    Surplus {
        /// The row's table and key.
        row: String,
    },
    /// A row is not what the events give.
    #[error("the catalogue's row {row} is not what the events give")]
    Different {
        /// The row's table and key.
        row: String,
    },
    /// It is not known which rows are the current ones.
    #[error("the catalogue's row that names the current ones is damaged: {reason}")]
    Pointer {
        /// What is wrong with it.
        reason: String,
    },
    /// The log or the rows cannot be read.
    #[error("the catalogue cannot be compared: {reason}")]
    Unreadable {
        /// Why not.
        reason: String,
    },
}

impl Catalogue {
    /// Folds the log again, up to where the stored rows are folded, and compares them byte
    /// for byte. `rebuilt` is the same log with read models of its own, which have no rows and
    /// take new ones; nothing of the log is altered. `going` is what a redaction is about that is
    /// not at its end, if there is one. `progress` is called with each position up to which
    /// events were folded.
    ///
    /// # Errors
    /// [`CatalogueError`] when the log cannot be reached, and
    /// [`CatalogueError::Moving`] where rows are written all the time, or content was removed
    /// from the log meanwhile. What is wrong with the catalogue is a finding of
    /// the report, not an error.
    pub async fn verify(
        &self,
        log: &dyn Store,
        rebuilt: &dyn Store,
        going: &Going,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<CatalogueReport, CatalogueError> {
        let compared = self.compare(log, rebuilt, going, progress).await;
        compared.or_else(|error| {
            let reason = match &error {
                CatalogueError::Decode { .. }
                | CatalogueError::MissingBlob { .. }
                | CatalogueError::MalformedRow { .. }
                | CatalogueError::Read(ReadError::Corrupt { .. }) => error.to_string(),
                _ => return Err(error),
            };
            let mut report = CatalogueReport::default();
            report.find(CatalogueFault::Unreadable { reason });
            Ok(report)
        })
    }

    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    async fn compare(
        &self,
        log: &dyn Store,
        rebuilt: &dyn Store,
        going: &Going,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<CatalogueReport, CatalogueError> {
        // No rebuild puts other rows in their place meanwhile.
        let _rebuilding = self.rebuilding.lock().await;
        let mut building =
            Building::begin(rebuilt, REBUILT.to_owned(), BATCH_BYTES, progress).await?;
        let (_, start) = ROWS.begin(log).await?;
        let checkpoint = start.position;
        let end = log.watermark();
        if checkpoint > end {
            return Ok(CatalogueReport {
                position: checkpoint,
                ahead_of: Some(end),
                ..CatalogueReport::default()
            });
        }
        building.build_to(checkpoint.min(log.watermark())).await?;
        for _ in 0..ATTEMPTS {
            // Nor does this handle write any while they are read.
            let _folding = self.folding.lock().await;
            let begun = ROWS.begin(log).await?;
            let (generation, checkpoint) = (begun.0, begun.1.position);
            // Where content was removed since, they are not folded from the same.
            if checkpoint < building.folded() || begun.1.epoch != start.epoch {
                break;
            }
            building.build_to(checkpoint.min(log.watermark())).await?;
            let mut report = CatalogueReport {
                position: checkpoint,
                ..CatalogueReport::default()
            };
            pointer(log, checkpoint, &mut report).await?;
            rows_of(log, &ROWS.model(generation), rebuilt, going, &mut report).await?;
            if ROWS.begin(log).await? == begun {
                return Ok(report);
            }
        }
        Err(CatalogueError::Moving { attempts: ATTEMPTS })
    }
}

impl SkewReport {
    /// Counts what a row says of its object, if it is an object's.
    fn count(&mut self, key: &[u8], value: &[u8]) {
        let Some(id) = keys::object_id(key) else {
            return;
        };
        let Ok(row) = annals_wire::decode_row::<ObjectRow>(value) else {
            return;
        };
        if row.skewed > 0 {
            self.events = self.events.saturating_add(row.skewed);
            self.objects += 1;
            self.example.get_or_insert(id);
        }
    }
}

/// Checks the row that names the current generation.
async fn pointer(
    log: &dyn Store,
    checkpoint: Position,
    report: &mut CatalogueReport,
) -> Result<(), CatalogueError> {
    let since = log.checkpoint(ROWS.pointer).await?.position;
    let rows = log.scan(ROWS.pointer, b"", None, 2).await?;
    let is_there = rows.iter().any(|(key, _)| key == CURRENT);
    let mut find = |reason: String| report.find(CatalogueFault::Pointer { reason });
    if since > Position::START && !is_there {
        find("it is missing".to_owned());
    }
    for (key, _) in rows.iter().filter(|(key, _)| key != CURRENT) {
        find(format!("there is another one, {}", hex::encode(key)));
    }
    // They were whole up to there when they took their place.
    if checkpoint < since {
        find(format!(
            "it names rows up to {checkpoint}, and they were current from {since} on"
        ));
    }
    Ok(())
}

/// Compares the rows of a model with the new ones.
async fn rows_of(
    log: &dyn Store,
    model: &str,
    rebuilt: &dyn Store,
    going: &Going,
    report: &mut CatalogueReport,
) -> Result<(), CatalogueError> {
    let mut stored = Reading::new(log, model);
    let mut rebuilt = Reading::new(rebuilt, REBUILT);
    let (mut left, mut right) = (stored.next().await?, rebuilt.next().await?);
    loop {
        let order = match (&left, &right) {
            (None, None) => return Ok(()),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((stored, _)), Some((rebuilt, _))) => stored.cmp(rebuilt),
        };
        let (here, there) = (
            left.as_ref().filter(|_| order.is_le()),
            right.as_ref().filter(|_| order.is_ge()),
        );
        if here != there {
            let key = here.or(there).map(|(key, _)| key.as_ref());
            let key = key.unwrap_or_default();
            let value = |row: Option<&Row>| row.map(|(_, value)| value.clone());
            let (stored, folded) = (value(here), value(there));
            if going.explains(key, stored.as_deref(), folded.as_deref()) {
                report.going += u64::from(stored.is_some());
            } else {
                let row = keys::words(key);
                report.find(match order {
                    std::cmp::Ordering::Less => CatalogueFault::Surplus { row },
                    std::cmp::Ordering::Greater => CatalogueFault::Missing { row },
                    std::cmp::Ordering::Equal => CatalogueFault::Different { row },
                });
            }
        }
        if order.is_le() {
            report.rows += 1;
            left = stored.next().await?;
        }
        if order.is_ge() {
            if let Some((key, value)) = &right {
                report.skew.count(key, value);
            }
            right = rebuilt.next().await?;
        }
    }
}

/// The rows of a model, one after the other.
struct Reading<'a> {
    from: &'a dyn Store,
    model: &'a str,
    page: std::vec::IntoIter<Row>,
    last: Option<Bytes>,
    is_over: bool,
}

impl<'a> Reading<'a> {
    fn new(from: &'a dyn Store, model: &'a str) -> Reading<'a> {
        Reading {
            from,
            model,
            page: Vec::new().into_iter(),
            last: None,
            is_over: false,
        }
    }

    async fn next(&mut self) -> Result<Option<Row>, ReadError> {
        if let Some(row) = self.page.next() {
            return Ok(Some(row));
        }
        if self.is_over {
            return Ok(None);
        }
        let last = self.last.as_deref();
        let page = self.from.scan(self.model, b"", last, PAGE).await?;
        self.is_over = page.len() < PAGE;
        self.last = page.last().map(|(key, _)| key.clone());
        self.page = page.into_iter();
        Ok(self.page.next())
    }
}

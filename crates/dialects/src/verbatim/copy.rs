//! Copying a log into another store: the same records, byte for byte, at the same positions (ADR 37).
//!
//! ```text
//! begin     the same log? is what the destination has a beginning of the source? the roots say so
//! compare   what is there already, record by record: a removal on one side is not in the roots
//! copy      part by part, whole batches, each durable: an interrupted copy goes on behind the last one
//! verify    the roots again, and everything that the destination has now
//! ```

mod error;
mod source;

use std::collections::VecDeque;

use annals::proof::SinceReport;
use annals::{Annals, named_removals};
use annals_event_log::{
    AppendError, Digest, Epoch, Position, Query, Record, SUBSCRIPTIONS, Store, UnnamedRemovals,
    tree,
};

pub use error::LogCopyError;

use self::source::Source;
use super::copied_by::CopiedBy;
use crate::Progress;

/// What a copy is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStep {
    /// It compares what the destination has already.
    Comparing,
    /// It copies.
    Copying,
    /// It reads and checks everything at the destination.
    Verifying,
}

/// How much of a copy is checked when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerifyCopy {
    /// The roots of both, and each record and all content at the destination.
    #[default]
    Everything,
    /// The roots of both. Each record was compared with its digests when it was stored.
    Roots,
}

/// What a copy did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogCopied {
    /// The position of the last record: where the source ended when the copy began.
    pub position: Position,
    /// Records that were copied.
    pub copied: u64,
    /// Records that the destination had already.
    pub known: u64,
    /// Blobs that were sent with them.
    pub blobs: u64,
    /// The root over all records: that of both.
    pub root: Digest,
}

/// Copies what `to` does not have of `from`, up to where that ends now. `to` is a log with the same id, which is empty
/// or has the beginning of `from`, as a copy that was interrupted leaves it. Nothing else is to write to it meanwhile.
///
/// Records, their ids, positions, times and batches, the root, all proofs, content and what was removed of it are the
/// same afterwards. What is not in records stays behind: the digests of requests, by which a repeated command is
/// recognised, the secret of new ids, read models and subscriptions. `progress` counts records.
///
/// # Errors
/// [`LogCopyError`]. What was copied stays, and the next copy goes on behind it.
pub async fn copy(
    from: &Annals,
    to: &Annals,
    verify: VerifyCopy,
    progress: &mut (dyn FnMut(CopyStep, Progress) + Send),
) -> Result<LogCopied, LogCopyError> {
    let epoch = epoch(from).await?;
    let (source, destination) = (from.log().as_ref(), to.log().as_ref());
    let (end, there) = (source.watermark(), destination.watermark());
    demand_beginning(source, destination, (end, there)).await?;
    let copied_by = to.importer().and_then(|it| CopiedBy::of(it, there));
    examine(copied_by, source, there).await?;
    compare(source, destination, there, progress).await?;
    let (copied, blobs) = append(source, destination, (there, end), progress).await?;
    let root = root(source, end).await?;
    let found = tree::root(destination, end.0);
    let found = found.await.map_err(LogCopyError::ReadDestination)?;
    demand_end(destination, end)?;
    // An earlier copy may have been told that this is not known.
    let confirmed = destination.confirm().await;
    confirmed.map_err(LogCopyError::ReadDestination)?;
    if found != root {
        return Err(LogCopyError::Root {
            size: end.0,
            expected: root,
            found,
        });
    }
    if verify == VerifyCopy::Everything {
        let total = end.0;
        let shown = |Position(done)| progress(CopyStep::Verifying, Progress { done, total });
        demand_sound(&to.proofs().check_whole(shown).await?)?;
    }
    // Records that were copied before it may have had what is gone now.
    match self::epoch(from).await? == epoch {
        true => Ok(LogCopied {
            position: end,
            copied,
            known: there.0,
            blobs,
            root,
        }),
        false => Err(LogCopyError::RedactedMeanwhile),
    }
}

/// Checks what the destination does not have: that an importer that is not a person may copy it, and that a redaction names
/// all content that was removed.
async fn examine(
    mut copied_by: Option<CopiedBy<'_>>,
    source: &dyn Store,
    there: Position,
) -> Result<(), LogCopyError> {
    let mut removals = UnnamedRemovals::default();
    let mut next = Some(there.next());
    while let Some(from) = next {
        let page = source.read(Query::all(from)).await;
        let page = page.map_err(LogCopyError::ReadSource)?;
        for record in &page.records {
            removals.record(record, named_removals);
            if let Some(copied_by) = &mut copied_by {
                copied_by.check(record);
            }
        }
        next = page.next.map(Position);
    }
    if let Some(of) = removals.into_records().first() {
        let position = of.position;
        return Err(LogCopyError::Removed { position });
    }
    let checked = copied_by.as_mut().map_or(Ok(()), CopiedBy::finish);
    checked.map_err(|refused| LogCopyError::NotPermitted {
        count: refused.count,
        position: refused.position,
        refusal: refused.refusal,
    })
}

/// Which content the source has, and that no redaction of it is under way.
async fn epoch(from: &Annals) -> Result<Epoch, LogCopyError> {
    let unfinished = from.contents().unfinished_redaction();
    if let Some(unfinished) = unfinished.map_err(LogCopyError::ReadSource)? {
        let said = unfinished.said;
        return Err(LogCopyError::Unfinished { said });
    }
    let checkpoint = from.log().checkpoint(SUBSCRIPTIONS).await;
    Ok(checkpoint.map_err(LogCopyError::ReadSource)?.epoch)
}

/// Demands that the destination has a beginning of the source.
async fn demand_beginning(
    source: &dyn Store,
    destination: &dyn Store,
    (end, there): (Position, Position),
) -> Result<(), LogCopyError> {
    if source.log_id() != destination.log_id() {
        return Err(LogCopyError::OtherLog {
            expected: source.log_id(),
            found: destination.log_id(),
        });
    }
    if there > end {
        return Err(LogCopyError::Ahead { there, end });
    }
    let expected = root(source, there).await?;
    let found = tree::root(destination, there.0);
    let found = found.await.map_err(LogCopyError::ReadDestination)?;
    match found == expected {
        true => Ok(()),
        false => Err(LogCopyError::OtherHistory { there }),
    }
}

async fn root(source: &dyn Store, size: Position) -> Result<Digest, LogCopyError> {
    let root = tree::root(source, size.0);
    root.await.map_err(LogCopyError::ReadSource)
}

/// Compares what the destination has already. The headers are the same, by the roots; content may have been removed.
async fn compare(
    source: &dyn Store,
    destination: &dyn Store,
    there: Position,
    progress: &mut (dyn FnMut(CopyStep, Progress) + Send),
) -> Result<(), LogCopyError> {
    let total = there.0;
    let mut others: VecDeque<Record> = VecDeque::new();
    let mut next = Some(1).filter(|from| *from <= total);
    while let Some(from) = next {
        let page = source.read(Query::all(Position(from))).await;
        let page = page.map_err(LogCopyError::ReadSource)?;
        let records = page.records.iter();
        for record in records.take_while(|record| record.position() <= there) {
            let position = record.position();
            if others.is_empty() {
                let page = destination.read(Query::all(position)).await;
                others = page.map_err(LogCopyError::ReadDestination)?.records.into();
            }
            let other = others.pop_front();
            let other = other.filter(|it| it.header_bytes() == record.header_bytes());
            let other = other.ok_or(LogCopyError::Damaged { position })?;
            if other.as_bytes() != record.as_bytes() {
                return Err(match (record.verify(), other.verify()) {
                    (Ok(()), Ok(())) => LogCopyError::OtherContent { position },
                    _ => LogCopyError::Damaged { position },
                });
            }
            let done = position.0;
            if done.is_multiple_of(256) || done == total {
                progress(CopyStep::Comparing, Progress { done, total });
            }
        }
        next = page.next.filter(|next| *next <= total);
    }
    Ok(())
}

/// Copies what the destination does not have; how many records and blobs that were. The next part is read while one is
/// being stored.
async fn append(
    source: &dyn Store,
    destination: &dyn Store,
    (there, end): (Position, Position),
    progress: &mut (dyn FnMut(CopyStep, Progress) + Send),
) -> Result<(u64, u64), LogCopyError> {
    let (mut copied, mut blobs, total) = (0, 0, end.0);
    let mut source = Source::new(source, there, end);
    let mut next = source.part().await?;
    while let Some(part) = next {
        let position = part.records.first().map_or(end, Record::position);
        let sent = (part.records.len() as u64, part.blobs.len() as u64);
        let content = part.blobs.into_values().collect();
        let storing = destination.append_records(part.records, content);
        let (stored, following) = futures::join!(storing, source.part());
        if let Err(AppendError::NotContiguous { .. }) = &stored {
            demand_end(destination, Position(there.0 + copied))?;
        }
        stored.map_err(|source| LogCopyError::Append { position, source })?;
        copied += sent.0;
        blobs += sent.1;
        let done = there.0 + copied;
        progress(CopyStep::Copying, Progress { done, total });
        next = following?;
    }
    Ok((copied, blobs))
}

/// Demands that the destination has what was copied, and no more.
fn demand_end(destination: &dyn Store, expected: Position) -> Result<(), LogCopyError> {
    let there = destination.watermark();
    match there == expected {
        true => Ok(()),
        false => Err(LogCopyError::WrittenMeanwhile { there, expected }),
    }
}

fn demand_sound(report: &SinceReport) -> Result<(), LogCopyError> {
    match report.findings.first() {
        None => Ok(()),
        Some(first) => Err(LogCopyError::Findings {
            findings: report.total_findings,
            first: first.to_string(),
        }),
    }
}

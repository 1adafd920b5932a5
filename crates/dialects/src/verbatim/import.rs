//! Copying an export into a log.

use std::collections::VecDeque;

use annals::domain::ActorRef;
use annals::{Annals, named_removals};
use annals_event_log::store_support::referenced_blobs;
use annals_event_log::{Digest, Position, Query, Record, Store, UnnamedRemovals, tree};
use futures::StreamExt;

use super::copied_by::{CopiedBy, RefusedRecords};
use super::error::VerbatimImportError;
use super::lines::VerbatimHeader;
use super::parts::Part;
use super::read::{ReadEvent, VerbatimSource};
use crate::Progress;

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbatimImported {
    /// The position of the export's last record.
    pub position: Position,
    /// Records that were copied.
    pub copied: u64,
    /// Records that the log had already.
    pub known: u64,
    /// Those of them of which content is removed on one of the two sides. They were
    /// left as they are.
    pub known_but_for_content: u64,
    /// Blobs that were stored.
    pub blobs: u64,
    /// The root over all records up to `position`: the log's and the export's.
    pub root: Digest,
}

/// Copies what the log does not have of an export. The log is empty, or what it has is
/// a beginning of the log that was exported. `progress` counts records.
///
/// It reads on a thread of its own and needs no particular async runtime.
///
/// An importer ([`Annals::imported_by`]) that is not a person copies nothing that a person did, or that decides for a
/// person or for the log itself: [`examine`] finds that before anything is copied.
///
/// # Errors
/// [`VerbatimImportError`]. What was copied before it stays, and the next import goes
/// on behind it.
pub async fn import(
    annals: &Annals,
    source: VerbatimSource,
    progress: &mut dyn FnMut(Progress),
) -> Result<VerbatimImported, VerbatimImportError> {
    let log = annals.log().as_ref();
    let (file, header, mut messages) = source.start()?;
    let mut import = Import::begin(log, &header, annals.importer()).await?;
    let total = header.records();
    loop {
        let part = match messages.next().await {
            None => return Err(VerbatimImportError::Interrupted { file }),
            Some(Err(error)) => return Err(error),
            Some(Ok(ReadEvent::End)) => break,
            Some(Ok(ReadEvent::Part(part))) => part,
        };
        import.part(part).await?;
        let done = import.copied + import.known;
        progress(Progress { done, total });
    }
    let found = tree::root(log, header.to).await?;
    if found != header.root {
        return Err(VerbatimImportError::Root {
            size: header.to,
            expected: header.root,
            found,
        });
    }
    demand_named(import.removals)?;
    Ok(VerbatimImported {
        position: Position(header.to),
        copied: import.copied,
        known: import.known,
        known_but_for_content: import.known_but_for_content,
        blobs: import.blobs,
        root: found,
    })
}

/// Checks that an importer that is not a person may copy an export into a log, or a new one, and copies nothing.
///
/// # Errors
/// [`VerbatimImportError::NotPermitted`], [`VerbatimImportError::Removed`], and what is wrong with the export itself.
pub async fn examine(
    source: VerbatimSource,
    importer: &ActorRef,
    annals: Option<&Annals>,
) -> Result<(), VerbatimImportError> {
    let end = annals.map_or(Position(0), Annals::position);
    let Some(mut copied_by) = CopiedBy::of(importer, end) else {
        return Ok(());
    };
    let (file, header, mut messages) = source.start()?;
    let mut there = match annals {
        Some(annals) => Some(Import::begin(annals.log().as_ref(), &header, None).await?),
        None => None,
    };
    let mut removals = UnnamedRemovals::default();
    loop {
        match messages.next().await {
            None => return Err(VerbatimImportError::Interrupted { file }),
            Some(Err(error)) => return Err(error),
            Some(Ok(ReadEvent::End)) => break,
            Some(Ok(ReadEvent::Part(part))) => {
                for record in &part.records {
                    match &mut there {
                        Some(there) if record.position() <= there.end => {
                            there.compare(record).await?;
                        }
                        _ => {
                            removals.record(record, named_removals);
                            copied_by.check(record);
                        }
                    }
                }
            }
        }
    }
    demand_named(removals)?;
    copied_by.finish().map_err(not_permitted)
}

/// Demands that a redaction names all content that was removed.
fn demand_named(removals: UnnamedRemovals) -> Result<(), VerbatimImportError> {
    match removals.into_records().first() {
        None => Ok(()),
        Some(of) => Err(VerbatimImportError::Removed {
            position: of.position,
        }),
    }
}

fn not_permitted(refused: RefusedRecords) -> VerbatimImportError {
    let RefusedRecords {
        count,
        position,
        refusal,
    } = refused;
    VerbatimImportError::NotPermitted {
        count,
        position,
        refusal,
    }
}

struct Import<'a> {
    log: &'a dyn Store,
    /// Who imports, if that is not a person.
    copied_by: Option<CopiedBy<'a>>,
    /// Where the log ended at first.
    end: Position,
    /// What was read of it ahead, to be compared.
    there: VecDeque<Record>,
    /// What was removed of the records that are copied.
    removals: UnnamedRemovals,
    copied: u64,
    known: u64,
    known_but_for_content: u64,
    blobs: u64,
}

impl<'a> Import<'a> {
    /// Compares what comes before the export, before anything is copied.
    async fn begin(
        log: &'a dyn Store,
        header: &VerbatimHeader,
        importer: Option<&'a ActorRef>,
    ) -> Result<Import<'a>, VerbatimImportError> {
        let end = log.watermark();
        let before = Position(header.from - 1);
        if before > end {
            let from = Position(header.from);
            return Err(VerbatimImportError::Gap { from, end });
        }
        if tree::root(log, before.0).await? != header.root_before {
            return Err(VerbatimImportError::OtherBeginning { before });
        }
        Ok(Import {
            log,
            copied_by: importer.and_then(|it| CopiedBy::of(it, end)),
            end,
            there: VecDeque::new(),
            removals: UnnamedRemovals::default(),
            copied: 0,
            known: 0,
            known_but_for_content: 0,
            blobs: 0,
        })
    }

    async fn part(&mut self, part: Part) -> Result<(), VerbatimImportError> {
        let Part {
            mut records,
            mut blobs,
            ..
        } = part;
        let known = records.partition_point(|record| record.position() <= self.end);
        let new = records.split_off(known);
        for record in &records {
            self.compare(record).await?;
        }
        let Some(first) = new.first().map(Record::position) else {
            return Ok(());
        };
        if let Some(copied_by) = &mut self.copied_by {
            new.iter().for_each(|record| copied_by.check(record));
            copied_by.finish().map_err(not_permitted)?;
        }
        for record in &new {
            self.removals.record(record, named_removals);
        }
        let mut missing = Vec::new();
        for digest in referenced_blobs(&new) {
            if let Some(blob) = blobs.remove(&digest)
                && self.log.blob(digest).await?.is_none()
            {
                missing.push(blob);
            }
        }
        let (copied, stored) = (new.len() as u64, missing.len() as u64);
        let appended = self.log.append_records(new, missing).await;
        appended.map_err(|source| VerbatimImportError::Append {
            position: first,
            source,
        })?;
        self.copied += copied;
        self.blobs += stored;
        Ok(())
    }

    /// Compares a record with the one that the log has at its position.
    async fn compare(&mut self, record: &Record) -> Result<(), VerbatimImportError> {
        let position = record.position();
        if self.there.is_empty() {
            let page = self.log.read(Query::all(position)).await?;
            self.there = page.records.into();
        }
        let there = self.there.pop_front();
        let is_same = |there: &Record| there.header_bytes() == record.header_bytes();
        let Some(there) = there.filter(is_same) else {
            return Err(VerbatimImportError::Contradiction { position });
        };
        self.known += 1;
        // The header says the same of all content. So where the bytes differ, it was
        // removed from one of the two, and an import must not undo that.
        if there.as_bytes() != record.as_bytes() {
            if there.verify().is_err() {
                return Err(VerbatimImportError::Contradiction { position });
            }
            self.known_but_for_content += 1;
        }
        Ok(())
    }
}

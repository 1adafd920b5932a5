//! Bringing the index up to date with the log, and making it again.

use std::sync::Arc;
use std::time::Duration;

use annals::LoadError;
use annals_event_log::{Epoch, Position, Query as Read, ReadError};

use crate::error::SearchError;
use crate::kept::{Fault, Kept, Mark, Writer, record_sums};
use crate::log_search::{LogSearch, PAGE};
use crate::place::{Keeping, Place};
use crate::request::Lag;
use crate::schema::FORMAT;

/// Events from which on it is much that is added, and more than one thread adds it.
const MUCH: u64 = 10_000;
/// Events between two commits: what a killed process does again.
const COMMIT: u64 = 500_000;
/// How often it is begun again because content was removed, or because what is there is damaged.
const ATTEMPTS: u32 = 5;

/// How far one attempt came.
enum Came {
    /// It is up to date.
    There,
    /// Another one may succeed: content was removed meanwhile, or what was there is gone.
    Again,
    Not(Lag),
}

impl LogSearch {
    /// Adds to the index what it lacks, and makes it where there is none, or none of this log that is whole.
    /// `progress` is told each position up to which it is. Killed at any moment, it goes on from its last commit.
    /// Says why, where it is not up to date then; without a folder there is no index, and nothing to do.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn catch_up(
        &self,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Option<Lag>, SearchError> {
        let Some(place) = &self.place else {
            return Ok(None);
        };
        let (mut was_damaged, mut has_moved, mut last) = (false, false, None);
        for _ in 0..ATTEMPTS {
            let epoch = self.epoch().await?;
            match self.catch_up_once(place, epoch, progress).await {
                Ok(Came::There) => return Ok(None),
                Ok(Came::Not(lag)) => return Ok(Some(lag)),
                Ok(Came::Again) => has_moved |= self.epoch().await? != epoch,
                Err(Failed::Search(error)) => return Err(error),
                Err(Failed::Index(Fault::Busy)) => return Ok(Some(Lag::Busy)),
                Err(Failed::Index(fault)) => {
                    let moves = self.epoch().await? != epoch;
                    has_moved |= moves;
                    // The folder may have been removed with what was redacted, or by hand. Where it cannot be made, it was
                    // not removed.
                    let is_gone = is_absence(&fault) && !place.has(epoch).unwrap_or(true);
                    let is_first = !std::mem::replace(&mut was_damaged, true);
                    match fault {
                        _ if moves => {}
                        fault if is_gone => last = Some(fault),
                        Fault::Damaged(_) if is_first && place.forget(epoch).is_ok() => {}
                        fault => return Err(failed(place, epoch, fault)),
                    }
                }
            }
        }
        match last {
            _ if has_moved => Err(SearchError::Moving { attempts: ATTEMPTS }),
            Some(fault) => Err(failed(place, self.epoch().await?, fault)),
            // Another process was faster each time.
            None => Ok(Some(Lag::Busy)),
        }
    }

    /// For a process that stays: brings the index up to date every `pause` where that is asked for
    /// ([`Keeping::Kept`]), until the log is closed. It sleeps on its thread.
    pub async fn keep_up(&self, pause: Duration) {
        let mut said = String::new();
        loop {
            if self.keeping() == Keeping::Kept {
                let done = self.catch_up(&mut |_| {}).await;
                let failure = match done {
                    Err(SearchError::Load(LoadError::Read(ReadError::Closed))) => return,
                    Err(error) => error.to_string(),
                    Ok(_) => String::new(),
                };
                if !failure.is_empty() && failure != said {
                    tracing::warn!(failure, "the search index is not up to date");
                }
                said = failure;
            } else if self.epoch().await.is_err() || self.let_go().await.is_err() {
                return;
            }
            std::thread::sleep(pause);
        }
    }

    /// Makes the index again from the whole log.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn rebuild(
        &self,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Option<Lag>, SearchError> {
        if let Some(place) = &self.place {
            let (epoch, path) = (self.epoch().await?, place.folder());
            let forgotten = place.has(epoch).and_then(|is_there| match is_there {
                true => place.forget(epoch),
                false => Ok(()),
            });
            forgotten.map_err(|source| SearchError::Io { path, source })?;
        }
        self.catch_up(progress).await
    }

    /// Whether an index is kept of this log.
    pub fn keeping(&self) -> Keeping {
        self.place.as_ref().map_or(Keeping::Off, Place::keeping)
    }

    /// Says whether an index is kept of this log; with [`Keeping::Off`] what there is goes.
    ///
    /// # Errors
    /// [`SearchError::Io`].
    pub fn keep(&self, keeping: Keeping) -> Result<(), SearchError> {
        let Some(place) = &self.place else {
            return Ok(());
        };
        let path = place.folder();
        place
            .keep(keeping)
            .map_err(|source| SearchError::Io { path, source })
    }

    /// Whether there is an index of the content of now.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn has_index(&self) -> Result<bool, SearchError> {
        let Some(place) = &self.place else {
            return Ok(false);
        };
        let epoch = self.epoch().await?;
        let path = place.folder();
        place
            .has(epoch)
            .map_err(|source| SearchError::Io { path, source })
    }

    async fn catch_up_once(
        &self,
        place: &Place,
        epoch: Epoch,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Came, Failed> {
        let end = self.annals.position();
        let kept = self.whole(place, epoch).await?;
        let from = kept.as_ref().map_or(0, |kept| kept.mark.position);
        self.remember(epoch, kept);
        if from >= end.0 && from > 0 {
            return Ok(Came::There);
        }
        place.make(epoch)?;
        // The folder is there now: a redaction from here on finds it. One that is under way has not moved the epoch
        // yet, and a reader may not see it do so.
        if self
            .annals
            .contents()
            .unfinished_redaction()
            .map_err(SearchError::from)?
            .is_some()
        {
            return Ok(Came::Not(Lag::Redacting));
        }
        if self.epoch().await? != epoch {
            place.forget(epoch)?;
            return Ok(Came::Again);
        }
        place.forget_others(epoch)?;
        let folder = place.of_epoch(epoch);
        let mut writer = Writer::open(&folder, end.0.saturating_sub(from) >= MUCH)?;
        if writer.mark.map_or(0, |mark| mark.position) != from {
            // Another process was faster.
            return Ok(Came::Again);
        }
        self.fill(
            &mut writer,
            Mark {
                position: from,
                ..self.mark(epoch)
            },
            progress,
        )
        .await?;
        // What is merged meanwhile is merged to its end: else small commits would gather without end.
        writer.finish()?;
        // They only guard against files of another index.
        if let Err(fault) = record_sums(&folder) {
            tracing::debug!(
                ?fault,
                "the check sums of the search index are not recorded"
            );
        }
        match self.epoch().await? == epoch {
            true => Ok(Came::There),
            false => {
                place.forget(epoch)?;
                Ok(Came::Again)
            }
        }
    }

    /// The index of an epoch, if it is there; one that is damaged, or another log's, is removed.
    async fn whole(&self, place: &Place, epoch: Epoch) -> Result<Option<Arc<Kept>>, Failed> {
        if !place.has(epoch)? {
            return Ok(None);
        }
        if let Some(kept) = self.remembered(epoch) {
            return Ok(Some(kept));
        }
        match Kept::open(&place.of_epoch(epoch)) {
            Ok(Some(kept)) => {
                if self.is_ours(&kept, epoch).await? {
                    return Ok(Some(Arc::new(kept)));
                }
                tracing::info!("the search index is not of this log's history, and is made again");
            }
            Ok(None) => return Ok(None),
            Err(fault @ (Fault::Io(_) | Fault::Busy)) => return Err(fault.into()),
            Err(Fault::Damaged(reason)) => {
                tracing::warn!(reason, "the search index is damaged, and is made again");
            }
        }
        place.forget(epoch)?;
        Ok(None)
    }

    fn mark(&self, epoch: Epoch) -> Mark {
        Mark {
            format: FORMAT,
            log: self.annals.log().log_id(),
            epoch: epoch.0,
            position: 0,
            event: None,
        }
    }

    /// Adds what comes behind a mark, up to the log's end.
    async fn fill(
        &self,
        writer: &mut Writer,
        mut mark: Mark,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<(), Failed> {
        let mut committed = mark.position;
        loop {
            let read = Read::all(Position(mark.position).next()).limit(PAGE);
            let page = self
                .annals
                .log()
                .read(read)
                .await
                .map_err(SearchError::from)?;
            let Some(last) = page.records.last() else {
                break;
            };
            for record in &page.records {
                if let Some(document) = self.document(record).await? {
                    writer.add(&document)?;
                }
            }
            (mark.position, mark.event) = (last.position().0, Some(last.event_id()));
            if mark.position - committed >= COMMIT {
                writer.commit(mark)?;
                committed = mark.position;
            }
            progress(Position(mark.position));
            // What was read before content was removed is not kept.
            if self.epoch().await?.0 != mark.epoch {
                return Ok(());
            }
        }
        if mark.position > committed {
            writer.commit(mark)?;
        }
        Ok(())
    }
}

/// Returns `true` if something was not there that was looked for.
fn is_absence(fault: &Fault) -> bool {
    match fault {
        Fault::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        Fault::Damaged(_) => true,
        Fault::Busy => false,
    }
}

/// The error of an index that cannot be used.
pub(crate) fn failed(place: &Place, epoch: Epoch, fault: Fault) -> SearchError {
    let path = place.of_epoch(epoch);
    match fault {
        Fault::Io(source) => SearchError::Io { path, source },
        Fault::Damaged(reason) => SearchError::Damaged { path, reason },
        Fault::Busy => SearchError::Damaged {
            path,
            reason: "it is in use".to_owned(),
        },
    }
}

/// Why an attempt failed.
enum Failed {
    Search(SearchError),
    Index(Fault),
}

impl From<SearchError> for Failed {
    fn from(error: SearchError) -> Failed {
        Failed::Search(error)
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Index(fault)
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Failed {
        Failed::Index(Fault::Io(error))
    }
}

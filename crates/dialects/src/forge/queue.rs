//! Facts that wait for an append together: each append costs a write to disk that
//! is waited for.

use std::collections::{BTreeMap, HashMap};

use annals::domain::{Emitted, StreamRef};
use annals::event_log::{AppendError, Version};
use annals::wire::stream_name;
use annals::{Annals, ExecuteError, RecordedEvent};

use super::facts::Taking;
use super::folder::ForgeFolderError;

/// Events that are put into one append.
const BATCH_EVENTS: usize = 1_000;
/// Bytes of content beyond which nothing further is put into an append.
const BATCH_BYTES: usize = 4 << 20;

/// Facts that belong together, and what to report of them.
pub(super) struct Unit<T> {
    pub(super) events: Vec<Emitted>,
    /// Streams as they were when this was decided; others may be as they are.
    pub(super) heads: Vec<(StreamRef, Version)>,
    pub(super) about: T,
}

/// What became of facts.
pub(super) enum Became {
    /// They are on disk; so many events.
    Recorded(u64),
    /// They do not fit into an event or an append.
    Unfit(ExecuteError),
}

/// The queue.
pub(super) struct Queue<'a, T> {
    annals: &'a Annals,
    taking: Taking<'a>,
    units: Vec<Unit<T>>,
    /// The streams of what waits, as they are before it.
    versions: BTreeMap<StreamRef, Version>,
    events: usize,
    bytes: usize,
    done: Vec<(T, Became)>,
}

impl<'a, T> Queue<'a, T> {
    pub(super) fn new(annals: &'a Annals, taking: Taking<'a>) -> Queue<'a, T> {
        Queue {
            annals,
            taking,
            units: Vec::new(),
            versions: BTreeMap::new(),
            events: 0,
            bytes: 0,
            done: Vec::new(),
        }
    }

    /// Puts facts behind those that wait.
    pub(super) async fn push(&mut self, unit: Unit<T>) -> Result<(), ForgeFolderError> {
        let pieces = unit.events.iter().flat_map(|event| event.pieces.list());
        let bytes = pieces.map(|piece| piece.bytes.len()).sum::<usize>();
        let is_full = self.events + unit.events.len() > BATCH_EVENTS
            || self.bytes.saturating_add(bytes) > BATCH_BYTES;
        if is_full {
            self.flush().await?;
        }
        for (stream, head) in &unit.heads {
            self.versions.entry(*stream).or_insert(*head);
        }
        for event in &unit.events {
            if !self.versions.contains_key(&event.stream) {
                let head = self.annals.log().head(&stream_name(event.stream)).await;
                let head = head.map_err(annals::LoadError::from)?;
                self.versions.insert(event.stream, head);
            }
        }
        self.events += unit.events.len();
        self.bytes += bytes;
        self.units.push(unit);
        Ok(())
    }

    /// The same, of facts that may not be there.
    pub(super) async fn push_all(
        &mut self,
        units: impl IntoIterator<Item = Unit<T>>,
    ) -> Result<(), ForgeFolderError> {
        for unit in units {
            self.push(unit).await?;
        }
        Ok(())
    }

    /// Records what waits, if some of it is on this stream.
    pub(super) async fn flush_if_touched(
        &mut self,
        stream: StreamRef,
    ) -> Result<(), ForgeFolderError> {
        if self.versions.contains_key(&stream) {
            self.flush().await?;
        }
        Ok(())
    }

    /// Records what waits.
    pub(super) async fn flush(&mut self) -> Result<(), ForgeFolderError> {
        let units = std::mem::take(&mut self.units);
        let mut versions = std::mem::take(&mut self.versions);
        (self.events, self.bytes) = (0, 0);
        let all = units.iter().flat_map(|unit| &unit.events);
        match self.append(all, &mut versions).await {
            Err(error) if is_unfit(&error) => {
                // Together they do not fit; each alone does, or says why not.
                for Unit { events, about, .. } in units {
                    let became = match self.append(&events, &mut versions).await {
                        Ok(()) => Became::Recorded(events.len() as u64),
                        Err(error) if is_unfit(&error) => Became::Unfit(error),
                        Err(error) => return Err(error.into()),
                    };
                    self.done.push((about, became));
                }
            }
            Err(error) => return Err(error.into()),
            Ok(()) => {
                let done = units.into_iter();
                let done =
                    done.map(|unit| (unit.about, Became::Recorded(unit.events.len() as u64)));
                self.done.extend(done);
            }
        }
        Ok(())
    }

    /// What became of that which does not wait any more.
    pub(super) fn take_done(&mut self) -> Vec<(T, Became)> {
        std::mem::take(&mut self.done)
    }

    async fn append(
        &self,
        events: impl IntoIterator<Item = &Emitted>,
        versions: &mut BTreeMap<StreamRef, Version>,
    ) -> Result<(), ExecuteError> {
        let mut counts: HashMap<StreamRef, u64> = HashMap::new();
        let mut recorded = Vec::new();
        for event in events {
            *counts.entry(event.stream).or_default() += 1;
            recorded.push(RecordedEvent {
                id: annals_event_log::new_id(),
                at: self.taking.at,
                emitted: event.clone(),
            });
        }
        if recorded.is_empty() {
            return Ok(());
        }
        let after: Vec<(StreamRef, Version)> = versions
            .iter()
            .filter(|(stream, _)| counts.contains_key(stream))
            .map(|(stream, version)| (*stream, *version))
            .collect();
        let actor = self.taking.actor;
        self.annals
            .imports()
            .record(&after, actor, &recorded)
            .await?;
        for (stream, count) in counts {
            if let Some(version) = versions.get_mut(&stream) {
                version.0 += count;
            }
        }
        Ok(())
    }
}

fn is_unfit(error: &ExecuteError) -> bool {
    matches!(
        error,
        ExecuteError::Encode(_) | ExecuteError::Append(AppendError::TooLarge { .. })
    )
}

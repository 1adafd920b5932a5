//! The entries about some objects of a stream, in their order, before and behind a moment.

use std::collections::HashMap;

use annals_domain::{AnyEvent, Kind, StreamRef};
use annals_event_log::{Position, Version};
use annals_projections::{Entry, Fold, is_about};
use uuid::Uuid;

use super::{Past, PastError};
use crate::{Annals, At, LoadError, ObjectRef};

/// Some objects of one stream.
pub(super) struct Objects {
    pub(super) stream: StreamRef,
    pub(super) list: Vec<ObjectRef>,
    by_id: HashMap<Uuid, usize>,
    /// Those that events are about which do not name them.
    unnamed: Vec<usize>,
}

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) position: Position,
    pub(super) version: Version,
}

impl Mark {
    pub(super) const FIRST: Mark = Mark {
        position: Position(1),
        version: Version(1),
    };

    pub(super) fn of(entry: &Entry) -> Mark {
        Mark {
            position: entry.position,
            version: entry.version,
        }
    }
}

impl Objects {
    pub(super) fn new(stream: StreamRef, list: Vec<ObjectRef>) -> Objects {
        let by_id = list.iter().enumerate();
        let by_id = by_id.map(|(index, object)| (object.id, index)).collect();
        let is_unnamed = |(_, object): &(usize, &ObjectRef)| match object.kind {
            Kind::Provenance | Kind::ContextPipeline | Kind::Plan | Kind::Run => true,
            Kind::Intent
            | Kind::Task
            | Kind::PatchSet
            | Kind::Evidence
            | Kind::Decision
            | Kind::ToolInvocation
            | Kind::ContextSnapshot
            | Kind::Session
            | Kind::Observation => false,
        };
        let unnamed = list.iter().enumerate().filter(is_unnamed);
        let unnamed = unnamed.map(|(index, _)| index).collect();
        Objects {
            stream,
            list,
            by_id,
            unnamed,
        }
    }

    /// Nothing is folded yet.
    pub(super) fn folds(&self) -> Vec<Fold> {
        let fold = |object: &ObjectRef| Fold::new(object.kind, object.id);
        self.list.iter().map(fold).collect()
    }

    /// The numbers of the objects that an event is about.
    pub(super) fn concerned(&self, event: &AnyEvent) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for (kind, id) in event.touches(self.stream.id) {
            let known = self.by_id.get(&id).copied();
            found.extend(known.filter(|it| self.list.get(*it).is_some_and(|of| of.kind == kind)));
        }
        let about = |index: &usize| {
            let object = self.list.get(*index);
            object.is_some_and(|object| is_about(event, self.stream, object.kind, object.id))
        };
        found.extend(self.unnamed.iter().copied().filter(about));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Gives the entries about the objects that had happened by a moment, from a place on.
    pub(super) async fn each(
        &self,
        annals: &Annals,
        first: Mark,
        to: At,
        mut each: impl FnMut(Entry),
    ) -> Result<(), LoadError> {
        if let [object] = self.list.as_slice()
            && let Some(positions) = positions_of_call(annals, *object).await?
        {
            for position in positions {
                let record = annals.contents().record(position).await?;
                let record = record.filter(|it| position >= first.position && to.has_happened(it));
                if let Some(record) = record {
                    each(annals.contents().entry(&record).await?);
                }
            }
            return Ok(());
        }
        let about = |event: &AnyEvent| !self.concerned(event).is_empty();
        annals
            .each_entry_from(self.stream, first.version, to, about, each)
            .await?;
        Ok(())
    }
}

/// Where the events on a tool call are: a long run has many calls, and the catalogue knows where the few events on one
/// are. `None` of other objects, and where it has others, too, of which the catalogue does not know it: of labels, or
/// a seal.
async fn positions_of_call(
    annals: &Annals,
    object: ObjectRef,
) -> Result<Option<Vec<Position>>, LoadError> {
    if object.kind != Kind::ToolInvocation {
        return Ok(None);
    }
    let positions = annals.index().events_of_call(object.id).await?;
    let row = annals.row_if_any(object.id).await?;
    let is_all = row.is_some_and(|row| row.events == positions.len() as u64);
    Ok(is_all.then_some(positions))
}

/// Two moments, of which the entries by the earlier one are the first of those by the later one.
#[derive(Debug)]
pub(super) struct Span {
    from: At,
    to: At,
    /// The first entry that had not happened by the earlier moment.
    pub(super) behind: Option<Mark>,
    gap: Option<Position>,
    only_from: Option<Position>,
}

/// Where an entry is beside a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It had happened by the earlier moment.
    Before,
    /// It had happened by the later moment alone.
    Within,
    /// It had happened by neither.
    Outside,
}

impl Span {
    pub(super) fn new(from: At, to: At) -> Span {
        Span {
            from,
            to,
            behind: None,
            gap: None,
            only_from: None,
        }
    }

    /// Up to where entries are to be read.
    pub(super) fn end(&self) -> At {
        match (self.from, self.to) {
            // What had happened by the one may be anywhere behind what had by the other.
            (At::Occurred(_), _) | (_, At::Occurred(_)) => At::Now,
            (_, to) => to,
        }
    }

    /// Where an entry is. They are given in the order of the log.
    pub(super) fn place(&mut self, entry: &Entry) -> Place {
        let (before, by_end) = (self.from.includes(entry), self.to.includes(entry));
        match (before, by_end, self.behind) {
            (true, false, _) => {
                self.only_from.get_or_insert(entry.position);
                Place::Outside
            }
            (false, false, _) => Place::Outside,
            (true, true, None) => Place::Before,
            (true, true, Some(_)) => {
                self.gap.get_or_insert(entry.position);
                Place::Before
            }
            (false, true, behind) => {
                self.behind = behind.or(Some(Mark::of(entry)));
                Place::Within
            }
        }
    }

    /// Whether what was read is one piece of the history.
    pub(super) fn check(&self) -> Result<(), PastError> {
        if let Some(position) = self.only_from {
            return Err(PastError::Order { position });
        }
        match (self.gap, self.behind) {
            (
                Some(position),
                Some(Mark {
                    position: before, ..
                }),
            ) => Err(PastError::Gap { position, before }),
            _ => Ok(()),
        }
    }
}

impl Past<'_> {
    /// The position that a moment is behind; none of a time by the callers' clocks, which is behind no one position.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn position_of(self, at: At) -> Result<Option<Position>, LoadError> {
        let end = self.annals.position();
        let time = match at {
            At::Now => return Ok(Some(end)),
            At::Position(position) => return Ok(Some(position.min(end))),
            At::Occurred(_) => return Ok(None),
            At::Recorded(time) => time,
        };
        // The log's clock never goes back.
        let (mut low, mut high) = (0, end.0);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let record = self.annals.contents().record(Position(middle)).await?;
            match record.is_some_and(|it| it.recorded_at() <= time.to_utc()) {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        Ok(Some(Position(low)))
    }

    /// Refuses two moments of which the first is the later one, where no event shows it.
    pub(super) async fn in_order(self, from: At, to: At) -> Result<(), PastError> {
        if from == to || to == At::Now {
            return Ok(());
        }
        match (self.position_of(from).await?, self.position_of(to).await?) {
            (Some(from), Some(to)) if from > to => Err(PastError::Order { position: from }),
            _ => Ok(()),
        }
    }
}

//! What changed of an object between two moments, and which event changed it.

use annals_domain::Kind;
use annals_projections::Fold;
use annals_projections::past::{Cause, Change, Watch, changes, document};
use serde::Serialize;
use uuid::Uuid;

use super::about::{Mark, Objects, Place, Span};
use super::{Past, PastError};
use crate::window::kind_word;
use crate::{At, ObjectRef, ViewError};

/// What changed of an object between two moments.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObjectDiff {
    /// The object's id.
    pub object_id: Uuid,
    /// What it is.
    #[serde(serialize_with = "kind_word")]
    pub object_type: Kind,
    /// Whether it existed at the first moment; otherwise the patch begins with null.
    pub existed: bool,
    /// How many events on it there are between the moments.
    pub events: u64,
    /// What changed: the operations of an RFC 6902 patch, each with the event that made the value what it is.
    #[serde(rename = "patch")]
    pub changes: Vec<CausedChange>,
}

/// A change, and the event that made it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CausedChange {
    /// What changed.
    #[serde(flatten)]
    pub change: Change,
    /// The last event that changed the value at that place.
    pub cause: Cause,
}

/// An object of a span.
struct Tracked {
    before: Fold,
    after: Fold,
    events: u64,
}

impl Past<'_> {
    /// What changed of an object between two moments, of which the first is the earlier one: the operations that make
    /// the object as it was by the first into what it was by the second, each with the last event that changed that
    /// place.
    ///
    /// # Errors
    /// [`ViewError::NotYet`], if it did not exist by the second moment either; [`PastError::Order`] and
    /// [`PastError::Gap`].
    pub async fn diff(self, object: ObjectRef, from: At, to: At) -> Result<ObjectDiff, PastError> {
        self.in_order(from, to).await?;
        let (_, stream) = self.annals.locate(object.id).await?;
        let objects = Objects::new(stream, vec![object]);
        let found = self.diff_objects(&objects, from, to).await?;
        let diff = found.into_iter().next().flatten();
        diff.ok_or(ViewError::NotYet { object }.into())
    }

    /// The same of several objects of one stream, by reading it twice. None of those that did not exist.
    pub(super) async fn diff_objects(
        self,
        objects: &Objects,
        from: At,
        to: At,
    ) -> Result<Vec<Option<ObjectDiff>>, PastError> {
        let (tracked, behind) = self.fold_twice(objects, from, to).await?;
        let mut changed = Vec::with_capacity(tracked.len());
        for of in &tracked {
            let (old, new) = (document(of.before.peek())?, document(of.after.peek())?);
            changed.push(changes(&old, &new));
        }
        let causes = match behind {
            Some(first) => {
                self.causes(objects, &tracked, &changed, (first, to))
                    .await?
            }
            None => changed.iter().map(|_| Vec::new()).collect(),
        };
        let all = objects
            .list
            .iter()
            .zip(tracked)
            .zip(changed.into_iter().zip(causes));
        let diffs = all.map(|((object, of), (changes, causes))| {
            of.after.peek()?;
            let caused = changes.into_iter().zip(causes);
            let caused = caused.filter_map(|(change, cause)| {
                let cause = cause?;
                Some(CausedChange { change, cause })
            });
            Some(ObjectDiff {
                object_id: object.id,
                object_type: object.kind,
                existed: of.before.peek().is_some(),
                events: of.events,
                changes: caused.collect(),
            })
        });
        Ok(diffs.collect())
    }

    /// The folds by both moments, and where what is between them begins.
    async fn fold_twice(
        self,
        objects: &Objects,
        from: At,
        to: At,
    ) -> Result<(Vec<Tracked>, Option<Mark>), PastError> {
        let mut before = objects.folds();
        let mut after: Vec<Option<(Fold, u64)>> = before.iter().map(|_| None).collect();
        let mut span = Span::new(from, to);
        let each = objects.each(self.annals, Mark::FIRST, span.end(), |entry| {
            let place = span.place(&entry);
            for index in objects.concerned(&entry.event) {
                let (Some(old), Some(new)) = (before.get_mut(index), after.get_mut(index)) else {
                    continue;
                };
                match place {
                    Place::Before => old.apply(&entry),
                    Place::Within => {
                        let (fold, events) = new.get_or_insert_with(|| (old.clone(), 0));
                        fold.apply(&entry);
                        *events += 1;
                    }
                    Place::Outside => {}
                }
            }
        });
        each.await?;
        span.check()?;
        let tracked = before.into_iter().zip(after).map(|(before, after)| {
            let (after, events) = after.unwrap_or_else(|| (before.clone(), 0));
            Tracked {
                before,
                after,
                events,
            }
        });
        Ok((tracked.collect(), span.behind))
    }

    /// For each change the last event that changed its place.
    async fn causes(
        self,
        objects: &Objects,
        tracked: &[Tracked],
        changed: &[Vec<Change>],
        (first, to): (Mark, At),
    ) -> Result<Vec<Vec<Option<Cause>>>, PastError> {
        let mut causes: Vec<Vec<Option<Cause>>> =
            changed.iter().map(|of| vec![None; of.len()]).collect();
        let mut folds: Vec<Fold> = tracked.iter().map(|of| of.before.clone()).collect();
        let mut watches = Vec::with_capacity(folds.len());
        for (changes, fold) in changed.iter().zip(&folds) {
            let mut watch = Watch::new(changes.iter().map(|change| &change.place));
            watch.see(fold.peek(), |_| {})?;
            watches.push(watch);
        }
        let mut failed = None;
        let each = objects.each(self.annals, first, to, |entry| {
            for index in objects.concerned(&entry.event) {
                let parts = (
                    folds.get_mut(index),
                    watches.get_mut(index),
                    causes.get_mut(index),
                );
                let (Some(fold), Some(watch), Some(causes)) = parts else {
                    continue;
                };
                fold.apply(&entry);
                let seen = watch.see(fold.peek(), |seen| {
                    if let Some(cause) = causes.get_mut(seen.place) {
                        *cause = Some(Cause::from(&entry));
                    }
                });
                failed = failed.take().or(seen.err());
            }
        });
        each.await?;
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(causes),
        }
    }
}

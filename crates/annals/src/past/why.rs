//! The events that made a field what it is.

use std::collections::VecDeque;

use annals_domain::Kind;
use annals_projections::Fold;
use annals_projections::past::{Cause, Change, FieldName, Place, Seen, Watch, changes, document};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::about::{Mark, Objects};
use super::{Past, PastError};
use crate::window::kind_word;
use crate::{At, ObjectRef, ViewError};

/// What a field was, and which events made it that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldHistory {
    /// The object's id.
    pub object_id: Uuid,
    /// What it is.
    #[serde(serialize_with = "kind_word")]
    pub object_type: Kind,
    /// The field.
    pub field: Place,
    /// What it is; none where it is not there any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// How many events changed it.
    pub total: u64,
    /// The changes, the newest first.
    pub changes: Vec<FieldChange>,
}

/// One change of a field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    /// What changed, as an RFC 6902 patch of the field's value; what was not there before is null.
    pub patch: Vec<Change>,
    /// The event that changed it.
    pub cause: Cause,
}

impl Past<'_> {
    /// The events that made a field what it was at a moment, at most the newest `limit` of them.
    ///
    /// # Errors
    /// [`PastError::NoField`], and those of a view.
    pub async fn why(
        self,
        object: ObjectRef,
        field: &FieldName,
        at: At,
        limit: usize,
    ) -> Result<FieldHistory, PastError> {
        let (_, stream) = self.annals.locate(object.id).await?;
        let objects = Objects::new(stream, vec![object]);
        let mut fold = Fold::new(object.kind, object.id);
        let folded = objects.each(self.annals, Mark::FIRST, at, |entry| fold.apply(&entry));
        folded.await?;
        let view = fold.view().ok_or(ViewError::NotYet { object })?;
        let now = document(Some(&view))?;
        let place = match field.place(&now) {
            Some(place) => place,
            None => self.place_before(&objects, field, at, &now).await?,
        };
        let mut history = FieldHistory {
            object_id: object.id,
            object_type: object.kind,
            value: place.find(&now).cloned(),
            field: place,
            total: 0,
            changes: Vec::new(),
        };
        let (mut newest, mut failed) = (VecDeque::new(), None);
        let mut watch = Watch::new([&history.field]);
        let mut fold = Fold::new(object.kind, object.id);
        let each = objects.each(self.annals, Mark::FIRST, at, |entry| {
            fold.apply(&entry);
            let seen = watch.see(fold.peek(), |seen| {
                history.total += 1;
                newest.push_front(FieldChange {
                    patch: patch(seen),
                    cause: Cause::from(&entry),
                });
                newest.truncate(limit);
            });
            failed = failed.take().or(seen.err());
        });
        each.await?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        history.changes = newest.into();
        Ok(history)
    }

    /// The place of a field that is not there any more.
    async fn place_before(
        self,
        objects: &Objects,
        field: &FieldName,
        at: At,
        now: &Value,
    ) -> Result<Place, PastError> {
        let Some(object) = objects.list.first().copied() else {
            return Ok(Place::ROOT);
        };
        let mut fold = Fold::new(object.kind, object.id);
        let (mut place, mut failed) = (None, None);
        let each = objects.each(self.annals, Mark::FIRST, at, |entry| {
            fold.apply(&entry);
            match document(fold.peek()) {
                Ok(document) => place = field.place(&document).or(place.take()),
                Err(error) => failed = Some(error),
            }
        });
        each.await?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        let known = || now.as_object().into_iter().flatten();
        place.ok_or_else(|| PastError::NoField {
            object,
            field: field.to_string(),
            known: known().map(|(name, _)| name.clone()).collect(),
        })
    }
}

/// What changed of a value: of lists and objects what differs in them, of others the whole.
fn patch(seen: Seen<'_>) -> Vec<Change> {
    let null = Value::Null;
    let (old, new) = (seen.old.unwrap_or(&null), seen.new.unwrap_or(&null));
    match (old, new) {
        // The empty object before its fields says nothing here.
        (Value::Null, Value::Object(_)) => vec![Change::whole(old, new)],
        _ => changes(old, new),
    }
}

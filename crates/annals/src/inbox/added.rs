//! Who requested an intent, and what agents added to it since: a person approves all of it.

use annals_domain::intent::{Classified, Event};
use annals_domain::{ActorKind, ActorRef, AnyEvent, IntentId, Timestamp};
use annals_projections::Entry;

use super::Inbox;
use crate::{At, LoadError};

/// Something that was added to an intent after it was requested, by another actor than a person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Addition {
    /// Who added it.
    pub by: ActorRef,
    /// When.
    pub at: Timestamp,
    /// What it is, in words.
    pub what: String,
}

/// An event that adds to an intent, before the names of what it adds are looked up.
enum Added {
    /// In words.
    Said(String),
    /// Objects of a kind, in words.
    Objects(&'static str, Vec<uuid::Uuid>),
}

/// Who requested an intent, and what other actors than people added to it since.
pub(super) struct Origin {
    /// The actor of the request; `None` if the intent does not exist. Of one that an import brought, it is the actor of
    /// the import.
    pub(super) requested_by: Option<ActorRef>,
    added: Vec<(ActorRef, Timestamp, Added)>,
}

impl Inbox<'_> {
    /// Returns what was added to an intent after it was requested, by other actors than people: instructions, tasks,
    /// parts, plans, and judgements of its type and risk. The oldest stands first.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn additions(self, intent: IntentId) -> Result<Vec<Addition>, LoadError> {
        let origin = self.origin(intent, true).await?;
        self.named(origin).await
    }

    /// Reads who requested an intent, and if `with_additions`, what was added to it.
    pub(super) async fn origin(
        self,
        intent: IntentId,
        with_additions: bool,
    ) -> Result<Origin, LoadError> {
        let (mut request, mut requested_by, mut found) = (None, None, Vec::new());
        let apply = |entry: Entry| {
            if requested_by.is_none() && begins(&entry.event) {
                requested_by = Some(entry.actor.clone());
            }
            let (batch, by) = request.get_or_insert_with(|| (entry.batch_id, entry.actor.clone()));
            // An import records one request in several batches.
            let is_imported = entry.actor.kind == ActorKind::System && entry.actor == *by;
            let is_persons = entry.actor.kind == ActorKind::Human;
            let is_later = entry.batch_id != *batch && !is_imported && !is_persons;
            if let Some(added) = added(&entry).filter(|_| is_later) {
                found.push((entry.actor, entry.occurred_at, added));
            }
        };
        let about = |event: &AnyEvent| with_additions || begins(event);
        self.annals
            .each_entry(intent.stream(), At::Now, about, apply)
            .await?;
        Ok(Origin {
            requested_by,
            added: found,
        })
    }

    /// Returns what was added, with the names of objects.
    pub(super) async fn named(self, origin: Origin) -> Result<Vec<Addition>, LoadError> {
        let mut additions = Vec::with_capacity(origin.added.len());
        for (by, at, added) in origin.added {
            let (kind, objects) = match added {
                Added::Said(what) => {
                    additions.push(Addition { by, at, what });
                    continue;
                }
                Added::Objects(kind, objects) => (kind, objects),
            };
            for object in objects {
                let row = self.annals.row_if_any(object).await?;
                let title = row.and_then(|row| row.title);
                let title = title.map_or_else(|| object.to_string(), |title| title.to_string());
                let what = format!("{kind}: {title}");
                additions.push(Addition {
                    by: by.clone(),
                    at,
                    what,
                });
            }
        }
        Ok(additions)
    }
}

/// Whether an event begins an intent.
fn begins(event: &AnyEvent) -> bool {
    matches!(
        event,
        AnyEvent::Intent(Event::Submitted(_) | Event::Adopted(_))
    )
}

/// What an event adds to its intent.
fn added(entry: &Entry) -> Option<Added> {
    let AnyEvent::Intent(event) = &entry.event else {
        return None;
    };
    match event {
        Event::Instructed(event) => {
            let text = entry.text(event.instruction);
            Some(Added::Said(format!("instruction: {text}")))
        }
        Event::Analyzed(event) => {
            let text = entry.text(event.content);
            Some(Added::Said(format!("interpretation: {text}")))
        }
        Event::Classified(event) => classified(event).map(Added::Said),
        Event::TaskAdded(event) => Some(Added::Objects("task", vec![event.task.0])),
        Event::PlanSelected(event) => Some(Added::Objects("plan", vec![event.plan.0])),
        Event::Decomposed(event) => {
            let children = event.children.iter().map(|child| child.0).collect();
            Some(Added::Objects("part", children))
        }
        _ => None,
    }
}

/// What a judgement says.
fn classified(event: &Classified) -> Option<String> {
    let work_type = event.work_type.as_ref().map(|it| format!("type {it}"));
    let risk = event.risk.map(|it| format!("risk {it}"));
    let said: Vec<String> = work_type.into_iter().chain(risk).collect();
    (!said.is_empty()).then(|| format!("judged: {}", said.join(", ")))
}

//! Folding a stream into the view of one of its objects.

use annals_domain::{Adoption, AnyEvent, Kind, StreamRef, run};
use uuid::Uuid;

use crate::object::beside;
use crate::views::TokenUsageView;
use crate::{Entry, ObjectView};

/// Whether an event tells something of an object. Tokens that a run used count
/// to its provenance, which the event does not name.
pub fn is_about(event: &AnyEvent, stream: StreamRef, kind: Kind, id: Uuid) -> bool {
    let usage = matches!(event, AnyEvent::Run(run::Event::UsageRecorded(_)));
    (usage && kind == Kind::Provenance)
        || beside(event).is_some_and(|of| (of, stream.id) == (kind, id))
        || event.touches(stream.id).contains(&(kind, id))
}

/// Folds the entries of one stream, in their order, into the view of one
/// object of it. Entries that are not about the object are skipped, so that a
/// whole stream can be given; a prefix of it gives the object as it was.
#[derive(Debug, Clone)]
pub struct Fold {
    kind: Kind,
    id: Uuid,
    view: Option<ObjectView>,
    /// Tokens used before the run's provenance was recorded, to which they
    /// count all the same.
    early_usage: Option<TokenUsageView>,
}

impl Fold {
    /// Nothing is folded yet.
    pub fn new(kind: Kind, id: Uuid) -> Fold {
        Fold {
            kind,
            id,
            view: None,
            early_usage: None,
        }
    }

    /// Folds one entry in.
    pub fn apply(&mut self, entry: &Entry) {
        if !is_about(&entry.event, entry.stream, self.kind, self.id) {
            return;
        }
        let usage = match &entry.event {
            AnyEvent::Run(run::Event::UsageRecorded(usage)) if self.kind == Kind::Provenance => {
                Some(usage)
            }
            _ => None,
        };
        let begun = matches!(entry.event.adoption(), Some(Adoption::Begun(_)));
        match (&mut self.view, usage) {
            // What is adopted replaces what was adopted before.
            (Some(view), _) if !begun => view.evolve(entry),
            (None, Some(usage)) => {
                TokenUsageView::add(&mut self.early_usage, TokenUsageView::of(usage));
            }
            (_, None) => self.create(entry),
            (Some(_), Some(_)) => {}
        }
    }

    fn create(&mut self, entry: &Entry) {
        let before = self.view.take();
        self.view = ObjectView::create(self.kind, self.id, entry);
        // What was told of a call's life is no part of what is adopted, and stays.
        if let (Some(ObjectView::ToolInvocation(before)), Some(ObjectView::ToolInvocation(view))) =
            (before, &mut self.view)
        {
            view.life = before.life;
        }
        // What was adopted is as it came, independent of what was used here before.
        let adopted = entry.event.adoption().is_some();
        if let (false, Some(ObjectView::Provenance(view)), Some(early)) =
            (adopted, &mut self.view, self.early_usage)
        {
            TokenUsageView::add(&mut view.token_usage, early);
        }
    }

    /// The view, if the object exists.
    pub fn view(self) -> Option<ObjectView> {
        self.view
    }

    /// The view so far, if the object exists.
    pub fn peek(&self) -> Option<&ObjectView> {
        self.view.as_ref()
    }
}

#[cfg(test)]
pub(crate) mod tests;

//! Folding a stream into the view of one of its objects.

use annals_domain::{AnyEvent, Kind, run};
use uuid::Uuid;

use crate::views::TokenUsageView;
use crate::{Entry, ObjectView};

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
        let usage = match &entry.event {
            AnyEvent::Run(run::Event::UsageRecorded(usage)) if self.kind == Kind::Provenance => {
                Some(usage)
            }
            _ => None,
        };
        if usage.is_none() && !entry.touches().contains(&(self.kind, self.id)) {
            return;
        }
        match (&mut self.view, usage) {
            (Some(view), _) => view.evolve(entry),
            (None, Some(usage)) => {
                TokenUsageView::add(&mut self.early_usage, TokenUsageView::of(usage));
            }
            (None, None) => self.create(entry),
        }
    }

    fn create(&mut self, entry: &Entry) {
        self.view = ObjectView::create(self.kind, self.id, entry);
        if let (Some(ObjectView::Provenance(view)), Some(early)) =
            (&mut self.view, self.early_usage)
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

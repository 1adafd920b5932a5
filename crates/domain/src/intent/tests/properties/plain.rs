//! The status of an intent as Forge puts it, read from the record alone:
//! nothing here is shared with the deciders.

use super::*;

/// What happened, in its order.
pub(super) struct Plain<'a> {
    pub(super) record: &'a [Emitted],
}

impl Plain<'_> {
    fn intent_events(&self, id: IntentId) -> impl Iterator<Item = &Event> {
        self.record.iter().filter_map(move |one| match &one.event {
            AnyEvent::Intent(event) if one.stream.id == id.0 => Some(event),
            _ => None,
        })
    }

    /// Where the intent is before its parts are looked at.
    fn place(&self, id: IntentId) -> &'static str {
        let mut place = "proposed";
        let mut asked = 0;
        let mut answered = BTreeSet::new();
        for event in self.intent_events(id) {
            match event {
                Event::Rejected(_) => return "rejected",
                Event::Completed(_) => return "done",
                Event::Cancelled(_) => return "cancelled",
                Event::Approved(_) | Event::RerunRequested(_) => place = "approved",
                Event::ExecutionStarted(_) => place = "executing",
                Event::ClarificationRequested(event) => asked += event.questions.len(),
                Event::ClarificationAnswered(event) => {
                    answered.insert(event.question);
                    if answered.len() == asked && place == "executing" {
                        place = "approved";
                    }
                }
                _ => {}
            }
        }
        place
    }

    /// Whether a question has no answer.
    fn asks(&self, id: IntentId) -> bool {
        let (mut asked, mut answered) = (0, BTreeSet::new());
        for event in self.intent_events(id) {
            match event {
                Event::ClarificationRequested(event) => asked += event.questions.len(),
                Event::ClarificationAnswered(event) => _ = answered.insert(event.question),
                _ => {}
            }
        }
        answered.len() < asked
    }

    /// The states of the tasks that were created for the intent.
    fn tasks(&self, id: IntentId) -> Vec<&'static str> {
        let mut tasks: BTreeMap<Uuid, &'static str> = BTreeMap::new();
        for one in self.record {
            let AnyEvent::Task(event) = &one.event else {
                continue;
            };
            if let task::Event::Created(created) = event
                && created.intent == Some(id)
            {
                tasks.insert(one.stream.id, "open");
            }
            let Some(state) = tasks.get_mut(&one.stream.id) else {
                continue;
            };
            match event {
                task::Event::Done(_) => *state = "done",
                task::Event::Failed(_) => *state = "error",
                task::Event::Cancelled(event) if event.dependency.is_some() => *state = "blocked",
                task::Event::Cancelled(_) => *state = "cancelled",
                task::Event::Superseded(_) => *state = "left out",
                _ => {}
            }
        }
        tasks.into_values().collect()
    }

    /// The intents that say that they are a part of this one.
    fn children(&self, id: IntentId) -> Vec<IntentId> {
        let taken_in = |one: &Emitted| match &one.event {
            AnyEvent::Intent(Event::TakenIn(event)) if event.child_of == Some(id) => {
                Some(IntentId(one.stream.id))
            }
            _ => None,
        };
        self.record.iter().filter_map(taken_in).collect()
    }

    /// The word that Forge has for it.
    pub(super) fn status(&self, id: IntentId) -> &'static str {
        let place = self.place(id);
        if !["approved", "executing"].contains(&place) {
            return place;
        }
        let children = self.children(id);
        let mut parts = self.tasks(id);
        parts.extend(children.iter().map(|child| self.status(*child)));
        parts.retain(|part| *part != "left out");
        let had_parts = !parts.is_empty();
        parts.retain(|part| !["rejected", "cancelled"].contains(part));
        let settled = ["done", "error", "blocked"];
        if parts.is_empty() {
            // An intent of which nothing is wanted any more does not go on by itself.
            return if had_parts { "blocked" } else { place };
        }
        if parts.iter().any(|part| !settled.contains(part)) {
            place
        } else if parts.iter().all(|part| *part == "done") {
            if self.asks(id) { place } else { "done" }
        } else if parts.iter().all(|part| *part == "error") {
            "error"
        } else {
            "blocked"
        }
    }
}

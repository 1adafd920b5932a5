//! What a task says: its content, which no decision looks at but one. A task
//! that takes the place of a failed one says the same.

use super::{Event, TaskPlan};
use crate::auth_context::REMOVED;
use crate::pieces::{Json, Pieces, Slot};
use crate::world::not_found;
use crate::{DecideError, SecondFold, TaskId, World};

/// The texts of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskText {
    /// Short summary.
    pub title: String,
    /// Extended context.
    pub description: Option<String>,
    /// Hard rules that the solution must satisfy.
    pub constraints: Vec<String>,
    /// Testable success conditions.
    pub acceptance_criteria: Vec<String>,
    /// How it is to be done, if that was said.
    pub plan: Option<TaskPlan>,
}

impl TaskText {
    /// Folds one event in. `text` gives a piece of its content; none, if it was
    /// removed.
    pub fn apply(&mut self, event: &Event, text: &dyn Fn(Slot) -> Option<String>) {
        let one = |slot: Slot| text(slot).unwrap_or_else(|| REMOVED.to_owned());
        let all = |slots: &[Slot]| slots.iter().map(|slot| one(*slot)).collect::<Vec<String>>();
        match event {
            Event::Created(event) => {
                *self = TaskText {
                    title: one(event.title),
                    description: event.description.map(one),
                    constraints: all(&event.constraints),
                    acceptance_criteria: all(&event.acceptance_criteria),
                    plan: None,
                };
            }
            Event::Adopted(event) => {
                if let Some(object) = &event.object {
                    *self = TaskText {
                        title: one(object.title),
                        description: object.description.map(one),
                        ..TaskText::default()
                    };
                }
                self.constraints.extend(all(&event.constraints));
                self.acceptance_criteria
                    .extend(all(&event.acceptance_criteria));
            }
            Event::Planned(event) => {
                let extra = event.extra.and_then(text);
                self.plan = Some(TaskPlan {
                    alias: event.alias.map(one),
                    complexity: event.complexity,
                    plan: event.plan.map(one),
                    relevant_files: all(&event.relevant_files),
                    implementation_steps: all(&event.implementation_steps),
                    context: event.context.map(one),
                    extra: extra.and_then(|json| Json::parse(&json).ok()),
                });
            }
            Event::ConstraintAdded(event) => self.constraints.push(one(event.constraint)),
            Event::CriterionAdded(event) => self.acceptance_criteria.push(one(event.criterion)),
            Event::DependencyAdded(_)
            | Event::RunAdded(_)
            | Event::Started(_)
            | Event::Done(_)
            | Event::Failed(_)
            | Event::Cancelled(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_)
            | Event::ReviewRecorded(_)
            | Event::Superseded(_) => {}
        }
    }

    /// The same, with the content of an event that was only decided.
    pub(crate) fn apply_decided(&mut self, event: &Event, pieces: &Pieces) {
        self.apply(event, &|slot| pieces.text_of(slot));
    }
}

impl World {
    /// What a task says.
    ///
    /// # Errors
    /// [`DecideError::Needs`] it, and [`crate::Refusal::NotFound`].
    pub fn task_text(&mut self, id: TaskId) -> Result<TaskText, DecideError> {
        let stream = id.stream();
        match self.second_fold(stream)? {
            SecondFold::TaskText(text) => Ok(text.clone()),
            SecondFold::Window(_) | SecondFold::Commits(_) => Err(not_found(stream)),
        }
    }
}

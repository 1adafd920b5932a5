//! Older shapes of events, turned into today's.
//!
//! A stored event is never rewritten. When an event's struct changes, its
//! version rises by one, the old struct moves into a file of this folder, named
//! `<aggregate>_<event>_v<old version>.rs`, and that file says how it becomes
//! the next version: one [`Upcaster`], listed in `steps` here. Reading goes from
//! step to step until the current version is reached. No step knows any other,
//! and no event of the domain knows its past.

mod intent_classified_v1;
mod pipeline_frame_pushed_v1;
mod pipeline_frames_used_v1;
mod plan_step_frames_linked_v1;
mod run_tool_invoked_v1;
mod run_usage_recorded_v1;
mod run_usage_recorded_v2;
mod sealed_v1;
mod session_adopted_v1;
mod session_adopted_v2;
mod session_command_received_v1;
mod session_created_v1;
mod session_created_v2;
mod settings_budget_removed_v1;
mod settings_budget_set_v1;
mod snapshot_item_added_v1;
mod snapshot_item_added_v2;
mod step;
mod task_cancelled_v1;

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use crate::DecodeError;

pub use step::{Step, Upcaster};

/// All steps that a reader knows.
#[derive(Default)]
pub struct Upcasters {
    steps: Vec<Box<dyn Upcaster>>,
}

impl fmt::Debug for Upcasters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self
            .steps
            .iter()
            .map(|step| (step.event_type(), step.version()));
        f.debug_list().entries(names).finish()
    }
}

/// The steps of every shape that Annals ever stored.
fn steps() -> Vec<Box<dyn Upcaster>> {
    vec![
        Box::new(run_tool_invoked_v1::STEP),
        Box::new(run_usage_recorded_v1::STEP),
        Box::new(run_usage_recorded_v2::STEP),
        Box::new(pipeline_frames_used_v1::STEP),
        Box::new(plan_step_frames_linked_v1::STEP),
        Box::new(pipeline_frame_pushed_v1::STEP),
        Box::new(session_created_v1::STEP),
        Box::new(session_created_v2::STEP),
        Box::new(session_adopted_v1::STEP),
        Box::new(session_adopted_v2::STEP),
        Box::new(session_command_received_v1::STEP),
        Box::new(intent_classified_v1::STEP),
        Box::new(sealed_v1::step("intent.sealed")),
        Box::new(sealed_v1::step("plan.sealed")),
        Box::new(sealed_v1::step("task.sealed")),
        Box::new(sealed_v1::step("run.sealed")),
        Box::new(sealed_v1::step("snapshot.sealed")),
        Box::new(sealed_v1::step("pipeline.sealed")),
        Box::new(snapshot_item_added_v1::STEP),
        Box::new(snapshot_item_added_v2::STEP),
        Box::new(task_cancelled_v1::STEP),
        Box::new(settings_budget_set_v1::STEP),
        Box::new(settings_budget_removed_v1::STEP),
    ]
}

impl Upcasters {
    /// A reader that knows these steps. Where two begin at the same version of
    /// the same event, the first one counts.
    pub fn new(steps: Vec<Box<dyn Upcaster>>) -> Upcasters {
        Upcasters { steps }
    }

    /// The steps of every shape that Annals ever stored.
    pub fn standard() -> &'static Upcasters {
        static STANDARD: LazyLock<Upcasters> = LazyLock::new(|| Upcasters::new(steps()));
        &STANDARD
    }

    /// The steps' event types, and the versions that they begin at.
    pub fn list(&self) -> impl Iterator<Item = (&'static str, u16)> + '_ {
        self.steps
            .iter()
            .map(|step| (step.event_type(), step.version()))
    }

    /// The structure in version `to`, from the structure in version `from`.
    ///
    /// # Errors
    /// [`DecodeError::UnknownVersion`] where a step is missing, and what a
    /// step says of bytes that it cannot read.
    pub fn upcast<'a>(
        &self,
        event_type: &str,
        from: u16,
        to: u16,
        bytes: &'a [u8],
    ) -> Result<Cow<'a, [u8]>, DecodeError> {
        let mut current = Cow::Borrowed(bytes);
        for version in from..to {
            let step =
                self.find(event_type, version)
                    .ok_or_else(|| DecodeError::UnknownVersion {
                        event_type: event_type.to_owned(),
                        found: version,
                        known: to,
                    })?;
            current = Cow::Owned(step.upcast(&current)?);
        }
        Ok(current)
    }

    fn find(&self, event_type: &str, from: u16) -> Option<&dyn Upcaster> {
        let mut steps = self.steps.iter().map(AsRef::as_ref);
        steps.find(|step| step.version() == from && step.event_type() == event_type)
    }
}

#[cfg(test)]
mod tests {
    use annals_domain::AnyEvent;

    use super::*;

    /// Every version but the current one has its step, once; no step leads
    /// nowhere.
    #[test]
    fn the_standard_steps_cover_every_older_version() {
        let mut expected: Vec<(&str, u16)> = AnyEvent::types()
            .into_iter()
            .flat_map(|(_, event_type, current)| (1..current).map(move |v| (event_type, v)))
            .collect();
        let mut listed: Vec<(&str, u16)> = Upcasters::standard().list().collect();
        expected.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, expected);
    }
}

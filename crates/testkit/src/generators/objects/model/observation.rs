//! The reference for what was noticed.

use annals_domain::Kind;
use annals_domain::intent::SubmitIntent;
use annals_domain::observation::{ProcessObservation, RecordObservation};
use uuid::Uuid;

use super::judged::{Judged, demand, text};
use super::{Model, Observation};

impl Model {
    pub(super) fn record_observation(&mut self, c: &RecordObservation) -> Judged {
        text(&c.text)?;
        c.evidence.iter().try_for_each(|it| text(it))?;
        demand(c.about.iter().all(|id| self.kinds.contains_key(id)))?;
        let id = c.id?.0;
        let observation = Observation {
            kind: c.kind.as_str(),
            processed: None,
        };
        self.observations.insert(id, observation);
        self.place(Some(id), Kind::Observation)
    }

    pub(super) fn process_observation(&mut self, c: &ProcessObservation) -> Judged {
        self.open_observation(c.observation.0)?.processed = Some(None);
        Some(true)
    }

    fn open_observation(&mut self, id: Uuid) -> Option<&mut Observation> {
        let observation = self.observations.get_mut(&id)?;
        demand(observation.processed.is_none())?;
        Some(observation)
    }

    /// What an intent names as its cause is open, and what the intent comes from.
    pub(super) fn because(&mut self, c: &SubmitIntent) -> Option<()> {
        let Some(cause) = c.observation else {
            return Some(());
        };
        let observation = self.open_observation(cause.0)?;
        demand(observation.kind == c.source.as_str())?;
        observation.processed = Some(c.id.map(Uuid::from));
        Some(())
    }
}

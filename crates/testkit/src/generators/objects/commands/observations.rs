//! Commands about what was noticed.

use annals_domain::intent::{Source, SubmitIntent};
use annals_domain::observation::{ObservationKind, ProcessObservation, RecordObservation};
use annals_domain::{Command, Kind};
use uuid::Uuid;

use super::Draw;

impl Draw<'_> {
    pub(super) fn observation_command(&mut self) -> Command {
        match self.one_of(4, Kind::Observation) {
            0..2 => self.observation().into(),
            2 => self.proposal_because().into(),
            _ => ProcessObservation::new(self.id(Kind::Observation))
                .with_reason(self.reason())
                .into(),
        }
    }

    fn observation(&mut self) -> RecordObservation {
        let kind = match self.dice.once_in(2) {
            true => ObservationKind::Epiphany,
            false => ObservationKind::Reflection,
        };
        RecordObservation::new(kind, self.text())
            .with_id(Some(self.new_id().into()))
            .with_evidence(
                (0..self.dice.roll(3))
                    .map(|_| self.text())
                    .collect::<Vec<_>>(),
            )
            .with_about(
                (0..self.dice.roll(3))
                    .map(|_| self.anything())
                    .collect::<Vec<_>>(),
            )
    }

    /// An object of any kind, and now and then nothing.
    fn anything(&mut self) -> Uuid {
        let all: Vec<Uuid> = self.model.kinds.keys().copied().collect();
        let nothing = Uuid::from_u128(7);
        let found = self.dice.pick(&all).unwrap_or(nothing);
        if self.dice.once_in(24) {
            nothing
        } else {
            found
        }
    }

    /// An intent that an observation leads to, mostly with the source that it must
    /// have.
    fn proposal_because(&mut self) -> SubmitIntent {
        let observation = self.of(Kind::Observation);
        let known = self.model.observations.get(&observation);
        let due = known.map(|known| match known.kind {
            "epiphany" => Source::Epiphany,
            _ => Source::Reflection,
        });
        let mut proposal = self.proposal();
        let kept = self.dice.once_in(6);
        proposal.source = due.filter(|_| !kept).unwrap_or(proposal.source);
        proposal.with_observation(Some(observation.into()))
    }
}

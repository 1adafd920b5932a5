//! Which events create an object.

use uuid::Uuid;

use crate::run::Event as RunEvent;
use crate::{
    Adoption, AnyEvent, Kind, intent, observation, pipeline, plan, session, snapshot, task,
};

impl AnyEvent {
    /// The object that the event creates or adopts, if it does. `stream_id` is
    /// the id of the aggregate whose stream holds the event. An object that was
    /// adopted may be adopted again, and of a tool call any event may come first: only the first in the stream
    /// creates it.
    pub fn creates(&self, stream_id: Uuid) -> Option<(Kind, Uuid)> {
        let begins = match self.adoption() {
            Some(Adoption::Begun(_)) => true,
            Some(Adoption::Continued) => false,
            None => self.is_first(),
        };
        // What an event creates is the first object that it touches.
        self.touches(stream_id).first().copied().filter(|_| begins)
    }

    fn is_first(&self) -> bool {
        match self {
            AnyEvent::Intent(event) => matches!(event, intent::Event::Submitted(_)),
            AnyEvent::Plan(event) => matches!(event, plan::Event::Drafted(_)),
            AnyEvent::Task(event) => matches!(event, task::Event::Created(_)),
            AnyEvent::Run(event) => matches!(
                event,
                RunEvent::Created(_)
                    | RunEvent::ToolInvoked(_)
                    | RunEvent::ToolRequested(_)
                    | RunEvent::ToolDecided(_)
                    | RunEvent::ToolBegun(_)
                    | RunEvent::ToolEnded(_)
                    | RunEvent::PatchSetProposed(_)
                    | RunEvent::EvidenceRecorded(_)
                    | RunEvent::ProvenanceRecorded(_)
                    | RunEvent::DecisionMade(_)
            ),
            AnyEvent::Snapshot(event) => matches!(event, snapshot::Event::Opened(_)),
            AnyEvent::Pipeline(event) => matches!(event, pipeline::Event::Created(_)),
            AnyEvent::Session(event) => matches!(
                event,
                session::Event::Created(_) | session::Event::Adopted(_)
            ),
            AnyEvent::Observation(event) => matches!(event, observation::Event::Recorded(_)),
            AnyEvent::Alias(_) | AnyEvent::Bucket(_) | AnyEvent::Settings(_) => false,
        }
    }
}

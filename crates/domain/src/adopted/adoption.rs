//! What an event says of an adoption.

use super::AdoptedHeader;
use crate::run::{ApplyStatus, Event as RunEvent, RunStatus};
use crate::{AnyEvent, intent, pipeline, plan, snapshot, task};

/// What an event says of an adoption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adoption<'a> {
    /// An object was adopted, for the first time or again.
    Begun(&'a AdoptedHeader),
    /// The lists of the object that was adopted just before go on.
    Continued,
}

fn part<'a, T>(
    object: Option<&'a T>,
    header: fn(&'a T) -> &'a AdoptedHeader,
) -> Option<Adoption<'a>> {
    Some(object.map_or(Adoption::Continued, |object| {
        Adoption::Begun(header(object))
    }))
}

impl AnyEvent {
    /// What the event says of an adoption, if it is part of one.
    pub fn adoption(&self) -> Option<Adoption<'_>> {
        match self {
            AnyEvent::Intent(intent::Event::Adopted(event)) => Some(Adoption::Begun(&event.header)),
            AnyEvent::Plan(plan::Event::Adopted(event)) => {
                part(event.object.as_ref(), |object| &object.header)
            }
            AnyEvent::Task(task::Event::Adopted(event)) => {
                part(event.object.as_ref(), |object| &object.header)
            }
            AnyEvent::Run(event) => of_run(event),
            AnyEvent::Snapshot(snapshot::Event::Adopted(event)) => {
                part(event.object.as_ref(), |object| &object.header)
            }
            AnyEvent::Pipeline(pipeline::Event::Adopted(event)) => {
                part(event.object.as_ref(), |object| &object.header)
            }
            AnyEvent::Intent(_)
            | AnyEvent::Plan(_)
            | AnyEvent::Task(_)
            | AnyEvent::Snapshot(_)
            | AnyEvent::Pipeline(_)
            | AnyEvent::Alias(_)
            | AnyEvent::Session(_)
            | AnyEvent::Bucket(_)
            | AnyEvent::Settings(_)
            | AnyEvent::Observation(_) => None,
        }
    }
}

impl AnyEvent {
    /// Returns `true` if the event adopts an object that has ended, or one of a kind that never changes.
    pub fn adopts_final(&self) -> bool {
        match self {
            AnyEvent::Intent(intent::Event::Adopted(event)) => matches!(
                event.status(),
                intent::IntentStatus::Completed | intent::IntentStatus::Cancelled
            ),
            AnyEvent::Task(task::Event::Adopted(event)) => {
                let object = event.object.as_ref();
                object.is_some_and(|it| {
                    !matches!(
                        it.status,
                        task::TaskStatus::Draft | task::TaskStatus::Running
                    )
                })
            }
            AnyEvent::Run(RunEvent::Adopted(event)) => {
                let object = event.object.as_ref();
                object
                    .is_some_and(|it| matches!(it.status, RunStatus::Completed | RunStatus::Failed))
            }
            AnyEvent::Run(RunEvent::PatchSetAdopted(event)) => {
                let object = event.object.as_ref();
                object.is_some_and(|it| it.apply_status != ApplyStatus::Proposed)
            }
            AnyEvent::Run(
                RunEvent::EvidenceAdopted(_)
                | RunEvent::DecisionAdopted(_)
                | RunEvent::ProvenanceAdopted(_)
                | RunEvent::ToolInvocationAdopted(_),
            ) => true,
            _ => false,
        }
    }
}

fn of_run(event: &RunEvent) -> Option<Adoption<'_>> {
    match event {
        RunEvent::Adopted(event) => part(event.object.as_ref(), |object| &object.header),
        RunEvent::PatchSetAdopted(event) => part(event.object.as_ref(), |object| &object.header),
        RunEvent::EvidenceAdopted(event) => Some(Adoption::Begun(&event.header)),
        RunEvent::DecisionAdopted(event) => Some(Adoption::Begun(&event.header)),
        RunEvent::ProvenanceAdopted(event) => Some(Adoption::Begun(&event.header)),
        RunEvent::ToolInvocationAdopted(event) => Some(Adoption::Begun(&event.header)),
        RunEvent::Created(_)
        | RunEvent::SnapshotAttached(_)
        | RunEvent::PatchingStarted(_)
        | RunEvent::ValidationStarted(_)
        | RunEvent::ToolInvoked(_)
        | RunEvent::ToolRequested(_)
        | RunEvent::ToolDecided(_)
        | RunEvent::ToolBegun(_)
        | RunEvent::ToolEnded(_)
        | RunEvent::PatchSetProposed(_)
        | RunEvent::PatchSetApplied(_)
        | RunEvent::PatchSetRejected(_)
        | RunEvent::PatchSetReverted(_)
        | RunEvent::RationaleOverridden(_)
        | RunEvent::EvidenceRecorded(_)
        | RunEvent::ProvenanceRecorded(_)
        | RunEvent::UsageRecorded(_)
        | RunEvent::MetricsRecorded(_)
        | RunEvent::DecisionMade(_)
        | RunEvent::Failed(_)
        | RunEvent::ResultCommitRecorded(_)
        | RunEvent::EndedAfterIntent(_)
        | RunEvent::MetadataSet(_)
        | RunEvent::Redacted(_)
        | RunEvent::Sealed(_) => None,
    }
}

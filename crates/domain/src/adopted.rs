//! Objects taken over from another system, as they are.
//!
//! Foreign history is not judged: an object is adopted in the state that it is
//! in, and how it violates our rules is recorded with it. From there on our
//! deciders apply. Lists that are too long for one event go on in further
//! events of the same type, which have the lists alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::codes::coded_enum;
use crate::metadata::Visibility;
use crate::pieces::Slot;
use crate::run::Event as RunEvent;
use crate::{
    AnyEvent, IntegrityHash, StoredActor, Timestamp, intent, pipeline, plan, snapshot, task,
};

coded_enum! {
    /// The format that an object came in.
    pub enum Dialect {
        /// The JSON of git-internal (git-internal).
        GitInternal = 1 => "git_internal",
        /// The JSON of Contracts v1.1 (docs/spec/contracts.md).
        Contracts = 2 => "contracts",
        /// The files of a `.forge/` folder (docs/spec/forge.md).
        Forge = 3 => "forge",
    }
}

impl Dialect {
    /// The system's own name.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::GitInternal => "git-internal",
            Dialect::Contracts => "contracts",
            Dialect::Forge => "forge",
        }
    }
}

/// The common header of an adopted object (docs/spec/git-internal.md, Common Header), and
/// what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "adopted header")]
pub struct AdoptedHeader {
    /// The format that it came in.
    pub dialect: Dialect,
    /// The version of its header's format.
    pub header_version: u32,
    /// The version of its type's format.
    pub schema_version: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Who created it.
    pub created_by: StoredActor,
    /// Who may see it.
    pub visibility: Visibility,
    /// Search tags, keys and values in the order given.
    pub tags: Vec<(Slot, Slot)>,
    /// Ids in other systems, names and values in the order given.
    pub external_ids: Vec<(Slot, Slot)>,
    /// Its seal.
    pub checksum: Option<IntegrityHash>,
    /// The hash of its JSON as it came, in the dialect's canonical form: it tells whether it came
    /// before.
    pub digest: IntegrityHash,
    /// What our rules say against it, a sentence each.
    pub violations: Vec<Slot>,
}

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

#[cfg(test)]
mod tests;

//! Copies by an importer that is not a person: nothing that decides for a person or for the log itself, and nothing
//! about what the log has already.
//!
//! A copy is byte for byte, and its records are in the names of those who wrote them. So nothing but their kind says
//! whether such an importer may have made them.

use std::collections::HashSet;

use annals::domain::{ActorKind, ActorRef, Refusal, StreamRef, check_copy, check_extension};
use annals_event_log::{Record, Version};

/// An importer that is not a person, and the streams that its copy begins.
pub(super) struct CopiedBy<'a> {
    importer: &'a ActorRef,
    begun: HashSet<StreamRef>,
}

impl<'a> CopiedBy<'a> {
    /// Nothing, if the importer is a person, who may copy everything.
    pub(super) fn of(importer: &'a ActorRef) -> Option<CopiedBy<'a>> {
        (importer.kind != ActorKind::Human).then(|| CopiedBy {
            importer,
            begun: HashSet::new(),
        })
    }

    /// Checks the next record that the log does not have.
    pub(super) fn check(&mut self, record: &Record) -> Result<(), Refusal> {
        // What cannot be decoded may be anything.
        let Ok(decoded) = annals::wire::decode(record) else {
            return check_extension(self.importer);
        };
        if record.version() == Version(1) {
            self.begun.insert(decoded.stream);
        } else if !self.begun.contains(&decoded.stream) {
            check_extension(self.importer)?;
        }
        check_copy(&decoded.event, self.importer)
    }
}

//! Copies by an importer that is not a person: nothing that a person did, nothing that decides for a person or for the log
//! itself, and nothing about what the log has already.
//!
//! A copy is byte for byte, and its records are in the names of those who wrote them. So nothing but their kind and their
//! actor says whether such an importer may have made them.

use std::collections::HashSet;

use annals::domain::intent;
use annals::domain::{
    ActorKind, ActorRef, AnyEvent, Refusal, StreamRef, check_copy, check_extension, named_by,
};
use annals_event_log::{Content, Position, Record, Version};

use crate::report::counted;

/// An importer that is not a person, the streams that its copy begins, and what it may not copy.
pub(super) struct CopiedBy<'a> {
    importer: &'a ActorRef,
    /// Whether the log has no records before the copy.
    is_first: bool,
    begun: HashSet<StreamRef>,
    refused: Option<RefusedRecords>,
}

/// Records that an importer may not copy.
#[derive(Debug)]
pub(super) struct RefusedRecords {
    /// How many they are.
    pub(super) count: u64,
    /// The first of them.
    pub(super) position: Position,
    /// Why that one is not copied.
    pub(super) refusal: Refusal,
}

impl<'a> CopiedBy<'a> {
    /// Nothing, if the importer is a person, who may copy everything. The log ends at `end`.
    pub(super) fn of(importer: &'a ActorRef, end: Position) -> Option<CopiedBy<'a>> {
        (importer.kind != ActorKind::Human).then(|| CopiedBy {
            importer,
            is_first: end == Position(0),
            begun: HashSet::new(),
            refused: None,
        })
    }

    /// Checks the next record that the log does not have, and counts it if it is refused.
    pub(super) fn check(&mut self, record: &Record) {
        let Err(refusal) = self.checked(record) else {
            return;
        };
        let position = record.position();
        let refused = self.refused.get_or_insert(RefusedRecords {
            count: 0,
            position,
            refusal,
        });
        refused.count += 1;
    }

    /// The records that were refused so far.
    ///
    /// # Errors
    /// [`RefusedRecords`], if there are any.
    pub(super) fn finish(&mut self) -> Result<(), RefusedRecords> {
        self.refused.take().map_or(Ok(()), Err)
    }

    fn checked(&mut self, record: &Record) -> Result<(), Refusal> {
        // What cannot be decoded may be anything.
        let Ok(decoded) = annals::wire::decode(record) else {
            return check_extension(self.importer);
        };
        if record.version() == Version(1) {
            self.begun.insert(decoded.stream);
        } else if !self.begun.contains(&decoded.stream) {
            check_extension(self.importer)?;
        }
        let is_begun = |named: &StreamRef| self.begun.contains(named);
        if !self.is_first && !extended(&decoded.event).iter().all(is_begun) {
            check_extension(self.importer)?;
        }
        check_copy(&decoded.event, &actor(record), self.importer)
    }
}

/// The objects that an event makes its own object a part or a revision of, or work on.
fn extended(event: &AnyEvent) -> Vec<StreamRef> {
    let named = named_by(event).into_iter();
    let mut extended: Vec<StreamRef> = named
        .map(|(field, id)| StreamRef {
            kind: field.named_kind(),
            id,
        })
        .collect();
    if let AnyEvent::Intent(intent::Event::TakenIn(event)) = event {
        extended.extend(event.child_of.map(|whole| whole.stream()));
    }
    extended
}

/// A record's actor as far as it says who acted. An authentication context that is not in the record may name any
/// importer, and counts as one that names a person.
fn actor(record: &Record) -> ActorRef {
    let kind = ActorKind::from_word(record.actor_kind());
    let actor = ActorRef::new(kind, record.actor_id());
    let Some(piece) = record.auth_context_piece() else {
        return actor;
    };
    match record.content().into_iter().nth(usize::from(piece)) {
        Some(Content::Inline { bytes, .. }) => {
            actor.with_auth_context(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => actor.imported_by(&ActorRef::human("unknown")),
    }
}

/// Names refused records, for errors.
pub(super) fn named(count: u64, position: Position) -> String {
    match count {
        1 => format!("the record at position {position} is refused"),
        _ => format!(
            "{} refused, the first at position {position}",
            counted(count, "record is", "records are")
        ),
    }
}

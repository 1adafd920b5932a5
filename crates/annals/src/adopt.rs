//! Taking objects of other systems over, as they are.
//!
//! No decider judges them: an importer says what they are, in any state.
//! An object that is there already is left alone if it is as it came, replaced
//! if it comes again in another state, and refused if events of ours changed it.

use std::collections::BTreeSet;

use annals_domain::{
    ActorKind, ActorRef, Adoption, AnyEvent, Emitted, IntegrityHash, IntentId, Kind, Refusal,
    StreamRef, Timestamp, World, check_work_on, cut, intent, plan, refused_work,
};
use annals_event_log::{
    AppendError, Content, Digest, Expectation, Position, Query, Record, Version, limits,
};
use annals_wire::{EncodeError, stream_name};
use uuid::Uuid;

use crate::prepared::{Prepared, still_at};
use crate::{At, ExecuteError, Imports, LoadError, ViewError};

/// How often adopting objects is tried again when others come first.
const ATTEMPTS: u32 = 16;

/// An object to be adopted.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedObject {
    /// What it is.
    pub kind: Kind,
    /// Which one it is.
    pub id: Uuid,
    /// Who made it.
    pub actor: ActorRef,
    /// When it was changed last.
    pub at: Timestamp,
    /// The SHA-256 of its JSON, which its header has too.
    pub digest: IntegrityHash,
    /// Its adoption, and what goes on with its lists. All of one stream.
    pub events: Vec<Emitted>,
}

/// What became of an object that was to be adopted.
#[derive(Debug)]
pub enum Adopted {
    /// It was not there, and is now.
    New,
    /// It was there in another state, and has this one now.
    Replaced,
    /// It was there already, just so.
    Unchanged,
    /// It was not adopted. The others were.
    Refused(AdoptRefusal),
}

impl Adopted {
    /// Whether events of it are to be appended.
    fn comes(&self) -> bool {
        matches!(self, Adopted::New | Adopted::Replaced)
    }
}

/// Why one object was not adopted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdoptRefusal {
    /// An object of another kind has the id.
    #[error("{id} is already the id of an object of the kind {found}")]
    Taken {
        /// The id.
        id: Uuid,
        /// What has it.
        found: Kind,
    },
    /// Another run holds it.
    #[error("{kind} {id} belongs to {holder} already")]
    Elsewhere {
        /// What it is.
        kind: Kind,
        /// Which one it is.
        id: Uuid,
        /// The stream that holds it.
        holder: StreamRef,
    },
    /// Events of this log changed it, or made it.
    #[error(
        "{kind} {id} has events of this log's own, which this would undo; \
         import it into another log to compare them"
    )]
    ChangedHere {
        /// What it is.
        kind: Kind,
        /// Which one it is.
        id: Uuid,
    },
    /// What holds it is this log's own, or came from elsewhere.
    #[error(
        "{kind} {id} would be written into {holder}, which this log made or worked on itself, or took from \
         elsewhere; import it into another log"
    )]
    HeldHere {
        /// What it is.
        kind: Kind,
        /// Which one it is.
        id: Uuid,
        /// The stream that would hold it.
        holder: StreamRef,
    },
    /// A person imported it, and it is a task, has ended, never changes, or is an intent that has another prompt now.
    #[error(
        "a person imported {kind} {id}, which only a person replaces, as a task, an object that has ended or never \
         changes, or an intent with another prompt; let a person run the import, with --actor human:NAME"
    )]
    EndedByPerson {
        /// What it is.
        kind: Kind,
        /// Which one it is.
        id: Uuid,
    },
    /// It is work on an intent that was turned down here, or waits, or for a task or plan that does not exist; or it changes
    /// a task that a person created.
    #[error(
        "{kind} {id} is work on an intent that was turned down in this log or waits for an approval, answers or other \
         intents, or for a task or plan that this log does not have, or changes a task that a person created, which only a \
         person imports; let a person run the import, with --actor human:NAME"
    )]
    NotLetGo {
        /// What it is.
        kind: Kind,
        /// Which one it is.
        id: Uuid,
    },
    /// It revises a plan that somebody else created in this log.
    #[error(
        "plan {id} revises a plan that somebody else created in this log, which only a person imports; let a person run \
         the import, with --actor human:NAME"
    )]
    RevisesAnothers {
        /// The revision.
        id: Uuid,
    },
    /// The importer may not bring it.
    #[error(transparent)]
    NotPermitted(#[from] Refusal),
    /// It does not fit into an event, or cannot be written as one.
    #[error("{}", unfit(.0))]
    Unfit(#[from] EncodeError),
    /// It is larger than a batch may be.
    #[error("it is too large: {0}")]
    TooLargeBatch(#[source] AppendError),
}

/// The event that began an object's last adoption.
struct Begun {
    /// The digest of the object's JSON.
    digest: IntegrityHash,
    /// Whether the object had ended, or never changes.
    is_final: bool,
    record: Record,
}

impl Begun {
    /// Whether an intent comes with another prompt than it had.
    fn is_reworded(&self, adoptee: &ImportedObject) -> Result<bool, LoadError> {
        let Some(emitted) = adoptee.events.first() else {
            return Ok(false);
        };
        let before = annals_wire::decode(&self.record)?.event;
        let (
            AnyEvent::Intent(intent::Event::Adopted(before)),
            AnyEvent::Intent(intent::Event::Adopted(now)),
        ) = (&before, &emitted.event)
        else {
            return Ok(false);
        };
        let now = emitted.pieces.list().get(usize::from(now.prompt.0));
        let content = self.record.content();
        Ok(match (content.get(usize::from(before.prompt.0)), now) {
            (Some(Content::Inline { bytes, .. }), Some(now)) => *bytes != now.bytes,
            (Some(Content::Blob { digest, .. }), Some(now)) => *digest != Digest::of(&now.bytes),
            // What was removed does not come back by an import.
            (_, _) => true,
        })
    }
}

/// Why an object does not become an event, for a reader who did not make the event.
fn unfit(error: &EncodeError) -> String {
    let (actual, limit, what) = match error {
        EncodeError::TooLarge { actual, limit, .. } => {
            (actual, limit, "bytes of ids, numbers and words")
        }
        EncodeError::TooManyPieces { actual, limit, .. } => (actual, limit, "texts"),
        error => return error.to_string(),
    };
    format!("it is too large: {actual} {what} for one event, the limit is {limit}")
}

impl Imports<'_> {
    /// Adopts objects, in their order and together: all that can be are in the
    /// log when it answers, or none is. Each object may be in the list once.
    ///
    /// # Errors
    /// [`ExecuteError`]; nothing is adopted then. What is wrong with one object
    /// is in its answer.
    #[tracing::instrument(level = "debug", skip_all, fields(objects = adoptees.len()))]
    pub async fn adopt(self, adoptees: &[ImportedObject]) -> Result<Vec<Adopted>, ExecuteError> {
        let ids = adoptees.iter().map(|adoptee| adoptee.id);
        let streams = adoptees
            .iter()
            .filter_map(stream_of)
            .map(|stream| stream.id);
        let _turn = self.annals.locks.turn(ids.chain(streams).collect()).await;
        let streams: BTreeSet<StreamRef> = adoptees.iter().filter_map(stream_of).collect();
        for _ in 0..ATTEMPTS {
            // In this order: what comes between is seen by the append.
            let expectations = self.heads(&streams).await?;
            let mut answers = Vec::with_capacity(adoptees.len());
            for adoptee in adoptees {
                answers.push(self.judge(adoptee).await?);
            }
            let prepared = self.prepare(adoptees, &mut answers).await?;
            if prepared.events.is_empty() {
                return Ok(answers);
            }
            match self.annals.log.append(prepared.append(expectations)).await {
                Ok(_) => {
                    self.annals.states.forget(streams);
                    return Ok(answers);
                }
                Err(AppendError::Conflict { .. }) => {}
                Err(error @ AppendError::TooLarge { .. }) if adoptees.len() == 1 => {
                    let refusal = AdoptRefusal::TooLargeBatch(error);
                    return Ok(vec![Adopted::Refused(refusal)]);
                }
                Err(error) => return Err(ExecuteError::Append(error)),
            }
        }
        Err(ExecuteError::Contended { attempts: ATTEMPTS })
    }

    /// What is to become of an object.
    async fn judge(self, adoptee: &ImportedObject) -> Result<Adopted, ExecuteError> {
        let answer = self.compare(adoptee).await?;
        if answer.comes() && self.revises_anothers(adoptee).await? {
            let id = adoptee.id;
            return Ok(Adopted::Refused(AdoptRefusal::RevisesAnothers { id }));
        }
        Ok(answer)
    }

    /// Returns `true` if an importer that is not a person may bring work on an intent: it was neither turned down nor waits
    /// for an approval, answers or other intents.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn takes_work(self, intent: IntentId) -> Result<bool, LoadError> {
        let check = |world: &mut World| check_work_on(world, intent);
        Ok(self.annals.ask(At::Now, check).await?.is_some())
    }

    /// Whether an object revises a plan that commands of somebody else made, and this importer is not a person.
    async fn revises_anothers(self, adoptee: &ImportedObject) -> Result<bool, LoadError> {
        let importer = self.annals.importer();
        let Some(importer) = importer.filter(|_| self.annals.is_imported_by_another()) else {
            return Ok(false);
        };
        let Some(AnyEvent::Plan(plan::Event::Adopted(event))) =
            adoptee.events.first().map(|emitted| &emitted.event)
        else {
            return Ok(false);
        };
        let Some(previous) = event.object.as_ref().and_then(|it| it.previous) else {
            return Ok(false);
        };
        let query = Query::stream(stream_name(previous.stream()), Version(1)).limit(1);
        let page = self.annals.log.read(query).await?;
        let Some(first) = page.records.first() else {
            return Ok(false);
        };
        let is_imported = annals_wire::decode(first)?.event.adoption().is_some();
        let is_own =
            first.actor_kind() == importer.kind.as_str() && first.actor_id() == importer.id;
        Ok(!is_imported && !is_own)
    }

    /// Refuses work that an importer that is not a person may not bring ([`refused_work`]).
    async fn refuse_work(
        self,
        adoptees: &[ImportedObject],
        answers: &mut [Adopted],
    ) -> Result<(), LoadError> {
        if !self.annals.is_imported_by_another() {
            return Ok(());
        }
        let adoptees = adoptees.iter().zip(answers.iter_mut());
        let (coming, mut answers): (Vec<_>, Vec<_>) =
            adoptees.filter(|(_, answer)| answer.comes()).unzip();
        let events: Vec<&[Emitted]> = coming.iter().map(|it| it.events.as_slice()).collect();
        let check = |world: &mut World| refused_work(world, &events);
        let refused = self.annals.ask(At::Now, check).await?;
        for at in refused.unwrap_or_else(|| (0..coming.len()).collect()) {
            if let (Some(adoptee), Some(answer)) = (coming.get(at), answers.get_mut(at)) {
                let (kind, id) = (adoptee.kind, adoptee.id);
                **answer = Adopted::Refused(AdoptRefusal::NotLetGo { kind, id });
            }
        }
        Ok(())
    }

    /// What is to become of an object, by what the log has of it.
    async fn compare(self, adoptee: &ImportedObject) -> Result<Adopted, ExecuteError> {
        let (kind, id) = (adoptee.kind, adoptee.id);
        let Some((found, holder)) = self.annals.index().place(id).await? else {
            return Ok(self.held_here(adoptee).await?.unwrap_or(Adopted::New));
        };
        if found != kind {
            return Ok(Adopted::Refused(AdoptRefusal::Taken { id, found }));
        }
        if Some(holder) != stream_of(adoptee) {
            let refusal = AdoptRefusal::Elsewhere { kind, id, holder };
            return Ok(Adopted::Refused(refusal));
        }
        let row = self
            .annals
            .index()
            .row(id)
            .await
            .map_err(|error| match error {
                ViewError::Load(error) => error,
                error => LoadError::from(annals_event_log::ReadError::Corrupt {
                    reason: error.to_string(),
                }),
            })?;
        let Some(begun) = self.adoption_of(row.last_position, id).await? else {
            return Ok(Adopted::Refused(AdoptRefusal::ChangedHere { kind, id }));
        };
        if begun.digest == adoptee.digest {
            return Ok(Adopted::Unchanged);
        }
        if let Some(held) = self.held_here(adoptee).await? {
            return Ok(held);
        }
        Ok(match self.is_kept(adoptee, &begun).await? {
            true => Adopted::Refused(AdoptRefusal::EndedByPerson { kind, id }),
            false => Adopted::Replaced,
        })
    }

    /// Whether an object is a task, has ended, never changes, or is an intent with another prompt, by what a person may have
    /// imported, and this importer is not a person.
    async fn is_kept(self, adoptee: &ImportedObject, begun: &Begun) -> Result<bool, LoadError> {
        if !self.annals.is_imported_by_another() {
            return Ok(false);
        }
        let is_reworded = begun.is_reworded(adoptee)?;
        let is_kept = begun.is_final || adoptee.kind == Kind::Task || is_reworded;
        if is_kept && self.may_be_a_persons(&begun.record).await? {
            return Ok(true);
        }
        if !is_reworded {
            return Ok(false);
        }
        // Another import in between does not make the words an agent's.
        let first = Query::stream(begun.record.stream_name(), Version(1)).limit(1);
        match self.annals.log.read(first).await?.records.first() {
            Some(first) => self.may_be_a_persons(first).await,
            None => Ok(false),
        }
    }

    /// Whether a person imported an event, or may have.
    async fn may_be_a_persons(self, record: &Record) -> Result<bool, LoadError> {
        let entry = self.annals.contents().entry(record).await?;
        Ok(entry.actor.may_be_imported_by_a_person())
    }

    /// Refuses an object whose stream is not one that came from where the object comes from, with
    /// nothing else in it: patch sets, decisions and the like are in their run's stream.
    async fn held_here(self, adoptee: &ImportedObject) -> Result<Option<Adopted>, LoadError> {
        let Some(first) = adoptee.events.first() else {
            return Ok(None);
        };
        let Some(Adoption::Begun(header)) = first.event.adoption() else {
            return Ok(None);
        };
        let (kind, id, holder) = (adoptee.kind, adoptee.id, first.stream);
        let is_open = self.is_open_to(holder, header.dialect).await?;
        let refusal = AdoptRefusal::HeldHere { kind, id, holder };
        Ok((!is_open).then_some(Adopted::Refused(refusal)))
    }

    /// The adoption of an object whose last event is at `last`, if nothing but
    /// its adoption happened to it. An adoption's events follow one another,
    /// so that it costs the same however much there is in the stream.
    async fn adoption_of(self, last: Position, id: Uuid) -> Result<Option<Begun>, LoadError> {
        let mut at = last;
        loop {
            let Some(record) = self.annals.contents().record(at).await? else {
                return Ok(None);
            };
            let decoded = annals_wire::decode(&record)?;
            let touched = decoded.event.touches(decoded.stream.id);
            if touched.first().is_none_or(|(_, touched)| *touched != id) {
                return Ok(None);
            }
            match decoded.event.adoption() {
                Some(Adoption::Begun(header)) => {
                    return Ok(Some(Begun {
                        digest: header.digest,
                        is_final: decoded.event.adopts_final(),
                        record,
                    }));
                }
                Some(Adoption::Continued) if at.0 > 1 => at = Position(at.0 - 1),
                Some(Adoption::Continued) | None => return Ok(None),
            }
        }
    }

    /// Encodes what is to be appended. What is too large, or not the importer's to bring, is refused in its answer.
    async fn prepare(
        self,
        adoptees: &[ImportedObject],
        answers: &mut [Adopted],
    ) -> Result<Prepared, LoadError> {
        let mut encoded = Vec::with_capacity(adoptees.len());
        for (adoptee, answer) in adoptees.iter().zip(&mut *answers) {
            let mut one = Prepared::default();
            if answer.comes() {
                match self.encode(adoptee) {
                    Ok(events) => one = events,
                    Err(refusal) => *answer = Adopted::Refused(refusal),
                }
            }
            encoded.push(one);
        }
        self.refuse_work(adoptees, answers).await?;
        let mut prepared = Prepared::default();
        for (events, answer) in encoded.into_iter().zip(answers) {
            if answer.comes() {
                prepared.extend(events);
            }
        }
        Ok(prepared)
    }

    fn encode(self, adoptee: &ImportedObject) -> Result<Prepared, AdoptRefusal> {
        let mut prepared = Prepared::default();
        let actor = self.annals.recorded_actor(&short(&adoptee.actor));
        for emitted in &adoptee.events {
            self.annals.check_importer(&emitted.event)?;
            prepared.add(emitted, annals_event_log::new_id(), adoptee.at, &actor)?;
        }
        Ok(prepared)
    }

    /// The streams as they are now, as expectations.
    async fn heads(self, streams: &BTreeSet<StreamRef>) -> Result<Vec<Expectation>, LoadError> {
        let mut expectations = Vec::with_capacity(streams.len());
        for stream in streams {
            let head = self.annals.log.head(&stream_name(*stream)).await?;
            expectations.push(still_at(*stream, head));
        }
        Ok(expectations)
    }
}

fn stream_of(adoptee: &ImportedObject) -> Option<StreamRef> {
    adoptee.events.first().map(|emitted| emitted.stream)
}

/// Who made an object, as far as a record's header has room. The object's own
/// header has it all.
fn short(actor: &ActorRef) -> ActorRef {
    ActorRef::new(
        ActorKind::from_word(cut(actor.kind.as_str(), limits::ACTOR_KIND)),
        cut(&actor.id, limits::ACTOR_ID),
    )
}

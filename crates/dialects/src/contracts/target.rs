//! What the log has of a session already.

use std::collections::HashMap;

use annals::Annals;
use annals::domain::session::{Event, OwnWork, StoredConfig};
use annals::domain::{AnyEvent, Kind, SessionId};
use annals_event_log::{Digest, Version};
use futures::{StreamExt, pin_mut};
use uuid::Uuid;

use super::event::{ContractEvent, EventBody, SessionStatusChanged};
use super::export::{session_entries, show};
use super::import_error::ContractsImportError;
use super::object::Object;
use super::render::{Commands, Renderer};
use super::writing::Style;

/// An object as it is recognised: by its id and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// Its own id; of an object of an unknown kind without one, that of its text.
    pub(super) id: Uuid,
    is_command: bool,
    said: Said,
    /// Whether it has an id of its own.
    pub(super) is_named: bool,
}

/// What an object says, by digests of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Said {
    all: u64,
    /// Without why a status changed: what a program says of that is its own, and the next version of
    /// it may say it otherwise.
    but_reason: u64,
}

impl Said {
    fn of(object: &Object, text: &str) -> Said {
        let all = digest(text);
        let Object::Event(ContractEvent {
            id,
            correlation,
            body: EventBody::SessionStatusChanged(body),
        }) = object
        else {
            return Said {
                all,
                but_reason: all,
            };
        };
        let body = SessionStatusChanged {
            status: body.status,
            reason: None,
        };
        let plain = Object::Event(ContractEvent {
            id: *id,
            correlation: correlation.clone(),
            body: body.into(),
        });
        Said {
            all,
            but_reason: digest(&written(&plain)),
        }
    }
}

/// Every object can be written; one that could not would be new each time.
fn written(object: &Object) -> String {
    object.write(Style::Compact).unwrap_or_default()
}

fn digest(text: &str) -> u64 {
    let Digest(digest) = Digest::of(text.as_bytes());
    let (head, _) = digest.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    u64::from_be_bytes(*head)
}

/// What an object is to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It is not there.
    New,
    /// It is there, just so.
    There,
    /// It is there, and gives a status another reason.
    OtherReason,
}

/// What a configuration is to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Configured {
    /// The session has none.
    New,
    /// The session has it.
    There,
    /// The session has another one, which stays.
    Other,
    /// The session has another one of an importer that was not a person, which a person's import replaces.
    AnothersOther,
}

impl Known {
    /// `again` says how many objects without an id said the same before.
    fn of(session: SessionId, object: &Object, again: impl FnOnce(u64) -> u64) -> Known {
        let text = written(object);
        let said = Said::of(object, &text);
        let nameless = || {
            let place = Uuid::new_v5(&session.0, &again(said.all).to_be_bytes());
            Uuid::new_v5(&place, text.as_bytes())
        };
        Known {
            id: object.id().unwrap_or_else(nameless),
            is_command: matches!(object, Object::Command(_)),
            said,
            is_named: object.id().is_some(),
        }
    }
}

/// A session as far as an import must know it.
#[derive(Debug, Default)]
pub(super) struct Target {
    /// The version of its stream's last event.
    pub(super) version: Version,
    /// Whether this log's own gate judges its commands.
    own: bool,
    /// The kind of what has its id, where that is not a session.
    pub(super) taken: Option<Kind>,
    /// Whether it is there, or will be with the next append.
    begun: bool,
    /// Its configuration, and whether that is one that no import replaces: a person's, or this log's own.
    configured: Option<(StoredConfig, bool)>,
    /// What this log recorded itself, which no import overrules.
    pub(super) own_work: OwnWork,
    objects: HashMap<(bool, Uuid), Said>,
    /// How often an object without an id was there or read, by its text.
    nameless: HashMap<u64, u64>,
}

impl Target {
    /// Reads what the log has of a session.
    pub(super) async fn load(
        annals: &Annals,
        session: SessionId,
    ) -> Result<Target, ContractsImportError> {
        let mut target = Target::default();
        if let Some((kind, _)) = annals
            .index()
            .place(session)
            .await?
            .filter(|(kind, _)| *kind != Kind::Session)
        {
            target.taken = Some(kind);
            return Ok(target);
        }
        let mut renderer = Renderer::new(Commands::All);
        let entries = session_entries(annals, session);
        pin_mut!(entries);
        while let Some(entry) = entries.next().await {
            let entry = entry?;
            target.version = entry.version;
            target.begun = true;
            if let AnyEvent::Session(event) = &entry.event {
                target.own_work.note(event, &entry.actor);
            }
            match &entry.event {
                AnyEvent::Session(Event::Created(event)) => {
                    target.own = true;
                    target.configured = Some((event.config.clone(), true));
                }
                AnyEvent::Session(Event::Adopted(event)) => {
                    if let Some(config) = &event.config {
                        let is_persons = entry.actor.may_be_imported_by_a_person();
                        target.configured = Some((config.clone(), is_persons));
                    }
                }
                _ => {}
            }
            for shown in show(annals, &mut renderer, &entry).await? {
                let known = target.recognise(session, &shown.object);
                target.add(known);
            }
        }
        if let Some(shown) = renderer.finish() {
            let known = target.recognise(session, &shown.object);
            target.add(known);
        }
        // What is read now is counted from the first one on.
        target.nameless.clear();
        Ok(target)
    }

    /// An object as it is recognised: of those without an id, which of several
    /// that say the same.
    pub(super) fn recognise(&mut self, session: SessionId, object: &Object) -> Known {
        let nameless = &mut self.nameless;
        Known::of(session, object, |said| {
            let count = nameless.entry(said).or_default();
            *count += 1;
            *count - 1
        })
    }

    /// Whether an object is there; or why it cannot be recorded.
    pub(super) fn judge(&self, known: &Known) -> Result<Found, &'static str> {
        if self.taken.is_some() {
            return Err(
                "its session has the id of an object of another kind in the log; import it into \
                 another log",
            );
        }
        match self.objects.get(&(known.is_command, known.id)) {
            Some(said) if *said == known.said => Ok(Found::There),
            Some(said) if said.but_reason == known.said.but_reason => Ok(Found::OtherReason),
            Some(_) => Err("another object with its id is in the session already"),
            None if self.own => Err(
                "its session is one of this log's own, whose gate judges every command; \
                 import it into another log",
            ),
            None => Ok(Found::New),
        }
    }

    /// The session that it was begun by.
    pub(super) fn parent(&self) -> Option<SessionId> {
        let (config, _) = self.configured.as_ref()?;
        config.parent
    }

    /// What a configuration is to the one that the session has.
    pub(super) fn compare(&self, config: &StoredConfig) -> Configured {
        match &self.configured {
            None => Configured::New,
            Some((known, _)) if known == config => Configured::There,
            Some((_, true)) => Configured::Other,
            Some((_, false)) => Configured::AnothersOther,
        }
    }

    pub(super) fn add(&mut self, known: Known) {
        self.objects
            .insert((known.is_command, known.id), known.said);
    }

    pub(super) fn forget(&mut self, known: Known) {
        self.objects.remove(&(known.is_command, known.id));
    }

    /// Whether the session must be created first.
    pub(super) fn begin(&mut self) -> bool {
        let needed = !self.begun && self.taken.is_none();
        self.begun |= needed;
        needed
    }

    /// Takes a configuration, which it is given with its beginning or after it.
    pub(super) fn configure(&mut self, config: StoredConfig, is_persons: bool) {
        self.begun = true;
        self.configured = Some((config, is_persons));
    }
}

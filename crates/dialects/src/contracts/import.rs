//! `import contracts`: what other systems recorded of their sessions, as it was.
//!
//! An object is identified by its id: a command by its own, an event by its own. One
//! that is there already, unchanged, is left alone; another one with its id is
//! refused, and so is one whose id anything else in the log has.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::path::Path;

use annals::domain::session::{
    Adopted, CommandBody, Event, IMPORTER, Overruling, SessionConfig, SpawnSession, StoredConfig,
};
use annals::domain::{
    ActorKind, ActorRef, AnyEvent, CommandId, Dialect, Emitted, Pairs, Pieces, SessionId,
    StreamRef, Timestamp,
};
use annals::{Annals, ExecuteError, LoadError, RecordedEvent};
use annals_event_log::{AppendError, IdSecret, Version};
use futures::StreamExt;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::event::{ContractEvent, EventBody};
use super::event_ids::EventIds;
use super::import_error::ContractsImportError;
use super::object::{Object, id_of};
use super::record::record;
use super::source::{Text, TextError, Texts};
use super::target::{Configured, Found, Known, Target};
use crate::reading::{self, Outlet, Stop};
use crate::report::{self, ImportReport, Progress, Types, counted};
use crate::secrets::{Hit, Secrets};

/// Objects that are recorded in one append.
const BATCH_OBJECTS: usize = 256;
/// Bytes of content beyond which no further object is put into an append.
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Why a configuration is ignored.
const OTHER_CONFIG: &str = "the session has another configuration, which stays: only a person's import replaces one, and \
                            only one that another importer brought; create a session (create_session), or import into \
                            another log";
/// Objects that are read ahead.
const READY: usize = 16;

/// Imports a session's event stream or a command log: JSON lines, a JSON array,
/// or objects one after the other, of any number of sessions. `progress` counts
/// bytes.
///
/// `secrets` are taken out of each object before it is read.
///
/// Verdicts are recorded as they were and never judged again. Sessions that are
/// not there are created as adopted, also those that a SpawnSession names;
/// objects of unknown kinds are kept as they came. What cannot be read is named
/// by its line, and the rest is read. A session that this log's own gate judges
/// takes nothing from elsewhere, and one that was taken over takes nothing that overrules
/// what this log recorded itself ([`OwnWork`](annals::domain::session::OwnWork)).
///
/// The contracts' streams have no times: everything is recorded at the time of
/// the import.
///
/// # Errors
/// [`ContractsImportError`].
pub async fn import(
    annals: &Annals,
    path: &Path,
    secrets: &Secrets,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, ContractsImportError> {
    let (mut messages, total) = start(path, secrets)?;
    let file = path.display().to_string();
    let secret = annals.log().id_secret().await;
    let mut import = Import {
        annals,
        secret: secret.map_err(LoadError::from)?,
        secrets,
        actor: ActorRef::new(ActorKind::System, IMPORTER),
        at: annals_event_log::now().into(),
        file,
        report: ImportReport {
            source: format!("contracts {}", path.display()),
            ..ImportReport::default()
        },
        fields: report::Fields::default(),
        foreign: Types::default(),
        targets: BTreeMap::new(),
        waiting: Vec::new(),
        bytes: 0,
        beginnings: Vec::new(),
        ids: EventIds::default(),
        adopted: 0,
        other_reasons: 0,
        commands: HashSet::new(),
        judged: HashSet::new(),
    };
    while let Some(received) = messages.next().await {
        match received {
            Err(error) => {
                import.flush().await?;
                return Err(error);
            }
            Ok(ReadEvent::Ids(ids)) => import.ids = EventIds::of(ids),
            Ok(ReadEvent::Text { text, hits, done }) => {
                let report = &mut import.report.redacted;
                report.add_hits(&import.file, text.line, &hits);
                import.text(text).await?;
                progress(Progress { done, total });
            }
            Ok(ReadEvent::End) => {
                import.flush().await?;
                return Ok(import.finish().without_secrets(secrets));
            }
        }
    }
    Err(ContractsImportError::Interrupted {
        path: path.to_owned(),
    })
}

enum ReadEvent {
    /// All ids that the file has.
    Ids(HashSet<Uuid>),
    Text {
        text: Text,
        hits: Vec<Hit>,
        done: u64,
    },
    End,
}

/// Starts reading; and how many bytes there are.
fn start(
    path: &Path,
    secrets: &Secrets,
) -> Result<(reading::Events<ReadEvent, ContractsImportError>, u64), ContractsImportError> {
    let secrets = secrets.clone();
    let unreadable = |source| ContractsImportError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = annals_files::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        let source = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(unreadable(source));
    }
    let path = path.to_owned();
    let read = move |outlet: &mut Outlet<ReadEvent, ContractsImportError>| {
        let unreadable = |source| ContractsImportError::Unreadable {
            path: path.clone(),
            source,
        };
        let file = seekable(file).map_err(unreadable)?;
        let ids = Texts::new(BufReader::new(&file)).filter_map(|text| id_of(&text.text.ok()?));
        outlet.send(ReadEvent::Ids(ids.collect()))?;
        (&file).rewind().map_err(unreadable)?;
        let mut texts = Texts::new(BufReader::new(file));
        while let Some(text) = texts.next() {
            let done = texts.bytes_read();
            let (text, hits) = without_secrets(text, &secrets);
            outlet.send(ReadEvent::Text { text, hits, done })?;
        }
        Ok::<(), Stop<ContractsImportError>>(())
    };
    let messages = reading::start("contracts", READY, ReadEvent::End, read).map_err(unreadable)?;
    Ok((messages, metadata.len()))
}

/// It is read twice, which a pipe cannot be: what comes from one is kept in a file without a name.
fn seekable(mut file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let kept = annals_files::in_temporary(None, |home| tempfile::tempfile_in(home));
    let mut kept = kept?;
    io::copy(&mut file, &mut kept)?;
    kept.rewind()?;
    Ok(kept)
}

fn without_secrets(mut text: Text, secrets: &Secrets) -> (Text, Vec<Hit>) {
    let Ok(json) = &text.text else {
        return (text, Vec::new());
    };
    let redacted = secrets.redact_json(json);
    let mut hits = redacted.hits;
    if !hits.is_empty() {
        let mut left = redacted.content.into_owned();
        if let Some(with_upload) = with_upload(json, &left) {
            left = with_upload;
            hits.retain(|hit| !hit.field.eq_ignore_ascii_case("content"));
        }
        text.text = Ok(left);
    }
    (text, hits)
}

/// A redacted object with the upload that it had, if it is one: secrets are taken out of its bytes, and not out of
/// their base64, which would be none any more.
fn with_upload(json: &str, redacted: &str) -> Option<String> {
    if !json.contains("UploadArtifact") {
        return None;
    }
    let property = |pairs: &[(String, &RawValue)], name: &str| {
        let mut found = pairs.iter().rev();
        let found = found.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.get().to_owned())
    };
    let Pairs(before) = serde_json::from_str::<Pairs<&RawValue>>(json).ok()?;
    if property(&before, "kind")? != "\"UploadArtifact\"" {
        return None;
    }
    let content = property(&before, "content")?;
    let Pairs(after) = serde_json::from_str::<Pairs<&RawValue>>(redacted).ok()?;
    let mut parts = Vec::with_capacity(after.len());
    for (key, value) in &after {
        let value = match key.eq_ignore_ascii_case("content") {
            true => content.as_str(),
            false => value.get(),
        };
        parts.push(format!("{}:{value}", serde_json::to_string(key).ok()?));
    }
    Some(format!("{{{}}}", parts.join(",")))
}

/// An object that waits for the next append.
struct Waiting {
    session: SessionId,
    line: u64,
    known: Known,
    events: Vec<RecordedEvent>,
    fields: report::Fields,
    foreign: Option<String>,
}

struct Import<'a> {
    annals: &'a Annals,
    /// What the ids follow from of objects that have none.
    secret: Option<IdSecret>,
    secrets: &'a Secrets,
    actor: ActorRef,
    at: Timestamp,
    file: String,
    report: ImportReport,
    fields: report::Fields,
    foreign: Types,
    targets: BTreeMap<SessionId, Target>,
    waiting: Vec<Waiting>,
    bytes: usize,
    /// Sessions that are to be created before what waits.
    beginnings: Vec<RecordedEvent>,
    /// Ids that events have already.
    ids: EventIds,
    /// Sessions that were created as adopted.
    adopted: u64,
    /// Statuses that are there with another reason.
    other_reasons: u64,
    /// Commands that are here themselves, and those that have a verdict.
    commands: HashSet<Uuid>,
    judged: HashSet<Uuid>,
}

impl Import<'_> {
    async fn text(&mut self, text: Text) -> Result<(), ContractsImportError> {
        self.report.records_read += 1;
        let line = text.line;
        let text = match text.text {
            Ok(text) => text,
            Err(TextError::Unreadable(source)) => {
                self.flush().await?;
                let path = self.file.clone().into();
                return Err(ContractsImportError::Unreadable { path, source });
            }
            Err(error) => {
                self.report.add_broken(&self.file, line, error.to_string());
                return Ok(());
            }
        };
        let tally = RefCell::default();
        match Object::read_counted(&text, &tally) {
            Ok(mut object) => {
                self.without_attached_secrets(&mut object, line);
                self.object(object, line, tally.into_inner()).await
            }
            Err(error) => {
                self.report.add_broken(&self.file, line, error.to_string());
                Ok(())
            }
        }
    }

    /// Takes the secrets out of what a command uploads: its JSON has it as base64, and
    /// the log as it is.
    fn without_attached_secrets(&mut self, object: &mut Object, line: u64) {
        let Object::Command(command) = object else {
            return;
        };
        let CommandBody::UploadArtifact(upload) = &mut command.body else {
            return;
        };
        let mut redacted = self.secrets.redact_bytes(&upload.content.0);
        for hit in &mut redacted.hits {
            // The line is one of the content.
            hit.field = format!("content, line {}", hit.line);
            hit.line = 1;
        }
        let report = &mut self.report.redacted;
        report.add_hits(&self.file, line, &redacted.hits);
        upload.content.0 = redacted.content.into_owned();
    }

    async fn object(
        &mut self,
        object: Object,
        line: u64,
        fields: report::Fields,
    ) -> Result<(), ContractsImportError> {
        let Some(session) = object.session() else {
            let reason = "it says no session: correlation.sessionId is missing";
            self.report.add_broken(&self.file, line, reason.to_owned());
            return Ok(());
        };
        self.note_command(&object);
        let target = self.target(session).await?;
        let known = target.recognise(session, &object);
        match target.judge(&known) {
            Ok(Found::New) => {}
            Ok(found) => {
                self.report.already_there += 1;
                self.other_reasons += u64::from(found == Found::OtherReason);
                return Ok(());
            }
            Err(reason) => {
                self.report.add_broken(&self.file, line, reason.to_owned());
                return Ok(());
            }
        }
        let recorded = match record(&object) {
            Ok(recorded) => recorded,
            Err(refusal) => {
                self.report
                    .add_broken(&self.file, line, refusal.to_string());
                return Ok(());
            }
        };
        if let Some(overruling) = self.overruling(session, &recorded).await? {
            self.report
                .add_broken(&self.file, line, overruling.to_string());
            return Ok(());
        }
        let id = known.id;
        if known.is_named
            && let Some(place) = self.ids.holder(self.annals, id).await?
        {
            let reason = format!("{place} has its id {id} already, and an id identifies one event");
            self.report.add_broken(&self.file, line, reason);
            return Ok(());
        }
        self.begin_named(session, &object, line).await?;
        let foreign = match &object {
            Object::Foreign(foreign) => Some(foreign.kind.clone()),
            Object::Command(_) | Object::Event(_) => None,
        };
        self.wait(Waiting {
            session,
            line,
            known,
            events: self.events(session, recorded, known),
            fields,
            foreign,
        })
        .await
    }

    /// Puts an object behind those that wait, which are recorded where they are many.
    async fn wait(&mut self, one: Waiting) -> Result<(), ContractsImportError> {
        let pieces = one.events.iter();
        let pieces = pieces.flat_map(|event| event.emitted.pieces.list());
        self.bytes += pieces.map(|piece| piece.bytes.len()).sum::<usize>();
        let named = self.importer_named();
        let target = self.target(one.session).await?;
        target.add(one.known);
        for event in &one.events {
            if let AnyEvent::Session(event) = &event.emitted.event {
                target.own_work.note(event, &named);
            }
        }
        self.ids.take(one.known, one.line);
        self.waiting.push(one);
        if self.waiting.len() >= BATCH_OBJECTS || self.bytes > BATCH_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    /// What this log recorded of a session, if an object would overrule it.
    async fn overruling(
        &mut self,
        session: SessionId,
        recorded: &[(AnyEvent, Pieces)],
    ) -> Result<Option<Overruling>, ContractsImportError> {
        let importer = self.annals.importer();
        let own_work = &self.target(session).await?.own_work;
        Ok(recorded.iter().find_map(|(event, _)| match event {
            AnyEvent::Session(event) => own_work.refusal(event, importer),
            _ => None,
        }))
    }

    /// In whose name this import records.
    fn importer_named(&self) -> ActorRef {
        match self.annals.importer() {
            Some(importer) => self.actor.clone().imported_by(importer),
            None => self.actor.clone(),
        }
    }

    /// Commands whose verdicts alone are here cannot be judged again.
    fn note_command(&mut self, object: &Object) {
        match object {
            Object::Command(command) => {
                self.commands.insert(command.id.0);
            }
            Object::Event(event) => {
                if let Some(command) = judged(event) {
                    self.judged.insert(command.0);
                }
            }
            Object::Foreign(_) => {}
        }
    }

    /// What the log has of a session.
    async fn target(&mut self, session: SessionId) -> Result<&mut Target, ContractsImportError> {
        if !self.targets.contains_key(&session) {
            let target = Target::load(self.annals, session).await?;
            self.targets.insert(session, target);
        }
        // It is there now.
        Ok(self.targets.entry(session).or_default())
    }

    /// Creates the sessions that an object names, before it and by themselves: they
    /// stay if the object itself is refused.
    async fn begin_named(
        &mut self,
        session: SessionId,
        object: &Object,
        line: u64,
    ) -> Result<(), ContractsImportError> {
        self.adopt(session).await?;
        if let Object::Command(command) = object
            && let CommandBody::SpawnSession(spawn) = &command.body
            // A command whose content was removed has no session's id left.
            && !spawn.config.session_id.0.is_nil()
        {
            self.spawn(spawn, command.id, line).await?;
        }
        Ok(())
    }

    /// Configures the session that a SpawnSession names, or names the reason why not.
    async fn spawn(
        &mut self,
        spawn: &SpawnSession,
        command: CommandId,
        line: u64,
    ) -> Result<(), ContractsImportError> {
        let spawned = spawn.config.session_id;
        let config = StoredConfig::store(&spawn.config, &mut Pieces::new());
        let found = self.target(spawned).await?.compare(&config);
        let is_persons = !self.annals.is_imported_by_another();
        let reason = match found {
            Configured::There => return Ok(()),
            Configured::Other => Some(OTHER_CONFIG.to_owned()),
            Configured::AnothersOther if !is_persons => Some(OTHER_CONFIG.to_owned()),
            Configured::New | Configured::AnothersOther => {
                self.refusal_of_config(&spawn.config, config).await?
            }
        };
        if let Some(reason) = reason {
            let reason = format!(
                "it configures session {spawned}: the command is recorded, and configures nothing, for {reason}"
            );
            self.report.add_broken(&self.file, line, reason);
            return Ok(());
        }
        if let Some(kind) = self.target(spawned).await?.taken {
            let reason = format!(
                "it spawns a session with the id of a {kind} in the log ({spawned}): the command \
                 is recorded, and no session"
            );
            self.report.add_broken(&self.file, line, reason);
            return Ok(());
        }
        // A configuration that replaces another one is an event of its own.
        let name = match found {
            Configured::New => b"config".to_vec(),
            _ => [b"config".as_slice(), command.0.as_bytes()].concat(),
        };
        self.configure(&spawn.config, is_persons, &name).await
    }

    /// Why this import must not configure a session, if so.
    async fn refusal_of_config(
        &mut self,
        config: &SessionConfig,
        stored: StoredConfig,
    ) -> Result<Option<String>, ContractsImportError> {
        let configures = Adopted {
            dialect: Dialect::Contracts,
            config: Some(stored),
        };
        let importer = self.annals.importer();
        let target = self.target(config.session_id).await?;
        let own = target.own_work.refusal(&configures.into(), importer);
        let overruling = own.or(self.child_of_own(config).await?);
        Ok(overruling.map(|it| it.to_string()))
    }

    /// Why this import must not configure a session, if it is a child of one of this log's own or of a person's import,
    /// at any level.
    async fn child_of_own(
        &mut self,
        config: &SessionConfig,
    ) -> Result<Option<Overruling>, ContractsImportError> {
        let importer = self.annals.importer().cloned();
        let (mut next, mut seen) = (config.parent_session_id, HashSet::new());
        while let Some(id) = next.filter(|id| seen.insert(*id)) {
            let parent = SessionId(id);
            let target = self.target(parent).await?;
            let overruling = target.own_work.refusal_of_child(parent, importer.as_ref());
            if overruling.is_some() {
                return Ok(overruling);
            }
            next = target.parent().map(|parent| parent.0);
        }
        Ok(None)
    }

    /// The events that record an object, the first one under its own id.
    fn events(
        &self,
        session: SessionId,
        recorded: Vec<(AnyEvent, Pieces)>,
        known: Known,
    ) -> Vec<RecordedEvent> {
        // One that follows from what it says would give that away to who tries texts.
        let first = match &self.secret {
            Some(secret) if !known.is_named => secret.id("contracts", known.id.as_bytes()),
            _ => known.id,
        };
        let id = |index: usize| match index {
            0 => first,
            part => Uuid::new_v5(&first, &part.to_be_bytes()),
        };
        let numbered = recorded.into_iter().enumerate();
        let event = |(index, (event, pieces))| self.recorded(session, id(index), event, pieces);
        numbered.map(event).collect()
    }

    fn recorded(
        &self,
        session: SessionId,
        id: Uuid,
        event: AnyEvent,
        pieces: Pieces,
    ) -> RecordedEvent {
        RecordedEvent {
            id,
            at: self.at,
            emitted: Emitted {
                stream: session.stream(),
                event,
                pieces,
            },
        }
    }

    /// Creates a session as adopted, if it is not there.
    async fn adopt(&mut self, session: SessionId) -> Result<(), ContractsImportError> {
        if self.target(session).await?.begin() {
            self.begins(session, None, Pieces::new(), b"adopted");
        }
        Ok(())
    }

    /// Gives a session a configuration, with its beginning or after it. The event's id follows from the name.
    async fn configure(
        &mut self,
        config: &SessionConfig,
        is_persons: bool,
        name: &[u8],
    ) -> Result<(), ContractsImportError> {
        let session = config.session_id;
        let mut pieces = Pieces::new();
        let config = StoredConfig::store(config, &mut pieces);
        let target = self.target(session).await?;
        target.configure(config.clone(), is_persons);
        self.begins(session, Some(config), pieces, name);
        Ok(())
    }

    fn begins(
        &mut self,
        session: SessionId,
        config: Option<StoredConfig>,
        pieces: Pieces,
        name: &[u8],
    ) {
        let adopted = Adopted {
            dialect: Dialect::Contracts,
            config,
        };
        let id = Uuid::new_v5(&session.0, name);
        let event = AnyEvent::Session(Event::from(adopted));
        let beginning = self.recorded(session, id, event, pieces);
        self.beginnings.push(beginning);
        self.adopted += 1;
    }

    /// Records what waits.
    async fn flush(&mut self) -> Result<(), ContractsImportError> {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        if waiting.is_empty() {
            return Ok(());
        }
        self.begin().await?;
        let all = events_of(&waiting);
        match self.append(&all).await {
            Err(ExecuteError::Encode(_) | ExecuteError::Append(AppendError::TooLarge { .. })) => {
                // Together they do not fit; each alone does, or says why not.
                for one in waiting {
                    match self.append(&one.events).await {
                        Ok(()) => self.done(one),
                        Err(
                            error @ (ExecuteError::Encode(_)
                            | ExecuteError::Append(AppendError::TooLarge { .. })),
                        ) => {
                            let reason = format!("it does not fit into an event: {error}");
                            self.report.add_broken(&self.file, one.line, reason);
                            self.target(one.session).await?.forget(one.known);
                        }
                        Err(error) => return Err(Box::new(error).into()),
                    }
                }
            }
            Err(error) => return Err(Box::new(error).into()),
            Ok(()) => waiting.into_iter().for_each(|one| self.done(one)),
        }
        Ok(())
    }

    /// Creates the sessions that are not there.
    async fn begin(&mut self) -> Result<(), ContractsImportError> {
        let beginnings = std::mem::take(&mut self.beginnings);
        if beginnings.is_empty() {
            return Ok(());
        }
        self.report.events_made += beginnings.len() as u64;
        let appended = self.append(&beginnings).await;
        appended.map_err(|error| Box::new(error).into())
    }

    async fn append(&mut self, events: &[RecordedEvent]) -> Result<(), ExecuteError> {
        let mut counts: BTreeMap<SessionId, u64> = BTreeMap::new();
        for event in events {
            *counts
                .entry(SessionId(event.emitted.stream.id))
                .or_default() += 1;
        }
        let version = |session: &SessionId| {
            self.targets
                .get(session)
                .map_or(Version::NONE, |target| target.version)
        };
        let after: Vec<(StreamRef, Version)> = counts
            .keys()
            .map(|session| (session.stream(), version(session)))
            .collect();
        self.annals
            .imports()
            .record(&after, &self.actor, events)
            .await?;
        for (session, count) in counts {
            if let Some(target) = self.targets.get_mut(&session) {
                target.version = Version(target.version.0 + count);
            }
        }
        Ok(())
    }

    fn done(&mut self, one: Waiting) {
        self.report.imported += 1;
        self.report.events_made += one.events.len() as u64;
        self.fields.add(&one.fields);
        if let Some(kind) = &one.foreign {
            self.foreign.add(kind);
        }
    }

    fn finish(mut self) -> ImportReport {
        let notes = &mut self.report.notes;
        if self.adopted > 0 {
            notes.push(format!(
                "{} taken over, with verdicts as they were recorded",
                counted(self.adopted, "session was", "sessions were")
            ));
        }
        if self.other_reasons > 0 {
            notes.push(format!(
                "{} in the log already with another reason, which stays",
                counted(self.other_reasons, "status is", "statuses are")
            ));
        }
        let unknown = self.judged.difference(&self.commands).count() as u64;
        if unknown > 0 {
            notes.push(format!(
                "{} known only by a verdict: a replay under another profile cannot judge what is \
                 not here. Of a command log and an event stream, import the commands first",
                counted(unknown, "command is", "commands are")
            ));
        }
        if self.report.imported > 0 {
            notes.push(
                "the contracts have no times: all is recorded at the time of this import".into(),
            );
        }
        self.report.unknown_types = self.foreign.list();
        self.fields.report(&mut self.report);
        self.report
    }
}

fn events_of(waiting: &[Waiting]) -> Vec<RecordedEvent> {
    waiting
        .iter()
        .flat_map(|one| one.events.iter().cloned())
        .collect()
}

/// The command that an event is a verdict on.
fn judged(event: &ContractEvent) -> Option<CommandId> {
    match &event.body {
        EventBody::CommandAccepted(body) => Some(body.command_id),
        EventBody::CommandRejected(body) => Some(body.command_id),
        EventBody::Throttled(_) => event.correlation.command,
        _ => None,
    }
}

//! The intents of a folder.

use std::collections::{HashMap, HashSet};

use annals::LoadError;
use annals::domain::intent::title_and_body;
use annals::domain::{IntentId, Kind, Timestamp};
use annals::event_log::Version;
use annals::projections::Relation;
use annals::wire::stream_name;
use chrono::Utc;

use super::{CHANGED_HERE, Import, Known, NO_EVENT, NOT_OF_FOLDER, Recorded, in_log};
use crate::forge::facts::{self, FileRules, IntentFacts};
use crate::forge::folder::ForgeFolderError;
use crate::forge::intent::ForgeIntent;
use crate::forge::logged;
use crate::forge::names::{is_alias, known_as, reads_like, reserved};
use crate::forge::queue::{Became, Queue, Unit};
use crate::forge::remains::{Remains, Spelling};
use crate::forge::source::{IntentFile, Source};
use crate::forge::{catch_up, difference};

/// What an intent's file leads to.
struct OfIntent<'f> {
    file: &'f IntentFile,
    is_new: bool,
}

impl Import<'_> {
    /// Records the intents that are not in the log, and brings on those that are.
    pub(super) async fn intents(&mut self, source: &Source) -> Result<(), ForgeFolderError> {
        let in_ring = self.refuse_rings(&source.intents).await?;
        let with_parts = with_parts(source);
        let (mut new, mut again) = (Vec::new(), Vec::new());
        for file in &source.intents {
            self.report.records_read += 1;
            self.shown.file();
            if in_ring.contains(&file.file.name) {
                continue;
            }
            let has_parts = with_parts.contains(file.file.name.as_str());
            match known_as(self.annals, &self.ids, &file.file.name).await? {
                Some(object) if object.kind == Kind::Intent => {
                    let id = IntentId(object.id);
                    again.extend(self.intent_again(file, id, has_parts).await?);
                }
                Some(object) => {
                    let reason = format!(
                        "its name is that of a {} in the log already ({}); rename the file",
                        object.kind, object.id
                    );
                    self.broken(file.file.path(), 1, reason);
                }
                None => {
                    if let Some(other) = self.depends_elsewhere(file).await? {
                        let reason = format!(
                            "depends_on names {other:?}, and nothing of a folder depends on that intent: \
                             {NOT_OF_FOLDER}; take it out, or import the folder into another log"
                        );
                        self.broken(file.file.path(), file.depends_on_line, reason);
                        continue;
                    }
                    let known = Known {
                        id: self.ids.intent(&file.file.name),
                        is_new: true,
                        is_of_folder: true,
                        child_of: None,
                        tasks: HashMap::new(),
                    };
                    // It may have parts that came before.
                    let parts = self
                        .annals
                        .index()
                        .naming(known.id, Relation::IntentChildOf, 1);
                    let has_parts = has_parts || !parts.await?.is_empty();
                    self.known.insert(file.file.name.clone(), known);
                    new.push((file, has_parts));
                }
            }
        }
        let mut queue = Queue::new(self.annals, self.taking);
        // All of them are known now, so that each can name the others.
        for (file, has_parts) in new {
            queue.push(self.new_intent(file, has_parts).await?).await?;
        }
        for unit in again {
            queue.push(unit).await?;
        }
        queue.flush().await?;
        for (of, became) in queue.take_done() {
            self.intent_became(&of, &became);
        }
        Ok(())
    }

    fn rules(&self, file: &IntentFile) -> FileRules {
        FileRules {
            goes_on: file.goes_on,
            unknown_type: self.unknown_type,
        }
    }

    fn intent_became(&mut self, OfIntent { file, is_new }: &OfIntent<'_>, became: &Became) {
        if let Became::Recorded(events) = became {
            let (is_new, events) = (*is_new, *events);
            let recorded = Recorded { is_new, events };
            self.became.insert(file.file.name.clone(), recorded);
        }
        match became {
            Became::Recorded(events) if *is_new => {
                self.recorded(*events);
                self.counts.intents += 1;
                self.counts.let_go += u64::from(file.goes_on);
            }
            Became::Recorded(events) => {
                self.recorded(*events);
                self.counts.brought_on += 1;
            }
            Became::Unfit(error) => {
                if *is_new {
                    self.known.remove(&file.file.name);
                }
                self.unfit(file.file.path(), 1, error);
            }
        }
    }

    /// An intent that is in the log already: what happened to it since.
    async fn intent_again<'f>(
        &mut self,
        file: &'f IntentFile,
        id: IntentId,
        has_parts: bool,
    ) -> Result<Option<Unit<OfIntent<'f>>>, ForgeFolderError> {
        let head = self.annals.log().head(&stream_name(id.stream())).await;
        let head = head.map_err(LoadError::from)?;
        let logged = logged::intent(self.annals, id).await?;
        let name = &file.file.name;
        let is_of_folder = self.is_of_folder(id.stream()).await?;
        let known = Known::of(id, &logged, is_of_folder);
        self.known.insert(name.clone(), known);
        let differs = difference::of_intents(&logged.intent, &file.intent);
        if differs.is_empty() {
            self.report.already_there += 1;
            return Ok(None);
        }
        let course = catch_up::course(self.annals, id.stream()).await?;
        if !course.is_followed {
            self.left.insert(name.clone());
            let mut reason = in_log(&differs, CHANGED_HERE);
            if !is_of_folder {
                reason.push_str(&self.holder(id).await?);
            }
            self.passed_over(file.file.path(), reason);
            return Ok(None);
        }
        let has_parts = has_parts || !logged.tasks.is_empty() || logged.has_children;
        let (events, stuck) = catch_up::of_intent(
            id,
            &logged.intent,
            &file.intent,
            has_parts,
            self.rules(file),
            course,
        );
        if !stuck.is_empty() {
            self.left.insert(name.clone());
            self.passed_over(file.file.path(), in_log(&stuck, NO_EVENT));
        }
        if events.is_empty() {
            // Its tasks may yet lead there; the end of the import says so.
            self.report.already_there += u64::from(stuck.is_empty());
            return Ok(None);
        }
        let about = OfIntent {
            file,
            is_new: false,
        };
        Ok(Some(Unit {
            events,
            heads: vec![(id.stream(), head)],
            about,
        }))
    }

    /// Names the intent that has a file's name and did not come from a folder, and who made it.
    async fn holder(&self, id: IntentId) -> Result<String, ForgeFolderError> {
        let history = self.annals.history(id.0).await?;
        let actor = history.first().map(|entry| &entry.actor);
        let by = actor.map_or(String::new(), |actor| {
            format!(" of {}:{}", actor.kind, actor.id)
        });
        Ok(format!(
            "; its name is that of the intent {id}{by}, which came from no folder: rename the file if it is another one"
        ))
    }

    /// What is to be recorded of an intent that is not in the log.
    async fn new_intent<'f>(
        &mut self,
        file: &'f IntentFile,
        has_parts: bool,
    ) -> Result<Unit<OfIntent<'f>>, ForgeFolderError> {
        let (name, intent) = (&file.file.name, &file.intent);
        let id = self.ids.intent(name);
        let alias = is_alias(name) && !self.is_confusable(file, id).await?;
        let created_at = created_at(intent);
        let mut remains = Remains {
            keys: intent.extra.clone(),
            name: (!alias && id.to_string() != *name).then(|| name.clone()),
            title_and_body: unlike_prompt(intent),
            created_at: respelled(intent, created_at),
            ..Remains::default()
        };
        remains.note_questions(intent);
        let mut child_of = None;
        if let Some(parent) = &intent.parent {
            let (parent_id, plain) = self.named(file, file.parent_line, "parent", parent).await?;
            child_of = Some(parent_id);
            remains.parent = (!plain).then(|| parent.clone());
            if self.is_elsewhere(parent).await? {
                let violation = format!(
                    "parent names {parent:?}, and no file gives that intent parts: {NOT_OF_FOLDER}; \
                     this one is taken without it"
                );
                self.against(file.file.path(), file.parent_line, id, violation);
                child_of = None;
                remains.parent = Some(parent.clone());
            }
        }
        let (mut depends_on, mut all_plain) = (Vec::new(), true);
        for other in &intent.depends_on {
            let line = file.depends_on_line;
            let (other, plain) = self.named(file, line, "depends_on", other).await?;
            all_plain &= plain;
            depends_on.push(other);
        }
        remains.depends_on = (!all_plain).then(|| intent.depends_on.clone());
        if let Some(known) = self.known.get_mut(name) {
            known.child_of = child_of;
        }
        let facts = IntentFacts {
            id,
            intent,
            remains: &remains,
            created_at: created_at.unwrap_or(self.taking.at),
            child_of,
            depends_on,
            has_parts,
            rules: self.rules(file),
        };
        let mut events = facts.events(self.taking);
        if alias {
            let stream = self.annals.index().alias_stream(name).await?;
            events.push(reserved(id, name, stream));
        }
        let heads = events.iter().map(|event| (event.stream, Version::NONE));
        Ok(Unit {
            heads: heads.collect(),
            events,
            about: OfIntent { file, is_new: true },
        })
    }

    /// Whether a name reads like the alias of another object; the intent is called by its id then.
    async fn is_confusable(
        &mut self,
        file: &IntentFile,
        id: IntentId,
    ) -> Result<bool, ForgeFolderError> {
        let name = &file.file.name;
        let Some(other) = reads_like(self.annals, &self.ids, name, id).await? else {
            return Ok(false);
        };
        let violation = format!(
            "its name {name:?} reads like that of the {} {}: it is called by its id",
            other.kind, other.id
        );
        self.against(file.file.path(), 1, id, violation);
        Ok(true)
    }

    /// Whether a name is that of an intent that the log has from elsewhere than a folder.
    async fn is_elsewhere(&self, name: &str) -> Result<bool, ForgeFolderError> {
        Ok(match known_as(self.annals, &self.ids, name).await? {
            Some(object) if object.kind == Kind::Intent => {
                !self.is_of_folder(IntentId(object.id).stream()).await?
            }
            _ => false,
        })
    }

    /// What an intent's file depends on that the log has from elsewhere than a folder. Without it the
    /// intent would not wait for that any more, so it is not taken.
    async fn depends_elsewhere<'f>(
        &self,
        file: &'f IntentFile,
    ) -> Result<Option<&'f str>, ForgeFolderError> {
        for name in &file.intent.depends_on {
            if self.is_elsewhere(name).await? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The intent that another one names, and whether an export would name it so.
    /// One that is not there has the id that it will have.
    async fn named(
        &mut self,
        file: &IntentFile,
        line: u64,
        field: &str,
        name: &str,
    ) -> Result<(IntentId, bool), ForgeFolderError> {
        if let Some(Known {
            id, is_new: true, ..
        }) = self.known.get(name)
        {
            let plain = is_alias(name) || id.to_string() == name;
            return Ok((*id, plain));
        }
        if let Some(object) = known_as(self.annals, &self.ids, name).await?
            && object.kind == Kind::Intent
        {
            let plain = self.annals.index().called(object.id).await? == name;
            return Ok((IntentId(object.id), plain));
        }
        let violation = format!(
            "{field} names {name:?}, and there is no such intent; it holds once that one is \
             imported"
        );
        let id = self.ids.intent(&file.file.name);
        self.against(file.file.path(), line, id, violation);
        Ok((self.ids.intent(name), false))
    }
}

/// The names of the intents that have tasks or parts in the folder, or may have: a
/// file that cannot be read may have any.
fn with_parts(source: &Source) -> HashSet<&str> {
    let with_tasks = source.tasks.iter();
    let with_tasks = with_tasks
        .filter(|file| !file.tasks.tasks.is_empty() || !file.tasks.errors.is_empty())
        .map(|file| file.file.name.as_str());
    let bad = source.bad_tasks.iter().map(String::as_str);
    let parents = source.intents.iter();
    let parents = parents.filter_map(|file| file.intent.parent.as_deref());
    with_tasks.chain(bad).chain(parents).collect()
}

/// When an intent was written down, where its file says so in a way that we know.
fn created_at(intent: &ForgeIntent) -> Option<Timestamp> {
    let spelled = intent.created_at.as_deref()?.trim();
    let time = chrono::DateTime::parse_from_rfc3339(spelled).ok()?;
    Timestamp::in_range(time.with_timezone(&Utc))
}

/// What is to be kept of when it was written down.
fn respelled(intent: &ForgeIntent, created_at: Option<Timestamp>) -> Option<Spelling> {
    match (&intent.created_at, created_at) {
        (None, _) => Some(Spelling::Absent),
        (Some(spelled), Some(time)) if time.to_string() == *spelled => None,
        (Some(spelled), _) => Some(Spelling::As(spelled.clone())),
    }
}

/// Title and body, if the request could not be taken apart into them again.
fn unlike_prompt(intent: &ForgeIntent) -> Option<(String, String)> {
    let prompt = facts::prompt(&intent.title, &intent.body);
    let same = title_and_body(&prompt) == (intent.title.as_str(), intent.body.as_str());
    (!same).then(|| (intent.title.clone(), intent.body.clone()))
}

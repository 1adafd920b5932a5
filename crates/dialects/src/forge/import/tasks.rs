//! The tasks of a folder.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use annals::LoadError;
use annals::domain::{IntentId, Kind, TaskId};
use annals::event_log::Version;
use annals::wire::stream_name;
use annals_domain::task::ReviewVerdict;

use super::{CHANGED_HERE, Import, Known, Trusted, in_log};
use crate::forge::facts;
use crate::forge::folder::ForgeFolderError;
use crate::forge::logged;
use crate::forge::names::known_as;
use crate::forge::order::sound;
use crate::forge::queue::{Became, Queue, Unit};
use crate::forge::source::{Source, TasksFile};
use crate::forge::task::{ForgeTask, Placed};
use crate::forge::words::TaskStatus;
use crate::forge::{catch_up, difference, ids};

/// Whether nothing more is done for a task.
fn is_settled(status: TaskStatus) -> bool {
    match status {
        TaskStatus::Done | TaskStatus::Failed | TaskStatus::Cancelled => true,
        TaskStatus::Pending | TaskStatus::Implementing => false,
    }
}

/// Why an importer that is not a person does not change a task of the log, if so: it is settled, or a person's, of which
/// the import says no more than how far it is.
fn held(
    logged: &ForgeTask,
    file: &ForgeTask,
    differs: &[&str],
    is_a_persons: bool,
) -> Option<String> {
    if is_settled(logged.status) {
        return Some(format!("is {} in the log", logged.status.as_str()));
    }
    let is_more = differs.iter().any(|field| *field != "status");
    if is_a_persons && (is_more || file.status == TaskStatus::Cancelled) {
        return Some("was imported by a person".to_owned());
    }
    None
}

/// A task of a file.
struct OfTask<'f> {
    path: &'f Path,
    line: u64,
    is_new: bool,
}

/// A task with the ids that its names stand for.
struct Identified<'f> {
    id: TaskId,
    intent: IntentId,
    task: &'f ForgeTask,
    needed: Vec<TaskId>,
}

impl Import<'_> {
    /// Records the tasks that are not in the log, and brings on those that are.
    pub(super) async fn tasks(&mut self, source: &Source) -> Result<(), ForgeFolderError> {
        let mut queue = Queue::new(self.annals, self.taking);
        for file in &source.tasks {
            self.shown.file();
            if let Some(intent) = self.intent_of_tasks(file, source).await? {
                self.tasks_of(file, intent, &mut queue).await?;
            }
        }
        queue.flush().await?;
        for (of, became) in queue.take_done() {
            match became {
                Became::Recorded(events) => {
                    self.recorded(events);
                    let counts = &mut self.counts;
                    *if of.is_new {
                        &mut counts.tasks
                    } else {
                        &mut counts.brought_on
                    } += 1;
                }
                Became::Unfit(error) => self.unfit(of.path, of.line, &error),
            }
        }
        Ok(())
    }

    /// The intent that a file of tasks is about.
    async fn intent_of_tasks(
        &mut self,
        file: &TasksFile,
        source: &Source,
    ) -> Result<Option<IntentId>, ForgeFolderError> {
        let name = &file.file.name;
        if let Some(known) = self.known.get(name) {
            return Ok(Some(known.id));
        }
        let is_bad = source.bad_intents.contains(name)
            || source.intents.iter().any(|it| it.file.name == *name);
        let found = known_as(self.annals, &self.ids, name).await?;
        if let Some(object) = found.filter(|object| object.kind == Kind::Intent && !is_bad) {
            let id = IntentId(object.id);
            let logged = logged::intent(self.annals, id).await?;
            let is_of_folder = self.is_of_folder(id.stream()).await?;
            let known = Known::of(id, &logged, is_of_folder);
            self.known.insert(name.clone(), known);
            return Ok(Some(id));
        }
        self.report.records_read += file.tasks.tasks.len() as u64;
        let reason = match is_bad {
            true => format!("the file of their intent {name:?} has to be corrected first"),
            false => format!(
                "these are tasks of {name:?}, and there is no such intent; add \
                 intents/{name}.yaml or rename the file"
            ),
        };
        self.broken(file.file.path(), 1, reason);
        Ok(None)
    }

    async fn tasks_of<'f>(
        &mut self,
        file: &'f TasksFile,
        intent: IntentId,
        queue: &mut Queue<'_, OfTask<'f>>,
    ) -> Result<(), ForgeFolderError> {
        let path = file.file.path();
        let (good, wrong) = sound(&file.tasks);
        let all = file.tasks.errors.len() + file.tasks.tasks.len();
        self.report.records_read += all as u64;
        for error in file.tasks.errors.iter().chain(&wrong) {
            self.broken(path, error.line().unwrap_or(1), error.to_string());
        }
        let good = good.iter().filter_map(|at| file.tasks.tasks.get(*at));
        let good: Vec<&Placed> = good.collect();
        if file.tasks.errors.is_empty() && wrong.is_empty() {
            self.name_missing(file, &good);
        }
        let names = self.identify(&file.file.name, intent, &good).await?;
        let ties = self.ties(file, &good, &names).await?;
        let takes_work =
            self.trusted == Trusted::Persons || self.annals.imports().takes_work(intent).await?;
        for placed in good {
            let Some(id) = names.get(&placed.task.id).copied() else {
                continue;
            };
            let held = match takes_work {
                true => None,
                false => self.hold_task(&placed.task, id).await?,
            };
            let task = match &held {
                Some((task, reason)) => {
                    self.passed_over(path, reason.clone());
                    task
                }
                None => &placed.task,
            };
            let needed = placed.task.depends_on.iter();
            let of = Identified {
                id,
                intent,
                task,
                needed: needed.filter_map(|name| names.get(name).copied()).collect(),
            };
            let line = placed.at.line.unwrap_or(1);
            let tie = ties.reason(id);
            match self.annals.index().place(id.0).await? {
                Some(_) => {
                    queue
                        .push_all(self.task_again(path, line, of, tie).await?)
                        .await?
                }
                None if tie.is_some() => self.refuse(path, line, of.task, tie),
                None => queue.push(self.new_task(path, line, of)).await?,
            }
        }
        Ok(())
    }

    /// Names tasks that the log has and the file has not.
    fn name_missing(&mut self, file: &TasksFile, good: &[&Placed]) {
        let there: HashSet<&str> = good.iter().map(|it| it.task.id.as_str()).collect();
        let known = self.known.get(&file.file.name);
        let known = known.into_iter().flat_map(|known| known.tasks.keys());
        let mut missing: Vec<String> = known
            .filter(|name| !there.contains(name.as_str()))
            .map(|name| format!("{name:?}"))
            .collect();
        if !missing.is_empty() {
            missing.sort();
            let reason = format!(
                "the log has more tasks of this intent, which stay: {}",
                missing.join(", ")
            );
            self.passed_over(file.file.path(), reason);
        }
    }

    /// The ids of an intent's tasks by their names, also of those that are not in the
    /// log yet.
    async fn identify(
        &mut self,
        name: &str,
        intent: IntentId,
        good: &[&Placed],
    ) -> Result<HashMap<String, TaskId>, ForgeFolderError> {
        let known = self.known.get(name);
        let mut names = known.map(|known| known.tasks.clone()).unwrap_or_default();
        for placed in good {
            let name = &placed.task.id;
            if !names.contains_key(name) {
                let id = self.task_id(intent, name).await?;
                names.insert(name.clone(), id);
            }
        }
        if let Some(known) = self.known.get_mut(name) {
            known.tasks.clone_from(&names);
        }
        Ok(names)
    }

    /// The id of a task whose name no task of its intent in the log has. A name that is
    /// an id is that of the task, unless something else has it.
    async fn task_id(&mut self, intent: IntentId, name: &str) -> Result<TaskId, ForgeFolderError> {
        let derived = self.ids.task(intent, name);
        let Some(spelled) = ids::spelled(name).map(TaskId) else {
            return Ok(derived);
        };
        let is_ours = match self.annals.index().place(spelled.0).await? {
            None => self.claimed.insert(spelled),
            Some((Kind::Task, _)) => {
                let view = self
                    .annals
                    .inbox()
                    .forge_task(spelled, annals::At::Now)
                    .await?;
                view.intent == Some(intent)
            }
            Some(_) => false,
        };
        Ok(if is_ours { spelled } else { derived })
    }

    /// Names a task that is not taken as its file has it.
    fn refuse(&mut self, path: &Path, line: u64, task: &ForgeTask, tie: Option<&str>) {
        let why = tie.unwrap_or_default();
        let reason = format!("its task {:?} is not taken: {why}", task.id);
        self.broken(path, line, reason);
    }

    fn new_task<'f>(&self, path: &'f Path, line: u64, of: Identified<'_>) -> Unit<OfTask<'f>> {
        let mut events = facts::task(of.id, of.intent, of.task, of.needed, self.taking);
        events.push(facts::task_added(of.intent, of.id));
        let is_new = true;
        Unit {
            events,
            heads: vec![(of.id.stream(), Version::NONE)],
            about: OfTask { path, line, is_new },
        }
    }

    /// A task that is in the log already: it is taken over again, if its file says
    /// something else now.
    async fn task_again<'f>(
        &mut self,
        path: &'f Path,
        line: u64,
        of: Identified<'_>,
        tie: Option<&str>,
    ) -> Result<Option<Unit<OfTask<'f>>>, ForgeFolderError> {
        let head = self.annals.log().head(&stream_name(of.id.stream())).await;
        let head = head.map_err(LoadError::from)?;
        let logged = logged::task(self.annals, of.id, &of.task.intent_id).await?;
        let differs = difference::of_tasks(&logged.task, of.task);
        if differs.is_empty() {
            self.report.already_there += 1;
            return Ok(None);
        }
        let course = catch_up::course(self.annals, of.id.stream()).await?;
        if !course.is_followed {
            let why = in_log(&differs, CHANGED_HERE);
            self.passed_over(path, format!("its task {:?}: {why}", of.task.id));
            return Ok(None);
        }
        if self.trusted == Trusted::Nobody
            && let Some(held) = held(&logged.task, of.task, &differs, course.is_a_persons)
        {
            let reason = format!(
                "its task {:?} {held}, which only a person changes: let a person import it",
                of.task.id
            );
            self.passed_over(path, reason);
            return Ok(None);
        }
        let is_turned_down = logged
            .reviews
            .last()
            .is_some_and(|review| review.verdict == ReviewVerdict::Rejected);
        if self.trusted == Trusted::Nobody
            && of.task.status == TaskStatus::Done
            && is_turned_down
            && catch_up::has_persons_review(self.annals, of.id.stream()).await?
        {
            let reason = format!(
                "its task {:?} is done against a person's review of it, which only a person overrules: let a person import it",
                of.task.id
            );
            self.passed_over(path, reason);
            return Ok(None);
        }
        if tie.is_some() {
            self.refuse(path, line, of.task, tie);
            return Ok(None);
        }
        let mut events = facts::task(of.id, of.intent, of.task, of.needed, self.taking);
        // What was taken over again has no reviews yet.
        let reviews = logged.reviews.iter();
        events.extend(reviews.map(|review| facts::review(of.id, review)));
        let is_new = false;
        Ok(Some(Unit {
            events,
            heads: vec![(of.id.stream(), head)],
            about: OfTask { path, line, is_new },
        }))
    }
}

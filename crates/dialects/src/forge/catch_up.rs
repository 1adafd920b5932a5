//! What happened to an intent since its file was imported, as far as its file now
//! says more.

use annals::domain::intent::{Cancelled, Completed, ExecutionStarted, Rejected};
use annals::domain::{ActorKind, ActorRef, Dialect, Emitted, IntentId, Pieces, StreamRef};
use annals::{Annals, CameFrom, LoadError, ViewError};

use super::difference;
use super::facts::{self, FileRules, emitted};
use super::intent::ForgeIntent;
use super::words::IntentStatus;

/// Who records what a folder says.
pub(super) const IMPORTER: &str = "forge";

/// What happened to an object so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Course {
    /// Whether it came from a folder and only imports of folders changed it. A file does not take back what
    /// was decided in this log.
    pub(super) is_followed: bool,
    /// Whether work on it was begun; an intent may look so because all of its parts
    /// are settled.
    pub(super) is_begun: bool,
    /// Whether a person may have imported any of it.
    pub(super) is_a_persons: bool,
}

/// Whether an object of the log came from a folder. Who did something to it does not say so: in whose name
/// events are recorded, others may choose.
pub(super) async fn is_of_folder(annals: &Annals, stream: StreamRef) -> Result<bool, LoadError> {
    let origin = annals.imports().came_from(stream).await?;
    Ok(origin == CameFrom::Adopted(Dialect::Forge))
}

/// What happened so far to the object that a stream is of.
pub(super) async fn course(annals: &Annals, stream: StreamRef) -> Result<Course, ViewError> {
    let is_of_folder = is_of_folder(annals, stream).await?;
    let history = annals.history(stream.id).await?;
    let mut actors = history.iter().map(|entry| &entry.actor);
    let is_a_persons = history.iter();
    let is_a_persons = is_a_persons
        .map(|entry| &entry.actor)
        .any(ActorRef::may_be_imported_by_a_person);
    let mut names = history.iter().map(|entry| entry.event_type);
    Ok(Course {
        is_followed: is_of_folder
            && actors.all(|it| it.kind == ActorKind::System && it.id == IMPORTER),
        is_a_persons,
        is_begun: names.any(|name| name == "intent.execution_started"),
    })
}

/// Whether a person, or an import that may be a person's, reviewed a task.
pub(super) async fn has_persons_review(
    annals: &Annals,
    stream: StreamRef,
) -> Result<bool, ViewError> {
    let history = annals.history(stream.id).await?;
    let mut reviews = history
        .iter()
        .filter(|entry| entry.event_type == "task.review_recorded");
    Ok(reviews.any(|entry| entry.actor.may_be_imported_by_a_person()))
}

/// How far an intent has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Proposed,
    Approved,
    /// It was begun; the rest follows from its tasks.
    Begun,
    Over,
}

fn stage(status: IntentStatus) -> Stage {
    match status {
        IntentStatus::Proposed => Stage::Proposed,
        IntentStatus::Approved => Stage::Approved,
        IntentStatus::Executing
        | IntentStatus::Done
        | IntentStatus::Blocked
        | IntentStatus::Error => Stage::Begun,
        IntentStatus::Rejected | IntentStatus::Cancelled => Stage::Over,
    }
}

/// What leads from what the log has of an intent to what its file says, and the
/// fields that nothing leads on.
pub(super) fn of_intent(
    id: IntentId,
    logged: &ForgeIntent,
    file: &ForgeIntent,
    has_parts: bool,
    rules: FileRules,
    course: Course,
) -> (Vec<Emitted>, Vec<&'static str>) {
    let mut stuck = difference::of_intents(logged, file);
    stuck.retain(|field| !["status", "type", "risk", "clarifications"].contains(field));
    let mut events = Vec::new();
    match classified(id, logged, file, rules) {
        Ok(more) => events.extend(more),
        Err(field) => stuck.push(field),
    }
    let mut now = stage(logged.status);
    // What its tasks say already does not begin it.
    if now == Stage::Begun && !course.is_begun && logged.status != file.status {
        now = Stage::Approved;
    }
    match questions(id, logged, file) {
        Ok(asked) => {
            // The last answer takes an executing intent back.
            if asked.all_answered && now == Stage::Begun {
                now = Stage::Approved;
            }
            events.extend(asked.events);
        }
        Err(()) => stuck.push("clarifications"),
    }
    match staged(id, now, logged.status, (file, rules.goes_on), has_parts) {
        Some(more) => events.extend(more),
        None => stuck.push("status"),
    }
    (events, stuck)
}

fn classified(
    id: IntentId,
    logged: &ForgeIntent,
    file: &ForgeIntent,
    rules: FileRules,
) -> Result<Option<Emitted>, &'static str> {
    if logged.work_type.is_some() && file.work_type.is_none() {
        return Err("type");
    }
    if logged.risk.is_some() && file.risk.is_none() {
        return Err("risk");
    }
    let work_type = file.work_type.clone();
    let work_type = work_type.filter(|_| file.work_type != logged.work_type);
    let risk = file.risk.filter(|_| file.risk != logged.risk);
    Ok(facts::classified(id, work_type, risk, rules))
}

struct Asked {
    events: Vec<Emitted>,
    /// Whether something was answered and nothing waits for an answer now.
    all_answered: bool,
}

/// New questions and answers. What was asked or answered before must be the same.
fn questions(id: IntentId, logged: &ForgeIntent, file: &ForgeIntent) -> Result<Asked, ()> {
    let (before, now) = (&logged.clarifications, &file.clarifications);
    let new = now.get(before.len()..).ok_or(())?;
    let mut events: Vec<Emitted> = facts::asked(id, new).into_iter().collect();
    let mut answers = 0;
    for (number, asked) in (0u32..).zip(now) {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let old = before.get(place);
        let is_same =
            old.is_none_or(|old| old.question == asked.question && old.extra == asked.extra);
        let was_answered = old.is_some_and(|old| old.is_answered());
        let is_plain = asked.is_answered() || asked.answer.is_none();
        let kept = match old {
            Some(old) => old.answer == asked.answer || (!was_answered && asked.is_answered()),
            None => is_plain && asked.extra.is_empty(),
        };
        if !is_same || !kept {
            return Err(());
        }
        if asked.is_answered() && !was_answered {
            answers += 1;
            events.push(facts::answered(id, number, asked));
        }
    }
    Ok(Asked {
        all_answered: answers > 0 && !file.needs_clarification(),
        events,
    })
}

/// What leads from one stage to that of a status; nothing, where it is behind.
fn staged(
    id: IntentId,
    now: Stage,
    logged: IntentStatus,
    (intent, goes_on): (&ForgeIntent, bool),
    has_parts: bool,
) -> Option<Vec<Emitted>> {
    let file = intent.status;
    if stage(logged) == Stage::Over {
        return (logged == file).then(Vec::new);
    }
    if stage(file) < now {
        return None;
    }
    let mut events = Vec::new();
    match file {
        IntentStatus::Rejected => {
            events.push(emitted(id, Rejected::new(None), Pieces::new()));
        }
        IntentStatus::Cancelled => {
            events.push(emitted(id, Cancelled::new(None), Pieces::new()));
        }
        _ => {
            if now == Stage::Proposed && stage(file) > Stage::Proposed {
                events.push(facts::approved(id, intent.risk.filter(|_| goes_on)));
                events.push(facts::activated(id));
            }
            if now < Stage::Begun && stage(file) == Stage::Begun {
                events.push(emitted(id, ExecutionStarted {}, Pieces::new()));
            }
            // Nothing else says so.
            if file == IntentStatus::Done && logged != IntentStatus::Done && !has_parts {
                events.push(emitted(id, Completed::new(None), Pieces::new()));
            }
        }
    }
    Some(events)
}

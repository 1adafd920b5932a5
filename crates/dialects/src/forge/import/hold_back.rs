//! Agents' files approve nothing, answer nothing and end nothing that a person asked for, regardless of what is in them.

use std::collections::HashMap;

use annals::At;
use annals::domain::intent::{ApprovalStatus, Risk, RiskBasis, Source as IntentSource};
use annals::domain::settings::State;
use annals::domain::{IntentId, Kind, TaskId};
use annals::projections::ForgeIntentView;

use super::{Import, Trusted};
use crate::forge::folder::ForgeFolderError;
use crate::forge::intent::ForgeIntent;
use crate::forge::logged;
use crate::forge::names::known_as;
use crate::forge::source::Source;
use crate::forge::task::ForgeTask;
use crate::forge::words::{IntentStatus, TaskStatus};
use crate::report::counted;

/// What a file says that does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HeldBack {
    /// That the intent was let go.
    pub(super) status: Option<IntentStatus>,
    /// That its risk is lower, and the one that counts; none where the log has no risk.
    risk: Option<(Risk, Option<Risk>)>,
    /// That work on it began, which waits for answers or for other intents.
    begun: Option<IntentStatus>,
    /// Answers to open questions.
    answers: usize,
}

impl HeldBack {
    /// In words, why the intent is not as its file says.
    pub(super) fn remarks(self) -> impl Iterator<Item = String> {
        let status = self.status.map(|said| {
            let what = match is_end(said) {
                true => "end what a person asked for",
                false => "approve it",
            };
            let said = said.as_str();
            format!(
                "its file says {said}, and an agent's own word does not {what}: it waits for a person"
            )
        });
        let answers = (self.answers > 0).then(|| {
            format!(
                "its file has {}, which a person gives: `annals intent answer`, or an import by a person",
                counted(
                    self.answers as u64,
                    "answer to an open question",
                    "answers to open questions"
                )
            )
        });
        let risk = self.risk.map(|(said, counts)| {
            let (said, counts) = (said.as_str(), counts.map_or("no risk", Risk::as_str));
            format!(
                "its file says {said}, and the log has the risk {counts}, which counts: a lower one is judged by \
                 a person who did not ask for it"
            )
        });
        let begun = self.begun.map(|said| {
            let said = said.as_str();
            format!(
                "its file says {said}, and work on it, or on what it is a part of, waits for an approval, answers or \
                 other intents: an agent's word does not begin it"
            )
        });
        let more = risk.into_iter().chain(begun);
        status.into_iter().chain(more).chain(answers)
    }
}

/// Whether a status says that nothing more is wanted.
fn is_end(status: IntentStatus) -> bool {
    matches!(status, IntentStatus::Rejected | IntentStatus::Cancelled)
}

/// Whether a status says that work began.
fn is_begun(status: IntentStatus) -> bool {
    matches!(
        status,
        IntentStatus::Executing | IntentStatus::Done | IntentStatus::Blocked | IntentStatus::Error
    )
}

/// Takes answers out that the log does not have; how many.
fn hold_answers(intent: &mut ForgeIntent, known: Option<&ForgeIntentView>) -> usize {
    let mut held = 0;
    for (place, asked) in intent.clarifications.iter_mut().enumerate() {
        let logged = known.and_then(|known| known.clarifications.get(place));
        let is_in_log = logged.is_some_and(|logged| logged.answer.is_some());
        if asked.is_answered() && !is_in_log {
            asked.answer = None;
            held += 1;
        }
    }
    held
}

/// Takes a lower risk than the log has for that one, and one where it has none for none: a lower one than medium is an
/// approval then.
fn hold_risk(intent: &mut ForgeIntent, known: &ForgeIntentView) -> Option<(Risk, Option<Risk>)> {
    let before = known.risk;
    let is_lower = match intent.risk {
        Some(risk) => risk < before.unwrap_or(Risk::Med),
        None => before.is_some(),
    };
    if !is_lower {
        return None;
    }
    // One that says no risk says nothing else.
    let said = intent.risk.map(|said| (said, before));
    intent.risk = before;
    said
}

/// Takes the end of an intent back that the log does not have.
fn hold_end(intent: &mut ForgeIntent, known: Option<&ForgeIntentView>) -> Option<IntentStatus> {
    let logged = known.map_or(IntentStatus::Proposed, |known| logged::status(known.status));
    let said = intent.status;
    // To be done would close its questions.
    let asks = known.is_some_and(|known| known.needs_clarification);
    let ends = is_end(said) || (asks && said == IntentStatus::Done);
    (ends && said != logged).then(|| {
        intent.status = logged;
        said
    })
}

/// Takes what was let go for proposed, where neither an agent's low risk nor the log lets it go on.
fn hold_approval(
    intent: &mut ForgeIntent,
    is_persons: bool,
    settings: &State,
) -> Option<IntentStatus> {
    let said = intent.status;
    let says_so = said != IntentStatus::Proposed && !is_end(said);
    let is_low = |risk| settings.approves(risk, RiskBasis::Declared);
    // A low risk lets an agent's own work go on, and not what a person asked for.
    if says_so && (is_persons || !intent.risk.is_some_and(is_low)) {
        intent.status = IntentStatus::Proposed;
        return Some(said);
    }
    None
}

impl Import<'_> {
    /// Takes back what files say that are not trusted: that an intent was let go (it is proposed then), that a person's
    /// is not wanted any more, and answers. Nothing that an agent writes says so. The answer is what they said, by
    /// the files' names.
    pub(super) async fn hold_back(
        &self,
        source: &mut Source,
        settings: &State,
        trusted: Trusted,
    ) -> Result<HashMap<String, HeldBack>, ForgeFolderError> {
        let mut held = HashMap::new();
        for file in &mut source.intents {
            let id = self.id_of(&file.file.name).await?;
            let known = match self.annals.index().place(id).await? {
                Some((Kind::Intent, _)) => {
                    Some(self.annals.inbox().forge_intent(id, At::Now).await?)
                }
                _ => None,
            };
            let known = known.as_ref();
            // What the log has of it counts more than what the file says by now.
            let of = known.map_or(file.intent.source, |known| known.source);
            let is_persons = of == IntentSource::Human;
            file.is_persons = is_persons;
            if is_persons && trusted == Trusted::Persons {
                continue;
            }
            let answers = hold_answers(&mut file.intent, known);
            let risk = known.and_then(|known| hold_risk(&mut file.intent, known));
            // Of what the log has it is not known who asked for it.
            let end = match is_persons || known.is_some() {
                true => hold_end(&mut file.intent, known),
                false => None,
            };
            let is_settled = known.is_some_and(|it| it.status != ApprovalStatus::Proposed);
            let approval = match is_settled {
                true => None,
                false => hold_approval(&mut file.intent, is_persons, settings),
            };
            let begun = self.hold_begun(&mut file.intent, id, known).await?;
            // What its file says was let go is let go by its risk, and so by the system.
            file.goes_on = trusted == Trusted::Nobody
                && !is_settled
                && file.intent.status != IntentStatus::Proposed
                && !is_end(file.intent.status);
            let back = HeldBack {
                status: approval.or(end),
                risk,
                begun,
                answers,
            };
            if back != HeldBack::default() {
                held.insert(file.file.name.clone(), back);
            }
        }
        Ok(held)
    }

    /// Takes back that work began or ended on an intent that takes none: it, or what it is a part of, was turned down or waits
    /// for an approval, answers or other intents. Of an intent that the log has, its whole in the log counts.
    async fn hold_begun(
        &self,
        intent: &mut ForgeIntent,
        id: IntentId,
        known: Option<&ForgeIntentView>,
    ) -> Result<Option<IntentStatus>, ForgeFolderError> {
        let said = intent.status;
        let logged = known.map(|known| logged::status(known.status));
        if !is_begun(said) || logged == Some(said) {
            return Ok(None);
        }
        let takes_work = match known {
            Some(known) if known.status != ApprovalStatus::Proposed => {
                self.annals.imports().takes_work(id).await?
            }
            Some(known) => !self.waits(known).await? && self.takes_part(known.child_of).await?,
            None => {
                let parent = match &intent.parent {
                    Some(name) => Some(self.id_of(name).await?),
                    None => None,
                };
                self.takes_part(parent).await?
            }
        };
        if takes_work {
            return Ok(None);
        }
        // To begin the work is held back, not the approval.
        let logged = logged.filter(|it| *it != IntentStatus::Proposed);
        intent.status = logged.unwrap_or(IntentStatus::Approved);
        Ok(Some(said))
    }

    /// Whether work on a part of an intent may begin. A whole that is not there yet is proposed by the same importer.
    async fn takes_part(&self, whole: Option<IntentId>) -> Result<bool, ForgeFolderError> {
        let Some(whole) = whole else {
            return Ok(true);
        };
        let is_there = matches!(
            self.annals.index().place(whole).await?,
            Some((Kind::Intent, _))
        );
        Ok(is_there && self.annals.imports().takes_work(whole).await?)
    }

    /// Takes back that work began on a task whose intent takes no work: the task as it counts, and why; nothing, where the
    /// file's counts.
    pub(super) async fn hold_task(
        &self,
        task: &ForgeTask,
        id: TaskId,
    ) -> Result<Option<(ForgeTask, String)>, ForgeFolderError> {
        let said = task.status;
        let is_begun = !matches!(said, TaskStatus::Pending | TaskStatus::Cancelled);
        if !is_begun {
            return Ok(None);
        }
        let status = match self.annals.index().place(id).await? {
            Some((Kind::Task, _)) => {
                let logged = logged::task(self.annals, id, &task.intent_id).await?;
                logged.task.status
            }
            _ => TaskStatus::Pending,
        };
        let held = ForgeTask {
            status,
            ..task.clone()
        };
        let reason = format!(
            "its task {:?}: its file says {}, and its intent was turned down, waits for an approval, answers or other \
             intents, or has work that a person rejected: an agent's word does not begin work on it",
            task.id,
            said.as_str()
        );
        Ok((status != said).then_some((held, reason)))
    }

    /// Whether a question of an intent is open, or an intent that it depends on is not done.
    async fn waits(&self, known: &ForgeIntentView) -> Result<bool, ForgeFolderError> {
        if known.needs_clarification {
            return Ok(true);
        }
        for name in &known.depends_on {
            let Some(object) = known_as(self.annals, &self.ids, name).await? else {
                return Ok(true);
            };
            let status = self.annals.inbox().status(IntentId(object.id)).await?;
            if status != ApprovalStatus::Done {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

//! Agents' files approve nothing, answer nothing and end nothing that a person asked for, regardless of what is in them.

use std::collections::HashMap;

use annals::At;
use annals::domain::Kind;
use annals::domain::intent::{ApprovalStatus, Risk, RiskBasis, Source as IntentSource};
use annals::domain::settings::State;
use annals::projections::ForgeIntentView;

use super::{Import, Trusted};
use crate::forge::folder::ForgeFolderError;
use crate::forge::intent::ForgeIntent;
use crate::forge::logged;
use crate::forge::source::Source;
use crate::forge::words::IntentStatus;
use crate::report::counted;

/// What a file says that does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HeldBack {
    /// That the intent was let go.
    pub(super) status: Option<IntentStatus>,
    /// That its risk is lower, and the one that counts.
    risk: Option<(Risk, Risk)>,
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
                "its file has {}, which a person gives: `annals answer`, or an import by a person",
                counted(
                    self.answers as u64,
                    "answer to an open question",
                    "answers to open questions"
                )
            )
        });
        let risk = self.risk.map(|(said, counts)| {
            let (said, counts) = (said.as_str(), counts.as_str());
            format!(
                "its file says {said}, and the log has the risk {counts}, which counts: a lower one is judged by \
                 a person who did not ask for it"
            )
        });
        status.into_iter().chain(risk).chain(answers)
    }
}

/// Whether a status says that nothing more is wanted.
fn is_end(status: IntentStatus) -> bool {
    matches!(status, IntentStatus::Rejected | IntentStatus::Cancelled)
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

/// Takes the end of an intent back that the log does not have.
fn hold_end(intent: &mut ForgeIntent, known: Option<&ForgeIntentView>) -> Option<IntentStatus> {
    let logged = known.map_or(IntentStatus::Proposed, |known| logged::status(known.status));
    let said = intent.status;
    (is_end(said) && said != logged).then(|| {
        intent.status = logged;
        said
    })
}

/// Takes a lower risk than the log has for that one, and what was let go for proposed, where neither an agent's low
/// risk nor the log lets it go on.
fn hold_approval(
    intent: &mut ForgeIntent,
    known: Option<&ForgeIntentView>,
    is_persons: bool,
    settings: &State,
) -> HeldBack {
    let mut back = HeldBack::default();
    let before = known.and_then(|known| known.risk);
    let is_lower = |before| intent.risk.is_none_or(|risk| risk < before);
    if let Some(before) = before.filter(|before| is_lower(*before)) {
        // One that says no risk says nothing else.
        back.risk = intent.risk.map(|said| (said, before));
        intent.risk = Some(before);
    }
    let said = intent.status;
    let says_so = said != IntentStatus::Proposed && !is_end(said);
    let is_low = |risk| settings.approves(risk, RiskBasis::Declared);
    // A low risk lets an agent's own work go on, and not what a person asked for.
    if says_so && (is_persons || !intent.risk.is_some_and(is_low)) {
        intent.status = IntentStatus::Proposed;
        back.status = Some(said);
    }
    back
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
            let end = match is_persons {
                true => hold_end(&mut file.intent, known),
                false => None,
            };
            let is_settled = known.is_some_and(|it| it.status != ApprovalStatus::Proposed);
            let mut back = match is_settled {
                true => HeldBack::default(),
                false => hold_approval(&mut file.intent, known, is_persons, settings),
            };
            // What its file says was let go is let go by its risk, and so by the system.
            file.goes_on = trusted == Trusted::Nobody
                && !is_settled
                && file.intent.status != IntentStatus::Proposed
                && !is_end(file.intent.status);
            back.answers = answers;
            back.status = back.status.or(end);
            if back != HeldBack::default() {
                held.insert(file.file.name.clone(), back);
            }
        }
        Ok(held)
    }
}

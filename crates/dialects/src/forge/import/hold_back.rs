//! Agents' files approve nothing, regardless of the status in them.

use std::collections::HashMap;

use annals::At;
use annals::domain::Kind;
use annals::domain::intent::{ApprovalStatus, Risk, RiskBasis, Source as IntentSource};
use annals::domain::settings::State;

use super::{Import, Trusted};
use crate::forge::folder::ForgeFolderError;
use crate::forge::source::Source;
use crate::forge::words::IntentStatus;

/// What a file says that does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HeldBack {
    /// That the intent was let go.
    pub(super) status: Option<IntentStatus>,
    /// That its risk is lower, and the one that counts.
    risk: Option<(Risk, Risk)>,
}

impl HeldBack {
    /// In words, why the intent is not as its file says.
    pub(super) fn remarks(self) -> impl Iterator<Item = String> {
        let status = self.status.map(|said| {
            format!(
                "its file says {}, and an agent's own word does not approve it: it waits for a person",
                said.as_str()
            )
        });
        let risk = self.risk.map(|(said, counts)| {
            let (said, counts) = (said.as_str(), counts.as_str());
            format!(
                "its file says {said}, and the log has the risk {counts}, which counts: a lower one is judged by \
                 a person who did not ask for it"
            )
        });
        status.into_iter().chain(risk)
    }
}

impl Import<'_> {
    /// Takes for proposed what files say was let go that are not trusted, where neither an agent's low
    /// risk nor the log lets it go on: nothing that an agent writes approves it. The answer is
    /// what they said, by the files' names.
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
            // What the log has of it counts more than what the file says by now.
            let of = known
                .as_ref()
                .map_or(file.intent.source, |known| known.source);
            let is_settled = known
                .as_ref()
                .is_some_and(|known| known.status != ApprovalStatus::Proposed);
            let is_persons = of == IntentSource::Human;
            file.is_persons = is_persons;
            if is_persons && trusted == Trusted::Persons || is_settled {
                continue;
            }
            let before = known.and_then(|known| known.risk);
            let is_lower = |before| file.intent.risk.is_none_or(|risk| risk < before);
            let mut back = HeldBack::default();
            if let Some(before) = before.filter(|before| is_lower(*before)) {
                // One that says no risk says nothing else.
                back.risk = file.intent.risk.map(|said| (said, before));
                file.intent.risk = Some(before);
            }
            let said = file.intent.status;
            let says_so = !matches!(
                said,
                IntentStatus::Proposed | IntentStatus::Rejected | IntentStatus::Cancelled
            );
            let is_low = |risk| settings.approves(risk, RiskBasis::Declared);
            // A low risk lets an agent's own work go on, and not what a person asked for.
            if says_so && (is_persons || !file.intent.risk.is_some_and(is_low)) {
                file.intent.status = IntentStatus::Proposed;
                back.status = Some(said);
            }
            if back != HeldBack::default() {
                held.insert(file.file.name.clone(), back);
            }
        }
        Ok(held)
    }
}

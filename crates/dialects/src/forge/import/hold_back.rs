//! Agents' files approve nothing, whatever status they say.

use std::collections::HashMap;

use annals::At;
use annals::domain::Kind;
use annals::domain::intent::{ApprovalStatus, RiskBasis, Source as IntentSource};
use annals::domain::settings::State;

use super::Import;
use crate::forge::folder::ForgeFolderError;
use crate::forge::source::Source;
use crate::forge::words::IntentStatus;

/// Why an intent whose file says that it was let go is proposed all the same.
pub(super) fn waits_for_a_person(said: IntentStatus) -> String {
    format!(
        "its file says {}, and an agent's own word does not approve it: it waits for a person",
        said.as_str()
    )
}

/// Whose files are taken at their word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trusted {
    /// Those that say that a person wrote them.
    Persons,
    /// Nobody's: who reads the folder is no person, and may have written any of them.
    Nobody,
}

impl Import<'_> {
    /// Takes for proposed what files say was let go that are not trusted, where neither an agent's low
    /// risk nor the log lets it go on: whatever an agent writes, it approves nothing. The answer is
    /// what they said.
    pub(super) async fn hold_back(
        &self,
        source: &mut Source,
        settings: &State,
        trusted: Trusted,
    ) -> Result<HashMap<String, IntentStatus>, ForgeFolderError> {
        let mut held = HashMap::new();
        for file in &mut source.intents {
            let id = self.id_of(&file.file.name).await?;
            let known = match self.annals.place(id).await? {
                Some((Kind::Intent, _)) => Some(self.annals.forge_intent(id, At::Now).await?),
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
            if before.is_some_and(is_lower) {
                file.intent.risk = before;
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
                held.insert(file.file.name.clone(), said);
            }
        }
        Ok(held)
    }
}

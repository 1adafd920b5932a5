//! Events of intents: prompts that an agent's hooks told live.

use annals_domain::metadata::MetadataSet;
use annals_domain::{Kind, StreamKind, intent};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::task::AgentsNames;
use super::{Done, Fold};
use crate::sessions::row::{self, NAME, NameRow, TOLD, ToldPrompt};
use crate::sessions::title::{TitleRank, title_of};

/// Prompts that wait for their session, at most.
const WAITING: usize = 1_000;

/// The row of a prompt that was told live: the mark of its session's name.
#[derive(Debug, Serialize, Deserialize)]
struct ToldRow {
    name: [u8; 16],
}

impl Fold<'_, '_> {
    pub(super) async fn of_intent(&mut self, id: Uuid, event: &intent::Event) -> Done {
        match event {
            intent::Event::MetadataSet(event) => self.told_prompt(id, event).await,
            intent::Event::Analyzed(event) => {
                let text = self.entry.text(event.content).to_string();
                self.told_text(id, &text).await
            }
            // No other event of an intent is read.
            _ => Ok(()),
        }
    }

    /// Counts a prompt that has a name of the agent's, but no line of a recording.
    async fn told_prompt(&mut self, id: Uuid, event: &MetadataSet) -> Done {
        let is_own = event.kind == Kind::Intent.number() && event.object == id;
        let names = event.external_ids.as_deref().filter(|_| is_own);
        let names = names.and_then(|names| AgentsNames::of(self.entry, names));
        let is_told = |names: &AgentsNames| names.prompt.is_some() && names.line.is_none();
        let Some(names) = names.filter(is_told) else {
            return Ok(());
        };
        let key = row::key(TOLD, id);
        if self.rows.table.get_bytes(&key).await?.is_some() {
            return Ok(());
        }
        let name = names.mark();
        self.rows
            .table
            .put_bytes(&key, row::write(&ToldRow { name })?);
        let entry = self.entry;
        let key = row::by_mark(NAME, &name);
        let known: Option<NameRow> = row::get(self.rows.table, &key).await?;
        let mut known = known.unwrap_or_default();
        if let Some(session) = known.session {
            let session = self.rows.merged(session).await?;
            let session = self.rows.session(session).await?;
            session.note(entry, true);
            session.told(id, entry.occurred_at);
            session.add_stream(StreamKind::Intent, id);
            session.go_on(entry.agents_time());
        } else if known.told.len() < WAITING {
            known.told.push(ToldPrompt {
                intent: id,
                at: entry.occurred_at,
                position: entry.position.0,
                title: None,
            });
            self.rows.table.put_bytes(&key, row::write(&known)?);
        }
        Ok(())
    }

    /// Takes the title of a prompt that was told live.
    async fn told_text(&mut self, id: Uuid, text: &str) -> Done {
        let told: Option<ToldRow> = row::get(self.rows.table, &row::key(TOLD, id)).await?;
        let Some(ToldRow { name }) = told else {
            return Ok(());
        };
        let at = self.entry.agents_time();
        let key = row::by_mark(NAME, &name);
        let known: Option<NameRow> = row::get(self.rows.table, &key).await?;
        let Some(mut known) = known else {
            return Ok(());
        };
        if let Some(session) = known.session {
            let session = self.rows.merged(session).await?;
            self.rows.session(session).await?.offer_prompt(at, text);
        } else if let Some(told) = known.told.iter_mut().find(|told| told.intent == id) {
            let title = title_of(text);
            told.title = title.map(|(rank, title)| (rank == TitleRank::Weak, title));
            self.rows.table.put_bytes(&key, row::write(&known)?);
        }
        Ok(())
    }
}

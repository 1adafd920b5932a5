//! Events of tasks: their place in the tree, their names, their end.

use annals_domain::metadata::MetadataSet;
use annals_domain::{Kind, Slot, StreamKind, TaskId, task};
use uuid::Uuid;

use super::{Done, Fold};
use crate::Entry;
use crate::sessions::row::{self, NAME, NameRow};

/// What the names of external ids end with that make a task a session, and a sub-agent's session.
const SESSION_NAME: &str = ".session";
const SIDE_CHAIN: &str = ".side_chain";
/// The title of a recording without a prompt.
const NO_PROMPT: &str = "(no prompt)";

/// What an agent calls an object.
#[derive(Debug, Default)]
pub(super) struct AgentsNames {
    /// The agent's key.
    pub(super) agent: String,
    pub(super) session: Option<String>,
    pub(super) side_chain: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) line: Option<String>,
}

impl AgentsNames {
    /// The names of an agent's session, if the external ids have one.
    pub(super) fn of(entry: &Entry, names: &[(Slot, Slot)]) -> Option<AgentsNames> {
        let names = names.iter();
        let names: Vec<(String, String)> = names
            .map(|(name, id)| (entry.text(*name).to_string(), entry.text(*id).to_string()))
            .collect();
        let of_session = names
            .iter()
            .find_map(|(name, id)| Some((name.strip_suffix(SESSION_NAME)?, id)));
        let (agent, session) = of_session?;
        let named = |what: &str| {
            let mut names = names.iter();
            let is_it = |name: &str| name.strip_prefix(agent) == Some(what);
            names.find_map(|(name, id)| is_it(name).then(|| id.clone()))
        };
        Some(AgentsNames {
            agent: agent.to_owned(),
            session: Some(session.clone()),
            side_chain: named(SIDE_CHAIN),
            prompt: named(".prompt"),
            line: named(".line"),
        })
    }

    /// The mark of the session's name.
    pub(super) fn mark(&self) -> [u8; 16] {
        name_mark(&self.agent, self.session.as_deref().unwrap_or_default())
    }
}

/// The mark of the name that an agent has for a session.
pub(super) fn name_mark(agent: &str, session: &str) -> [u8; 16] {
    row::mark(&["name", agent, session])
}

impl Fold<'_, '_> {
    pub(super) async fn of_task(&mut self, id: Uuid, event: &task::Event) -> Done {
        match event {
            task::Event::Created(event) => {
                self.task(id, event.title, event.parent, event.intent.map(|it| it.0))
                    .await
            }
            task::Event::Adopted(task::Adopted { object, .. }) => match object {
                Some(it) => {
                    self.task(id, it.title, it.parent, it.intent.map(|it| it.0))
                        .await
                }
                None => Ok(()),
            },
            task::Event::MetadataSet(event) => self.names_of_task(id, event).await,
            task::Event::Done(_) => self.ended(id, false, Some("done".to_owned())).await,
            task::Event::Failed(event) => {
                let reason = self
                    .text(event.reason)
                    .or_else(|| Some("failed".to_owned()));
                self.ended(id, true, reason).await
            }
            task::Event::Cancelled(event) => {
                let reason = self.text(event.reason);
                let reason = reason.or_else(|| Some("cancelled".to_owned()));
                self.ended(id, false, reason).await
            }
            task::Event::ConstraintAdded(_)
            | task::Event::CriterionAdded(_)
            | task::Event::DependencyAdded(_)
            | task::Event::RunAdded(_)
            | task::Event::Started(_)
            | task::Event::Sealed(_)
            | task::Event::Planned(_)
            | task::Event::ReviewRecorded(_)
            | task::Event::Superseded(_)
            | task::Event::Redacted(_) => Ok(()),
        }
    }

    pub(super) fn text(&self, slot: Option<Slot>) -> Option<String> {
        slot.map(|slot| self.entry.text(slot).to_string())
    }

    async fn task(
        &mut self,
        id: Uuid,
        title: Slot,
        parent: Option<TaskId>,
        intent: Option<Uuid>,
    ) -> Done {
        let id = self.rows.merged(id).await?;
        self.rows.ensure(id).await?;
        let title = self.entry.text(title).to_string();
        let entry = self.entry;
        let session = self.rows.session(id).await?;
        session.note(entry, false);
        session.facts.task_title = Some(title).filter(|title| title != NO_PROMPT);
        let summary = &mut session.row.summary;
        summary.intent = summary.intent.or(intent);
        session.settle();
        self.rows
            .set_parent(id, parent.map(|parent| parent.0))
            .await
    }

    async fn names_of_task(&mut self, id: Uuid, event: &MetadataSet) -> Done {
        let is_own = event.kind == Kind::Task.number() && event.object == id;
        let Some(names) = event.external_ids.as_deref().filter(|_| is_own) else {
            return Ok(());
        };
        let Some(names) = AgentsNames::of(self.entry, names) else {
            return Ok(());
        };
        let id = self.rows.merged(id).await?;
        self.rows.begin(id).await?;
        let session = self.rows.session(id).await?;
        session.note(self.entry, false);
        session.facts.is_named = true;
        let summary = &mut session.row.summary;
        summary.agent = Some(names.agent.clone());
        let own = names.side_chain.as_ref().or(names.session.as_ref());
        summary.agent_session = own.cloned();
        match names.side_chain {
            Some(_) => Ok(()),
            None => self.named(id, &names).await,
        }
    }

    /// Notes which session has a name, and takes in the prompts that were told of it before.
    async fn named(&mut self, id: Uuid, names: &AgentsNames) -> Done {
        let key = row::by_mark(NAME, &names.mark());
        let known: Option<NameRow> = row::get(self.rows.table, &key).await?;
        let told = known.map(|row| row.told).unwrap_or_default();
        let row = NameRow {
            session: Some(id),
            told: Vec::new(),
        };
        self.rows.table.put_bytes(&key, row::write(&row)?);
        let session = self.rows.session(id).await?;
        for prompt in told {
            session.told(prompt.intent, prompt.at);
            session.add_stream(StreamKind::Intent, prompt.intent);
            session.go_on(Some(prompt.at));
            if let Some((is_weak, title)) = prompt.title {
                session.facts.offer_title(is_weak, Some(prompt.at), title);
            }
            let first = &mut session.row.summary.first_position;
            *first = prompt.position.min(*first);
            session.note_times([Some(prompt.at), None]);
            session.facts.clusters.add(prompt.at);
        }
        session.row.summary.active_ms = session.facts.clusters.active_ms();
        session.settle();
        Ok(())
    }

    /// Ends the session that a task or a run is.
    pub(super) async fn ended(&mut self, id: Uuid, failed: bool, reason: Option<String>) -> Done {
        let id = self.rows.merged(id).await?;
        self.rows.ensure(id).await?;
        let entry = self.entry;
        let session = self.rows.session(id).await?;
        session.note(entry, true);
        session.end(entry, failed, reason);
        Ok(())
    }
}

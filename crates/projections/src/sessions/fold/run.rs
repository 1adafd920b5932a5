//! Events of runs: where they ran, what they changed and used, how they ended.

use annals_domain::run::{
    self, AdoptedTokens, DecisionMade, DecisionType, EvidenceKind, EvidenceRecorded,
    PatchSetAdopted, StoredTokens, StoredTouchedFile, UsageRecorded,
};
use annals_domain::{ActorKind, PlanId, Slot, StoredEnvironment, TaskId};
use uuid::Uuid;

use super::task::name_mark;
use super::{Done, Fold};
use crate::Text;
use crate::costs::{Quarter, Used, model_name};
use crate::naming::project_root;
use crate::projection::ProjectionError;
use crate::sessions::held::HeldSession;
use crate::sessions::row::{self, PATCH, PatchRow, RunRow, SessionFile, SessionUse};

/// Evidence of an agent's hook that its session began or ended.
const SESSION_START: &str = "session_start";
const SESSION_END: &str = "session_end";
/// Evidence of a title that an agent gave its session, or a person by way of it.
const TITLE: &str = "session_title";
/// Tools of such evidence, each with its rank: what a person chose comes first.
const TITLE_RANKS: [(&str, u8); 2] = [("custom-title", 3), ("ai-title", 2)];
/// The rank of a title by another tool.
const TITLE_RANK: u8 = 2;

impl Fold<'_, '_> {
    pub(super) async fn of_run(&mut self, id: Uuid, event: &run::Event) -> Done {
        match event {
            run::Event::Created(event) => {
                let environment = event.environment.as_ref();
                self.run(id, event.task, event.plan, environment).await
            }
            run::Event::Adopted(event) => match &event.object {
                Some(it) => {
                    let environment = it.environment.as_ref();
                    self.run(id, it.task, it.plan, environment).await
                }
                None => Ok(()),
            },
            run::Event::PatchSetProposed(event) => {
                self.patch_set(id, event.patch_set.0, &event.touched, false)
                    .await
            }
            run::Event::PatchSetAdopted(event) => self.adopted_patch_set(id, event).await,
            run::Event::PatchSetRejected(event) => self.rejected(event.patch_set.0).await,
            run::Event::UsageRecorded(event) => self.usage(id, event).await,
            run::Event::ProvenanceRecorded(event) => {
                let used = event.token_usage.as_ref().map(stated);
                self.provenance(id, event.model, used).await
            }
            run::Event::ProvenanceAdopted(event) => {
                let used = event.token_usage.as_ref().map(adopted);
                self.provenance(id, event.model, used).await
            }
            run::Event::EvidenceRecorded(event) => self.evidence(id, event).await,
            run::Event::DecisionMade(event) => self.decision(id, event).await,
            run::Event::Failed(event) => {
                let reason = self.text(Some(event.error));
                let id = self.session_of_run(id).await?;
                self.ended(id, true, reason).await
            }
            run::Event::EndedAfterIntent(event) => {
                let reason = format!("the intent is {}", event.status);
                let id = self.session_of_run(id).await?;
                self.ended(id, false, Some(reason)).await
            }
            run::Event::PatchingStarted(_)
            | run::Event::ValidationStarted(_)
            | run::Event::MetricsRecorded(_)
            | run::Event::SnapshotAttached(_)
            | run::Event::PatchSetApplied(_)
            | run::Event::PatchSetReverted(_)
            | run::Event::DecisionAdopted(_)
            | run::Event::ResultCommitRecorded(_) => self.note_run(id).await,
            run::Event::MetadataSet(_)
            | run::Event::Sealed(_)
            | run::Event::RationaleOverridden(_)
            | run::Event::EvidenceAdopted(_)
            | run::Event::Redacted(_) => Ok(()),
            run::Event::ToolRequested(_)
            | run::Event::ToolDecided(_)
            | run::Event::ToolBegun(_)
            | run::Event::ToolEnded(_)
            | run::Event::ToolInvoked(_)
            | run::Event::ToolInvocationAdopted(_) => self.of_call(id, event).await,
        }
    }

    /// The session of a run, which has an event now.
    pub(super) async fn active(&mut self, run: Uuid) -> Result<Uuid, ProjectionError> {
        let id = self.session_of_run(run).await?;
        self.rows.ensure(id).await?;
        let entry = self.entry;
        let session = self.rows.session(id).await?;
        session.note(entry, true);
        if entry.actor.kind == ActorKind::Agent {
            let agent = &mut session.row.summary.agent;
            agent.get_or_insert_with(|| entry.actor.id.clone());
        }
        Ok(id)
    }

    async fn note_run(&mut self, run: Uuid) -> Done {
        self.active(run).await.map(|_| ())
    }

    async fn run(
        &mut self,
        id: Uuid,
        task: TaskId,
        plan: Option<PlanId>,
        environment: Option<&StoredEnvironment>,
    ) -> Done {
        let task = self.rows.merged(task.0).await?;
        self.rows.ensure(task).await?;
        let known = self.rows.run(id).await?;
        let row = match known {
            Some(row) => RunRow { task, ..row },
            None => RunRow {
                task,
                model: None,
                stated: None,
            },
        };
        self.rows.put_run(id, row)?;
        if self.rows.node(id).await?.is_some() {
            // Events of the run came before it.
            self.rows.merge(id, task).await?;
        }
        let entry = self.entry;
        let environment = environment.map(|it| self.environment(it));
        let session = self.rows.session(task).await?;
        session.note(entry, true);
        let is_new = !session.row.summary.runs.contains(&id);
        if is_new {
            session.row.summary.runs.push(id);
            // Another attempt: it goes on.
            session.row.summary.end = None;
        }
        if let Some(environment) = environment {
            environment.apply(session, entry.agents_time());
        }
        match plan {
            Some(plan) => self.follows_plan(task, plan.0).await,
            None => Ok(()),
        }
    }

    fn environment(&self, stored: &StoredEnvironment) -> RunEnvironment {
        let entry = self.entry;
        let shown = |text: Text| Some(text.to_string()).filter(|text| !text.trim().is_empty());
        let mut environment = RunEnvironment {
            directory: shown(entry.text(stored.cwd)),
            ..RunEnvironment::default()
        };
        let mut continued = None;
        for (name, json) in &stored.extra {
            let name = entry.text(*name).to_string();
            let text = match entry.text(*json) {
                Text::Present(json) => serde_json::from_str::<String>(&json).ok(),
                Text::Removed => Some(Text::Removed.to_string()),
            };
            let text = text.filter(|text| !text.trim().is_empty());
            match name.as_str() {
                "git_branch" => environment.branch = text,
                "project" => environment.project = text,
                "continues" => continued = text,
                name if name.ends_with("_version") => environment.version = text,
                _ => {}
            }
        }
        environment.continues = continued;
        environment
    }

    async fn patch_set(
        &mut self,
        run: Uuid,
        patch_set: Uuid,
        touched: &[StoredTouchedFile],
        is_rejected: bool,
    ) -> Done {
        let session = self.active(run).await?;
        let key = row::key(PATCH, patch_set);
        let known: Option<PatchRow> = row::get(self.rows.table, &key).await?;
        let mut patch = known.unwrap_or(PatchRow {
            session,
            files: Vec::new(),
            is_rejected,
        });
        for file in touched {
            let path = self.entry.text(file.path).to_string();
            let mark = row::mark(&[&path]);
            let (added, deleted) = (file.lines_added.into(), file.lines_deleted.into());
            patch.files.push((mark, added, deleted));
            if !patch.is_rejected {
                let file = SessionFile {
                    path,
                    added,
                    deleted,
                    patch_sets: 1,
                };
                self.rows.add_file(session, mark, file).await?;
            }
        }
        self.rows.table.put_bytes(&key, row::write(&patch)?);
        Ok(())
    }

    /// A patch set that is adopted again takes its own place.
    async fn adopted_patch_set(&mut self, run: Uuid, event: &PatchSetAdopted) -> Done {
        let id = event.patch_set.0;
        let is_rejected = match &event.object {
            None => false,
            Some(object) => {
                self.rejected(id).await?;
                self.rows.table.delete(&row::key(PATCH, id));
                object.apply_status == run::ApplyStatus::Rejected
            }
        };
        self.patch_set(run, id, &event.touched, is_rejected).await
    }

    async fn rejected(&mut self, patch_set: Uuid) -> Done {
        let key = row::key(PATCH, patch_set);
        let known: Option<PatchRow> = row::get(self.rows.table, &key).await?;
        let Some(mut patch) = known.filter(|patch| !patch.is_rejected) else {
            return Ok(());
        };
        let session = self.rows.merged(patch.session).await?;
        for file in &patch.files {
            self.rows.take_file(session, *file).await?;
        }
        patch.is_rejected = true;
        self.rows.table.put_bytes(&key, row::write(&patch)?);
        Ok(())
    }

    async fn usage(&mut self, run: Uuid, event: &UsageRecorded) -> Done {
        let model = match event.model {
            Some(model) => Some(model_name(self.entry, model)),
            None => self.rows.run(run).await?.and_then(|row| row.model),
        };
        self.used(run, model, Used::recorded(self.entry, event))
            .await?;
        Ok(())
    }

    /// Counts tokens to the session of a run, which is one by that.
    async fn used(
        &mut self,
        run: Uuid,
        model: Option<String>,
        used: Used,
    ) -> Result<SessionUse, ProjectionError> {
        let session = self.active(run).await?;
        let actor = &self.entry.actor;
        let used = SessionUse {
            run,
            quarter: Quarter::of(self.entry.occurred_at).0,
            model,
            actor: row::mark(&[actor.kind.as_str(), &actor.id]),
            used,
        };
        self.rows.session(session).await?.row.add(used.clone());
        self.rows.begin(session).await?;
        Ok(used)
    }

    /// Takes in a run's provenance. A later one, where it is adopted again, replaces it.
    async fn provenance(&mut self, run: Uuid, model: Slot, used: Option<Used>) -> Done {
        let model = model_name(self.entry, model);
        let session = self.active(run).await?;
        let known = self.rows.run(run).await?;
        let mut row = known.unwrap_or(RunRow {
            task: run,
            model: None,
            stated: None,
        });
        row.model = Some(model.clone());
        if let Some(before) = row.stated.take() {
            self.rows.session(session).await?.row.take(&before);
        }
        if let Some(used) = used {
            row.stated = Some(self.used(run, Some(model), used).await?);
        }
        self.rows.put_run(run, row)
    }

    async fn evidence(&mut self, run: Uuid, event: &EvidenceRecorded) -> Done {
        let EvidenceKind::Other(kind) = &event.kind else {
            return self.note_run(run).await;
        };
        let summary = self.text(event.summary);
        let tool = self.entry.text(event.tool).to_string();
        let entry = self.entry;
        let id = self.session_of_run(run).await?;
        self.rows.ensure(id).await?;
        let session = self.rows.session(id).await?;
        session.note(entry, kind != TITLE);
        match kind.as_str() {
            SESSION_START => session.go_on(entry.agents_time()),
            SESSION_END => session.end_for_now(entry, summary),
            TITLE => {
                let mut ranks = TITLE_RANKS.iter();
                let rank = ranks.find(|(name, _)| *name == tool);
                let rank = rank.map_or(TITLE_RANK, |(_, rank)| *rank);
                session.offer_agents_title(rank, &summary.unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    async fn decision(&mut self, run: Uuid, event: &DecisionMade) -> Done {
        let id = self.session_of_run(run).await?;
        let reason = self.text(event.rationale);
        let reason = reason.or_else(|| Some(event.decision_type.to_string()));
        match &event.decision_type {
            DecisionType::Commit | DecisionType::Rollback => self.ended(id, false, reason).await,
            DecisionType::Abandon => self.ended(id, true, reason).await,
            DecisionType::Checkpoint | DecisionType::Retry | DecisionType::Other(_) => {
                self.note_run(run).await
            }
        }
    }
}

/// Tokens that a provenance states.
fn stated(tokens: &StoredTokens) -> Used {
    Used::stated(tokens.input_tokens, tokens.output_tokens, tokens.cost_usd)
}

/// Tokens that an adopted provenance states.
fn adopted(tokens: &AdoptedTokens) -> Used {
    Used::stated(tokens.input_tokens, tokens.output_tokens, tokens.cost_usd)
}

/// Where a run ran, as it was recorded.
#[derive(Debug, Default)]
struct RunEnvironment {
    directory: Option<String>,
    project: Option<String>,
    branch: Option<String>,
    version: Option<String>,
    continues: Option<String>,
}

impl RunEnvironment {
    fn apply(self, session: &mut HeldSession, at: Option<annals_domain::Timestamp>) {
        let summary = &mut session.row.summary;
        let project = self.project.or_else(|| self.directory.clone());
        let project = project.map(|path| project_root(&path).to_owned());
        summary.directory = summary.directory.take().or(self.directory);
        summary.project = summary.project.take().or(project);
        summary.agent_version = self.version.or(summary.agent_version.take());
        if self.branch.is_some() && at >= session.facts.branch_at {
            summary.branch = self.branch;
            session.facts.branch_at = at;
        }
        if let (Some(name), Some(agent)) = (self.continues, &summary.agent) {
            session.row.continues = Some(name_mark(agent, &name));
        }
    }
}

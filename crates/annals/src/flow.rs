//! git-internal's end-to-end flow, a helper a step.
//!
//! Each helper is one command (two where the flow has them as one step, in one
//! atomic batch). What they do not offer, [`Annals::execute`] does.

use annals_domain::intent::{ActivateIntent, AnalyzeIntent, CompleteIntent, CreateIntent};
use annals_domain::pipeline::{CreatePipeline, EvictionPolicy, FrameKind, PushFrame};
use annals_domain::plan::{CreatePlan, NewStep};
use annals_domain::run::{
    CreateRun, Decide, DecisionType, FailRun, ProposePatchSet, RecordEvidence, RecordProvenance,
    RecordToolInvocation, StartPatching, StartValidation,
};
use annals_domain::task::CreateTask;
use annals_domain::{
    ActorRef, Command, DecisionId, EvidenceId, FrameId, GitOid, IntentId, Kind, PatchSetId,
    PipelineId, PlanId, ProvenanceId, Refusal, RunId, TaskId, ToolInvocationId,
};
use annals_projections::{IntentView, Text};
use uuid::Uuid;

use crate::request::answered;
use crate::{Annals, ExecuteError, Outcome, Request, ViewError, environment};

/// An actor at work on a log: the helpers that act in its name. Each gives the ids of what it made.
///
/// For the position of what was recorded, or to give a command a key or a time, use [`Annals::execute`] and
/// [`Annals::execute_batch`] with the commands themselves: [`As::submit`] is a [`CreateIntent`], [`As::analyze`] an
/// [`AnalyzeIntent`] and an [`ActivateIntent`] in one batch, [`As::task`] a [`CreateTask`], and [`As::start_run`] a
/// [`CreateRun`] with [`environment()`](crate::environment()) and a [`StartPatching`].
#[derive(Clone, Copy)]
pub struct As<'a> {
    annals: &'a Annals,
    actor: &'a ActorRef,
}

impl Annals {
    /// The helpers for git-internal's flow, in an actor's name.
    pub fn by<'a>(&'a self, actor: &'a ActorRef) -> As<'a> {
        As {
            annals: self,
            actor,
        }
    }
}

type Done<T> = Result<T, ExecuteError>;

impl As<'_> {
    pub(crate) async fn run_command(&self, command: impl Into<Command>) -> Done<Outcome> {
        self.annals
            .execute(Request::new(self.actor.clone(), command))
            .await
    }

    pub(crate) fn annals(&self) -> &Annals {
        self.annals
    }

    pub(crate) async fn create<T: From<Uuid>>(&self, command: impl Into<Command>) -> Done<T> {
        let outcome = self.run_command(command).await?;
        let id = outcome.id.map(T::from);
        answered(id, "the id of what was made", outcome.position)
    }

    /// Steps 1 and 2: records a request as a Draft intent.
    pub async fn submit(&self, prompt: impl Into<String>) -> Done<IntentId> {
        self.create(CreateIntent::new(prompt)).await
    }

    /// Step 2: records a request that refines an earlier intent.
    pub async fn refine(&self, parent: IntentId, prompt: impl Into<String>) -> Done<IntentId> {
        self.create(CreateIntent::new(prompt).with_parent(parent))
            .await
    }

    /// Step 2: records the interpretation and lets work begin (Draft -> Active).
    pub async fn analyze(&self, intent: IntentId, content: impl Into<String>) -> Done<()> {
        let commands = [
            Command::from(AnalyzeIntent::new(intent, content)),
            Command::from(ActivateIntent::new(intent)),
        ];
        let requests = commands.map(|command| Request::new(self.actor.clone(), command));
        self.annals
            .execute_batch(None, requests.into())
            .await
            .map(|_| ())
    }

    /// Step 2: opens a context pipeline whose first frame is the analysis of
    /// an intent. `max_frames` 0 is unlimited.
    pub async fn open_pipeline(
        &self,
        analysis: impl Into<String>,
        max_frames: u32,
    ) -> Done<PipelineId> {
        self.seeded(analysis.into(), EvictionPolicy::max_frames(max_frames))
            .await
    }

    /// Step 2: opens a context pipeline for an analysed intent, whose content is
    /// the first frame (git-internal, the seed), under a policy.
    ///
    /// An intent that was not analysed, or whose content was removed, is
    /// refused: a pipeline is created after the analysis.
    pub async fn open_pipeline_for(
        &self,
        intent: IntentId,
        policy: EvictionPolicy,
    ) -> Done<PipelineId> {
        let refused = |refusal| ExecuteError::Refused {
            index: 0,
            command: "create_pipeline",
            refusal,
        };
        let view: IntentView = match self.annals.get(intent).await {
            Ok(view) => view,
            Err(ViewError::Load(error)) => return Err(error.into()),
            Err(_) => {
                let (kind, id) = (Kind::Intent, intent.0);
                return Err(refused(Refusal::NotFound { kind, id }));
            }
        };
        match view.content.as_ref().and_then(Text::as_str) {
            Some(analysis) => self.seeded(analysis.to_owned(), policy).await,
            None => {
                let reason = format!("intent {intent} has no content; analyze it first");
                Err(refused(Refusal::invalid("intent", reason)))
            }
        }
    }

    /// A pipeline and its first frame, or neither.
    async fn seeded(&self, analysis: String, policy: EvictionPolicy) -> Done<PipelineId> {
        let pipeline = PipelineId(annals_event_log::new_id());
        let create = CreatePipeline::new().with_id(pipeline).with_policy(policy);
        let seed = PushFrame::new(pipeline, FrameKind::IntentAnalysis, analysis);
        let requests = [Command::from(create), Command::from(seed)]
            .map(|command| Request::new(self.actor.clone(), command));
        self.annals
            .execute_batch(None, requests.into())
            .await
            .map(|_| pipeline)
    }

    /// Any step: pushes a frame into a pipeline.
    pub async fn push_frame(
        &self,
        pipeline: PipelineId,
        kind: FrameKind,
        summary: impl Into<String>,
    ) -> Done<FrameId> {
        let summary = summary.into();
        let push = PushFrame::new(pipeline, kind, summary);
        let outcome = self.run_command(push).await?;
        answered(outcome.frame_id, "the id of the frame", outcome.position)
    }

    /// Step 3: drafts a plan for an Active intent and makes it the current one.
    pub async fn plan<S: Into<String>>(
        &self,
        intent: IntentId,
        steps: impl IntoIterator<Item = S>,
    ) -> Done<PlanId> {
        self.revise(intent, None, steps).await
    }

    /// Step 3: drafts a revision of a plan and makes it the current one.
    pub async fn revise<S: Into<String>>(
        &self,
        intent: IntentId,
        previous: Option<PlanId>,
        steps: impl IntoIterator<Item = S>,
    ) -> Done<PlanId> {
        let steps = steps.into_iter();
        let steps: Vec<_> = steps.map(|description| NewStep::new(description)).collect();
        let draft = CreatePlan::default()
            .with_intent(intent)
            .with_previous(previous)
            .with_steps(steps);
        self.create(draft).await
    }

    /// Step 4: defines a task of an intent.
    pub async fn task(&self, intent: IntentId, title: impl Into<String>) -> Done<TaskId> {
        self.create(CreateTask::new(title).with_intent(intent))
            .await
    }

    /// Step 5: begins a run of a task, on this machine, and lets it patch.
    pub async fn start_run(
        &self,
        task: TaskId,
        plan: Option<PlanId>,
        commit: Option<GitOid>,
    ) -> Done<RunId> {
        let run = RunId(annals_event_log::new_id());
        let create = CreateRun::new(task)
            .with_id(run)
            .with_plan(plan)
            .with_commit(commit)
            .with_environment(environment());
        let commands = [
            Command::from(create),
            Command::from(StartPatching::new(run)),
        ];
        let requests = commands.map(|command| Request::new(self.actor.clone(), command));
        self.annals
            .execute_batch(None, requests.into())
            .await
            .map(|_| run)
    }

    /// Step 5: records provider, model and parameters of a run.
    pub async fn provenance(&self, provenance: RecordProvenance) -> Done<ProvenanceId> {
        self.create(provenance).await
    }

    /// Step 6: records a tool call.
    pub async fn tool(&self, invocation: RecordToolInvocation) -> Done<ToolInvocationId> {
        self.create(invocation).await
    }

    /// Step 7: proposes a patch set.
    pub async fn propose(&self, patch_set: ProposePatchSet) -> Done<PatchSetId> {
        self.create(patch_set).await
    }

    /// Step 8: lets a run validate (Patching -> Validating).
    pub async fn validate(&self, run: RunId) -> Done<()> {
        self.run_command(StartValidation::new(run))
            .await
            .map(|_| ())
    }

    /// Step 8: records a validation step.
    pub async fn evidence(&self, evidence: RecordEvidence) -> Done<EvidenceId> {
        self.create(evidence).await
    }

    /// Step 9: decides, in any way.
    pub async fn decide(&self, decision: Decide) -> Done<DecisionId> {
        self.create(decision).await
    }

    /// Step 9: accepts a patch set, with the commit that it led to.
    pub async fn commit(
        &self,
        run: RunId,
        patch_set: PatchSetId,
        commit: Option<GitOid>,
    ) -> Done<DecisionId> {
        self.decide(
            Decide::new(run, DecisionType::Commit)
                .with_chosen_patchset_id(patch_set)
                .with_result_commit_sha(commit),
        )
        .await
    }

    /// Step 9: ends a run that could not go on.
    pub async fn fail_run(&self, run: RunId, error: impl Into<String>) -> Done<()> {
        self.run_command(FailRun::new(run, error)).await.map(|_| ())
    }

    /// Step 10: completes an intent, of which nothing is open any more.
    pub async fn complete(&self, intent: IntentId, reason: impl Into<String>) -> Done<()> {
        self.run_command(CompleteIntent::new(intent).with_reason(Some(reason.into())))
            .await
            .map(|_| ())
    }
}

//! Any command at all, one function for the commands of each aggregate.

use annals_domain::alias::ReserveAlias;
use annals_domain::intent::*;
use annals_domain::metadata::{Seal, SetMetadata};
use annals_domain::pipeline::*;
use annals_domain::plan::*;
use annals_domain::run::*;
use annals_domain::snapshot::*;
use annals_domain::task::*;
use annals_domain::{
    ActorRef, Command, FrameId, GitOid, IntegrityHash, Json, Kind, Ordered, PipelineId, RunId,
    Visibility,
};

use uuid::Uuid;

use super::Draw;

impl Draw<'_> {
    pub(super) fn any_command(&mut self) -> Command {
        match self.dice.roll(28) {
            0..4 => self.intent_command(),
            4..7 => self.plan_command(),
            7..9 => self.task_command(),
            9..13 => self.run_command(),
            13..15 => self.snapshot_command(),
            15..18 => self.pipeline_command(),
            18..23 => self.session_command(),
            23 => self.metadata_command(),
            24 => self.observation_command(),
            _ => self.intake_command(),
        }
    }

    /// Which of an aggregate's commands; the first one makes the aggregate.
    pub(super) fn one_of(&mut self, commands: usize, kind: Kind) -> usize {
        if self.lacks(kind) {
            0
        } else {
            self.dice.roll(commands)
        }
    }

    fn intent_command(&mut self) -> Command {
        let intent = self.id(Kind::Intent);
        match self.one_of(7, Kind::Intent) {
            0 => CreateIntent::new(self.text())
                .with_id(Some(self.new_id().into()))
                .with_parent(self.optional(Kind::Intent))
                .into(),
            1 => AnalyzeIntent::new(intent, self.text()).into(),
            2 => ActivateIntent::new(intent)
                .with_reason(self.reason())
                .into(),
            3 => SelectPlan::new(intent, self.id(Kind::Plan)).into(),
            4 => RecordCommit::new(intent, self.oid()).into(),
            5 => CompleteIntent::new(intent)
                .with_reason(self.reason())
                .with_abandon_open(self.dice.once_in(2))
                .into(),
            _ => CancelIntent::new(intent).with_reason(self.reason()).into(),
        }
    }

    // Plans.

    fn draft_plan(&mut self) -> CreatePlan {
        let pipeline = self.optional(Kind::ContextPipeline);
        let steps: Vec<_> = (0..self.dice.roll(4))
            .map(|_| self.new_step(pipeline))
            .collect();
        let fwindow = self
            .dice
            .once_in(4)
            .then(|| (self.number(2), self.number(4)));
        let with_intent = self.dice.once_in(3);
        CreatePlan::new()
            .with_id(Some(self.new_id().into()))
            .with_intent(if with_intent {
                self.optional(Kind::Intent)
            } else {
                None
            })
            .with_previous(self.optional(Kind::Plan))
            .with_restores(match self.dice.once_in(4) {
                true => self.optional(Kind::Plan),
                false => None,
            })
            .with_pipeline(pipeline.map(Into::into))
            .with_fwindow(fwindow)
            .with_steps(steps)
    }

    fn new_step(&mut self, pipeline: Option<Uuid>) -> NewStep {
        NewStep::new(self.text())
            .with_inputs(self.dice.once_in(3).then(|| self.json()))
            .with_iframes(self.frames(pipeline))
            .with_oframes(self.frames(pipeline))
            .with_task(if self.dice.once_in(4) {
                self.optional(Kind::Task)
            } else {
                None
            })
    }

    /// Frames of a pipeline, sometimes the one that comes next.
    fn frames(&mut self, pipeline: Option<Uuid>) -> Vec<FrameId> {
        let pipeline = pipeline.and_then(|id| self.model.pipelines.get(&id));
        let pushed = pipeline.map_or(0, |pipeline| pipeline.pushed);
        let next = usize::try_from(pushed).expect("few frames");
        let sides = if self.dice.once_in(8) { next + 1 } else { next };
        let count = if sides == 0 { 0 } else { self.dice.roll(4) };
        (0..count)
            .map(|_| FrameId(self.dice.roll(sides) as u64))
            .collect()
    }

    pub(super) fn link_frames(&mut self, plan: Uuid) -> LinkStepFrames {
        let pipeline = self.model.plans.get(&plan).and_then(|plan| plan.pipeline);
        LinkStepFrames::new(plan.into(), self.number(2))
            .with_iframes(self.frames(pipeline))
            .with_oframes(self.frames(pipeline))
            .with_inferred(self.dice.once_in(4))
    }

    fn plan_command(&mut self) -> Command {
        let (id, step) = (self.of(Kind::Plan), self.number(2));
        let pipeline = self.model.plans.get(&id).and_then(|plan| plan.pipeline);
        let plan = id.into();
        let statuses = StepStatus::ALL;
        match self.one_of(8, Kind::Plan) {
            0 => self.draft_plan().into(),
            1 => AddStep::new(plan, self.new_step(pipeline))
                .with_index(self.dice.once_in(4).then(|| self.number(3)))
                .into(),
            2..5 => {
                let status = self.dice.pick(statuses).unwrap_or(StepStatus::Progressing);
                SetStepStatus::new(plan, step, status)
                    .with_reason(self.reason())
                    .into()
            }
            5 => self.link_frames(id).into(),
            6 => SpawnStepTask::new(plan, step, self.title())
                .with_id(Some(self.new_id().into()))
                .with_description(self.reason())
                .with_goal(GoalType::Docs)
                .with_parent(self.optional(Kind::Task))
                .with_intent(self.optional(Kind::Intent))
                .into(),
            _ => RecordStepOutput::new(plan, step, self.json()).into(),
        }
    }

    // Tasks.

    fn task_command(&mut self) -> Command {
        let task = self.id(Kind::Task);
        match self.one_of(8, Kind::Task) {
            0..2 => {
                let requester = ActorRef::human(self.words()).with_display_name(self.reason());
                CreateTask::new(self.title())
                    .with_id(Some(self.new_id().into()))
                    .with_description(self.reason())
                    .with_constraints(vec![self.words()])
                    .with_requester(requester)
                    .with_parent(self.optional(Kind::Task))
                    .with_intent(self.optional(Kind::Intent))
                    .with_dependencies(self.optional(Kind::Task).into_iter().collect::<Vec<_>>())
                    .into()
            }
            2 => AddConstraint::new(task, self.text()).into(),
            3 => AddAcceptanceCriterion::new(task, self.text()).into(),
            4..6 => AddDependency::new(task, self.id(Kind::Task)).into(),
            6 => FailTask::new(task).with_reason(self.reason()).into(),
            _ => CancelTask::new(task).with_reason(self.reason()).into(),
        }
    }

    // Runs and what is in them.

    fn run_command(&mut self) -> Command {
        let run = self.id(Kind::Run);
        match self.dice.roll(20) {
            0 => self.any_run().into(),
            1 => AttachSnapshot::new(run, self.id(Kind::ContextSnapshot)).into(),
            2 => StartPatching::new(run).into(),
            3 => StartValidation::new(run).into(),
            4 => self.tool_invocation(run).into(),
            5 => self.patch_set(run).into(),
            6 => ApplyPatchSet::new(self.id(Kind::PatchSet)).into(),
            7 => {
                let patch_set = self.id(Kind::PatchSet);
                RejectPatchSet::new(patch_set)
                    .with_reason(self.reason())
                    .into()
            }
            8 => {
                let patch_set = self.id(Kind::PatchSet);
                OverrideRationale::new(patch_set)
                    .with_rationale(self.reason())
                    .into()
            }
            9 => self.evidence(run).into(),
            10 => self.provenance(run).into(),
            11 => self.usage(run).into(),
            12 => RecordResultCommit::new(self.id(Kind::Decision), self.oid()).into(),
            13 => RecordMetrics::new(run, self.json()).into(),
            14 => FailRun::new(run, self.text()).into(),
            15..19 => self.call_command(run),
            _ => self.any_decision(run).into(),
        }
    }

    fn any_run(&mut self) -> CreateRun {
        let reverts = self.dice.once_in(2);
        CreateRun::new(self.id(Kind::Task))
            .with_id(Some(self.new_id().into()))
            .with_plan(self.optional(Kind::Plan))
            .with_commit(self.optional_oid())
            .with_snapshot(self.optional(Kind::ContextSnapshot))
            .with_environment(
                annals_domain::Environment::new(self.words(), self.words(), self.words())
                    .with_extra(Ordered(vec![("shell".to_owned(), self.json())])),
            )
            .with_reverts(if reverts {
                self.optional(Kind::PatchSet)
            } else {
                None
            })
    }

    pub(super) fn tool_invocation(&mut self, run: RunId) -> RecordToolInvocation {
        let io_footprint = IoFootprint::new()
            .with_paths_read(vec![self.words()])
            .with_paths_written(vec![self.words()]);
        RecordToolInvocation::new(run, self.text(), ToolStatus::Error)
            .with_id(self.optional_id().map(Into::into))
            .with_io_footprint(io_footprint)
            .with_args(self.json())
            .with_duration_ms(1_250)
            .with_result_summary(self.reason())
            .with_output(self.parts())
    }

    pub(super) fn patch_set(&mut self, run: RunId) -> ProposePatchSet {
        let touched = TouchedFile::new(self.text(), ChangeType::Rename)
            .with_lines_added(self.number(9))
            .with_lines_deleted(self.number(9));
        ProposePatchSet::new(run, DiffFormat::Unified)
            .with_id(Some(self.new_id().into()))
            .with_commit(self.optional_oid())
            .with_diff(self.reason().map(|diff| Payload(diff.into_bytes())))
            .with_touched(vec![touched])
            .with_rationale(self.reason())
    }

    fn evidence(&mut self, run: RunId) -> RecordEvidence {
        RecordEvidence::new(run, EvidenceKind::Other("review".into()), self.text())
            .with_id(self.optional_id().map(Into::into))
            .with_patchset_id(self.optional(Kind::PatchSet))
            .with_command_line(self.reason())
            .with_exit_code(-1)
            .with_summary(self.reason())
            .with_report(self.parts())
    }

    /// Usually a small number of tokens, sometimes the largest.
    fn tokens(&mut self) -> u64 {
        if self.dice.once_in(12) {
            u64::MAX
        } else {
            u64::from(self.number(1_000))
        }
    }

    fn provenance(&mut self, run: RunId) -> RecordProvenance {
        let (input_tokens, output_tokens) = (self.tokens(), self.tokens());
        let sum = input_tokens.wrapping_add(output_tokens);
        let total = [None, Some(sum), Some(sum.wrapping_add(1))];
        let token_usage = TokenUsage::new(input_tokens, output_tokens)
            .with_total_tokens(self.dice.pick(&total).flatten())
            .with_cost_usd(0.25);
        RecordProvenance::new(run, self.text(), self.text())
            .with_id(self.optional_id().map(Into::into))
            .with_parameters(self.json())
            .with_temperature(0.5)
            .with_token_usage(token_usage)
    }

    fn usage(&mut self, run: RunId) -> RecordUsage {
        let costs = [None, Some(0.5), Some(-0.5)];
        let (input, output) = (self.tokens(), self.tokens());
        RecordUsage::new(run, input, output)
            .with_model(self.reason())
            .with_cache_read_tokens(self.tokens())
            .with_reasoning_tokens(output / 2)
            .with_cost_usd(self.dice.pick(&costs).flatten())
    }

    fn any_decision(&mut self, run: RunId) -> Decide {
        let mut verdicts = DecisionType::LISTED.to_vec();
        verdicts.push(DecisionType::Other("escalate".into()));
        let verdict = self.dice.pick(&verdicts).unwrap_or(DecisionType::Retry);
        let result_commit_sha = self.optional_oid();
        let checkpoint_id = self.reason();
        Decide::new(run, verdict)
            .with_id(self.optional_id().map(Into::into))
            .with_chosen_patchset_id(self.optional(Kind::PatchSet))
            .with_result_commit_sha(result_commit_sha.filter(|_| self.dice.once_in(2)))
            .with_checkpoint_id(checkpoint_id.filter(|_| self.dice.once_in(2)))
            .with_rationale(self.reason())
    }

    // Context.

    fn item(&mut self) -> NewItem {
        let content = (!self.dice.once_in(3)).then(|| self.payload());
        let known = content.as_ref().map(|content| {
            let sha256 = GitOid::sha256_of_blob(&content.0);
            let sha1 = GitOid::sha1_of_blob(&content.0).unwrap_or(sha256);
            [None, Some(sha1), Some(sha256)]
        });
        let blob = match known {
            Some(known) if !self.dice.once_in(8) => self.dice.pick(&known).flatten(),
            _ => self.optional_oid(),
        };
        NewItem::new(ContextItemKind::File, self.text())
            .with_preview(self.reason())
            .with_blob(blob)
            .with_content(content)
    }

    /// Text, or bytes that are none.
    fn payload(&mut self) -> Payload {
        let mut bytes = self.words().into_bytes();
        if self.dice.once_in(4) {
            bytes.push(0xff);
        }
        Payload(bytes)
    }

    /// Parts, which must have names of their own and sometimes have not.
    pub(super) fn parts(&mut self) -> Vec<ContentPart> {
        let part = |n: usize, any: &mut Self| {
            ContentPart::new(
                match any.dice.roll(24) {
                    0 => "part 0".to_owned(),
                    1 => any.text(),
                    _ => format!("part {n}"),
                },
                any.payload().0,
            )
            .with_content_type(any.dice.once_in(2).then(|| "text/plain".to_owned()))
        };
        let count = self.dice.roll(3);
        (0..count).map(|n| part(n, self)).collect()
    }

    fn snapshot_command(&mut self) -> Command {
        let snapshot = self.id(Kind::ContextSnapshot);
        match self.one_of(5, Kind::ContextSnapshot) {
            0 => OpenSnapshot::new(SelectionStrategy::Heuristic)
                .with_id(Some(self.new_id().into()))
                .with_items(
                    (0..self.dice.roll(4))
                        .map(|_| self.item())
                        .collect::<Vec<_>>(),
                )
                .with_summary(self.reason())
                .into(),
            1 => AddItem::new(snapshot, self.item()).into(),
            2 => AttachBlob::new(snapshot, self.number(2), self.oid()).into(),
            _ => FinalizeSnapshot::new(snapshot)
                .with_summary(self.reason())
                .into(),
        }
    }

    fn pipeline_command(&mut self) -> Command {
        let pipeline: PipelineId = self.id(Kind::ContextPipeline);
        match self.one_of(8, Kind::ContextPipeline) {
            0 => {
                let id = Some(self.new_id().into());
                let policy = self.dice.once_in(2).then(|| self.policy());
                let max_frames = match &policy {
                    Some(_) if !self.dice.once_in(8) => None,
                    _ => Some(self.number(4)),
                };
                CreatePipeline::new()
                    .with_id(id)
                    .with_max_frames(max_frames)
                    .with_policy(policy)
                    .into()
            }
            4 => {
                let some = !self.dice.once_in(3);
                let frames = some.then(|| self.frames(Some(pipeline.0)));
                DropFrames::new(pipeline).with_frames(frames).into()
            }
            3 => SetEvictionPolicy::new(pipeline, self.policy()).into(),
            1 => SetMaxFrames::new(pipeline, self.number(4)).into(),
            2 => SetGlobalSummary::new(pipeline)
                .with_summary(self.reason())
                .into(),
            _ => self.frame(pipeline).into(),
        }
    }

    /// A policy that holds few frames; now and then one that makes no sense.
    fn policy(&mut self) -> EvictionPolicy {
        match self.dice.roll(8) {
            0 => EvictionPolicy::default(),
            1 => EvictionPolicy::max_frames(self.number(4)),
            2 => EvictionPolicy::token_budget(u64::from(self.number(4)) * 500),
            3 => EvictionPolicy::rolling_summary(1_500, u64::from(self.number(4)) * 300),
            4 => EvictionPolicy::least_recently_used(self.number(4)),
            5 => EvictionPolicy::kind_quotas([(FrameKind::ToolCall, self.number(2))], Some(1)),
            6 => EvictionPolicy::kind_quotas([(FrameKind::CodeChange, 1)], None),
            _ => EvictionPolicy::unlimited(),
        }
    }

    pub(super) fn frame(&mut self, pipeline: PipelineId) -> PushFrame {
        let data = match self.dice.once_in(8) {
            true => Json::parse(r#"{"content": "given twice?"}"#).expect("it is JSON"),
            false => self.json(),
        };
        PushFrame::new(
            pipeline,
            self.dice
                .pick(FrameKind::LISTED)
                .unwrap_or(FrameKind::ToolCall),
            self.words(),
        )
        .with_data((!self.dice.once_in(4)).then_some(data))
        .with_content(self.dice.once_in(2).then(|| self.json()))
        .with_token_estimate(self.tokens())
    }

    fn metadata_command(&mut self) -> Command {
        let kind = self.dice.pick(Kind::ALL).unwrap_or(Kind::Run);
        let object = self.of(kind);
        if self.dice.once_in(3) {
            let words = ["", "a b", "x/y", "cache", "größe", "v1.2", "kette_7", "z"];
            let alias = self.dice.pick(&words).unwrap_or("z").to_owned();
            return ReserveAlias::new(object, alias).into();
        }
        if self.dice.once_in(3) {
            let checksum = (!self.dice.once_in(4)).then(|| IntegrityHash::of(b"it"));
            return Seal::new(object).with_checksum(checksum).into();
        }
        SetMetadata::new(object)
            .with_visibility(self.dice.once_in(2).then_some(Visibility::Public))
            .with_tags(self.labels())
            .with_external_ids(self.labels())
            .into()
    }
}

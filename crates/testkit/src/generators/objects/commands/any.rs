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
    ActorRef, Command, FrameId, GitOid, IntegrityHash, Json, Kind, PipelineId, RunId, Visibility,
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
            0 => CreateIntent {
                id: Some(self.new_id().into()),
                prompt: self.text(),
                parent: self.optional(Kind::Intent),
            }
            .into(),
            1 => AnalyzeIntent {
                intent,
                content: self.text(),
            }
            .into(),
            2 => ActivateIntent {
                intent,
                reason: self.reason(),
            }
            .into(),
            3 => SelectPlan {
                intent,
                plan: self.id(Kind::Plan),
            }
            .into(),
            4 => RecordCommit {
                intent,
                commit: self.oid(),
            }
            .into(),
            5 => CompleteIntent {
                intent,
                reason: self.reason(),
                abandon_open: self.dice.once_in(2),
            }
            .into(),
            _ => CancelIntent {
                intent,
                reason: self.reason(),
            }
            .into(),
        }
    }

    // Plans.

    fn draft_plan(&mut self) -> CreatePlan {
        let pipeline = self.optional(Kind::ContextPipeline);
        let steps = (0..self.dice.roll(4))
            .map(|_| self.new_step(pipeline))
            .collect();
        let fwindow = self
            .dice
            .once_in(4)
            .then(|| (self.number(2), self.number(4)));
        let with_intent = self.dice.once_in(3);
        CreatePlan {
            id: Some(self.new_id().into()),
            intent: if with_intent {
                self.optional(Kind::Intent)
            } else {
                None
            },
            previous: self.optional(Kind::Plan),
            restores: match self.dice.once_in(4) {
                true => self.optional(Kind::Plan),
                false => None,
            },
            pipeline: pipeline.map(Into::into),
            fwindow,
            steps,
        }
    }

    fn new_step(&mut self, pipeline: Option<Uuid>) -> NewStep {
        NewStep {
            inputs: self.dice.once_in(3).then(|| self.json()),
            iframes: self.frames(pipeline),
            oframes: self.frames(pipeline),
            task: if self.dice.once_in(4) {
                self.optional(Kind::Task)
            } else {
                None
            },
            ..NewStep::new(self.text())
        }
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
        LinkStepFrames {
            plan: plan.into(),
            step: self.number(2),
            iframes: self.frames(pipeline),
            oframes: self.frames(pipeline),
            inferred: self.dice.once_in(4),
        }
    }

    fn plan_command(&mut self) -> Command {
        let (id, step) = (self.of(Kind::Plan), self.number(2));
        let pipeline = self.model.plans.get(&id).and_then(|plan| plan.pipeline);
        let plan = id.into();
        let statuses = StepStatus::ALL;
        match self.one_of(8, Kind::Plan) {
            0 => self.draft_plan().into(),
            1 => AddStep {
                plan,
                step: self.new_step(pipeline),
                index: self.dice.once_in(4).then(|| self.number(3)),
            }
            .into(),
            2..5 => {
                let status = self.dice.pick(statuses).unwrap_or(StepStatus::Progressing);
                SetStepStatus {
                    plan,
                    step,
                    status,
                    reason: self.reason(),
                }
                .into()
            }
            5 => self.link_frames(id).into(),
            6 => SpawnStepTask {
                plan,
                step,
                id: Some(self.new_id().into()),
                title: self.title(),
                description: self.reason(),
                goal: Some(GoalType::Docs),
                constraints: vec![],
                acceptance_criteria: vec![],
                parent: self.optional(Kind::Task),
                intent: self.optional(Kind::Intent),
                requester: None,
            }
            .into(),
            _ => RecordStepOutput {
                plan,
                step,
                outputs: self.json(),
            }
            .into(),
        }
    }

    // Tasks.

    fn task_command(&mut self) -> Command {
        let task = self.id(Kind::Task);
        match self.one_of(8, Kind::Task) {
            0..2 => {
                let requester = ActorRef {
                    display_name: self.reason(),
                    ..ActorRef::human(self.words())
                };
                CreateTask {
                    id: Some(self.new_id().into()),
                    description: self.reason(),
                    constraints: vec![self.words()],
                    requester: Some(requester),
                    parent: self.optional(Kind::Task),
                    intent: self.optional(Kind::Intent),
                    dependencies: self.optional(Kind::Task).into_iter().collect(),
                    ..CreateTask::new(self.title())
                }
                .into()
            }
            2 => AddConstraint {
                task,
                constraint: self.text(),
            }
            .into(),
            3 => AddAcceptanceCriterion {
                task,
                criterion: self.text(),
            }
            .into(),
            4..6 => AddDependency {
                task,
                dependency: self.id(Kind::Task),
            }
            .into(),
            6 => FailTask {
                reason: self.reason(),
                ..FailTask::new(task)
            }
            .into(),
            _ => CancelTask {
                reason: self.reason(),
                ..CancelTask::new(task)
            }
            .into(),
        }
    }

    // Runs and what is in them.

    fn run_command(&mut self) -> Command {
        let run = self.id(Kind::Run);
        match self.dice.roll(16) {
            0 => self.any_run().into(),
            1 => AttachSnapshot {
                run,
                snapshot: self.id(Kind::ContextSnapshot),
            }
            .into(),
            2 => StartPatching { run }.into(),
            3 => StartValidation { run }.into(),
            4 => self.tool_invocation(run).into(),
            5 => self.patch_set(run).into(),
            6 => ApplyPatchSet {
                patch_set: self.id(Kind::PatchSet),
            }
            .into(),
            7 => {
                let patch_set = self.id(Kind::PatchSet);
                RejectPatchSet {
                    patch_set,
                    reason: self.reason(),
                }
                .into()
            }
            8 => {
                let patch_set = self.id(Kind::PatchSet);
                OverrideRationale {
                    patch_set,
                    rationale: self.reason(),
                }
                .into()
            }
            9 => self.evidence(run).into(),
            10 => self.provenance(run).into(),
            11 => self.usage(run).into(),
            12 => RecordResultCommit {
                decision: self.id(Kind::Decision),
                commit: self.oid(),
            }
            .into(),
            13 => RecordMetrics {
                run,
                metrics: self.json(),
            }
            .into(),
            14 => FailRun {
                run,
                error: self.text(),
            }
            .into(),
            _ => self.any_decision(run).into(),
        }
    }

    fn any_run(&mut self) -> CreateRun {
        let reverts = self.dice.once_in(2);
        CreateRun {
            id: Some(self.new_id().into()),
            plan: self.optional(Kind::Plan),
            commit: self.optional_oid(),
            snapshot: self.optional(Kind::ContextSnapshot),
            environment: Some(annals_domain::Environment {
                os: self.words(),
                arch: self.words(),
                cwd: self.words(),
                extra: [("shell".to_owned(), self.json())].into_iter().collect(),
            }),
            reverts: if reverts {
                self.optional(Kind::PatchSet)
            } else {
                None
            },
            ..CreateRun::new(self.id(Kind::Task))
        }
    }

    fn tool_invocation(&mut self, run: RunId) -> RecordToolInvocation {
        let io_footprint = IoFootprint {
            paths_read: vec![self.words()],
            paths_written: vec![self.words()],
        };
        RecordToolInvocation {
            id: self.optional_id().map(Into::into),
            tool_name: self.text(),
            io_footprint: Some(io_footprint),
            args: Some(self.json()),
            duration_ms: Some(1_250),
            result_summary: self.reason(),
            output: self.parts(),
            ..RecordToolInvocation::new(run, "", ToolStatus::Error)
        }
    }

    pub(super) fn patch_set(&mut self, run: RunId) -> ProposePatchSet {
        let touched = TouchedFile {
            path: self.text(),
            change_type: ChangeType::Rename,
            lines_added: self.number(9),
            lines_deleted: self.number(9),
        };
        ProposePatchSet {
            id: Some(self.new_id().into()),
            commit: self.optional_oid(),
            diff: self.reason().map(|diff| Payload(diff.into_bytes())),
            touched: vec![touched],
            rationale: self.reason(),
            ..ProposePatchSet::new(run, DiffFormat::Unified)
        }
    }

    fn evidence(&mut self, run: RunId) -> RecordEvidence {
        RecordEvidence {
            run,
            id: self.optional_id().map(Into::into),
            patchset_id: self.optional(Kind::PatchSet),
            kind: EvidenceKind::Other("review".into()),
            tool: self.text(),
            command_line: self.reason(),
            exit_code: Some(-1),
            summary: self.reason(),
            report_artifacts: vec![],
            report: self.parts(),
        }
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
        let token_usage = TokenUsage {
            input_tokens,
            output_tokens,
            total_tokens: self.dice.pick(&total).flatten(),
            cost_usd: Some(0.25),
        };
        RecordProvenance {
            run,
            id: self.optional_id().map(Into::into),
            provider: self.text(),
            model: self.text(),
            parameters: Some(self.json()),
            temperature: Some(0.5),
            max_tokens: None,
            token_usage: Some(token_usage),
        }
    }

    fn usage(&mut self, run: RunId) -> RecordUsage {
        let costs = [None, Some(0.5), Some(-0.5)];
        RecordUsage {
            run,
            model: self.reason(),
            uncached_input_tokens: self.tokens(),
            cache_read_tokens: self.tokens(),
            cache_write_tokens: 0,
            output_tokens: self.tokens(),
            cost_usd: self.dice.pick(&costs).flatten(),
        }
    }

    fn any_decision(&mut self, run: RunId) -> Decide {
        let mut verdicts = DecisionType::LISTED.to_vec();
        verdicts.push(DecisionType::Other("escalate".into()));
        let verdict = self.dice.pick(&verdicts).unwrap_or(DecisionType::Retry);
        let result_commit_sha = self.optional_oid();
        let checkpoint_id = self.reason();
        Decide {
            id: self.optional_id().map(Into::into),
            chosen_patchset_id: self.optional(Kind::PatchSet),
            result_commit_sha: result_commit_sha.filter(|_| self.dice.once_in(2)),
            checkpoint_id: checkpoint_id.filter(|_| self.dice.once_in(2)),
            rationale: self.reason(),
            ..Decide::new(run, verdict)
        }
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
        NewItem {
            kind: ContextItemKind::File,
            path: self.text(),
            preview: self.reason(),
            blob,
            content,
        }
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
    fn parts(&mut self) -> Vec<ContentPart> {
        let part = |n: usize, any: &mut Self| ContentPart {
            name: match any.dice.roll(24) {
                0 => "part 0".to_owned(),
                1 => any.text(),
                _ => format!("part {n}"),
            },
            content_type: any.dice.once_in(2).then(|| "text/plain".to_owned()),
            content: any.payload(),
        };
        let count = self.dice.roll(3);
        (0..count).map(|n| part(n, self)).collect()
    }

    fn snapshot_command(&mut self) -> Command {
        let snapshot = self.id(Kind::ContextSnapshot);
        match self.one_of(5, Kind::ContextSnapshot) {
            0 => OpenSnapshot {
                id: Some(self.new_id().into()),
                selection_strategy: SelectionStrategy::Heuristic,
                items: (0..self.dice.roll(4)).map(|_| self.item()).collect(),
                summary: self.reason(),
            }
            .into(),
            1 => AddItem {
                snapshot,
                item: self.item(),
            }
            .into(),
            2 => AttachBlob {
                snapshot,
                item: self.number(2),
                blob: self.oid(),
            }
            .into(),
            _ => FinalizeSnapshot {
                snapshot,
                summary: self.reason(),
            }
            .into(),
        }
    }

    fn pipeline_command(&mut self) -> Command {
        let pipeline = self.id(Kind::ContextPipeline);
        match self.one_of(8, Kind::ContextPipeline) {
            0 => {
                let id = Some(self.new_id().into());
                let policy = self.dice.once_in(2).then(|| self.policy());
                let max_frames = match &policy {
                    Some(_) if !self.dice.once_in(8) => None,
                    _ => Some(self.number(4)),
                };
                CreatePipeline {
                    id,
                    max_frames,
                    policy,
                }
                .into()
            }
            3 => SetEvictionPolicy {
                pipeline,
                policy: self.policy(),
            }
            .into(),
            1 => SetMaxFrames {
                pipeline,
                max_frames: self.number(4),
            }
            .into(),
            2 => SetGlobalSummary {
                pipeline,
                summary: self.reason(),
            }
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
        let kind = self.dice.pick(FrameKind::LISTED);
        let kind = kind.unwrap_or(FrameKind::ToolCall);
        let summary = self.words();
        PushFrame {
            data: (!self.dice.once_in(4)).then_some(data),
            content: self.dice.once_in(2).then(|| self.json()),
            token_estimate: Some(self.tokens()),
            ..PushFrame::new(pipeline, kind, summary)
        }
    }

    fn metadata_command(&mut self) -> Command {
        let kind = self.dice.pick(Kind::ALL).unwrap_or(Kind::Run);
        let object = self.of(kind);
        if self.dice.once_in(3) {
            let words = ["", "a b", "x/y", "cache", "größe", "v1.2", "kette_7", "z"];
            let alias = self.dice.pick(&words).unwrap_or("z").to_owned();
            return ReserveAlias { object, alias }.into();
        }
        if self.dice.once_in(3) {
            let checksum = (!self.dice.once_in(4)).then(|| IntegrityHash::of(b"it"));
            return Seal { object, checksum }.into();
        }
        SetMetadata {
            object,
            visibility: self.dice.once_in(2).then_some(Visibility::Public),
            tags: self.labels(),
            external_ids: self.labels(),
        }
        .into()
    }
}

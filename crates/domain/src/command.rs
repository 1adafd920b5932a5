//! All commands by name.

use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use uuid::Uuid;

use crate::world::{Decided, World};
use crate::{
    Meta, alias, intent, metadata, observation, pipeline, plan, run, session, settings, snapshot,
    task,
};

/// A JSON text that is not a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No command has this name.
    #[error("there is no command {name:?}{}; `annals service commands --list` names them all", did_you_mean(.name))]
    UnknownName {
        /// The name that was read.
        name: String,
    },
    /// A field is missing, unknown or of the wrong type.
    #[error("{name}: {}{source}; `annals service commands {name}` shows its fields", at(.path))]
    Fields {
        /// The command's name.
        name: &'static str,
        /// Where in the fields, such as `config.policy.name`; empty for the object
        /// itself.
        path: String,
        /// What serde_json says.
        source: serde_json::Error,
    },
}

fn at(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("{path}: "),
    }
}

/// What is wrong with the fields of a command, and where.
fn misread<T: serde::de::DeserializeOwned>(
    name: &'static str,
    fields: &str,
    source: serde_json::Error,
) -> CommandError {
    let mut json = serde_json::Deserializer::from_str(fields);
    let path = match serde_path_to_error::deserialize::<_, T>(&mut json) {
        Err(error) if error.path().iter().next().is_some() => error.path().to_string(),
        _ => String::new(),
    };
    if path == "submit"
        && let Ok(mut fields) = serde_json::from_str::<serde_json::Value>(fields)
        && let Some(submit) = fields.get_mut("submit")
        && let Some((inside, source)) = session::CommandBody::misread(submit.take())
    {
        let path = format!("submit.{inside}");
        return CommandError::Fields { name, path, source };
    }
    CommandError::Fields { name, path, source }
}

fn did_you_mean(name: &str) -> String {
    let shared = |candidate: &str| {
        name.split('_')
            .filter(|word| candidate.split('_').any(|other| other == *word))
            .count()
    };
    let best = Command::NAMES
        .iter()
        .max_by_key(|candidate| shared(candidate));
    match best {
        Some(best) if shared(best) > 0 => format!(" (did you mean {best}?)"),
        _ => String::new(),
    }
}

/// What makes a command the same one whenever it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnKey {
    /// The id that its caller gave it, or that it got.
    pub id: Uuid,
    /// The idempotency key of its batch, which follows from that id.
    pub key: Uuid,
}

macro_rules! commands {
    ($($variant:ident($type:path) = $name:literal, $decide:path, |$c:ident| $lock_id:expr
        $(, new $new:expr)? $(, alone $alone:literal)? $(, key $key:path, named $name_it:path)?;)+) => {
        /// Any command. Each is made by its `new`, from what it needs, and by `with_` methods for
        /// the rest, which take a value or an `Option` of one.
        ///
        /// ```
        /// use annals_domain::task::{CreateTask, GoalType};
        /// use annals_domain::{Command, TaskId};
        /// let parent: Option<TaskId> = None;
        /// let create = CreateTask::new("Mend the parser").with_goal(GoalType::Bugfix).with_parent(parent);
        /// let read = Command::from_json("create_task", r#"{"title": "Mend the parser", "goal": "bugfix"}"#)?;
        /// assert_eq!(Command::from(create), read);
        /// # Ok::<(), annals_domain::CommandError>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Command {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant($type),
            )+
        }

        $(
            impl From<$type> for Command {
                fn from(command: $type) -> Command {
                    Command::$variant(command)
                }
            }
        )+

        impl Command {
            /// The names of all commands.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            /// The command's name.
            pub fn name(&self) -> &'static str {
                match self { $(Command::$variant(_) => $name,)+ }
            }

            /// Reads a command from its name and the JSON object of its fields.
            ///
            /// # Errors
            /// [`CommandError`].
            pub fn from_json(name: &str, fields: &str) -> Result<Command, CommandError> {
                match name {
                    $($name => serde_json::from_str::<$type>(fields)
                        .map(Command::$variant)
                        .map_err(|source| misread::<$type>($name, fields, source)),)+
                    _ => Err(CommandError::UnknownName { name: name.chars().take(64).collect() }),
                }
            }

            /// The JSON Schema of the command's fields.
            pub fn schema(name: &str, generator: &mut SchemaGenerator) -> Option<Schema> {
                match name {
                    $($name => Some(generator.subschema_for::<$type>()),)+
                    _ => None,
                }
            }

            /// The object that the command is mostly about. Commands that name
            /// the same one are best executed one after the other.
            pub fn lock_id(&self) -> Option<Uuid> {
                match self { $(Command::$variant($c) => $lock_id,)+ }
            }

            /// The id that the command asks for, where it makes an object.
            /// Commands that ask for the same one must be executed one after
            /// the other, or both would find it free. (A caller who drops a
            /// command on its way gives its turn up.)
            pub fn asked_id(&self) -> Option<Uuid> {
                match self {
                    $(Command::$variant($c) => {
                        let _ = $c;
                        None::<Uuid>$(.or($new.map(Uuid::from)))?
                    })+
                }
            }

            /// Why it must be the only command of its batch, if it must.
            pub fn must_be_alone(&self) -> Option<&'static str> {
                match self {
                    $(Command::$variant(_) => None::<&'static str>$(.or(Some($alone)))?,)+
                }
            }

            /// The idempotency key that follows from the command itself, where it has one: given again,
            /// with any key, it is answered as the first time. It has one once it is
            /// [`Command::named`].
            pub fn own_key(&self) -> Option<OwnKey> {
                match self {
                    $(Command::$variant($c) => {
                        let _ = $c;
                        None::<OwnKey>$(.or($key($c)))?
                    })+
                }
            }

            /// The command with a name of its own, if its key follows from one and it has none yet:
            /// one that follows from the caller's key, or else a new id.
            pub fn named(self, key: Option<Uuid>, new_id: impl FnOnce() -> Uuid) -> Command {
                match self {
                    $(Command::$variant($c) => Command::$variant({
                        $(let $c = $name_it($c, key, new_id);)?
                        $c
                    }),)+
                }
            }

            /// Decides what happens: a pure function of the world, the command
            /// and what comes with it.
            ///
            /// # Errors
            /// [`crate::DecideError`].
            pub fn decide(&self, world: &mut World, meta: &Meta) -> Decided {
                meta.actor.check()?;
                match self { $(Command::$variant(command) => $decide(world, command, meta),)+ }
            }
        }
    };
}

// The columns: the command, its name, its decider, the object that it is mostly about; and where it has them, the
// id that it asks for (`new`), why it must be `alone` in its batch, and its own `key` with what gives it the name
// that this follows from.
commands! {
    CreateIntent(intent::CreateIntent) = "create_intent", intent::decide::create, |c| c.id.map(Uuid::from), new c.id;
    AnalyzeIntent(intent::AnalyzeIntent) = "analyze_intent", intent::decide::analyze, |c| Some(c.intent.0);
    ActivateIntent(intent::ActivateIntent) = "activate_intent", intent::decide::activate, |c| Some(c.intent.0);
    SelectPlan(intent::SelectPlan) = "select_plan", intent::decide::select_plan, |c| Some(c.intent.0);
    RecordCommit(intent::RecordCommit) = "record_commit", intent::decide::record_commit, |c| Some(c.intent.0);
    CompleteIntent(intent::CompleteIntent) = "complete_intent", intent::decide::complete, |c| Some(c.intent.0);
    CancelIntent(intent::CancelIntent) = "cancel_intent", intent::decide::cancel, |c| Some(c.intent.0);
    SubmitIntent(intent::SubmitIntent) = "submit_intent", intent::intake::submit, |c| c.observation.map(Uuid::from).or(c.id.map(Uuid::from)), new c.id;
    JudgeIntent(intent::JudgeIntent) = "judge_intent", intent::intake::judge, |c| Some(c.intent.0);
    ApproveIntent(intent::ApproveIntent) = "approve_intent", intent::intake::approve, |c| Some(c.intent.0);
    RejectIntent(intent::RejectIntent) = "reject_intent", intent::intake::reject, |c| Some(c.intent.0);
    InstructIntent(intent::InstructIntent) = "instruct_intent", intent::intake::instruct, |c| Some(c.intent.0);
    StartExecution(intent::StartExecution) = "start_execution", intent::intake::start_execution, |c| Some(c.intent.0);
    RequestClarification(intent::RequestClarification) = "request_clarification", intent::intake::request_clarification, |c| Some(c.intent.0);
    AnswerClarification(intent::AnswerClarification) = "answer_clarification", intent::intake::answer, |c| Some(c.intent.0);
    RecordAnalysis(intent::RecordAnalysis) = "record_analysis", intent::analysis::record, |c| Some(c.intent.0);
    RerunIntent(intent::RerunIntent) = "rerun_intent", intent::rerun::rerun, |c| Some(c.intent.0);
    RecordObservation(observation::RecordObservation) = "record_observation", observation::decide::record, |c| c.id.map(Uuid::from), new c.id;
    ProcessObservation(observation::ProcessObservation) = "process_observation", observation::decide::process, |c| Some(c.observation.0);
    CreatePlan(plan::CreatePlan) = "create_plan", plan::decide::create, |c| c.intent.map(|id| id.0), new c.id;
    AddStep(plan::AddStep) = "add_step", plan::decide::add_step, |c| Some(c.plan.0);
    SetStepStatus(plan::SetStepStatus) = "set_step_status", plan::decide::set_step_status, |c| Some(c.plan.0);
    LinkStepFrames(plan::LinkStepFrames) = "link_step_frames", plan::decide::link_step_frames, |c| Some(c.plan.0);
    SpawnStepTask(plan::SpawnStepTask) = "spawn_step_task", plan::decide::spawn_step_task, |c| Some(c.plan.0), new c.id;
    RecordStepOutput(plan::RecordStepOutput) = "record_step_output", plan::decide::record_step_output, |c| Some(c.plan.0);
    CreateTask(task::CreateTask) = "create_task", task::decide::create, |c| c.id.map(Uuid::from), new c.id;
    AddConstraint(task::AddConstraint) = "add_constraint", task::decide::add_constraint, |c| Some(c.task.0);
    AddAcceptanceCriterion(task::AddAcceptanceCriterion) = "add_acceptance_criterion", task::decide::add_acceptance_criterion, |c| Some(c.task.0);
    AddDependency(task::AddDependency) = "add_dependency", task::decide::add_dependency, |c| Some(c.task.0);
    RecordReview(task::RecordReview) = "record_review", task::review::record, |c| Some(c.task.0);
    FailTask(task::FailTask) = "fail_task", task::decide::fail, |c| Some(c.task.0);
    CancelTask(task::CancelTask) = "cancel_task", task::decide::cancel, |c| Some(c.task.0);
    CreateRun(run::CreateRun) = "create_run", run::decide::create, |c| Some(c.task.0), new c.id;
    AttachSnapshot(run::AttachSnapshot) = "attach_snapshot", run::decide::attach_snapshot, |c| Some(c.run.0);
    StartPatching(run::StartPatching) = "start_patching", run::decide::start_patching, |c| Some(c.run.0);
    StartValidation(run::StartValidation) = "start_validation", run::decide::start_validation, |c| Some(c.run.0);
    RecordToolInvocation(run::RecordToolInvocation) = "record_tool_invocation", run::tool_decide::record_tool_invocation, |c| Some(c.run.0), new c.id;
    RequestToolCall(run::RequestToolCall) = "request_tool_call", run::tool_decide::request_tool_call, |c| Some(c.run.0), new c.id;
    DecideToolCall(run::DecideToolCall) = "decide_tool_call", run::tool_decide::decide_tool_call, |c| Some(c.run.0), new Some(c.tool_invocation);
    BeginToolCall(run::BeginToolCall) = "begin_tool_call", run::tool_decide::begin_tool_call, |c| Some(c.run.0), new Some(c.tool_invocation);
    EndToolCall(run::EndToolCall) = "end_tool_call", run::tool_decide::end_tool_call, |c| Some(c.run.0), new Some(c.tool_invocation);
    ProposePatchSet(run::ProposePatchSet) = "propose_patch_set", run::decide::propose_patch_set, |c| Some(c.run.0), new c.id;
    ApplyPatchSet(run::ApplyPatchSet) = "apply_patch_set", run::decide::apply_patch_set, |c| Some(c.patch_set.0);
    RejectPatchSet(run::RejectPatchSet) = "reject_patch_set", run::decide::reject_patch_set, |c| Some(c.patch_set.0);
    OverrideRationale(run::OverrideRationale) = "override_rationale", run::decide::override_rationale, |c| Some(c.patch_set.0);
    RecordEvidence(run::RecordEvidence) = "record_evidence", run::decide::record_evidence, |c| Some(c.run.0), new c.id;
    RecordProvenance(run::RecordProvenance) = "record_provenance", run::decide::record_provenance, |c| Some(c.run.0), new c.id;
    RecordUsage(run::RecordUsage) = "record_usage", run::decide::record_usage, |c| Some(c.run.0);
    RecordMetrics(run::RecordMetrics) = "record_metrics", run::decide::record_metrics, |c| Some(c.run.0);
    Decide(run::Decide) = "decide", run::decide::decide, |c| Some(c.run.0), new c.id;
    RecordResultCommit(run::RecordResultCommit) = "record_result_commit", run::decide::record_result_commit, |c| Some(c.decision.0);
    FailRun(run::FailRun) = "fail_run", run::decide::fail, |c| Some(c.run.0);
    OpenSnapshot(snapshot::OpenSnapshot) = "open_snapshot", snapshot::decide::open, |c| c.id.map(Uuid::from), new c.id;
    AddItem(snapshot::AddItem) = "add_item", snapshot::decide::add_item, |c| Some(c.snapshot.0);
    AttachBlob(snapshot::AttachBlob) = "attach_blob", snapshot::decide::attach_blob, |c| Some(c.snapshot.0);
    FinalizeSnapshot(snapshot::FinalizeSnapshot) = "finalize_snapshot", snapshot::decide::finalize, |c| Some(c.snapshot.0);
    CreatePipeline(pipeline::CreatePipeline) = "create_pipeline", pipeline::decide::create, |c| c.id.map(Uuid::from), new c.id;
    PushFrame(pipeline::PushFrame) = "push_frame", pipeline::decide::push_frame, |c| Some(c.pipeline.0);
    DropFrames(pipeline::DropFrames) = "drop_frames", pipeline::decide::drop_frames, |c| Some(c.pipeline.0);
    SetMaxFrames(pipeline::SetMaxFrames) = "set_max_frames", pipeline::decide::set_max_frames, |c| Some(c.pipeline.0);
    SetEvictionPolicy(pipeline::SetEvictionPolicy) = "set_eviction_policy", pipeline::decide::set_eviction_policy, |c| Some(c.pipeline.0);
    SetGlobalSummary(pipeline::SetGlobalSummary) = "set_global_summary", pipeline::decide::set_global_summary, |c| Some(c.pipeline.0);
    CreateSession(session::CreateSession) = "create_session", session::decide::create, |c| Some(c.config.session_id.0), new Some(c.config.session_id);
    SubmitCommand(session::SubmitCommand) = "submit_command", session::decide::submit, |c| Some(c.session.0),
        alone "its verdict is looked up by its id",
        key session::SubmitCommand::own_key, named session::SubmitCommand::named;
    ApproveSession(session::ApproveSession) = "approve_session", session::decide::approve, |c| Some(c.session.0);
    DenySession(session::DenySession) = "deny_session", session::decide::deny, |c| Some(c.session.0);
    ExpireApprovals(session::ExpireApprovals) = "expire_approvals", session::decide::expire, |c| Some(c.session.0);
    PauseSession(session::PauseSession) = "pause_session", session::decide::pause, |c| Some(c.session.0);
    ResumeSession(session::ResumeSession) = "resume_session", session::decide::resume, |c| Some(c.session.0);
    AbortSession(session::AbortSession) = "abort_session", session::decide::abort, |c| Some(c.session.0);
    CompleteSession(session::CompleteSession) = "complete_session", session::decide::complete, |c| Some(c.session.0);
    CompleteCommand(session::CompleteCommand) = "complete_command", session::decide::complete_command, |c| Some(c.session.0);
    RecordConflict(session::RecordConflict) = "record_conflict", session::decide::record_conflict, |c| Some(c.session.0);
    RecordArtifact(session::RecordArtifact) = "record_artifact", session::decide::record_artifact, |c| Some(c.session.0);
    RecordBacklog(session::RecordBacklog) = "record_backlog", session::decide::record_backlog, |c| Some(c.session.0);
    RecordWorkItem(session::RecordWorkItem) = "record_work_item", session::decide::record_work_item, |c| Some(c.session.0);
    UpdatePlan(session::UpdatePlan) = "update_plan", session::decide::update_plan, |c| Some(c.session.0);
    LinkPlanTask(session::LinkPlanTask) = "link_plan_task", session::decide::link_plan_task, |c| Some(c.session.0);
    AttachRun(session::AttachRun) = "attach_run", session::decide::attach_run, |c| Some(c.session.0);
    SetSetting(settings::SetSetting) = "set_setting", settings::decide::set, |_c| Some(settings::stream().id);
    SetBudget(settings::SetBudget) = "set_budget", settings::set_budget, |_c| Some(settings::stream().id);
    RemoveBudget(settings::RemoveBudget) = "remove_budget", settings::remove_budget, |_c| Some(settings::stream().id);
    SetMetadata(metadata::SetMetadata) = "set_metadata", metadata::set_metadata, |c| Some(c.object);
    Seal(metadata::Seal) = "seal", metadata::seal, |c| Some(c.object);
    ReserveAlias(alias::ReserveAlias) = "reserve_alias", alias::decide::reserve, |c| Some(alias::stream_of(&c.alias).id);
}

#[cfg(test)]
mod tests;

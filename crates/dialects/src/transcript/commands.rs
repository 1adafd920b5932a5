//! From what was recorded to the commands that record it here.
//!
//! | In the recording | Commands | Frame |
//! | --- | --- | --- |
//! | a session's first work | create_pipeline, create_plan (for the first intent), create_task, create_run, start_patching | |
//! | a prompt | create_intent (refining the prompt's before), set_metadata, analyze_intent, activate_intent | `intent_analysis` |
//! | a side chain's first line | as a session's, the task's parent being that of its caller | `intent_analysis` |
//! | the model's text | | `step_summary` |
//! | the model's thought | | `thinking` |
//! | a tool call whose result is not read when the import ends | request_tool_call | |
//! | a tool call with its result | record_tool_invocation | `tool_call`; `error_recovery` if it failed |
//! | the same, of an edit | and propose_patch_set; reject_patch_set if it failed | `code_change`; `error_recovery` if it failed |
//! | an edit of a file that an earlier result of the chain is about | add_step, link_step_frames (inferred), set_step_status | |
//! | a message's tokens | record_usage | |
//! | the first model of a run | record_provenance | |
//! | a compaction and its summary | drop_frames, where the program says what it dropped | `checkpoint` |
//! | which files the program had copies of | open_snapshot, set_metadata | |
//! | what the program says or adds, also in a user's line | | `system_state` |
//! | a part of another type | | by that type's name |
//!
//! A frame's summary is the beginning of the text. Its content is the result, or
//! all of a text of which the summary is only the beginning. Its data has what
//! this recording alone can have: the names of the line, the message and the
//! part. So the same output has the same content in every recording. Its token
//! estimate counts the text that the model saw of it, by a tokenizer that the
//! data names; parts without text (images, attachments) are not counted, and a
//! frame of nothing else has no estimate.

use annals::Request;
use annals_domain::intent::{ActivateIntent, AnalyzeIntent, CreateIntent};
use annals_domain::metadata::SetMetadata;
use annals_domain::pipeline::{CreatePipeline, FrameKind, PushFrame};
use annals_domain::plan::CreatePlan;
use annals_domain::run::{
    CreateRun, EvidenceKind, RecordEvidence, RecordProvenance, RecordUsage, StartPatching,
};
use annals_domain::task::CreateTask;
use annals_domain::{
    ActorRef, Command, ContentPart, Environment, EvidenceId, IntentId, Json, Ordered, PipelineId,
    RunId, TaskId, Timestamp,
};
use serde::Serialize;
use uuid::Uuid;

use super::agent::Agent;
use super::batch::Frame;
use super::ids::ChainIds;
use super::item::{Counts, Evidence, Origin, Setting};
use super::session::ChainPlace;
use super::texts::{SUMMARY, beginning, bounded};
use crate::tokens;

/// The most characters of a title, one less than git-internal's limit.
const TITLE: usize = 99;

/// What stands for a prompt where there is none.
pub(crate) const NO_PROMPT: &str = "(no prompt)";

/// Who writes prompts; recordings do not say it.
pub(super) fn person() -> ActorRef {
    ActorRef::human("user")
}

impl Agent {
    /// Who answers prompts.
    pub(super) fn agent(&self) -> ActorRef {
        ActorRef::agent(self.actor)
    }

    /// The program around the model.
    pub(super) fn program(&self) -> ActorRef {
        ActorRef::system(self.actor)
    }

    /// The name of an external id.
    pub(super) fn external(&self, what: &str) -> String {
        format!("{}.{what}", self.key)
    }
}

/// Who does something, and when.
#[derive(Debug, Clone)]
pub(super) struct By {
    pub(super) actor: ActorRef,
    pub(super) at: Timestamp,
}

impl By {
    pub(super) fn request(&self, command: impl Into<Command>) -> Request {
        Request::new(self.actor.clone(), command).at(self.at)
    }
}

/// What a chain begins with.
#[derive(Debug)]
pub(super) struct Beginning<'a> {
    pub(super) agent: &'static Agent,
    pub(super) ids: ChainIds,
    pub(super) session: &'a str,
    /// The side chain's name, and the task that it is a part of.
    pub(super) side: Option<(&'a str, TaskId)>,
    pub(super) intent: Option<IntentId>,
    pub(super) title: Option<&'a str>,
    pub(super) setting: Option<&'a Setting>,
    /// The project of its working directory, if that is on this machine.
    pub(super) project: Option<&'a str>,
}

/// Task, run, plan and pipeline of a chain.
pub(super) fn begin(begun: &Beginning<'_>, at: Timestamp) -> Vec<Request> {
    let ids = begun.ids;
    let text = begun.title.unwrap_or(NO_PROMPT);
    let title = title(text);
    // A side chain's plan is not that of the session's intent.
    let planned = begun.intent.filter(|_| begun.side.is_none());
    let mut external = vec![(begun.agent.external("session"), begun.session.to_owned())];
    if let Some((side, _)) = begun.side {
        external.push((begun.agent.external("side_chain"), side.to_owned()));
    }
    let commands: [Command; 6] = [
        CreatePipeline::new().with_id(ids.pipeline).into(),
        CreatePlan::default()
            .with_id(ids.plan)
            .with_intent(planned)
            .with_pipeline(ids.pipeline)
            .into(),
        CreateTask::new(title)
            .with_id(ids.task)
            .with_description((title != text).then(|| bounded(text).to_owned()))
            .with_requester(begun.side.is_none().then(person))
            .with_parent(begun.side.map(|(_, parent)| parent))
            .with_intent(begun.intent)
            .into(),
        external_ids(ids.task.0, external),
        CreateRun::new(ids.task)
            .with_id(ids.run)
            .with_plan(ids.plan)
            .with_environment(
                begun
                    .setting
                    .map(|setting| environment(begun.agent, setting, begun.project)),
            )
            .into(),
        StartPatching::new(ids.run).into(),
    ];
    let by = By {
        actor: begun.agent.agent(),
        at,
    };
    commands.map(|command| by.request(command)).into()
}

/// The first line of a text that is not blank, cut to a title's length.
fn title(text: &str) -> &str {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    beginning(first.unwrap_or(NO_PROMPT), TITLE).trim_end()
}

fn external_ids(object: Uuid, ids: Vec<(String, String)>) -> Command {
    SetMetadata::new(object)
        .with_external_ids(Ordered(ids))
        .into()
}

/// The recording does not say on which machine the session was.
fn environment(agent: &Agent, setting: &Setting, project: Option<&str>) -> Environment {
    let project = project.map(str::to_owned);
    let extra = [
        ("git_branch", &setting.git_branch),
        (agent.version_key, &setting.version),
        ("project", &project),
        ("continues", &setting.continues),
    ];
    let json = |(name, text): (&str, &Option<String>)| {
        let json = Json::from_value(text.as_ref()?).ok()?;
        Some((name.to_owned(), json))
    };
    Environment::new(
        "unknown",
        "unknown",
        setting.cwd.clone().unwrap_or_default(),
    )
    .with_extra(extra.into_iter().filter_map(json).collect::<Ordered<_>>())
}

/// What a person asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) intent: IntentId,
    /// The intent of the prompt before.
    pub(crate) refines: Option<IntentId>,
    pub(crate) text: &'a str,
    pub(crate) session: &'a str,
    /// The line that it is on; none where the agent's program told of it as it was given.
    pub(crate) line: Option<&'a str>,
    /// What the program calls it, where it has a name of its own.
    pub(crate) prompt: Option<&'a str>,
}

/// A prompt as an Active intent. What it asks for is all that is known of its
/// interpretation.
pub(crate) fn prompt(agent: &Agent, asked: &Asked<'_>, at: Timestamp) -> Vec<Request> {
    let intent = asked.intent;
    let external = prompt_names(agent, asked.session, asked.line, asked.prompt);
    let text = bounded(asked.text);
    let create = CreateIntent::new(text)
        .with_id(intent)
        .with_parent(asked.refines);
    let analyze = AnalyzeIntent::new(intent, text);
    let activate = ActivateIntent::new(intent);
    let by = |actor| By { actor, at };
    vec![
        by(person()).request(create),
        by(agent.agent()).request(named(intent, external)),
        by(agent.agent()).request(analyze),
        by(agent.agent()).request(activate),
    ]
}

/// What a recording or a program calls a prompt.
pub(super) fn prompt_names(
    agent: &Agent,
    session: &str,
    line: Option<&str>,
    prompt: Option<&str>,
) -> Vec<(String, String)> {
    let names = [
        ("session", Some(session)),
        ("line", line),
        ("prompt", prompt),
    ];
    let names = names.into_iter();
    let name = |(what, name): (&str, Option<&str>)| Some((agent.external(what), name?.to_owned()));
    names.filter_map(name).collect()
}

/// An intent's names elsewhere.
pub(super) fn named(intent: IntentId, names: Vec<(String, String)>) -> Command {
    external_ids(intent.0, names)
}

/// What a frame keeps for machines in addition to its content; what is `None` is left out.
#[derive(Debug, Default, Serialize)]
pub(super) struct FrameData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_line: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_use: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_use_line: Option<&'a str>,
    /// When the call was made, if its duration does not lead there from the time of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_use_at: Option<Timestamp>,
    /// Where the call was made, if other things were read between it and its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_use_after: Option<&'a ChainPlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subtype: Option<&'a str>,
    /// Where its line comes from; of a tool call, the line of the call.
    #[serde(flatten)]
    pub(super) origin: Option<&'a Origin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compaction: Option<Json>,
    /// What a part has that is not in its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<Ordered<Json>>,
    /// What was too long to be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left_out: Option<&'static str>,
    /// Which tokenizer the token estimate is by, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens_by: Option<&'static str>,
}

/// What a frame says of content that was too long.
pub(super) const LEFT_OUT: &str = "content";

/// A frame, of which the model saw this text.
pub(super) fn frame(
    pipeline: PipelineId,
    kind: FrameKind,
    summary: &str,
    data: FrameData<'_>,
    content: Option<Json>,
    seen: Option<String>,
) -> Frame {
    let data = FrameData {
        tokens_by: seen.is_some().then_some(tokens::TOKENIZER),
        ..data
    };
    let push = PushFrame::new(pipeline, kind, beginning(summary, SUMMARY))
        // It has no map with other keys than texts: it can be written.
        .with_data(Json::from_value(&data).ok())
        .with_content(content);
    Frame { push, seen }
}

/// A frame for a text: its beginning for people, all of it for machines.
pub(super) fn text_frame(
    pipeline: PipelineId,
    kind: FrameKind,
    text: &str,
    data: FrameData<'_>,
) -> Frame {
    let text = bounded(text);
    let is_cut = beginning(text, SUMMARY).len() < text.len();
    let content = is_cut.then(|| Json::from_value(&text).ok()).flatten();
    frame(pipeline, kind, text, data, content, Some(text.to_owned()))
}

/// Tokens on top of those recorded before, and what they cost.
pub(super) fn usage(run: RunId, model: Option<&str>, counts: Counts) -> RecordUsage {
    let [
        uncached,
        cache_read,
        cache_write,
        output,
        reasoning,
        hour,
        cost,
        searches,
    ] = counts;
    RecordUsage::new(run, uncached, output)
        .with_model(model.map(str::to_owned))
        .with_cache_read_tokens(cache_read)
        .with_cache_write_tokens(cache_write)
        .with_reasoning_tokens(reasoning)
        .with_cache_write_1h_tokens(hour)
        .with_web_searches(searches)
        .with_cost_usd((cost > 0).then(|| usd(cost)))
}

/// Billionths of a USD in USD; they are few enough to be exact.
fn usd(billionths: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "it is at most 2^53")]
    let billionths = billionths as f64;
    billionths / 1e9
}

/// What happened around the conversation.
pub(super) fn evidence(run: RunId, id: EvidenceId, evidence: &Evidence) -> RecordEvidence {
    let report = evidence.report.as_ref();
    let report = report.map(|part| ContentPart::new("report.json", part.content.text()));
    let tool = match evidence.tool.trim() {
        "" => "(unnamed)",
        tool => beginning(tool, SUMMARY),
    };
    RecordEvidence::new(run, EvidenceKind::Other(evidence.kind.to_owned()), tool)
        .with_id(id)
        .with_command_line(
            evidence
                .command
                .as_deref()
                .map(|text| bounded(text).to_owned()),
        )
        .with_exit_code(evidence.exit_code)
        .with_summary(
            evidence
                .summary
                .as_deref()
                .map(|text| beginning(text, SUMMARY).to_owned()),
        )
        .with_report(report.into_iter().collect::<Vec<_>>())
}

/// The first model of a run.
pub(super) fn provenance(ids: &ChainIds, provider: &str, model: &str) -> RecordProvenance {
    RecordProvenance::new(ids.run, provider, model).with_id(ids.provenance_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_the_first_line_and_short() {
        assert_eq!(title("\n  Fix it \nplease"), "Fix it");
        assert_eq!(title(" \n"), NO_PROMPT);
        assert_eq!(title(&"é".repeat(200)).chars().count(), TITLE);
    }
}

//! A trajectory as ATIF v1.7 writes it.

use annals_domain::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

/// The version of the format that is written.
pub const SCHEMA_VERSION: &str = "ATIF-v1.7";

/// A trajectory.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Trajectory {
    /// The format's version.
    pub schema_version: &'static str,
    /// The session that the recording named; none for a sub-agent, which has that of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The run.
    pub trajectory_id: String,
    /// The agent.
    pub agent: TrajectoryAgent,
    /// What happened, in the order of the log.
    pub steps: Vec<TrajectoryStep>,
    /// Sums over the steps.
    pub final_metrics: FinalMetrics,
    /// The runs of sub-agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subagent_trajectories: Vec<Trajectory>,
}

impl Trajectory {
    /// Whether an agent said or did something in it, or in one of a sub-agent.
    pub fn has_agent(&self) -> bool {
        let is_own = self.steps.iter().any(|step| step.source == "agent");
        is_own || self.subagent_trajectories.iter().any(Trajectory::has_agent)
    }
}

/// The agent of a trajectory.
#[derive(Debug, Serialize)]
pub struct TrajectoryAgent {
    /// What it is called.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// Its first model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
}

/// A step of a trajectory.
#[derive(Debug, Serialize)]
pub struct TrajectoryStep {
    /// Its number, from 1.
    pub step_id: usize,
    /// When it began, as RFC 3339 writes it.
    pub timestamp: Timestamp,
    /// Who: `user`, `agent` or `system`.
    pub source: &'static str,
    /// The model of an agent's step, if its tokens say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    /// What was said.
    pub message: String,
    /// What the model thought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// The tools that were called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<WrittenCall>,
    /// What they answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    /// The tokens that it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// What the format has no place for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<StepExtra>,
}

/// What a step has in addition to the format.
#[derive(Debug, Serialize)]
pub struct StepExtra {
    /// That it made the conversation shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_management: Option<ContextManagement>,
    /// The kind of the frame that it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_kind: Option<String>,
}

/// What a step did to the conversation.
#[derive(Debug, Serialize)]
pub struct ContextManagement {
    /// `compaction`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

/// A tool call.
#[derive(Debug, Serialize)]
pub struct WrittenCall {
    /// Its id within its step.
    pub tool_call_id: String,
    /// The tool.
    pub function_name: String,
    /// A JSON object.
    pub arguments: Box<RawValue>,
}

/// What came back from the tools of a step.
#[derive(Debug, Default, Serialize)]
pub struct Observation {
    /// One for each call.
    pub results: Vec<WrittenResult>,
}

/// What a tool answered.
#[derive(Debug, Serialize)]
pub struct WrittenResult {
    /// The call.
    pub source_call_id: String,
    /// A text, or a list of texts.
    pub content: Box<RawValue>,
    /// What the format has no place for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<ResultExtra>,
}

/// What a result has in addition to the format.
#[derive(Debug, Serialize)]
pub struct ResultExtra {
    /// Whether the tool failed.
    pub is_error: bool,
}

/// The tokens of a step.
#[derive(Debug, Default, Serialize)]
pub struct Metrics {
    /// With those that were read from a cache and those that were written into one.
    pub prompt_tokens: u64,
    /// What the model wrote.
    pub completion_tokens: u64,
    /// Those that were read from a cache.
    pub cached_tokens: u64,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What the format has no place for.
    pub extra: MetricsExtra,
}

/// What a step's tokens have in addition to the format.
#[derive(Debug, Default, Serialize)]
pub struct MetricsExtra {
    /// Those that were written into a cache.
    pub cache_creation_input_tokens: u64,
    /// The part of them that stays there for an hour.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_creation_1h_input_tokens: u64,
    /// The part of the completion that the model thought with.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Sums over the steps of a trajectory, without those of sub-agents.
#[derive(Debug, Default, Serialize)]
pub struct FinalMetrics {
    /// The prompts' tokens, with those of caches.
    pub total_prompt_tokens: u64,
    /// What the model wrote.
    pub total_completion_tokens: u64,
    /// Those that were read from a cache.
    pub total_cached_tokens: u64,
    /// How many steps there are.
    pub total_steps: usize,
}

impl FinalMetrics {
    /// The sums over these steps.
    pub(super) fn of(steps: &[TrajectoryStep]) -> FinalMetrics {
        let mut sums = FinalMetrics {
            total_steps: steps.len(),
            ..FinalMetrics::default()
        };
        for metrics in steps.iter().filter_map(|step| step.metrics.as_ref()) {
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            add(&mut sums.total_prompt_tokens, metrics.prompt_tokens);
            add(&mut sums.total_completion_tokens, metrics.completion_tokens);
            add(&mut sums.total_cached_tokens, metrics.cached_tokens);
        }
        sums
    }
}

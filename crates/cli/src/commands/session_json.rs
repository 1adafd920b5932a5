//! A session's row as JSON, with the members that the viewer's API has.

use annals::SessionListed;
use annals::domain::Timestamp;
use annals::projections::SessionActivity;
use serde::Serialize;
use uuid::Uuid;

/// A session.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct SessionJson<'s> {
    id: Uuid,
    parent: Option<Uuid>,
    continues: Option<Uuid>,
    agent: Option<&'s str>,
    agent_version: Option<&'s str>,
    agent_session: Option<&'s str>,
    project: Option<&'s str>,
    project_name: Option<&'s str>,
    directory: Option<&'s str>,
    branch: Option<&'s str>,
    /// Models, the newest last.
    models: Vec<&'s str>,
    title: Option<&'s str>,
    status: &'static str,
    /// Of a waiting session, `permission` or `question`.
    waits_for: Option<&'static str>,
    waiting_since: Option<Timestamp>,
    end_reason: Option<&'s str>,
    end_position: Option<u64>,
    started: Option<Timestamp>,
    last_activity: Option<Timestamp>,
    active_ms: u64,
    prompts: u64,
    answers: u64,
    tool_calls: u64,
    failed_calls: u64,
    denied_calls: u64,
    compactions: u64,
    files: u64,
    added: u64,
    deleted: u64,
    /// Tokens, sub-agents included; `None` if none are recorded.
    tokens: Option<u64>,
    /// Cost in USD, sub-agents included; `None` if it is unknown.
    cost: Option<f64>,
    /// The share of sub-agents in millionths of a USD.
    sub_agent_cost_micros: u64,
    unpriced_tokens: u64,
    runs: &'s [Uuid],
    first_position: u64,
    last_position: u64,
}

impl<'s> SessionJson<'s> {
    pub(in crate::commands) fn of(listed: &'s SessionListed) -> SessionJson<'s> {
        let (session, cost) = (&listed.summary, &listed.cost);
        let mut models: Vec<&str> = Vec::new();
        for model in session.models.iter().filter_map(|it| it.model.as_deref()) {
            models.retain(|known| *known != model);
            models.push(model);
        }
        let tokens = narrow(cost.tokens.total());
        SessionJson {
            id: session.id,
            parent: session.parent,
            continues: session.continues,
            agent: session.agent.as_deref(),
            agent_version: session.agent_version.as_deref(),
            agent_session: session.agent_session.as_deref(),
            project: session.project.as_deref(),
            project_name: session.project_name(),
            directory: session.directory.as_deref(),
            branch: session.branch.as_deref(),
            models,
            title: session.title.as_deref(),
            status: status_word(listed.activity),
            waits_for: session.waiting.as_ref().map(|wait| match wait.is_question {
                true => "question",
                false => "permission",
            }),
            waiting_since: session.waiting.as_ref().map(|wait| wait.since),
            end_reason: session.end.as_ref().and_then(|end| end.reason.as_deref()),
            end_position: session.end.as_ref().map(|end| end.position),
            started: session.started,
            last_activity: listed.last_activity,
            active_ms: session.active_ms,
            prompts: session.counts.prompts,
            answers: session.counts.answers,
            tool_calls: session.counts.tool_calls,
            failed_calls: session.counts.failed_calls,
            denied_calls: session.counts.denied_calls,
            compactions: session.counts.compactions,
            files: listed.files.files,
            added: listed.files.added,
            deleted: listed.files.deleted,
            tokens: (tokens > 0).then_some(tokens),
            cost: cost.is_known.then(|| dollars(cost.micros)),
            sub_agent_cost_micros: narrow(cost.sub_agent_micros),
            unpriced_tokens: narrow(cost.unpriced_tokens),
            runs: &session.runs,
            first_position: session.first_position,
            last_position: session.last_position,
        }
    }
}

/// The word for what a session does.
pub(in crate::commands) fn status_word(activity: SessionActivity) -> &'static str {
    match activity {
        SessionActivity::Active => "active",
        SessionActivity::Waiting => "waiting",
        SessionActivity::Ended => "ended",
        SessionActivity::Failed => "failed",
        SessionActivity::Idle => "idle",
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "amounts below 2^53 millionths are exact"
)]
fn dollars(micros: u128) -> f64 {
    micros as f64 / 1_000_000.0
}

fn narrow(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

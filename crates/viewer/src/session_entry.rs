//! A session as the API answers it and as lists and headers show it.

use annals::domain::Timestamp;
pub(crate) use annals::projections::agent_name;
use annals::projections::{ModelUse, ProjectLabels, ResumeCommand, SessionSummary, TokenSums};
use annals::{SessionCost, SessionListed};
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::foreign;

/// A session: one conversation with an agent in one project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct SessionEntry {
    /// The session's id.
    pub(crate) id: Uuid,
    /// The session that started it, for a sub-agent's session.
    pub(crate) parent: Option<Uuid>,
    /// The session that it continues or was forked from.
    pub(crate) continues: Option<Uuid>,
    /// The agent: `claude`, `codex` or the name of its actor.
    pub(crate) agent: Option<String>,
    /// The agent's version.
    pub(crate) agent_version: Option<String>,
    /// The agent's own session id.
    pub(crate) agent_session: Option<String>,
    /// The project's path.
    pub(crate) project: Option<String>,
    /// The project's label: the last component of its path.
    pub(crate) project_name: Option<String>,
    /// The working directory.
    pub(crate) directory: Option<String>,
    /// The newest git branch.
    pub(crate) branch: Option<String>,
    /// The models, the newest last.
    pub(crate) models: Vec<String>,
    /// The title; null if the recording has neither a title nor a prompt.
    pub(crate) title: Option<String>,
    /// `active`, `waiting`, `ended`, `failed` or `idle`.
    pub(crate) status: &'static str,
    /// Of a waiting session, `permission` or `question`.
    pub(crate) waits_for: Option<&'static str>,
    /// Since when it waits.
    pub(crate) waiting_since: Option<Timestamp>,
    /// The reason of its end, in the event's words.
    pub(crate) end_reason: Option<String>,
    /// The position of the event that ended it.
    pub(crate) end_position: Option<u64>,
    /// The time of its first event by the agent's clock; null if the recording has no times.
    pub(crate) started: Option<Timestamp>,
    /// The time of its last event by the agent's clock; null if the recording has no times.
    pub(crate) last_activity: Option<Timestamp>,
    /// Active time in milliseconds.
    pub(crate) active_ms: u64,
    /// Prompts.
    pub(crate) prompts: u64,
    /// Answers.
    pub(crate) answers: u64,
    /// Tool calls.
    pub(crate) tool_calls: u64,
    /// Tool calls that failed.
    pub(crate) failed_calls: u64,
    /// Tool calls that were denied.
    pub(crate) denied_calls: u64,
    /// Compactions.
    pub(crate) compactions: u64,
    /// Changed files.
    pub(crate) files: u64,
    /// Lines added.
    pub(crate) added: u64,
    /// Lines deleted.
    pub(crate) deleted: u64,
    /// Tokens with those of sub-agents; null if none are recorded.
    pub(crate) tokens: Option<SessionTokens>,
    /// The cost in USD, with that of sub-agents; null if it is not known.
    pub(crate) cost: Option<f64>,
    /// The share of sub-agents in millionths of a USD.
    pub(crate) sub_agent_cost_micros: u64,
    /// Tokens without a price.
    pub(crate) unpriced_tokens: u64,
    /// The runs, oldest first.
    pub(crate) runs: Vec<Uuid>,
    /// The command that resumes the session in its agent.
    pub(crate) resume: Option<String>,
    /// The position of its first event.
    pub(crate) first_position: u64,
    /// The position of its last event.
    pub(crate) last_position: u64,
    /// The sessions of its sub-agents.
    pub(crate) sub_agents: Vec<SessionEntry>,
    /// The cost in millionths of a USD.
    #[serde(skip)]
    pub(crate) micros: Option<u128>,
}

/// Tokens of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SessionTokens {
    /// Prompt tokens that came neither from a cache nor went into one.
    pub(crate) uncached_input: u64,
    /// Prompt tokens read from a cache.
    pub(crate) cache_read: u64,
    /// Prompt tokens written to a cache.
    pub(crate) cache_write: u64,
    /// Completion tokens.
    pub(crate) output: u64,
    /// Their sum.
    pub(crate) total: u64,
}

impl SessionTokens {
    fn of(sums: &TokenSums) -> Option<SessionTokens> {
        let total = narrow(sums.total());
        (total > 0).then(|| SessionTokens {
            uncached_input: narrow(sums.uncached_input_tokens),
            cache_read: narrow(sums.cache_read_tokens),
            cache_write: narrow(sums.cache_write_tokens),
            output: narrow(sums.output_tokens),
            total,
        })
    }

    /// The percentage of the prompt that came from a cache.
    pub(crate) fn cached(&self) -> Option<u128> {
        let prompt = u128::from(self.uncached_input)
            + u128::from(self.cache_read)
            + u128::from(self.cache_write);
        (self.cache_read > 0).then(|| u128::from(self.cache_read) * 100 / prompt.max(1))
    }
}

fn narrow(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl SessionEntry {
    pub(crate) fn of(listed: &SessionListed) -> SessionEntry {
        let summary = &listed.summary;
        let micros = micros(&listed.cost);
        SessionEntry {
            status: listed.activity.as_str(),
            waits_for: summary.waiting.as_ref().map(|wait| match wait.is_question {
                true => "question",
                false => "permission",
            }),
            tokens: SessionTokens::of(&listed.cost.tokens),
            cost: micros.map(dollars),
            sub_agent_cost_micros: narrow(listed.cost.sub_agent_micros),
            unpriced_tokens: narrow(listed.cost.unpriced_tokens),
            sub_agents: listed.sub_agents.iter().map(SessionEntry::of).collect(),
            micros,
            last_activity: listed.last_activity,
            files: listed.files.files,
            added: listed.files.added,
            deleted: listed.files.deleted,
            ..SessionEntry::of_summary(summary)
        }
    }

    fn of_summary(summary: &SessionSummary) -> SessionEntry {
        let resume = summary
            .agent
            .as_deref()
            .zip(summary.agent_session.as_deref());
        let resume = resume.filter(|_| summary.parent.is_none());
        let resume = resume.and_then(|(agent, session)| ResumeCommand::of(agent, session));
        let (counts, files) = (&summary.counts, &summary.files);
        SessionEntry {
            id: summary.id,
            parent: summary.parent,
            continues: summary.continues,
            agent: summary.agent.clone(),
            agent_version: summary.agent_version.clone(),
            agent_session: summary.agent_session.clone(),
            project: summary.project.clone(),
            project_name: summary.project_name().map(str::to_owned),
            directory: summary.directory.clone(),
            branch: summary.branch.clone(),
            models: models(&summary.models),
            title: summary.title.clone(),
            status: "",
            waits_for: None,
            waiting_since: summary.waiting.as_ref().map(|wait| wait.since),
            end_reason: summary.end.as_ref().and_then(|end| end.reason.clone()),
            end_position: summary.end.as_ref().map(|end| end.position),
            started: summary.started,
            last_activity: summary.last_activity,
            active_ms: summary.active_ms,
            prompts: counts.prompts,
            answers: counts.answers,
            tool_calls: counts.tool_calls,
            failed_calls: counts.failed_calls,
            denied_calls: counts.denied_calls,
            compactions: counts.compactions,
            files: files.files,
            added: files.added,
            deleted: files.deleted,
            tokens: None,
            cost: None,
            sub_agent_cost_micros: 0,
            unpriced_tokens: 0,
            runs: summary.runs.clone(),
            resume: resume.map(|command| command.to_string()),
            first_position: summary.first_position,
            last_position: summary.last_position,
            sub_agents: Vec::new(),
            micros: None,
        }
    }

    /// The title, or words in its place.
    pub(crate) fn name(&self) -> String {
        match &self.title {
            Some(title) if !title.trim().is_empty() => foreign::one_line(title, 200),
            _ => match &self.agent {
                Some(agent) => format!("{} session without a prompt", agent_name(agent)),
                None => "Session without a prompt".to_owned(),
            },
        }
    }

    /// The newest model.
    pub(crate) fn model(&self) -> Option<&str> {
        self.models.last().map(String::as_str)
    }

    /// The address of its conversation.
    pub(crate) fn address(&self) -> String {
        format!("/sessions/{}", self.id)
    }

    /// All sub-agent sessions at any depth.
    pub(crate) fn all_sub_agents(&self) -> Vec<&SessionEntry> {
        let mut all = Vec::new();
        let mut next: Vec<&SessionEntry> = self.sub_agents.iter().collect();
        while let Some(entry) = next.pop() {
            all.push(entry);
            next.extend(&entry.sub_agents);
        }
        all
    }
}

/// The models by name, each once, the newest last.
fn models(uses: &[ModelUse]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in uses.iter().filter_map(|it| it.model.clone()) {
        names.retain(|known| *known != name);
        names.push(name);
    }
    names
}

/// The cost: computed from prices, else as the agent's program recorded it.
fn micros(cost: &SessionCost) -> Option<u128> {
    match cost.is_known {
        true => Some(cost.micros),
        false => cost.recorded_micros.filter(|_| cost.micros == 0),
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "an amount for people has fewer digits"
)]
fn dollars(micros: u128) -> f64 {
    micros as f64 / 1e6
}

/// The dot of a status, with the word for screen readers.
pub(crate) fn dot(status: &str) -> Markup {
    html! { span.dot.(status) title=(status) {} span.unseen { (status) } }
}

/// The badge of a status.
pub(crate) fn badge(status: &str) -> Markup {
    let class = match status {
        "active" => "good",
        "waiting" => "wait",
        "failed" => "bad",
        _ => "plain",
    };
    html! { span.badge.(class) { (status) } }
}

/// Names the projects of a list so that two of one name can be told apart, also from `others`.
pub(crate) fn label_projects<'a>(
    entries: &mut [SessionEntry],
    others: impl IntoIterator<Item = &'a str>,
) {
    let mut paths: Vec<String> = others.into_iter().map(str::to_owned).collect();
    paths.extend(entries.iter().filter_map(|entry| entry.project.clone()));
    let labels = ProjectLabels::of(paths.iter().map(String::as_str));
    for entry in entries {
        let label = entry.project.as_deref().map(|path| labels.label(path));
        entry.project_name = label.map(str::to_owned).or(entry.project_name.take());
    }
}

/// A model's name without the maker's prefix and the date.
pub(crate) fn model_name(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("claude-").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((short, date))
            if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            short
        }
        _ => name,
    }
}

/// A session for tests.
#[cfg(test)]
pub(crate) fn sample() -> SessionEntry {
    SessionEntry {
        id: Uuid::nil(),
        parent: None,
        continues: None,
        agent: Some("claude".to_owned()),
        agent_version: None,
        agent_session: Some("7c41e9".to_owned()),
        project: Some("/work/shop".to_owned()),
        project_name: Some("shop".to_owned()),
        directory: None,
        branch: None,
        models: vec!["claude-sonnet-4-5".to_owned()],
        title: Some("Show VAT per line".to_owned()),
        status: "ended",
        waits_for: None,
        waiting_since: None,
        end_reason: None,
        end_position: None,
        started: None,
        last_activity: None,
        active_ms: 0,
        prompts: 1,
        answers: 1,
        tool_calls: 0,
        failed_calls: 0,
        denied_calls: 0,
        compactions: 0,
        files: 0,
        added: 0,
        deleted: 0,
        tokens: None,
        cost: None,
        sub_agent_cost_micros: 0,
        unpriced_tokens: 0,
        runs: Vec::new(),
        resume: None,
        first_position: 1,
        last_position: 2,
        sub_agents: Vec::new(),
        micros: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_for_people() {
        assert_eq!(model_name("claude-sonnet-4-5-20250929"), "sonnet-4-5");
        assert_eq!(model_name("anthropic/claude-opus-4-5"), "opus-4-5");
        assert_eq!(model_name("gpt-5-codex"), "gpt-5-codex");
        assert_eq!(agent_name("claude"), "Claude Code");
        assert_eq!(agent_name("mine"), "mine");
    }

    #[test]
    fn cached_tokens_are_a_share_of_the_prompt() {
        let sums = TokenSums {
            uncached_input_tokens: 10,
            cache_read_tokens: 90,
            output_tokens: 1_000,
            ..TokenSums::default()
        };
        let tokens = SessionTokens::of(&sums);
        assert_eq!(tokens.and_then(|tokens| tokens.cached()), Some(90));
        assert_eq!(SessionTokens::of(&TokenSums::default()), None);
    }
}

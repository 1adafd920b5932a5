//! What a person wants to know of a run, from its whole stream: what it used, changed and came to, and what went wrong.

mod files;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use annals_domain::run::{
    CallStatus, DecisionMade, Event, EvidenceRecorded, StoredTokens, call_of,
};
use annals_domain::{
    AnyEvent, DecisionId, EvidenceId, GitOid, Kind, RunId, Timestamp, ToolInvocationId, run,
};
use annals_event_log::{Position, Version};

use crate::history::{ended, invoked, requested};
use crate::{CallEnd, CallLine, Entry, Fold, ObjectView, RunView, Text, Tokens};
use files::Files;
pub use files::ReportedFile;

/// Failed calls, and checks, that are kept: the last ones.
const KEPT: usize = 20;

/// What is known of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunReport {
    /// The run itself.
    pub run: RunView,
    /// The models that it was executed with, each once.
    pub models: Vec<ReportedModel>,
    /// Tokens that are known to have been used.
    pub tokens: Option<Tokens>,
    /// Tool calls.
    pub calls: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of them that were denied.
    pub denied: u64,
    /// The last calls that failed, oldest first.
    pub failed_calls: Vec<FailedCall>,
    /// Candidate diffs that were not turned down.
    pub patch_sets: u64,
    /// The files of these, in the order in which they were touched first.
    pub files: Vec<ReportedFile>,
    /// Validation steps, and what else was recorded as evidence.
    pub checks: u64,
    /// The last of them, oldest first.
    pub last_checks: Vec<ReportedCheck>,
    /// The last verdict.
    pub decision: Option<ReportedDecision>,
    /// When it came to its end, if it did.
    pub ended_at: Option<Timestamp>,
    /// When the last event of its stream happened.
    pub last_at: Timestamp,
    /// Events in its stream.
    pub events: u64,
}

/// A model that a run was executed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedModel {
    /// Who provides it.
    pub provider: Text,
    /// The model.
    pub model: Text,
}

/// A tool call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCall {
    /// The call.
    pub id: ToolInvocationId,
    /// The event that says so.
    pub position: Position,
    /// What was called, as far as that is known.
    pub line: CallLine,
    /// How it ended.
    end: CallEnd,
    /// The event of the run's stream that says what was called, where another one does.
    pub requested: Option<Version>,
}

impl FailedCall {
    /// Completes it by the event that says what was called.
    pub fn complete(&mut self, entry: &Entry) {
        if let AnyEvent::Run(Event::ToolRequested(event)) = &entry.event
            && event.tool_invocation == self.id
        {
            self.line = requested(event, entry).ended(&self.end);
        }
    }
}

/// A validation step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedCheck {
    /// The evidence.
    pub id: EvidenceId,
    /// The event's position.
    pub position: Position,
    /// What kind of step it was.
    pub kind: String,
    /// The tool.
    pub tool: Text,
    /// The command line.
    pub command: Option<Text>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// Short summary of the result.
    pub summary: Option<Text>,
}

/// A run's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedDecision {
    /// The decision.
    pub id: DecisionId,
    /// The verdict, in a word.
    pub verdict: String,
    /// The git commit that it led to.
    pub commit: Option<GitOid>,
    /// Why.
    pub rationale: Option<Text>,
    /// When it was made.
    pub at: Timestamp,
}

/// What is known of a call.
#[derive(Debug, Clone, Copy, Default)]
struct Call {
    status: Option<CallStatus>,
    requested: Option<Version>,
}

/// Folds a run's stream into its report. Most events of a long run are tool calls that worked, of which nothing is
/// needed but that they were.
#[derive(Debug)]
pub struct RunReportFold {
    run: Fold,
    calls: HashMap<ToolInvocationId, Call>,
    failed_calls: VecDeque<FailedCall>,
    models: Vec<ReportedModel>,
    tokens: Option<Tokens>,
    files: Files,
    checks: u64,
    last_checks: VecDeque<ReportedCheck>,
    decision: Option<ReportedDecision>,
    ended_at: Option<Timestamp>,
    last_at: Timestamp,
    events: u64,
}

impl RunReportFold {
    /// Nothing is folded yet.
    pub fn new(run: RunId) -> RunReportFold {
        RunReportFold {
            run: Fold::new(Kind::Run, run.0),
            calls: HashMap::new(),
            failed_calls: VecDeque::new(),
            models: Vec::new(),
            tokens: None,
            files: Files::default(),
            checks: 0,
            last_checks: VecDeque::new(),
            decision: None,
            ended_at: None,
            last_at: Timestamp::EPOCH,
            events: 0,
        }
    }

    /// Counts an event of the run's stream, and says whether [`RunReportFold::apply`] needs its content.
    pub fn count(&mut self, event: &AnyEvent, version: Version, at: Timestamp) -> bool {
        self.events += 1;
        self.last_at = self.last_at.max(at);
        let AnyEvent::Run(event) = event else {
            return false;
        };
        let Some(id) = call_of(event) else {
            return true;
        };
        let call = self.calls.entry(id).or_default();
        if matches!(event, Event::ToolRequested(_)) {
            call.requested = Some(version);
        }
        let had_failed = call.status == Some(CallStatus::Error);
        call.status = CallStatus::after(call.status, event);
        let has_failed = call.status == Some(CallStatus::Error);
        if had_failed && !has_failed {
            self.failed_calls.retain(|failed| failed.id != id);
        }
        has_failed && !had_failed
    }

    /// Folds an event in whose content is needed, after it was counted.
    pub fn apply(&mut self, entry: &Entry) {
        let AnyEvent::Run(event) = &entry.event else {
            return;
        };
        self.run.apply(entry);
        match event {
            Event::ToolEnded(event) => {
                let tool = event.tool_name.map(|tool| entry.text(tool).to_string());
                let tool = tool.unwrap_or_else(|| "(unknown tool)".to_owned());
                let end = ended(event, entry);
                let line = CallLine::new(&tool, None).ended(&end);
                self.failed(event.tool_invocation, line, end, entry);
            }
            Event::ToolInvoked(event) => self.whole_failed(event, entry),
            Event::ToolInvocationAdopted(event) => self.whole_failed(&event.invocation, entry),
            Event::ProvenanceRecorded(event) => {
                self.model(entry.text(event.provider), entry.text(event.model));
                self.used(event.token_usage.map(stated));
            }
            Event::ProvenanceAdopted(event) => {
                self.model(entry.text(event.provider), entry.text(event.model));
                let tokens = event.token_usage.map(|it| StoredTokens {
                    input_tokens: it.input_tokens,
                    output_tokens: it.output_tokens,
                    cost_usd: it.cost_usd,
                });
                self.used(tokens.map(stated));
            }
            Event::UsageRecorded(event) => self.used(Some(Tokens::of(event))),
            Event::EvidenceRecorded(event) => self.check(event, entry),
            Event::EvidenceAdopted(event) => self.check(&event.evidence, entry),
            Event::DecisionMade(event) => {
                self.ended_at = Some(entry.occurred_at);
                self.decide(event, entry);
            }
            Event::DecisionAdopted(event) => self.decide(&event.decision, entry),
            Event::ResultCommitRecorded(event) => {
                let made = self.decision.as_mut();
                if let Some(made) = made.filter(|made| made.id == event.decision) {
                    made.commit = Some(event.commit);
                }
            }
            Event::Failed(_) => self.ended_at = Some(entry.occurred_at),
            event => self.files.apply(event, entry),
        }
    }

    /// What is known of the run; none before it was created.
    pub fn report(self) -> Option<RunReport> {
        let ObjectView::Run(run) = self.run.view()? else {
            return None;
        };
        let of = |status| {
            self.calls
                .values()
                .filter(|call| call.status == Some(status))
                .count() as u64
        };
        let is_over = matches!(run.status(), run::Status::Completed | run::Status::Failed);
        let ended_at = self.ended_at.or(is_over.then_some(run.header.updated_at));
        let (patch_sets, files) = self.files.finish();
        Some(RunReport {
            models: self.models,
            tokens: self.tokens,
            calls: self.calls.len() as u64,
            failed: of(CallStatus::Error),
            denied: of(CallStatus::Denied),
            failed_calls: self.failed_calls.into(),
            patch_sets,
            files,
            checks: self.checks,
            last_checks: self.last_checks.into(),
            decision: self.decision,
            ended_at,
            last_at: self.last_at.max(run.header.updated_at),
            events: self.events,
            run,
        })
    }

    fn whole_failed(&mut self, event: &run::ToolInvoked, entry: &Entry) {
        let end = CallEnd::new(event.status);
        self.failed(event.tool_invocation, invoked(event, entry), end, entry);
    }

    fn failed(&mut self, id: ToolInvocationId, line: CallLine, end: CallEnd, entry: &Entry) {
        let is_whole = matches!(
            &entry.event,
            AnyEvent::Run(Event::ToolInvoked(_) | Event::ToolInvocationAdopted(_))
        );
        let requested = self.calls.get(&id).and_then(|call| call.requested);
        self.failed_calls.push_back(FailedCall {
            id,
            position: entry.position,
            line,
            end,
            requested: requested.filter(|_| !is_whole),
        });
        if self.failed_calls.len() > KEPT {
            self.failed_calls.pop_front();
        }
    }

    fn model(&mut self, provider: Text, model: Text) {
        let used = ReportedModel { provider, model };
        if !self.models.contains(&used) {
            self.models.push(used);
        }
    }

    fn used(&mut self, more: Option<Tokens>) {
        if let Some(more) = more {
            self.tokens = Some(self.tokens.map_or(more, |known| known.plus(more)));
        }
    }

    fn check(&mut self, event: &EvidenceRecorded, entry: &Entry) {
        self.checks += 1;
        self.last_checks.push_back(ReportedCheck {
            id: event.evidence,
            position: entry.position,
            kind: event.kind.to_string(),
            tool: entry.text(event.tool),
            command: entry.optional_text(event.command),
            exit_code: event.exit_code,
            summary: entry.optional_text(event.summary),
        });
        if self.last_checks.len() > KEPT {
            self.last_checks.pop_front();
        }
    }

    fn decide(&mut self, event: &DecisionMade, entry: &Entry) {
        self.decision = Some(ReportedDecision {
            id: event.decision,
            verdict: event.decision_type.to_string(),
            commit: event.result_commit,
            rationale: entry.optional_text(event.rationale),
            at: entry.occurred_at,
        });
    }
}

/// Tokens as a provenance states them: which of the prompt's came from a cache is not known.
fn stated(tokens: StoredTokens) -> Tokens {
    Tokens {
        uncached_input_tokens: tokens.input_tokens,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: tokens.output_tokens,
        total_tokens: tokens.input_tokens.saturating_add(tokens.output_tokens),
        cost_usd: tokens.cost_usd,
    }
}

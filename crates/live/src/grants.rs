//! What a log knows of a decision before it is told: on which permission it rests, and what was in force already.
//!
//! Agents do not say on which permission a call rests. It is known where the same call was allowed for the session
//! before, and where the rule that lets it through is one that the call of an earlier permission could have been
//! allowed by: agents make rules of calls that people allow from then on.

use annals::domain::run::{GrantScope, ToolDecider, ToolVerdict};
use annals::domain::{IntegrityHash, RunId, ToolInvocationId};
use annals::projections::{DecisionsQuery, FileInForceView, JsonText};
use annals::{Annals, DecidedCall, ViewError};
use annals_dialects::import::RedactedText;
use annals_dialects::live::{CallStep, CallTold, Decided, FileSays, LiveAgent, Telling, Told};
use annals_tool_policy::Call;
use serde_json::Value;

use crate::settings::{Asked, Place, Rule};

/// Permissions of a session that are looked at.
const MOST: usize = 100;
/// Arguments that say nothing of what a call does.
const REMARKS: [&str; 4] = ["description", "justification", "timeout", "timeout_ms"];

/// Completes the decisions that are told of by what the log knows.
pub(crate) async fn complete(
    annals: &Annals,
    agent: LiveAgent,
    telling: &mut Telling,
) -> Result<(), ViewError> {
    let whole = agent.ids().session(&telling.session).run;
    let own = match &telling.side {
        Some(side) => agent.ids().side_chain(&telling.session, side).run,
        None => whole,
    };
    let cwd = telling.cwd.as_deref().map(str::to_owned);
    let Told::Call(call) = &mut telling.told else {
        return Ok(());
    };
    let known = Known {
        annals,
        call: agent.ids().tool(&call.id).invocation,
        runs: [whole, own],
        cwd,
    };
    let args = requested(call);
    for step in &mut call.steps {
        if let CallStep::Decided(decided) = step {
            known.complete(decided, args.as_ref()).await?;
        }
    }
    Ok(())
}

/// Returns `true` if what is told has a decision, which [`complete`] completes.
pub(crate) fn looks_into_log(telling: &Telling) -> bool {
    let is_decision = |step: &CallStep| matches!(step, CallStep::Decided(_));
    match &telling.told {
        Told::Call(call) => call.steps.iter().any(is_decision),
        _ => false,
    }
}

/// The arguments, where what is told has them.
fn requested(call: &CallTold) -> Option<Value> {
    call.steps.iter().find_map(|step| match step {
        CallStep::Requested { args } => serde_json::from_str(args.as_deref()?).ok(),
        _ => None,
    })
}

/// Where what is known is looked for.
struct Known<'a> {
    annals: &'a Annals,
    call: ToolInvocationId,
    /// The session's run, and that of the call.
    runs: [RunId; 2],
    cwd: Option<String>,
}

impl Known<'_> {
    async fn complete(&self, decided: &mut Decided, args: Option<&Value>) -> Result<(), ViewError> {
        let [_, own] = self.runs;
        if let Some(files) = &decided.in_force {
            let before = self.annals.tool_calls().last_in_force(own).await?;
            if before.is_some_and(|before| is_same(files, &before.files)) {
                decided.in_force = None;
            }
        }
        if decided.verdict != ToolVerdict::Allow || decided.grant.is_some() {
            return Ok(());
        }
        let scope = decided.scope.unwrap_or(GrantScope::Once);
        let is_of_person = decided.by == ToolDecider::Person && scope.is_kept();
        if is_of_person {
            decided.grant = self.of_the_same(scope, args).await?;
            if decided.grant.is_some() {
                // The permission holds; this is a use of it.
                decided.scope = None;
            }
        } else if decided.by == ToolDecider::Rule && decided.is_inferred {
            decided.grant = self.of_rule(decided).await?;
        }
        Ok(())
    }

    /// The first permission that was given for the same call.
    async fn of_the_same(
        &self,
        scope: GrantScope,
        args: Option<&Value>,
    ) -> Result<Option<ToolInvocationId>, ViewError> {
        let given = self.given(scope).await?;
        if given.is_empty() {
            return Ok(None);
        }
        let view = self.annals.tool_calls().call(self.call).await?;
        let Some(view) = view else {
            return Ok(None);
        };
        let asked = args.cloned().or_else(|| parsed(view.args.as_ref()));
        let Some(asked) = asked.as_ref().map(what) else {
            return Ok(None);
        };
        let is_same = |given: &&DecidedCall| {
            let args = parsed(given.args.as_ref());
            given.tool == view.tool_name && args.as_ref().map(what).as_ref() == Some(&asked)
        };
        Ok(given.iter().rfind(is_same).map(|given| given.call))
    }

    /// The first permission with which the rule may have been made that decides.
    async fn of_rule(&self, decided: &Decided) -> Result<Option<ToolInvocationId>, ViewError> {
        let Some(rule) = decided.by_name.as_deref().map(Rule::parse) else {
            return Ok(None);
        };
        // Settings of a project are in a folder of its own.
        let source = decided.source.as_deref().map(std::path::Path::new);
        let project = source.and_then(|path| path.parent()?.parent()?.to_str());
        let place = Place {
            cwd: self.cwd.clone(),
            project: project.map(str::to_owned),
            home: std::env::var("HOME").ok(),
        };
        let made = |given: &&DecidedCall| {
            let (Some(tool), Some(args)) = (given.tool.as_str(), parsed(given.args.as_ref()))
            else {
                return false;
            };
            let call = Call::new(tool, args).with_cwd(self.cwd.clone());
            Asked::at(&call, place.clone()).could_be_allowed_by(&rule)
        };
        let given = self.given(GrantScope::Settings).await?;
        Ok(given.iter().rfind(made).map(|given| given.call))
    }

    /// Permissions of the session that other calls can rest on, the newest first.
    async fn given(&self, scope: GrantScope) -> Result<Vec<DecidedCall>, ViewError> {
        let mut runs: Vec<_> = self.runs.iter().map(|run| run.0).collect();
        runs.dedup();
        let query = DecisionsQuery::default()
            .with_grants(true)
            .with_verdicts(vec![ToolVerdict::Allow])
            .with_runs(runs)
            .with_limit(MOST);
        let mut given = self.annals.tool_calls().decisions(&query).await?.rows;
        given.retain(|given| given.call != self.call && given.decision.scope == scope);
        Ok(given)
    }
}

/// What a call does, of its arguments: those that say nothing of it differ from one to the next.
fn what(args: &Value) -> Value {
    let mut args = args.clone();
    if let Some(fields) = args.as_object_mut() {
        fields.retain(|name, _| !REMARKS.contains(&name.as_str()));
    }
    args
}

fn parsed(args: Option<&JsonText>) -> Option<Value> {
    serde_json::from_str(args?.json()?.text()).ok()
}

/// Whether the files are those that were in force before.
fn is_same(files: &[(RedactedText, FileSays)], before: &[FileInForceView]) -> bool {
    let is = |(path, says): &(RedactedText, FileSays), before: &FileInForceView| {
        let hash = match says {
            FileSays::Content(content) => IntegrityHash::of(content.as_bytes()),
            FileSays::Hash(hash) => *hash,
        };
        before.path.as_str() == Some(path.as_str()) && before.hash == Some(hash)
    };
    files.len() == before.len()
        && files
            .iter()
            .zip(before)
            .all(|(file, before)| is(file, before))
}

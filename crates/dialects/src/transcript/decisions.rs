//! Who let a call through, or did not, as far as the recording says.
//!
//! Each decision is a batch of its own behind that of its call, so that recordings which were imported
//! before decisions were read get these and nothing else.

use annals_domain::run::{DecideToolCall, ToolDecider};

use super::batch::{ImportBatch, Load};
use super::commands::{self, By};
use super::item::CallDecision;
use super::place::Spoken;
use super::texts;
use super::tool::Of;

/// The batch of the decision on a call, if the line that has its result knows of one.
pub(super) fn batch(spoken: &Spoken<'_>, call: &str, of: &Of) -> Option<ImportBatch> {
    let mut decisions = spoken.entry.decisions.iter();
    let decision = decisions.find(|decision| decision.call == call)?;
    let actor = match (decision.by, decision.inferred) {
        (ToolDecider::Person, false) => commands::person(),
        _ => of.agent.program(),
    };
    let by = By {
        actor,
        at: spoken.at,
    };
    let mut load = Load::default();
    if decision.inferred {
        load.fields
            .inferred("tool decision (what was allowed without asking)");
    }
    Some(ImportBatch::new(
        of.ids.decided(),
        call.to_owned(),
        vec![by.request(command(decision, of))],
        load,
        spoken.line,
    ))
}

fn command(decision: &CallDecision, of: &Of) -> DecideToolCall {
    let short = |text: &String| texts::beginning(text, texts::SUMMARY).to_owned();
    let (run, call) = (of.chain.run, of.ids.invocation);
    DecideToolCall::new(run, call, decision.verdict, decision.by)
        .with_by_name(decision.by_name.clone())
        .with_reason(decision.reason.as_ref().map(short))
        .with_source(decision.source.clone())
        .with_scope(decision.scope)
        .with_permission_mode(decision.mode.clone())
        .with_inferred(decision.inferred)
}

//! Events of tool calls: each is counted once, and some wait for a person.

use annals_domain::run::{self, ToolDecided, ToolInvoked, ToolStatus, ToolVerdict};
use uuid::Uuid;

use super::{Done, Fold};
use crate::Text;
use crate::conversation::{NO_RESULT, QUESTIONS};
use crate::sessions::row::{self, CALL, CallRow};

/// The tool by which Claude Code asks whether a plan is approved. In a conversation it is one that plans.
const PLAN_APPROVAL: &str = "exitplanmode";

/// Returns `true` if a tool asks the person a question.
fn asks(tool: &str) -> bool {
    let letters = tool.chars().filter(char::is_ascii_alphabetic);
    let name: String = letters.map(|it| it.to_ascii_lowercase()).collect();
    name == PLAN_APPROVAL || QUESTIONS.contains(&name.as_str())
}

/// A change of a call.
pub(super) enum CallStep<'a> {
    Requested {
        is_question: bool,
    },
    Decided(&'a ToolDecided),
    Begun,
    Over(ToolStatus),
    /// The recording has no result of it.
    NoResult,
    /// It was denied, and there is no decision that says by whom.
    Refused,
}

impl Fold<'_, '_> {
    pub(super) async fn of_call(&mut self, run: Uuid, event: &run::Event) -> Done {
        let (call, step) = match event {
            run::Event::ToolRequested(event) => {
                let is_question = asks(&self.entry.text(event.tool_name).to_string());
                (event.tool_invocation, CallStep::Requested { is_question })
            }
            run::Event::ToolDecided(event) => (event.tool_invocation, CallStep::Decided(event)),
            run::Event::ToolBegun(event) => (event.tool_invocation, CallStep::Begun),
            run::Event::ToolEnded(event) => (event.tool_invocation, CallStep::Over(event.status)),
            run::Event::ToolInvoked(event) => (event.tool_invocation, self.whole(event)),
            run::Event::ToolInvocationAdopted(event) => {
                let call = &event.invocation;
                (call.tool_invocation, self.whole(call))
            }
            _ => return Ok(()),
        };
        let session = self.active(run).await?;
        self.rows.begin(session).await?;
        let at = self.entry.agents_time();
        self.rows.session(session).await?.take_back_end(at);
        self.step(session, call.0, &step).await
    }

    /// The step of a call that was recorded as a whole.
    fn whole(&self, call: &ToolInvoked) -> CallStep<'static> {
        let summary = call.result_summary.map(|slot| self.entry.text(slot));
        match summary.as_ref().and_then(Text::as_str) {
            Some(NO_RESULT) => CallStep::NoResult,
            _ => CallStep::Over(call.status),
        }
    }

    /// Counts a call, and what changed of it.
    pub(super) async fn step(&mut self, session: Uuid, call: Uuid, step: &CallStep<'_>) -> Done {
        let known = self.rows.call(call).await?;
        let is_new = known.is_none();
        let mut now = known.unwrap_or(CallRow {
            session,
            is_denied: false,
            is_failed: false,
            is_over: false,
        });
        let before = (now.is_denied, now.is_failed && !now.is_denied);
        now.apply(step);
        let after = (now.is_denied, now.is_failed && !now.is_denied);
        // Its session counts it, also where another one has a copy of it.
        let owner = self.rows.merged(now.session).await?;
        let entry = self.entry;
        let held = self.rows.session(owner).await?;
        let counts = &mut held.row.summary.counts;
        counts.tool_calls += u64::from(is_new);
        adjust(&mut counts.denied_calls, before.0, after.0);
        adjust(&mut counts.failed_calls, before.1, after.1);
        match step {
            CallStep::Requested { is_question: true } if !now.is_over => {
                held.wait_for(call, true, entry.occurred_at);
            }
            CallStep::Requested { .. } => {}
            CallStep::Decided(decided) => match decided.verdict {
                ToolVerdict::Ask if !now.is_over => held.wait_for(call, false, entry.occurred_at),
                ToolVerdict::Ask => {}
                ToolVerdict::Allow => held.close_wait(call, false),
                ToolVerdict::Deny => held.close_wait(call, true),
            },
            CallStep::Begun => held.close_wait(call, false),
            CallStep::Over(_) | CallStep::NoResult | CallStep::Refused => {
                held.close_wait(call, true);
            }
        }
        self.rows
            .table
            .put_bytes(&row::key(CALL, call), row::write(&now)?);
        Ok(())
    }
}

impl CallRow {
    fn apply(&mut self, step: &CallStep<'_>) {
        match step {
            CallStep::Requested { .. } | CallStep::Begun => {}
            // How it ended is not known, unless it was recorded before.
            CallStep::NoResult => self.is_over = true,
            CallStep::Decided(decided) => match decided.verdict {
                ToolVerdict::Deny => self.is_denied = true,
                ToolVerdict::Allow if decided.lifts_denials() => self.is_denied = false,
                ToolVerdict::Allow | ToolVerdict::Ask => {}
            },
            CallStep::Refused => self.is_denied = true,
            CallStep::Over(status) => {
                self.is_over = true;
                self.is_failed = *status == ToolStatus::Error;
                // A call that worked was made, whoever denied it.
                self.is_denied &= self.is_failed;
            }
        }
    }
}

fn adjust(count: &mut u64, was: bool, is: bool) {
    match (was, is) {
        (false, true) => *count += 1,
        (true, false) => *count = count.saturating_sub(1),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::asks;

    #[test]
    fn tools_that_ask_a_person_are_known_by_their_names() {
        for tool in [
            "AskUserQuestion",
            "request_user_input",
            "question",
            "ExitPlanMode",
        ] {
            assert!(asks(tool), "{tool}");
        }
        for tool in ["Bash", "", "AskUserQuestions", "[removed]"] {
            assert!(!asks(tool), "{tool}");
        }
    }
}

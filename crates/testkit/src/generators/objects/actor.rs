//! Who gives a command of a history.

use annals_domain::run::ToolDecider;
use annals_domain::{ActorRef, Command};

/// Who gives a command, after so many others: mostly the agent `tester`. What people do is now and
/// then given by whom it is not theirs.
pub fn actor(commands: u64, command: &Command) -> ActorRef {
    let by_a_person = matches!(
        command,
        Command::ApproveIntent(_)
            | Command::JudgeIntent(_)
            | Command::AnswerClarification(_)
            | Command::RejectIntent(_)
            | Command::CancelIntent(_)
            | Command::CompleteIntent(_)
            | Command::InstructIntent(_)
            | Command::RerunIntent(_)
            | Command::RecordReview(_)
            | Command::ApproveSession(_)
            | Command::SetSetting(_)
            | Command::SetBudget(_)
            | Command::RemoveBudget(_)
    ) || matches!(command, Command::DecideToolCall(c) if c.by == ToolDecider::Person);
    let asks = matches!(
        command,
        Command::SubmitIntent(_)
            | Command::SubmitCommand(_)
            | Command::RecordAnalysis(_)
            | Command::PauseSession(_)
            | Command::ResumeSession(_)
    );
    match (by_a_person, asks, commands % 4) {
        (true, _, 1) | (_, true, 3) => ActorRef::human("ada"),
        (true, _, 2 | 3) => ActorRef::human("bob"),
        _ => ActorRef::agent("tester"),
    }
}

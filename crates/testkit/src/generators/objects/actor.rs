//! Who gives a command of a history.

use annals_domain::{ActorRef, Command};

/// Who gives a command, after so many others: mostly the agent `tester`. Approvals and settings
/// are now and then those of whom they are not.
pub fn actor(commands: u64, command: &Command) -> ActorRef {
    let by_a_person = matches!(
        command,
        Command::ApproveIntent(_)
            | Command::JudgeIntent(_)
            | Command::ApproveSession(_)
            | Command::SetSetting(_)
    );
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

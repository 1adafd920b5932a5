//! `session.command_received`, version 1 to 2: what a commit changes was not said apart from its
//! paths, nor whether a filter chose tests.

use annals_domain::session::{CommandFacts, CommandKind, CommandReceived, Correlation};
use annals_domain::{CommandId, Slot};
use serde::Deserialize;

use super::Step;

/// What the gate looked at in version 1.
#[derive(Deserialize)]
struct CommandFactsV1 {
    kind: CommandKind,
    repo: Option<String>,
    branch: Option<String>,
    files: Option<u32>,
    work_item: Option<String>,
    state: Option<String>,
    actions: Vec<String>,
}

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct CommandReceivedV1 {
    command: CommandId,
    facts: CommandFactsV1,
    correlation: Correlation,
    body: Slot,
    file: Option<Slot>,
}

pub(super) const STEP: Step<CommandReceivedV1, CommandReceived> =
    Step::new("session.command_received", 1, |old| CommandReceived {
        command: old.command,
        facts: CommandFacts {
            kind: old.facts.kind,
            repo: old.facts.repo,
            branch: old.facts.branch,
            // As many as it had paths, which is what the gate took for files then.
            files: old.facts.files,
            filtered: false,
            work_item: old.facts.work_item,
            state: old.facts.state,
            actions: old.facts.actions,
        },
        correlation: old.correlation,
        body: old.body,
        files: None,
        file: old.file,
    });

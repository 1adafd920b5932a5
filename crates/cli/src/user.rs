//! Who runs the program, where no actor is given.

use std::fs;

use annals::domain::{ActorKind, ActorRef};
use annals_dialects::git::person;

use crate::output::Output;

/// The actor where nothing names the user.
const UNKNOWN: &str = "unknown";

/// How to name the actor.
const HOW: &str = "no user name was found, so that \"unknown\" is recorded: give --actor NAME, set \
                   ANNALS_ACTOR, or run `git config --global user.name NAME`";

/// Variables that agents set for the commands that they run, each with the agent.
const AGENTS: [(&str, &str); 5] = [
    ("CLAUDECODE", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("CURSOR_AGENT", "cursor"),
    ("GEMINI_CLI", "gemini-cli"),
];

/// The agent that runs this program, by the variables that it sets.
pub(crate) fn agent() -> Option<ActorRef> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let agent = AGENTS.iter().find(|(variable, _)| is_set(variable));
    agent.map(|(_, agent)| ActorRef::agent(*agent))
}

/// The person: as they told git, or else by the name that the system has.
pub(crate) fn user(output: &Output) -> ActorRef {
    let named = person(&mut |name| std::env::var_os(name)).or_else(system_name);
    let named = named.unwrap_or_else(|| {
        output.warn(HOW);
        UNKNOWN.to_owned()
    });
    // An agent that calls itself `agent:coder` for git is one here, too.
    match ActorRef::parse(&named) {
        Ok(actor) if actor.kind != ActorKind::Human => actor,
        _ => ActorRef::human(named),
    }
}

/// The user's name at login, or in the system's list of users.
fn system_name() -> Option<String> {
    let mut said = ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .filter_map(|name| std::env::var(name).ok());
    if let Some(name) = said.find(|name| !name.trim().is_empty()) {
        return Some(name);
    }
    let users = fs::read_to_string("/etc/passwd").ok()?;
    listed(&users, rustix::process::getuid().as_raw())
}

/// The name of the user with a number, in the form of `/etc/passwd`.
fn listed(users: &str, number: u32) -> Option<String> {
    let number = number.to_string();
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.trim().is_empty())?;
        (fields.nth(1) == Some(number.as_str())).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_list_of_users_has_the_name() {
        let users = "root:x:0:0:root:/root:/bin/sh\n\nkei:x:1000:1000::/home/kei:/bin/sh\n:x:7:7\n";
        assert_eq!(listed(users, 1000).as_deref(), Some("kei"));
        assert_eq!(listed(users, 0).as_deref(), Some("root"));
        assert_eq!(listed(users, 7), None);
        assert_eq!(listed(users, 10), None);
    }
}

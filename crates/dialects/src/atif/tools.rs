//! What tools do with files whose calls a trajectory in ATIF has. It may be of any agent: the tools
//! of known agents are recognized by their names and arguments.

use serde_json::value::RawValue;

use super::fields;
use crate::import::formats::FORMATS;
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::edit::{FileUse, Patch};

/// What ids are named after.
const KEY: &str = "atif";

/// The agent of a trajectory; which one it was is in a frame.
pub(crate) static AGENT: Agent = Agent {
    key: KEY,
    actor: "atif",
    provider: "(not recorded)",
    version_key: "agent_version",
    no_model: "(none)",
    token_paths: fields::TOKENS,
    setting_paths: ["(the folder)", "(the branch)", "agent.version"],
    time_path: "timestamp",
    session_path: "session_id",
    files,
    edits,
    patch: |_| Patch {
        hunks: None,
        outcome: None,
    },
    asked,
    begins_beside: |_| false,
};

/// Agents whose recordings were not imported when trajectories were first: to know their tools would make other events
/// of a trajectory that a log may have.
const LATER: [&str; 2] = ["copilot-chat", "cursor"];

/// The agents whose tools are known.
fn known() -> impl Iterator<Item = &'static Agent> {
    let agents = FORMATS.iter().map(|kind| kind.agent);
    agents.filter(|agent| agent.key != KEY && !LATER.contains(&agent.key))
}

fn asked(text: &str) -> Option<&str> {
    (!text.trim().is_empty()).then_some(text)
}

fn edits(tool: &str) -> bool {
    known().any(|agent| (agent.edits)(tool))
}

/// The files that a call names; none for tools whose footprint is not known.
fn files(tool: &str, input: Option<&RawValue>) -> Vec<FileUse> {
    let mut named = known().map(|agent| (agent.files)(tool, input));
    let named = named.find(|files| !files.is_empty());
    named.unwrap_or_default()
}

/// The ids of what is imported.
pub fn ids() -> Ids {
    Ids::of(AGENT.key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json, value::to_raw_value};

    use super::*;
    use crate::transcript::edit::Access;

    fn uses(tool: &str, input: Value) -> Vec<(String, Access)> {
        let files = files(tool, Some(&to_raw_value(&input).unwrap()));
        files.into_iter().map(|it| (it.path, it.access)).collect()
    }

    #[test]
    fn tools_of_known_agents_are_recognized_by_their_arguments() {
        let wrote = |path: &str| vec![(path.to_owned(), Access::Write)];
        let input = json!({ "file_path": "a", "old_string": "x", "new_string": "y" });
        assert_eq!(uses("Edit", input.clone()), wrote("a"));
        assert_eq!(uses("replace", input), wrote("a"));
        let input = json!({ "filePath": "b", "content": "x" });
        assert_eq!(uses("write", input), wrote("b"));
        let input = json!({ "command": "create", "path": "c", "file_text": "x" });
        assert_eq!(uses("str_replace_editor", input), wrote("c"));
        let input = json!({ "command": "view", "path": "c" });
        let read = vec![("c".to_owned(), Access::Read)];
        assert_eq!(uses("file_editor", input), read);
        assert_eq!(uses("file_editor", json!(5)), []);
        assert!(edits("Edit") && edits("replace") && !edits("bash"));
    }
}

//! Where agents keep their recordings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A folder in which an agent keeps recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentFolder {
    /// The agent, as `annals import` names it. `None` if each recording tells it.
    pub(crate) agent: Option<&'static str>,
    pub(crate) path: PathBuf,
}

impl AgentFolder {
    /// A folder, or a recording, that the user named.
    pub(crate) fn given(agent: Option<&'static str>, path: &Path) -> AgentFolder {
        AgentFolder {
            agent,
            path: path.to_owned(),
        }
    }
}

/// Where an agent's own folder is.
enum Own {
    /// In this folder of the home folder, unless the variable names another one.
    Home(&'static str, Option<&'static str>),
    /// In this folder of `$XDG_CONFIG_HOME`, or of `~/.config`.
    Config(&'static str),
    /// In this folder of `$XDG_DATA_HOME`, or of `~/.local/share`.
    Data(&'static str),
    /// In this folder of macOS's `~/Library/Application Support`.
    Support(&'static str),
}

/// The agents with the folders of their recordings.
const FOLDERS: [(&str, Own, &str); 15] = [
    (
        "claude",
        Own::Home(".claude", Some("CLAUDE_CONFIG_DIR")),
        "projects",
    ),
    ("claude", Own::Config("claude"), "projects"),
    ("codex", Own::Home(".codex", Some("CODEX_HOME")), "sessions"),
    (
        "codex",
        Own::Home(".codex", Some("CODEX_HOME")),
        "archived_sessions",
    ),
    ("copilot", Own::Home(".copilot", None), "session-state"),
    ("copilot-chat", Own::Config("Code/User"), "workspaceStorage"),
    (
        "copilot-chat",
        Own::Config("Code - Insiders/User"),
        "workspaceStorage",
    ),
    (
        "copilot-chat",
        Own::Config("VSCodium/User"),
        "workspaceStorage",
    ),
    (
        "copilot-chat",
        Own::Support("Code/User"),
        "workspaceStorage",
    ),
    (
        "copilot-chat",
        Own::Support("Code - Insiders/User"),
        "workspaceStorage",
    ),
    ("cursor", Own::Home(".cursor", None), "projects"),
    ("gemini", Own::Home(".gemini", None), "tmp"),
    ("opencode", Own::Data("opencode"), "."),
    ("openhands", Own::Home(".openhands", None), "conversations"),
    ("openhands", Own::Home(".openhands", None), "sessions"),
];

/// All folders in which agents keep recordings, also those that are not there.
pub(crate) fn agent_folders() -> Vec<AgentFolder> {
    folders(&|name| std::env::var_os(name))
}

fn folders(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<AgentFolder> {
    let set = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|it| !it.as_os_str().is_empty())
    };
    let home = set("HOME");
    let in_home = |name: &str| home.as_ref().map(|home| home.join(name));
    let base = |name: &str, else_in_home: &str| {
        let own = set(name).filter(|it| it.is_absolute());
        own.or_else(|| in_home(else_in_home))
    };
    let own = |own: &Own| match own {
        Own::Home(name, other) => other.and_then(set).or_else(|| in_home(name)),
        Own::Config(name) => base("XDG_CONFIG_HOME", ".config").map(|it| it.join(name)),
        Own::Data(name) => base("XDG_DATA_HOME", ".local/share").map(|it| it.join(name)),
        Own::Support(name) => in_home("Library/Application Support").map(|it| it.join(name)),
    };
    let is_here = |own: &Own| cfg!(target_os = "macos") || !matches!(own, Own::Support(_));
    let known = FOLDERS.iter().filter(|(_, own, _)| is_here(own));
    let folder = |(agent, place, name): &(&'static str, Own, &str)| {
        let path = own(place)?;
        Some(AgentFolder {
            agent: Some(*agent),
            path: match *name {
                "." => path,
                name => path.join(name),
            },
        })
    };
    known.filter_map(folder).collect()
}

/// A path with `~` for the home folder, for people.
pub(crate) fn short_path(path: &Path) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.parent().is_some());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(variables: &[(&str, &str)], agent: &str) -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let own = folders(&variable)
            .into_iter()
            .filter(|it| it.agent == Some(agent));
        own.map(|it| it.path.display().to_string()).collect()
    }

    #[test]
    fn folders_are_in_the_home_folder_or_where_variables_say() {
        let home = ("HOME", "/home/a");
        assert_eq!(
            paths(&[home], "claude"),
            [
                "/home/a/.claude/projects",
                "/home/a/.config/claude/projects"
            ]
        );
        assert_eq!(
            paths(
                &[home, ("CODEX_HOME", "/x"), ("XDG_DATA_HOME", "relative")],
                "codex"
            ),
            ["/x/sessions", "/x/archived_sessions"]
        );
        assert_eq!(
            paths(&[home, ("XDG_DATA_HOME", "/data")], "opencode"),
            ["/data/opencode"]
        );
        assert_eq!(paths(&[], "gemini"), Vec::<String>::new());
    }

    #[test]
    fn every_agent_is_one_that_can_be_imported() {
        let known: Vec<&str> = annals_dialects::import::agents()
            .map(|(agent, _)| agent)
            .collect();
        for (agent, ..) in &FOLDERS {
            assert!(known.contains(agent), "{agent}");
        }
    }
}

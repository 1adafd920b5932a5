//! Names for people: of projects, agents and sessions. All lists use them.

use std::collections::{BTreeSet, HashMap};

use crate::SessionSummary;

/// The folders in which agents and people keep work trees of a repository.
const WORK_TREES: [&str; 2] = [".worktrees", ".claude/worktrees"];

/// Agents by their keys, as their makers write them.
const AGENTS: [(&str, &str); 9] = [
    ("claude", "Claude Code"),
    ("claude-code", "Claude Code"),
    ("codex", "Codex"),
    ("copilot", "Copilot"),
    ("cursor", "Cursor"),
    ("gemini", "Gemini CLI"),
    ("opencode", "OpenCode"),
    ("openhands", "OpenHands"),
    ("swe-agent", "SWE-agent"),
];

/// The project of a recorded path: of a work tree below its repository, that repository.
///
/// ```
/// use annals_projections::project_root;
/// assert_eq!(project_root("/work/cli/.worktrees/1/docs"), "/work/cli");
/// assert_eq!(project_root("/work/cli/.claude/worktrees/fix"), "/work/cli");
/// assert_eq!(project_root("/work/cli/"), "/work/cli/");
/// ```
pub fn project_root(path: &str) -> &str {
    let find = |folder: &str, separator: char| {
        let folder = folder.replace('/', &separator.to_string());
        path.find(&format!("{separator}{folder}{separator}"))
    };
    let all = WORK_TREES
        .iter()
        .flat_map(|folder| [find(folder, '/'), find(folder, '\\')]);
    match all.flatten().min() {
        Some(end) if end > 0 => path.get(..end).unwrap_or(path),
        _ => path,
    }
}

/// The label of a project: the last part of its path, or the path if it has none.
///
/// ```
/// use annals_projections::project_label;
/// assert_eq!(project_label("/home/ann/shop/"), "shop");
/// assert_eq!(project_label("/home/ann/shop/.worktrees/1"), "shop");
/// assert_eq!(project_label("C:\\work\\shop"), "shop");
/// assert_eq!(project_label("/"), "/");
/// ```
pub fn project_label(path: &str) -> &str {
    last_component(project_root(path)).unwrap_or(path)
}

/// The last part of a path; `None` if it has none.
pub(crate) fn last_component(path: &str) -> Option<&str> {
    end_of_path(path, 1).filter(|name| !name.is_empty())
}

/// The last parts of a path; `None` if it has fewer.
fn end_of_path(path: &str, parts: usize) -> Option<&str> {
    let path = path.trim_end_matches(['/', '\\']);
    let mut separators = path.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1);
    match separators.nth(parts.saturating_sub(1)) {
        Some(begin) => path.get(begin..),
        None if parts == 1 => Some(path),
        None => None,
    }
}

/// Labels of the projects of a list, by which two projects can be told apart: if two have one name, the folders above are
/// part of their labels.
///
/// ```
/// use annals_projections::ProjectLabels;
/// let labels = ProjectLabels::of(["/w/entireio/cli", "/w/acme/cli", "/w/shop"]);
/// assert_eq!(labels.label("/w/entireio/cli"), "entireio/cli");
/// assert_eq!(labels.label("/w/shop"), "shop");
/// ```
#[derive(Debug, Clone, Default)]
pub struct ProjectLabels {
    /// The labels of projects whose name is not unique, by path.
    longer: HashMap<String, String>,
}

impl ProjectLabels {
    /// Labels for the projects with these paths.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a str>) -> ProjectLabels {
        let mut by_name: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        for path in paths {
            let root = project_root(path).trim_end_matches(['/', '\\']);
            by_name.entry(project_label(path)).or_default().insert(root);
        }
        let shared = by_name.into_values().filter(|roots| roots.len() > 1);
        let longer = shared.flat_map(|roots| {
            let label = |root: &&str| ((*root).to_owned(), unique_end(root, &roots).to_owned());
            roots.iter().map(label).collect::<Vec<_>>()
        });
        ProjectLabels {
            longer: longer.collect(),
        }
    }

    /// The label of a project.
    pub fn label<'a>(&'a self, path: &'a str) -> &'a str {
        let root = project_root(path).trim_end_matches(['/', '\\']);
        match self.longer.get(root) {
            Some(label) => label,
            None => project_label(path),
        }
    }
}

/// The shortest end of a path of at least two parts that no other path has.
fn unique_end<'a>(path: &'a str, all: &BTreeSet<&str>) -> &'a str {
    let ends = (2..).map_while(|parts| end_of_path(path, parts));
    let is_unique = |end: &&str| {
        let parts = end.matches(['/', '\\']).count() + 1;
        let others = all.iter().filter(|other| **other != path);
        !others
            .filter_map(|other| end_of_path(other, parts))
            .any(|other| other == *end)
    };
    ends.into_iter().find(is_unique).unwrap_or(path)
}

/// Returns `true` if a project is meant by a name or a path: its own path, a path above it, or its name.
pub fn is_project(path: &str, wanted: &str) -> bool {
    let wanted = wanted.trim_end_matches('/');
    let root = project_root(path);
    let is_below = root
        .strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_end = wanted.contains('/')
        && root
            .strip_suffix(wanted)
            .is_some_and(|rest| rest.ends_with('/'));
    let name = project_label(path);
    is_below && wanted.starts_with('/') || is_end || name.eq_ignore_ascii_case(wanted)
}

/// The name of an agent as its maker writes it; the key of an agent that is not known.
pub fn agent_name(agent: &str) -> &str {
    let known = AGENTS.iter().find(|(key, _)| *key == agent);
    known.map_or(agent, |(_, name)| name)
}

/// Returns `true` if an agent is meant by a text: its key or its name, in either case.
///
/// ```
/// use annals_projections::is_agent;
/// assert!(is_agent("claude", "Claude Code") && is_agent("claude", "claude"));
/// assert!(!is_agent("codex", "claude"));
/// ```
pub fn is_agent(agent: &str, wanted: &str) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|it| it.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(wanted);
    plain(agent) == wanted || plain(agent_name(agent)) == wanted
}

impl SessionSummary {
    /// The title of the session, or the words for its absence.
    pub fn title_or_words(&self) -> String {
        let title = self.title.as_ref();
        match (title.filter(|it| !it.trim().is_empty()), &self.agent) {
            (Some(title), _) => title.clone(),
            (None, Some(agent)) => format!("{} session without a prompt", agent_name(agent)),
            (None, None) => "Session without a prompt".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_trees_have_the_name_of_their_project() {
        for (path, expected) in [
            ("/w/cli", "cli"),
            ("/w/cli/.worktrees/1", "cli"),
            ("/w/cli/.worktrees/1/.worktrees/2", "cli"),
            ("/w/cli/.claude/worktrees/fix-a", "cli"),
            ("/w/cli/.claude/worktrees", "worktrees"),
            ("C:\\w\\cli\\.claude\\worktrees\\fix", "cli"),
            ("/.worktrees/1", "1"),
            ("", ""),
        ] {
            assert_eq!(project_label(path), expected, "{path}");
        }
    }

    #[test]
    fn projects_of_one_name_have_the_folders_above_in_their_labels() {
        let paths = [
            "/a/x/cli",
            "/b/x/cli",
            "/b/y/cli/",
            "/b/y/cli/.worktrees/3",
            "/cli",
            "/b/shop",
        ];
        let labels = ProjectLabels::of(paths);
        let shown = paths.map(|path| labels.label(path));
        assert_eq!(
            shown,
            ["a/x/cli", "b/x/cli", "y/cli", "y/cli", "/cli", "shop"]
        );
    }

    #[test]
    fn a_project_is_meant_by_its_path_a_path_above_or_its_name() {
        for (path, wanted, expected) in [
            ("/w/acme/cli", "cli", true),
            ("/w/acme/cli", "CLI", true),
            ("/w/acme/cli", "acme/cli", true),
            ("/w/acme/cli", "me/cli", false),
            ("/w/acme/cli", "/w", true),
            ("/w/acme/cli/.worktrees/1", "/w/acme/cli/", true),
            ("/w/acme/cli", "/w/ac", false),
            ("/w/acme/cli", "acme", false),
        ] {
            assert_eq!(is_project(path, wanted), expected, "{path} {wanted}");
        }
    }
}

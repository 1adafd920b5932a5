//! Rules of Claude Code's settings: `Tool`, or `Tool(what)`, and which calls they match.

use std::path::{Path, PathBuf};

use annals_tool_policy::{Call, Kind, Part, Reading, Type, read};
use serde_json::Value;

use crate::hook::Surroundings;

/// Tools that read files, and that change them: a rule on `Read` or `Edit` is on all of these.
const READS: [&str; 2] = ["Read", "NotebookRead"];
const EDITS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
/// Tools that look into files; a rule on `Read` may hold for them.
const LOOKS: [&str; 3] = ["Grep", "Glob", "LS"];

/// The most wildcards over several folders in a pattern, and the longest path that one is compared with, in bytes.
const MOST_WILDCARDS: usize = 3;
const LONGEST_PATH: usize = 1_024;

/// A rule as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    text: String,
    tool: String,
    /// What is in parentheses; none, where the rule is on all calls.
    what: Option<String>,
}

/// Where a call is made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) cwd: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) home: Option<String>,
}

/// Whether a rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matches {
    Yes,
    No,
    /// What it is about is not known here.
    Unknown,
}

/// The first rule of some that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    Rule(String, PathBuf),
    /// One may match, and none does for sure.
    Unknown,
    None,
}

/// A call that is to be compared with rules.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    tool: &'a str,
    args: &'a Value,
    place: Place,
    /// The commands in it, of one that runs some.
    commands: Vec<Command>,
    /// The files that those read or change; none for one that is not known.
    files: Vec<Option<String>>,
    /// Whether all of the commands are known.
    is_read: bool,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Command {
    text: String,
    needs_permission: bool,
}

impl Rule {
    /// Reads a rule.
    pub(crate) fn parse(text: &str) -> Rule {
        let text = text.trim();
        let inner = text.split_once('(');
        let inner = inner.and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?)));
        let (tool, what) = match inner {
            Some((tool, "" | "*")) => (tool, None),
            Some((tool, what)) => (tool, Some(what.to_owned())),
            None => (text, None),
        };
        Rule {
            text: text.to_owned(),
            tool: tool.to_owned(),
            what,
        }
    }

    /// Whether it is on a tool at all.
    fn is_on(&self, tool: &str) -> Matches {
        let yes = match self.tool.as_str() {
            "Read" => READS.contains(&tool),
            "Edit" => EDITS.contains(&tool),
            own if own.starts_with("mcp__") && !own.contains('*') => {
                // A server's name stands for all of its tools.
                tool == own
                    || tool
                        .strip_prefix(own)
                        .is_some_and(|it| it.starts_with("__"))
            }
            own => globs(own, tool),
        };
        match yes {
            true => Matches::Yes,
            false if self.tool == "Read" && LOOKS.contains(&tool) => Matches::Unknown,
            false => Matches::No,
        }
    }
}

impl<'a> Asked<'a> {
    pub(crate) fn of(call: &'a Call, around: &Surroundings) -> Asked<'a> {
        let place = Place {
            cwd: call.cwd.clone(),
            project: around.workspace.clone().or_else(|| call.cwd.clone()),
            home: around.home.clone(),
        };
        Asked::at(call, place)
    }

    /// A call at a place.
    pub(crate) fn at(call: &'a Call, place: Place) -> Asked<'a> {
        let reading = match call.tool.as_str() {
            "Bash" => read(call),
            _ => Reading::default(),
        };
        let runs = reading.parts.iter().filter(|part| part.kind == Kind::Run);
        let commands: Vec<Command> = runs
            .clone()
            .map(|part| Command {
                text: part.resource.id.clone(),
                needs_permission: part.needs_permission,
            })
            .collect();
        let files = reading.parts.iter().filter(|part| {
            let is_of_files = matches!(part.kind, Kind::Read | Kind::Edit | Kind::Mention);
            is_of_files && part.resource.of == Type::Path
        });
        let known = |part: &Part| {
            let resource = &part.resource;
            resource.is_known.then(|| resource.id.clone())
        };
        Asked {
            files: files.map(known).collect(),
            tool: &call.tool,
            args: &call.args,
            place,
            // Rules are compared with what is written, whatever a program may run besides.
            is_read: reading.unsure.is_empty(),
            commands,
        }
    }

    /// The first rule that matches any part of the call, as those do that deny or ask.
    pub(super) fn any(&self, rules: &[(Rule, &Path)]) -> Found {
        let mut may = false;
        for (rule, path) in rules {
            match self.matches(rule, false) {
                Matches::Yes => return Found::Rule(rule.text.clone(), path.to_path_buf()),
                Matches::Unknown => may = true,
                Matches::No => {}
            }
        }
        match may {
            true => Found::Unknown,
            false => Found::None,
        }
    }

    /// The rule that allows the call. Of a command with several in it each must be allowed; the first one's rule is
    /// named.
    pub(super) fn all(&self, rules: &[(Rule, &Path)]) -> Option<(String, PathBuf)> {
        let named = |(rule, path): &(Rule, &Path)| (rule.text.clone(), path.to_path_buf());
        let whole = rules
            .iter()
            .find(|(rule, _)| self.matches(rule, true) == Matches::Yes);
        if whole.is_some() || self.tool != "Bash" {
            return whole.map(named);
        }
        let wanted: Vec<&Command> = self.needed().collect();
        let allowing = wanted.iter().map(|command| {
            let allows = |(rule, _): &&(Rule, &Path)| {
                let is_on = rule.is_on(self.tool) == Matches::Yes;
                is_on
                    && rule
                        .what
                        .as_deref()
                        .is_some_and(|it| runs(it, &command.text))
            };
            rules.iter().find(allows)
        });
        let allowing: Option<Vec<&(Rule, &Path)>> = allowing.collect();
        let first = allowing.filter(|_| self.is_read)?.into_iter().next();
        first.map(named)
    }

    /// Whether a rule is one that this call could have been allowed by: what a person allowed from then on is such.
    pub(crate) fn could_be_allowed_by(&self, rule: &Rule) -> bool {
        let is_part = |what: &str| self.needed().any(|command| runs(what, &command.text));
        self.matches(rule, true) == Matches::Yes
            || (self.tool == "Bash"
                && rule.is_on("Bash") == Matches::Yes
                && rule.what.as_deref().is_some_and(is_part))
    }

    /// Whether it changes files in the folder that is worked on, and nothing else.
    pub(super) fn edits_inside(&self) -> bool {
        let inside = |path: &str| {
            let project = self.place.project.as_deref()?;
            relative(&self.absolute(path)?, project)
        };
        EDITS.contains(&self.tool) && self.path().and_then(inside).is_some()
    }

    /// The commands that must be permitted.
    fn needed(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|it| it.needs_permission)
    }

    /// Whether a rule matches the call: all of it, or any of its commands.
    fn matches(&self, rule: &Rule, whole: bool) -> Matches {
        if self.tool == "Bash" && ["Read", "Edit"].contains(&rule.tool.as_str()) {
            return self.may_touch(rule.what.as_deref());
        }
        let on = rule.is_on(self.tool);
        let Some(what) = rule.what.as_deref().filter(|_| on == Matches::Yes) else {
            return on;
        };
        let yes = match self.tool {
            "Bash" => return self.runs(what, whole),
            "WebFetch" => what
                .strip_prefix("domain:")
                .map(|domain| self.fetches(domain)),
            tool if READS.contains(&tool) || EDITS.contains(&tool) => {
                self.path().and_then(|path| self.is_at(what, path))
            }
            _ => None,
        };
        match yes {
            Some(true) => Matches::Yes,
            Some(false) => Matches::No,
            None => Matches::Unknown,
        }
    }

    fn runs(&self, what: &str, whole: bool) -> Matches {
        let text = self.args.get("command").and_then(Value::as_str);
        if text.is_some_and(|text| text.trim() == what) {
            return Matches::Yes;
        }
        let yes = match whole {
            true => {
                let mut needed = self.needed().peekable();
                let is_any = needed.peek().is_some();
                self.is_read && is_any && needed.all(|it| runs(what, &it.text))
            }
            false => self.commands.iter().any(|it| runs(what, &it.text)),
        };
        match (yes, self.is_read) {
            (true, _) => Matches::Yes,
            (false, true) => Matches::No,
            // What is not known could be anything.
            (false, false) => Matches::Unknown,
        }
    }

    /// Rules on files hold for the commands that Claude Code knows to be of files, which are not all.
    fn may_touch(&self, what: Option<&str>) -> Matches {
        let may = |file: &Option<String>| {
            let at = file.as_deref().zip(what);
            at.and_then(|(path, what)| self.is_at(what, path)) != Some(false)
        };
        match self.files.iter().any(may) || !self.is_read {
            true => Matches::Unknown,
            false => Matches::No,
        }
    }

    fn fetches(&self, domain: &str) -> bool {
        let url = self.args.get("url").and_then(Value::as_str);
        let rest = url.and_then(|url| Some(url.split_once("://")?.1));
        let host = rest.and_then(|rest| rest.split(['/', '?', '#', ':']).next());
        host.is_some_and(|host| globs(&domain.to_lowercase(), &host.to_lowercase()))
    }

    fn path(&self) -> Option<&'a str> {
        let named = ["file_path", "notebook_path", "path"];
        named.iter().find_map(|name| self.args.get(name)?.as_str())
    }

    /// Whether a file is one that a pattern names, as git's ignored files are named; none, if that is not known.
    fn is_at(&self, pattern: &str, path: &str) -> Option<bool> {
        let (root, pattern) = match pattern.strip_prefix("~/") {
            Some(rest) => (self.place.home.as_deref()?, format!("/{rest}")),
            None => match pattern.strip_prefix("//") {
                Some(rest) => ("/", format!("/{rest}")),
                None if pattern.starts_with('/') => {
                    (self.place.project.as_deref()?, pattern.to_owned())
                }
                None => (
                    self.place.cwd.as_deref()?,
                    match pattern.strip_prefix("./") {
                        Some(rest) => format!("/{rest}"),
                        None => pattern.to_owned(),
                    },
                ),
            },
        };
        let Some(relative) = relative(&self.absolute(path)?, root) else {
            return Some(false);
        };
        // The matcher tries each division of a path among the wildcards.
        if pattern.matches("**").count() > MOST_WILDCARDS || relative.len() > LONGEST_PATH {
            return None;
        }
        // What is deeper than such a pattern says is named as git takes it, and not as the agent describes it.
        let last = pattern.trim_end_matches('/').rsplit('/').next();
        let is_of_one_folder = last.is_some_and(|it| it.contains('*') && !it.contains("**"));
        let pattern = gix_glob::Pattern::from_bytes_without_negation(pattern.as_bytes())?;
        let names = |path: &str, is_dir: bool| {
            pattern.matches_repo_relative_path(
                path.into(),
                path.rfind('/').map(|at| at + 1),
                Some(is_dir),
                gix_glob::pattern::Case::Sensitive,
                gix_glob::wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
            )
        };
        // What is in a folder that is named is named, too.
        let folders = relative
            .match_indices('/')
            .map(|(at, _)| relative.get(..at));
        let in_folder = folders.flatten().any(|folder| names(folder, true));
        match (names(&relative, false), in_folder) {
            (false, true) if is_of_one_folder => None,
            (itself, in_folder) => Some(itself || in_folder),
        }
    }

    fn absolute(&self, path: &str) -> Option<String> {
        let path = match path.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", self.place.home.as_deref()?),
            None if path.starts_with('/') => path.to_owned(),
            None => format!("{}/{path}", self.place.cwd.as_deref()?),
        };
        Some(normal(&path))
    }
}

/// A path without `.`, `..` and empty parts.
fn normal(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}

/// The rest of a path in a folder; none, if it is not in it.
fn relative(path: &str, folder: &str) -> Option<String> {
    let folder = normal(folder);
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    rest.strip_prefix('/').map(str::to_owned)
}

/// Whether a command is one of a rule: `npm test` alone, `npm test:*` and `npm test *` with anything behind it, and
/// `*` elsewhere for any characters.
fn runs(what: &str, command: &str) -> bool {
    let command = command.trim();
    let begins = what.strip_suffix(":*").or_else(|| what.strip_suffix(" *"));
    match begins {
        Some(begin) => globs(begin, command) || globs(&format!("{begin} *"), command),
        None => globs(what, command),
    }
}

/// Whether `*` of a pattern, for any characters, can make it the text.
fn globs(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

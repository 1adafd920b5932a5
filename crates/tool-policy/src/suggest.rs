//! Rules that would have allowed what a person always allowed, for a person to read before use.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::call::Call;
use crate::part::{Kind, Part};
use crate::policies::Policies;
use crate::read::read;
use crate::verdict::Verdict;

/// Programs whose subcommands are as different as programs are.
const WITH_SUBCOMMANDS: [&str; 28] = [
    "apt",
    "aws",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mvn",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "rustup",
    "systemctl",
    "uv",
    "yarn",
];

/// Examples of a suggestion.
const EXAMPLES: usize = 3;

/// A call, and whether a person allowed it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Decided {
    /// The call.
    pub call: Call,
    /// Whether it was allowed, by a person.
    pub allowed: bool,
}

impl Decided {
    /// A call that a person allowed, or that anybody or anything denied.
    pub fn new(call: Call, allowed: bool) -> Decided {
        Decided { call, allowed }
    }
}

/// A rule that can be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Suggestion {
    /// Its name.
    pub id: String,
    /// The rule, as Cedar.
    pub policy: String,
    /// The calls that were allowed and have what it allows.
    pub calls: u64,
    /// Some of them.
    pub examples: Vec<String>,
}

/// What is alike in parts of calls, and how it is said in Cedar.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    id: String,
    scope: String,
    when: Option<String>,
}

/// What is known of parts that are alike.
#[derive(Debug, Default)]
struct Seen {
    calls: u64,
    examples: Vec<String>,
}

/// Suggests rules for what was allowed at least so many times, and never denied.
///
/// Together they allow none of the calls that were denied.
pub fn suggest(decided: &[Decided], least: u64) -> Vec<Suggestion> {
    let mut seen: BTreeMap<Alike, Seen> = BTreeMap::new();
    let mut denied: BTreeSet<Alike> = BTreeSet::new();
    // What each allowed call needs, where all of that can be said in rules.
    let mut needed: Vec<BTreeSet<Alike>> = Vec::new();
    for Decided { call, allowed } in decided {
        let reading = read(call);
        let known = reading.unsure.is_empty();
        let parts = reading.parts.iter().filter(|part| part.needs_permission);
        let alike: Vec<Option<Alike>> = parts.map(alike).collect();
        let is_sayable = alike.iter().all(Option::is_some);
        let alike: BTreeSet<Alike> = alike.into_iter().flatten().collect();
        if !allowed {
            denied.extend(alike);
            continue;
        }
        if known && is_sayable {
            needed.push(alike.clone());
        }
        for alike in alike.into_iter().filter(|_| known) {
            let seen = seen.entry(alike).or_default();
            seen.calls += 1;
            let example = shown(call);
            if seen.examples.len() < EXAMPLES && !seen.examples.contains(&example) {
                seen.examples.push(example);
            }
        }
    }
    let fits = |(alike, seen): &(Alike, Seen)| seen.calls >= least && !denied.contains(alike);
    let seen: BTreeMap<Alike, Seen> = seen.into_iter().filter(fits).collect();
    let useful = useful(seen.keys().cloned().collect(), &needed);
    let seen = seen.into_iter().filter(|(alike, _)| useful.contains(alike));
    let mut found: Vec<Suggestion> = seen.map(suggestion).collect();
    found.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.id.cmp(&b.id)));
    without_denied(found, decided)
}

/// Those that together allow a call which a person allowed: a part alone would allow what nobody was asked about.
fn useful(mut kept: BTreeSet<Alike>, needed: &[BTreeSet<Alike>]) -> BTreeSet<Alike> {
    loop {
        let covered = needed.iter().filter(|call| call.is_subset(&kept));
        let useful: BTreeSet<Alike> = covered.flatten().cloned().collect();
        if useful.len() == kept.len() {
            return kept;
        }
        kept = useful;
    }
}

fn suggestion((alike, seen): (Alike, Seen)) -> Suggestion {
    let Alike { id, scope, when } = alike;
    let when = when
        .map(|when| format!("\nwhen {{ {when} }}"))
        .unwrap_or_default();
    Suggestion {
        policy: format!(
            "@id({})\npermit (principal, {scope}, resource){when};",
            quoted(&id)
        ),
        id,
        calls: seen.calls,
        examples: seen.examples,
    }
}

/// Leaves out what would allow a call that was denied.
fn without_denied(mut found: Vec<Suggestion>, decided: &[Decided]) -> Vec<Suggestion> {
    loop {
        let text: Vec<&str> = found.iter().map(|it| it.policy.as_str()).collect();
        let Ok(policies) = Policies::parse(&[("suggested", &text.join("\n"))]) else {
            // A name that no rule can have: none is better than a wrong one.
            found.retain(|it| Policies::parse(&[("suggested", &it.policy)]).is_ok());
            let text: Vec<&str> = found.iter().map(|it| it.policy.as_str()).collect();
            match Policies::parse(&[("suggested", &text.join("\n"))]) {
                Ok(_) => continue,
                Err(_) => return Vec::new(),
            }
        };
        let mut wrong: BTreeSet<String> = BTreeSet::new();
        for it in decided.iter().filter(|it| !it.allowed) {
            let judged = policies.judge(&it.call);
            if judged.verdict == Verdict::Allow {
                wrong.extend(judged.rules.iter().map(|rule| rule.id.clone()));
            }
        }
        if wrong.is_empty() {
            return found;
        }
        found.retain(|it| !wrong.contains(&it.id));
    }
}

/// What a part is like, if all of it is known.
fn alike(part: &Part) -> Option<Alike> {
    if part.unsure.is_some() || !part.resource.is_known {
        return None;
    }
    let text = |name: &str| part.resource.known_text(name);
    let is = |name: &str, value: &str| format!("resource.{name} == {}", quoted(value));
    let group = format!("action in Action::{}", quoted(part.kind.name()));
    let (id, when) = match part.kind {
        Kind::Run => {
            let program = text("program")?;
            let subcommand = text("subcommand").filter(|_| WITH_SUBCOMMANDS.contains(&program));
            match subcommand {
                Some(subcommand) => (
                    format!("run {program} {subcommand}"),
                    Some(format!(
                        "{} && {}",
                        is("program", program),
                        is("subcommand", subcommand)
                    )),
                ),
                None => (format!("run {program}"), Some(is("program", program))),
            }
        }
        Kind::Read | Kind::Edit => {
            let (path, relative) = (text("path")?, text("relative")?);
            let name = part.kind.name();
            match relative.split_once('/') {
                Some((folder, _)) => (
                    format!("{name} {folder}/"),
                    Some(format!(
                        "resource.inside && resource.relative like {}",
                        pattern(&format!("{folder}/"))
                    )),
                ),
                // A file at the top, or one outside: itself alone.
                None => (format!("{name} {path}"), Some(is("path", path))),
            }
        }
        Kind::Fetch => {
            let host = text("host")?;
            let shown = if host.is_empty() { "(search)" } else { host };
            (format!("fetch {shown}"), Some(is("host", host)))
        }
        Kind::Mcp | Kind::Other => {
            let name = text("name")?;
            (format!("use {name}"), Some(is("name", name)))
        }
        Kind::Mention | Kind::Push | Kind::Branch | Kind::Commit => return None,
    };
    let scope = group;
    Some(Alike { id, scope, when })
}

/// A text as Cedar has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() || !c.is_ascii() => {
                quoted.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// What begins so, as a pattern.
fn pattern(begin: &str) -> String {
    let literal = quoted(begin).replace('*', "\\*");
    format!("{}*\"", literal.trim_end_matches('"'))
}

/// A call in a few words.
fn shown(call: &Call) -> String {
    let command = call.args.get("command").and_then(serde_json::Value::as_str);
    let text = match command {
        Some(command) => command.to_owned(),
        None => format!("{} {}", call.tool, call.args),
    };
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(120)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bash(command: &str, allowed: bool) -> Decided {
        let call =
            Call::new("Bash", json!({ "command": command })).with_cwd("/work/app".to_owned());
        Decided { call, allowed }
    }

    #[test]
    fn what_was_always_allowed_is_suggested() {
        let decided = [
            bash("cargo test --lib", true),
            bash("cargo test", true),
            bash("cargo publish", false),
            bash("cargo publish", true),
            bash("cargo publish", true),
            bash("ls src", true),
            bash("ls  src", true),
            // What is read here was allowed once, and so that `wc` is allowed would not do.
            bash("wc docs", true),
            bash("wc examples", true),
            bash("ls tests && rm src/x", true),
            bash("rm src/y", false),
            bash("cat $X", true),
            bash("cat $X", true),
        ];
        let found = suggest(&decided, 2);
        let ids: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["run ls", "read /work/app/src", "run cargo test"]);
        assert_eq!(found[0].calls, 3);
        assert_eq!(found[2].examples, ["cargo test --lib", "cargo test"]);
        let all: String = found.iter().map(|it| it.policy.clone() + "\n").collect();
        let policies = Policies::parse(&[("p", &all)]).expect("they are valid");
        for it in decided.iter().filter(|it| !it.allowed) {
            assert_ne!(policies.judge(&it.call).verdict, Verdict::Allow);
        }
    }

    #[test]
    fn odd_names_are_quoted() {
        let edit = |path: &str| Decided {
            call: Call::new("Edit", json!({ "file_path": path })).with_cwd("/w".to_owned()),
            allowed: true,
        };
        let decided = [edit("a\"*\u{e9}/x"), edit("a\"*\u{e9}/y")];
        let found = suggest(&decided, 1);
        assert_eq!(found.len(), 1, "{found:?}");
        let policies = Policies::parse(&[("p", &found[0].policy)]).expect("it is valid");
        assert_eq!(policies.judge(&decided[0].call).verdict, Verdict::Allow);
        assert_eq!(
            policies.judge(&edit("ab\u{e9}/x").call).verdict,
            Verdict::Ask
        );
    }
}

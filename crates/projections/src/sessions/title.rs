//! The title of a session, from its first prompt.

use annals_domain::cut;

use crate::slash_command::slash_command;

/// The longest title, in bytes.
const TITLE_BYTES: usize = 240;
/// Lines of a prompt that are looked at.
const LINES: usize = 200;

/// How well a text serves as a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TitleRank {
    /// It says nothing of the work: `/clear`, "continue".
    Weak,
    /// A prompt, or a slash command that does work.
    Prompt,
}

/// Slash commands of agents' programs that do no work.
const IDLE_COMMANDS: [&str; 32] = [
    "/add-dir",
    "/agents",
    "/approvals",
    "/clear",
    "/compact",
    "/config",
    "/context",
    "/copy",
    "/cost",
    "/diff",
    "/doctor",
    "/effort",
    "/exit",
    "/export",
    "/help",
    "/hooks",
    "/ide",
    "/login",
    "/logout",
    "/mcp",
    "/memory",
    "/model",
    "/new",
    "/permissions",
    "/plugin",
    "/quit",
    "/rename",
    "/resume",
    "/rewind",
    "/status",
    "/usage",
    "/vim",
];

/// Prompts that only let an agent go on.
const IDLE_PROMPTS: [&str; 7] = [
    "continue",
    "continue from where you left off",
    "go on",
    "hello",
    "hi",
    "ok",
    "warmup",
];

/// Phrases before a plan, which has a title of its own.
const PLAN_PHRASES: [&str; 3] = [
    "implement the following plan",
    "execute the following plan",
    "implement this plan",
];

/// The title that a prompt gives; `None` if it has no text of a person.
pub(super) fn title_of(prompt: &str) -> Option<(TitleRank, String)> {
    if let Some(command) = slash_command(prompt) {
        return Some(ranked(&command));
    }
    let text = without_elements(prompt);
    let mut headings = Vec::new();
    let mut is_plan = false;
    for line in text.lines().map(str::trim).take(LINES) {
        if line.is_empty() || is_rule(line) {
            continue;
        }
        let heading = line
            .strip_prefix('#')
            .map(|rest| rest.trim_start_matches('#').trim());
        match heading {
            Some(heading) if is_plan && !heading.is_empty() => {
                return Some(ranked(plan_title(heading)));
            }
            Some(heading) if !heading.is_empty() => headings.push(heading),
            Some(_) => {}
            None if is_plan_phrase(line) => is_plan = true,
            None => return Some(ranked(line.trim_start_matches(['>', '*', '-']).trim())),
        }
    }
    let heading = headings.first().copied();
    heading.map(ranked)
}

fn ranked(title: &str) -> (TitleRank, String) {
    let line = title.lines().next().unwrap_or_default().trim();
    let word = line.split_whitespace().next().unwrap_or_default();
    let plain = line.trim_end_matches(['.', '!', '…']).to_ascii_lowercase();
    let is_weak = IDLE_COMMANDS.contains(&word)
        || IDLE_PROMPTS.contains(&plain.as_str())
        || line.starts_with("[Request interrupted")
        || line.is_empty();
    let rank = match is_weak {
        true => TitleRank::Weak,
        false => TitleRank::Prompt,
    };
    (rank, cut(line, TITLE_BYTES).trim_end().to_owned())
}

/// A plan's heading without the word for what it is.
fn plan_title(heading: &str) -> &str {
    let rest = ["Plan:", "plan:", "Implementation Plan:", "Plan -"]
        .iter()
        .find_map(|start| heading.strip_prefix(*start));
    rest.map_or(heading, str::trim)
}

fn is_plan_phrase(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let line = line.trim_end_matches([':', '.']);
    PLAN_PHRASES.iter().any(|phrase| line.ends_with(phrase))
}

/// A line that only divides a text.
fn is_rule(line: &str) -> bool {
    line.bytes()
        .all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_' | b'`' | b'~'))
}

/// A text without the elements that agents' programs put before it, such as `<system-reminder>`, or around it, such as
/// `<user_query>`.
fn without_elements(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some((inside, behind)) = element(rest) {
        rest = match behind.is_empty() {
            true => inside,
            false => behind,
        };
    }
    rest
}

/// The text inside the element that a text begins with, and the text behind it.
fn element(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
    let word = name.split_whitespace().next()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !word.bytes().all(is_name) {
        return None;
    }
    let (inside, behind) = rest.split_once(&format!("</{word}>"))?;
    Some((inside.trim(), behind.trim()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn titles_are_the_first_words_of_a_person() {
        use TitleRank::{Prompt, Weak};
        for (prompt, rank, title) in [
            ("Fix the tests\nplease", Prompt, "Fix the tests"),
            ("\n\n  Fix it  \n", Prompt, "Fix it"),
            ("# Task\n\nAdd a flag", Prompt, "Add a flag"),
            ("# Only a heading", Prompt, "Only a heading"),
            (
                "<user_query>\nAdd a flag\n</user_query>",
                Prompt,
                "Add a flag",
            ),
            ("---\n- first\n- second", Prompt, "first"),
            (
                "Implement the following plan:\n\n# Plan: Dark mode\n\n## Context\nIt is bright.",
                Prompt,
                "Dark mode",
            ),
            (
                "<system-reminder>be kind</system-reminder>\nSay hi to Bob",
                Prompt,
                "Say hi to Bob",
            ),
            (
                "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>12</command-args>",
                Prompt,
                "/review 12",
            ),
            ("<command-name>/clear</command-name>", Weak, "/clear"),
            ("/compact keep the plan", Weak, "/compact keep the plan"),
            ("/work/main is broken", Prompt, "/work/main is broken"),
            ("Continue.", Weak, "Continue."),
            (
                "[Request interrupted by user]",
                Weak,
                "[Request interrupted by user]",
            ),
            ("[removed]", Prompt, "[removed]"),
        ] {
            assert_eq!(
                title_of(prompt).unwrap(),
                (rank, title.to_owned()),
                "{prompt:?}"
            );
        }
        assert_eq!(title_of(" \n---\n"), None);
        let long = "é".repeat(500);
        let (_, title) = title_of(&long).unwrap();
        assert!(title.len() <= TITLE_BYTES && long.starts_with(&title));
    }
}

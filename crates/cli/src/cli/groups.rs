//! The commands in groups, as `annals --help` shows them.

use std::fmt::Write as _;

use clap::Command;

/// The title of a group, and its commands in the order in which they are shown.
type Group = (&'static str, &'static [&'static str]);

/// Every command is in one group; `docs/cli.md` has the same order.
pub(crate) const GROUPS: [Group; 7] = [
    (
        "Record",
        &[
            "init", "apply", "submit", "analyze", "approve", "reject", "answer", "rerun",
            "instruct", "judge", "observe", "process", "settings", "serve", "share",
        ],
    ),
    (
        "Read",
        &[
            "tui",
            "log",
            "subscriptions",
            "search",
            "list",
            "show",
            "history",
            "diff",
            "bisect",
            "compare",
            "tree",
            "refs",
            "cost",
            "budget",
            "statusline",
            "decisions",
            "why",
            "refinements",
            "cat",
            "stats",
            "inbox",
            "observations",
            "ready",
        ],
    ),
    ("Replay", &["replay", "policies", "policy", "classify"]),
    ("Prove", &["verify", "checkpoint", "prove", "key"]),
    (
        "Keep",
        &[
            "backup", "restore", "copy", "doctor", "rebuild", "redact", "gc", "retain",
        ],
    ),
    (
        "Exchange",
        &["import", "export", "watch", "hook", "record", "secrets"],
    ),
    ("Describe", &["commands", "events", "completions", "man"]),
];

/// The program's arguments with their commands shown in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let listed = listed(&command);
    let header = *command.get_styles().get_header();
    command.help_template(format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

fn listed(command: &Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in names {
            let found = command.find_subcommand(name).and_then(Command::get_about);
            let about = found.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let command = Cli::command();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn the_help_has_the_groups() {
        let help = grouped(Cli::command()).render_long_help().to_string();
        let places = GROUPS.map(|(title, _)| help.find(&format!("\n{title}:\n")));
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{help}"
        );
        assert!(
            help.contains("\nOptions:\n") && help.contains("\nExamples:\n"),
            "{help}"
        );
    }
}

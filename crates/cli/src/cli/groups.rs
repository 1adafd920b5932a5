//! The commands as `annals --help` shows them: the ones of every day, the groups of the others, and no old spelling.

use std::fmt::Write as _;

use clap::Command;

use super::spellings::OLD;

/// The title of a section, and its commands in the order in which they are shown.
type Section = (&'static str, &'static [&'static str]);

/// The commands that help shows; `docs/cli.md` has the same order.
pub(crate) const SECTIONS: [Section; 4] = [
    (
        "Sessions",
        &[
            "start", "ls", "show", "search", "cost", "budget", "diff", "resume", "share", "tui",
        ],
    ),
    (
        "Recording",
        &[
            "import",
            "export",
            "record",
            "statusline",
            "doctor",
            "proof",
        ],
    ),
    ("More", &["intent", "policy", "object", "log", "service"]),
    ("Shell", &["completions", "man"]),
];

/// The program's arguments with their commands in sections, and with old spellings hidden.
pub(crate) fn grouped(command: Command) -> Command {
    let command = OLD.iter().fold(command, |command, (old, new)| {
        let is_new = format!("New spelling: annals {new}");
        command.mut_subcommand(old, |command| command.hide(true).before_help(is_new))
    });
    let command = command.mut_subcommand("hook", hook);
    let listed = listed(&command);
    let header = *command.get_styles().get_header();
    command.help_template(format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

/// `hook` with the new spellings of the commands that people give; agents give the others.
fn hook(command: Command) -> Command {
    let new = [
        ("install", "record on"),
        ("uninstall", "record off"),
        ("status", "record status"),
    ];
    let command = new.iter().fold(command, |command, (old, new)| {
        let is_new = format!("New spelling: annals {new}");
        command.mut_subcommand(old, |command| command.before_help(is_new))
    });
    command
        .hide(true)
        .before_help("New spellings: annals record on, off and status")
}

fn listed(command: &Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = SECTIONS.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (title, names) in SECTIONS {
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
    fn every_command_is_in_one_section_or_an_old_spelling() {
        let shown = SECTIONS.iter().flat_map(|(_, names)| names.iter().copied());
        let old = OLD.iter().map(|(old, _)| *old);
        let mut known: Vec<&str> = shown.chain(old).chain(["hook"]).collect();
        let command = Cli::command();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        known.sort_unstable();
        commands.sort_unstable();
        assert_eq!(known, commands);
    }

    #[test]
    fn the_help_has_the_sections_and_no_old_spelling() {
        let help = grouped(Cli::command()).render_long_help().to_string();
        let places = SECTIONS.map(|(title, _)| help.find(&format!("\n{title}:\n")));
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{help}"
        );
        assert!(
            help.contains("\nOptions:\n") && help.contains("\nExamples:\n"),
            "{help}"
        );
        for (old, _) in OLD {
            assert!(!help.contains(&format!("\n  {old} ")), "{old}: {help}");
        }
    }

    #[test]
    fn summaries_are_short() {
        fn check(command: &Command) {
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            assert!(
                (1..=60).contains(&about.chars().count()) && !about.ends_with('.'),
                "{}: {about}",
                command.get_name()
            );
            command.get_subcommands().for_each(check);
        }
        Cli::command().get_subcommands().for_each(check);
    }

    /// At the width of the documentation; `docs/` has the background.
    #[test]
    fn long_texts_have_at_most_15_lines() {
        fn check(command: &Command) {
            let after = command.get_after_help().map(ToString::to_string);
            let after = after.unwrap_or_default();
            let text = after.split("Examples:").next().unwrap_or_default();
            let lines = text
                .lines()
                .map(|line| line.chars().count().div_ceil(100).max(1));
            let lines: usize = lines.sum();
            assert!(lines <= 16, "{}: {lines} lines", command.get_name());
            command.get_subcommands().for_each(check);
        }
        Cli::command().get_subcommands().for_each(check);
    }

    #[test]
    fn the_help_of_an_old_spelling_names_the_new_one() {
        let command = grouped(Cli::command());
        for (old, new) in OLD {
            let mut command = command.find_subcommand(old).expect("it is there").clone();
            let help = command.render_long_help().to_string();
            assert!(
                help.starts_with(&format!("New spelling: annals {new}\n")),
                "{help}"
            );
        }
    }
}

//! `docs/cli.md`: what `--help` says of every command, kept current by a test.

use std::path::Path;

use clap::{Arg, Command, CommandFactory};

use super::Cli;
use super::groups::{SECTIONS, grouped};
use super::spellings::OLD;

const INTRODUCTION: &str = "\
# The program

Every command with its options and examples, as `annals COMMAND --help` prints them. The options that every
command takes are listed here and not below. This page is written by `make cli`; a test compares it with the program.

";

const OLD_SPELLINGS: &str = "
## Old spellings

These stay valid until 0.1.0, with the same arguments. `annals hook install`, `uninstall` and `status` are now
`annals record on`, `off` and `status`.

| Old | New |
| --- | --- |
";

/// The page as it has to be.
fn page() -> String {
    // Neither the terminal nor the environment is in it.
    let without_values = |arg: Arg| arg.hide_env_values(true);
    let command = grouped(Cli::command()).term_width(100);
    let mut command = command.mut_args(without_values);
    command.build();
    let mut page = INTRODUCTION.to_owned();
    page.push_str(&block(&mut command.clone()));
    for (title, names) in SECTIONS {
        page.push_str(&format!("\n## {title}\n"));
        for name in names {
            let found = command.find_subcommand(name).cloned();
            add(found.expect("a command of a section exists"), &mut page);
        }
    }
    page.push_str(OLD_SPELLINGS);
    for (old, new) in OLD {
        page.push_str(&format!("| `annals {old}` | `annals {new}` |\n"));
    }
    page
}

fn add(command: Command, page: &mut String) {
    let mut command = own_options(command);
    page.push_str(&format!(
        "\n### {}\n\n",
        command.get_bin_name().unwrap_or_default()
    ));
    page.push_str(&block(&mut command));
    let within: Vec<Command> = command.get_subcommands().cloned().collect();
    let is_own = |command: &Command| command.get_name() != "help" && !command.is_hide_set();
    within
        .into_iter()
        .filter(is_own)
        .for_each(|command| add(command, page));
}

/// The help of a command without the options that every command takes.
fn own_options(command: Command) -> Command {
    let is_common =
        |arg: &Arg| arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version");
    command.mut_args(|arg| {
        let hidden = is_common(&arg);
        arg.hide(hidden)
    })
}

fn block(command: &mut Command) -> String {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!("```text\n{}\n```\n", lines.join("\n").trim())
}

#[test]
fn the_page_of_all_commands_is_what_the_help_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let page = page();
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(&path, &page).expect("docs/cli.md can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written
        .lines()
        .zip(page.lines())
        .position(|(one, other)| one != other);
    assert!(
        written == page,
        "docs/cli.md differs from the help from line {} on: run `make cli`",
        differs.map_or(written.lines().count(), |line| line + 1)
    );
}

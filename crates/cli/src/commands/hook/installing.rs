//! `annals record on` and `uninstall`: the change is shown, and made when the user says so.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use annals::LogUrl;
use annals_live::hook::HookAgent;
use annals_live::install::{self, Change, Scope};
use serde_json::json;

use super::gate;
use crate::cli::{self, Gate, HookScope, HowToChange, InstallHooks, UninstallHooks};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};

pub(super) fn install(args: &InstallHooks, context: &mut Context) -> Result<(), CliError> {
    let hooks = HooksOf {
        scope: &args.scope,
        gate: &args.gate,
        program: args.program.as_deref(),
        how: &args.how,
    };
    hooks.install(agent(args.agent), context)
}

pub(super) fn uninstall(args: &UninstallHooks, context: &mut Context) -> Result<(), CliError> {
    uninstall_from(agent(args.agent), &args.scope, &args.how, context)
}

/// Hooks that are put into configurations.
pub(in crate::commands) struct HooksOf<'a> {
    pub(in crate::commands) scope: &'a HookScope,
    pub(in crate::commands) gate: &'a Gate,
    /// The program that they run; this one, if none is named.
    pub(in crate::commands) program: Option<&'a Path>,
    pub(in crate::commands) how: &'a HowToChange,
}

impl HooksOf<'_> {
    /// Puts the hooks into an agent's configuration.
    pub(in crate::commands) fn install(
        &self,
        agent: HookAgent,
        context: &mut Context,
    ) -> Result<(), CliError> {
        let path = install::place(agent, scope(self.scope))?;
        let program = match self.program {
            Some(program) => program.to_owned(),
            None => own_program()?,
        };
        let mut command = command(agent, &program, &context.log)?;
        for option in gate::options(self.gate)? {
            command.push(' ');
            command.push_str(&quoted(&option));
        }
        let change = install::install(agent, &path, &command)?;
        make(&change, "installed", self.how, context)?;
        if agent == HookAgent::Codex && !self.how.dry_run && !change.is_nothing() {
            context
                .output
                .note("Codex runs new hooks once they are trusted: see /hooks in it");
        }
        Ok(())
    }
}

/// Takes the hooks out of an agent's configuration.
pub(in crate::commands) fn uninstall_from(
    agent: HookAgent,
    of: &HookScope,
    how: &HowToChange,
    context: &mut Context,
) -> Result<(), CliError> {
    let path = install::place(agent, scope(of))?;
    let change = install::uninstall(agent, &path)?;
    make(&change, "uninstalled", how, context)
}

/// This program.
pub(in crate::commands) fn own_program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|error| CliError::input(Path::new("annals"), error))
}

/// Shows a change, and makes it when the user says so.
fn make(
    change: &Change,
    done: &str,
    how: &HowToChange,
    context: &mut Context,
) -> Result<(), CliError> {
    let output = &mut context.output;
    let path = change.path.display().to_string();
    let is_json = output.is_json();
    if !is_json && !change.is_nothing() {
        output.line(&path)?;
        output.lines(&change.difference())?;
        output.flush()?;
    }
    let changes = !change.is_nothing() && !how.dry_run;
    if changes && !how.yes && !asked(&path)? {
        return Err(
            CliError::new(ErrorClass::Refused, "not_confirmed", "nothing was changed")
                .hint("say y, or give --yes"),
        );
    }
    if changes {
        change.apply()?;
    }
    if is_json {
        return output.json(&json!({
            "file": path,
            "changed": changes,
            "difference": change.difference(),
        }));
    }
    match (change.is_nothing(), how.dry_run) {
        (true, _) => output.line(&format!("{path}: nothing to change")),
        (false, true) => output.line("nothing was changed: --dry-run"),
        (false, false) => output.line(&format!("{done}: {path}")),
    }
}

/// Whether the user wants a change to be made.
fn asked(path: &str) -> Result<bool, CliError> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Ok(false);
    }
    let question = format!("Change {path}? [y/N] ");
    let shown = annals_terminal::line(&question);
    let mut error = std::io::stderr();
    let told = error
        .write_all(shown.as_bytes())
        .and_then(|()| error.flush());
    told.map_err(CliError::output)?;
    let mut answer = String::new();
    let read = input.lock().read_line(&mut answer);
    read.map_err(|error| CliError::input(Path::new("-"), error))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The command that an agent runs, with the log's place independent of the folder that it runs in.
fn command(agent: HookAgent, program: &Path, log: &str) -> Result<String, CliError> {
    let program = absolute(program)?;
    let url: LogUrl = log.parse().map_err(|error| CliError::open(log, error))?;
    let log = match &url {
        LogUrl::Rocks(path) => absolute(path)?,
        LogUrl::Postgres(url) if url.has_password() => {
            let message =
                "the log's URL has a password, and an agent's configuration is read by others";
            let error = CliError::new(ErrorClass::Invalid, "password_in_url", message);
            return Err(error.hint(
                "leave it out of the URL, and have PGPASSWORD in the environment that the agent is started in",
            ));
        }
        LogUrl::Postgres(_) => log.to_owned(),
        LogUrl::Memory => return Err(CliError::in_memory()),
    };
    Ok(format!(
        "{} --log {} hook {}",
        quoted(&program),
        quoted(&log),
        agent.key()
    ))
}

pub(in crate::commands) fn absolute(path: &Path) -> Result<String, CliError> {
    let found = std::path::absolute(path).map_err(|error| CliError::input(path, error))?;
    found.to_str().map(str::to_owned).ok_or_else(|| {
        let message =
            "the path of the log or of the program is not UTF-8, and no configuration can name it";
        CliError::new(ErrorClass::Invalid, "path_not_utf8", message)
    })
}

/// A word as a shell takes it.
pub(in crate::commands) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

pub(in crate::commands) fn scope(scope: &HookScope) -> Scope {
    match scope.project {
        true => Scope::Project,
        false => Scope::User,
    }
}

pub(in crate::commands) fn agent(agent: cli::HookAgent) -> HookAgent {
    match agent {
        cli::HookAgent::Claude => HookAgent::Claude,
        cli::HookAgent::Codex => HookAgent::Codex,
        cli::HookAgent::Cursor => HookAgent::Cursor,
        cli::HookAgent::Gemini => HookAgent::Gemini,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("/usr/bin/annals"), "/usr/bin/annals");
        assert_eq!(quoted("/home/a b/it's"), r"'/home/a b/it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("$HOME"), "'$HOME'");
    }

    #[test]
    fn the_command_names_the_log_wherever_it_runs() {
        let command = command(HookAgent::Claude, Path::new("/bin/annals"), "/srv/my log").unwrap();
        assert_eq!(command, "/bin/annals --log '/srv/my log' hook claude");
        let command = |log| super::command(HookAgent::Claude, Path::new("/bin/annals"), log);
        assert!(command("memory:").is_err());
        let on_postgres = command("postgres://ada@db/a?log=team&notify=true").unwrap();
        assert_eq!(
            on_postgres,
            "/bin/annals --log 'postgres://ada@db/a?log=team&notify=true' hook claude"
        );
        let refused = command("postgres://ada:hunter2@db/a").unwrap_err();
        assert!(
            !refused.message().contains("hunter2"),
            "{}",
            refused.message()
        );
    }
}

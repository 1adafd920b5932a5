//! The `annals` program: reads its arguments, runs one command, and turns what
//! went wrong into a message and an exit status.
//!
//! It is a library so that its parsers can be fuzzed; nothing else is public.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

mod agents;
mod cli;
mod clock;
mod commands;
mod context;
mod counted;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod log_choice;
mod output;
mod pager;
mod policy_file;
mod profile_file;
mod progress;
mod proof_error;
mod render;
mod say;
mod signals;
mod small_text;
mod tool_policy_file;
mod user;
mod whole_file;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use tracing_subscriber::EnvFilter;

use crate::cli::{Cli, Color, Command, Global, Start, StartOptions, groups, spellings};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::log_choice::{LogChoice, LogSource};
use crate::output::Output;
use crate::pager::PagerCommand;
use crate::signals::Signals;

/// The exit status of a program that was interrupted.
const INTERRUPTED: u8 = 130;

/// The exit status of wrong usage.
const USAGE: u8 = 2;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let mut cli = match arguments() {
        Ok(cli) => cli,
        Err(error) => return refuse_arguments(shown(error)),
    };
    let json = cli.global.json;
    report_events(cli.global.verbose);
    let command = match command(&mut cli) {
        Ok(Some(command)) => command,
        Ok(None) => return nothing_given(json),
        Err(error) => return refuse_arguments(error),
    };
    match run(cli.global, command) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has seen enough: `annals log | head`.
        Err(error) if error.is_closed_output() => ExitCode::SUCCESS,
        Err(error) if error.is_interrupted() => ExitCode::from(INTERRUPTED),
        Err(error) => {
            complain(&error, json);
            ExitCode::from(error.exit_status())
        }
    }
}

/// The arguments of the process.
fn arguments() -> Result<Cli, clap::Error> {
    let matches = groups::grouped(Cli::command()).try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

/// The command that was given. Without one it is `start` on a terminal, or with an option of `start`.
fn command(cli: &mut Cli) -> Result<Option<Command>, clap::Error> {
    let StartOptions {
        once,
        no_browser,
        listen,
    } = &cli.start;
    let has_options = *once || *no_browser || listen.is_some();
    let is_started = has_options || std::io::stdout().is_terminal();
    match cli.command.take() {
        Some(_) if has_options => {
            let message = "--once, --no-browser and --listen before a command: give them behind it";
            let error = clap::Error::raw(ErrorKind::ArgumentConflict, message);
            Err(error.with_cmd(&groups::grouped(Cli::command())))
        }
        Some(given) => Ok(Some(given.plain())),
        None if is_started => Ok(Some(Command::Start(Start {
            options: cli.start.clone(),
        }))),
        None => Ok(None),
    }
}

/// Prints the reason and the help. Without a command the viewer is opened, but only from a terminal.
fn nothing_given(json: bool) -> ExitCode {
    let message = "no command is given, and standard output is not a terminal";
    let error = CliError::new(ErrorClass::Usage, "usage", message);
    let error = error
        .hint("`annals start` imports recordings and opens the viewer, `annals ls` lists sessions");
    complain(&error, json);
    if !json {
        let mut command = groups::grouped(Cli::command());
        let _ = write!(std::io::stdout(), "{}", command.render_help());
    }
    ExitCode::from(USAGE)
}

/// What is wrong with the arguments, with those that it names made harmless: a shell's pattern may
/// have given the name of a file.
fn shown(mut error: clap::Error) -> clap::Error {
    let shown = |text: &String| annals_terminal::line(text).into_owned();
    let named: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(shown(text)))),
            ContextValue::Strings(texts) => {
                let texts = texts.iter().map(shown).collect();
                Some((kind, ContextValue::Strings(texts)))
            }
            _ => None,
        })
        .collect();
    for (kind, value) in named {
        error.insert(kind, value);
    }
    error
}

/// Help, the version, or what is wrong with the arguments: as JSON where they
/// ask for it, as far as they can be understood.
fn refuse_arguments(error: clap::Error) -> ExitCode {
    let mut options = std::env::args_os().take_while(|argument| argument != "--");
    let json = options.any(|argument| argument == "--json");
    if json && error.use_stderr() {
        let message = error.render().to_string();
        let message = message.split("\n\n").next().unwrap_or_default();
        let message = message.trim().trim_start_matches("error: ");
        complain(&CliError::new(ErrorClass::Usage, "usage", message), json);
    } else if error.use_stderr() {
        let error = error.render().to_string();
        let _ = write!(std::io::stderr(), "{}", annals_terminal::lines(&error));
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        if let Some(new) = spellings::new_spelling(&words(&arguments)) {
            output::say(&format!("note: the new spelling is `annals {new}`"));
        }
    } else {
        let _ = error.print();
    }
    let status = u8::try_from(error.exit_code()).unwrap_or(1);
    // Agents take status 2 of a hook as a refusal, which only a gate that fails closed may give.
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_open = error.use_stderr() && is_hook(&arguments) && !is_closed_gate(&arguments);
    ExitCode::from(if is_open { status.min(1) } else { status })
}

/// Returns `true` if arguments name the command that agents run.
fn is_hook(arguments: &[OsString]) -> bool {
    matches!(
        words(arguments).as_slice(),
        ["hook", ..] | ["service", "hook", ..]
    )
}

/// The command and what is behind it: from the first argument on that is neither an option nor the value of one.
fn words(arguments: &[OsString]) -> Vec<&str> {
    let mut is_value = false;
    let is_option = |argument: &&OsString| {
        let before = std::mem::take(&mut is_value);
        is_value = !before && (*argument == "--log" || *argument == "--color");
        before || argument.to_string_lossy().starts_with('-')
    };
    let command = arguments.iter().skip_while(is_option);
    command.map(|it| it.to_str().unwrap_or_default()).collect()
}

/// Returns `true` if the arguments of a hook demand a gate that fails closed.
fn is_closed_gate(arguments: &[OsString]) -> bool {
    let has = |name: &str| {
        let mut arguments = arguments.iter().map(|it| it.to_string_lossy());
        arguments.any(|it| it.split('=').next() == Some(name))
    };
    has("--gate") && has("--fail-closed")
}

/// Chooses the log of a command, and prints which one it is if that is neither given nor the user's own.
fn chosen(
    given: Option<String>,
    command: &Command,
    output: &Output,
) -> Result<LogChoice, CliError> {
    if given.is_none() && matches!(command, Command::Init(_) | Command::Restore(_)) {
        return Ok(LogChoice::here());
    }
    match LogChoice::of(given) {
        Err(_) if !commands::needs_log(command) => Ok(LogChoice::here()),
        Ok(choice) if choice.source == LogSource::Found && commands::needs_log(command) => {
            // What an agent's hook prints, the agent may show.
            if !matches!(command, Command::Hook(_) | Command::Statusline(_)) {
                let path = std::path::absolute(&choice.log);
                let path = path.map_or_else(|_| choice.log.clone(), |it| it.display().to_string());
                output.note(&format!("using the log {path}"));
            }
            Ok(choice)
        }
        chosen => chosen,
    }
}

fn run(global: Global, command: Command) -> Result<(), CliError> {
    // One thread: the stores work on threads of their own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(CliError::runtime)?;
    let pager = pager(&global, &command);
    let has_pager = pager.is_some();
    let output = output(&global).paged(pager);
    let choice = match chosen(global.log, &command, &output) {
        Err(error) if commands::is_hook_event(&command) => {
            if let Some(refusal) = commands::gate_refusal(&command, &error) {
                return Err(refusal);
            }
            // A hook that fails would be taken for an answer by the agent.
            output.warn(&format!("an event is lost: {error}"));
            return Ok(());
        }
        Err(_) if matches!(command, Command::Statusline(_)) => return Ok(()),
        choice => choice?,
    };
    let mut context = Context {
        is_verbose: global.verbose > 0,
        is_exclusive: global.exclusive,
        output,
        log: choice.log,
        source: choice.source,
    };
    let command = commands::run(command, &mut context);
    runtime.block_on(async {
        signals::limits_are_errors();
        match has_pager {
            true => until_interrupted(command).await,
            false => command.await,
        }
    })?;
    context.output.flush()
}

/// Standard output as the options want it.
fn output(options: &Global) -> Output {
    let output = Output::new(options.json, styled(options.color));
    if options.json || !std::io::stdout().is_terminal() {
        return output;
    }
    clock::on_terminal();
    let size = terminal_size::terminal_size_of(std::io::stdout());
    let columns = size.map(|(width, _)| usize::from(width.0));
    // What more is wanted of is not cut.
    output.on_screen(columns.filter(|_| options.verbose == 0))
}

/// The pager of a command that prints much, where people read it.
fn pager(global: &Global, command: &Command) -> Option<PagerCommand> {
    let is_wanted = !global.no_pager && !global.json && std::io::stdout().is_terminal();
    let is_wanted = is_wanted && commands::is_paged(command);
    is_wanted.then(PagerCommand::from_environment).flatten()
}

/// Runs a command whose output goes to a pager. The keys that interrupt are for both: the command ends, and what it
/// printed can be read on.
async fn until_interrupted(
    command: impl Future<Output = Result<(), CliError>>,
) -> Result<(), CliError> {
    let mut signals = Signals::new()?;
    tokio::select! {
        result = command => result,
        () = signals.next() => Err(CliError::interrupted()),
    }
}

/// Whether standard output gets styles: only a terminal, unless told otherwise.
fn styled(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused && std::io::stdout().is_terminal()
        }
    }
}

/// What the libraries have to say goes to standard error, as much as `-v` asks
/// for; RUST_LOG is more precise.
fn report_events(verbose: u8) {
    let level = match verbose {
        // What the store's writer and RocksDB complain of ends the command, too,
        // and is said then.
        0 => "warn,annals_store_rocks::writer=off,rocksdb=off",
        1 => "info,annals_store_rocks::writer=off,rocksdb=off",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| annals_terminal::Writer::lines(std::io::stderr()))
        // The writer shows every code of a terminal as what it is, those of styles too.
        .with_ansi(false);
    // It fails only where one is set already, and then that one does.
    let _ = subscriber.try_init();
}

/// Says on standard error what went wrong.
fn complain(error: &CliError, json: bool) {
    match json {
        true => output::say_json(&error.to_json().to_string()),
        false => output::say(&format!("annals: {}", error.message())),
    }
}

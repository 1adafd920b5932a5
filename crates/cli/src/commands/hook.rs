//! `annals hook`: what agents tell as they work, and the hooks in their configurations.

pub(super) mod gate;
pub(super) mod installing;
pub(super) mod status;

use std::process::Command;
use std::time::{Duration, Instant};

use annals::domain::Timestamp;
use annals_live::hook::{Hook, HookAgent, LARGEST};
use annals_live::ledger::LedgerDue;
use annals_live::{Became, HookRun, Input, Settings};
use rustix::process::Signal;
use serde_json::Value;

use crate::cli::{Hook as Args, RunHook};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{bytes, counted};

pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<(), CliError> {
    match args {
        Args::Claude(args) => record(HookAgent::Claude, args, context),
        Args::Codex(args) => record(HookAgent::Codex, args, context),
        Args::Cursor(args) => record(HookAgent::Cursor, args, context),
        Args::Gemini(args) => record(HookAgent::Gemini, args, context),
        Args::Install(args) => installing::install(args, context),
        Args::Uninstall(args) => installing::uninstall(args, context),
        Args::Status(args) => status::show(&[], args.limit, context).await,
        Args::Deliver { within } => deliver(Duration::from_millis(*within), context).await,
    }
}

/// Records one event. It never fails, but for a gate that is to: an agent would take that for an answer.
fn record(agent: HookAgent, args: &RunHook, context: &mut Context) -> Result<(), CliError> {
    let started = Instant::now();
    context.own_files();
    let secrets = match args.redaction.secrets() {
        Ok(secrets) => secrets,
        Err(error) => {
            context
                .output
                .warn(&format!("{error}; the known formats are taken out"));
            annals_dialects::secrets::Secrets::standard()
        }
    };
    let within = args.deadline.map(Duration::from_millis);
    let longest = within.unwrap_or_else(|| agent.deadline(None));
    let (bytes, left_out) = match &args.event {
        Some(json) => (json.clone().into_bytes(), 0),
        None => input(longest, context),
    };
    let ruled = gate::ruling(
        agent,
        args,
        (&bytes, left_out),
        (&secrets, longest / 2),
        context,
    );
    let ruling = ruled.as_ref().ok().cloned().flatten();
    let named = (
        annals::event_log::new_id(),
        Timestamp::from(annals::event_log::now()),
    );
    let settings = Settings::within(agent, &bytes, &secrets, longest / 8);
    let hook = Hook::new(agent, named, bytes, left_out, &secrets)
        .with_ruling(ruling)
        .with_settings(settings);
    let (_, event) = hook.names();
    let within = within.unwrap_or_else(|| agent.deadline(event.as_deref()));
    let run = HookRun::new(context.log.clone(), secrets, started + within)
        .with_fail_closed(args.gate.fail_closed);
    let is_judged = hook.ruling.is_some();
    let (became, ruling) = run.decide(hook, |within| courier(within, context));
    say(agent, &became, is_judged && ruling.is_none(), context);
    ruled?;
    match ruling.and_then(|ruling| agent.answer(&ruling)) {
        Some(answer) => answered(&answer, args.gate.fail_closed, context),
        None => Ok(()),
    }
}

/// This program, to be started once more to bring an event into the log. Its arguments are seen by others, and a URL may
/// have a password.
fn courier(within: Duration, context: &Context) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let within = within.as_millis().to_string();
    command.args(["hook", "deliver", &within]);
    command.env("ANNALS_LOG", &context.log);
    Ok(command)
}

/// Brings the event on standard input into the log, and says whether it did.
async fn deliver(within: Duration, context: &mut Context) -> Result<(), CliError> {
    context.own_files();
    end_in(within);
    let said = annals_live::deliver(&context.log, std::io::stdin(), within).await;
    context.output.line(&said)?;
    context.output.flush()?;
    // The hook has its answer, and goes on without this process.
    let is_recent = context.ledger_file().is_ok_and(|file| file.is_recent());
    if !is_recent && let Ok(annals) = context.reader() {
        context.keep_ledger(&annals, LedgerDue::IfBehind).await;
        annals.close().await;
    }
    Ok(())
}

/// Ends this process when its time is up: the one that started it does so, unless it was killed itself. By a signal,
/// since the store does not bear any other end in the middle of something.
fn end_in(within: Duration) {
    // Without a thread it ends when it has an answer.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(within);
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    });
}

/// Says what became of an event.
fn say(agent: HookAgent, became: &Became, is_open: bool, context: &Context) {
    let output = &context.output;
    match became {
        Became::Recorded if context.is_verbose => output.note("recorded"),
        Became::HandedOver if context.is_verbose => {
            output.note("kept in the spool, for the process that takes it in at once");
        }
        Became::Spooled(reason) if context.is_verbose => {
            output.note(&format!("kept in the spool: {reason}"));
        }
        Became::Lost(reason) => {
            let title = agent.title();
            let decides = match is_open {
                true => "; the agent's own settings decide",
                false => "",
            };
            output.warn(&format!("an event of {title} is lost: {reason}{decides}"));
        }
        _ => {}
    }
}

/// Answers the agent. One that cannot be answered is refused by the exit status, where that is wanted.
fn answered(answer: &Value, is_closed: bool, context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    let written = output.json(answer).and_then(|()| output.flush());
    match written {
        Err(error) if is_closed => Err(gate::refused(&error.message())),
        // A hook that fails is none.
        _ => Ok(()),
    }
}

/// What comes on standard input, and how many bytes of it were left out.
fn input(deadline: Duration, context: &Context) -> (Vec<u8>, u64) {
    let input = Input::read(std::io::stdin(), deadline);
    if input.is_cut_off {
        context.output.warn(&format!(
            "the event did not come whole on standard input; the {} bytes that came are recorded",
            input.bytes.len()
        ));
    }
    if input.left_out > 0 {
        context.output.warn(&format!(
            "the event is too large: {} of it {} left out, and at most {} are recorded",
            counted(input.left_out, "byte", "bytes"),
            if input.left_out == 1 { "is" } else { "are" },
            bytes(LARGEST as u64),
        ));
    }
    (input.bytes, input.left_out)
}

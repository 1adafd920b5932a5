//! `annals hook`: what agents tell as they work, and the hooks in their configurations.

mod installing;
mod status;

use std::time::{Duration, Instant};

use annals::domain::Timestamp;
use annals_live::hook::{Hook, HookAgent};
use annals_live::{Became, HookRun, Input};
use chrono::Utc;
use uuid::Uuid;

use crate::cli::{Hook as Args, RunHook};
use crate::context::Context;
use crate::error::CliError;

pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<(), CliError> {
    match args {
        Args::Claude(args) => record(HookAgent::Claude, args, context),
        Args::Codex(args) => record(HookAgent::Codex, args, context),
        Args::Cursor(args) => record(HookAgent::Cursor, args, context),
        Args::Gemini(args) => record(HookAgent::Gemini, args, context),
        Args::Install(args) => installing::install(args, context),
        Args::Uninstall(args) => installing::uninstall(args, context),
        Args::Status(args) => status::run(args, context).await,
    }
}

/// Records one event. It never fails: an agent would take that for an answer.
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
    let named = (Uuid::now_v7(), Timestamp::from(Utc::now()));
    let hook = Hook::new(agent, named, bytes, left_out, &secrets);
    let (_, event) = hook.names();
    let within = within.unwrap_or_else(|| agent.deadline(event.as_deref()));
    let run = HookRun::new(context.log.clone(), secrets, started + within);
    match run.record(&hook) {
        Became::Recorded if context.is_verbose => context.output.note("recorded"),
        Became::Spooled(reason) if context.is_verbose => {
            context.output.note(&format!("kept in the spool: {reason}"));
        }
        Became::Lost(reason) => {
            context
                .output
                .warn(&format!("an event of {} is lost: {reason}", agent.title()));
        }
        _ => {}
    }
    Ok(())
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
    (input.bytes, input.left_out)
}

//! `annals hook`: what agents tell as they work, and the hooks in their configurations.

mod installing;
mod status;

use std::io::Read;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use annals::domain::Timestamp;
use annals_live::hook::{Hook, HookAgent, LARGEST};
use annals_live::{Became, HookRun};
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
        None => input(longest / 2),
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

/// What comes on standard input, and how many bytes of it were left out. Who keeps it open does not keep us.
fn input(within: Duration) -> (Vec<u8>, u64) {
    let (tell, told) = channel();
    let reader = std::thread::Builder::new().name("annals-hook-input".to_owned());
    let started = reader.spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut piece = vec![0_u8; 64 * 1024];
        while let Ok(read) = input.read(&mut piece) {
            let bytes = piece.get(..read).unwrap_or_default().to_vec();
            if read == 0 || tell.send(bytes).is_err() {
                return;
            }
        }
    });
    let (mut bytes, mut left_out) = (Vec::new(), 0);
    let end = Instant::now() + within;
    // Nobody is told if it was not started: there is no input then.
    let _ = started;
    while let Ok(piece) = told.recv_timeout(end.saturating_duration_since(Instant::now())) {
        let room = LARGEST.saturating_sub(bytes.len());
        let (kept, rest) = piece.split_at(room.min(piece.len()));
        bytes.extend_from_slice(kept);
        left_out += rest.len() as u64;
    }
    (bytes, left_out)
}

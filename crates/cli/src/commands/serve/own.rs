//! `annals service serve --record-only`: an owner of the log that stays.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::SocketAddr;
use std::time::Duration;

use annals::blocking::Wait as _;
use annals::{Annals, LogUrl};
use annals_live::ledger::LedgerDue;
use annals_live::{Listener, Spool};
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::signals::Signals;

/// How often it looks for what hooks could not give it in time, and put beside the log.
const TO_LOOK: Duration = Duration::from_secs(5);

/// Why it goes on no longer.
enum End {
    /// It was interrupted or terminated.
    Asked,
    /// The log's store has failed.
    Failed,
}

pub(super) async fn run(context: &mut Context) -> Result<(), CliError> {
    demand_folder(context)?;
    let annals = context.writer()?;
    let mut signals = Signals::new()?;
    own(annals, &mut signals, context).await
}

/// Only a log in a folder has an owner and guests.
pub(super) fn demand_folder(context: &Context) -> Result<(), CliError> {
    if context.is_exclusive || !matches!(context.log.parse(), Ok(LogUrl::Rocks(_))) {
        let message = "only a log in a folder can be served, and not with --exclusive: other processes are to write to it";
        return Err(CliError::new(ErrorClass::Usage, "not_served", message));
    }
    Ok(())
}

/// Owns the log until it is told to end, or its store fails, and closes it.
pub(super) async fn own(
    annals: Annals,
    signals: &mut Signals,
    context: &mut Context,
) -> Result<(), CliError> {
    let served = serve(&annals, signals, context).await;
    tell("STOPPING=1", context);
    annals.close().await;
    match served? {
        End::Asked => report(context, "ended", &annals),
        End::Failed => {
            let message = format!(
                "the store of {} has failed, and was closed",
                context.shown_log()
            );
            let error = CliError::new(ErrorClass::Unavailable, "store_failed", message);
            Err(error.hint("look for a full disk or a folder that was moved, and start it again"))
        }
    }
}

async fn serve(
    annals: &Annals,
    signals: &mut Signals,
    context: &mut Context,
) -> Result<End, CliError> {
    if annals.owner() != Some(std::process::id()) {
        report(context, "waiting", annals)?;
        // Others can write to the log already, by way of its owner.
        tell("READY=1\nSTATUS=waits for the log's owner to go", context);
        tokio::select! {
            () = signals.next() => return Ok(End::Asked),
            owned = annals.own() => owned?,
        }
    }
    report(context, "owner", annals)?;
    tell("READY=1\nSTATUS=owns the log", context);
    keep_searchable(annals, context);
    let mut looks = tokio::time::interval(TO_LOOK);
    let mut bell = Listener::new(Spool::of(&context.log)?);
    if let Err(error) = bell.hang() {
        let message = format!("hooks are taken in now and then only: {error}");
        context.output.warn(&message);
    }
    loop {
        tokio::select! {
            () = signals.next() => return Ok(End::Asked),
            () = annals.unshared() => return Ok(End::Failed),
            () = bell.rung() => {}
            // What was said once need not be said again.
            _ = looks.tick() => drop(bell.hang()),
        }
        context.take_in(annals);
        context.keep_ledger(annals, LedgerDue::IfBehind).await;
    }
}

/// Brings the search index up to date now and then, on a thread of its own, if that was asked for; until the log is
/// closed.
fn keep_searchable(annals: &Annals, context: &Context) {
    let search = crate::commands::search::of_log(context, annals);
    let keep = move || search.keep_up(TO_LOOK).wait();
    // The index is no part of what is served.
    let started = std::thread::Builder::new()
        .name("search index".to_owned())
        .spawn(keep);
    if let Err(error) = started {
        let message = format!("the search index is not brought up to date: {error}");
        context.output.warn(&message);
    }
}

/// A line, or an object, about what this process is to the log now.
fn report(context: &mut Context, state: &str, annals: &Annals) -> Result<(), CliError> {
    let (owner, position) = (annals.owner(), annals.position());
    let log = &context.log;
    let line = match (state, owner) {
        ("waiting", Some(owner)) => {
            format!("waiting: process {owner} owns {log}; this one takes its place when it goes")
        }
        ("owner", _) => format!(
            "serving {log}, which has {position} records: others write by way of this process; Ctrl-C ends it"
        ),
        _ => format!("ended: {log} has {position} records"),
    };
    let mut object = json!({ "state": state, "log": log, "position": position.0, "process": std::process::id() });
    if state == "waiting" {
        object["owner"] = json!(owner);
    }
    match context.output.is_json() {
        true => context.output.json(&object)?,
        false => context.output.line(&line)?,
    }
    context.output.flush()
}

/// Tells systemd, where it started this process as a service and asks for it.
fn tell(state: &str, context: &Context) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    if let Err(error) = told(path.as_encoded_bytes(), state) {
        let line = state.replace('\n', ", ");
        context
            .output
            .warn(&format!("systemd could not be told {line}: {error}"));
    }
}

fn told(path: &[u8], state: &str) -> io::Result<()> {
    let address = match path.strip_prefix(b"@") {
        Some(name) => abstract_socket(name)?,
        None => SocketAddr::from_pathname(OsStr::from_bytes(path))?,
    };
    std::os::unix::net::UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn abstract_socket(name: &[u8]) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    SocketAddr::from_abstract_name(name)
}

/// Sockets without a file are Linux's alone, as systemd is.
#[cfg(not(target_os = "linux"))]
fn abstract_socket(_: &[u8]) -> io::Result<SocketAddr> {
    Err(io::ErrorKind::Unsupported.into())
}

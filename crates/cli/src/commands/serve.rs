//! `annals serve`: an owner of the log that stays.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::SocketAddr;
use std::time::Duration;

use annals::{Annals, LogUrl};
use annals_live::{Bell, Spool};
use serde_json::json;
use tokio::net::UnixDatagram;

use crate::cli::Serve;
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

pub(super) async fn run(_: &Serve, context: &mut Context) -> Result<(), CliError> {
    if context.is_exclusive || !matches!(context.log.parse(), Ok(LogUrl::Rocks(_))) {
        let message = "only a log in a folder can be served, and not with --exclusive: other processes are to write to it";
        return Err(CliError::new(ErrorClass::Usage, "not_served", message));
    }
    let mut signals = Signals::new()?;
    let annals = context.writer()?;
    let served = serve(&annals, &mut signals, context).await;
    tell("STOPPING=1", context);
    annals.close().await;
    match served? {
        End::Asked => report(context, "ended", &annals),
        End::Failed => {
            let message = format!("the store of {} has failed, and was closed", context.log);
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
    let mut looks = tokio::time::interval(TO_LOOK);
    let mut bell = Hooks::listen(context);
    loop {
        tokio::select! {
            () = signals.next() => return Ok(End::Asked),
            () = annals.unshared() => return Ok(End::Failed),
            () = bell.rung() => {}
            _ = looks.tick() => bell = bell.again(context),
        }
        bell.quiet();
        context.take_in(annals);
    }
}

/// The bell that hooks ring. Where it cannot be heard, they bring what they have themselves.
struct Hooks(Option<(Bell, UnixDatagram)>);

impl Hooks {
    fn listen(context: &Context) -> Hooks {
        let hung = Spool::of(&context.log).and_then(|spool| Bell::hang(&spool));
        let heard = hung.map_err(|error| error.to_string()).and_then(|bell| {
            let socket = bell.socket().and_then(UnixDatagram::from_std);
            let socket = socket.map_err(|error| error.to_string())?;
            Ok((bell, socket))
        });
        if let Err(error) = &heard {
            let message = format!("hooks are taken in now and then only: {error}");
            context.output.warn(&message);
        }
        Hooks(heard.ok())
    }

    /// The same; hung once more, where something took it down.
    fn again(self, context: &Context) -> Hooks {
        match &self.0 {
            Some((bell, _)) if !bell.is_there() => {
                drop(self);
                Hooks::listen(context)
            }
            _ => self,
        }
    }

    async fn rung(&self) {
        match &self.0 {
            Some((_, socket)) => {
                let _ = socket.recv(&mut [0; 1]).await;
            }
            None => std::future::pending().await,
        }
    }

    fn quiet(&self) {
        if let Some((bell, _)) = &self.0 {
            bell.quiet();
        }
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

//! `annals service serve` without `--record-only`: the log in a browser.

use std::net::SocketAddr;

use annals::{Annals, LogUrl, OpenOptions};
use annals_viewer::{Token, Viewer, ViewerOptions};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::own::{demand_folder, own};
use crate::cli::Serve;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::signals::Signals;
use crate::small_text;

/// Threads that answer requests.
const THREADS: usize = 4;

pub(super) async fn run(args: &Serve, context: &mut Context) -> Result<(), CliError> {
    let mut options = options(args, context)?;
    if let Ok(LogUrl::Rocks(folder)) = context.log.parse() {
        options.folder = Some(folder);
    }
    let annals = match args.own {
        true => {
            demand_folder(context)?;
            context.writer()?
        }
        false => {
            if let Ok(LogUrl::Memory) = context.log.parse() {
                let message =
                    "only a log in a folder or on PostgreSQL can be served: one in memory is empty";
                return Err(CliError::new(ErrorClass::Usage, "not_served", message));
            }
            context.reader_of_rows().await?.close().await;
            context.open(OpenOptions::new().read_only(true))?
        }
    };
    // Before that, to be told to end ends it at once: a server that does not answer may be waited for.
    let mut signals = Signals::new()?;
    let made = options.token.clone().filter(|_| args.token_file.is_none());
    let viewing = Viewing::start(annals.clone(), options).await?;
    report(&viewing, made.as_ref(), &annals, context)?;
    let ended = match args.own {
        true => own(annals, &mut signals, context).await,
        false => {
            signals.next().await;
            annals.close().await;
            Ok(())
        }
    };
    viewing.end().await;
    ended
}

fn options(args: &Serve, context: &Context) -> Result<ViewerOptions, CliError> {
    let mut options = ViewerOptions::new(args.listen);
    options.hosts.clone_from(&args.hosts);
    options.checkpoint.clone_from(&args.checkpoint);
    options.token = match &args.token_file {
        Some(file) => {
            let token = Token::read(&small_text::token(file, &context.output)?);
            let message = format!(
                "the token in {} cannot stand in an address: expected letters, digits, -, _, . and ~, at most 256",
                file.display()
            );
            let refused = || CliError::new(ErrorClass::Invalid, "invalid_token", message);
            Some(token.ok_or_else(refused)?)
        }
        None if args.listen.ip().is_loopback() => None,
        None => Some(Token::generate()),
    };
    Ok(options)
}

/// A viewer at work, on threads of its own: a long answer holds up neither signals nor the log's guests.
pub(crate) struct Viewing {
    runtime: Option<Runtime>,
    socket: SocketAddr,
    address: String,
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Viewing {
    /// Starts the viewer of a log that is open.
    pub(crate) async fn start(annals: Annals, options: ViewerOptions) -> Result<Viewing, CliError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(CliError::runtime)?;
        let starting = runtime.spawn(Viewer::start(annals, options)).await;
        let started = starting.map_err(|error| CliError::runtime(std::io::Error::other(error)));
        let viewer = match started.and_then(|viewer| Ok(viewer?)) {
            Ok(viewer) => viewer,
            Err(error) => {
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let socket = viewer.address();
        let address = format!("http://{socket}/");
        let (end, ended) = oneshot::channel();
        let running = runtime.spawn(viewer.run(async {
            let _ = ended.await;
        }));
        Ok(Viewing {
            runtime: Some(runtime),
            socket,
            address,
            end,
            running,
        })
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> SocketAddr {
        self.socket
    }

    /// Its address, for a browser.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Ends it, once what is being answered is answered.
    pub(crate) async fn end(mut self) {
        let _ = self.end.send(());
        let _ = self.running.await;
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Says where it is, and the token, if it was made here: this once.
fn report(
    viewing: &Viewing,
    made: Option<&Token>,
    annals: &Annals,
    context: &mut Context,
) -> Result<(), CliError> {
    let address = &viewing.address;
    let first = match made {
        Some(token) => format!("{address}?token={}", token.as_str()),
        None => address.clone(),
    };
    let log = context.shown_log();
    if context.output.is_json() {
        let mut object = json!({
            "state": "serving",
            "log": log,
            "address": address,
            "position": annals.position().0,
            "process": std::process::id(),
        });
        if let Some(token) = made {
            object["token"] = json!(token.as_str());
        }
        context.output.json(&object)?;
    } else {
        let line = format!("showing {log} at {first}; Ctrl-C ends it");
        context.output.line(&line)?;
        if made.is_some() {
            let line = "others can reach it: the token in that address is shown only now, and the browser keeps it";
            context.output.note(line);
        }
    }
    context.output.flush()
}

//! `annals record on`, `off` and `status`: agents are recorded by their hooks, and a service may own the log.

mod service;

use std::path::Path;

use annals_live::hook::HookAgent;
use annals_live::install::{self, Scope};

use self::service::Service;
use super::hook::installing::{HooksOf, agent, scope, uninstall_from};
use super::hook::status;
pub(super) use super::hook::status::{enforces_budgets, recorded_agents};
use crate::agents::short_path;
use crate::cli::{self, RecordOff, RecordOn, RecordStatus};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::log_choice::LogSource;

pub(super) async fn on(args: &RecordOn, context: &mut Context) -> Result<(), CliError> {
    let agents = match args.agents.as_slice() {
        [] => present()?,
        named => agents(named),
    };
    let hooks = HooksOf {
        scope: &args.scope,
        gate: &args.gate,
        program: args.program.as_deref(),
        how: &args.how,
    };
    let is_new = context.source == LogSource::User && !Path::new(&context.log).exists();
    if is_new && !args.how.dry_run {
        // Hooks create no log.
        context.importer()?.close().await;
    }
    // A service that cannot be installed leaves no hooks behind.
    let service = args
        .service
        .then(|| Service::new(args.program.as_deref(), context))
        .transpose()?;
    for agent in agents {
        hooks.install(agent, context)?;
    }
    match service {
        Some(service) => service.install(args.how.dry_run, context),
        None => Ok(()),
    }
}

pub(super) fn off(args: &RecordOff, context: &mut Context) -> Result<(), CliError> {
    let agents = match args.agents.as_slice() {
        [] => with_hooks(scope(&args.scope)),
        named => agents(named),
    };
    if agents.is_empty() && !args.service {
        context.output.note("no agent is recorded by hooks");
    }
    for agent in agents {
        uninstall_from(agent, &args.scope, &args.how, context)?;
    }
    match args.service {
        true => service::uninstall(args.how.dry_run, context),
        false => Ok(()),
    }
}

pub(super) async fn status(args: &RecordStatus, context: &mut Context) -> Result<(), CliError> {
    status::show(&agents(&args.agents), args.limit, context).await
}

fn agents(named: &[cli::HookAgent]) -> Vec<HookAgent> {
    named.iter().map(|named| agent(*named)).collect()
}

/// The agents that have a folder of this user's configuration.
fn present() -> Result<Vec<HookAgent>, CliError> {
    let (mut present, mut searched) = (Vec::new(), Vec::new());
    for agent in HookAgent::ALL {
        let file = install::place(agent, Scope::User)?;
        let Some(folder) = file.parent() else {
            continue;
        };
        match folder.is_dir() {
            true => present.push(agent),
            false => searched.push(short_path(folder)),
        }
    }
    if present.is_empty() {
        let message = format!(
            "no agent was found: there is none of {}",
            searched.join(", ")
        );
        let error = CliError::new(ErrorClass::NotFound, "no_agents", message);
        return Err(error.hint("name one, as in `annals record on claude`"));
    }
    Ok(present)
}

/// The agents whose configuration has hooks of ours.
fn with_hooks(of: Scope) -> Vec<HookAgent> {
    let has_hooks = |agent: &HookAgent| {
        let place = install::place(*agent, of);
        let installed = place.and_then(|path| install::installed(*agent, &path));
        // What is wrong with a file is an error when it is changed.
        installed.map_or(true, |commands| !commands.is_empty())
    };
    HookAgent::ALL.into_iter().filter(has_hooks).collect()
}

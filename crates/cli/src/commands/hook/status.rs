//! `annals record status`: which agents are recorded, recent events of their hooks, and queued events.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use annals::Annals;
use annals::domain::run::{Event as RunEvent, EvidenceKind};
use annals::domain::{ActorRef, AnyEvent, Timestamp};
use annals::event_log::{Position, Query};
use annals_live::hook::HookAgent;
use annals_live::install::{self, Scope};
use annals_live::{Spool, SpoolState};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, bytes, counted, when};

/// Events that are looked through for those of hooks.
const LOOKED_THROUGH: usize = 2_000;

/// Hooks in a configuration.
struct Found {
    agent: HookAgent,
    scope: &'static str,
    file: String,
    /// What they run; or else why the file cannot be read.
    commands: Result<Vec<String>, String>,
}

/// What waits in the spool.
struct Waits {
    folder: String,
    state: SpoolState,
    /// Folders of other names of the log, and how many events wait there.
    elsewhere: Vec<(PathBuf, usize)>,
    /// Folders of other names of the log that cannot be used, and why: what waits there is not taken in.
    unusable: Vec<(PathBuf, String)>,
    /// Logs that were at this path before, and how many events are theirs.
    of_other_logs: BTreeMap<Uuid, usize>,
}

/// An event that came in.
struct Came {
    position: Position,
    at: Timestamp,
    what: String,
    by: String,
}

/// Shows the hooks of some agents, or of all if none is named, with the newest events and the spool.
pub(in crate::commands) async fn show(
    agents: &[HookAgent],
    limit: usize,
    context: &mut Context,
) -> Result<(), CliError> {
    let mut found = found();
    found.retain(|it| agents.is_empty() || agents.contains(&it.agent));
    let spool = Spool::of(&context.log)?;
    let waits = Waits {
        folder: spool.path().display().to_string(),
        state: spool.state()?,
        elsewhere: spool.elsewhere()?,
        unusable: spool
            .unusable()
            .into_iter()
            .map(|(path, error)| (path, error.to_string()))
            .collect(),
        of_other_logs: spool.of_other_logs()?,
    };
    // Without a log there are still configurations and a spool.
    let came = match context.reader() {
        Ok(annals) => {
            let came = lately(&annals, limit).await?;
            annals.close().await;
            came
        }
        Err(error) => {
            context.output.note(&error.to_string());
            Vec::new()
        }
    };
    match context.output.is_json() {
        true => context.output.json(&as_json(&found, &came, &waits)),
        false => print(&found, &came, &waits, &mut context.output),
    }
}

/// The agents whose configuration of this user has hooks of ours.
pub(in crate::commands) fn recorded_agents() -> Vec<&'static str> {
    let has_hooks = |agent: &HookAgent| {
        let place = install::place(*agent, Scope::User);
        let installed = place.and_then(|path| install::installed(*agent, &path));
        installed.is_ok_and(|commands| !commands.is_empty())
    };
    let recorded = HookAgent::ALL.into_iter().filter(has_hooks);
    recorded.map(HookAgent::key).collect()
}

fn found() -> Vec<Found> {
    let scopes = [(Scope::User, "user"), (Scope::Project, "project")];
    let mut all = Vec::new();
    for agent in HookAgent::ALL {
        for (scope, name) in scopes {
            let Ok(path) = install::place(agent, scope) else {
                continue;
            };
            all.push(Found {
                agent,
                scope: name,
                commands: install::installed(agent, &path).map_err(|error| error.to_string()),
                file: path.display().to_string(),
            });
        }
    }
    all
}

/// The newest events of agents' programs: evidence that a hook gave.
async fn lately(annals: &Annals, limit: usize) -> Result<Vec<Came>, CliError> {
    let query = Query::event_type("run.evidence_recorded", annals.position());
    let page = annals
        .log()
        .read(query.backward().limit(LOOKED_THROUGH))
        .await?;
    let mut came = Vec::new();
    for record in &page.records {
        if came.len() == limit {
            break;
        }
        let entry = annals.contents().entry(record).await?;
        // Hooks that an imported recording mentions are not ours.
        if is_imported(&entry.actor) {
            continue;
        }
        let AnyEvent::Run(RunEvent::EvidenceRecorded(event)) = &entry.event else {
            continue;
        };
        if let EvidenceKind::Other(kind) = &event.kind {
            let tool = entry.text(event.tool);
            came.push(Came {
                position: record.position(),
                at: Timestamp::from(record.recorded_at()),
                what: format!("{kind} {}", tool.as_str().unwrap_or_default()),
                by: record.actor_id().to_owned(),
            });
        }
    }
    Ok(came)
}

fn is_imported(actor: &ActorRef) -> bool {
    let context = actor.auth_context.as_deref();
    context.is_some_and(|context| context.starts_with("imported by "))
}

/// Returns `true` if a hook of any agent enforces budgets: a gate with a policy does, too.
pub(in crate::commands) fn enforces_budgets() -> bool {
    let commands = found().into_iter().filter_map(|it| it.commands.ok());
    let mut words = commands.flatten();
    words.any(|command| command.contains(" --budgets") || command.contains(" --gate"))
}

fn as_json(found: &[Found], came: &[Came], waits: &Waits) -> Value {
    let installed = found.iter().map(|it| {
        json!({
            "agent": it.agent.key(),
            "scope": it.scope,
            "file": it.file,
            "commands": it.commands.as_ref().ok(),
            "error": it.commands.as_ref().err(),
        })
    });
    let came = came
        .iter()
        .map(|it| json!({ "position": it.position.0, "at": it.at, "what": it.what, "by": it.by }));
    let elsewhere = waits
        .elsewhere
        .iter()
        .map(|(path, waiting)| json!({ "folder": path.display().to_string(), "waiting": waiting }));
    let unusable = waits
        .unusable
        .iter()
        .map(|(path, reason)| json!({ "folder": path.display().to_string(), "reason": reason }));
    json!({
        "installed": installed.collect::<Vec<_>>(),
        "lately": came.collect::<Vec<_>>(),
        "spool": {
            "folder": waits.folder,
            "state": waits.state,
            "elsewhere": elsewhere.collect::<Vec<_>>(),
            "unusable": unusable.collect::<Vec<_>>(),
            "of_other_logs": waits.of_other_logs,
        },
    })
}

fn print(
    found: &[Found],
    came: &[Came],
    waits: &Waits,
    output: &mut Output,
) -> Result<(), CliError> {
    for agent in HookAgent::ALL {
        let own: Vec<&Found> = found.iter().filter(|it| it.agent == agent).collect();
        if !own.is_empty() {
            output.line(&format!("{:<7} {}", agent.key(), state_of(&own)))?;
        }
    }
    let none = |it: &Found| it.commands.as_ref().is_ok_and(Vec::is_empty);
    if found.iter().all(none) {
        output.line("`annals record on` records them from now on")?;
    }
    if !came.is_empty() {
        output.line("recent events of hooks:")?;
    }
    for it in came {
        output.line(&format!(
            "{:>8}  {}  {}  {}",
            it.position.0,
            when(it.at),
            it.what,
            it.by
        ))?;
    }
    print_waits(waits, output)
}

/// The recording of an agent in one line: on with the files of its hooks, or off.
fn state_of(found: &[&Found]) -> String {
    let mut parts = Vec::new();
    for it in found {
        match &it.commands {
            Ok(commands) if commands.is_empty() => {}
            Ok(commands) => {
                let gate = match commands.iter().any(|it| it.contains(" --gate")) {
                    true => ", with a gate",
                    false if commands.iter().any(|it| it.contains(" --budgets")) => {
                        ", with budgets"
                    }
                    false => "",
                };
                parts.push(format!("on for the {}{gate}: {}", it.scope, it.file));
            }
            Err(error) => parts.push(format!("unknown for the {}: {error}", it.scope)),
        }
    }
    match parts.is_empty() {
        true => "off".to_owned(),
        false => parts.join("; "),
    }
}

fn print_waits(waits: &Waits, output: &mut Output) -> Result<(), CliError> {
    let Waits { folder, state, .. } = waits;
    for (path, waiting) in &waits.elsewhere {
        let waiting = counted(*waiting as u64, "event is", "events are");
        output.line(&format!(
            "{waiting} queued in {}, under another name of the log",
            path.display()
        ))?;
    }
    for (_, reason) in &waits.unusable {
        output.line(&format!(
            "events under another name of the log may be queued: {reason}"
        ))?;
    }
    if *state == SpoolState::default() {
        return output.line("queued events: none");
    }
    let oldest = state.oldest_ms.map(since);
    let oldest = oldest.map(|since| format!(", the oldest from {since}"));
    output.line(&format!(
        "queued events: {}, {}, in {folder}{}; the next command that writes records them",
        state.waiting,
        bytes(state.bytes),
        oldest.unwrap_or_default()
    ))?;
    for (log, waiting) in &waits.of_other_logs {
        let waiting = counted(*waiting as u64, "event", "events");
        output.line(&format!(
            "of them {waiting} for the log {log}, which was at this path before: they stay queued until it is back"
        ))?;
    }
    if state.bad > 0 {
        let bad = counted(state.bad as u64, "event", "events");
        output.line(&format!("put aside: {bad} that cannot be read or recorded"))?;
    }
    if state.lost > 0 {
        let lost = counted(state.lost, "event", "events");
        output.line(&format!(
            "lost: {lost} for which there was no room, or that could not be written"
        ))?;
    }
    Ok(())
}

fn since(ms: u64) -> String {
    let time = DateTime::<Utc>::UNIX_EPOCH.checked_add_signed(
        chrono::Duration::from_std(Duration::from_millis(ms)).unwrap_or_default(),
    );
    when(Timestamp::from(time.unwrap_or_default()))
}

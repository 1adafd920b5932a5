//! Tool calls as they were recorded, to be judged again.

use annals::event_log::Position;
use annals::projections::tool_calls::{CallOutcome, CallsQuery, RecordedCall, recorded_calls};
use annals::{Annals, At};
use annals_tool_policy::{Call, Verdict};
use serde_json::Value;

use crate::context::reached;
use crate::error::CliError;
use crate::progress;

/// Which calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Since {
    /// From here on.
    pub(super) since: Option<At>,
    /// Up to here.
    pub(super) through: Option<Position>,
}

/// The calls of a log.
pub(super) async fn read(annals: &Annals, which: Since) -> Result<Vec<RecordedCall>, CliError> {
    let mut query = CallsQuery::default().with_through(which.through);
    match which.since {
        None | Some(At::Now) => {}
        Some(At::Position(position)) => {
            reached(annals, At::Position(position))?;
            query = query.with_from(position);
        }
        Some(At::Recorded(time)) => query = query.with_recorded_since(time),
        Some(At::Occurred(time)) => query = query.with_occurred_since(time),
    }
    let bar = progress::bar("reading calls", None);
    let mut shown = |read: u64| bar.set_position(read);
    let query = query.with_progress(&mut shown);
    let calls = recorded_calls(annals.log().as_ref(), query).await;
    bar.finish_and_clear();
    Ok(calls?)
}

/// A call that can be judged; none, if something of it was removed, or its arguments cannot be read.
pub(super) fn call(recorded: &RecordedCall, workspace: Option<&str>) -> Option<Call> {
    let tool = recorded.tool.as_ref().filter(|_| !recorded.is_removed)?;
    let args = match &recorded.args {
        Some(text) => serde_json::from_str(text).ok()?,
        None => Value::Null,
    };
    let cwd = recorded.cwd.as_deref().or(workspace);
    let home = cwd.and_then(home_of);
    let call = Call::new(tool.as_str(), args)
        .with_agent(recorded.actor.as_str())
        .with_session(recorded.session.clone())
        .with_cwd(cwd.map(str::to_owned))
        .with_workspace(workspace.or(cwd).map(str::to_owned))
        .with_home(home)
        .with_branch(recorded.branch.clone())
        .with_mode(recorded.mode.clone());
    Some(call)
}

/// The home of the user whose directory this is, by where homes are.
fn home_of(dir: &str) -> Option<String> {
    let mut parts = dir.split('/').skip(1);
    let home = match (parts.next()?, parts.next()) {
        ("root", _) => "/root".to_owned(),
        (homes @ ("home" | "Users"), Some(user)) if !user.is_empty() => format!("/{homes}/{user}"),
        _ => return None,
    };
    Some(home)
}

/// The verdict that a call had.
pub(super) fn verdict(recorded: &RecordedCall) -> Verdict {
    match recorded.outcome {
        CallOutcome::Asked => Verdict::Ask,
        CallOutcome::Denied => Verdict::Deny,
        _ => Verdict::Allow,
    }
}

/// Whether a person allowed a call that was asked about. What was denied, by anybody, was not.
pub(super) fn allowed_by_person(recorded: &RecordedCall) -> Option<bool> {
    match (recorded.allowed_by_person, recorded.was_denied) {
        (_, true) | (Some(false), _) => Some(false),
        (Some(true), false) => Some(true),
        (None, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_are_where_homes_are() {
        for (dir, home) in [
            ("/home/ann/app", Some("/home/ann")),
            ("/Users/ann", Some("/Users/ann")),
            ("/root/x", Some("/root")),
            ("/work/app", None),
            ("/home", None),
        ] {
            assert_eq!(home_of(dir).as_deref(), home, "{dir}");
        }
    }
}

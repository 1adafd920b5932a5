//! The title and the facts of a session.

use std::fmt::{self, Write};

use super::block::{code_span, escaped};
use crate::{CostZone, SessionSummary, duration};

pub(super) fn write(
    session: &SessionSummary,
    first_prompt: Option<&str>,
    cost: Option<&str>,
    (level, zone): (&str, CostZone),
    out: &mut impl Write,
) -> fmt::Result {
    writeln!(out, "{level} {}\n", title(session, first_prompt))?;
    let mut fact = |name: &str, value: Option<String>| match value {
        Some(value) => writeln!(out, "- {name}: {value}"),
        None => Ok(()),
    };
    fact("Project", session.project.as_deref().map(code_span))?;
    fact("Branch", session.branch.as_deref().map(code_span))?;
    fact("Agent", agent(session))?;
    fact("Models", models(session))?;
    fact(
        "Agent's session id",
        session.agent_session.as_deref().map(code_span),
    )?;
    let started = session.started.map(|at| zone.time_text(at));
    let started = started.unwrap_or_else(|| "time unknown".to_owned());
    fact("Started", Some(started))?;
    let last_activity = session.last_activity.map(|at| zone.time_text(at));
    fact("Last activity", last_activity)?;
    let is_timed = session.started.is_some();
    fact("Active time", is_timed.then(|| duration(session.active_ms)))?;
    fact("Cost", cost.map(str::to_owned))?;
    let files = session.files;
    let changed = format!(
        "{} changed, +{} -{}",
        files.files, files.added, files.deleted
    );
    fact("Files", (files.files > 0).then_some(changed))?;
    out.write_char('\n')
}

/// The title, unless the first prompt is the same text.
fn title(session: &SessionSummary, first_prompt: Option<&str>) -> String {
    let prompt = first_prompt.map(str::trim).filter(|it| !it.is_empty());
    let title = session.title.as_deref().map(str::trim);
    let is_prompt = |title: &&str| prompt.is_some_and(|prompt| title.contains(prompt));
    match title.filter(|it| !it.is_empty() && !is_prompt(it)) {
        Some(title) => escaped(title),
        None => match session.project_name() {
            Some(project) => format!("Session in {}", escaped(project)),
            None => "Session".to_owned(),
        },
    }
}

fn agent(session: &SessionSummary) -> Option<String> {
    let agent = session.agent.as_deref()?;
    let version = session.agent_version.as_deref();
    let version = version.map_or_else(String::new, |version| format!(" {version}"));
    Some(code_span(&format!("{agent}{version}")))
}

fn models(session: &SessionSummary) -> Option<String> {
    let mut models: Vec<String> = Vec::new();
    for model in session.models.iter().filter_map(|it| it.model.as_deref()) {
        let model = code_span(model);
        if !models.contains(&model) {
            models.push(model);
        }
    }
    (!models.is_empty()).then(|| models.join(", "))
}

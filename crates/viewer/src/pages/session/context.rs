//! The context windows of a session: the pipeline of each of its runs.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{NamedSession, find, head, neighbours, session_page, streams};
use crate::answer::{Asked, Live, Page};
use crate::figures::grouped;
use crate::pages::window::{self, Window};
use crate::problem::Problem;
use crate::session_entry::SessionEntry;

/// A session with the context window of one of its runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionContext {
    /// The session.
    session: SessionEntry,
    /// The runs with a context pipeline, oldest first. Runs that share a pipeline are one entry.
    runs: Vec<RunContext>,
    /// The number of the run whose window is shown, from 1; null if no run has one.
    run: Option<usize>,
    /// The window; null if no run has one.
    window: Option<Window>,
}

/// A run with its context pipeline.
#[derive(Debug, Serialize, JsonSchema)]
struct RunContext {
    /// The run.
    run: Uuid,
    /// The pipeline.
    pipeline: Uuid,
    #[serde(skip)]
    plan: Option<Uuid>,
}

/// The context page.
pub(crate) async fn context(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let NamedSession {
        session,
        clock,
        proof,
    } = find(&mut asked, &name).await?;
    let beside = neighbours(&asked, &session, clock).await?;
    let runs = runs(&asked, &session).await?;
    let chosen = asked.params.number("run")?;
    let run = match chosen.map(|run| usize::try_from(run).unwrap_or(usize::MAX)) {
        Some(run) if run == 0 || run > runs.len() => {
            let detail = format!(
                "invalid run {run}: the session has {} with a context",
                runs.len()
            );
            return Err(Problem::invalid(detail));
        }
        Some(run) => Some(run),
        None => (!runs.is_empty()).then_some(runs.len()),
    };
    let mut live = streams(&session);
    let of_run = run.and_then(|run| runs.get(run - 1));
    let window = match of_run {
        None => None,
        Some(of) => {
            let source = (of.pipeline, of.plan);
            let (window, stream) = window::read(&asked, source, asked.moment.position).await?;
            live.push(stream.to_string());
            Some(window)
        }
    };
    let page = Page {
        live: Live::Streams(live),
        command: command(of_run, &asked, &session),
        ..session_page(&session, &asked, "Context of ")
    };
    let page = page.with_data(SessionContext {
        session,
        runs,
        run,
        window,
    });
    let page_of = |read: &SessionContext| {
        html! {
            (head::draw(&read.session, &asked, (clock, proof, &beside), "Context"))
            div.classic.tab { (draw(read, &asked)) }
        }
    };
    asked.answer(page, page_of).await
}

/// The runs that have a context pipeline at the shown position.
async fn runs(asked: &Asked, session: &SessionEntry) -> Result<Vec<RunContext>, Problem> {
    let mut runs: Vec<RunContext> = Vec::new();
    for run in &session.runs {
        let Some((pipeline, plan)) = window::pipeline_of_run(asked.annals(), *run).await? else {
            continue;
        };
        let row = asked.annals().index().row(pipeline).await?;
        let is_known = runs.iter().any(|known| known.pipeline == pipeline);
        if !is_known && row.first_position <= asked.moment.position {
            runs.push(RunContext {
                run: *run,
                pipeline,
                plan,
            });
        }
    }
    Ok(runs)
}

fn command(of: Option<&RunContext>, asked: &Asked, session: &SessionEntry) -> String {
    let position = asked.moment.position;
    match of {
        Some(of) => format!("annals show {} --window --at {position}", of.run),
        None => format!("annals show {} --at {position}", session.id),
    }
}

fn draw(read: &SessionContext, asked: &Asked) -> Markup {
    let Some(window) = &read.window else {
        return html! { div.box.empty {
            h2 { "No context recorded" }
            p { "The recording does not have what the model had in its context." }
        } };
    };
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    let link = |run: usize| asked.with(&[("run", &run.to_string()), ("from", ""), ("at", &at)]);
    html! {
        @if read.runs.len() > 1 {
            section {
                h2 { "Runs" }
                div.filters role="group" aria-label="Run" { @for run in 1..=read.runs.len() {
                    a href=(link(run)) aria-current=[(read.run == Some(run)).then_some("true")] { "Run " (grouped(run as u64)) }
                } }
            }
        }
        (window::draw(window, asked))
    }
}

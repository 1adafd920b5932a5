//! The context window as a picture: each frame as a block as wide as its tokens, what is protected, what was used, and
//! what went, by whom.

mod beside;
mod draw;
mod model;
mod tape;

use std::collections::BTreeSet;

use annals::Annals;
use annals::domain::{Kind, PlanId, StreamRef};
use annals::event_log::Position;
use annals::projections::{ObjectView, Relation};
use axum::extract::Path;
use axum::response::Response;
use maud::html;
use uuid::Uuid;

pub(crate) use self::draw::draw;
pub(crate) use self::model::Window;
use self::model::window_of;
use crate::answer::{Asked, Live, Page};
use crate::model::Row;
use crate::moment::Moment;
use crate::pages::list::plain;
use crate::pages::object;
use crate::problem::Problem;
use crate::reading::{Found, Reading};

pub(crate) async fn window(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let (found, slider) = asked.find(&name).await?;
    let (pipeline, plan) = pipeline_of(&asked, &found).await?;
    let session = object::session_of(&asked, &found).await?;
    // What happened once is shown with the window that was in force then.
    let own = match found.kind {
        Kind::Run | Kind::Plan | Kind::ContextPipeline => asked.moment.position,
        _ => found.row.first_position.min(asked.moment.position),
    };
    let (window, stream) = read(&asked, (pipeline, plan), own).await?;
    let row = asked.reading().row(&found.row).await?;
    let row = row.unwrap_or_else(|| Row::of(&found.row));
    let page = Page {
        title: format!("Context of {}", row.name()),
        section: object::section(found.kind),
        live: Live::Streams(vec![stream.to_string(), found.stream.to_string()]),
        slider,
        subject: Some(found.id.to_string()),
        markdown: markdown(&window),
        command: format!("annals show {} --window --at {}", found.id, own),
        data: window,
    };
    let page_of = |window: &Window| {
        html! {
            (object::head(&row, found.kind, session.as_ref(), asked.moment))
            (object::tabs(found.kind, found.id, "Context", asked.moment))
            (draw(window, &asked))
        }
    };
    asked.answer(page, page_of).await
}

/// Reads the window of a pipeline, which a plan may use, at a position.
pub(crate) async fn read(
    asked: &Asked,
    (pipeline, plan): (Uuid, Option<Uuid>),
    position: Position,
) -> Result<(Window, StreamRef), Problem> {
    let then = Moment {
        position,
        ..asked.moment
    };
    let mut reading = Reading::new(asked.annals(), then);
    let of = reading.find(&pipeline.to_string()).await?;
    let ObjectView::ContextPipeline(view) = reading.view(&of).await? else {
        return Err(Problem::invalid("expected a context pipeline"));
    };
    let consumed = consumed(asked, plan, then).await?;
    let from = asked.params.number("from")?.unwrap_or(0);
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let seen = view.seen();
    let mut window = window_of(&seen, position, &consumed, from);
    if let Some(policy) = beside::asked_for(&asked.params)? {
        window.beside = Some(beside::beside(asked.annals(), &seen, policy, then).await?);
    }
    Ok((window, of.stream))
}

/// The pipeline of a run with its plan; `None` if it has none.
pub(crate) async fn pipeline_of_run(
    annals: &Annals,
    run: Uuid,
) -> Result<Option<(Uuid, Option<Uuid>)>, Problem> {
    let index = annals.index();
    let plans = index.named(run, Relation::RunPlan, 1).await?;
    let Some(plan) = plans.first().copied() else {
        return Ok(None);
    };
    let pipelines = index.named(plan, Relation::PlanPipeline, 1).await?;
    let pipeline = pipelines.first().copied();
    Ok(pipeline.map(|pipeline| (pipeline, Some(plan))))
}

/// The pipeline that an object had its context from, and the plan by which it did.
async fn pipeline_of(asked: &Asked, found: &Found) -> Result<(Uuid, Option<Uuid>), Problem> {
    let none = |why: &str| {
        let detail = format!("{} {} has no context: {why}", found.kind, found.id);
        Problem::new(axum::http::StatusCode::NOT_FOUND, "no_window", detail)
    };
    let index = asked.annals().index();
    let plan = match found.kind {
        Kind::ContextPipeline => {
            let plans = index.naming(found.id, Relation::PlanPipeline, 1).await?;
            return Ok((found.id, plans.first().copied()));
        }
        Kind::Plan => Some(found.id),
        Kind::Run
        | Kind::PatchSet
        | Kind::Evidence
        | Kind::Decision
        | Kind::Provenance
        | Kind::ToolInvocation => {
            let plans = index.named(found.stream.id, Relation::RunPlan, 1).await?;
            plans.first().copied()
        }
        Kind::Intent | Kind::Task | Kind::ContextSnapshot | Kind::Session | Kind::Observation => {
            return Err(none("ask for one of its runs, a plan or a pipeline"));
        }
    };
    let plan = plan.ok_or_else(|| none("its run has no plan, and so no pipeline"))?;
    let pipelines = index.named(plan, Relation::PlanPipeline, 1).await?;
    let pipeline = pipelines.first().copied();
    Ok((
        pipeline.ok_or_else(|| none("its plan has no pipeline"))?,
        Some(plan),
    ))
}

/// The frames that steps of a plan consumed.
async fn consumed(
    asked: &Asked,
    plan: Option<Uuid>,
    moment: Moment,
) -> Result<BTreeSet<u64>, Problem> {
    let Some(plan) = plan else {
        return Ok(BTreeSet::new());
    };
    let frames = asked
        .annals()
        .pipelines()
        .step_frames(PlanId(plan), moment.at());
    let frames = match frames.await {
        Ok(frames) => frames,
        // A plan that came later than the moment.
        Err(annals::ViewError::NotYet { .. } | annals::ViewError::NotFound { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let consumed = frames.iter().filter(|frame| frame.consumed);
    Ok(consumed.map(|frame| frame.frame.0).collect())
}

fn markdown(window: &Window) -> String {
    let mut text = format!(
        "# Context window of pipeline {}\n\n{} frames, {} tokens, {} gone\n\n",
        window.pipeline, window.total, window.tokens, window.gone_total
    );
    for frame in &window.frames {
        text.push_str(&format!(
            "- {} {} {} tokens, {}: {}\n",
            frame.frame,
            frame.kind,
            frame.tokens.unwrap_or(0),
            frame.why,
            plain(&frame.summary)
        ));
    }
    text
}

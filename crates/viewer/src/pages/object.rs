//! An object's page: what it is, what it names and what names it, and what happened to it last.

use annals::LoadError;
use annals::domain::Kind;
use annals::projections::{ObjectView, Relation, SealCheck, check_seal};
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::answer::{Asked, Live, Page};
use crate::fields::{Node, fields};
use crate::figures::{grouped, time};
use crate::foreign;
use crate::html::{copy, events, place, status, tokens, who};
use crate::model::{EventRow, Row};
use crate::moment::Moment;
use crate::pages::list::{LISTS, plain};
use crate::problem::Problem;
use crate::reading::{Found, Reading};

/// Objects of one relation that are shown.
const LINKED: usize = 8;
/// Events that are shown; the rest is in the history.
const EVENTS: usize = 8;

/// An object at a moment.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Object {
    /// Its row in lists.
    pub(crate) row: Row,
    /// The object in git-internal's shape, or that of a session or an observation in ours: what `annals show --json`
    /// prints.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    object: Box<RawValue>,
    /// Of a tool call, what is known of its life beyond that.
    life: Option<serde_json::Value>,
    /// What is to be said of it besides: violations, a broken seal, clocks that disagree.
    notes: Vec<String>,
    /// What it names.
    names: Vec<Linked>,
    /// What names it.
    named_by: Vec<Linked>,
    /// The newest events on it, the newest first.
    events: Vec<EventRow>,
    /// How many texts are too long for this answer, and named in their places.
    left_out: usize,
}

/// Objects by one field.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Linked {
    /// The field, as `kind.field`.
    relation: &'static str,
    /// The objects, the oldest first.
    rows: Vec<Row>,
    /// Whether there are more.
    more: bool,
    /// The kind of the object at the other end.
    #[serde(skip)]
    kind: Option<Kind>,
}

pub(crate) async fn object(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let (found, slider) = asked.find(&name).await?;
    let mut reading = asked.reading();
    let object = read(&mut reading, &found).await?;
    let page = Page {
        title: object.row.name(),
        section: section(found.kind),
        live: streams(&found),
        slider,
        subject: Some(found.id.to_string()),
        markdown: markdown(&object),
        command: format!("annals show {} --at {}", found.id, asked.moment.position),
        data: object,
    };
    let session = session_of(&asked, &found).await?;
    let moment = asked.moment;
    let draw = |object: &Object| draw(object, found.kind, session.as_ref(), moment);
    asked.answer(page, draw).await
}

/// Reads an object at a moment.
pub(crate) async fn read(reading: &mut Reading<'_>, found: &Found) -> Result<Object, Problem> {
    let view = reading.view(found).await?;
    let json = view.to_json().map_err(LoadError::Render)?;
    let object = RawValue::from_string(json).map_err(LoadError::Render)?;
    let life = match &view {
        ObjectView::ToolInvocation(call) if call.life.is_told() => {
            Some(serde_json::to_value(&call.life).map_err(LoadError::Render)?)
        }
        _ => None,
    };
    let left_out = reading.left_out;
    let row = match found.row.last_position <= reading.moment.position {
        true => Row::of(&found.row),
        false => Row::of(&found.row).earlier(crate::model::status_of(&view), false),
    };
    Ok(Object {
        row,
        object,
        life,
        notes: notes(&view)?,
        names: links(reading, found, true).await?,
        named_by: links(reading, found, false).await?,
        events: reading.history(found, None, true, EVENTS).await?.rows,
        left_out,
    })
}

/// What is to be said of an object beyond its JSON.
fn notes(view: &ObjectView) -> Result<Vec<String>, Problem> {
    let header = view.header();
    let mut notes = Vec::new();
    if let Some(adopted) = &header.adopted {
        notes.push(format!("adopted from {}", adopted.dialect.name()));
        notes.extend(
            adopted
                .violations
                .iter()
                .map(|one| format!("violation: {one}")),
        );
    }
    match check_seal(view).map_err(LoadError::Render)? {
        SealCheck::Removed => {
            notes.push("sealed; the checksum was removed together with content".to_owned())
        }
        SealCheck::Differs { .. } => {
            notes.push(
                "sealed with a checksum that is not that of the object as it is shown here"
                    .to_owned(),
            );
        }
        _ => {}
    }
    if let Some(skew) = &header.skew {
        notes.push(format!(
            "clock skew: {} events are dated before what came before them; the first is event {}",
            skew.events, skew.position
        ));
    }
    Ok(notes)
}

/// The objects at the other ends of an object's links, by field.
async fn links(
    reading: &mut Reading<'_>,
    found: &Found,
    forward: bool,
) -> Result<Vec<Linked>, Problem> {
    let mut all = Vec::new();
    for relation in Relation::ALL {
        let here = if forward {
            relation.source()
        } else {
            relation.target()
        };
        if here != found.kind {
            continue;
        }
        let index = reading.annals.index();
        let ids = match forward {
            true => index.named(found.id, *relation, LINKED + 1).await?,
            false => index.naming(found.id, *relation, LINKED + 1).await?,
        };
        let mut rows = Vec::new();
        for id in ids.iter().take(LINKED) {
            rows.extend(reading.row_of(*id).await?);
        }
        if rows.is_empty() {
            continue;
        }
        let other = if forward {
            relation.target()
        } else {
            relation.source()
        };
        all.push(Linked {
            relation: relation.name(),
            rows,
            more: ids.len() > LINKED,
            kind: Some(other).filter(|_| !forward && relation.is_parent()),
        });
    }
    Ok(all)
}

/// The streams whose events concern an object.
pub(crate) fn streams(found: &Found) -> Live {
    Live::Streams(vec![found.stream.to_string()])
}

/// The entry of the navigation that an object belongs to.
pub(crate) fn section(kind: Kind) -> &'static str {
    let listed = LISTS.iter().find(|listed| listed.kind == kind);
    listed.map_or("Log", |listed| listed.section)
}

/// The pages that an object of a kind has.
fn pages(kind: Kind) -> Vec<(&'static str, &'static str)> {
    let mut pages = vec![("Overview", "")];
    match kind {
        Kind::Run => pages.extend([("Timeline", "/timeline"), ("Context", "/window")]),
        Kind::ToolInvocation => pages.push(("Context", "/window")),
        Kind::Plan => pages.extend([("Tree", "/tree"), ("Context", "/window")]),
        Kind::ContextPipeline => pages.push(("Context", "/window")),
        Kind::PatchSet => pages.push(("Diff", "/diff")),
        Kind::Intent | Kind::Task | Kind::Session => pages.push(("Tree", "/tree")),
        Kind::Evidence
        | Kind::Decision
        | Kind::Provenance
        | Kind::ContextSnapshot
        | Kind::Observation => {}
    }
    pages.push(("History", "/history"));
    pages
}

/// The way between an object's pages.
pub(crate) fn tabs(kind: Kind, id: Uuid, shown: &str, moment: Moment) -> Markup {
    html! {
        nav.tabs aria-label="Of this object" { @for (name, path) in pages(kind) {
            a href=(moment.link(&format!("{}{path}", place(id)))) aria-current=[(name == shown).then_some("page")] { (name) }
        }
        @if matches!(kind, Kind::Run | Kind::Task | Kind::Intent | Kind::Session) {
            a href=(format!("/costs?by=model&of={id}")) { "Costs" }
            a href=(moment.link(&format!("/compare?a={id}"))) { "Compare…" }
        } }
    }
}

/// The session that an object belongs to.
#[derive(Debug, Clone)]
pub(crate) struct SessionOfObject {
    id: Uuid,
    title: String,
}

/// Finds the session of an object: of a task, of a run, and of what is in a run or a pipeline.
pub(crate) async fn session_of(
    asked: &Asked,
    found: &Found,
) -> Result<Option<SessionOfObject>, Problem> {
    if asked.is_api {
        return Ok(None);
    }
    let owner = match found.stream.kind.kind() {
        Some(Kind::Task | Kind::Session) => found.id,
        Some(Kind::Run) => task_of(asked, found.stream.id).await?,
        Some(Kind::Plan) => run_of(asked, found.id).await?,
        Some(Kind::ContextPipeline) => {
            let index = asked.annals().index();
            let plans = index.naming(found.id, Relation::PlanPipeline, 1).await?;
            match plans.first() {
                Some(plan) => run_of(asked, *plan).await?,
                None => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    let found = asked.annals().conversations().summaries(&[owner]).await?;
    Ok(found.into_values().next().map(|summary| SessionOfObject {
        id: summary.id,
        title: foreign::one_line(summary.title.as_deref().unwrap_or("without a title"), 120),
    }))
}

/// The task of the first run that uses a plan; the plan itself if no run does.
async fn run_of(asked: &Asked, plan: Uuid) -> Result<Uuid, Problem> {
    let index = asked.annals().index();
    let runs = index.naming(plan, Relation::RunPlan, 1).await?;
    match runs.first() {
        Some(run) => task_of(asked, *run).await,
        None => Ok(plan),
    }
}

/// The task of a run; the run itself if it has none.
async fn task_of(asked: &Asked, run: Uuid) -> Result<Uuid, Problem> {
    let index = asked.annals().index();
    let tasks = index.named(run, Relation::RunTask, 1).await?;
    Ok(tasks.first().copied().unwrap_or(run))
}

/// What an object is, above all of its pages.
pub(crate) fn head(
    row: &Row,
    kind: Kind,
    session: Option<&SessionOfObject>,
    moment: Moment,
) -> Markup {
    html! {
        div.object-head {
            div.eyebrow { (kind.object_type().replace('_', " ")) }
            h1 { (row.name()) }
            div.line {
                @if let Some(word) = row.status { (status(word)) }
                @if let Some(approval) = row.approval { (status(approval)) }
                code { (row.id) } (copy("Copy id", &row.id.to_string()))
                @if let Some(alias) = &row.alias { span { "alias " code { (alias) } } }
                @if let Some(session) = session { span { "session " a href=(moment.link(&format!("/sessions/{}", session.id))) { (foreign::text(&session.title)) } } }
            }
        }
    }
}

fn draw(object: &Object, kind: Kind, session: Option<&SessionOfObject>, moment: Moment) -> Markup {
    html! {
        (head(&object.row, kind, session, moment))
        (tabs(kind, object.row.id, "Overview", moment))
        (body(object, moment))
    }
}

/// An object below its head.
pub(crate) fn body(object: &Object, moment: Moment) -> Markup {
    let row = &object.row;
    let node = Node::parse(object.object.get());
    html! {
        div.columns {
            div {
                section { h2 { "What it says" }
                    div.panel { @match &node {
                        Ok(node) => { (fields(node, moment)) }
                        Err(_) => { pre.json { (object.object.get()) } }
                    } }
                    @if object.left_out > 0 { p.nothing { (object.left_out) " texts are too long to be shown here." } }
                }
                @if let Some(life) = &object.life { section { h2 { "Its life" } div.panel { (self::life(life, moment)) } } }
                @for linked in &object.named_by { (self::linked(linked, row.id, moment)) }
                section {
                    div.head { h2 { "Newest events" } a href=(moment.link(&format!("{}/history", place(row.id)))) { "History" } }
                    (events(&object.events, moment, false))
                }
            }
            div {
                section { h2 { "About it" } aside.panel { (about(object)) } }
                @if !object.names.is_empty() { section { h2 { "Names" } aside.panel { dl.fields {
                    @for linked in &object.names { div {
                        dt { (field(linked.relation)) }
                        dd { ul.list { @for row in &linked.rows { li { (one(row, moment)) } } @if linked.more { li { "and more" } } } }
                    } }
                } } } }
                @if !object.notes.is_empty() { section { h2 { "Notes" } ul.list { @for note in &object.notes { li { (note) } } } } }
            }
        }
    }
}

/// A tool call's life, as the same names and values.
fn life(life: &serde_json::Value, moment: Moment) -> Markup {
    match Node::parse(&life.to_string()) {
        Ok(node) => fields(&node, moment),
        Err(_) => html! {},
    }
}

/// What an object has in common with all others.
fn about(object: &Object) -> Markup {
    let row = &object.row;
    html! { dl.fields {
        div { dt { "created" } dd { (time(&row.created_at)) } }
        div { dt { "by" } dd { (who(&row.created_by)) } }
        div { dt { "updated" } dd { (time(&row.updated_at)) } }
        div { dt { "events" } dd.num { (grouped(row.first_position)) " to " (grouped(row.last_position)) } }
        @for (name, count) in &row.counts { div { dt { (name.replace('_', " ")) } dd.num { (grouped(*count)) } } }
        @if let Some(used) = &row.tokens { div { dt { "used" } dd { (tokens(used)) } } }
    } }
}

/// An object in a line.
fn one(row: &Row, moment: Moment) -> Markup {
    html! { a href=(moment.link(&place(row.id))) { (row.name()) } " " @if let Some(word) = row.status { (status(word)) } }
}

/// The name of a field.
fn field(relation: &str) -> String {
    let field = relation
        .split_once('.')
        .map_or(relation, |(_, field)| field);
    field.trim_end_matches("_id").replace('_', " ")
}

/// Objects that name this one.
fn linked(linked: &Linked, id: Uuid, moment: Moment) -> Markup {
    let kind = linked.relation.split_once('.').map_or("", |(kind, _)| kind);
    let list = LISTS.iter().find(|listed| Some(listed.kind) == linked.kind);
    let rest = list.map(|listed| format!("{}?parent={id}", listed.path));
    html! {
        section {
            div.head {
                h2 { @match list { Some(listed) => { (listed.title) } None => { (kind.replace('_', " ")) } } }
                span.count { "by their " (field(linked.relation)) }
                @if let (true, Some(rest)) = (linked.more, &rest) { a href=(moment.link(rest)) { "All" } }
            }
            (crate::html::rows(&linked.rows, moment, false))
        }
    }
}

/// An object in Markdown.
fn markdown(object: &Object) -> String {
    let row = &object.row;
    let mut text = format!(
        "# {}\n\n{} `{}`, {}\n\n",
        plain(&row.name()),
        row.kind.replace('_', " "),
        row.id,
        row.status.unwrap_or("no status")
    );
    if let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(object.object.get()) {
        for (name, value) in &fields {
            let shown = match value {
                serde_json::Value::String(text) => plain(text),
                serde_json::Value::Number(number) => number.to_string(),
                serde_json::Value::Bool(is) => is.to_string(),
                _ => continue,
            };
            text.push_str(&format!("- **{}**: {shown}\n", name.replace('_', " ")));
        }
    }
    text
}

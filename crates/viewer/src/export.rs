//! An object as one file: the same page, with the proof of its events inside and the commands that check it.
//!
//! The file needs nothing else: its style is in it, it has no script, and it leads nowhere. So it can be put into a
//! ticket.

use std::fmt;

use annals::domain::Kind;
use annals::event_log::{Classification, Classified, ErrorClass, Position};
use annals::projections::{ObjectView, Relation};
use annals::proof::{Checkpoint, Detail, TreeHead};
use annals::{Annals, ObjectRef};
use axum::http::StatusCode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use uuid::Uuid;

use crate::assets::CSS;
use crate::figures::{grouped, time};
use crate::html::{command, events, place};
use crate::model::{EventRow, Row};
use crate::moment::Moment;
use crate::pages::{diff, object, session, timeline, tree};
use crate::problem::Problem;
use crate::reading::{Found, Reading};
use crate::session_entry::SessionEntry;
use crate::shown;

/// Events of a history that are written.
const EVENTS: usize = 2_000;
/// Patch sets of a run whose diffs are written.
const DIFFS: usize = 20;
/// Nothing is loaded, and nothing runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// How an object is written.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HtmlOptions {
    /// As it was after this position; as it is now, unless it is said.
    pub at: Option<Position>,
    /// What the proof has of the events: the whole records, unless headers alone are to be given away.
    pub detail: Detail,
}

impl Default for HtmlOptions {
    fn default() -> HtmlOptions {
        HtmlOptions {
            at: None,
            detail: Detail::Records,
        }
    }
}

/// An object as a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HtmlExport {
    /// The file.
    pub html: String,
    /// The object.
    pub object: ObjectRef,
    /// The log that the proof in it is for.
    pub head: TreeHead,
    /// How many texts are too long for it, and named in their places.
    pub left_out: usize,
}

/// Why an object cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportError {
    classification: Classification,
    message: String,
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExportError {}

impl Classified for ExportError {
    fn classify(&self) -> Classification {
        self.classification
    }
}

impl From<Problem> for ExportError {
    fn from(problem: Problem) -> ExportError {
        let class = match problem.status {
            StatusCode::BAD_REQUEST => ErrorClass::Invalid,
            StatusCode::NOT_FOUND => ErrorClass::NotFound,
            StatusCode::SERVICE_UNAVAILABLE => ErrorClass::Unavailable,
            _ => ErrorClass::Failed,
        };
        ExportError {
            classification: class.code(problem.code),
            message: problem.detail,
        }
    }
}

/// Writes an object as one file.
///
/// # Errors
/// [`ExportError`]: there is no such object, or it was not there then, or the log cannot be read or keeps no tree.
pub async fn export_html(
    annals: &Annals,
    name: &str,
    options: HtmlOptions,
) -> Result<HtmlExport, ExportError> {
    Ok(export(annals, name, options).await?)
}

async fn export(annals: &Annals, name: &str, options: HtmlOptions) -> Result<HtmlExport, Problem> {
    let end = annals.position();
    let position = options.at.unwrap_or(end);
    if position > end {
        return Err(Problem::beyond_end(position, end));
    }
    let moment = Moment {
        position,
        end,
        is_chosen: true,
    };
    let mut reading = Reading::new(annals, moment);
    let found = reading.find(name).await?;
    let object = ObjectRef {
        kind: found.kind,
        id: found.id,
    };
    let head = annals.proofs().head(Some(position.0)).await?;
    let proof = annals
        .proofs()
        .object(object, &head, options.detail)
        .await?;
    let proof = proof.to_json().map_err(|error| failed(&error))?;
    let checkpoint = Checkpoint::of(head.clone()).to_bytes();
    let shown = object::read(&mut reading, &found).await?;
    let conversation = conversation(annals, &found, moment).await?;
    let parts = parts(&mut reading, &found, &shown).await?;
    let (history, more) = history(&mut reading, &found).await?;
    let title = shown.row.name();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · annals" }
                style { (PreEscaped(CSS)) }
            }
            body {
                div.past.file { span { strong { "As of event " (grouped(position.0)) } " of " code { (head.origin) } " · a copy, which changes no more" } }
                @if let Some(conversation) = &conversation { main.sessions { (conversation) } }
                main.classic {
                    (object::head(&shown.row, found.kind, None, moment))
                    (object::body(&shown, moment))
                    (parts)
                    section {
                        h2 { "History" }
                        (events(&history, moment, false))
                        @if more { p.nothing { "The first " (grouped(EVENTS as u64)) " events; the proof has all of them." } }
                    }
                    (proof_of(&head, &proof, &checkpoint, &shown.row))
                }
            }
        }
    };
    // What leads to other pages of a viewer leads nowhere here. Texts have no quotation marks that are not escaped.
    let html = shown::html(page).replace(" href=\"/", " data-at=\"/");
    Ok(HtmlExport {
        html,
        object,
        head,
        left_out: reading.left_out,
    })
}

/// The conversation of a session; `None` if the object is none.
async fn conversation(
    annals: &Annals,
    found: &Found,
    moment: Moment,
) -> Result<Option<Markup>, Problem> {
    if !matches!(found.kind, Kind::Task | Kind::Session) {
        return Ok(None);
    }
    let family = match annals.conversations().family(found.id, moment.at()).await {
        Ok(family) => family,
        Err(error) if error.class() == ErrorClass::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let session = SessionEntry::of(&family.session);
    let clock = session::clock_at(annals, moment).await?;
    Ok(Some(
        session::export::still(annals, moment, &session, clock).await?,
    ))
}

fn failed(error: &impl ToString) -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "no_proof",
        error.to_string(),
    )
}

/// What an object of a kind has besides its fields.
async fn parts(
    reading: &mut Reading<'_>,
    found: &Found,
    shown: &object::Object,
) -> Result<Markup, Problem> {
    let moment = reading.moment;
    Ok(match found.kind {
        Kind::Run => {
            let timeline = timeline::read(reading, found, 0).await?;
            let mut diffs = Vec::new();
            let index = reading.annals.index();
            for id in index.named(found.id, Relation::RunPatchSets, DIFFS).await? {
                diffs.extend(diff_of(reading, id).await?);
            }
            html! {
                h2 { "Timeline" }
                (timeline::still(&timeline, moment))
                @for (id, diff) in &diffs { h2 { "Patch set " code { (id) } } (diff) }
            }
        }
        Kind::PatchSet => match diff_of(reading, shown.row.id).await? {
            Some((_, diff)) => diff,
            None => html! {},
        },
        Kind::Intent | Kind::Task | Kind::Session | Kind::Plan => {
            let tree = tree::read(reading, found).await?;
            html! { section { h2 { "Tree" } (tree::draw(&tree, moment)) } }
        }
        _ => html! {},
    })
}

/// A patch set's diff; none where it was not there yet.
async fn diff_of(reading: &mut Reading<'_>, id: Uuid) -> Result<Option<(Uuid, Markup)>, Problem> {
    let found = match reading.find(&id.to_string()).await {
        Ok(found) => found,
        Err(problem) if problem.status == StatusCode::NOT_FOUND => return Ok(None),
        Err(problem) => return Err(problem),
    };
    let ObjectView::PatchSet(patch_set) = reading.view(&found).await? else {
        return Ok(None);
    };
    let diff = diff::read(reading, &patch_set, 0).await?;
    Ok(Some((id, diff::body(&diff))))
}

/// The oldest events on an object, and whether there are more.
async fn history(
    reading: &mut Reading<'_>,
    found: &Found,
) -> Result<(Vec<EventRow>, bool), Problem> {
    let (mut rows, mut after) = (Vec::new(), None);
    while rows.len() < EVENTS {
        let page = reading.history(found, after, false, 200).await?;
        rows.extend(page.rows);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok((rows, after.is_some()))
}

/// The proof, to be taken out of the file and checked without the log.
fn proof_of(head: &TreeHead, proof: &[u8], checkpoint: &[u8], row: &Row) -> Markup {
    let data = |kind: &str, bytes: &[u8]| format!("data:{kind};base64,{}", STANDARD.encode(bytes));
    html! {
        section #proof {
            h2 { "Proof" }
            p { "That these events are in the log of the checkpoint below, unaltered. Save both files, and check them without the log:" }
            div.actions {
                a.button download="proof.json" href=(data("application/json", proof)) { "proof.json" }
                a.button download="checkpoint" href=(data("text/plain", checkpoint)) { "checkpoint" }
            }
            (command("annals proof verify --proof proof.json --checkpoint checkpoint"))
            p { "The checkpoint in this file is not signed, and says what this file says. What is proved with it is worth as much as your own copy of "
                "the checkpoint of " (grouped(head.size)) " events, signed by somebody whom you trust: use that instead. Its root must be" }
            code.root { (head.root) }
            p.second { code { (place(row.id)) } " · written of " code { (head.origin) } " · created " (time(&row.created_at)) }
        }
    }
}

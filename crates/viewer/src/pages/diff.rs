//! What a patch set changes, line by line.

use annals::domain::Kind;
use annals::projections::{ObjectView, PatchSetView, PieceValue};
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Asked, Live, Page};
use crate::figures::grouped;
use crate::html::{more, nothing};
use crate::model::{Row, status_of};
use crate::pages::object;
use crate::problem::Problem;
use crate::reading::Reading;

/// Bytes of a diff that is shown here.
const LARGEST: u64 = 4 * 1024 * 1024;
/// Lines of a page.
const LINES: usize = 3_000;

/// What a patch set changes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Diff {
    /// The files, with how many lines came and went.
    files: Vec<File>,
    /// What was changed and why.
    rationale: Option<String>,
    /// The diff's lines, from `from` on. Empty where there is none here.
    lines: Vec<String>,
    /// The number of the first line that is shown, from 0.
    from: usize,
    /// How many lines there are.
    total: usize,
    /// Where it goes on, as `from`; null where this is the end.
    next: Option<usize>,
    /// Why there are no lines, where there are none.
    absent: Option<String>,
}

/// A file of a patch set.
#[derive(Debug, Serialize, JsonSchema)]
struct File {
    path: String,
    /// What happened to it.
    change: String,
    added: u32,
    deleted: u32,
}

pub(crate) async fn diff(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let (found, slider) = asked.find(&name).await?;
    let mut reading = asked.reading();
    let view = reading.view(&found).await?;
    let ObjectView::PatchSet(patch_set) = &view else {
        let detail = format!("a {} has no diff: expected a patch set", found.kind);
        return Err(Problem::invalid(detail));
    };
    let from = asked.params.number("from")?.unwrap_or(0);
    let diff = read(
        &reading,
        patch_set,
        usize::try_from(from).unwrap_or(usize::MAX),
    )
    .await?;
    let row = Row::of(&found.row).earlier(status_of(&view), false);
    let page = Page {
        title: format!("Diff of {}", row.name()),
        section: object::section(Kind::PatchSet),
        live: Live::Streams(vec![found.stream.to_string()]),
        slider,
        subject: Some(found.id.to_string()),
        markdown: format!(
            "```diff\n{}\n```\n",
            diff.lines.join("\n").replace("```", "` ` `")
        ),
        command: format!("annals show {} --diff", found.id),
        data: diff,
    };
    let session = object::session_of(&asked, &found).await?;
    let moment = asked.moment;
    let whole = |diff: &Diff| {
        html! {
            (object::head(&row, found.kind, session.as_ref(), moment))
            (object::tabs(found.kind, found.id, "Diff", moment))
            (draw(diff, &asked))
        }
    };
    asked.answer(page, whole).await
}

/// Reads a patch set's diff, from a line on.
pub(crate) async fn read(
    reading: &Reading<'_>,
    patch_set: &PatchSetView,
    from: usize,
) -> Result<Diff, Problem> {
    let (text, absent) = match text(reading, patch_set).await? {
        Ok(text) => (text, None),
        Err(absent) => (String::new(), Some(absent)),
    };
    let total = text.lines().count();
    let from = from.min(total);
    let lines: Vec<String> = text
        .lines()
        .skip(from)
        .take(LINES)
        .map(str::to_owned)
        .collect();
    let next = from + lines.len();
    let files = patch_set.touched.iter().map(|file| File {
        path: file.path.to_string(),
        change: file.change_type.to_string(),
        added: file.lines_added,
        deleted: file.lines_deleted,
    });
    Ok(Diff {
        files: files.collect(),
        rationale: patch_set.rationale.as_ref().map(ToString::to_string),
        lines,
        from,
        total,
        next: Some(next).filter(|next| *next < total),
        absent,
    })
}

/// A patch set's diff, or why there is none to be shown.
async fn text(
    reading: &Reading<'_>,
    patch_set: &PatchSetView,
) -> Result<Result<String, String>, Problem> {
    let not = |why: &str| Ok(Err(why.to_owned()));
    let Some(artifact) = &patch_set.artifact else {
        return not("It was recorded without a diff.");
    };
    let bytes = match &artifact.content {
        None => return not("The diff is in another store, as its artifact says."),
        Some(PieceValue::Removed) => return not("The diff was removed for good."),
        Some(PieceValue::Bytes(bytes)) => bytes.clone(),
        Some(PieceValue::Attachment { size, .. }) if *size > LARGEST => {
            return Ok(Err(format!(
                "The diff has {} bytes, which is too long for a page: annals show {} --diff prints it.",
                grouped(*size),
                patch_set.header.object_id
            )));
        }
        Some(PieceValue::Attachment { digest, .. }) => {
            match reading.annals.contents().get(*digest).await? {
                Some(bytes) => bytes,
                None => return not("The diff is missing: annals proof verify says more."),
            }
        }
    };
    Ok(Ok(String::from_utf8_lossy(&bytes).into_owned()))
}

fn draw(diff: &Diff, asked: &Asked) -> Markup {
    html! {
        (body(diff))
        @if let Some(next) = diff.next { (more(&asked.with(&[("from", &next.to_string())]), "Further on")) }
    }
}

/// A diff with why and in which files.
pub(crate) fn body(diff: &Diff) -> Markup {
    html! {
        @if let Some(rationale) = &diff.rationale { section { h2 { "Why" } div.panel.said-text { (crate::fields::long(rationale)) } } }
        @if !diff.files.is_empty() { section { h2 { "Files" } div.scroll { table.rows { tbody { @for file in &diff.files { tr {
            td { (file.change) } td.what { code { (file.path) } }
            td.right.num { span.added { "+" (grouped(file.added.into())) } } td.right.num { span.deleted { "−" (grouped(file.deleted.into())) } }
        } } } } } } }
        section {
            div.head { h2 { "Diff" } @if diff.total > 0 { span.count { (grouped(diff.total as u64)) " lines" } } }
            @if let Some(absent) = &diff.absent { (nothing(absent)) }
            @else { pre.diff.panel tabindex="0" aria-label="Diff" { @for line in &diff.lines { (self::line(line)) } } }
        }
    }
}

/// A line, by what begins it.
fn line(line: &str) -> Markup {
    let class = match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
        [b'd', b'i', b'f', b'f', ..] | [b'i', b'n', b'd', b'e', b'x', ..] => "file",
        [b'@', b'@', ..] => "hunk",
        [b'+', ..] => "added",
        [b'-', ..] => "deleted",
        _ => "same",
    };
    html! { span class=(class) { (line) "\n" } }
}

//! The files that a session changed, each with its diffs under their prompts.

use annals::TurnRange;
use annals::domain::Timestamp;
use annals::projections::{FileEdit, PromptSummary, Turn, TurnBody};
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

use annals::event_log::Digest;

use super::rail::short;
use super::{DIFFS, diffs, find, head, layout, layouts};
use crate::answer::{Asked, Live, Page, Slider};
use crate::code::Colours;
use crate::diff_view::{self, DiffFile, file_of};
use crate::figures::{Clock, counted, lines};
use crate::foreign;
use crate::html::grouped;
use crate::problem::Problem;
use crate::session_entry::SessionEntry;
use crate::shell::SESSIONS;

/// Files whose diffs one page has.
const PART: usize = 50;

/// The files that a session changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionFiles {
    /// The session.
    session: SessionEntry,
    /// The files by path, from `from` on.
    files: Vec<SessionFileChanges>,
    /// The number of all files.
    total: usize,
    /// The first file of this part, from 0.
    from: usize,
    /// The first file of the next part, as `from`; null at the end.
    next: Option<usize>,
    #[serde(skip)]
    all: Vec<(String, u64, u64)>,
    #[serde(skip)]
    prompts: Vec<PromptSummary>,
    #[serde(skip)]
    diffs: HashMap<Digest, Option<Vec<DiffFile>>>,
}

/// A file with its changes.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionFileChanges {
    /// The path, relative to the project.
    path: String,
    /// Lines added by all changes that were not rejected.
    added: u64,
    /// Lines deleted by them.
    deleted: u64,
    /// The changes, oldest first.
    changes: Vec<FileChange>,
}

/// A change of a file.
#[derive(Debug, Serialize, JsonSchema)]
struct FileChange {
    /// The turn.
    turn: u64,
    /// The prompt that it belongs to.
    prompt: u64,
    /// The agent's clock.
    at: Option<Timestamp>,
    /// The tool.
    tool: String,
    /// `add`, `modify`, `delete`, `rename` or `copy`.
    change: String,
    /// Lines added.
    added: u32,
    /// Lines deleted.
    deleted: u32,
    /// The edit was rejected.
    rejected: bool,
    /// The patch set.
    patch_set: uuid::Uuid,
    #[serde(skip)]
    diff: Option<Digest>,
}

/// The page of changed files.
pub(crate) async fn files(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let (session, clock) = find(&mut asked, &name).await?;
    let read = read(&asked, session).await?;
    let page = Page {
        title: format!("Files of {}", read.session.name()),
        section: SESSIONS,
        live: Live::Never,
        slider: Slider::Positions,
        subject: Some(read.session.id.to_string()),
        markdown: String::new(),
        command: format!(
            "annals show {} --files --at {}",
            read.session.id, asked.moment.position
        ),
        data: read,
    };
    asked.answer(page, |read| draw(read, &asked, clock)).await
}

async fn read(asked: &Asked, session: SessionEntry) -> Result<SessionFiles, Problem> {
    let prompt = asked.params.number("prompt")?;
    let from = usize::try_from(asked.params.number("from")?.unwrap_or(0)).unwrap_or(usize::MAX);
    let conversation = asked
        .annals()
        .conversation(session.id, asked.moment.at(), TurnRange::all())
        .await?;
    let is_wanted = |turn: &&Turn| prompt.is_none_or(|prompt| turn.prompt == prompt);
    let mut by_path: BTreeMap<String, Vec<FileChange>> = BTreeMap::new();
    let mut of_part = Vec::new();
    for turn in conversation.turns.iter().filter(is_wanted) {
        let TurnBody::ToolCall(call) = &turn.body else {
            continue;
        };
        for edit in &call.edits {
            let changes = by_path.entry(edit.path.to_string()).or_default();
            changes.push(FileChange::of(turn, &call.tool.to_string(), edit));
        }
    }
    let all: Vec<(String, u64, u64)> = by_path
        .iter()
        .map(|(path, changes)| {
            (
                path.clone(),
                sum(changes, |it| it.added),
                sum(changes, |it| it.deleted),
            )
        })
        .collect();
    let total = by_path.len();
    let files: Vec<SessionFileChanges> = by_path
        .into_iter()
        .skip(from)
        .take(PART)
        .map(|(path, changes)| SessionFileChanges {
            path,
            added: sum(&changes, |it| it.added),
            deleted: sum(&changes, |it| it.deleted),
            changes,
        })
        .collect();
    let shown: Vec<u64> = files
        .iter()
        .flat_map(|file| file.changes.iter().map(|it| it.turn))
        .collect();
    if !asked.is_api {
        of_part.extend(
            conversation
                .turns
                .into_iter()
                .filter(|turn| shown.contains(&turn.number)),
        );
    }
    let next = from.saturating_add(PART);
    Ok(SessionFiles {
        session,
        files,
        total,
        from,
        next: (next < total).then_some(next),
        all,
        prompts: conversation.prompts,
        diffs: diffs(asked.annals(), &of_part, DIFFS).await?,
    })
}

fn sum(changes: &[FileChange], of: fn(&FileChange) -> u32) -> u64 {
    let held = changes.iter().filter(|change| !change.rejected);
    held.map(|change| u64::from(of(change))).sum()
}

impl FileChange {
    fn of(turn: &Turn, tool: &str, edit: &FileEdit) -> FileChange {
        FileChange {
            turn: turn.number,
            prompt: turn.prompt,
            at: turn.at,
            tool: tool.to_owned(),
            change: edit.change.clone(),
            added: edit.added,
            deleted: edit.deleted,
            rejected: edit.rejected,
            patch_set: edit.patch_set,
            diff: edit.diff,
        }
    }
}

fn draw(read: &SessionFiles, asked: &Asked, clock: Clock) -> Markup {
    let mut colours = Colours::new();
    let (added, deleted) =
        read.all
            .iter()
            .fold((0_u64, 0_u64), |(added, deleted), (_, more, less)| {
                (added.saturating_add(*more), deleted.saturating_add(*less))
            });
    let boxes: Vec<Markup> = read
        .files
        .iter()
        .enumerate()
        .map(|(index, file)| filebox(read, index + read.from, file, asked, clock, &mut colours))
        .collect();
    html! {
        (head::draw(&read.session, asked, clock, "Files"))
        div.split {
            aside.rail aria-label="File list" { (list(read, asked)) (prompts(read, asked)) }
            div {
                div.bar {
                    strong { (counted(read.total as u64, "changed file", "changed files")) } (lines(added, deleted))
                    span.spacer {} (layouts(asked))
                }
                details.box.railfold.phone { summary { "File list" } (list(read, asked)) (prompts(read, asked)) }
                @if read.files.is_empty() { div.box.empty { h2 { "This session changed no files" } } }
                @for one in &boxes { (one) }
                @if let Some(next) = read.next {
                    p.next { a.button rel="next" href=(asked.with(&[("from", &next.to_string()), ("at", &at(asked))])) { "Next " (PART) " files" } }
                }
            }
        }
    }
}

fn at(asked: &Asked) -> String {
    match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    }
}

/// All files; those of other parts lead there.
fn list(read: &SessionFiles, asked: &Asked) -> Markup {
    let address = |index: usize| {
        let from = index / PART * PART;
        match from == read.from {
            true => format!("#f{index}"),
            false => format!(
                "{}#f{index}",
                asked.with(&[("from", &from.to_string()), ("at", &at(asked))])
            ),
        }
    };
    html! { nav aria-label="Changed files" {
        h2 { "Changed files " span.num { (grouped(read.total as u64)) } }
        ul { @for (index, (path, added, deleted)) in read.all.iter().enumerate().take(500) { li {
            a.file href=(address(index)) title=(path) { span { bdi { (foreign::text(short(path))) } } (lines(*added, *deleted)) }
        } } }
    } }
}

/// The filter by prompt.
fn prompts(read: &SessionFiles, asked: &Asked) -> Markup {
    let chosen = asked.params.get("prompt");
    let link = |prompt: &str| asked.with(&[("prompt", prompt), ("from", ""), ("at", &at(asked))]);
    html! { @if read.prompts.len() > 1 { nav aria-label="Filter by prompt" {
        h2 { "Show changes of" }
        ol {
            li { a href=(link("")) aria-current=[chosen.is_none().then_some("true")] { span.pn { "∗" } span { "All prompts" } } }
            @for prompt in read.prompts.iter().filter(|it| it.added + it.deleted > 0).take(200) { @let number = prompt.number.to_string(); li {
                a href=(link(&number)) aria-current=[(chosen == Some(number.as_str())).then_some("true")] {
                    span.pn { (number) } span dir="auto" { (foreign::text(&foreign::one_line(&prompt.beginning, 100))) }
                }
            } }
        }
    } } }
}

/// A file with its diffs, each under its prompt.
fn filebox(
    read: &SessionFiles,
    index: usize,
    file: &SessionFileChanges,
    asked: &Asked,
    clock: Clock,
    colours: &mut Colours,
) -> Markup {
    let is_new = file
        .changes
        .first()
        .is_some_and(|change| change.change == "add");
    let is_gone = file
        .changes
        .last()
        .is_some_and(|change| change.change == "delete");
    let said = |number: u64| {
        read.prompts
            .iter()
            .find(|prompt| prompt.number == number)
            .map(|prompt| foreign::one_line(&prompt.beginning, 160))
    };
    let link = |change: &FileChange| {
        let from = change.turn.saturating_sub(20).max(1);
        format!(
            "{}#turn-{}",
            asked
                .moment
                .link(&format!("{}?from={from}", read.session.address())),
            change.turn
        )
    };
    let mut diff = |change: &FileChange| {
        let files = change.diff.and_then(|digest| read.diffs.get(&digest));
        match files {
            None => html! { p.diff-note { "The recording has no diff of this change." } },
            Some(None) => {
                html! { p.diff-note { "The diff was removed, or is too long for this page." } }
            }
            Some(Some(files)) => match file_of(files, &file.path) {
                Some(found) => diff_view::draw(found, layout(asked), colours),
                None => html! { p.diff-note { "The diff has no such file." } },
            },
        }
    };
    html! {
        section.box.filebox id={ "f" (index) } aria-label=(file.path) {
            header {
                h2 { bdi { (foreign::text(&file.path)) } }
                @if is_new { span.badge { "new" } } @if is_gone { span.badge.bad { "deleted" } }
                (lines(file.added, file.deleted))
            }
            @for change in &file.changes {
                div.cause {
                    span.pn { (change.prompt) }
                    a.q href=(link(change)) dir="auto" { (foreign::text(&said(change.prompt).unwrap_or_else(|| "Before the first prompt".to_owned()))) }
                    @if change.rejected { span.badge.bad { "rejected" } }
                    span.dim.num { span.desk { (foreign::text(&change.tool)) " · " } @match change.at { Some(at) => { (clock.clock(at)) } None => { "time unknown" } } }
                }
                (diff(change))
            }
        }
    }
}

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
use uuid::Uuid;

use annals::event_log::Digest;

use super::costs::sub_agent_of;
use super::neighbours::Neighbours;
use super::rail::{FILES_PART, short};
use super::{DIFFS, NamedSession, diffs_of, find, head, layout, layouts, neighbours, session_page};
use crate::answer::{Asked, Live, Page};
use crate::code::Colours;
use crate::diff_view::{self, DiffFile, file_of};
use crate::figures::{Clock, counted, grouped, lines};
use crate::foreign;
use crate::problem::Problem;
use crate::proof::ProofState;
use crate::session_entry::SessionEntry;

/// The files that a session changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionFiles {
    /// The session.
    session: SessionEntry,
    /// The files by path, from `from` on; last those whose changes were all rejected.
    files: Vec<SessionFileChanges>,
    /// The number of all files.
    total: usize,
    /// The number of files with a change that was not rejected.
    changed: usize,
    /// The first file of this part, from 0.
    from: usize,
    /// The first file of the next part, as `from`; null at the end.
    next: Option<usize>,
    #[serde(skip)]
    all: Vec<FileLine>,
    #[serde(skip)]
    prompts: Vec<PromptSummary>,
    #[serde(skip)]
    diffs: HashMap<Digest, Option<Vec<DiffFile>>>,
}

/// A file in the list.
#[derive(Debug)]
struct FileLine {
    path: String,
    added: u64,
    deleted: u64,
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
    /// The sub-agent's session that made it; null for the session itself.
    sub_agent: Option<Uuid>,
    /// The turn, of the sub-agent's session if one made it.
    turn: u64,
    /// The prompt that it belongs to; of a sub-agent's change, the prompt that started the sub-agent.
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
    patch_set: Uuid,
    #[serde(skip)]
    diff: Option<Digest>,
}

/// A session whose changes are read.
struct ChangingSession<'a> {
    /// `None` for the session of the page.
    sub_agent: Option<Uuid>,
    /// The prompt of the session of the page that started it.
    prompt: Option<u64>,
    turns: &'a [Turn],
}

/// The page of changed files.
pub(crate) async fn files(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let NamedSession {
        session,
        clock,
        proof,
    } = find(&mut asked, &name).await?;
    let beside = neighbours(&asked, &session, clock).await?;
    let read = read(&asked, session).await?;
    let page = Page {
        live: Live::Never,
        command: format!(
            "annals show {} --files --at {}",
            read.session.id, asked.moment.position
        ),
        ..session_page(&read.session, &asked, "Files of ")
    };
    let page = page.with_data(read);
    let draw = |read: &SessionFiles| draw(read, &asked, clock, (proof, &beside));
    asked.answer(page, draw).await
}

async fn read(asked: &Asked, session: SessionEntry) -> Result<SessionFiles, Problem> {
    let prompt = asked.params.number("prompt")?;
    let from = usize::try_from(asked.params.number("from")?.unwrap_or(0)).unwrap_or(usize::MAX);
    let conversation = asked
        .annals()
        .conversation(session.id, asked.moment.at(), TurnRange::all())
        .await?;
    let below = sub_agents_turns(asked, &session).await?;
    let prompt_of = started_by(&session, &conversation.turns);
    let own = ChangingSession {
        sub_agent: None,
        prompt: None,
        turns: &conversation.turns,
    };
    let below_it = below.iter().map(|(id, turns)| ChangingSession {
        sub_agent: Some(*id),
        prompt: Some(prompt_of.get(id).copied().unwrap_or(0)),
        turns,
    });
    let mut by_path: BTreeMap<String, Vec<FileChange>> = BTreeMap::new();
    for changing in std::iter::once(own).chain(below_it) {
        add_changes(&changing, prompt, &mut by_path);
    }
    let all = in_order(by_path);
    let changed = all.iter().filter(|file| file.is_changed()).count();
    let lines = all.iter().map(FileLine::of).collect();
    let total = all.len();
    let files: Vec<SessionFileChanges> = all.into_iter().skip(from).take(FILES_PART).collect();
    let diffs = match asked.is_api {
        true => HashMap::new(),
        false => {
            let changes = files.iter().flat_map(|file| &file.changes);
            diffs_of(asked.annals(), changes.filter_map(|it| it.diff), DIFFS).await?
        }
    };
    let next = from.saturating_add(FILES_PART);
    Ok(SessionFiles {
        session,
        files,
        total,
        changed,
        from,
        next: (next < total).then_some(next),
        all: lines,
        prompts: conversation.prompts,
        diffs,
    })
}

/// The turns of the sub-agents that changed files.
async fn sub_agents_turns(
    asked: &Asked,
    session: &SessionEntry,
) -> Result<Vec<(Uuid, Vec<Turn>)>, Problem> {
    let mut all = Vec::new();
    let changing = session.all_sub_agents().into_iter();
    for entry in changing.filter(|entry| entry.files > 0) {
        let read = asked
            .annals()
            .conversation(entry.id, asked.moment.at(), TurnRange::all());
        all.push((entry.id, read.await?.turns));
    }
    Ok(all)
}

/// The number of the prompt that started each sub-agent at any depth.
fn started_by(session: &SessionEntry, turns: &[Turn]) -> HashMap<Uuid, u64> {
    let mut prompts = HashMap::new();
    for turn in turns {
        let entry =
            sub_agent_of(turn).and_then(|id| session.sub_agents.iter().find(|it| it.id == id));
        let Some(entry) = entry else {
            continue;
        };
        prompts.insert(entry.id, turn.prompt);
        let below = entry.all_sub_agents().into_iter();
        prompts.extend(below.map(|it| (it.id, turn.prompt)));
    }
    prompts
}

/// Adds the changes of a session, of one prompt or of all.
fn add_changes(
    changing: &ChangingSession<'_>,
    prompt: Option<u64>,
    by_path: &mut BTreeMap<String, Vec<FileChange>>,
) {
    for turn in changing.turns {
        let TurnBody::ToolCall(call) = &turn.body else {
            continue;
        };
        let number = changing.prompt.unwrap_or(turn.prompt);
        if prompt.is_some_and(|prompt| prompt != number) {
            continue;
        }
        for edit in &call.edits {
            let changes = by_path.entry(edit.path.to_string()).or_default();
            let change = FileChange::of(turn, &call.tool.to_string(), edit);
            changes.push(FileChange {
                sub_agent: changing.sub_agent,
                prompt: number,
                ..change
            });
        }
    }
}

/// The files by path; last those whose changes were all rejected. The side column of the conversation has the same
/// order.
fn in_order(by_path: BTreeMap<String, Vec<FileChange>>) -> Vec<SessionFileChanges> {
    let files = by_path
        .into_iter()
        .map(|(path, changes)| SessionFileChanges {
            path,
            added: sum(&changes, |it| it.added),
            deleted: sum(&changes, |it| it.deleted),
            changes,
        });
    let (mut changed, rejected): (Vec<_>, Vec<_>) = files.partition(SessionFileChanges::is_changed);
    changed.extend(rejected);
    changed
}

impl SessionFileChanges {
    /// Returns `true` if a change was not rejected.
    fn is_changed(&self) -> bool {
        self.changes.iter().any(|change| !change.rejected)
    }
}

impl FileLine {
    fn of(file: &SessionFileChanges) -> FileLine {
        FileLine {
            path: file.path.clone(),
            added: file.added,
            deleted: file.deleted,
        }
    }
}

fn sum(changes: &[FileChange], of: fn(&FileChange) -> u32) -> u64 {
    let held = changes.iter().filter(|change| !change.rejected);
    held.map(|change| u64::from(of(change))).sum()
}

impl FileChange {
    fn of(turn: &Turn, tool: &str, edit: &FileEdit) -> FileChange {
        FileChange {
            sub_agent: None,
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

fn draw(
    read: &SessionFiles,
    asked: &Asked,
    clock: Clock,
    (proof, beside): (ProofState, &Neighbours),
) -> Markup {
    let mut colours = Colours::new();
    let sum = |of: fn(&FileLine) -> u64| read.all.iter().map(of).fold(0, u64::saturating_add);
    let (added, deleted) = (sum(|it| it.added), sum(|it| it.deleted));
    let rejected = (read.total - read.changed) as u64;
    let boxes: Vec<Markup> = read
        .files
        .iter()
        .enumerate()
        .map(|(index, file)| filebox(read, index + read.from, file, asked, clock, &mut colours))
        .collect();
    html! {
        (head::draw(&read.session, asked, (clock, proof, beside), "Files"))
        div.split {
            aside.rail aria-label="File list" { (list(read, asked)) (prompts(read, asked)) }
            div {
                div.bar {
                    strong { (counted(read.changed as u64, "changed file", "changed files")) } (lines(added, deleted))
                    @if rejected > 0 { span.dim { "and " (counted(rejected, "file", "files")) " with rejected changes only" } }
                    span.spacer {} (layouts(asked))
                }
                details.box.railfold.phone { summary { "File list" } (list(read, asked)) (prompts(read, asked)) }
                @if read.files.is_empty() { div.box.empty { h2 { "This session changed no files" } } }
                @for one in &boxes { (one) }
                @if let Some(next) = read.next {
                    p.next { a.button rel="next" href=(asked.with(&[("from", &next.to_string()), ("at", &at(asked))])) { "Next " (FILES_PART) " files" } }
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
        let from = index / FILES_PART * FILES_PART;
        match from == read.from {
            true => format!("#f{index}"),
            false => format!(
                "{}#f{index}",
                asked.with(&[("from", &from.to_string()), ("at", &at(asked))])
            ),
        }
    };
    html! { nav aria-label="Changed files" {
        h2 { "Changed files " span.num { (grouped(read.changed as u64)) } }
        ul { @for (index, file) in read.all.iter().enumerate().take(500) { li {
            a.file href=(address(index)) title=(file.path) { span { bdi { (foreign::text(short(&file.path))) } } (lines(file.added, file.deleted)) }
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

/// The prompt of a change, as a link to the turn; of a sub-agent's change, the prompt of the sub-agent.
fn cause(read: &SessionFiles, change: &FileChange, asked: &Asked) -> Markup {
    let below = read.session.all_sub_agents();
    let sub_agent = change
        .sub_agent
        .and_then(|id| below.iter().find(|it| it.id == id));
    let prompt = || read.prompts.iter().find(|it| it.number == change.prompt);
    let said = match sub_agent {
        Some(entry) => entry.name(),
        None => prompt().map_or_else(
            || "Before the first prompt".to_owned(),
            |prompt| foreign::one_line(&prompt.beginning, 160),
        ),
    };
    let session = change.sub_agent.unwrap_or(read.session.id);
    let from = change.turn.saturating_sub(20).max(1);
    let page = asked
        .moment
        .link(&format!("/sessions/{session}?from={from}"));
    html! {
        @if sub_agent.is_some() { span.badge.agent { "sub-agent" } }
        a.q href={ (page) "#turn-" (change.turn) } dir="auto" { (foreign::text(&said)) }
    }
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
                    (cause(read, change, asked))
                    @if change.rejected { span.badge.bad { "rejected" } }
                    span.dim.num { span.desk { (foreign::text(&change.tool)) " · " } @match change.at { Some(at) => { (clock.clock(at)) } None => { "time unknown" } } }
                }
                (diff(change))
            }
        }
    }
}

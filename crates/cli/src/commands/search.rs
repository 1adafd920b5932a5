//! `annals search`: the events that have some words.

use std::collections::HashMap;
use std::path::PathBuf;

use annals::event_log::Position;
use annals::projections::{ProjectLabels, SessionSummary, is_agent, is_project};
use annals::{Annals, At, LogUrl};
use annals_search::{
    Answer, Count, Hit, Keeping, LogSearch, Query, SearchError, SearchRequest, SessionHits,
    Snippet, TurnHit, Using,
};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::show_session::title;
use crate::cli::Search;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, Style, counted, in_command, short, when, who};
use crate::progress;

/// Hits that a search of some sessions looks through at first, and at most.
const FIRST_HITS: usize = 200;
const MOST_HITS: usize = 12_800;
/// The factor by which more hits are looked through.
const GROWTH: usize = 4;

/// One answer of `--json`.
#[derive(Serialize)]
struct Line<'h> {
    position: u64,
    score: f32,
    object: Option<Value>,
    stream: &'h str,
    event_type: &'static str,
    occurred_at: annals::domain::Timestamp,
    actor: &'h annals::domain::ActorRef,
    #[serde(rename = "in")]
    facet: annals_search::Facet,
    snippet: Vec<Value>,
    line_before: Option<&'h str>,
    line_behind: Option<&'h str>,
    command: Vec<String>,
    session: Option<Uuid>,
    title: Option<&'h str>,
    project: Option<&'h str>,
    turn: Option<u64>,
}

pub(crate) async fn run(args: &Search, context: &mut Context) -> Result<(), CliError> {
    let request = match args.words.is_empty() {
        true => None,
        false => Some(request(args)?),
    };
    context.own_files();
    let annals = context.reader_at(&args.floor).await?;
    let search = of_log(context, &annals);
    if let Some(keeping) = args.index {
        keep(&search, keeping.into(), context)?;
    }
    if args.rebuild {
        rebuild(&search, &annals, context).await?;
    }
    let Some(request) = request else {
        return Ok(());
    };
    let using = match args.no_index || search.keeping() == Keeping::Off {
        true => Using::Log,
        false => Using::Index,
    };
    let bar = progress::bar("searching", Some(annals.position().0));
    let filter = SessionFilter::of(args, &annals).await?;
    let mut progress = |position: Position| bar.set_position(position.0);
    let answer = match &filter {
        None => search.ask(&request, using, &mut progress).await,
        Some(filter) => filter.ask(&search, request, using, &mut progress).await,
    };
    bar.finish_and_clear();
    let mut answer = answer?;
    let hits = std::mem::take(&mut answer.hits);
    let found = hits.len();
    let groups = search.in_sessions(hits, At::Now).await?;
    match context.output.is_json() {
        true => print_json(&answer, &groups, &mut context.output),
        false => print(&answer, found, &groups, &annals, &mut context.output).await,
    }
}

/// The sessions whose hits are wanted.
#[derive(Debug)]
struct SessionFilter {
    project: Option<String>,
    agent: Option<String>,
    session: Option<Uuid>,
}

impl SessionFilter {
    async fn of(args: &Search, annals: &Annals) -> Result<Option<SessionFilter>, CliError> {
        let session = match &args.session {
            Some(name) => Some(annals.conversations().find(name).await?.id),
            None => None,
        };
        let filter = SessionFilter {
            project: args.project.clone(),
            agent: args.agent.clone(),
            session,
        };
        let is_empty =
            filter.project.is_none() && filter.agent.is_none() && filter.session.is_none();
        Ok((!is_empty).then_some(filter))
    }

    fn takes(&self, session: &SessionSummary) -> bool {
        let is_project = |wanted: &str| {
            let path = session.project.as_deref();
            path.is_some_and(|path| is_project(path, wanted))
        };
        let is_agent = |wanted: &str| {
            let agent = session.agent.as_deref();
            agent.is_some_and(|agent| is_agent(agent, wanted))
        };
        self.project.as_deref().is_none_or(is_project)
            && self.agent.as_deref().is_none_or(is_agent)
            && self
                .session
                .is_none_or(|id| session.id == id || session.root == id)
    }

    /// Searches, and keeps the hits of the sessions. More and more hits are looked through, up to a bound.
    async fn ask(
        &self,
        search: &LogSearch,
        request: SearchRequest,
        using: Using,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Answer, SearchError> {
        let wanted = request.limit;
        let mut limit = wanted.saturating_mul(GROWTH).clamp(FIRST_HITS, MOST_HITS);
        loop {
            let request = request.clone().with_limit(limit);
            let mut answer = search.ask(&request, using, progress).await?;
            let is_all = answer.hits.len() < limit && matches!(answer.count, Count::Exactly(_));
            let sessions = search.sessions_of(&answer.hits).await?;
            let hits = answer.hits.into_iter().zip(sessions);
            let of_sessions =
                hits.filter(|(_, session)| session.as_ref().is_some_and(|it| self.takes(it)));
            let mut hits: Vec<Hit> = of_sessions.map(|(hit, _)| hit).collect();
            if is_all || hits.len() >= wanted || limit >= MOST_HITS {
                let found = hits.len() as u64;
                hits.truncate(wanted);
                answer.count = match is_all {
                    true => Count::Exactly(found),
                    false => Count::AtLeast(found.min(wanted as u64)),
                };
                answer.hits = hits;
                return Ok(answer);
            }
            limit = limit.saturating_mul(GROWTH).min(MOST_HITS);
        }
    }
}

/// The search over the log that is open.
pub(crate) fn of_log(context: &Context, annals: &Annals) -> LogSearch {
    LogSearch::new(annals, folder(context).as_deref())
}

fn folder(context: &Context) -> Option<PathBuf> {
    match context.log.parse() {
        Ok(LogUrl::Rocks(folder)) => Some(folder),
        _ => None,
    }
}

/// Brings the index up to date where that was asked for, behind what an import added. The import is done, whatever
/// becomes of this.
pub(crate) async fn keep_up(context: &Context, annals: &Annals) {
    let search = of_log(context, annals);
    if search.keeping() != Keeping::Kept {
        return;
    }
    let bar = progress::bar("indexing", Some(annals.position().0));
    let done = search
        .catch_up(&mut |position| bar.set_position(position.0))
        .await;
    bar.finish_and_clear();
    if let Err(error) = done {
        context.output.warn(&error.to_string());
    }
}

fn request(args: &Search) -> Result<SearchRequest, CliError> {
    let query = Query::parse(&args.words.join(" "))?;
    Ok(SearchRequest::new(query)
        .with_facets(
            args.facets
                .iter()
                .map(|it| (*it).into())
                .collect::<Vec<_>>(),
        )
        .with_kind(args.kind.map(|kind| kind.0))
        .with_actor(args.actor.clone())
        .with_since(args.since)
        .with_until(args.until)
        .with_is_newest_first(args.newest)
        .with_limit(args.limit))
}

/// Only a folder has a place for an index.
fn demand_folder(context: &Context) -> Result<(), CliError> {
    match folder(context) {
        Some(_) => Ok(()),
        None => {
            let message = "only a log in a folder has a search index";
            Err(CliError::new(
                ErrorClass::Refused,
                "no_search_index",
                message,
            ))
        }
    }
}

fn keep(search: &LogSearch, keeping: Keeping, context: &mut Context) -> Result<(), CliError> {
    demand_folder(context)?;
    search.keep(keeping)?;
    let said = match keeping {
        Keeping::Lazy => "searches make the index and bring it up to date",
        Keeping::Kept => "searches, imports and `annals service serve` bring the index up to date",
        Keeping::Off => "there is no index; searches look through the log",
    };
    match context.output.is_json() {
        true => context.output.json(&json!({ "index": keeping.as_str() })),
        false => context.output.line(said),
    }
}

async fn rebuild(
    search: &LogSearch,
    annals: &Annals,
    context: &mut Context,
) -> Result<(), CliError> {
    demand_folder(context)?;
    let bar = progress::bar("indexing", Some(annals.position().0));
    let lag = search
        .rebuild(&mut |position| bar.set_position(position.0))
        .await;
    bar.finish_and_clear();
    if let Some(lag) = lag? {
        let message = format!("the search index was not made: {lag}");
        return Err(CliError::new(
            ErrorClass::Contended,
            "search_index_busy",
            message,
        ));
    }
    let position = annals.position().0;
    match context.output.is_json() {
        true => context.output.json(&json!({ "rebuilt": position })),
        false => context.output.line(&format!(
            "the search index was made again, up to event {position}"
        )),
    }
}

async fn print(
    answer: &Answer,
    found: usize,
    groups: &[SessionHits],
    annals: &Annals,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut names: HashMap<Uuid, String> = HashMap::new();
    let sessions = groups.iter().filter_map(|group| group.session.as_ref());
    let labels = ProjectLabels::of(sessions.filter_map(|session| session.project.as_deref()));
    for group in groups {
        match &group.session {
            Some(session) => print_session(session, &labels, &group.hits, output)?,
            None => {
                for found in &group.hits {
                    print_event(&found.hit, annals, &mut names, output).await?;
                }
            }
        }
    }
    output.flush()?;
    say(answer, found, output);
    Ok(())
}

/// Prints the hits of a session: its title, its project, and the turns with the lines around.
fn print_session(
    session: &SessionSummary,
    labels: &ProjectLabels,
    hits: &[TurnHit],
    output: &mut Output,
) -> Result<(), CliError> {
    let title = title(session);
    let project = session.project.as_deref();
    let project = project.map_or("no project", |path| labels.label(path));
    let id = short(session.id);
    output.line(&format!(
        "{}  {project}  {id}",
        output.style(Style::Bold, &title)
    ))?;
    for TurnHit { turn, hit, .. } in hits {
        let turn = match turn {
            Some(turn) => format!("turn {turn}"),
            None => "session".to_owned(),
        };
        let turn = output.style(Style::Heading, &turn);
        let at = when(hit.occurred_at);
        output.line(&format!(
            "  {turn}  in {}  event {}  {at}",
            hit.facet, hit.position
        ))?;
        let snippet = &hit.snippet;
        let around = |line: &Option<String>| line.as_deref().map(|line| format!("    {line}"));
        if let Some(line) = around(&snippet.line_before) {
            output.line(&output.style(Style::Dim, &line))?;
        }
        output.line(&format!("    {}", marked(snippet, output)))?;
        if let Some(line) = around(&snippet.line_behind) {
            output.line(&output.style(Style::Dim, &line))?;
        }
    }
    let turn = hits.iter().find_map(|hit| hit.turn);
    let turn = turn.map_or_else(String::new, |turn| format!(" --turn {turn}"));
    let command = format!("  annals show {id}{turn}");
    output.line(&output.style(Style::Dim, &command))
}

/// Prints an event that belongs to no session.
async fn print_event(
    hit: &Hit,
    annals: &Annals,
    names: &mut HashMap<Uuid, String>,
    output: &mut Output,
) -> Result<(), CliError> {
    if let Some((_, id)) = hit.object
        && !names.contains_key(&id)
    {
        let called = annals.index().called(id).await?;
        names.insert(id, in_command(Some(&called), id));
    }
    let object = match hit.object {
        Some((kind, id)) => format!("{kind} {}", short(id)),
        None => hit.stream.clone(),
    };
    let line = format!(
        "{}  event {}  {}  {}  in {}",
        output.style(Style::Bold, &object),
        hit.position,
        when(hit.occurred_at),
        who(&hit.actor),
        hit.facet,
    );
    output.line(&line)?;
    output.line(&format!("  {}", marked(&hit.snippet, output)))?;
    let name = hit.object.and_then(|(_, id)| names.get(&id));
    let command = command(hit, name.map(String::as_str));
    output.line(&output.style(Style::Dim, &format!("  {}", command.join(" "))))
}

/// Says how many there are, and what was not searched.
fn say(answer: &Answer, found: usize, output: &Output) {
    let shown = found as u64;
    match answer.count {
        Count::Exactly(0) => output.note("nothing found"),
        Count::AtLeast(_) if answer.passed_over > 0 => output.warn(&format!(
            "{shown} found; {} not checked. Use a rarer word, or narrow the search with --in, --kind, --actor or --since",
            counted(answer.passed_over, "candidate was", "candidates were"),
        )),
        Count::Exactly(all) if all > shown => {
            output.note(&format!(
                "{shown} of {}; --limit N shows more",
                counted(all, "event", "events")
            ));
        }
        Count::AtLeast(0) => output.note("nothing found in the sessions that were asked for; narrow the search with more words"),
        Count::AtLeast(_) => output.note(&format!("{shown} shown; --limit N shows more")),
        Count::Exactly(_) => {}
    }
    warn(answer, output);
}

fn warn(answer: &Answer, output: &Output) {
    let Some(lag) = &answer.lag else {
        return;
    };
    let behind = answer.end.0.saturating_sub(answer.searched.0);
    match answer.is_of_index {
        true => output.warn(&format!(
            "the last {} of the log {} not searched: {lag}",
            counted(behind, "event", "events"),
            if behind == 1 { "is" } else { "are" },
        )),
        false => output.warn(&format!(
            "the log itself was looked through, the newest first: {lag}"
        )),
    }
}

/// A snippet with the words marked, where there are styles.
fn marked(snippet: &Snippet, output: &Output) -> String {
    let mut shown = String::new();
    if snippet.is_cut_before {
        shown.push('…');
    }
    for (text, is_mark) in snippet.pieces() {
        match is_mark {
            true => shown.push_str(&output.style(Style::Bold, text)),
            false => shown.push_str(text),
        }
    }
    if snippet.is_cut_behind {
        shown.push('…');
    }
    shown
}

/// The command that shows what was found.
fn command(hit: &Hit, name: Option<&str>) -> Vec<String> {
    let position = hit.position.to_string();
    let words: Vec<&str> = match (hit.object, name) {
        (Some(_), Some(name)) => vec!["annals", "show", name, "--at", &position],
        _ => vec![
            "annals",
            "log",
            "--stream",
            &hit.stream,
            "--since",
            &position,
            "--limit",
            "1",
        ],
    };
    words.into_iter().map(str::to_owned).collect()
}

fn print_json(
    answer: &Answer,
    groups: &[SessionHits],
    output: &mut Output,
) -> Result<(), CliError> {
    let mut hits: Vec<(usize, Line<'_>)> = Vec::new();
    for group in groups {
        let session = group.session.as_ref();
        hits.extend(group.hits.iter().map(|hit| (hit.rank, line(session, hit))));
    }
    hits.sort_by_key(|(rank, _)| *rank);
    let hits = hits.into_iter().map(|(_, line)| line);
    let (count, is_exact) = match answer.count {
        Count::Exactly(count) => (count, true),
        Count::AtLeast(count) => (count, false),
    };
    output.json(&json!({
        "hits": hits.collect::<Vec<_>>(),
        "count": count,
        "is_exact": is_exact,
        "passed_over": answer.passed_over,
        "searched": answer.searched.0,
        "end": answer.end.0,
        "by_index": answer.is_of_index,
        "lag": answer.lag.as_ref().map(ToString::to_string),
    }))
}

fn line<'h>(session: Option<&'h SessionSummary>, found: &'h TurnHit) -> Line<'h> {
    let TurnHit { turn, hit, .. } = found;
    let pieces = hit.snippet.pieces().into_iter();
    Line {
        position: hit.position.0,
        score: hit.score,
        object: hit
            .object
            .map(|(kind, id)| json!({ "kind": kind.object_type(), "id": id })),
        stream: &hit.stream,
        event_type: hit.event_type,
        occurred_at: hit.occurred_at,
        actor: &hit.actor,
        facet: hit.facet,
        snippet: pieces
            .map(|(text, is_mark)| json!({ "text": text, "mark": is_mark }))
            .collect(),
        line_before: hit.snippet.line_before.as_deref(),
        line_behind: hit.snippet.line_behind.as_deref(),
        command: command(hit, hit.object.map(|(_, id)| id.to_string()).as_deref()),
        session: session.map(|session| session.id),
        title: session.and_then(|session| session.title.as_deref()),
        project: session.and_then(|session| session.project.as_deref()),
        turn: *turn,
    }
}

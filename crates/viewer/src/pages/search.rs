//! Events by their words: what `annals search` finds, each with the line that has the words, and where to look.

mod draw;
mod model;
mod suggestion_list;
mod suggestion_model;
mod suggestions;

use annals::At;
use annals_search::{Facet, Query, SearchRequest};
use axum::response::Response;

use self::model::FoundSession;
pub(crate) use self::model::Search;
pub(crate) use self::suggestion_model::SuggestionList;
pub(crate) use self::suggestions::suggestions;
use crate::answer::{Asked, Live, Page, Slider};
use crate::pages::list::{LISTS, plain};
use crate::pages::session::clock;
use crate::problem::Problem;

/// How far a search goes on, page by page; what comes behind is found by more words.
const FURTHEST: usize = 1_000;

pub(crate) async fn search(asked: Asked) -> Result<Response, Problem> {
    let words = asked.params.get("q").map(str::to_owned);
    let search = match &words {
        Some(words) => read(&asked, words).await?,
        None => Search::default(),
    };
    let page = Page {
        title: match &words {
            Some(words) => format!("{words} – search"),
            None => "Search".to_owned(),
        },
        section: "Search",
        // What is found is not exchanged under its reader.
        live: Live::Never,
        slider: Slider::Positions,
        subject: None,
        markdown: markdown(&search),
        command: command(&asked),
        data: search,
    };
    asked
        .answer(page, |search| draw::draw(search, &asked))
        .await
}

async fn read(asked: &Asked, words: &str) -> Result<Search, Problem> {
    let params = &asked.params;
    let from = params.number("from")?.unwrap_or(0);
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    if from > FURTHEST {
        let detail = format!("a search goes on to {FURTHEST}: more words find fewer events");
        return Err(Problem::invalid(detail));
    }
    let limit = params.limit()?;
    let facets = match params.get("in") {
        None => Vec::new(),
        Some(words) => words
            .split(',')
            .map(str::parse)
            .collect::<Result<Vec<Facet>, _>>()?,
    };
    let kind = match params.get("kind") {
        None => None,
        Some(word) => Some(kind(word)?),
    };
    let request = SearchRequest::new(Query::parse(words)?)
        .with_facets(facets)
        .with_kind(kind)
        .with_actor(params.get("actor").map(str::to_owned))
        .with_until(Some(At::Position(asked.moment.position)).filter(|_| asked.moment.is_chosen))
        .with_is_newest_first(params.get("newest").is_some())
        // One more says whether there is more.
        .with_limit(from.saturating_add(limit).saturating_add(1));
    let answer = asked.shared.searching.ask(request).await?;
    let mut search = Search::of(words, &answer, from, limit);
    let shown = answer.hits.iter().skip(from).take(limit).cloned().collect();
    let groups = asked
        .shared
        .searching
        .in_sessions(shown, asked.at())
        .await?;
    if !asked.moment.is_chosen {
        let searching = &asked.shared.searching;
        searching.warm_found(asked.annals(), &groups);
    }
    let now = clock(asked).await?.now();
    let sessions = groups.iter().map(|group| FoundSession::of(group, now));
    search.sessions = sessions.collect();
    search.next = search.next.filter(|next| *next <= FURTHEST);
    let mut reading = asked.reading();
    for hit in &mut search.hits {
        if let Some(object) = &hit.object {
            let row = reading.row_of(object.id).await?;
            hit.name = row.map(|row| row.name());
        }
    }
    Ok(search)
}

fn kind(word: &str) -> Result<annals::domain::Kind, Problem> {
    let mut kinds = LISTS.iter().map(|listed| listed.kind);
    let found = kinds.find(|kind| kind.object_type() == word);
    found.ok_or_else(|| {
        let known: Vec<&str> = LISTS
            .iter()
            .map(|listed| listed.kind.object_type())
            .collect();
        let shown: String = word.chars().take(64).collect();
        let known = known.join(", ");
        Problem::invalid(format!("invalid kind {shown:?}: expected one of {known}"))
    })
}

/// The command that finds the same.
fn command(asked: &Asked) -> String {
    let params = &asked.params;
    let words = params.get("q").unwrap_or("WORDS");
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut command = "annals search".to_owned();
    for (name, flag) in [("in", "--in"), ("kind", "--kind"), ("actor", "--actor")] {
        if let Some(value) = params.get(name) {
            command.push_str(&format!(" {flag}={}", quoted(value)));
        }
    }
    if params.get("newest").is_some() {
        command.push_str(" --newest");
    }
    if asked.moment.is_chosen {
        command.push_str(&format!(" --until {}", asked.moment.position));
    }
    // Words may begin like an option.
    command.push_str(&format!(" -- {}", quoted(words)));
    command
}

fn markdown(search: &Search) -> String {
    let mut text = format!("# Search for {}\n\n", plain(&search.query));
    for hit in &search.hits {
        let name = hit.name.as_deref().unwrap_or("");
        text.push_str(&format!("- event {}, {}: ", hit.position, plain(name)));
        for piece in &hit.snippet {
            let piece_text = plain(&piece.text);
            match piece.mark {
                true => text.push_str(&format!("**{piece_text}**")),
                false => text.push_str(&piece_text),
            }
        }
        text.push('\n');
    }
    text
}

//! Finds turns of a session by a text, or those that failed.

use annals::TurnRange;
use annals::projections::{CallOutcome, Turn, TurnBody};
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::costs::sub_agent_of;
use super::turn_texts::texts;
use super::{NamedSession, find as find_session, head, session_page};
use crate::answer::{Asked, Live, Page, escaped};
use crate::figures::counted;
use crate::foreign;
use crate::problem::Problem;
use crate::session_entry::SessionEntry;

/// The most turns that are found.
const MOST: usize = 1_000;
/// Sub-agents whose failures are found.
const SUB_AGENTS: usize = 100;
/// Characters of the searched text, and around a match.
const LONGEST: usize = 200;
const AROUND: usize = 60;

/// Turns of a session that hold a text, or that failed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FoundTurns {
    /// The text; empty if failures were asked for.
    query: String,
    /// The turns, in order.
    turns: Vec<FoundTurn>,
    /// Whether there are more.
    more: bool,
    #[serde(skip)]
    session: Option<Box<SessionEntry>>,
}

/// A turn.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundTurn {
    /// The turn's number.
    number: u64,
    /// The sub-agent's session that it is of; null for the session itself.
    session: Option<Uuid>,
    /// Of a sub-agent's turn, the turn of the session that started the sub-agent.
    under: Option<u64>,
    /// The prompt that it belongs to.
    prompt: u64,
    /// What it is: prompt, answer, thinking, tool call and so on.
    kind: &'static str,
    /// The text around the first match.
    excerpt: String,
}

/// The page of matches, and what the find box asks.
pub(crate) async fn find(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let NamedSession { session, .. } = find_session(&mut asked, &name).await?;
    let query = asked.params.get("q").unwrap_or_default().to_owned();
    if query.chars().count() > LONGEST {
        return Err(Problem::invalid(format!(
            "the text to find is too long: expected at most {LONGEST} characters"
        )));
    }
    let failed = asked.params.get("failed").is_some();
    let mut turns = match (failed, query.is_empty()) {
        (true, _) => failures(&asked, &session).await?,
        (false, true) => Vec::new(),
        (false, false) => {
            let read = asked
                .annals()
                .conversation(session.id, asked.moment.at(), TurnRange::all());
            let turns = read.await?.turns;
            let found = turns
                .iter()
                .filter_map(|turn| Some(FoundTurn::of(turn, excerpt(turn, &query)?)));
            found.collect()
        }
    };
    let more = turns.len() > MOST;
    turns.truncate(MOST);
    let page = Page {
        live: Live::Never,
        ..session_page(&session, &asked, "Find in ")
    };
    let page = page.with_data(FoundTurns {
        query,
        turns,
        more,
        session: Some(Box::new(session)),
    });
    asked.answer(page, |found| draw(found, &asked)).await
}

/// The turns that failed or were denied, with those of sub-agents behind the turns that started them.
async fn failures(asked: &Asked, session: &SessionEntry) -> Result<Vec<FoundTurn>, Problem> {
    let at = asked.moment.at();
    let read = asked
        .annals()
        .conversation(session.id, at, TurnRange::all())
        .await?;
    let mut found = Vec::new();
    let mut left = SUB_AGENTS;
    for turn in &read.turns {
        found.extend(is_failure(turn).then(|| FoundTurn::failed(turn)));
        let entry =
            sub_agent_of(turn).and_then(|id| session.sub_agents.iter().find(|it| it.id == id));
        let Some(entry) = entry else {
            continue;
        };
        for one in std::iter::once(entry)
            .chain(entry.all_sub_agents())
            .take(left)
        {
            left -= 1;
            let below = asked
                .annals()
                .conversation(one.id, at, TurnRange::all())
                .await?;
            let failed = below.turns.iter().filter(|turn| is_failure(turn));
            found.extend(failed.map(|inner| FoundTurn {
                session: Some(one.id),
                under: Some(turn.number),
                prompt: turn.prompt,
                ..FoundTurn::failed(inner)
            }));
        }
    }
    Ok(found)
}

impl FoundTurn {
    fn failed(turn: &Turn) -> FoundTurn {
        let texts = texts(turn);
        let first = texts.first().map(|text| foreign::one_line(text, 120));
        FoundTurn::of(turn, first.unwrap_or_default())
    }

    fn of(turn: &Turn, excerpt: String) -> FoundTurn {
        FoundTurn {
            session: None,
            under: None,
            number: turn.number,
            prompt: turn.prompt,
            kind: kind(&turn.body),
            excerpt,
        }
    }
}

fn kind(body: &TurnBody) -> &'static str {
    match body {
        TurnBody::Prompt(_) => "prompt",
        TurnBody::Thinking { .. } => "thinking",
        TurnBody::Answer { .. } => "answer",
        TurnBody::ToolCall(_) => "tool call",
        TurnBody::Compaction { .. } => "compaction",
        TurnBody::SubAgent { .. } => "sub-agent",
        TurnBody::Interruption { .. } => "interruption",
        TurnBody::Error { .. } => "error",
        _ => "note",
    }
}

fn is_failure(turn: &Turn) -> bool {
    match &turn.body {
        TurnBody::ToolCall(call) => {
            matches!(call.outcome, CallOutcome::Failed | CallOutcome::Denied)
        }
        TurnBody::Error { .. } => true,
        _ => false,
    }
}

/// The text around the first match, regardless of case.
fn excerpt(turn: &Turn, query: &str) -> Option<String> {
    let query = query.to_lowercase();
    texts(turn).into_iter().find_map(|text| {
        // Lower case may have other lengths: positions are counted in characters of the same text.
        let lower = text.to_lowercase();
        let at = lower.find(&query)?;
        let before = lower.get(..at).map_or(0, |before| before.chars().count());
        let from = before.saturating_sub(AROUND);
        let around: String = text
            .chars()
            .skip(from)
            .take(2 * AROUND + query.chars().count())
            .collect();
        let dots = if from > 0 { "…" } else { "" };
        Some(format!("{dots}{}", foreign::one_line(&around, 3 * AROUND)))
    })
}

fn draw(found: &FoundTurns, asked: &Asked) -> Markup {
    let Some(session) = &found.session else {
        return html! {};
    };
    let address = |turn: &FoundTurn| {
        let number = turn.number;
        let from = number.saturating_sub(20).max(1);
        let id = turn.session.unwrap_or(session.id);
        let mut address = asked.moment.link(&format!("/sessions/{id}?from={from}"));
        if !found.query.is_empty() {
            address.push_str(&format!("&find={}", escaped(&found.query)));
        }
        format!("{address}#turn-{number}")
    };
    let count = counted(found.turns.len() as u64, "turn", "turns");
    html! {
        (head::crumb(session, asked.moment, true))
        h1 { @if found.query.is_empty() { "Failed and denied: " } @else { "Find “" (foreign::text(&found.query)) "”: " } (count) @if found.more { " and more" } }
        @if found.turns.is_empty() { div.box.empty { h2 { "No turn matches" } p { a href=(asked.moment.link(&session.address())) { "To the conversation" } } } }
        @else { ul.found { @for turn in &found.turns { li {
            a href=(address(turn)) { "Turn " (turn.number) } " " @if turn.session.is_some() { span.badge.agent { "sub-agent" } " " }
            span.dim { (turn.kind) ", prompt " (turn.prompt) } " "
            span dir="auto" { (foreign::text(&turn.excerpt)) }
        } } } }
    }
}

#[cfg(test)]
mod tests {
    use annals::projections::CallRole;

    use super::super::samples::{answer, call, prompt};
    use super::*;

    #[test]
    fn texts_are_found_regardless_of_case() {
        let turn = answer(
            1,
            1,
            &format!(
                "{} The VAT is İstanbul {}",
                "a ".repeat(100),
                "b ".repeat(100)
            ),
        );
        let found = excerpt(&turn, "vat").unwrap_or_default();
        assert!(
            found.starts_with("…a a") && found.contains("The VAT is"),
            "{found}"
        );
        assert!(found.chars().count() < 200, "{found}");
        assert_eq!(excerpt(&turn, "gst"), None);
        assert_eq!(
            excerpt(&prompt(1, 1, "İİİİ x"), "x").as_deref(),
            Some("İİİİ x")
        );
        let read = call(2, 1, "Read", CallRole::Read, CallOutcome::Failed);
        assert!(excerpt(&read, "SRC/A.rs").is_some());
        assert!(is_failure(&read));
        assert!(!is_failure(&turn));
    }
}

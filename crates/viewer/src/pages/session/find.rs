//! Finds turns of a session by a text, or those that failed.

use annals::TurnRange;
use annals::projections::{CallOutcome, Turn, TurnBody};
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use super::{find as find_session, head};
use crate::answer::{Asked, Live, Page, Slider, escaped};
use crate::figures::counted;
use crate::foreign;
use crate::problem::Problem;
use crate::session_entry::SessionEntry;
use crate::shell::SESSIONS;

/// The most turns that are found.
const MOST: usize = 1_000;
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
    /// The prompt that it belongs to.
    prompt: u64,
    /// What it is: prompt, answer, thinking, tool call and so on.
    kind: &'static str,
    /// The text around the first match.
    excerpt: String,
}

/// The page of matches, and what the find box asks.
pub(crate) async fn find(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let (session, _) = find_session(&mut asked, &name).await?;
    let query = asked.params.get("q").unwrap_or_default().to_owned();
    if query.chars().count() > LONGEST {
        return Err(Problem::invalid(format!(
            "the text to find is too long: expected at most {LONGEST} characters"
        )));
    }
    let failed = asked.params.get("failed").is_some();
    let mut turns = Vec::new();
    let mut more = false;
    if failed || !query.is_empty() {
        let read = asked
            .annals()
            .conversation(session.id, asked.moment.at(), TurnRange::all())
            .await?;
        let mut found = read.turns.iter().filter_map(|turn| match failed {
            true => is_failure(turn).then(|| {
                FoundTurn::of(
                    turn,
                    texts(turn)
                        .first()
                        .map_or(String::new(), |text| foreign::one_line(text, 120)),
                )
            }),
            false => Some(FoundTurn::of(turn, excerpt(turn, &query)?)),
        });
        turns.extend(found.by_ref().take(MOST));
        more = found.next().is_some();
    }
    let page = Page {
        title: format!("Find in {}", session.name()),
        section: SESSIONS,
        live: Live::Never,
        slider: Slider::Positions,
        subject: Some(session.id.to_string()),
        markdown: String::new(),
        command: format!("annals show {} --at {}", session.id, asked.moment.position),
        data: FoundTurns {
            query,
            turns,
            more,
            session: Some(Box::new(session)),
        },
    };
    asked.answer(page, |found| draw(found, &asked)).await
}

impl FoundTurn {
    fn of(turn: &Turn, excerpt: String) -> FoundTurn {
        FoundTurn {
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

/// The texts of a turn.
fn texts(turn: &Turn) -> Vec<&str> {
    let text = match &turn.body {
        TurnBody::Prompt(prompt) => &prompt.text,
        TurnBody::Thinking { text }
        | TurnBody::Answer { text, .. }
        | TurnBody::Compaction { text, .. }
        | TurnBody::Interruption { text }
        | TurnBody::Error { text }
        | TurnBody::Note { text, .. }
        | TurnBody::SubAgent { title: text, .. } => text,
        TurnBody::ToolCall(call) => {
            let args = call
                .args
                .as_ref()
                .and_then(|args| args.json())
                .map(|json| json.text());
            let result = call.result.as_ref().and_then(|result| result.text.as_str());
            return [Some(call.line.what()), args, result]
                .into_iter()
                .flatten()
                .collect();
        }
        _ => return Vec::new(),
    };
    text.as_str().into_iter().collect()
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
    let address = |number: u64| {
        let from = number.saturating_sub(20).max(1);
        let mut address = asked
            .moment
            .link(&format!("{}?from={from}", session.address()));
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
            a href=(address(turn.number)) { "Turn " (turn.number) } " " span.dim { (turn.kind) ", prompt " (turn.prompt) } " "
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

//! Downloads of a conversation: Markdown, JSON, or one HTML file that needs nothing else.

use std::sync::Arc;

use annals::projections::{Conversation, Diffs, MarkdownWriter};
use annals::{Annals, TurnRange};
use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header as headers};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use tokio::runtime::Handle;

use super::costs::prompt_costs;
use super::draw::{self, Drawing};
use super::{NamedSession, diffs, digests, find, head};
use crate::answer::Asked;
use crate::assets::CSS;
use crate::blocking::blocking;
use crate::code::Colours;
use crate::diff_view::Layout;
use crate::figures::{Clock, money};
use crate::foreign;
use crate::moment::Moment;
use crate::problem::Problem;
use crate::session_entry::SessionEntry;
use crate::shown;

/// Nothing is loaded, and nothing runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/// Bytes of the diffs of one conversation in a file.
const FILE_DIFFS: usize = 256 * 1024 * 1024;
/// Characters of a title that are part of a file's name.
const NAME: usize = 40;

#[derive(Serialize)]
struct JsonExport<'a> {
    session: &'a SessionEntry,
    #[serde(flatten)]
    conversation: &'a Conversation,
}

/// Answers a download: `format` is markdown, html or json; `from` and `limit` choose turns.
///
/// A long conversation is drawn for seconds, on a thread that gives no other request a turn.
pub(crate) async fn export(asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let turn = Arc::clone(&asked.shared.files).acquire_owned().await;
    let turn = turn.map_err(|_| Problem::busy("the viewer is ending"))?;
    let runtime = Handle::current();
    // The turn ends with the work, which goes on if the client is gone.
    let work = move || {
        let _turn = turn;
        runtime.block_on(file(asked, name))
    };
    blocking("file", work).await
}

async fn file(mut asked: Asked, name: String) -> Result<Response, Problem> {
    let format = asked.params.get("format").unwrap_or("markdown").to_owned();
    let (kind, ending) = match format.as_str() {
        "markdown" => ("text/markdown; charset=utf-8", "md"),
        "html" => ("text/html; charset=utf-8", "html"),
        "json" => ("application/json", "json"),
        other => {
            let shown: String = other.chars().take(64).collect();
            return Err(Problem::invalid(format!(
                "invalid format {shown:?}: expected markdown, html or json"
            )));
        }
    };
    let range = match (asked.params.number("from")?, asked.params.number("limit")?) {
        (None, None) => TurnRange::all(),
        (from, limit) => {
            let limit = limit.map_or(usize::MAX, |limit| {
                usize::try_from(limit).unwrap_or(usize::MAX)
            });
            TurnRange::new(from.unwrap_or(1), limit)
        }
    };
    let is_part = range != TurnRange::all();
    let NamedSession { session, clock, .. } = find(&mut asked, &name).await?;
    let annals = asked.annals();
    if format == "html" {
        let body = still(annals, asked.moment, &session, clock).await?;
        let file = page(&session, &body);
        return named(file.into_response(), kind, &session, ending);
    }
    let conversation = annals
        .conversation(session.id, asked.moment.at(), range)
        .await?;
    if format == "json" {
        let export = JsonExport {
            session: &session,
            conversation: &conversation,
        };
        return named(shown::json(&export)?, kind, &session, ending);
    }
    let body = markdown(&asked, &session, &conversation, is_part).await?;
    named(body.into_response(), kind, &session, ending)
}

/// The answer as a file with a name.
fn named(
    mut response: Response,
    kind: &'static str,
    session: &SessionEntry,
    ending: &str,
) -> Result<Response, Problem> {
    let name = format!("attachment; filename=\"{}.{ending}\"", file_name(session));
    let all = response.headers_mut();
    all.insert(headers::CONTENT_TYPE, HeaderValue::from_static(kind));
    let name =
        HeaderValue::from_str(&name).map_err(|_| Problem::invalid("the file has no name"))?;
    all.insert(headers::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// A file's name: the words of the title, and the beginning of the id.
fn file_name(session: &SessionEntry) -> String {
    let mut name = String::new();
    for c in session.name().chars().take(NAME) {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => name.push(c.to_ascii_lowercase()),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    let id = session.id.simple().to_string();
    let short = id.get(24..).unwrap_or_default();
    format!("{}-{short}", name.trim_end_matches('-'))
        .trim_start_matches('-')
        .to_owned()
}

/// The conversation in Markdown, with those of its sub-agents behind it: as it was recorded, like the file of `annals export
/// markdown`. Of a part, which pages copy, hidden characters are visible escapes.
async fn markdown(
    asked: &Asked,
    session: &SessionEntry,
    conversation: &Conversation,
    is_part: bool,
) -> Result<String, Problem> {
    let mut text = String::new();
    let mut writer = MarkdownWriter::new();
    if !is_part {
        header(asked, session, conversation, &writer, &mut text).await?;
    }
    turns(asked.annals(), conversation, &mut writer, &mut text).await?;
    let sub_agents = if is_part {
        Vec::new()
    } else {
        session.all_sub_agents()
    };
    for sub_agent in sub_agents {
        let mut nested = writer.nested();
        let conversation = asked
            .annals()
            .conversation(sub_agent.id, asked.moment.at(), TurnRange::all())
            .await?;
        header(asked, sub_agent, &conversation, &nested, &mut text).await?;
        turns(asked.annals(), &conversation, &mut nested, &mut text).await?;
    }
    Ok(match is_part {
        true => annals_terminal::lines(&text).into_owned(),
        false => text,
    })
}

fn failed(_: std::fmt::Error) -> Problem {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    Problem::new(
        status,
        "markdown",
        "the conversation cannot be written as Markdown",
    )
}

async fn header(
    asked: &Asked,
    session: &SessionEntry,
    conversation: &Conversation,
    writer: &MarkdownWriter,
    text: &mut String,
) -> Result<(), Problem> {
    let summary = asked
        .annals()
        .conversations()
        .summary(session.id, asked.at())
        .await?;
    let first = conversation
        .prompts
        .first()
        .map(|prompt| prompt.beginning.as_str());
    let cost = session.micros.map(money);
    writer
        .header(&summary, first, cost.as_deref(), text)
        .map_err(failed)
}

async fn turns(
    annals: &Annals,
    conversation: &Conversation,
    writer: &mut MarkdownWriter,
    text: &mut String,
) -> Result<(), Problem> {
    for turn in &conversation.turns {
        let mut texts = Diffs::new();
        for digest in digests(std::slice::from_ref(turn)) {
            if let Some(bytes) = annals.contents().get(digest).await? {
                texts.insert(digest, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        writer.turn(turn, &texts, text).map_err(failed)?;
    }
    Ok(())
}

/// A session's conversation for a file, with those of its sub-agents behind it.
///
/// # Errors
/// [`Problem`], if a conversation cannot be read.
pub(crate) async fn still(
    annals: &Annals,
    moment: Moment,
    session: &SessionEntry,
    clock: Clock,
) -> Result<Markup, Problem> {
    let mut parts = vec![
        html! { (head::still(session, clock)) (conversation_of(annals, moment, session, clock).await?) },
    ];
    for sub_agent in session.all_sub_agents() {
        let cards = conversation_of(annals, moment, sub_agent, clock).await?;
        parts.push(html! {
            section.box.group {
                header { h2 { span.badge.agent { "sub-agent" } span { (foreign::text(&sub_agent.name())) } }
                    @if let Some(micros) = sub_agent.micros { span.num { (money(micros)) } } }
                (cards)
            }
        });
    }
    Ok(html! { @for part in &parts { (part) } })
}

/// The cards of one conversation.
async fn conversation_of(
    annals: &Annals,
    moment: Moment,
    session: &SessionEntry,
    clock: Clock,
) -> Result<Markup, Problem> {
    let conversation = annals
        .conversation(session.id, moment.at(), TurnRange::all())
        .await?;
    let costs = prompt_costs(session, &conversation.prompts, &conversation.turns);
    let mut drawing = Drawing {
        session,
        prompts: &conversation.prompts,
        costs: &costs,
        find: None,
        clock,
        moment,
        layout: Layout::Unified,
        diffs: diffs(annals, &conversation.turns, FILE_DIFFS).await?,
        colours: Colours::unlimited(),
        is_whole: true,
        is_file: true,
    };
    Ok(draw::draw(&conversation.turns, &mut drawing))
}

/// The file: its style is in it, it has no script, and it leads nowhere.
fn page(session: &SessionEntry, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (session.name()) " · annals" }
                style { (PreEscaped(CSS)) }
            }
            body { main.sessions { (body) } }
        }
    };
    shown::html(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        let of = |title: &str| {
            let mut session = crate::session_entry::sample();
            session.title = Some(title.to_owned());
            file_name(&session)
        };
        assert_eq!(of("Show VAT: per line!"), "show-vat-per-line-00000000");
        assert_eq!(of("../../etc/\"passwd\r\n"), "etc-passwd-00000000");
        assert_eq!(of("日本"), "00000000");
    }
}

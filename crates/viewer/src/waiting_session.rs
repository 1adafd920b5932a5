//! Sessions that wait for a person, each with the permission or the question that it waits for.

use annals::SessionListed;
use annals::domain::Timestamp;
use annals::projections::{CallLine, JsonText, ObjectView, SessionWait};
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answer::Asked;
use crate::figures::{Clock, since};
use crate::foreign;
use crate::inbox_count::waits;
use crate::moment::Moment;
use crate::problem::Problem;
use crate::session_entry::SessionEntry;

/// Characters of a request.
const REQUEST: usize = 120;

/// A session that waits for a person.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WaitingSession {
    /// The session.
    pub(crate) session: SessionEntry,
    /// Since when it waits; null if that is not known.
    pub(crate) since: Option<Timestamp>,
    /// The request; null if it cannot be read.
    pub(crate) request: Option<WaitingRequest>,
}

/// A request to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WaitingRequest {
    /// A tool call, in one line.
    Permission(String),
    /// A question, in the agent's words.
    Question(String),
}

/// Reads the requests of sessions.
pub(crate) async fn requests<'a>(
    asked: &Asked,
    sessions: impl IntoIterator<Item = &'a SessionListed>,
) -> Vec<WaitingSession> {
    let mut waiting = Vec::new();
    for session in sessions {
        let wait = waits(session).first().copied();
        let request = match wait {
            Some(wait) => request(asked, wait).await.unwrap_or_else(|problem| {
                tracing::debug!(problem = problem.detail, "a request was not read");
                None
            }),
            None => None,
        };
        waiting.push(WaitingSession {
            session: SessionEntry::of(session),
            since: wait.map(|wait| wait.since),
            request,
        });
    }
    waiting
}

async fn request(asked: &Asked, wait: &SessionWait) -> Result<Option<WaitingRequest>, Problem> {
    let mut reading = asked.reading();
    let found = reading.find(&wait.call.to_string()).await?;
    let ObjectView::ToolInvocation(call) = reading.view(&found).await? else {
        return Ok(None);
    };
    let (tool, args) = call.judged();
    let args = args.and_then(JsonText::json).map(|args| args.text());
    Ok(match (wait.is_question, args) {
        (true, args) => args.and_then(question).map(WaitingRequest::Question),
        (false, args) => {
            let line = CallLine::new(tool.as_str().unwrap_or("removed"), args).to_string();
            Some(WaitingRequest::Permission(foreign::one_line(
                &line, REQUEST,
            )))
        }
    })
}

/// The first question in a tool call's arguments.
fn question(args: &str) -> Option<String> {
    let args: Value = serde_json::from_str(args).ok()?;
    let first = args.get("questions").and_then(|all| all.get(0));
    let asked = first.unwrap_or(&args).get("question")?.as_str()?;
    let asked = foreign::one_line(asked, REQUEST);
    (!asked.is_empty()).then_some(asked)
}

/// Draws a waiting session as an entry of a list.
pub(crate) fn draw(waiting: &WaitingSession, moment: Moment, clock: Clock) -> Markup {
    html! {
        li {
            a href=(moment.link(&waiting.session.address())) title=(waiting.session.name()) dir="auto" { (words(waiting)) }
            span.dim.num { @if let Some(at) = waiting.since { (since(clock.now(), at)) } }
        }
    }
}

/// The request, or the session's title if there is none.
pub(crate) fn words(waiting: &WaitingSession) -> Markup {
    html! { @match &waiting.request {
        Some(WaitingRequest::Permission(call)) => { "Allow " code { (foreign::text(call)) } "?" }
        Some(WaitingRequest::Question(asked)) => { (foreign::text(asked)) }
        None => { (foreign::text(&waiting.session.name())) }
    } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_question_is_read() {
        for (args, expected) in [
            (
                r#"{"questions":[{"question":"Which\nindex?"},{"question":"Why?"}]}"#,
                Some("Which index?"),
            ),
            (r#"{"question":"Which index?"}"#, Some("Which index?")),
            (r#"{"questions":[]}"#, None),
            (r#"{"question":""}"#, None),
            ("no json", None),
        ] {
            assert_eq!(question(args).as_deref(), expected, "{args}");
        }
    }
}

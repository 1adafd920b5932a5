//! A conversation as JSON, written turn by turn: `{"session":…,"turns":[…]}`.
//!
//! A turn that started a sub-agent's session has the member `conversation`, which has the same two members. A sub-agent's
//! session that no turn started is a turn of kind `sub_agent` behind the others.
//!
//! The members of the session's task come first, so that programs which read a task find it. Its description is left out:
//! the first prompt has that text.

use annals::projections::Turn;
use annals::{SessionListed, SessionQuery};
use serde_json::json;
use uuid::Uuid;

use super::walk::{Step, Walk};
use crate::commands::ls::SessionJson;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;

/// Prints a session with all of its turns.
pub(super) async fn run(walk: &mut Walk<'_>, context: &mut Context) -> Result<(), CliError> {
    let mut writer = ConversationJson {
        output: &mut context.output,
        levels: Vec::new(),
    };
    let task = walk.task().await?;
    writer.begin(Some(walk.top()), &task)?;
    while let Some(step) = walk.next().await? {
        match step {
            Step::Turn(turn) => writer.turn(&turn)?,
            Step::SubAgent {
                session,
                is_of_turn,
            } => {
                writer.sub_agent(session, is_of_turn)?;
                writer.begin(walk.listed(session), "")?;
            }
            Step::End => writer.end()?,
        }
    }
    writer.output.raw(b"\n")
}

/// Prints a session with one of its turns.
pub(super) fn one(walk: &Walk<'_>, turn: &Turn, context: &mut Context) -> Result<(), CliError> {
    let value = json!({ "session": session(Some(walk.top()))?, "turns": [turn] });
    context.output.json(&value)
}

/// A session as `annals ls --json` prints it.
pub(super) fn session(listed: Option<&SessionListed>) -> Result<serde_json::Value, CliError> {
    let query = SessionQuery::default();
    let session = listed.map(|listed| SessionJson::of(listed, &query));
    serde_json::to_value(session).map_err(CliError::json)
}

struct ConversationJson<'o> {
    output: &'o mut Output,
    levels: Vec<Level>,
}

/// A session whose turns are being written.
#[derive(Default)]
struct Level {
    has_turns: bool,
    /// The last turn's object is not closed.
    is_open: bool,
}

impl ConversationJson<'_> {
    /// Begins a session's object: with `members`, which end with a comma, before its own.
    fn begin(&mut self, listed: Option<&SessionListed>, members: &str) -> Result<(), CliError> {
        let session = serde_json::to_string(&session(listed)?).map_err(CliError::json)?;
        self.levels.push(Level::default());
        self.output
            .json_text(&format!("{{{members}\"session\":{session},\"turns\":["))
    }

    fn turn(&mut self, turn: &Turn) -> Result<(), CliError> {
        let text = serde_json::to_string(turn).map_err(CliError::json)?;
        self.object(&text)
    }

    /// Writes an object but for its end, behind the one before.
    fn object(&mut self, text: &str) -> Result<(), CliError> {
        let Some(level) = self.levels.last_mut() else {
            return Ok(());
        };
        let before = match (level.has_turns, level.is_open) {
            (true, true) => "},",
            (true, false) => ",",
            (false, _) => "",
        };
        (level.has_turns, level.is_open) = (true, true);
        let text = text.strip_suffix('}').unwrap_or(text);
        self.output.json_text(&format!("{before}{text}"))
    }

    fn sub_agent(&mut self, session: Uuid, is_of_turn: bool) -> Result<(), CliError> {
        if !is_of_turn {
            self.object(&json!({ "kind": "sub_agent", "session": session }).to_string())?;
        }
        self.output.json_text(",\"conversation\":")
    }

    fn end(&mut self) -> Result<(), CliError> {
        let level = self.levels.pop();
        let end = match level.is_some_and(|level| level.is_open) {
            true => "}]}",
            false => "]}",
        };
        self.output.json_text(end)
    }
}

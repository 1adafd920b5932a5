//! One event that an agent told by a hook: what it says, by the agent's table of events.
//!
//! Everything that a hook says is kept. What a table knows gets its place: prompts become intents, calls get their
//! life, and the rest is evidence of the run, with all of the hook's JSON as its report. An event or a field that no
//! table knows is kept in the same way, and named.

mod agent;
mod answer;
mod asked;
mod call;
mod claude;
mod codex;
mod cursor;
mod fields;
mod gemini;
mod table;

use annals::domain::Timestamp;
use annals_dialects::import::RedactedText;
use annals_dialects::live::{self, Around, CallStep, LiveAgent, Telling, Told};
use annals_dialects::secrets::Secrets;
use uuid::Uuid;

pub use self::agent::HookAgent;
pub use self::asked::{Asked, Surroundings};
use self::fields::Fields;
use self::table::{Event, Means};
use crate::gate::Ruling;

/// The most bytes of a hook that are read; what is beyond is cut off, and said so.
pub const LARGEST: usize = 15 * 1024 * 1024;

/// The session of hooks that name none.
const NO_SESSION: &str = "(no session)";

/// One event, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Whose it is.
    pub agent: HookAgent,
    /// What tells it from all others: it is recorded once under this id.
    pub id: Uuid,
    /// When it was received.
    pub received: Timestamp,
    /// How many bytes were left out at its end.
    pub left_out: u64,
    /// What the gate says of the call that it asks for.
    pub ruling: Option<Ruling>,
    text: RedactedText,
}

impl Hook {
    /// A hook as it came: at most [`LARGEST`] bytes of it, and how many there were beyond.
    pub fn new(
        agent: HookAgent,
        (id, received): (Uuid, Timestamp),
        bytes: Vec<u8>,
        left_out: u64,
        secrets: &Secrets,
    ) -> Hook {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let read = RedactedText::json(text.clone().into_bytes(), secrets);
        let text = match read {
            Ok((text, _)) if text.is_json() => text.whole_characters(),
            // What is no JSON is recorded as the text that it is, and looked through as such.
            _ => RedactedText::plain(&text, secrets).0,
        };
        Hook {
            agent,
            id,
            received,
            left_out,
            ruling: None,
            text,
        }
    }

    /// The same with what the gate says of the call that it asks for.
    #[must_use]
    pub fn with_ruling(self, ruling: Option<Ruling>) -> Hook {
        Hook { ruling, ..self }
    }

    /// Its text without its secrets.
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// The name of its session, and of its event, as far as they can be read.
    pub fn names(&self) -> (Option<String>, Option<String>) {
        let dialect = self.agent.dialect();
        let fields = Fields::read(self.text()).ok();
        let session = fields.as_ref().and_then(|it| it.first(dialect.session));
        (session, fields.and_then(|it| it.first(dialect.event)))
    }

    /// What it tells.
    pub fn telling(&self) -> Telling {
        match Fields::read(self.text()) {
            Ok(fields) => self.read(&fields),
            Err(reason) => self.malformed(&reason),
        }
    }

    /// The agent that its ids follow from.
    pub fn live_agent(&self) -> Option<LiveAgent> {
        live::agent(self.agent.key())
    }

    fn read(&self, fields: &Fields<'_>) -> Telling {
        let dialect = self.agent.dialect();
        let named = fields.first(dialect.event);
        let known = named.as_deref().and_then(|name| dialect.find(name));
        let session = fields.first(dialect.session);
        let name = named.as_deref().unwrap_or("(unnamed)");
        let told = self.told(fields, name, known, session.is_some());
        let is_placed = !matches!(told, Told::Around(_));
        let mut telling = Telling::new(
            session.clone().unwrap_or_else(|| NO_SESSION.to_owned()),
            self.id.to_string(),
            self.received,
            told,
        );
        // What has a place keeps what it has no place for beside it.
        let asks = known.is_some_and(|event| event.means == Means::Asked);
        let unknown =
            known.is_some_and(|event| !fields.unknown(dialect.common, event.fields).is_empty());
        if is_placed && (asks || unknown || self.left_out > 0) {
            telling.beside = Some(self.around(fields, name, known, session.is_some()));
        }
        if let (Some(ruling), false) = (&self.ruling, is_placed) {
            let tool = fields.first(&["tool_name"]);
            telling.beside = Some(ruling.evidence(tool.as_deref().unwrap_or(name)));
        }
        telling.side = fields.first(dialect.side);
        telling.cwd = fields.first(dialect.cwd);
        telling.version = fields.first(dialect.version);
        telling.model = fields.first(dialect.model);
        telling.title = match (&session, &telling.side) {
            (None, _) => Some(format!(
                "Hooks of {} that name no session",
                self.agent.title()
            )),
            (Some(_), Some(_)) => fields.first(&["agent_type", "subagent_type"]),
            (Some(_), None) => known
                .filter(|event| event.means == Means::Prompt)
                .and_then(|event| fields.first(event.says)),
        };
        telling
    }

    fn told(
        &self,
        fields: &Fields<'_>,
        name: &str,
        known: Option<&'static Event>,
        has_session: bool,
    ) -> Told {
        let placed = known.filter(|_| has_session).and_then(|event| {
            if event.means == Means::Prompt {
                let (id, text) = (self.prompt_id(fields)?, fields.first(event.says)?);
                return Some(Told::Prompt { id, text });
            }
            let mut call = call::told(self.agent.dialect(), event.means, fields)?;
            if let Some(ruling) = &self.ruling {
                let mode = fields.first(&["permission_mode"]);
                call.steps.push(CallStep::Decided(ruling.decided(mode)));
            }
            Some(Told::Call(call))
        });
        placed.unwrap_or_else(|| Told::Around(self.around(fields, name, known, has_session)))
    }

    /// All of it, as evidence.
    fn around(
        &self,
        fields: &Fields<'_>,
        name: &str,
        known: Option<&'static Event>,
        has_session: bool,
    ) -> Around {
        let dialect = self.agent.dialect();
        let unknown = known.map(|event| fields.unknown(dialect.common, event.fields));
        let said = known.and_then(|event| fields.shown(event.says));
        let summary = match unknown {
            None => Some(format!("unknown event {name}")),
            Some(unknown) if unknown.is_empty() => said,
            Some(unknown) => {
                let names = unknown.join(", ");
                let said = said.map(|said| format!("{said} ")).unwrap_or_default();
                Some(format!("{said}(unknown fields: {names})"))
            }
        };
        let tool = known
            .filter(|event| event.means.is_of_tool())
            .and_then(|_| fields.first(&["tool_name"]));
        Around {
            kind: known.map_or("hook", Event::kind).to_owned(),
            tool: tool.unwrap_or_else(|| name.to_owned()),
            is_by_person: false,
            summary: self.cut(summary),
            report: Some(self.text.clone()),
            begins: !has_session || known.is_some_and(|event| event.means.begins()),
        }
    }

    /// The prompt's name, one among all of its agent's.
    fn prompt_id(&self, fields: &Fields<'_>) -> Option<String> {
        let dialect = self.agent.dialect();
        let id = fields.first(dialect.prompt)?;
        if !dialect.prompt_is_of_session {
            return Some(id);
        }
        let session = fields.first(dialect.session)?;
        Some(format!("{session}/{id}"))
    }

    /// What is not an object of JSON.
    fn malformed(&self, reason: &str) -> Telling {
        let told = Told::Around(Around {
            kind: "hook".to_owned(),
            tool: "(malformed)".to_owned(),
            is_by_person: false,
            summary: self.cut(Some(reason.to_owned())),
            report: Some(self.text.clone()),
            begins: true,
        });
        let mut telling = Telling::new(NO_SESSION, self.id.to_string(), self.received, told);
        telling.title = Some(format!(
            "Hooks of {} that name no session",
            self.agent.title()
        ));
        telling
    }

    /// A summary that says what was left out.
    fn cut(&self, summary: Option<String>) -> Option<String> {
        match self.left_out {
            0 => summary,
            bytes => {
                let said = summary.map(|said| format!("; {said}")).unwrap_or_default();
                Some(format!("{bytes} bytes at its end were left out{said}"))
            }
        }
    }
}

#[cfg(test)]
mod tests;

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
mod outline;
mod table;
mod unreadable;

use annals::domain::{Timestamp, cut};
use annals_dialects::import::RedactedText;
use annals_dialects::live::{self, Around, CallStep, LiveAgent, Telling, Told};
use annals_dialects::secrets::Secrets;
use uuid::Uuid;

pub use self::agent::HookAgent;
pub(crate) use self::asked::subject;
pub use self::asked::{Asked, Surroundings};
use self::fields::Fields;
pub(crate) use self::outline::Outline;
use self::table::Event;
pub(crate) use self::table::Means;
pub use self::unreadable::UnreadableHook;
use crate::gate::Ruling;
use crate::settings::Settings;

/// The most bytes of a hook that are kept, 15 MiB; what is beyond is left out, and the event is recorded as too large.
pub const LARGEST: usize = 15 * 1024 * 1024;

/// So many bytes beyond [`LARGEST`] are searched for secrets and not kept: a secret that the limit would cut in two is
/// still whole when it is looked for.
pub(crate) const SEARCHED_BEYOND: usize = 64 * 1024;

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
    /// What the agent's settings say of that call.
    pub settings: Option<Settings>,
    /// The log that was there when it was received.
    pub log: Option<Uuid>,
    text: RedactedText,
    /// The short fields of one that is too large to be read.
    outline: Option<RedactedText>,
}

impl Hook {
    /// A hook as it came, as [`crate::Input`] reads it, and how many bytes there were beyond [`LARGEST`]. Of one that is
    /// larger, `bytes` may have some that are not kept: they are only searched.
    pub fn new(
        agent: HookAgent,
        (id, received): (Uuid, Timestamp),
        bytes: Vec<u8>,
        left_out: u64,
        secrets: &Secrets,
    ) -> Hook {
        let beyond = match left_out {
            0 => 0,
            _ => bytes.len().saturating_sub(LARGEST),
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let read = RedactedText::json(text.clone().into_bytes(), secrets);
        let text = match read {
            Ok((text, _)) if text.is_json() => text.whole_characters(),
            // What is no JSON is recorded as the text that it is, and looked through as such.
            _ => RedactedText::plain(&text, secrets).0,
        };
        let text = match beyond {
            0 => text,
            // A marker may be longer than its secret.
            _ => text.part(|text| cut(text, text.len().saturating_sub(beyond).min(LARGEST))),
        };
        let outline = (left_out > 0)
            .then(|| Outline::of(text.as_bytes()))
            .flatten();
        let outline = outline.and_then(|it| RedactedText::json(it, secrets).ok());
        Hook {
            agent,
            id,
            received,
            left_out,
            ruling: None,
            settings: None,
            log: None,
            text,
            outline: outline.map(|(text, _)| text.whole_characters()),
        }
    }

    /// The same with what the gate says of the call that it asks for.
    #[must_use]
    pub fn with_ruling(self, ruling: Option<Ruling>) -> Hook {
        Hook { ruling, ..self }
    }

    /// The same with what the agent's settings say of the call that it asks for.
    #[must_use]
    pub fn with_settings(self, settings: Option<Settings>) -> Hook {
        Hook { settings, ..self }
    }

    /// The same with the log that was there when it was received: no other one gets it.
    #[must_use]
    pub fn with_log(self, log: Option<Uuid>) -> Hook {
        Hook { log, ..self }
    }

    /// Its text without its secrets.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of its session, and of its event, as far as they can be read.
    pub fn names(&self) -> (Option<String>, Option<String>) {
        let dialect = self.agent.dialect();
        let fields = Fields::read(self.outline.as_ref().unwrap_or(&self.text)).ok();
        let first = |names| fields.as_ref().and_then(|it| it.first(names));
        let named = [dialect.session, dialect.event].map(first);
        let [session, event] = named.map(|name| name.map(|name| name.to_string()));
        (session, event)
    }

    /// What it tells.
    pub fn telling(&self) -> Telling {
        match Fields::read(&self.text) {
            Ok(fields) => self.read(&fields),
            Err(_) if self.left_out > 0 => self.too_large(),
            Err(reason) => self.malformed(reason),
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
        let name = &named.clone().unwrap_or_else(|| "(unnamed)".into());
        let told = self.told(fields, name, known, session.is_some());
        let is_placed = !matches!(told, Told::Around(_));
        let mut telling = Telling::new(
            session.clone().unwrap_or_else(|| NO_SESSION.into()),
            self.id,
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
            telling.beside = Some(ruling.evidence(tool.as_ref().unwrap_or(name)));
        }
        self.describe(fields, &mut telling);
        telling
    }

    /// Says of what an event tells whose it is.
    fn describe(&self, fields: &Fields<'_>, telling: &mut Telling) {
        let dialect = self.agent.dialect();
        let named = fields.first(dialect.event);
        let known = named.and_then(|name| dialect.find(&name));
        let session = fields.first(dialect.session);
        telling.side = self.side(fields);
        telling.cwd = fields.first(dialect.cwd);
        telling.version = fields.first(dialect.version);
        telling.model = fields.first(dialect.model);
        telling.title = match (&session, &telling.side) {
            (None, _) => Some(self.of_no_session()),
            (Some(_), Some(_)) => fields.first(&["agent_type", "subagent_type"]),
            (Some(_), None) => known
                .filter(|event| event.means == Means::Prompt)
                .and_then(|event| self.asked(fields, event)),
        };
    }

    /// The side chain that an event is of. Claude Code summarises a conversation with an agent whose type has no name:
    /// that is no sub-agent.
    fn side(&self, fields: &Fields<'_>) -> Option<RedactedText> {
        let is_nameless = fields
            .json("agent_type")
            .is_some_and(|name| &*name == "\"\"");
        fields
            .first(self.agent.dialect().side)
            .filter(|_| !is_nameless)
    }

    /// What a person asked for with a prompt.
    fn asked(&self, fields: &Fields<'_>, event: &Event) -> Option<RedactedText> {
        fields
            .first(event.says)
            .filter(|text| !self.is_by_program(text))
    }

    /// Whether the program itself wrote a prompt, as Claude Code does when a task in the background has ended.
    fn is_by_program(&self, prompt: &str) -> bool {
        self.live_agent()
            .is_some_and(|agent| agent.is_by_program(prompt))
    }

    fn told(
        &self,
        fields: &Fields<'_>,
        name: &RedactedText,
        known: Option<&'static Event>,
        has_session: bool,
    ) -> Told {
        let placed = known.filter(|_| has_session).and_then(|event| {
            if event.means == Means::Prompt {
                let (id, text) = (self.prompt_id(fields)?, self.asked(fields, event)?);
                return Some(Told::Prompt { id, text });
            }
            let mut call = call::told(self.agent.dialect(), event.means, fields)?;
            let mode = fields.first(&["permission_mode"]);
            if let Some(settings) = &self.settings {
                settings.add(event.means, mode.clone(), &mut call.steps);
            }
            if let Some(ruling) = &self.ruling {
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
        name: &RedactedText,
        known: Option<&'static Event>,
        has_session: bool,
    ) -> Around {
        let dialect = self.agent.dialect();
        let unknown = known.map(|event| fields.unknown(dialect.common, event.fields));
        let said = known.and_then(|event| fields.shown(event.says));
        let summary = match unknown {
            None => Some(said_of("unknown event ", name, "")),
            Some(unknown) if unknown.is_empty() => said,
            Some(unknown) => {
                let names = RedactedText::joined(&unknown, ", ");
                let unknown = said_of("(unknown fields: ", &names, ")");
                let all: Vec<RedactedText> = said.into_iter().chain([unknown]).collect();
                Some(RedactedText::joined(&all, " "))
            }
        };
        let tool = known
            .filter(|event| event.means.is_of_tool())
            .and_then(|_| fields.first(&["tool_name"]));
        let prompt = known.filter(|event| event.means == Means::Prompt);
        let prompt = prompt.and_then(|event| fields.first(event.says));
        let is_by_program = prompt.is_some_and(|text| self.is_by_program(&text));
        Around {
            kind: match is_by_program {
                true => "notification",
                false => known.map_or("hook", Event::kind),
            },
            tool: tool.unwrap_or_else(|| name.clone()),
            is_by_person: false,
            summary: self.cut(summary),
            report: Some(self.text.clone()),
            begins: !has_session || known.is_some_and(|event| event.means.begins()),
        }
    }

    /// The prompt's name, one among all of its agent's.
    fn prompt_id(&self, fields: &Fields<'_>) -> Option<RedactedText> {
        let dialect = self.agent.dialect();
        let id = fields.first(dialect.prompt)?;
        if !dialect.prompt_is_of_session {
            return Some(id);
        }
        let session = fields.first(dialect.session)?;
        Some(RedactedText::joined(&[session, id], "/"))
    }

    /// What is not whole, since it is larger than what is kept: evidence of its session, which names the event and counts
    /// what was left out.
    fn too_large(&self) -> Telling {
        let fields = self.outline.as_ref().map(Fields::read);
        let fields = fields.and_then(Result::ok);
        let dialect = self.agent.dialect();
        let first = |names: &[&str]| fields.as_ref().and_then(|it| it.first(names));
        let (session, event) = (first(dialect.session), first(dialect.event));
        let name = event.unwrap_or_else(|| "an event without a name".into());
        let of_tool = match first(&["tool_name"]) {
            Some(tool) => said_of(" of ", &tool, ""),
            None => "".into(),
        };
        let most = said_of(
            " is too large: at most ",
            &RedactedText::from(LARGEST as u64),
            " bytes of an event are kept, and ",
        );
        let left_out = said_of("", &self.left_out.into(), " bytes at its end were left out");
        let about = RedactedText::joined(&[name, of_tool, most, left_out], "");
        let told = Told::Around(Around {
            kind: "hook",
            tool: "(too large)".into(),
            is_by_person: false,
            summary: Some(about),
            report: Some(self.text.clone()),
            begins: session.is_none(),
        });
        let of_session = session.unwrap_or_else(|| NO_SESSION.into());
        let mut telling = Telling::new(of_session, self.id, self.received, told);
        match &fields {
            Some(fields) => self.describe(fields, &mut telling),
            None => telling.title = Some(self.of_no_session()),
        }
        telling
    }

    /// What is not an object of JSON.
    fn malformed(&self, reason: RedactedText) -> Telling {
        let told = Told::Around(Around {
            kind: "hook",
            tool: "(malformed)".into(),
            is_by_person: false,
            summary: self.cut(Some(reason)),
            report: Some(self.text.clone()),
            begins: true,
        });
        let mut telling = Telling::new(NO_SESSION, self.id, self.received, told);
        telling.title = Some(self.of_no_session());
        telling
    }

    fn of_no_session(&self) -> RedactedText {
        let title = self.agent.title().into();
        said_of("Hooks of ", &title, " that name no session")
    }

    /// A summary that says what was left out.
    fn cut(&self, summary: Option<RedactedText>) -> Option<RedactedText> {
        if self.left_out == 0 {
            return summary;
        }
        let left_out = self.left_out.into();
        let left_out = said_of("", &left_out, " bytes at its end were left out");
        let all: Vec<RedactedText> = [left_out].into_iter().chain(summary).collect();
        Some(RedactedText::joined(&all, "; "))
    }
}

/// A text between what this program says of it.
fn said_of(before: &'static str, text: &RedactedText, after: &'static str) -> RedactedText {
    RedactedText::joined(&[before.into(), text.clone(), after.into()], "")
}

#[cfg(test)]
mod tests;

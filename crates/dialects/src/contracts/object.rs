//! One object of a session's stream or of its log of commands.

use annals_domain::session::CommandKind;
use annals_domain::{Json, SessionId};
use uuid::Uuid;

use super::command::ContractCommand;
use super::core_type::{Parsed, fields, unmarked};
use super::error::{ContractsError, PropertyProblem};
use super::event::ContractEvent;
use super::fields::{Fields, Read, Tally};
use super::writing::{Style, to_text};

/// The most bytes of an unknown kind's name: it is stored where a fold needs it.
const MAX_KIND: usize = 200;

/// One object of Contracts v1.1: a command or an event, by its `kind`.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "made once and passed on")]
pub enum Object {
    /// A command.
    Command(ContractCommand),
    /// An event.
    Event(ContractEvent),
    /// An object of a kind that is not known.
    Foreign(Foreign),
}

/// An object of a kind that is not known. It is kept as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// What it calls itself.
    pub kind: String,
    /// The object's own text.
    pub raw: Json,
}

impl Object {
    /// Reads an object from its JSON.
    ///
    /// ```
    /// use annals_dialects::contracts::{Object, Style};
    /// let text = r#"{"Kind":"LinkPlanNode","planNodeId":"n1",
    ///   "id":"0F8FAD5B-D9CB-469F-A165-70867728950E",
    ///   "correlation":{"sessionId":"7c9e6679-7425-40de-944b-e07fc1f90ae7","commandId":null}}"#;
    /// let object = Object::read(text)?.value;
    /// assert_eq!(
    ///     object.write(Style::Compact)?,
    ///     r#"{"planNodeId":"n1","id":"0f8fad5b-d9cb-469f-a165-70867728950e","#.to_owned()
    ///         + r#""correlation":{"sessionId":"7c9e6679-7425-40de-944b-e07fc1f90ae7"},"#
    ///         + r#""kind":"LinkPlanNode"}"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ContractsError`], naming the property.
    pub fn read(text: &str) -> Result<Parsed<Object>, ContractsError> {
        Parsed::counted(|tally| Object::read_counted(text, tally))
    }

    /// The same, for a reader of many objects who counts all their properties.
    pub(crate) fn read_counted(text: &str, tally: &Tally) -> Read<Object> {
        let text = unmarked(text);
        let mut fields = fields(text, tally)?;
        let kind = fields.text("kind")?;
        let object = if let Ok(kind) = kind.parse::<CommandKind>() {
            Object::Command(ContractCommand::read(kind, &mut fields)?)
        } else if let Some(event) = ContractEvent::read(&kind, &mut fields)? {
            Object::Event(event)
        } else {
            // All its properties are kept, so none is counted as unknown.
            return foreign(kind, text, &fields);
        };
        fields.end();
        Ok(object)
    }

    /// Writes the object as JSON. One of an unknown kind is written as it came,
    /// but for its line breaks in the compact form, where it has to be one line.
    ///
    /// # Errors
    /// serde_json's; no object gives one.
    pub fn write(&self, style: Style) -> Result<String, serde_json::Error> {
        match self {
            Object::Command(command) => to_text(command, style),
            Object::Event(event) => to_text(event, style),
            Object::Foreign(Foreign { raw, .. }) => Ok(match style {
                Style::Compact if raw.text().contains(['\n', '\r']) => one_line(raw.text()),
                Style::Compact | Style::Pretty => raw.text().to_owned(),
            }),
        }
    }

    /// The object's kind.
    pub fn kind(&self) -> &str {
        match self {
            Object::Command(command) => command.body.kind().as_str(),
            Object::Event(event) => event.body.kind(),
            Object::Foreign(foreign) => &foreign.kind,
        }
    }

    /// The object's id. One of an unknown kind may have none that can be read.
    pub fn id(&self) -> Option<Uuid> {
        match self {
            Object::Command(command) => Some(command.id.0),
            Object::Event(event) => Some(event.id),
            Object::Foreign(foreign) => foreign.look(|fields| fields.guid("id")),
        }
    }

    /// The session that the object is of. One of an unknown kind may not say it.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Object::Command(command) => Some(command.correlation.session),
            Object::Event(event) => Some(event.correlation.session),
            Object::Foreign(foreign) => foreign.look(|fields| {
                fields.object("correlation", |correlation| correlation.guid("sessionId"))
            }),
        }
    }
}

/// The id of an object, as far as its text has one that can be read.
pub(super) fn id_of(text: &str) -> Option<Uuid> {
    let tally = Tally::default();
    fields(unmarked(text), &tally).ok()?.guid("id").ok()
}

fn foreign(kind: String, text: &str, fields: &Fields<'_>) -> Read<Object> {
    if kind.trim().is_empty() {
        return Err(fields.wrong("kind", PropertyProblem::Blank));
    }
    if kind.len() > MAX_KIND {
        let problem = PropertyProblem::TooLong {
            bytes: kind.len(),
            limit: MAX_KIND,
        };
        return Err(fields.wrong("kind", problem));
    }
    let raw = Json::parse(text).map_err(|error| ContractsError::Syntax {
        reason: error.to_string(),
    })?;
    Ok(Object::Foreign(Foreign { kind, raw }))
}

impl Foreign {
    /// Looks for something that it may say as the others do.
    fn look<T>(&self, read: impl FnOnce(&mut Fields<'_>) -> Read<T>) -> Option<T> {
        let tally = Tally::default();
        let mut fields = Fields::of(self.raw.text(), &tally).ok()?;
        read(&mut fields).ok()
    }
}

/// A JSON text without its line breaks. Within a string there can be none.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_of_an_object_are_left_out() {
        assert_eq!(
            one_line("{\r\n  \"a b\": [\n    1,\n    2\n  ]\n}"),
            "{\"a b\": [1,2]}"
        );
        assert_eq!(one_line("{\"a\":\r1}"), "{\"a\":1}");
    }
}

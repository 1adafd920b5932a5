//! One line of `apply`: the command's fields, and what comes with every command.

use annals::Request;
use annals::domain::{Command, CommandError, Ordered, Pairs};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::input::MAX_LINE;
use crate::error::{CliError, ErrorClass, SaidError};

/// A line that is a command.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) request: Request,
}

/// A line that is not a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    pub(super) code: &'static str,
    pub(super) message: String,
    /// Where in the line, from 1, if that is known.
    pub(super) column: Option<usize>,
}

impl BadLine {
    /// What is wrong as an answer has it.
    pub(super) fn said(self) -> SaidError {
        let class = match self.code {
            "unknown_command" => ErrorClass::NotFound,
            _ => ErrorClass::Invalid,
        };
        let error = CliError::new(class, self.code, self.message);
        error.said().at(self.column)
    }

    fn invalid(message: impl Into<String>) -> BadLine {
        BadLine {
            code: "invalid",
            message: message.into(),
            column: None,
        }
    }

    pub(super) fn too_long() -> BadLine {
        let message = format!("the line has more than {MAX_LINE} bytes; split the command up");
        BadLine {
            code: "too_large",
            message,
            column: None,
        }
    }
}

/// A line's fields in their order.
type Fields = Pairs<Box<RawValue>>;

/// Reads a line.
pub(super) fn parse(line: &[u8]) -> Result<Parsed, BadLine> {
    let mut fields: Fields = serde_json::from_slice(line).map_err(|error| not_json(&error))?;
    // Whichever were taken, the other one would be lost silently.
    if let Some(name) = fields.twice() {
        return Err(BadLine::invalid(format!(
            "duplicate field {name:?}; a line is one JSON object, {EXAMPLE}"
        )));
    }
    let example = r#"a command's name, such as "create_intent"; `annals service commands --list` names them all"#;
    let name: String = required(&mut fields, "command", example)?;
    let actor = required(
        &mut fields,
        "actor",
        r#"such as {"kind":"agent","id":"coder"}"#,
    )?;
    let at = optional(&mut fields, "at", "a time such as \"2026-01-31T12:00:00Z\"")?;
    let key = optional(&mut fields, "key", "a UUID")?;
    let correlation = optional(&mut fields, "correlation", "a UUID")?;
    let causation = optional(&mut fields, "causation", "a UUID")?;
    let rest = serde_json::to_string(&Ordered(fields.0));
    let rest = rest.map_err(|error| BadLine::invalid(error.to_string()))?;
    let command = Command::from_json(&name, &rest).map_err(bad_command)?;
    let mut request = Request::new(actor, command);
    request.at = at;
    request.key = key;
    request.correlation = correlation;
    request.causation = causation;
    Ok(Parsed { request })
}

fn not_json(error: &serde_json::Error) -> BadLine {
    if error.is_data() {
        let what = without_place(error);
        return BadLine::invalid(format!("{what}; a line is one JSON object, {EXAMPLE}"));
    }
    let column = error.column();
    let what = without_place(error);
    BadLine {
        code: "not_json",
        message: format!(
            "not JSON: {what} at column {column}; a line is one JSON object, {EXAMPLE}"
        ),
        column: Some(column),
    }
}

const EXAMPLE: &str = r#"such as {"command":"create_intent","actor":{"kind":"human","id":"ada"},"prompt":"add a cache"}"#;

fn bad_command(error: CommandError) -> BadLine {
    match error {
        CommandError::UnknownName { .. } => BadLine {
            code: "unknown_command",
            message: error.to_string(),
            column: None,
        },
        // Its column counts in the fields alone, and would mislead.
        CommandError::Fields { name, path, source } => {
            let what = without_place(&source);
            let at = if path.is_empty() {
                String::new()
            } else {
                format!("{path}: ")
            };
            BadLine::invalid(format!(
                "{name}: {at}{what}; `annals service commands {name}` shows its fields"
            ))
        }
        error => BadLine::invalid(error.to_string()),
    }
}

fn required<T: DeserializeOwned>(
    fields: &mut Fields,
    name: &str,
    expected: &str,
) -> Result<T, BadLine> {
    optional(fields, name, expected)?
        .ok_or_else(|| BadLine::invalid(format!("the line has no {name:?}: give it, {expected}")))
}

/// Takes a field out; null is as good as none.
fn optional<T: DeserializeOwned>(
    fields: &mut Fields,
    name: &str,
    expected: &str,
) -> Result<Option<T>, BadLine> {
    let Some(place) = fields.0.iter().position(|(field, _)| field == name) else {
        return Ok(None);
    };
    let (_, value) = fields.0.remove(place);
    serde_json::from_str(value.get()).map_err(|error| {
        BadLine::invalid(format!(
            "{name}: {}; expected {expected}",
            without_place(&error)
        ))
    })
}

/// What serde_json says, but for the line and column, which count in another
/// text than the caller's.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => what.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn bad(line: &str) -> (&'static str, String, Option<usize>) {
        let BadLine {
            code,
            message,
            column,
        } = parse(line.as_bytes()).unwrap_err();
        (code, message, column)
    }

    #[test]
    fn a_line_is_taken_apart() {
        let line = r#"{"prompt":"p","command":"create_intent","at":"2026-01-02T03:04:05Z",
            "key":"00000000-0000-0000-0000-000000000007","correlation":null,
            "actor":{"kind":"robot","id":"r","display_name":"R"}}"#;
        let request = parse(line.as_bytes()).unwrap().request;
        assert_eq!(request.command.name(), "create_intent");
        assert_eq!(request.actor.kind.as_str(), "robot");
        assert_eq!(request.actor.display_name.as_deref(), Some("R"));
        assert!(request.at.is_some() && request.key.is_some());
        assert!(request.correlation.is_none() && request.causation.is_none());
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        let actor = r#""actor":{"kind":"human","id":"a"}"#;
        for (line, code, says) in [
            ("nonsense", "not_json", "column 2"),
            (r#"{"command":"#, "not_json", "one JSON object, such as"),
            ("[1]", "invalid", "a JSON object"),
            (
                r#"{"key":1,"key":2}"#,
                "invalid",
                r#"duplicate field "key""#,
            ),
            ("{}", "invalid", r#"has no "command""#),
            (r#"{"command":7}"#, "invalid", "command: invalid type"),
            (
                r#"{"command":"create_intent"}"#,
                "invalid",
                r#"has no "actor""#,
            ),
            (
                r#"{"command":"create_intent","actor":{"kind":"human"}}"#,
                "invalid",
                "missing field `id`",
            ),
            (
                &format!(r#"{{"command":"push_fame",{actor}}}"#),
                "unknown_command",
                "push_frame",
            ),
            (
                &format!(r#"{{"command":"create_intent",{actor}}}"#),
                "invalid",
                "missing field `prompt`",
            ),
            (
                &format!(r#"{{"command":"create_intent",{actor},"prompt":"p","colour":1}}"#),
                "invalid",
                "unknown field `colour`",
            ),
            (
                &format!(r#"{{"command":"create_intent",{actor},"prompt":5}}"#),
                "invalid",
                "a string",
            ),
            (
                &format!(r#"{{"command":"create_intent",{actor},"at":"now"}}"#),
                "invalid",
                "2026-01-31",
            ),
        ] {
            let (found, message, _) = bad(line);
            assert_eq!(found, code, "{line}: {message}");
            assert!(message.contains(says), "{line}: {message}");
            assert!(!message.contains("at line"), "{line}: {message}");
        }
        assert_eq!(bad("nonsense").2, Some(2));
        assert_eq!(parse(b"{\"a\":\"\xff\"}").unwrap_err().code, "not_json");
    }
}

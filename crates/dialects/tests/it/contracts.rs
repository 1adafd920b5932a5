//! The contracts' objects, in and out.

mod any;
mod bad_input;
mod escaping;
mod golden;
mod imported;
mod of_runs;
mod properties;
mod reading;
mod recording;
mod rendering;
mod texts;
mod through_log;
mod writing;

use annals_dialects::contracts::{CoreType, Object, Style, read};

/// The session of the examples.
const SESSION: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
/// A command of it.
const COMMAND: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// An object with these properties in front of those that all have.
fn json(kind: &str, properties: &str) -> String {
    let comma = if properties.is_empty() { "" } else { "," };
    format!(
        r#"{{{properties}{comma}"id":"{COMMAND}","correlation":{{"sessionId":"{SESSION}"}},"kind":"{kind}"}}"#
    )
}

fn object(text: &str) -> Object {
    Object::read(text)
        .unwrap_or_else(|error| panic!("{error}: {text}"))
        .value
}

/// An object read and written again, in one line.
fn again(text: &str) -> String {
    object(text).write(Style::Compact).unwrap()
}

/// What is said of a text that is not an object.
fn refusal(text: &str) -> String {
    match Object::read(text) {
        Ok(read) => format!("read: {read:?}"),
        Err(error) => error.to_string(),
    }
}

/// What is said of a text that is not a value of a core type.
fn refusal_of<T: CoreType + std::fmt::Debug>(text: &str) -> String {
    match read::<T>(text) {
        Ok(read) => format!("read: {read:?}"),
        Err(error) => error.to_string(),
    }
}

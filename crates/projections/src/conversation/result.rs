//! Results of tool calls, from the JSON that recordings hold.

use annals_domain::Json;
use serde_json::Value;

use super::turn::CallResult;
use crate::{JsonText, Text};

/// Reads a result: a text, a list of parts, or other JSON.
///
/// Texts go to `text`, each on lines of its own; the rest, such as images, goes to `json`. So each text is there once.
pub(super) fn read(json: &str) -> CallResult {
    let Ok(value) = serde_json::from_str::<Value>(json) else {
        return texts(vec![json.to_owned()], None);
    };
    match value {
        Value::String(text) => texts(vec![text], None),
        Value::Null => texts(Vec::new(), None),
        Value::Array(parts) => {
            let (mut said, mut rest) = (Vec::new(), Vec::new());
            for part in parts {
                match text_part(part) {
                    Ok(text) => said.push(text),
                    Err(other) => rest.push(other),
                }
            }
            let rest = (!rest.is_empty()).then_some(Value::Array(rest));
            texts(said, rest)
        }
        Value::Object(members) => match only_text(&members) {
            Some(text) => texts(vec![text], None),
            None => texts(Vec::new(), Some(Value::Object(members))),
        },
        other => texts(vec![other.to_string()], None),
    }
}

/// A result in one text: that of a call that the recording does not have.
pub(super) fn all_of(result: CallResult) -> Text {
    let JsonText::Present(json) = result.json.unwrap_or(JsonText::Removed) else {
        return result.text;
    };
    let Some(text) = result.text.as_str() else {
        return result.text;
    };
    match text.is_empty() {
        true => Text::from(json.text()),
        false => Text::Present(format!("{text}\n{}", json.text())),
    }
}

fn texts(texts: Vec<String>, rest: Option<Value>) -> CallResult {
    CallResult {
        text: Text::Present(texts.join("\n")),
        json: rest.map(|rest| match Json::from_value(&rest) {
            Ok(json) => JsonText::Present(json),
            Err(_) => JsonText::Removed,
        }),
        is_beginning: false,
    }
}

/// A part that is a text and nothing else but flags, such as `cache_prompt` of OpenHands.
fn text_part(part: Value) -> Result<String, Value> {
    match part {
        Value::String(text) => Ok(text),
        Value::Object(mut members) => {
            let is_text = matches!(members.get("type"), None | Some(Value::String(_)));
            let is_alone = members
                .iter()
                .all(|(key, value)| key == "type" || key == "text" || is_flag(value));
            match (is_text && is_alone, members.remove("text")) {
                (true, Some(Value::String(text))) => Ok(text),
                (_, Some(text)) => {
                    members.insert("text".to_owned(), text);
                    Err(Value::Object(members))
                }
                (_, None) => Err(Value::Object(members)),
            }
        }
        other => Err(other),
    }
}

/// A member that shows nothing: no text is in it.
fn is_flag(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// The text of an object that has one member, a text.
fn only_text(members: &serde_json::Map<String, Value>) -> Option<String> {
    let mut values = members.values();
    let first = values.next()?.as_str()?;
    values.next().is_none().then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_without_its_call_is_one_text() {
        for (json, text) in [
            (r#""plain""#, "plain"),
            (r#"{"a":"1","b":"2"}"#, r#"{"a":"1","b":"2"}"#),
            (
                r#"[{"type":"text","text":"a"},{"image":"x"}]"#,
                "a\n[{\"image\":\"x\"}]",
            ),
        ] {
            assert_eq!(all_of(read(json)), Text::from(text), "{json}");
        }
    }

    #[test]
    fn each_text_of_a_result_is_there_once() {
        for (json, text, rest) in [
            (r#""plain""#, "plain", None),
            (
                r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
                "a\nb",
                None,
            ),
            (
                r#"[{"type":"text","text":"a"},{"type":"image","source":"x"}]"#,
                "a",
                Some(r#"[{"source":"x","type":"image"}]"#),
            ),
            (
                r#"[{"cache_prompt":false,"type":"text","text":"a"}]"#,
                "a",
                None,
            ),
            (
                r#"[{"type":"text","text":"a","annotations":[{"b":"c"}]}]"#,
                "",
                Some(r#"[{"annotations":[{"b":"c"}],"text":"a","type":"text"}]"#),
            ),
            (r#"{"output":"done"}"#, "done", None),
            (r#"{"a":"1","b":"2"}"#, "", Some(r#"{"a":"1","b":"2"}"#)),
            ("null", "", None),
            ("12", "12", None),
            ("not json", "not json", None),
        ] {
            let read = read(json);
            assert_eq!(read.text, Text::from(text), "{json}");
            let value = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
            let other = read
                .json
                .map(|json| value(&serde_json::to_string(&json).unwrap_or_default()));
            assert_eq!(other, rest.map(value), "{json}");
        }
    }
}

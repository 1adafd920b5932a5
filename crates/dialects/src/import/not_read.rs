//! Recordings that look like those of an agent that is read, and are another one's.

use serde_json::{Map, Value};

use super::format::Head;

/// The most lines by which they are recognized.
const LINES: usize = 50;

/// Returns the reason for which a recording is not read whose lines look like those of another agent.
pub(crate) fn not_read(head: &Head<'_>) -> Option<&'static str> {
    let mut lines = head.objects().take(LINES);
    lines
        .any(|line| is_of_qwen_code(&line))
        .then_some("it is a recording of Qwen Code, which is not read yet")
}

/// Returns `true` for a line of Qwen Code: it has the members of a line of Claude Code, and a message in Gemini's parts.
fn is_of_qwen_code(line: &Map<String, Value>) -> bool {
    let message = line.get("message").and_then(Value::as_object);
    let is_in_parts =
        |it: &Map<String, Value>| it.contains_key("parts") && !it.contains_key("content");
    line.contains_key("sessionId") && line.contains_key("uuid") && message.is_some_and(is_in_parts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_in_parts_is_none_of_claude_code() {
        let of = |message: Value| {
            let line = json!({ "uuid": "u", "sessionId": "s", "type": "user", "message": message });
            is_of_qwen_code(line.as_object().unwrap())
        };
        assert!(of(
            json!({ "role": "user", "parts": [{ "text": "Fix it" }] })
        ));
        assert!(!of(json!({ "role": "user", "content": "Fix it" })));
        assert!(!of(json!(null)));
    }
}

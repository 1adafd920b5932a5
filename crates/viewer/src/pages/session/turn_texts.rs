//! The texts of a turn, to be searched.

use annals::projections::{Turn, TurnBody};

/// Returns `true` if a turn has a text, given in lower case.
pub(super) fn holds(turn: &Turn, words: &str) -> bool {
    texts(turn)
        .iter()
        .any(|text| text.to_lowercase().contains(words))
}

/// The texts of a turn.
pub(super) fn texts(turn: &Turn) -> Vec<&str> {
    let text = match &turn.body {
        TurnBody::Prompt(prompt) => &prompt.text,
        TurnBody::Thinking { text }
        | TurnBody::Answer { text, .. }
        | TurnBody::Compaction { text, .. }
        | TurnBody::Interruption { text }
        | TurnBody::Error { text }
        | TurnBody::Note { text, .. }
        | TurnBody::SubAgent { title: text, .. } => text,
        TurnBody::ToolCall(call) => {
            let args = call
                .args
                .as_ref()
                .and_then(|args| args.json())
                .map(|json| json.text());
            let result = call.result.as_ref().and_then(|result| result.text.as_str());
            return [Some(call.line.what()), args, result]
                .into_iter()
                .flatten()
                .collect();
        }
        _ => return Vec::new(),
    };
    text.as_str().into_iter().collect()
}

//! What is kept of texts and of free JSON, and the texts of a tool's result.

use annals_domain::{Json, Ordered, Pairs, cut};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most characters of a frame's summary and of a result's.
pub(super) const SUMMARY: usize = 500;

/// The kind of evidence that an agent, or a person by way of it, gave a session its title.
pub(crate) const TITLE: &str = "session_title";

/// The longest text that is kept, in bytes: it goes into a batch three times.
const TEXT_LIMIT: usize = 1024 * 1024;

/// The longest free JSON that is kept, in bytes: an edit's arguments and result and its
/// diff have to go into one batch.
const JSON_LIMIT: usize = 16 * 1024 * 1024;

/// The beginning of a text: at most so many characters.
pub(crate) fn beginning(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// The name of a kind of frame that a recording names so.
pub(crate) fn kind_name(kind: &str) -> String {
    match kind.trim() {
        "" => "(none)".to_owned(),
        kind => beginning(kind, 100).to_owned(),
    }
}

/// A text as far as it is kept.
pub(super) fn bounded(text: &str) -> &str {
    cut(text, TEXT_LIMIT)
}

/// The most bytes of a name, also as JSON: what is longer is stored as a blob, which lists do not read.
const NAME_LIMIT: usize = 4_000;
/// Bytes of a shortened name: each may take six in JSON.
const SHORT_NAME: usize = 600;

/// Shortens a name that is too long, with an ellipsis in the place of what is left out.
pub(super) fn shorten_name(name: &mut String) {
    let escaped = |name: &str| serde_json::to_string(name).map_or(usize::MAX, |json| json.len());
    if name.len() > NAME_LIMIT || escaped(name) > NAME_LIMIT {
        *name = format!("{}…", cut(name, SHORT_NAME));
    }
}

/// Whether a text that is kept may have been longer: it is cut between characters.
pub(super) fn is_cut(text: &str) -> bool {
    text.len() + 3 >= TEXT_LIMIT
}

/// Free JSON as it is stored, unless it is too long to be kept. What has the form of
/// JSON and cannot be read within a view is kept as a text.
pub(super) fn json(json: Option<&RawValue>) -> Option<Json> {
    let text = json?.get();
    let is_kept = |json: &Json| json.text().len() <= JSON_LIMIT;
    if text.len() > JSON_LIMIT {
        return None;
    }
    let read = serde_json::from_str::<Json>(text);
    let kept = read.or_else(|_| Json::from_value(&text)).ok();
    kept.filter(is_kept)
}

/// Whether there is free JSON that is too long to be kept.
pub(crate) fn is_too_long(raw: Option<&RawValue>) -> bool {
    // Kept as a text it takes at most twice as much, and its quotes.
    let may_be = raw.is_some_and(|raw| 2 * raw.get().len() + 2 > JSON_LIMIT);
    may_be && json(raw).is_none()
}

/// Members of a part that tell of this recording alone.
const OWN: [&str; 4] = ["id", "tool_use_id", "toolUseID", "durationMs"];

/// A part that is kept whole.
#[derive(Debug)]
pub(crate) struct Part {
    /// What tells of this recording alone.
    pub(super) own: Option<Ordered<Json>>,
    /// The rest.
    pub(super) content: Json,
}

/// A part, unless it is too long to be kept.
pub(crate) fn part(part: Option<&RawValue>) -> Option<Part> {
    let content = json(part)?;
    let pairs = serde_json::from_str::<Pairs<Json>>(content.text());
    // Both values of a duplicate key are kept: nothing is taken apart then.
    let pairs = pairs.ok().filter(|pairs| pairs.twice().is_none());
    let is_own = |(name, _): &(String, Json)| OWN.contains(&name.as_str());
    let Some(Pairs(pairs)) = pairs.filter(|pairs| pairs.0.iter().any(is_own)) else {
        return Some(Part { own: None, content });
    };
    let (own, rest): (Vec<_>, Vec<_>) = pairs.into_iter().partition(is_own);
    Some(Part {
        own: Some(Ordered(own)),
        content: Json::from_value(&Ordered(rest)).ok()?,
    })
}

/// What stands for a result that did not come.
pub(crate) use annals::projections::NO_RESULT;

/// The text of a result, in any of its forms, as far as a summary needs it.
pub(crate) fn text_of(content: Option<&RawValue>) -> String {
    let Some(content) = content else {
        return String::new();
    };
    match texts(content) {
        Some(texts) => texts.join("\n"),
        None => beginning(content.get(), SUMMARY).to_owned(),
    }
}

/// All texts of a result, which a model reads as they are. None, if it has no
/// text: an image's bytes say nothing of the tokens that it takes.
pub(super) fn said(content: Option<&RawValue>) -> Option<String> {
    let texts = texts(content?)?;
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A text, or the texts of a list of parts; none, if it is neither.
fn texts(content: &RawValue) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: Option<String>,
    }
    let json = content.get();
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return Some(vec![text]);
    }
    let parts: Vec<Part> = serde_json::from_str(json).ok()?;
    Some(parts.into_iter().filter_map(|part| part.text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_what_is_not_kept() {
        let half = "\\\"".repeat(JSON_LIMIT / 4);
        let texts = [
            "1e999".to_owned(),
            format!("\"{half}\""),
            format!("[1e999,\"{}\"]", &half[..half.len() - 40]),
            format!("[1e999,\"{half}\"]"),
            format!("\"{half}{half}\""),
        ];
        let kept = [true, true, true, false, false];
        for (text, is_kept) in texts.into_iter().zip(kept) {
            let raw = RawValue::from_string(text).expect("it has the form");
            assert_eq!(json(Some(&raw)).is_some(), is_kept, "{:.20}", raw.get());
            assert_eq!(is_too_long(Some(&raw)), !is_kept, "{:.20}", raw.get());
        }
        assert!(!is_too_long(None));
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(beginning("aéb", 2), "aé");
        assert_eq!(beginning("aé", 2), "aé");
        let long = "é".repeat(TEXT_LIMIT);
        assert_eq!(bounded(&long).len(), TEXT_LIMIT);
        let odd = format!("x{long}");
        assert_eq!(bounded(&odd).len(), TEXT_LIMIT - 1);
        assert_eq!(bounded("short"), "short");
    }
}

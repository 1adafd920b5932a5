//! An object's JSON as names and values: what is empty is left out, ids lead to their objects, times are times.

use annals::domain::Ordered;
use maud::{Markup, html};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::figures::time;
use crate::html::object;
use crate::moment::Moment;

/// JSON deeper than this is shown as its own text.
const MAX_DEPTH: usize = 12;
/// Texts longer than this are folded up at first.
const LONG: usize = 1_200;
/// Entries of one list that are shown.
const ENTRIES: usize = 200;
/// Fields that the page says elsewhere, or that say nothing to people.
const HIDDEN: [&str; 8] = [
    "object_type",
    "object_id",
    "header_version",
    "schema_version",
    "created_at",
    "updated_at",
    "created_by",
    "visibility",
];

/// A JSON value whose objects keep their order and whose numbers their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Object(Vec<(String, Node)>),
    List(Vec<Node>),
    Text(String),
    /// A number, true or false.
    Plain(String),
    Null,
}

impl Node {
    pub(crate) fn parse(text: &str) -> Result<Node, serde_json::Error> {
        Node::at_depth(text, 0)
    }

    fn at_depth(text: &str, depth: usize) -> Result<Node, serde_json::Error> {
        if depth > MAX_DEPTH {
            return Ok(Node::Text(text.to_owned()));
        }
        Ok(match text.bytes().next() {
            Some(b'{') => {
                let fields: Ordered<Box<RawValue>> = serde_json::from_str(text)?;
                if let [(name, value)] = fields.0.as_slice()
                    && (name.as_str(), value.get()) == ("removed", "true")
                {
                    return Ok(Node::Plain("removed".to_owned()));
                }
                let parse = |(name, value): (String, Box<RawValue>)| {
                    Ok((name, Node::at_depth(value.get(), depth + 1)?))
                };
                Node::Object(fields.0.into_iter().map(parse).collect::<Result<_, _>>()?)
            }
            Some(b'[') => {
                let items: Vec<Box<RawValue>> = serde_json::from_str(text)?;
                let parse = |item: Box<RawValue>| Node::at_depth(item.get(), depth + 1);
                Node::List(items.into_iter().map(parse).collect::<Result<_, _>>()?)
            }
            Some(b'"') => Node::Text(serde_json::from_str(text)?),
            Some(b'n') => Node::Null,
            _ => Node::Plain(text.to_owned()),
        })
    }

    fn is_empty(&self) -> bool {
        match self {
            Node::Null => true,
            Node::Object(fields) => fields.iter().all(|(_, node)| node.is_empty()),
            Node::List(items) => items.is_empty(),
            Node::Text(text) => text.is_empty(),
            Node::Plain(_) => false,
        }
    }

    /// The bytes of a git object's id, which git-internal's JSON has as a list of numbers.
    fn digest(&self) -> Option<String> {
        let Node::Object(fields) = self else {
            return None;
        };
        match fields.as_slice() {
            [(name, Node::List(bytes))] if name == "Sha1" || name == "Sha256" => {
                let byte = |node: &Node| match node {
                    Node::Plain(text) => text.parse().ok(),
                    _ => None,
                };
                let bytes: Option<Vec<u8>> = bytes.iter().map(byte).collect();
                Some(hex::encode(bytes?))
            }
            _ => None,
        }
    }
}

/// The fields of an object's JSON.
pub(crate) fn fields(json: &Node, moment: Moment) -> Markup {
    let Node::Object(fields) = json else {
        return value(json, moment);
    };
    let shown = fields.iter().filter(|(name, node)| {
        let is_hidden = HIDDEN.contains(&name.as_str());
        !is_hidden && !node.is_empty()
    });
    html! {
        dl.fields { @for (name, node) in shown {
            div { dt { (name.replace('_', " ")) } dd { (value(node, moment)) } }
        } }
    }
}

/// A value of any form.
pub(crate) fn value(node: &Node, moment: Moment) -> Markup {
    if let Some(digest) = node.digest() {
        return html! { code { (digest) } };
    }
    match node {
        Node::Null => html! { span.none { "—" } },
        Node::Plain(text) => html! { span.num { (text) } },
        Node::Text(text) => self::text(text, moment),
        Node::List(items) => {
            let left = items.len().saturating_sub(ENTRIES);
            html! {
                ul.list { @for item in items.iter().take(ENTRIES) { li { (value(item, moment)) } } }
                @if left > 0 { p.nothing { (left) " more are in the JSON" } }
            }
        }
        Node::Object(fields) => {
            let shown = fields.iter().filter(|(_, node)| !node.is_empty());
            html! { dl.inner { @for (name, node) in shown {
                div { dt { (name) } dd { (value(node, moment)) } }
            } } }
        }
    }
}

/// A text: an id, a time, a word, or as it was written.
pub(crate) fn text(text: &str, moment: Moment) -> Markup {
    if text.len() == 36
        && let Ok(id) = Uuid::parse_str(text)
    {
        return object(id, moment);
    }
    let is_time = text.len() >= 20 && text.len() <= 35 && text.as_bytes().get(10) == Some(&b'T');
    if is_time && chrono::DateTime::parse_from_rfc3339(text).is_ok() {
        return time(text);
    }
    if text.len() <= 100 && !text.contains('\n') {
        return html! { span { (text) } };
    }
    long(text)
}

/// A text of several lines, folded up where it is very long.
pub(crate) fn long(text: &str) -> Markup {
    if text.chars().count() <= LONG {
        return html! { pre.text { (text) } };
    }
    let beginning: String = text.chars().take(LONG / 2).collect();
    html! {
        details.long {
            summary { pre.text { (beginning) "…" } span.button { "Show all " (text.chars().count()) " characters" } }
            pre.text { (text) }
        }
    }
}

/// A JSON text for people, indented.
pub(crate) fn pretty(value: &serde_json::Value) -> Markup {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    html! { pre.json tabindex="0" { (text) } }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals::event_log::Position;

    use super::*;

    const MOMENT: Moment = Moment {
        position: Position(7),
        end: Position(9),
        is_chosen: true,
    };

    fn shown(json: &str) -> String {
        fields(&Node::parse(json).unwrap(), MOMENT).into_string()
    }

    #[test]
    fn ids_lead_to_their_objects_at_the_same_moment() {
        let id = "01980000-0000-7000-8000-00000000000a";
        let page = shown(&format!(
            r#"{{"task":"{id}","n":1.50,"none":null,"gone":{{"removed":true}}}}"#
        ));
        assert!(
            page.contains(&format!("href=\"/objects/{id}?at=7\"")),
            "{page}"
        );
        assert!(
            page.contains("1.50") && !page.contains("none</dt>"),
            "{page}"
        );
        assert!(page.contains("removed"), "{page}");
    }

    #[test]
    fn what_was_recorded_is_text() {
        let long = "x".repeat(2_000);
        let long = format!("{long}<i>");
        for text in ["<script>alert(1)</script>", "a\n<b>", long.as_str()] {
            let json = serde_json::json!({ "<u>name": [text, { "k": text }] });
            let page = shown(&json.to_string());
            for tag in ["<script", "<b>", "<i>", "<u>"] {
                assert!(!page.contains(tag), "{page}");
            }
        }
    }

    #[test]
    fn deep_json_is_shown_as_text() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(Node::parse(&deep).is_ok());
    }
}

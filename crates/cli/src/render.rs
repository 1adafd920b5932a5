//! An object for people: its JSON as aligned names and values.
//!
//! What is empty is left out, the object's own fields come before those of the
//! common header, and what has a usual short form gets it.

use annals::domain::Ordered;
use annals::projections::{Text, is_content_field, time_of_field};
use serde_json::value::RawValue;

use crate::error::CliError;
use crate::output::{Output, Style, when};

/// JSON deeper than this is shown as its own text.
const MAX_DEPTH: usize = 12;
/// A list's objects of up to this many characters are printed on one line.
const MAX_COMPACT: usize = 120;
/// Fields of the common header, shown last.
const HEADER: [&str; 7] = [
    "created_at",
    "updated_at",
    "created_by",
    "visibility",
    "tags",
    "external_ids",
    "checksum",
];
/// Fields that are in the title, or say nothing to people.
const HIDDEN: [&str; 4] = [
    "object_type",
    "object_id",
    "header_version",
    "schema_version",
];

/// A JSON value whose objects keep their order and whose numbers their text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Object(Vec<(String, Node)>),
    List(Vec<Node>),
    /// A text, a number, true or false.
    Leaf(String),
    Null,
}

impl Node {
    fn parse(text: &str, depth: usize) -> Result<Node, serde_json::Error> {
        Node::within(text, depth, false)
    }

    /// Reads a value. Times of the log become those of the user's zone; content is as it was recorded.
    fn within(text: &str, depth: usize, is_content: bool) -> Result<Node, serde_json::Error> {
        if depth > MAX_DEPTH {
            return Ok(Node::Leaf(text.to_owned()));
        }
        Ok(match text.bytes().next() {
            Some(b'{') => {
                let fields: Ordered<Box<RawValue>> = serde_json::from_str(text)?;
                // Content that was removed for good.
                if let [(name, value)] = fields.0.as_slice()
                    && (name.as_str(), value.get()) == ("removed", "true")
                {
                    return Ok(Node::Leaf(Text::Removed.to_string()));
                }
                let parse = |(name, value): (String, Box<RawValue>)| {
                    let is_content = is_content || is_content_field(&name);
                    let mut node = Node::within(value.get(), depth + 1, is_content)?;
                    if let (Node::Leaf(text), false) = (&node, is_content)
                        && let Some(time) = time_of_field(&name, text)
                    {
                        node = Node::Leaf(when(time));
                    }
                    Ok((name, node))
                };
                Node::Object(fields.0.into_iter().map(parse).collect::<Result<_, _>>()?)
            }
            Some(b'[') => {
                let items: Vec<Box<RawValue>> = serde_json::from_str(text)?;
                let parse = |item: Box<RawValue>| Node::within(item.get(), depth + 1, is_content);
                Node::List(items.into_iter().map(parse).collect::<Result<_, _>>()?)
            }
            Some(b'"') => Node::Leaf(serde_json::from_str(text)?),
            Some(b'n') => Node::Null,
            _ => Node::Leaf(text.to_owned()),
        })
    }

    fn is_empty(&self) -> bool {
        match self {
            Node::Null => true,
            Node::Object(fields) => fields.iter().all(|(_, node)| node.is_empty()),
            Node::List(items) => items.is_empty(),
            Node::Leaf(_) => false,
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let Node::Object(fields) = self else {
            return None;
        };
        fields
            .iter()
            .find(|(field, _)| field == name)
            .and_then(|(_, node)| node.leaf())
    }

    fn leaf(&self) -> Option<&str> {
        match self {
            Node::Leaf(text) => Some(text),
            _ => None,
        }
    }

    /// A text without white space and commas, so that several fit on a line.
    fn word(&self) -> Option<&str> {
        self.leaf()
            .filter(|text| !text.contains(|c: char| c.is_whitespace() || c == ','))
    }

    /// The value on one line, if that is a fair way to show it.
    fn compact(&self) -> Option<String> {
        let line = match self {
            Node::Null => String::new(),
            Node::Leaf(text) => text.clone(),
            Node::List(items) => {
                let words: Option<Vec<&str>> = items.iter().map(Node::word).collect();
                words?.join(", ")
            }
            Node::Object(fields) => match self.usual_form() {
                Some(text) => text,
                None => {
                    let part =
                        |(name, node): &(String, Node)| Some(format!("{name}: {}", node.leaf()?));
                    let shown = fields.iter().filter(|(_, node)| !node.is_empty());
                    shown.map(part).collect::<Option<Vec<String>>>()?.join(", ")
                }
            },
        };
        let fits = line.chars().count() <= MAX_COMPACT && !line.contains('\n');
        (fits || matches!(self, Node::Leaf(_)) && !line.contains('\n')).then_some(line)
    }

    /// The short form of objects that occur everywhere.
    fn usual_form(&self) -> Option<String> {
        let Node::Object(fields) = self else {
            return None;
        };
        if let (Some(status), Some(changed)) = (self.get("status"), self.get("changed_at")) {
            let reason = self
                .get("reason")
                .map(|reason| format!("  {reason}"))
                .unwrap_or_default();
            return Some(format!("{status:<11} {changed}{reason}"));
        }
        if let (Some(path), Some(change)) = (self.get("path"), self.get("change_type")) {
            let lines = |name| self.get(name).unwrap_or("0");
            let (added, deleted) = (lines("lines_added"), lines("lines_deleted"));
            return Some(format!("{change:<6} {path} +{added} -{deleted}"));
        }
        let is_actor = fields.iter().any(|(name, _)| name == "auth_context");
        if let (4, true, Some(kind), Some(id)) =
            (fields.len(), is_actor, self.get("kind"), self.get("id"))
        {
            let name = self
                .get("display_name")
                .map(|name| format!(" ({name})"))
                .unwrap_or_default();
            return Some(format!("{kind} {id}{name}"));
        }
        match fields.as_slice() {
            [(name, Node::List(bytes))] if name == "Sha1" || name == "Sha256" => {
                let bytes: Option<Vec<u8>> =
                    bytes.iter().map(|byte| byte.leaf()?.parse().ok()).collect();
                Some(hex::encode(bytes?))
            }
            _ => None,
        }
    }
}

/// Prints an object: a title, its fields, then the common header's.
pub(crate) fn object(output: &mut Output, json: &str, remark: &str) -> Result<(), CliError> {
    let node = Node::parse(json, 0).map_err(CliError::json)?;
    let title = [node.get("object_type"), node.get("object_id")];
    let title: Vec<&str> = title.into_iter().flatten().collect();
    let title = output.style(Style::Bold, &title.join(" "));
    output.line(format!("{title}{remark}").trim_end())?;
    let Node::Object(fields) = node else {
        return Ok(());
    };
    let (header, body): (Vec<_>, Vec<_>) = fields
        .into_iter()
        .filter(|(name, _)| !HIDDEN.contains(&name.as_str()))
        .partition(|(name, _)| HEADER.contains(&name.as_str()));
    let fields: Vec<(String, Node)> = body.into_iter().chain(header).collect();
    print_fields(output, &fields, "  ", "  ")
}

/// Prints names and values, each value behind its name or indented below it.
/// The first line begins with `first`, the others with `rest`.
fn print_fields(
    output: &mut Output,
    fields: &[(String, Node)],
    first: &str,
    rest: &str,
) -> Result<(), CliError> {
    let shown: Vec<_> = fields.iter().filter(|(_, node)| !node.is_empty()).collect();
    let names = shown.iter().map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or(0).min(24);
    let below = format!("{rest}  ");
    for (index, (name, node)) in shown.into_iter().enumerate() {
        let indent = if index == 0 { first } else { rest };
        let name = output.style(Style::Dim, &format!("{:width$}", name));
        match node.compact() {
            Some(value) => {
                output.line(&format!("{indent}{name}  {}", &value))?;
            }
            None => {
                output.line(format!("{indent}{name}").trim_end())?;
                print_below(output, node, &below)?;
            }
        }
    }
    Ok(())
}

fn print_below(output: &mut Output, node: &Node, indent: &str) -> Result<(), CliError> {
    match node {
        Node::Null => Ok(()),
        Node::Leaf(text) => {
            let mut lines = text.lines();
            lines.try_for_each(|line| output.line(format!("{indent}{}", line).trim_end()))
        }
        Node::Object(fields) => print_fields(output, fields, indent, indent),
        Node::List(items) => items
            .iter()
            .try_for_each(|item| print_item(output, item, indent)),
    }
}

fn print_item(output: &mut Output, item: &Node, indent: &str) -> Result<(), CliError> {
    let (first, rest) = (format!("{indent}- "), format!("{indent}  "));
    match (item.compact(), item) {
        (Some(line), _) => output.line(&format!("{first}{}", &line)),
        (None, Node::Object(fields)) => print_fields(output, fields, &first, &rest),
        (None, node) => {
            output.line(first.trim_end())?;
            print_below(output, node, &rest)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn compact(json: &str) -> Option<String> {
        Node::parse(json, 0).unwrap().compact()
    }

    #[test]
    fn usual_objects_have_short_forms() {
        for (json, expected) in [
            (
                r#"{"kind":"agent","id":"coder","display_name":"C","auth_context":null}"#,
                "agent coder (C)",
            ),
            (
                r#"{"status":"draft","changed_at":"T","reason":"why"}"#,
                "draft       T  why",
            ),
            (
                r#"{"path":"a","change_type":"modify","lines_added":3,"lines_deleted":1}"#,
                "modify a +3 -1",
            ),
            (
                r#"{"id":"i","kind":"Push","given_at":"T","verdict":"v"}"#,
                "id: i, kind: Push, given_at: T, verdict: v",
            ),
            (r#"{"Sha1":[0,255]}"#, "00ff"),
            (r#"{"a":1.50,"b":null,"c":"x y"}"#, "a: 1.50, c: x y"),
            (r#"["a","b"]"#, "a, b"),
        ] {
            assert_eq!(compact(json).as_deref(), Some(expected), "{json}");
        }
        assert_eq!(compact(r#"{"a":{"b":1}}"#), None);
        assert_eq!(compact(r#""two\nlines""#), None);
        assert_eq!(compact(r#"["one sentence", "another, longer"]"#), None);
    }

    #[test]
    fn deep_json_is_shown_as_text() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(Node::parse(&deep, 0).is_ok());
    }
}

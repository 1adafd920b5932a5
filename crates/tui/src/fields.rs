//! JSON as fields: names and values, a row each, in which a cursor can move.

use annals::projections::{is_content_field, time_of_field};
use serde_json::Value;
use uuid::Uuid;

use crate::cursor::Cursor;
use crate::text::{safe, when};

/// Characters of a row of a long text.
const WIDTH: usize = 110;
/// Rows of one text; the rest is said to be there.
const ROWS: usize = 2_000;

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// How deep it lies.
    pub(crate) depth: usize,
    /// Its name; empty where a text goes on.
    pub(crate) name: String,
    /// Its value, harmless; empty where fields of its own follow.
    pub(crate) value: String,
    /// The object that the value names, if it may name one.
    pub(crate) names: Option<Uuid>,
}

impl Field {
    /// The row as it is searched.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.name, self.value)
    }
}

/// A screen of fields: an event, a frame.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) title: String,
    pub(crate) rows: Vec<Field>,
    pub(crate) cursor: Cursor,
}

impl Fields {
    pub(crate) fn new(title: String, json: &Value) -> Fields {
        Fields {
            title: safe(&title),
            rows: rows(json),
            cursor: Cursor::default(),
        }
    }
}

/// All that a JSON value has.
pub(crate) fn rows(json: &Value) -> Vec<Field> {
    let mut rows = Vec::new();
    match json {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, value)| put(&mut rows, (0, false), name, value)),
        value => put(&mut rows, (0, false), "", value),
    }
    rows
}

/// Adds the rows of a field. Times of the log are those of the user's zone; content is as it was recorded.
fn put(rows: &mut Vec<Field>, (depth, is_content): (usize, bool), name: &str, value: &Value) {
    let within = (depth + 1, is_content || is_content_field(name));
    let head = |value: String, names| Field {
        depth,
        name: safe(name),
        value,
        names,
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            rows.push(head(String::new(), None));
            for (name, value) in members {
                put(rows, within, name, value);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            rows.push(head(format!("{} of them", items.len()), None));
            for (at, value) in items.iter().enumerate() {
                put(rows, within, &at.to_string(), value);
            }
        }
        Value::String(text) if !is_content && time_of_field(name, text).is_some() => {
            let time = time_of_field(name, text).map(when);
            rows.push(head(time.unwrap_or_default(), None));
        }
        Value::String(text) => {
            let names = Uuid::parse_str(text).ok();
            let mut pieces = wrapped(text).into_iter();
            rows.push(head(pieces.next().unwrap_or_default(), names));
            rows.extend(pieces.map(|value| Field {
                depth,
                name: String::new(),
                value,
                names: None,
            }));
        }
        value => rows.push(head(value.to_string(), None)),
    }
}

/// A text in rows: its own lines, cut where they are too long.
fn wrapped(text: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        loop {
            if rows.len() == ROWS {
                rows.push("… and more; --json shows all of it".to_owned());
                return rows;
            }
            let (row, behind) = cut(rest);
            rows.push(safe(row));
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
    }
    rows
}

/// A row of a line and the rest of it, cut at a space where there is one.
fn cut(line: &str) -> (&str, &str) {
    let Some((end, _)) = line.char_indices().nth(WIDTH) else {
        return (line, "");
    };
    let (row, _) = line.split_at(end);
    let end = match row.rfind(' ') {
        Some(space) if space > 0 => space + 1,
        _ => end,
    };
    line.split_at(end)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_of_a_text_is_lost_in_its_rows() {
        let text = "word ".repeat(100) + &"x".repeat(300) + "é";
        let rows = wrapped(&text);
        assert!(rows.iter().all(|row| row.chars().count() <= WIDTH));
        assert_eq!(rows.concat(), text);
        assert_eq!(wrapped("a\n\nb"), ["a", "", "b"]);
    }

    #[test]
    fn fields_lie_below_what_they_belong_to_and_ids_can_be_opened() {
        let id = Uuid::from_u128(7);
        let rows = rows(&json!({"a": {"b": [1, {"c": id}]}, "d": "x\ny", "e": null}));
        let shown: Vec<(usize, &str, &str)> = rows
            .iter()
            .map(|row| (row.depth, row.name.as_str(), row.value.as_str()))
            .collect();
        let id = id.to_string();
        assert_eq!(
            shown,
            [
                (0, "a", ""),
                (1, "b", "2 of them"),
                (2, "0", "1"),
                (2, "1", ""),
                (3, "c", id.as_str()),
                (0, "d", "x"),
                (0, "", "y"),
                (0, "e", "null"),
            ]
        );
        assert_eq!(rows[4].names, Some(Uuid::from_u128(7)));
        assert!(rows.iter().filter(|row| row.names.is_some()).count() == 1);
    }
}

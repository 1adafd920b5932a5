//! The leaves of free JSON: every text in it as it is, without the escapes of JSON.

use std::collections::HashSet;
use std::fmt::{self, Write};

use annals_domain::Pairs;
use serde_json::value::RawValue;

use super::markdown::{code_span, fenced};
use crate::{JsonText, Text};

/// Characters of encoded bytes that are counted and not written.
const LONGEST_ENCODED: usize = 1_024;
/// Levels of JSON that have paths; deeper JSON is written as it is.
const DEEPEST: usize = 64;

/// The leaves of a JSON value with their paths, such as `edits[0].old_string`.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    /// Paths and values, in the order of the JSON.
    pub(super) leaves: Vec<(String, String)>,
    is_removed: bool,
}

impl Leaves {
    pub(super) fn of(json: &JsonText) -> Leaves {
        let mut leaves = Leaves::default();
        match json.json().map(annals_domain::Json::text) {
            None => leaves.is_removed = true,
            Some(text) => leaves.add("", text, 0),
        }
        leaves
    }

    /// The leaves of a result that are not part of its text.
    pub(super) fn beyond(json: &JsonText, text: &str) -> Leaves {
        let mut leaves = Leaves::of(json);
        // The name of a part's type without the part has no use.
        let is_known = |(path, value): &(String, String)| {
            text.contains(value.trim()) || path == "type" || path.ends_with(".type")
        };
        leaves.leaves.retain(|leaf| !is_known(leaf));
        leaves
    }

    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty() && !self.is_removed
    }

    fn add(&mut self, path: &str, json: &str, depth: usize) {
        let json = json.trim();
        let within = (depth < DEEPEST).then(|| json.as_bytes().first().copied());
        match within.flatten() {
            Some(b'{') => self.add_members(path, json, depth),
            Some(b'[') => self.add_items(path, json, depth),
            Some(b'"') => match serde_json::from_str::<String>(json) {
                Ok(text) => self.push(path, shown(text)),
                // Half of a surrogate pair is not a character.
                Err(_) => self.push(path, json.to_owned()),
            },
            _ => self.push(path, json.to_owned()),
        }
    }

    fn add_members(&mut self, path: &str, json: &str, depth: usize) {
        match serde_json::from_str::<Pairs<Box<RawValue>>>(json) {
            Ok(members) if members.0.is_empty() && path.is_empty() => {}
            Ok(members) if !members.0.is_empty() => {
                for (name, value) in &members.0 {
                    let name = name.replace(char::is_control, " ");
                    let path = match path.is_empty() {
                        true => name,
                        false => format!("{path}.{name}"),
                    };
                    self.add(&path, value.get(), depth + 1);
                }
            }
            _ => self.push(path, json.to_owned()),
        }
    }

    fn add_items(&mut self, path: &str, json: &str, depth: usize) {
        match serde_json::from_str::<Vec<Box<RawValue>>>(json) {
            Ok(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    self.add(&format!("{path}[{index}]"), item.get(), depth + 1);
                }
            }
            _ => self.push(path, json.to_owned()),
        }
    }

    fn push(&mut self, path: &str, value: String) {
        self.leaves.push((path.to_owned(), value));
    }

    /// Writes the leaves: those of one line together, each other one in a code block of its own.
    pub(super) fn write(&self, out: &mut impl Write) -> fmt::Result {
        if self.is_removed {
            return writeln!(out, "{}\n", Text::Removed);
        }
        let mut lines = String::new();
        for (path, value) in &self.leaves {
            let is_line = !value.contains('\n') && !path.is_empty();
            if is_line {
                writeln!(lines, "{path}: {value}")?;
                continue;
            }
            if !lines.is_empty() {
                fenced("text", &std::mem::take(&mut lines), out)?;
            }
            if !path.is_empty() {
                writeln!(out, "{}:\n", code_span(path))?;
            }
            fenced("text", value, out)?;
        }
        match lines.is_empty() {
            true => Ok(()),
            false => fenced("text", &lines, out),
        }
    }

    /// Returns `true` if the leaves hold a part of what a diff changes.
    pub(super) fn hold(&self, diff: &str) -> bool {
        let bare = |line: &'_ str| line.trim_start_matches(['+', '-']).trim().to_owned();
        let leaves = self.leaves.iter().map(|(_, value)| value.as_str());
        let held: HashSet<String> = leaves.flat_map(str::lines).map(bare).collect();
        let is_change = |line: &&str| {
            let is_file = line.starts_with("+++ ") || line.starts_with("--- ");
            line.starts_with(['+', '-']) && !is_file
        };
        let mut changed = diff.lines().filter(is_change).map(bare);
        changed.any(|line| !line.is_empty() && (held.contains(&line) || self.is_around(&line)))
    }

    /// Returns `true` if a line has a leaf in it: a replacement within the line.
    fn is_around(&self, line: &str) -> bool {
        let mut values = self.leaves.iter().map(|(_, value)| value.trim());
        values.any(|value| value.len() > 1 && line.contains(value))
    }
}

/// A text, or the size of one that is encoded bytes, such as an image.
fn shown(text: String) -> String {
    let is_encoded = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte);
    match text.len() > LONGEST_ENCODED && text.bytes().all(is_encoded) {
        true => format!("{} bytes of encoded data", text.len()),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use annals_domain::Json;

    use super::*;

    fn leaves(json: &str) -> Leaves {
        Leaves::of(&JsonText::Present(Json::parse(json).unwrap()))
    }

    #[test]
    fn a_diff_is_held_by_leaves_with_any_of_its_changes() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-    let a = 1;\n+    let a = 2;\n";
        for (json, expected) in [
            (
                r#"{"old_string":"let a = 1;\n","new_string":"let a = 2;\n"}"#,
                true,
            ),
            (r#"{"old_string":"= 1","new_string":"= 2"}"#, true),
            (
                r#"{"patch":"*** Update File: x\n-    let a = 1;\n+    let a = 2;"}"#,
                true,
            ),
            (r#"{"command":"sed -i s/1/2/ x"}"#, false),
            (r"{}", false),
        ] {
            assert_eq!(leaves(json).hold(diff), expected, "{json}");
        }
    }

    #[test]
    fn encoded_bytes_are_counted() {
        let image = "A".repeat(2_000);
        let json =
            format!(r#"[{{"type":"image","data":"{image}"}},{{"type":"text","text":"a b"}}]"#);
        let json = JsonText::Present(Json::parse(&json).unwrap());
        let mut out = String::new();
        Leaves::beyond(&json, "a b").write(&mut out).unwrap();
        assert_eq!(
            out,
            "```text\n[0].data: 2000 bytes of encoded data\n```\n\n"
        );
    }
}

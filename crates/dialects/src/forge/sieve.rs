//! Takes the secrets out of a file of the folder: out of the values that it has, each
//! as its reader will see it, regardless of the quotes and folds that it is written with.

use super::data::{Entry, Node, Scalar, Value};
use crate::secrets::{Hit, KeyLines, Redacted, Secrets, is_name, is_value};

/// What secrets are taken out by, and what they were.
pub(super) struct Sieve<'a> {
    secrets: &'a Secrets,
    pub(super) hits: Vec<Hit>,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(secrets: &'a Secrets) -> Sieve<'a> {
        Sieve {
            secrets,
            hits: Vec::new(),
        }
    }

    /// A text that begins in this line of its file. It has as many lines as before.
    pub(super) fn text(&mut self, text: &str, first_line: u64) -> String {
        let Redacted { content, hits } = self.secrets.redact(text);
        self.found(hits, first_line, "");
        content.into_owned()
    }

    /// All that a node has. Its reader has bounded how deep it is nested.
    pub(super) fn node(&mut self, node: &mut Node) {
        self.value(node, "", "", None);
    }

    /// `lines` are those of the list that the node is in, or that its map is in.
    fn value(&mut self, node: &mut Node, key: &str, path: &str, lines: Option<&mut KeyLines>) {
        let line = node.line.unwrap_or(1);
        match &mut node.value {
            Value::Scalar(scalar) => {
                if let Some(lines) = lines {
                    self.line_of_key(scalar, "", path, line, lines);
                }
                self.scalar(scalar, key, path, line);
            }
            Value::List(nodes) => {
                let mut lines = KeyLines::default();
                for (index, node) in nodes.iter_mut().enumerate() {
                    self.value(node, "", &format!("{path}[{index}]"), Some(&mut lines));
                }
            }
            Value::Map(entries) => self.map(entries, path, line, lines),
            Value::Wrong(_) => {}
        }
    }

    fn map(
        &mut self,
        entries: &mut [Entry],
        path: &str,
        line: u64,
        mut lines: Option<&mut KeyLines>,
    ) {
        let name = name(entries);
        for Entry { key, value } in entries {
            let line = value.line.unwrap_or(line);
            self.scalar(key, "", path, line);
            let below = match path {
                "" => key.as_str().to_owned(),
                _ => format!("{path}.{}", key.as_str()),
            };
            if let (Value::Scalar(scalar), Some(lines)) = (&mut value.value, lines.as_deref_mut()) {
                self.line_of_key(scalar, key.as_str(), &below, line, lines);
            }
            self.value(value, key.as_str(), &below, None);
            if let (Value::Scalar(scalar), true) = (&mut value.value, is_value(key.as_str())) {
                self.scalar(scalar, &name, &below, line);
            }
        }
    }

    /// Takes out what is a line of a private key that an earlier item of a list began.
    fn line_of_key(
        &mut self,
        scalar: &mut Scalar,
        field: &str,
        path: &str,
        line: u64,
        lines: &mut KeyLines,
    ) {
        let found = self.secrets.redact_line(lines, field, scalar.as_str());
        if let Some(Redacted { content, hits }) = found {
            *scalar = Scalar::Text(content.into_owned());
            self.found(hits, line, path);
        }
    }

    fn scalar(&mut self, scalar: &mut Scalar, key: &str, path: &str, line: u64) {
        let Redacted { content, hits } = self.secrets.redact_value(key, scalar.as_str());
        if hits.is_empty() {
            return;
        }
        // It is a text now, even if it was a number or a date.
        let text = Scalar::Text(content.into_owned());
        *scalar = text;
        // A value names the line that it begins in.
        let hits = hits.into_iter().map(|hit| Hit { line: 1, ..hit });
        self.found(hits.collect(), line, path);
    }

    fn found(&mut self, hits: Vec<Hit>, first_line: u64, path: &str) {
        self.hits.extend(hits.into_iter().map(|hit| Hit {
            line: first_line + hit.line - 1,
            field: path.to_owned(),
            ..hit
        }));
    }
}

/// What a map has as the name of its `value`, or nothing.
fn name(entries: &[Entry]) -> String {
    let named = entries.iter().find(|entry| is_name(entry.key.as_str()));
    match named.map(|entry| &entry.value.value) {
        Some(Value::Scalar(scalar)) => scalar.as_str().to_owned(),
        _ => String::new(),
    }
}

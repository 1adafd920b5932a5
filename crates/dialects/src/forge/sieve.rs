//! Takes the secrets out of a file of the folder: out of the values that it has, each
//! as its reader will see it, whatever quotes and folds it is written with.

use super::data::{Entry, Node, Scalar, Value};
use crate::secrets::{Hit, Redacted, Secrets};

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
        self.value(node, "", "");
    }

    fn value(&mut self, node: &mut Node, key: &str, path: &str) {
        let line = node.line.unwrap_or(1);
        match &mut node.value {
            Value::Scalar(scalar) => self.scalar(scalar, key, path, line),
            Value::List(nodes) => {
                for (index, node) in nodes.iter_mut().enumerate() {
                    self.value(node, "", &format!("{path}[{index}]"));
                }
            }
            Value::Map(entries) => {
                for Entry { key, value } in entries {
                    let line = value.line.unwrap_or(line);
                    self.scalar(key, "", path, line);
                    let below = match path {
                        "" => key.as_str().to_owned(),
                        _ => format!("{path}.{}", key.as_str()),
                    };
                    self.value(value, key.as_str(), &below);
                }
            }
            Value::Wrong(_) => {}
        }
    }

    fn scalar(&mut self, scalar: &mut Scalar, key: &str, path: &str, line: u64) {
        let Redacted { content, hits } = self.secrets.redact_value(key, scalar.as_str());
        if hits.is_empty() {
            return;
        }
        // Whatever it was, it is a text now.
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

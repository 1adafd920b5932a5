//! YAML text as nodes. Only this file knows the YAML library.
//!
//! A file may come from any source, so its size and its nesting are bounded, and
//! anchors and aliases, by which a small file can stand for a huge one, are refused.
//! The tree is built with a stack of its own: no text is nested deep enough to use
//! up the thread's.

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Tag};

use super::data::{Entries, Node, Scalar, Value};
use super::error::{ForgeError, Read};
use super::text::{check_size, without_mark};

/// How deep lists and mappings may be nested.
pub const MOST_NESTING: usize = 128;

/// A collection that is not yet complete.
struct Open {
    line: u64,
    wrong: Option<ForgeError>,
    inside: Inside,
}

/// What is in it so far.
enum Inside {
    List(Vec<Node>),
    /// Perhaps with a key that has no value yet, and its line.
    Map(Box<(Entries, Option<(Scalar, u64)>)>),
}

/// Reads the one document of a text; none where there is nothing in it.
pub(super) fn read(text: &str) -> Read<Option<Node>> {
    check_size(text.len())?;
    let mut options = Options::default();
    options.flow_nesting_limit = MOST_NESTING;
    options.block_nesting_limit = MOST_NESTING;
    let parser = Parser::new_from_str_with_options(without_mark(text), options);
    let mut tree = Tree::default();
    for event in parser {
        let (event, span) = event.map_err(|error| refused(text, &error))?;
        tree.take(event, span.start.line() as u64)?;
    }
    Ok(tree.root.filter(|node| !is_null(node)))
}

fn is_null(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(scalar) if scalar.is_null())
}

fn refused(text: &str, error: &ScanError) -> ForgeError {
    let line = error.marker().line() as u64;
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => too_deep(line),
        ErrorKind::UnknownAnchor => ForgeError::Reference { line },
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => ForgeError::Tab {
            line: tab_from(text, line),
        },
        _ => ForgeError::Syntax {
            line,
            reason: error.info(),
        },
    }
}

/// The line of a tab that is in the way. The library may name the line where the
/// value begins that it is in.
fn tab_from(text: &str, line: u64) -> u64 {
    let indented = |line: &str| {
        let content = line.trim_start_matches([' ', '\t']);
        line.strip_suffix(content)
            .is_some_and(|indent| indent.contains('\t'))
    };
    let mut lines = (1..)
        .zip(text.lines())
        .skip_while(|(number, _)| *number < line);
    let tab = lines.find(|(_, text)| indented(text));
    tab.map_or(line, |(number, _)| number)
}

fn too_deep(line: u64) -> ForgeError {
    ForgeError::TooDeep {
        line: Some(line),
        limit: MOST_NESTING,
    }
}

#[derive(Default)]
struct Tree {
    documents: usize,
    open: Vec<Open>,
    root: Option<Node>,
}

impl Tree {
    fn take(&mut self, event: Event<'_>, line: u64) -> Read<()> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(ForgeError::SeveralDocuments { line });
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let value = match wrong(anchor, tag.as_deref(), line, |suffix| suffix == "str") {
                    Some(error) => Value::Wrong(Box::new(error)),
                    // With a tag it is a text regardless of how it looks.
                    None if plain && tag.is_none() => {
                        Value::Scalar(Scalar::bare(text.into_owned()))
                    }
                    None => Value::Scalar(Scalar::Text(text.into_owned())),
                };
                self.add(value, line);
            }
            Event::SequenceStart(_, anchor, tag) => self.begin(Open {
                line,
                wrong: wrong(anchor, tag.as_deref(), line, |suffix| suffix == "seq"),
                inside: Inside::List(Vec::new()),
            })?,
            Event::MappingStart(_, anchor, tag) => self.begin(Open {
                line,
                wrong: wrong(anchor, tag.as_deref(), line, |suffix| suffix == "map"),
                inside: Inside::Map(Box::default()),
            })?,
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(_) => {
                self.add(Value::Wrong(Box::new(ForgeError::Reference { line })), line);
            }
            // Beginnings and ends of the whole say nothing, and other events are
            // only given to those who ask for them.
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, collection: Open) -> Read<()> {
        if self.open.len() >= MOST_NESTING {
            return Err(too_deep(collection.line));
        }
        self.open.push(collection);
        Ok(())
    }

    fn end(&mut self) {
        let Some(Open {
            line,
            wrong,
            inside,
        }) = self.open.pop()
        else {
            return;
        };
        let value = match (wrong, inside) {
            (Some(error), _) => Value::Wrong(Box::new(error)),
            (None, Inside::List(items)) => Value::List(items),
            (None, Inside::Map(map)) => map.0.finish(),
        };
        self.add(value, line);
    }

    /// Puts a complete value where it belongs.
    fn add(&mut self, value: Value, line: u64) {
        let node = Node {
            line: Some(line),
            value,
        };
        match self.open.last_mut().map(|open| &mut open.inside) {
            None => self.root = Some(node),
            Some(Inside::List(items)) => items.push(node),
            Some(Inside::Map(map)) => {
                let (entries, key) = &mut **map;
                match key.take() {
                    Some((name, key_line)) => entries.push(name, Some(key_line), node),
                    None => *key = Some((key_of(node, line, entries), line)),
                }
            }
        }
    }
}

/// The key that a node is. A node that cannot be a key makes the mapping wrong.
fn key_of(node: Node, line: u64, entries: &mut Entries) -> Scalar {
    let found = node.what();
    match node.value {
        Value::Scalar(key) => return key,
        Value::Wrong(error) => entries.refuse(*error),
        Value::List(_) | Value::Map(_) => entries.refuse(ForgeError::KeyNotText { line, found }),
    }
    Scalar::Text(String::new())
}

/// What is wrong with a node before its content: only tags are read that say
/// what the node is in any case, or that it is a text.
fn wrong(
    anchor: usize,
    tag: Option<&Tag>,
    line: u64,
    fits: impl Fn(&str) -> bool,
) -> Option<ForgeError> {
    if anchor != 0 {
        return Some(ForgeError::Reference { line });
    }
    let tag = tag?;
    let unspecific = tag.handle().is_empty() && tag.suffix() == "!";
    if unspecific || tag.core_suffix().is_some_and(fits) {
        return None;
    }
    let tag = super::error::shown(&format!("{}{}", tag.original_handle(), tag.suffix()));
    Some(ForgeError::Tag { line, tag })
}

#[cfg(test)]
mod tests;

//! Policy files as text: where each policy begins, and what is wrong in it, by lines.

use cedar_policy::ffi::DetailedError;

/// One policy of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// Its text, with the comments before it.
    pub(crate) text: &'a str,
    /// Where that begins in the file.
    pub(crate) offset: usize,
    /// The line that the policy itself begins on.
    pub(crate) line: usize,
}

/// What is wrong in a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The rule, if it has got a name.
    pub rule: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

impl std::fmt::Display for PolicyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PolicyError {
            file,
            line,
            rule,
            reason,
        } = self;
        match rule {
            Some(rule) => write!(f, "{file}, line {line}: rule {rule}: {reason}"),
            None => write!(f, "{file}, line {line}: {reason}"),
        }
    }
}

/// The policies of a file. Each ends with a semicolon.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut begin, mut at) = (Vec::new(), 0, 0);
    let mut first = None;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let step = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => {
                first.get_or_insert(at);
                string(rest)
            }
            c => {
                if !c.is_whitespace() {
                    first.get_or_insert(at);
                }
                c.len_utf8()
            }
        };
        at += step;
        if c == ';' {
            pieces.extend(piece(text, begin, at, first.take()));
            begin = at;
        }
    }
    // What is left is a policy without an end, if it is anything.
    if first.is_some() {
        pieces.extend(piece(text, begin, text.len(), first));
    }
    pieces
}

fn piece(text: &str, begin: usize, end: usize, first: Option<usize>) -> Option<Piece<'_>> {
    Some(Piece {
        text: text.get(begin..end)?,
        offset: begin,
        line: line_at(text, first.unwrap_or(begin)),
    })
}

/// The length of a string with its quotes.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The line that a byte is in, from 1.
pub(crate) fn line_at(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// What Cedar found wrong in a piece, in one sentence, and the line of the file.
pub(crate) fn said(error: &DetailedError, text: &str, piece: Piece<'_>) -> (usize, String) {
    let place = error.source_locations.first();
    let line = match place {
        Some(place) => line_at(text, piece.offset + place.loc.start),
        None => piece.line,
    };
    let mut reason = error.message.replace('\n', " ");
    let expected = place.and_then(|place| place.label.as_deref());
    for more in expected.into_iter().chain(error.help.as_deref()) {
        reason.push_str("; ");
        reason.push_str(&more.replace('\n', " "));
    }
    (line, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_told_apart_by_their_ends() {
        let text = "// a; b\n@id(\"x;y\")\npermit(principal, action, resource);\n\nforbid(a, b, c)\nwhen { \"\\\";\" };\n  // end\n";
        let found = pieces(text);
        assert_eq!(found.iter().map(|it| it.line).collect::<Vec<_>>(), [2, 5]);
        assert_eq!(found.concat_texts(), text.trim_end_matches("\n  // end\n"));
        assert_eq!(pieces("permit(").len(), 1);
        assert_eq!(pieces("// nothing\n").len(), 0);
    }

    trait Texts {
        fn concat_texts(&self) -> String;
    }

    impl Texts for Vec<Piece<'_>> {
        fn concat_texts(&self) -> String {
            self.iter().map(|it| it.text).collect()
        }
    }
}

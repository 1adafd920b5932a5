//! The JSON texts in an agent's answer, which has prose around them or fences.
//!
//! A brace of the prose is passed over. JSON is taken as a whole: what is
//! inside it is never taken by itself, otherwise one task of a list that has a
//! mistake in it would pass for the whole list.

use serde_json::Deserializer;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::error::ForgeError;
use super::text::line_at;

/// Something in an answer that begins as JSON.
pub(super) enum Candidate<'a> {
    /// It is JSON.
    Whole {
        /// Where it begins, in bytes.
        start: usize,
        text: &'a str,
        /// Whether it cannot be a part of something before it that is broken.
        alone: bool,
    },
    /// It is not.
    Broken(ForgeError),
}

/// The candidates of an answer, in their order. All of them together take time in
/// proportion to the answer.
pub(super) struct Candidates<'a> {
    answer: &'a str,
    next: usize,
    alone: bool,
    /// An offset and its line: where lines were counted last.
    counted: (usize, u64),
}

impl<'a> Candidates<'a> {
    pub(super) fn of(answer: &'a str) -> Candidates<'a> {
        Candidates {
            answer,
            next: 0,
            alone: true,
            counted: (0, 1),
        }
    }

    /// The offset of the next text that begins as JSON does.
    fn next_start(&self) -> Option<usize> {
        let rest = self.answer.get(self.next..)?;
        let brackets = rest.match_indices(['{', '[']);
        let mut starts = brackets.filter(|(at, _)| rest.get(*at..).is_some_and(begins));
        starts.next().map(|(at, _)| self.next + at)
    }

    /// The line of an offset, which is not before the last one that was asked for.
    fn line_at(&mut self, offset: usize) -> u64 {
        let (from, line) = self.counted;
        let between = self.answer.get(from..offset).unwrap_or_default();
        let line = line + line_at(between, between.len()) - 1;
        self.counted = (offset, line);
        line
    }

    fn candidate(&mut self, start: usize) -> Option<Candidate<'a>> {
        let rest = self.answer.get(start..)?;
        let mut values = Deserializer::from_str(rest).into_iter::<&RawValue>();
        let error = match values.next()? {
            Ok(raw) => {
                self.next = start + values.byte_offset();
                return Some(Candidate::Whole {
                    start,
                    text: raw.get(),
                    alone: self.alone,
                });
            }
            Err(error) => error,
        };
        self.alone = false;
        let line = self.line_at(start);
        if error.classify() == Category::Eof {
            // All that is left is inside it.
            self.next = self.answer.len();
            return Some(Candidate::Broken(ForgeError::CutOff { line }));
        }
        self.next = start + read_until(rest, &error).max(1);
        Some(Candidate::Broken(ForgeError::Json {
            line: Some(line + error.line().saturating_sub(1) as u64),
            reason: error.to_string(),
        }))
    }
}

impl<'a> Iterator for Candidates<'a> {
    type Item = Candidate<'a>;

    fn next(&mut self) -> Option<Candidate<'a>> {
        let start = self.next_start()?;
        self.candidate(start)
    }
}

/// Whether a text begins with an object that has a key, or with a list of objects.
fn begins(text: &str) -> bool {
    match text.strip_prefix('[') {
        Some(list) => begins_object(list.trim_start()),
        None => begins_object(text),
    }
}

fn begins_object(text: &str) -> bool {
    let key = text.strip_prefix('{').map(str::trim_start);
    let Some(key) = key.and_then(|text| text.strip_prefix('"')) else {
        return false;
    };
    let mut escaped = false;
    for (at, byte) in key.bytes().enumerate() {
        match byte {
            b'\n' => return false,
            b'"' if !escaped => {
                let after = key.get(at + 1..).unwrap_or_default();
                return after.trim_start().starts_with(':');
            }
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    false
}

/// How many bytes of a text were read before an error, at least almost: what
/// is there may begin something else.
fn read_until(text: &str, error: &serde_json::Error) -> usize {
    let before = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let lines: usize = before.map(str::len).sum();
    let mut end = (lines + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

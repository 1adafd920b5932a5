//! A draft: `.forge/intent-drafts/{stem}.md`, in which a person writes down what
//! they want (docs/spec/forge.md, Human input). Its source is `human`.
//!
//! Frontmatter between two lines `---` may say the type, the labels and the risk.
//! What follows is the title, up to the first blank line, and the body.

use super::error::{ForgeError, Place, Read};
use super::fields::Fields;
use super::sieve::Sieve;
use super::text::{check_size, line_at, without_mark};
use super::yaml;
use crate::secrets::Secrets;
use annals_domain::intent::{Risk, WorkType};

/// The line before and behind the frontmatter.
const FENCE: &str = "---";

/// A draft as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeDraft {
    /// The text up to the first blank line: perhaps several lines, kept as they
    /// are.
    pub title: String,
    /// The rest, from its first line that is not blank; empty, if there is only a
    /// title. Lines end in `\n`, also where the file has another end.
    pub body: String,
    /// The kind of work, where its author has said it.
    pub work_type: Option<WorkType>,
    /// Its labels.
    pub labels: Vec<String>,
    /// How much can go wrong, where its author has said it.
    pub risk: Option<Risk>,
}

/// Reads a draft.
pub fn read(text: &str) -> Read<ForgeDraft> {
    read_through(text, &mut Sieve::new(&Secrets::none()))
}

/// The same without its secrets.
pub(super) fn read_through(text: &str, sieve: &mut Sieve<'_>) -> Read<ForgeDraft> {
    check_size(text.len())?;
    let text = without_mark(text).replace("\r\n", "\n");
    let parts = split(&text)?;
    let mut draft = match parts.frontmatter {
        Some((line, yaml)) => frontmatter(line, yaml, sieve)?,
        None => nothing_said(),
    };
    let before = text.strip_suffix(parts.rest).unwrap_or_default();
    let rest = sieve.text(parts.rest, line_at(before, before.len()));
    let (title, body) = title_and_body(&rest);
    if title.is_empty() {
        return Err(ForgeError::EmptyDraft {
            line: text.lines().count().max(1) as u64,
        });
    }
    title.clone_into(&mut draft.title);
    body.clone_into(&mut draft.body);
    Ok(draft)
}

fn nothing_said() -> ForgeDraft {
    ForgeDraft {
        title: String::new(),
        body: String::new(),
        work_type: None,
        labels: Vec::new(),
        risk: None,
    }
}

/// A draft's text in its parts.
struct Parts<'a> {
    /// The frontmatter without its fences, and the line of the first fence.
    frontmatter: Option<(u64, &'a str)>,
    rest: &'a str,
}

fn split(text: &str) -> Read<Parts<'_>> {
    let (mut begin, mut offset) = (None, 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let end = offset + line.len();
        let is_fence = line.trim_end() == FENCE;
        match begin {
            None if is_fence => begin = Some((number, end)),
            None if !line.trim().is_empty() => break,
            Some((first, start)) if is_fence => {
                return Ok(Parts {
                    frontmatter: Some((first, text.get(start..offset).unwrap_or_default())),
                    rest: text.get(end..).unwrap_or_default(),
                });
            }
            None | Some(_) => {}
        }
        offset = end;
    }
    match begin {
        Some((line, _)) => Err(ForgeError::UnclosedFrontmatter { line }),
        None => Ok(Parts {
            frontmatter: None,
            rest: text,
        }),
    }
}

/// Reads what a frontmatter says that begins after this line.
fn frontmatter(fence: u64, text: &str, sieve: &mut Sieve<'_>) -> Read<ForgeDraft> {
    let invalid = |error: ForgeError| match error {
        // A word is as wrong here as in an intent's file.
        ForgeError::Word { .. } => error,
        other => ForgeError::InvalidFrontmatter {
            line: other.line().unwrap_or(fence),
            reason: other.to_string(),
        },
    };
    said(fence, text, sieve).map_err(invalid)
}

fn said(fence: u64, text: &str, sieve: &mut Sieve<'_>) -> Read<ForgeDraft> {
    // Blank lines in the place of those before it: so its lines are the draft's.
    let before = usize::try_from(fence).unwrap_or_default();
    let Some(mut node) = yaml::read(&("\n".repeat(before) + text))? else {
        return Ok(nothing_said());
    };
    sieve.node(&mut node);
    let place = Place {
        line: node.line,
        path: String::new(),
    };
    let mut fields = Fields::of(place, node)?;
    Ok(ForgeDraft {
        work_type: fields.optional_type("type")?,
        labels: fields.labels("labels")?,
        risk: fields.optional_word("risk")?,
        ..nothing_said()
    })
}

/// A first line that is a heading, without its marks, and what stands behind it; or else the text
/// up to the first blank line, and from the next one that is not blank. Blank lines before the title
/// do not count.
fn title_and_body(text: &str) -> (&str, &str) {
    if let Some(parts) = heading(text) {
        return parts;
    }
    let mut offset = 0;
    let (mut title, mut title_end) = (None, None);
    for line in text.split_inclusive('\n') {
        let blank = line.trim().is_empty();
        match (title, title_end) {
            (None, _) if !blank => title = Some(offset),
            (Some(_), None) if blank => title_end = Some(offset),
            (Some(start), Some(end)) if !blank => {
                let title = text.get(start..end).unwrap_or_default();
                return (title.trim(), text.get(offset..).unwrap_or_default());
            }
            _ => {}
        }
        offset += line.len();
    }
    (text.trim(), "")
}

/// The heading that a text begins with (`# X`, also with closing marks), and what stands behind it.
fn heading(text: &str) -> Option<(&str, &str)> {
    let text = without_blank_lines(text);
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let unmarked = first.trim_start().trim_start_matches('#');
    let marks = first.trim_start().len() - unmarked.len();
    if !(1..=6).contains(&marks) || !unmarked.starts_with([' ', '\t']) {
        return None;
    }
    let title = unmarked.trim();
    let closed = title.trim_end_matches('#');
    let title = match closed.is_empty() || closed.ends_with([' ', '\t']) {
        true => closed.trim_end(),
        false => title,
    };
    (!title.is_empty()).then(|| (title, without_blank_lines(rest)))
}

/// A text from its first line that is not blank.
fn without_blank_lines(text: &str) -> &str {
    let blank = text
        .split_inclusive('\n')
        .take_while(|line| line.trim().is_empty());
    text.get(blank.map(str::len).sum()..).unwrap_or_default()
}

#[cfg(test)]
mod tests;

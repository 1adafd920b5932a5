//! The texts of a finished HTML page: what a reader sees, without markup, and replacements that keep the markup whole.
//!
//! ```text
//! <p>a<b>b</b>&lt;c</p>  ->  "\nab<c\n"    tags of lines and blocks end a line, tags within lines do not
//! ```
//!
//! The pages are those of the viewer: tags are closed, attributes are quoted, and nothing is a comment or a script.

use std::collections::BTreeMap;
use std::ops::Range;

use annals_dialects::secrets::{FoundValue, ValueFinder};

/// Elements within a line: the text around them is one text.
const WITHIN_LINE: [&str; 22] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "em", "i", "ins", "kbd", "mark",
    "q", "s", "small", "span", "strong", "sub", "sup", "u",
];
/// The element whose content is no text.
const STYLE: &str = "style";
/// The beginning of addresses that have their content in them.
const DATA: &str = "data:";

/// A part of a page's text, and where it is in the page.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    /// The bytes of the text.
    text: Range<usize>,
    /// The bytes of the page: as many, unless it is one character that is escaped.
    page: Range<usize>,
}

/// The texts of a page.
#[derive(Debug, Default)]
pub(super) struct PageTexts {
    text: String,
    runs: Vec<Run>,
    /// The values of attributes, as they are in the page.
    attributes: Vec<Range<usize>>,
}

/// A page without some values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CleanPage {
    pub(super) page: String,
    /// The number of values that were replaced, by kind.
    pub(super) replaced: BTreeMap<String, u64>,
}

impl PageTexts {
    /// Reads a page.
    pub(super) fn of(page: &str) -> PageTexts {
        let mut texts = PageTexts::default();
        let mut at = 0;
        while let Some(rest) = page.get(at..).filter(|rest| !rest.is_empty()) {
            if let Some(tag) = rest.strip_prefix('<') {
                let end = at + 1 + tag_end(tag);
                let name = texts.tag(page, at + 1..end);
                at = (end + 1).min(page.len());
                if name == STYLE {
                    at += page
                        .get(at..)
                        .and_then(|rest| rest.find("</style"))
                        .unwrap_or_default();
                }
            } else {
                let end = rest.find('<').map_or(page.len(), |end| at + end);
                texts.runs_of(page, at..end);
                at = end;
            }
        }
        texts
    }

    /// The text of all elements.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Reads a tag without its brackets, and returns the name of the element that it begins.
    fn tag<'p>(&mut self, page: &'p str, range: Range<usize>) -> &'p str {
        let tag = page.get(range.clone()).unwrap_or_default();
        let name = tag.trim_start_matches('/');
        let end = name.find(|c: char| !c.is_ascii_alphanumeric());
        let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
        if !WITHIN_LINE.contains(&name) && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        let mut at = 0;
        while let Some(begin) = tag.get(at..).and_then(|rest| rest.find('"')) {
            let begin = at + begin + 1;
            let Some(length) = tag.get(begin..).and_then(|rest| rest.find('"')) else {
                break;
            };
            let value = range.start + begin..range.start + begin + length;
            if page
                .get(value.clone())
                .is_some_and(|it| !it.is_empty() && !it.starts_with(DATA))
            {
                self.attributes.push(value);
            }
            at = begin + length + 1;
        }
        if tag.starts_with('/') { "" } else { name }
    }

    /// Adds the text between two tags.
    fn runs_of(&mut self, page: &str, range: Range<usize>) {
        let (text, runs) = unescaped(page, range);
        let before = self.text.len();
        self.text.push_str(&text);
        self.runs.extend(runs.into_iter().map(|run| Run {
            text: before + run.text.start..before + run.text.end,
            page: run.page,
        }));
    }

    /// Finds values in the whole text, and in each run alone: what elements stand next to may only look like one word.
    fn find(&self, finder: &ValueFinder) -> Vec<FoundValue> {
        let mut all = finder.find(&self.text);
        // A run of one character, as an escape is, has no value.
        for run in self.runs.iter().filter(|run| run.text.len() > 1) {
            let text = self.text.get(run.text.clone()).unwrap_or_default();
            all.extend(finder.find(text).into_iter().map(|found| FoundValue {
                range: run.text.start + found.range.start..run.text.start + found.range.end,
                ..found
            }));
        }
        all.sort_by_key(|it| (it.range.start, std::cmp::Reverse(it.range.end)));
        let mut end = 0;
        all.retain(|it| {
            let is_free = it.range.start >= end;
            if is_free {
                end = it.range.end;
            }
            is_free
        });
        all
    }

    /// Replaces the values that a search finds by markers, in texts and in attributes.
    pub(super) fn without(&self, page: &str, finder: &ValueFinder) -> CleanPage {
        let mut values: BTreeMap<usize, String> = BTreeMap::new();
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        let mut note = |found: &FoundValue| {
            values
                .entry(found.value)
                .or_insert_with(|| found.kind.to_string());
        };
        for found in self.find(finder) {
            note(&found);
            changes_of(&self.runs, &found, &mut changes);
        }
        for attribute in &self.attributes {
            let (text, runs) = unescaped(page, attribute.clone());
            for found in finder.find(&text) {
                note(&found);
                changes_of(&runs, &found, &mut changes);
            }
        }
        changes.sort_by_key(|(range, _)| range.start);
        let (mut clean, mut copied) = (String::with_capacity(page.len()), 0);
        for (range, with) in changes {
            clean.push_str(page.get(copied..range.start).unwrap_or_default());
            clean.push_str(&with);
            copied = range.end;
        }
        clean.push_str(page.get(copied..).unwrap_or_default());
        let mut replaced = BTreeMap::new();
        for kind in values.into_values() {
            *replaced.entry(kind).or_default() += 1;
        }
        CleanPage {
            page: clean,
            replaced,
        }
    }
}

/// Adds the changes of a page that replace a value: the marker stands where it begins.
fn changes_of(runs: &[Run], found: &FoundValue, changes: &mut Vec<(Range<usize>, String)>) {
    let mut marker = format!("[redacted:{}]", found.kind);
    let first = runs.partition_point(|run| run.text.end <= found.range.start);
    let runs = runs.get(first..).unwrap_or_default().iter();
    for run in runs.take_while(|run| run.text.start < found.range.end) {
        let range = if run.text.len() == run.page.len() {
            let inside = |at: usize| run.page.start + (at - run.text.start);
            let start = found.range.start.max(run.text.start);
            inside(start)..inside(found.range.end.min(run.text.end))
        } else {
            run.page.clone()
        };
        changes.push((range, std::mem::take(&mut marker)));
    }
}

/// The text of a part of a page without its escapes.
fn unescaped(page: &str, range: Range<usize>) -> (String, Vec<Run>) {
    let (mut text, mut runs): (String, Vec<Run>) = (String::new(), Vec::new());
    let mut at = range.start;
    let mut add = |part: &str, page: Range<usize>| {
        let begin = text.len();
        text.push_str(part);
        if begin < text.len() {
            runs.push(Run {
                text: begin..text.len(),
                page,
            });
        }
    };
    while let Some(rest) = page.get(at..range.end).filter(|rest| !rest.is_empty()) {
        let plain = rest.find('&').unwrap_or(rest.len());
        add(rest.get(..plain).unwrap_or_default(), at..at + plain);
        let escape = rest.get(plain..).unwrap_or_default();
        let length = match escape_of(escape) {
            Some((c, length)) => {
                add(c.encode_utf8(&mut [0; 4]), at + plain..at + plain + length);
                length
            }
            None if escape.is_empty() => 0,
            None => {
                add("&", at + plain..at + plain + 1);
                1
            }
        };
        at += plain + length;
    }
    (text, runs)
}

/// The character of an escape at the beginning of a text, and the length of the escape.
fn escape_of(text: &str) -> Option<(char, usize)> {
    let name = text.strip_prefix('&')?;
    let name = name.get(..name.bytes().take(12).position(|it| it == b';')?)?;
    let number = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => match name.strip_prefix("#x") {
            Some(digits) => number(digits, 16)?,
            None => number(name.strip_prefix('#')?, 10)?,
        },
    };
    Some((c, name.len() + 2))
}

/// The offset of the bracket that ends a tag: one in a quoted value does not.
fn tag_end(tag: &str) -> usize {
    let mut is_quoted = false;
    let mut bytes = tag.bytes();
    let end = bytes.position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    });
    end.unwrap_or(tag.len())
}

#[cfg(test)]
mod tests {
    use annals_dialects::secrets::{SecretValues, Secrets};

    use super::*;

    fn cleaned(secret: &str, page: &str) -> CleanPage {
        let mut values = SecretValues::default();
        values.add(&Secrets::standard().redact(secret).hits);
        PageTexts::of(page).without(page, &values.finder())
    }

    #[test]
    fn tags_of_lines_end_lines() {
        let page = "<html><style>p > q {}</style><p title=\"a > b\">a<b>b</b>&lt;c &amp;&#x27; & d</p><td>e</td></html>";
        assert_eq!(PageTexts::of(page).text().trim(), "ab<c &' & d\ne");
    }

    #[test]
    fn markup_within_and_around_a_value_stays() {
        let page = "<p title=\"x Env9&amp;Passw0rd33\"><b class=\"k\">DB</b>=<i>Env9</i><u>&amp;Pass</u>w0rd33</p>";
        let clean = cleaned("DB_PASSWORD=Env9&Passw0rd33", page);
        assert!(!clean.page.contains("Env9"), "{clean:?}");
        let tags = |page: &str| page.matches('<').count();
        assert_eq!(tags(&clean.page), tags(page));
    }

    #[test]
    fn a_value_over_several_elements_is_counted_once() {
        let page = "<p><i>Env9Pas</i><u>sw0rd33</u> and Env9Passw0rd33</p><p>x</p>";
        let clean = cleaned("password=Env9Passw0rd33", page);
        assert_eq!(clean.replaced.values().sum::<u64>(), 1);
        let marker = |page: &str| page.matches("[redacted:").count();
        assert_eq!(marker(&clean.page), 2, "{clean:?}");
        assert!(clean.page.ends_with("</p><p>x</p>"), "{clean:?}");
        assert!(clean.page.contains("<u></u>"), "{clean:?}");
    }

    #[test]
    fn a_page_without_values_is_unchanged() {
        let page = "<p title=\"a\">&lt;password=Other9Passw0rd&gt;</p>";
        let clean = cleaned("password=Env9Passw0rd33", page);
        assert_eq!((clean.page.as_str(), clean.replaced.len()), (page, 0));
    }
}

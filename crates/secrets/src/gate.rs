//! Which patterns a text may match, and where: most texts match none, and are only read once.
//!
//! Every pattern has a hint, an expression that every text matches in which the pattern finds something. Keywords are
//! taken from the hints, and searched for all at once. Around a keyword the hint is tried, and around what it matches the
//! pattern itself. Hints without a keyword are tried on long runs of letters and digits.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};

use super::keywords::{Keyword, Keywords};
use super::line::{self, Parts};
use super::pattern::Pattern;

/// Bytes before and behind a keyword in which its hint is tried, if what it matches has no greatest length.
const HINT_BEFORE: usize = 64;
const HINT_BEHIND: usize = 256;
/// The fewest and the most bytes of a keyword. Longer ones are cut.
const SHORTEST: usize = 3;
const LONGEST: usize = 32;
/// The most keywords of a hint.
const MOST_KEYWORDS: usize = 600;
/// Signs that are rare enough to be a keyword alone.
const RARE: &[u8] = b"@~^";

/// Letters and digits of a run in which hints without a keyword are tried.
const RUN: usize = 20;
/// Bytes around a run in which they are tried, and their patterns.
const AROUND_RUN: usize = 128;
/// The length of a UUID, and where it has dashes.
const UUID: usize = 36;
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// Bytes that the search for hints without keywords may take, of each thread.
const SET_BYTES: usize = 4 * 1024 * 1024;

/// A pattern that a text may match, and the places of its hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) pattern: usize,
    pub(super) hits: Rc<Parts>,
}

/// What decides which patterns are searched for.
#[derive(Debug)]
pub(super) struct Gate {
    hints: Vec<Hint>,
    keywords: Keywords,
    /// Hints that have each keyword, by its number.
    of_keyword: Vec<Vec<usize>>,
    /// The hints without keywords, which are tried on runs, and their numbers.
    on_runs: Option<RegexSet>,
    of_run: Vec<usize>,
    /// The patterns that every text may match: those that callers add.
    always: Vec<usize>,
}

#[derive(Debug)]
struct Hint {
    regex: String,
    /// Bytes before and behind a keyword in which it is tried.
    reach: (usize, usize),
    /// `true` if its matches lie within a line.
    is_of_a_line: bool,
    /// Made when a text has a keyword of it: most imports need few.
    made: OnceLock<Option<Regex>>,
    /// The patterns that have it.
    patterns: Vec<usize>,
}

impl Hint {
    /// Returns the part of a text in which it is tried for a keyword.
    fn around(&self, text: &[u8], (start, end): (usize, usize)) -> (usize, usize) {
        let (before, behind) = self.reach;
        let part = (start.saturating_sub(before), end + behind);
        match self.is_of_a_line && behind >= HINT_BEHIND {
            true => line::within(text, (start, end), part),
            false => part,
        }
    }

    /// Adds its matches in these parts of a text.
    fn try_in(&self, number: usize, text: &[u8], parts: &Parts, found: &mut Found) {
        let made = self.made.get_or_init(|| {
            let mut hint = RegexBuilder::new(&self.regex);
            hint.unicode(false).build().ok()
        });
        let Some(hint) = made else {
            return found.add(number, 0, text.len());
        };
        for (start, end) in parts {
            let part = text.get(..*end).unwrap_or_default();
            let mut at = *start;
            while let Some(hit) = hint.find_at(part, at) {
                found.add(number, hit.start(), hit.end());
                at = hit.end().max(at + 1);
                if at > part.len() {
                    break;
                }
            }
        }
    }
}

impl Gate {
    pub(super) fn of(patterns: &[Pattern]) -> Gate {
        let mut by_hint: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut always = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            match pattern.hint.as_ref() {
                "" => always.push(index),
                hint => by_hint.entry(hint).or_default().push(index),
            }
        }
        let (mut hints, mut of_run) = (Vec::new(), Vec::new());
        let mut keywords: BTreeMap<Keyword, Vec<usize>> = BTreeMap::new();
        for (hint, patterns) in by_hint {
            match keywords_of(hint) {
                Some(found) => {
                    let is_exact = !hint.contains("(?i");
                    for mut text in found {
                        if !is_exact {
                            text.make_ascii_lowercase();
                        }
                        let of = keywords.entry(Keyword { text, is_exact }).or_default();
                        of.push(hints.len());
                    }
                }
                None => of_run.push(hints.len()),
            }
            let (reach, is_of_a_line) = shape(hint);
            hints.push(Hint {
                regex: hint.to_owned(),
                reach,
                is_of_a_line,
                made: OnceLock::new(),
                patterns,
            });
        }
        let on_runs = of_run.iter().filter_map(|hint| hints.get(*hint));
        let mut on_runs = RegexSetBuilder::new(on_runs.map(|hint| hint.regex.as_str()));
        let on_runs = on_runs.unicode(false).dfa_size_limit(SET_BYTES).build();
        let (keywords, of_keyword) = keywords.into_iter().unzip();
        Gate {
            keywords: Keywords::new(keywords),
            of_keyword,
            on_runs: on_runs.ok(),
            of_run,
            hints,
            always,
        }
    }

    /// The patterns that a text may match, in order.
    pub(super) fn candidates(&self, text: &[u8]) -> Vec<Candidate> {
        let mut found = Found::new(text.len());
        self.by_keywords(text, &mut found);
        self.by_runs(text, &mut found);
        let mut candidates: Vec<Candidate> = Vec::new();
        for (hint, hits) in found.parts {
            let hits = Rc::new(hits);
            let patterns = self.hints.get(hint).into_iter();
            for pattern in patterns.flat_map(|hint| &hint.patterns) {
                candidates.push(Candidate {
                    pattern: *pattern,
                    hits: Rc::clone(&hits),
                });
            }
        }
        candidates.extend(self.always.iter().map(|pattern| Candidate {
            pattern: *pattern,
            hits: Rc::new(vec![(0, text.len())]),
        }));
        candidates.sort_unstable_by_key(|candidate| candidate.pattern);
        candidates
    }

    fn by_keywords(&self, text: &[u8], found: &mut Found) {
        let mut tried = Found::new(text.len());
        self.keywords.search(text, |keyword, start, end| {
            let hints = self.of_keyword.get(keyword);
            for number in hints.into_iter().flatten() {
                if let Some(hint) = self.hints.get(*number) {
                    let (start, end) = hint.around(text, (start, end));
                    tried.add(*number, start, end);
                }
            }
        });
        for (number, parts) in &tried.parts {
            if let Some(hint) = self.hints.get(*number) {
                hint.try_in(*number, text, parts, found);
            }
        }
    }

    fn by_runs(&self, text: &[u8], found: &mut Found) {
        let Some(set) = self.on_runs.as_ref().filter(|set| !set.is_empty()) else {
            return;
        };
        let mut at = 0;
        while let Some((start, end)) = next_run(text, at) {
            at = end;
            let part = start.saturating_sub(AROUND_RUN)..(end + AROUND_RUN).min(text.len());
            for index in set.matches(text.get(part).unwrap_or_default()) {
                if let Some(hint) = self.of_run.get(index) {
                    found.add(*hint, start.saturating_sub(AROUND_RUN), end + AROUND_RUN);
                }
            }
        }
    }
}

/// Hints, each with parts of a text. There are few of them in a text.
struct Found {
    parts: Vec<(usize, Parts)>,
    length: usize,
}

impl Found {
    fn new(length: usize) -> Found {
        Found {
            parts: Vec::new(),
            length,
        }
    }

    fn add(&mut self, hint: usize, start: usize, end: usize) {
        let end = end.min(self.length);
        match self.parts.iter_mut().find(|(of, _)| *of == hint) {
            Some((_, parts)) => line::add(parts, (start, end)),
            None => self.parts.push((hint, vec![(start, end)])),
        }
    }
}

/// The next long run of letters, digits, dashes and underscores that has a digit and is no UUID.
fn next_run(text: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    while let Some(window) = text.get(at..at + RUN) {
        if let Some(other) = window.iter().rposition(|byte| !is_sign(byte)) {
            at += other + 1;
            continue;
        }
        let rest = text.get(at + RUN..).unwrap_or_default();
        let more = rest.iter().take_while(|byte| is_sign(byte)).count();
        let (start, end) = (at, at + RUN + more);
        let run = text.get(start..end).unwrap_or_default();
        if run.iter().any(u8::is_ascii_digit) && !is_uuid(run) {
            return Some((start, end));
        }
        at = end;
    }
    None
}

fn is_uuid(run: &[u8]) -> bool {
    run.len() == UUID && DASHES.iter().all(|at| run.get(*at) == Some(&b'-'))
}

/// Returns the bytes before and behind a keyword within which a hint matches, and whether its matches lie within a
/// line.
fn shape(hint: &str) -> ((usize, usize), bool) {
    let parsed = line::parse(hint);
    let longest = parsed.as_ref().and_then(|it| it.properties().maximum_len());
    // One more for what an assertion at either end looks at.
    let reach = longest.map_or((HINT_BEFORE, HINT_BEHIND), |longest| {
        (longest.min(HINT_BEFORE) + 1, longest.min(HINT_BEHIND) + 1)
    });
    (reach, parsed.is_some_and(|it| line::is_of_a_line(&it)))
}

/// Texts of which every text has one that the hint matches, without regard to case; nothing where there are none that are
/// rare enough.
fn keywords_of(hint: &str) -> Option<Vec<Vec<u8>>> {
    let plain = hint
        .replace("(?i:", "(?:")
        .replace("(?-i:", "(?:")
        .replace("(?i)", "");
    let mut found = required(&line::parse(&plain)?)?;
    for keyword in &mut found {
        keyword.truncate(LONGEST);
    }
    found.sort_unstable();
    found.dedup();
    let is_rare = |keyword: &Vec<u8>| match keyword.as_slice() {
        [sign] => RARE.contains(sign),
        [_, _] => keyword.iter().any(|byte| !byte.is_ascii_alphanumeric()),
        longer => longer.len() >= SHORTEST,
    };
    (found.len() <= MOST_KEYWORDS && found.iter().all(is_rare)).then_some(found)
}

/// Literals of which one is in everything that an expression matches: the longest, and of those the fewest.
fn required(expression: &Hir) -> Option<Vec<Vec<u8>>> {
    match expression.kind() {
        HirKind::Literal(literal) => Some(vec![literal.0.to_vec()]),
        HirKind::Capture(group) => required(&group.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => required(&repeated.sub),
        HirKind::Alternation(parts) => {
            let all: Option<Vec<Vec<Vec<u8>>>> = parts.iter().map(required).collect();
            Some(all?.concat())
        }
        HirKind::Concat(parts) => {
            let from = |at: usize| Hir::concat(parts.get(at..).unwrap_or_default().to_vec());
            let begins = (0..parts.len()).filter_map(|at| beginnings(&from(at)));
            let whole = parts.iter().filter_map(required);
            let worth = |literals: &Vec<Vec<u8>>| {
                let shortest = literals.iter().map(Vec::len).min().unwrap_or_default();
                (shortest.min(LONGEST), std::cmp::Reverse(literals.len()))
            };
            begins.chain(whole).max_by_key(worth)
        }
        _ => beginnings(expression),
    }
}

/// Literals with one of which everything begins that an expression matches.
fn beginnings(expression: &Hir) -> Option<Vec<Vec<u8>>> {
    let found = Extractor::new().extract(expression);
    let literals = found.literals()?.iter();
    let literals: Vec<Vec<u8>> = literals.map(|it| it.as_bytes().to_vec()).collect();
    let is_empty = literals.is_empty() || literals.iter().any(Vec::is_empty);
    (!is_empty).then_some(literals)
}

#[cfg(test)]
mod tests {
    use super::super::pattern;
    use super::*;

    /// How many hints have no keyword.
    const ON_RUNS: usize = 24;
    /// How often a byte is searched on average.
    const MOST_SEARCHED: usize = 3;

    #[test]
    fn few_hints_have_no_keyword() {
        let gate = Gate::of(&pattern::standard().unwrap());
        let without = gate.of_run.iter().map(|hint| &gate.hints[*hint].regex);
        let without: Vec<&String> = without.collect();
        assert!(without.len() <= ON_RUNS, "{without:#?}");
        assert!(gate.keywords.is_searchable() && gate.on_runs.is_some());
        println!("{} keywords", gate.keywords.len());
    }

    /// How often each byte of ordinary texts is searched by patterns, on average: the cost of a search, without a clock.
    #[test]
    fn ordinary_texts_are_searched_by_few_patterns() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let patterns = pattern::standard().unwrap();
        let gate = Gate::of(&patterns);
        let (mut all, mut searched) = (0, 0);
        let mut by_kind: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for file in [
            "README.md",
            "Cargo.lock",
            "docs/tour.md",
            "examples/session.jsonl",
            "crates/annals/src/inbox.rs",
        ] {
            let text = std::fs::read(format!("{root}/{file}")).unwrap();
            all += text.len();
            for candidate in gate.candidates(&text) {
                let pattern = &patterns[candidate.pattern];
                let parts = pattern.parts(&text, &candidate.hits).into_iter();
                let bytes: usize = parts.map(|(start, end)| end - start).sum();
                searched += bytes;
                *by_kind.entry((&pattern.kind, &pattern.hint)).or_default() += bytes;
            }
        }
        let mut most: Vec<_> = by_kind.into_iter().collect();
        most.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        for ((kind, hint), bytes) in most.iter().take(20) {
            println!(
                "{bytes:>8} {kind} {}",
                hint.chars().take(60).collect::<String>()
            );
        }
        println!("{searched} of {all}");
        assert!(searched <= MOST_SEARCHED * all, "{searched} of {all} bytes");
    }

    #[test]
    fn keywords_are_in_all_that_a_hint_matches() {
        for (hint, keywords) in [
            ("ghp_", Some(vec!["ghp_"])),
            ("gh[po]_[A-Z]", Some(vec!["gho_", "ghp_"])),
            (
                "(?i:pass(?:word)?) ?=",
                Some(vec!["pass =", "pass=", "password =", "password="]),
            ),
            ("[0-9]{4}-[a-z]{4}", None),
            ("[a-z]+@[a-z]", Some(vec!["@"])),
            ("a|ghp_", None),
            ("x*(?:abcd|efgh)+y", Some(vec!["abcd", "efgh"])),
        ] {
            let found = keywords_of(hint).map(|found| {
                let found = found.into_iter();
                let texts = found.map(|keyword| String::from_utf8(keyword).unwrap());
                texts.collect::<Vec<_>>()
            });
            let keywords = keywords.map(|it| it.iter().map(|it| (*it).to_owned()).collect());
            assert_eq!(found, keywords, "{hint}");
        }
    }

    #[test]
    fn runs_are_long_have_a_digit_and_are_no_uuid() {
        let text =
            b"see 5f1d2c3b-0a4e-4c6d-8b7a-000000000012 and a_long_name_without_any_digit or \
            short1 and YCabcdefghijklmnopq0123";
        let mut runs = Vec::new();
        let mut at = 0;
        while let Some((start, end)) = next_run(text, at) {
            runs.push(String::from_utf8_lossy(&text[start..end]).into_owned());
            at = end;
        }
        assert_eq!(runs, ["YCabcdefghijklmnopq0123"]);
    }
}

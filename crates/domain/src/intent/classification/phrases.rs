//! Phrases: words that count together.

use std::collections::HashSet;
use std::ops::Range;

use super::text::{Text, Words, is_latin};

/// Words that follow one another; each part has alternatives, written as in [`Words`].
#[derive(Debug)]
pub(super) struct Phrase {
    parts: &'static [&'static str],
    /// Words of Latin script, or Japanese characters, that may be between two parts.
    within: usize,
    /// Words of Latin script that may not be between two parts.
    not_between: Words,
}

/// A phrase with at most `within` words, or Japanese characters, between its parts.
pub(super) const fn near(within: usize, parts: &'static [&'static str]) -> Phrase {
    Phrase {
        parts,
        within,
        not_between: Words(""),
    }
}

/// A verb and its object: like [`near`], but no preposition is between them.
pub(super) const fn object(within: usize, parts: &'static [&'static str]) -> Phrase {
    Phrase {
        parts,
        within,
        not_between: PREPOSITIONS,
    }
}

/// Prepositions, without other forms.
const PREPOSITIONS: Words =
    Words("from. in. on. at. of. for. to. by. into. that. which. when. if. about. as. after.");

/// A part of a Japanese phrase as a text has it: its byte and the word.
pub(super) type Found = (usize, &'static str);

impl Text {
    /// The first of the phrases that the text has, in Latin script.
    pub(super) fn first_phrase(&self, phrases: &[Phrase]) -> Option<String> {
        let first = |phrase| self.phrase_places(phrase).into_iter().next();
        phrases.iter().find_map(first).map(|it| self.joined(&it))
    }

    /// The first of the phrases that begins with the word at `start`, in Latin script.
    pub(super) fn phrase_at(&self, start: usize, phrases: &[Phrase]) -> Option<String> {
        let words: Vec<&str> = self.words().collect();
        let fits = |part: usize, at: usize, phrase: &Phrase| {
            let part = phrase.parts.get(part);
            part.zip(words.get(at))
                .map(|(part, word)| Words(part).fit(word))
        };
        let found = phrases.iter().find_map(|phrase| {
            let between = |at: usize| words.get(at).is_some_and(|it| phrase.not_between.fit(it));
            follow(start, phrase, &|part, at| fits(part, at, phrase), &between)
        });
        found.map(|places| self.joined(&places))
    }

    /// All places of a phrase, in Latin script: the numbers of its words.
    pub(super) fn phrase_places(&self, phrase: &Phrase) -> Vec<Vec<usize>> {
        let fit = |part: Words| -> HashSet<usize> {
            part.iter().flat_map(|word| self.forms_of(word)).collect()
        };
        let mut fitting = Vec::with_capacity(phrase.parts.len());
        for part in phrase.parts {
            let part = fit(Words(part));
            if part.is_empty() {
                return Vec::new();
            }
            fitting.push(part);
        }
        let not_between = fit(phrase.not_between);
        let number = |at: usize| self.spelling_of().get(at);
        let fits = |part: usize, at: usize| Some(fitting.get(part)?.contains(number(at)?));
        let between = |at| number(at).is_some_and(|it| not_between.contains(it));
        let starts = 0..self.spelling_of().len();
        let found = starts.filter_map(|start| follow(start, phrase, &fits, &between));
        found.collect()
    }

    /// The place in the text of a word of Latin script.
    pub(super) fn word_range(&self, at: usize) -> Option<Range<usize>> {
        self.word_ranges().get(at).cloned()
    }

    /// The words of Latin script at some places.
    pub(super) fn joined(&self, places: &[usize]) -> String {
        let word = |at: &usize| self.folded().get(self.word_range(*at)?);
        let words: Vec<&str> = places.iter().filter_map(word).collect();
        words.join(" ")
    }

    /// The first of the phrases that the text has, in Japanese.
    pub(super) fn first_japanese_phrase(&self, phrases: &[Phrase]) -> Option<String> {
        if self.folded().is_ascii() {
            return None;
        }
        let found = phrases
            .iter()
            .find_map(|phrase| japanese_places(self.folded(), phrase).into_iter().next());
        found.map(|parts| joined_japanese(&parts))
    }
}

pub(super) fn joined_japanese(parts: &[Found]) -> String {
    let words: Vec<&str> = parts.iter().map(|(_, word)| *word).collect();
    words.join(" ")
}

/// The words of a phrase whose first one is at `start`, if they are there: `fits` is asked
/// for a part and a word, `between` whether a word may not be between two of them.
fn follow(
    start: usize,
    phrase: &Phrase,
    fits: &impl Fn(usize, usize) -> Option<bool>,
    between: &impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(phrase.parts.len());
    extend(&mut places, start..start + 1, phrase, fits, between).then_some(places)
}

fn extend(
    places: &mut Vec<usize>,
    range: Range<usize>,
    phrase: &Phrase,
    fits: &impl Fn(usize, usize) -> Option<bool>,
    between: &impl Fn(usize) -> bool,
) -> bool {
    if places.len() == phrase.parts.len() {
        return true;
    }
    for at in range {
        if fits(places.len(), at) == Some(true) {
            places.push(at);
            let next = at + 1..at + 2 + phrase.within;
            if extend(places, next, phrase, fits, between) {
                return true;
            }
            places.pop();
        }
        if between(at) {
            return false;
        }
    }
    false
}

/// All places of a phrase in a Japanese text; a sentence's end is not between its parts.
pub(super) fn japanese_places(text: &str, phrase: &Phrase) -> Vec<Vec<Found>> {
    let Some(first) = phrase.parts.first() else {
        return Vec::new();
    };
    let mut starts: Vec<Found> = Words(first)
        .iter()
        .flat_map(|word| text.match_indices(word).map(move |(at, _)| (at, word)))
        .filter(|(at, word)| is_apart(text, *at, word))
        .collect();
    starts.sort_by_key(|(at, _)| *at);
    let found = starts.into_iter().filter_map(|start| {
        let mut parts = vec![start];
        extend_japanese(text, &mut parts, phrase).then_some(parts)
    });
    found.collect()
}

fn extend_japanese(text: &str, parts: &mut Vec<Found>, phrase: &Phrase) -> bool {
    let Some(part) = phrase.parts.get(parts.len()) else {
        return true;
    };
    let Some((at, word)) = parts.last().copied() else {
        return false;
    };
    let from = at + word.len();
    let behind = text.get(from..).unwrap_or_default();
    let ends = |c: &char| matches!(c, '。' | '\n' | '!' | '?');
    let places = behind.char_indices().take_while(|(_, c)| !ends(c));
    for (at, _) in places.take(phrase.within + 1) {
        let rest = behind.get(at..).unwrap_or_default();
        for word in Words(part).iter() {
            if rest.starts_with(word) && is_apart(text, from + at, word) {
                parts.push((from + at, word));
                if extend_japanese(text, parts, phrase) {
                    return true;
                }
                parts.pop();
            }
        }
    }
    false
}

/// Returns `true` if no part of a Japanese phrase is the end of another katakana word: コード, but
/// not レコード.
pub(super) fn is_whole(text: &str, parts: &[Found]) -> bool {
    let is_katakana = |c: char| matches!(c, 'ァ'..='ヺ' | 'ー');
    parts.iter().all(|(at, word)| {
        let before = text.get(..*at).and_then(|it| it.chars().next_back());
        !word.starts_with(is_katakana) || !before.is_some_and(is_katakana)
    })
}

/// Returns `true` if a word of Latin script in a Japanese text is a whole one; Japanese ones are.
fn is_apart(text: &str, at: usize, word: &str) -> bool {
    let (before, behind) = text.split_at_checked(at).unwrap_or_default();
    let behind = behind.get(word.len()..).unwrap_or_default();
    let goes_on =
        |a: Option<char>, b: Option<char>| a.is_some_and(is_latin) && b.is_some_and(is_latin);
    !goes_on(before.chars().next_back(), word.chars().next())
        && !goes_on(word.chars().next_back(), behind.chars().next())
}

//! The words of a text, as the index and a question have them (`docs/search.md`, "Words").
//!
//! A *run* is a longest sequence of letters and digits. `parseUtf8String` is one run of three parts, `max_frames` are
//! two runs. The words of a text are the parts, each at its own place, and for a run of several parts all of it once
//! more, over the places of its parts. All are folded, so that `É`, `é` and `e` are one letter.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

/// Characters of a word; what is longer is known by its beginning.
pub(crate) const LONGEST: usize = 64;

/// The most parts that a run is taken apart into; what has more is no name that a person gave.
const MOST_PARTS: usize = 16;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word {
    /// The word, folded.
    pub(crate) text: String,
    /// Where it is in the text, in bytes.
    pub(crate) bytes: Range<usize>,
    /// The place of its first part among the parts of the text, from 0.
    pub(crate) first: u32,
    /// The place behind its last part.
    pub(crate) end: u32,
}

/// A run of letters and digits in a text, with its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Run {
    pub(crate) bytes: Range<usize>,
    /// Where its parts end, in bytes of the text.
    pub(crate) ends: Vec<usize>,
}

/// The runs of a text, one after the other.
#[derive(Debug)]
pub(crate) struct Runs<'t> {
    text: &'t str,
    at: usize,
}

/// What a character is, where a run is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    /// A letter of another case, or of none.
    Lower,
    Digit,
    /// A mark on the letter before it.
    Mark,
    /// A word by itself: scripts that have no spaces between words.
    Alone,
    /// Not of a word.
    Between,
}

impl<'t> Runs<'t> {
    pub(crate) fn of(text: &'t str) -> Runs<'t> {
        Runs { text, at: 0 }
    }

    /// Finds the next run, and puts it in the place of the last one.
    pub(crate) fn next_into(&mut self, run: &mut Run) -> bool {
        run.ends.clear();
        let mut characters = self.text.get(self.at..).unwrap_or_default().char_indices();
        let Some((begin, found)) = characters.find_map(|(at, character)| {
            let class = class(character);
            let begins = !matches!(class, Class::Between | Class::Mark);
            begins.then_some((self.at + at, class))
        }) else {
            self.at = self.text.len();
            return false;
        };
        run.bytes = begin..self.text.len();
        let mut before = found;
        let mut second_last = Class::Between;
        for (at, character) in characters {
            let at = self.at + at;
            let now = class(character);
            if now == Class::Between
                || now == Class::Alone
                || before == Class::Alone && now != Class::Mark
            {
                run.bytes.end = at;
                break;
            }
            if now == Class::Mark {
                continue;
            }
            match (before, now) {
                // parse|Utf8|String
                (Class::Lower | Class::Digit, Class::Upper) => run.ends.push(at),
                // HTTP|Server: the last of the upper letters begins the next part.
                (Class::Upper, Class::Lower) if second_last == Class::Upper => {
                    let last = self.text.get(..at).and_then(|text| {
                        let letters = text.char_indices().rev();
                        letters
                            .map(|(at, letter)| (at, class(letter)))
                            .find(|(_, it)| *it != Class::Mark)
                    });
                    run.ends.extend(last.map(|(at, _)| at));
                }
                _ => {}
            }
            second_last = before;
            before = now;
        }
        self.at = run.bytes.end;
        if run.ends.len() >= MOST_PARTS {
            run.ends.clear();
        }
        run.ends.push(run.bytes.end);
        true
    }
}

impl Run {
    /// The bytes of its parts.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let begins = std::iter::once(self.bytes.start).chain(self.ends.iter().copied());
        begins
            .zip(self.ends.iter().copied())
            .map(|(begin, end)| begin..end)
    }
}

fn class(character: char) -> Class {
    match character {
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        '\0'..='\u{7f}' => Class::Between,
        '\u{300}'..='\u{36f}' => Class::Mark,
        _ if stands_alone(character) && character.is_alphanumeric() => Class::Alone,
        _ if character.is_uppercase() => Class::Upper,
        _ if character.is_numeric() => Class::Digit,
        _ if character.is_alphabetic() => Class::Lower,
        _ => Class::Between,
    }
}

/// Scripts that are written without spaces: Thai, Lao, Myanmar, Khmer, and those of Chinese and Japanese.
pub(crate) fn stands_alone(character: char) -> bool {
    matches!(
        character,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Folds a part or a run into `folded`: letters without case and marks, the beginning where it is long.
pub(crate) fn fold_into(text: &str, folded: &mut String) {
    folded.clear();
    if text.is_ascii() {
        folded.push_str(text.get(..LONGEST).unwrap_or(text));
        folded.make_ascii_lowercase();
        return;
    }
    let plain = text
        .nfkd()
        .flat_map(char::to_lowercase)
        .filter(|character| !matches!(character, '\u{300}'..='\u{36f}'))
        // A sigma at the end of a word is another letter to a computer alone.
        .map(|character| if character == 'ς' { 'σ' } else { character });
    folded.extend(plain.nfc().take(LONGEST));
}

/// The words of a text, one after the other, in the order of the places where they end.
#[derive(Debug)]
pub(crate) struct WordStream<'t> {
    text: &'t str,
    runs: Runs<'t>,
    run: Run,
    /// How many words of the run are out.
    out: usize,
    /// The place of its first part.
    first: u32,
    /// The last word that came.
    pub(crate) word: Word,
}

impl<'t> WordStream<'t> {
    pub(crate) fn of(text: &'t str) -> WordStream<'t> {
        WordStream {
            text,
            runs: Runs::of(text),
            run: Run::default(),
            out: 0,
            first: 0,
            word: Word::default(),
        }
    }

    /// Goes on to the next word, if there is one.
    pub(crate) fn advance(&mut self) -> bool {
        let parts = self.run.ends.len();
        let is_done = self.out > parts || self.out == parts && parts <= 1;
        if is_done {
            if !self.runs.next_into(&mut self.run) {
                return false;
            }
            (self.out, self.first) = (0, self.word.end);
        }
        let (bytes, first, end) = match self.run.ends.get(self.out) {
            Some(end) => {
                let before = self
                    .out
                    .checked_sub(1)
                    .and_then(|last| self.run.ends.get(last));
                let begin = before.copied().unwrap_or(self.run.bytes.start);
                (begin..*end, self.word.end, self.word.end.saturating_add(1))
            }
            // All of the run, over the places of its parts.
            None => (self.run.bytes.clone(), self.first, self.word.end),
        };
        self.out += 1;
        fold_into(
            self.text.get(bytes.clone()).unwrap_or_default(),
            &mut self.word.text,
        );
        (self.word.bytes, self.word.first, self.word.end) = (bytes, first, end);
        true
    }

    /// Whether the last word that came is the first part of a run that has more.
    pub(crate) fn is_first_of_several(&self) -> bool {
        self.out == 1 && self.run.ends.len() > 1
    }

    /// Folds all of the run of the last word that came.
    pub(crate) fn fold_run_into(&self, folded: &mut String) {
        let run = self.text.get(self.run.bytes.clone());
        fold_into(run.unwrap_or_default(), folded);
    }
}

/// Calls `each` with every word of a text, in the order of the places where they end.
pub(crate) fn words(text: &str, mut each: impl FnMut(&Word)) {
    let mut stream = WordStream::of(text);
    while stream.advance() {
        each(&stream.word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(text, |word| found.push(word.text.clone()));
        found
    }

    #[test]
    fn words_are_what_people_type() {
        for (text, expected) in [
            ("", vec![]),
            (" \n--- ***", vec![]),
            ("Fix the parser", vec!["fix", "the", "parser"]),
            ("max_frames_set", vec!["max", "frames", "set"]),
            (
                "parseUtf8String()",
                vec!["parse", "utf8", "string", "parseutf8string"],
            ),
            ("HTTPServer", vec!["http", "server", "httpserver"]),
            (
                "E0502: cli/main.go:17",
                vec!["e0502", "cli", "main", "go", "17"],
            ),
            ("--no-index", vec!["no", "index"]),
            ("Straße ÉTÉ e\u{301}te\u{301}", vec!["straße", "ete", "ete"]),
            ("ΣΊΣΥΦΟΣ", vec!["σισυφοσ"]),
            ("日本go語", vec!["日", "本", "go", "語"]),
            ("ﬁle½", vec!["file1\u{2044}2"]),
            ("A1b2C3", vec!["a1b2", "c3", "a1b2c3"]),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        assert_eq!(of(&"x".repeat(200)), ["x".repeat(LONGEST)]);
        assert_eq!(
            of(&"aB".repeat(40)).len(),
            1,
            "what has so many parts is one word"
        );
    }

    #[test]
    fn places_and_bytes_are_those_of_the_text() {
        let text = "é fooBar x";
        let mut found = Vec::new();
        words(text, |word| {
            found.push((&text[word.bytes.clone()] == "fooBar", word.first..word.end))
        });
        assert_eq!(
            found,
            [
                (false, 0..1),
                (false, 1..2),
                (false, 2..3),
                (true, 1..3),
                (false, 3..4)
            ]
        );
    }
}

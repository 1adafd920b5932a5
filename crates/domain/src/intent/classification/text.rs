//! A text as the rules read it: folded letters, and words of Latin script with their forms.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::folding::is_unseen;

/// Two spellings of one word; the second is the one that the tables have.
const COMPOUNDS: [(&str, &str); 15] = [
    ("clean up", "cleanup"),
    ("clean-up", "cleanup"),
    ("cleaned up", "cleanup"),
    ("cleaning up", "cleanup"),
    ("cleans up", "cleanup"),
    ("re-design", "redesign"),
    ("re-architect", "rearchitect"),
    ("bug fix", "bugfix"),
    ("hot fix", "hotfix"),
    ("drop down", "dropdown"),
    ("drop-down", "dropdown"),
    ("non-breaking", "nonbreaking"),
    ("non breaking", "nonbreaking"),
    ("not breaking", "nonbreaking"),
    ("without breaking", "nonbreaking"),
];

/// Syllables before a stem that keep its subject: `unauthorized`, `reauthenticate`.
const PREFIXES: [&str; 8] = ["", "un", "re", "de", "in", "non", "pre", "auto"];

/// Latin script and its accents are below.
const LATIN_END: char = '\u{250}';

/// A folded text and its words of Latin script.
#[derive(Debug)]
pub(super) struct Text {
    folded: String,
    words: Vec<Range<usize>>,
}

/// One word after another, with at most `within` words between them. Each list has
/// alternatives, written as for [`fits`].
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) first: &'static [&'static str],
    pub(super) then: &'static [&'static str],
    pub(super) within: usize,
}

impl Text {
    /// Reads a text as it was written: `delete_user` is one word.
    pub(super) fn new(text: &str) -> Text {
        Text::of_folded(folded(text))
    }

    /// Reads the parts of compound names as words: `deleteUser` and `delete_user` are two.
    /// There is none of a text without compound names.
    pub(super) fn of_parts(text: &str) -> Option<Text> {
        Some(Text::of_folded(folded(&spread(text)?)))
    }

    fn of_folded(mut folded: String) -> Text {
        for (spelling, word) in COMPOUNDS {
            if folded.contains(spelling) {
                folded = folded.replace(spelling, word);
            }
        }
        let words = words(&folded);
        Text { folded, words }
    }

    pub(super) fn folded(&self) -> &str {
        &self.folded
    }

    /// The first of the words that the text has, in a form of it: in Japanese anywhere, in
    /// Latin script as a whole word. Answers with the word as the text has it.
    pub(super) fn first_of(&self, words: &[&str]) -> Option<&str> {
        words.iter().find_map(|word| self.find(word))
    }

    /// Like [`Text::first_of`] for words of Latin script; of those with a star none counts that
    /// is another word.
    pub(super) fn first_of_but(
        &self,
        words: &[&str],
        is_other: impl Fn(&str) -> bool,
    ) -> Option<&str> {
        words.iter().find_map(|word| {
            let is_spelled_out = is_other(word.trim_end_matches('*'));
            let mut found = self.words().filter(|found| fits(found, word));
            found.find(|found| is_spelled_out || !is_other(found))
        })
    }

    fn find(&self, word: &str) -> Option<&str> {
        if !word.is_ascii() {
            let start = self.folded.find(word)?;
            return self.folded.get(start..start + word.len());
        }
        self.words().find(|found| fits(found, word))
    }

    /// The words of Latin script, in their order.
    pub(super) fn words(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.words
            .iter()
            .filter_map(|at| self.folded.get(at.clone()))
    }

    /// The words of Latin script with the byte at which each starts.
    pub(super) fn placed_words(&self) -> impl Iterator<Item = (usize, &str)> {
        let placed = |at: &Range<usize>| Some((at.start, self.folded.get(at.clone())?));
        self.words.iter().filter_map(placed)
    }

    /// The first pair that the text has, in Latin script.
    pub(super) fn first_pair(&self, pairs: &[Pair]) -> Option<String> {
        let words: Vec<&str> = self.words().collect();
        let is = |word: &str, of: &[&str]| of.iter().any(|it| fits(word, it));
        pairs.iter().find_map(|pair| {
            let starts = words.iter().enumerate();
            let mut starts = starts.filter(|(_, word)| is(word, pair.first));
            starts.find_map(|(at, first)| {
                let behind = words.iter().skip(at + 1).take(pair.within + 1);
                let then = behind.copied().find(|word| is(word, pair.then))?;
                Some(format!("{first} {then}"))
            })
        })
    }

    /// The first pair that the text has, in Japanese: `within` are characters.
    pub(super) fn first_japanese_pair(&self, pairs: &[Pair]) -> Option<String> {
        pairs.iter().find_map(|pair| {
            pair.first.iter().find_map(|first| {
                self.folded.match_indices(first).find_map(|(start, _)| {
                    let behind = self.folded.get(start + first.len()..)?;
                    let then = begun_within(behind, pair)?;
                    Some(format!("{first} {then}"))
                })
            })
        })
    }
}

/// Which of a pair's second words begins soon enough in the text behind the first one, and
/// before its sentence ends.
fn begun_within(behind: &str, pair: &Pair) -> Option<&'static str> {
    let ends = |c: &char| matches!(c, '。' | '\n' | '!' | '?');
    let places = behind.char_indices().take_while(|(_, c)| !ends(c));
    let mut places = places.take(pair.within + 1);
    places.find_map(|(at, _)| {
        let rest = behind.get(at..)?;
        pair.then
            .iter()
            .copied()
            .find(|then| rest.starts_with(then))
    })
}

/// A text in lower case, and in the form in which wide, narrow and composed letters
/// are the same: a file system or a keyboard may give any of them. Characters that
/// nobody sees are dropped, so that none divides a word.
pub(super) fn folded(text: &str) -> String {
    let seen = text.nfkc().filter(|c| !is_unseen(*c));
    seen.collect::<String>().to_lowercase()
}

/// A text with spaces between the parts of its compound names, if it has any.
fn spread(text: &str) -> Option<String> {
    let characters: Vec<char> = text.nfkc().filter(|c| !is_unseen(*c)).collect();
    let mut spread = String::with_capacity(text.len());
    let mut found = false;
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| characters.get(at));
        let after = characters.get(at + 1);
        let begins = character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_numeric()
                    || (before.is_uppercase() && after.is_some_and(|it| it.is_lowercase()))
            });
        if begins {
            spread.push(' ');
        }
        spread.push(if *character == '_' { ' ' } else { *character });
        found |= begins || *character == '_';
    }
    found.then_some(spread)
}

fn words(folded: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, character) in folded.char_indices() {
        match (is_latin(character), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    words.extend(start.map(|from| from..folded.len()));
    words
}

/// Whether a Latin word goes on with this character. Japanese next to it does not
/// belong to it, though it is made of letters, too.
fn is_latin(character: char) -> bool {
    character == '_' || (character.is_alphanumeric() && character < LATIN_END)
}

/// Whether a word is a form of `of`: of `delete` also `deleted`, `deleting` and `deletion`.
/// A star stands for any end, and such a stem may follow a prefix: `authoriz*` is in
/// `unauthorized`.
pub(super) fn fits(word: &str, of: &str) -> bool {
    let Some(stem) = of.strip_suffix('*') else {
        return is_form(word, of);
    };
    let mut rests = PREFIXES
        .iter()
        .filter_map(|prefix| word.strip_prefix(prefix));
    rests.any(|rest| rest.starts_with(stem))
}

/// The regular inflections of English: plural, tenses, gerund, and nouns in `-ion`.
fn is_form(word: &str, base: &str) -> bool {
    if let Some(end) = word.strip_prefix(base) {
        if matches!(end, "" | "s" | "es" | "d" | "ed" | "ing" | "ion" | "ions") {
            return true;
        }
        let doubled = base
            .chars()
            .next_back()
            .and_then(|last| end.strip_prefix(last));
        return matches!(doubled, Some("ed" | "ing"));
    }
    let is_short = |end: char, ends: &[&str]| {
        let rest = base
            .strip_suffix(end)
            .and_then(|stem| word.strip_prefix(stem));
        rest.is_some_and(|rest| ends.contains(&rest))
    };
    is_short('e', &["ing", "ion", "ions"]) || is_short('y', &["ies", "ied"])
}

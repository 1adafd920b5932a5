//! A text as the rules read it: folded letters, and words of Latin script with their forms.

use std::collections::HashMap;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::folding::is_unseen;

/// Two spellings of one word; the second is the one that the tables have.
const COMPOUNDS: [(&str, &str); 20] = [
    ("log-in", "login"),
    ("log-out", "logout"),
    ("e-mail", "email"),
    ("white space", "whitespace"),
    ("white-space", "whitespace"),
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
#[derive(Debug, Clone)]
pub(super) struct Text {
    folded: String,
    words: Vec<Range<usize>>,
    /// The different words, in the order of the text.
    spellings: Vec<Range<usize>>,
    /// The spelling of each word, by its number.
    spelling_of: Vec<usize>,
    /// The spellings by their first letter, so that few are compared with a word of a table.
    by_letter: HashMap<char, Vec<usize>>,
    /// A bit for each of the first letters.
    letters: u128,
}

/// Words with white space between them, any of which counts. Those of Latin script are written as
/// for [`fits`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Words(pub(super) &'static str);

impl Words {
    pub(super) fn iter(self) -> impl Iterator<Item = &'static str> + Clone {
        self.0.split_whitespace()
    }

    /// Returns `true` if a word is one of them.
    pub(super) fn have(self, word: &str) -> bool {
        self.iter().any(|it| it == word)
    }

    /// Returns `true` if a word of Latin script is a form of one of them.
    pub(super) fn fit(self, word: &str) -> bool {
        self.iter().any(|it| fits(word, it))
    }
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
        let (mut spellings, mut spelling_of) = (Vec::new(), Vec::with_capacity(words.len()));
        let (mut numbers, mut by_letter) = (HashMap::new(), HashMap::<char, Vec<usize>>::new());
        let mut letters = 0;
        for range in &words {
            let word = folded.get(range.clone()).unwrap_or_default();
            let number = *numbers.entry(word).or_insert(spellings.len());
            if number == spellings.len() {
                spellings.push(range.clone());
                let first = word.chars().next().unwrap_or_default();
                by_letter.entry(first).or_default().push(number);
                letters |= letter_bit(first);
            }
            spelling_of.push(number);
        }
        Text {
            folded,
            words,
            spellings,
            spelling_of,
            by_letter,
            letters,
        }
    }

    pub(super) fn folded(&self) -> &str {
        &self.folded
    }

    /// The first of the words that the text has, in a form of it: in Japanese anywhere, in
    /// Latin script as a whole word. Answers with the word as the text has it.
    pub(super) fn first_of(&self, words: Words) -> Option<&str> {
        words.iter().find_map(|word| self.find(word))
    }

    /// Like [`Text::first_of`] for words of Latin script; of those with a star none counts that
    /// is another word.
    pub(super) fn first_of_but(
        &self,
        words: Words,
        is_other: impl Fn(&str) -> bool,
    ) -> Option<&str> {
        words.iter().find_map(|word| {
            let is_spelled_out = is_other(word.trim_end_matches('*'));
            let found = self.forms_of(word).into_iter();
            let mut found = found.filter_map(|number| self.spelling(number));
            found.find(|found| is_spelled_out || !is_other(found))
        })
    }

    fn find(&self, word: &str) -> Option<&str> {
        if !word.is_ascii() {
            let start = self.folded.find(word)?;
            return self.folded.get(start..start + word.len());
        }
        let forms = self.forms_of(word);
        forms.first().and_then(|number| self.spelling(*number))
    }

    /// The numbers of the spellings that are forms of a word of Latin script, in the order of
    /// the text.
    pub(super) fn forms_of(&self, word: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let Some(stem) = word.strip_suffix('*') else {
            self.add_forms(word, word, &mut found);
            return found;
        };
        for prefix in PREFIXES {
            let start = if prefix.is_empty() { stem } else { prefix };
            self.add_forms(word, start, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Adds the forms of a word that have the first letter of `start`.
    fn add_forms(&self, word: &str, start: &str, found: &mut Vec<usize>) {
        let Some(first) = start.chars().next() else {
            return;
        };
        if self.letters & letter_bit(first) == 0 {
            return;
        }
        let alike = self.by_letter.get(&first).into_iter().flatten();
        let fits_it = |number: &&usize| self.spelling(**number).is_some_and(|it| fits(it, word));
        found.extend(alike.filter(fits_it));
    }

    fn spelling(&self, number: usize) -> Option<&str> {
        self.folded.get(self.spellings.get(number)?.clone())
    }

    /// The text with spaces for what is in the ranges.
    pub(super) fn without(&self, ranges: &[Range<usize>]) -> Text {
        let mut folded = self.folded.clone();
        for range in ranges {
            folded.replace_range(range.clone(), &" ".repeat(range.len()));
        }
        Text::of_folded(folded)
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

    /// Each spelling of a word of Latin script once, in the order of the text.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &str> {
        self.spellings
            .iter()
            .filter_map(|at| self.folded.get(at.clone()))
    }

    /// The number of the spelling of each word of Latin script.
    pub(super) fn spelling_of(&self) -> &[usize] {
        &self.spelling_of
    }

    /// The text between a word of Latin script and the one before it.
    pub(super) fn gap_before(&self, at: usize) -> &str {
        let end = |at: usize| Some(self.words.get(at.checked_sub(1)?)?.end);
        let start = self.words.get(at).map(|it| it.start);
        let gap = start.and_then(|start| self.folded.get(end(at).unwrap_or_default()..start));
        gap.unwrap_or_default()
    }

    /// The place in the text of each word of Latin script.
    pub(super) fn word_ranges(&self) -> &[Range<usize>] {
        &self.words
    }
}

/// The bit of a letter; letters with accents share one.
fn letter_bit(letter: char) -> u128 {
    1 << (letter as u32).min(127)
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
pub(super) fn is_latin(character: char) -> bool {
    character == '_' || (character.is_alphanumeric() && character < LATIN_END)
}

/// Whether a word is a form of `of`: of `delete` also `deleted`, `deleting` and `deletion`.
/// A star stands for any end, and such a stem may follow a prefix: `authoriz*` is in
/// `unauthorized`. A word with a full stop has no other forms: `stripe.` is not in `striped`.
pub(super) fn fits(word: &str, of: &str) -> bool {
    if let Some(only) = of.strip_suffix('.') {
        return word == only;
    }
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

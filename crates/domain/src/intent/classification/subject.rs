//! A subject of a high risk, and the search for its words.

use super::phrases::Phrase;
use super::text::{Text, Words};

/// A subject whose words make a risk high.
#[derive(Debug)]
pub(super) struct Subject {
    /// Words of Latin script: all their forms count, and a star stands for any end.
    pub(super) english: Words,
    /// Beginnings of other words, which a star does not stand for.
    pub(super) but: Words,
    /// Words of Latin script that count together; distances are in words.
    pub(super) english_phrases: &'static [Phrase],
    /// Japanese words, which count anywhere.
    pub(super) japanese: Words,
    /// Japanese words that count together; distances are in characters.
    pub(super) japanese_phrases: &'static [Phrase],
}

impl Subject {
    /// The first word of the subject that a text has, in its own spelling.
    pub(super) fn word_of(&self, text: &Text) -> Option<String> {
        let is_other = |word: &str| self.but.iter().any(|but| word.starts_with(but));
        let word = text.first_of_but(self.english, is_other);
        word.map(str::to_owned)
            .or_else(|| text.first_phrase(self.english_phrases))
            .or_else(|| text.first_of(self.japanese).map(str::to_owned))
            .or_else(|| text.first_japanese_phrase(self.japanese_phrases))
    }
}

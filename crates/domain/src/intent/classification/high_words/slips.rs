//! Misspelt high words.

use super::super::text::{Text, Words};

/// Long words that count if they are misspelt, too.
const MISSPELT: Words = Words(
    "authentication authenticate authenticated authorization authorize credential credentials \
     password passwords permission permissions migration architecture vulnerability \
     vulnerabilities security encryption payment payments production impersonate",
);

/// The first misspelt high word of a text.
pub(in super::super) fn misspelt(text: &Text) -> Option<String> {
    let is_slip = |word: &&str| word.len() > 5 && MISSPELT.iter().any(|of| is_slip(word, of));
    text.spellings().find(is_slip).map(str::to_owned)
}

/// Returns `true` if one letter is missing, added, changed or swapped with the next one.
fn is_slip(word: &str, of: &str) -> bool {
    let (word, of) = (word.as_bytes(), of.as_bytes());
    let alike = word.iter().zip(of).take_while(|(a, b)| a == b).count();
    let word = word.get(alike..).unwrap_or_default();
    let of = of.get(alike..).unwrap_or_default();
    match (word.split_first(), of.split_first()) {
        (None, None) => false,
        (None, Some((_, rest))) | (Some((_, rest)), None) => rest.is_empty(),
        (Some((a, word_rest)), Some((b, of_rest))) => {
            let is_swapped = || match (word_rest.split_first(), of_rest.split_first()) {
                (Some((c, word_end)), Some((d, of_end))) => (a, c, word_end) == (d, b, of_end),
                _ => false,
            };
            word_rest == of_rest || word_rest == of || word == of_rest || is_swapped()
        }
    }
}

//! How many tokens a text takes, as far as that can be known from outside.
//!
//! The models whose recordings are imported do not publish their tokenizers,
//! so that no count of ours is exact. An estimate has to be the same on every
//! machine and in every import all the same: it is recorded, and a window with
//! a budget of tokens depends on it. So the tokenizer is a fixed one that is public,
//! and comes with the program. [`TOKENIZER`] is its name; a caller that records an
//! estimate records that name, too.

use std::cell::RefCell;

use bpe_openai::Tokenizer;

/// The tokenizer that [`estimate`] counts by: OpenAI's byte pair encoding of
/// 2024 with 200,000 tokens.
pub(crate) const TOKENIZER: &str = "o200k_base";

/// How many tokens a text takes by [`TOKENIZER`]. It takes time linear in the
/// text, regardless of its content; the table is loaded at the first call.
pub(crate) fn estimate(text: &str) -> u64 {
    let tokenizer = bpe_openai::o200k_base();
    COUNTED.with_borrow_mut(|counted| {
        let pieces = tokenizer.split(text);
        pieces.map(|piece| counted.count(tokenizer, piece)).sum()
    })
}

thread_local! {
    static COUNTED: RefCell<Counted> = RefCell::new(Counted::new());
}

/// Slots for words that were counted, a power of two.
const SLOTS: usize = 1 << 14;

/// The newest short words that were counted. Texts repeat their words, and to count one again takes several
/// times as long as to look it up. Which words it has changes no count.
struct Counted {
    /// A word has one slot, which the next word with the same slot takes.
    slots: Vec<(u128, u64)>,
}

impl Counted {
    fn new() -> Counted {
        Counted {
            slots: vec![(0, 0); SLOTS],
        }
    }

    fn count(&mut self, tokenizer: &Tokenizer, piece: &str) -> u64 {
        let count = || tokenizer.bpe.count(piece.as_bytes()) as u64;
        let Some(word) = word(piece) else {
            return count();
        };
        let Some(slot) = self.slots.get_mut(slot(word)) else {
            return count();
        };
        if slot.0 != word {
            *slot = (word, count());
        }
        slot.1
    }
}

/// A short piece of text and its length in one number, which no other piece has; none for a longer piece.
/// It is never 0, the number of an empty slot.
fn word(piece: &str) -> Option<u128> {
    let mut word = [0; 16];
    let (length, text) = word.split_last_mut()?;
    text.get_mut(..piece.len())?
        .copy_from_slice(piece.as_bytes());
    *length = u8::try_from(piece.len()).ok()?;
    Some(u128::from_le_bytes(word))
}

fn slot(word: u128) -> usize {
    /// 2^64 divided by the golden ratio: what differs in few bits of two words differs in the product's upper ones.
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let (low, high) = (word as u64, (word >> 64) as u64);
    let hash = (low ^ high.rotate_left(32)).wrapping_mul(SPREAD);
    (hash >> (u64::BITS - SLOTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the tokenizer's authors count in their examples. Logs hold such
    /// numbers: by another table the same text would take more or fewer.
    #[test]
    fn texts_take_as_many_tokens_as_the_tokenizer_says() {
        for (text, tokens) in [
            ("", 0),
            ("hello world", 2),
            ("tiktoken is great!", 6),
            ("2 + 2 = 4", 7),
            ("antidisestablishmentarianism", 6),
            ("お誕生日おめでとう", 8),
        ] {
            assert_eq!(estimate(text), tokens, "{text:?}");
        }
    }

    /// What was counted before changes no count: words that share a slot, zeros, the same letters once more,
    /// pieces at and beyond the length that is remembered.
    #[test]
    fn a_text_takes_as_many_tokens_regardless_of_what_was_counted_before() {
        let tokenizer = bpe_openai::o200k_base();
        let mut texts: Vec<String> = (0..40_000).map(|n| format!(" w{n:x} {n}")).collect();
        texts.extend((1..40).map(|n| "a".repeat(n)));
        texts.extend((1..20).map(|n| "\0".repeat(n)));
        texts.extend((1..20).map(|n| format!("a{}", "\0".repeat(n))));
        for _ in 0..2 {
            for text in &texts {
                assert_eq!(
                    estimate(text),
                    tokenizer.count(text.as_str()) as u64,
                    "{text:?}"
                );
            }
        }
    }

    /// Neither one endless word nor endless blanks take longer than linear time.
    #[test]
    fn a_text_without_words_is_counted_in_time() {
        for part in ["a", " ", "ab", "\n ", "é"] {
            assert!(estimate(&part.repeat(300_000)) > 0, "{part:?}");
        }
    }
}

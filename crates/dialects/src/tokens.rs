//! How many tokens a text takes, as far as that can be told from outside.
//!
//! The models whose recordings are imported do not publish their tokenizers,
//! so that no count of ours is exact. An estimate has to be the same on every
//! machine and in every import all the same: it is recorded, and a window with
//! a budget of tokens goes by it. So the tokenizer is a fixed one that is public,
//! and comes with the program. [`TOKENIZER`] says which; whoever records an
//! estimate records that beside it.

/// The tokenizer that [`estimate`] counts by: OpenAI's byte pair encoding of
/// 2024 with 200,000 tokens.
pub(crate) const TOKENIZER: &str = "o200k_base";

/// How many tokens a text takes by [`TOKENIZER`]. It takes time linear in the
/// text, whatever is in it; the table is loaded when it is asked first.
pub(crate) fn estimate(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
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

    /// Neither one endless word nor endless blanks take longer than linear time.
    #[test]
    fn a_text_without_words_is_counted_in_time() {
        for part in ["a", " ", "ab", "\n ", "é"] {
            assert!(estimate(&part.repeat(300_000)) > 0, "{part:?}");
        }
    }
}

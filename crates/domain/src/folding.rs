//! Texts as a reader sees them: the folding under which ids, kinds and blank texts are compared.

use unicode_normalization::UnicodeNormalization;

/// Returns an id as a reader sees it: without case, width, repeated white space and characters without a glyph. Ids that
/// fold to the same text are those of one actor.
///
/// ```
/// use annals_domain::folded;
/// assert_eq!(folded("Coder "), folded("coder"));
/// ```
pub fn folded(id: &str) -> String {
    let seen: String = id.nfkc().filter(|c| !is_unseen(*c)).map(plain).collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    // Each letter by itself, so that the place of a letter in its word does not count (ς, σ); to upper case in between,
    // so that a letter that has none of its own is the letters that stand for it (ß, SS).
    let lower = words.join(" ");
    let lower = lower.chars().flat_map(char::to_lowercase);
    let upper: String = lower.flat_map(char::to_uppercase).collect();
    upper.nfkc().flat_map(char::to_lowercase).collect()
}

/// Returns a text with each letter or digit as the one that stands for all that look like it (UTS 39): texts that look
/// alike are then the same, also where their letters are of several scripts.
pub(crate) fn skeleton(text: &str) -> String {
    let seen = text.nfkc().filter(|c| !is_unseen(*c));
    seen.map(prototype).collect()
}

/// Returns the letter that stands for all that look like a letter: `a` for a Cyrillic `а`, `l` for a `1`.
pub(crate) fn prototype(c: char) -> char {
    let mut buffer = [0; 4];
    let mut seen = unicode_security::skeleton(c.encode_utf8(&mut buffer));
    match (seen.next(), seen.next(), seen.next()) {
        (Some(one), None, None) if one.is_alphanumeric() => one,
        // UTS 39 has two letters in its place. One for one keeps `?` of a pattern one letter.
        (Some('r'), Some('n'), None) => 'm',
        _ => c,
    }
}

/// Returns `true` if a text has no character that a reader sees.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_whitespace() || c.is_control() || is_unseen(c) || is_empty(c))
}

/// Returns `true` if a character has no glyph: two texts that differ in such characters alone look the same.
pub(crate) fn is_unseen(c: char) -> bool {
    let is_ignorable = matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    is_ignorable || (c.is_control() && !c.is_whitespace())
}

/// Whether a character is printed as an empty cell, and is not white space by its kind: a braille pattern without dots.
fn is_empty(c: char) -> bool {
    c == '\u{2800}'
}

fn plain(c: char) -> char {
    match is_empty(c) {
        true => ' ',
        false => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_alike_folds_to_the_same_text() {
        for (one, other) in [
            ("straße", "STRASSE"),
            ("stra\u{1e9e}e", "strasse"),
            ("νίκος", "ΝΊΚΟΣ"),
            ("νίκοσ", "νίκος"),
            ("ada\u{3164}", "ada"),
            ("a\u{115f}da", "ada"),
            ("a\u{ffa0}da", "ada"),
            ("\u{2800}ada\u{2800}", "ada"),
            ("ａｄａ", "Ada"),
            ("a\u{e0041}da", "ada"),
            (" ada  b ", "ada b"),
        ] {
            assert_eq!(folded(one), folded(other), "{one:?} {other:?}");
            assert_eq!(folded(&folded(one)), folded(one), "{one:?}");
        }
        assert_ne!(folded("ada b"), folded("adab"));
        assert_ne!(folded("ada"), folded("adа"), "a letter of another script");
    }

    #[test]
    fn what_looks_alike_has_the_same_skeleton() {
        for (one, other) in [
            ("mаin", "main"),
            ("ｍａｉｎ", "main"),
            ("ⅿаі\u{200b}n", "main"),
            ("rеlеаsе/1", "release/l"),
            ("größe", "gro\u{308}ße"),
        ] {
            assert_eq!(skeleton(one), skeleton(other), "{one:?} {other:?}");
        }
        for (one, other) in [("größe", "grosse"), ("main", "mains"), ("発行", "main")] {
            assert_ne!(skeleton(one), skeleton(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_text_without_a_glyph_is_blank() {
        for blank in [
            "",
            " \t\n",
            "\u{200b}",
            "\u{3164}\u{a0}",
            "\u{2800}",
            "\u{ad}\u{1}",
        ] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in ["x", "\u{200b}x", "0", "。"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}

//! A text as a part of a file's name (docs/spec/forge.md, slug).

/// The slug of a text that has no letter and no digit.
const NOTHING: &str = "untitled";

/// The slug of a text: lower case, and what is neither a letter nor a digit is
/// one `-`, of which there is none at either end. Letters are those of any script.
///
/// It is never empty: a text with nothing to keep is `untitled`. It is as long as
/// the text; [`slug_within`] keeps it short enough for a file system.
///
/// Several texts may have one slug, so the caller looks whether it is taken.
pub fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        let goes_on = is_mark(character) && !slug.is_empty() && !slug.ends_with('-');
        if character.is_alphanumeric() || goes_on {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    finished(slug)
}

/// The slug of a text, cut to a number of bytes between two characters; file
/// systems allow about 255 bytes for a name.
pub fn slug_within(text: &str, bytes: usize) -> String {
    let mut slug = slug(text);
    let mut end = bytes.min(slug.len());
    while !slug.is_char_boundary(end) {
        end -= 1;
    }
    slug.truncate(end);
    finished(slug)
}

fn finished(mut slug: String) -> String {
    if slug.ends_with('-') {
        slug.pop();
    }
    if slug.is_empty() {
        NOTHING.to_owned()
    } else {
        slug
    }
}

/// Whether this belongs to the letter before it: an accent, or a voicing mark of
/// Japanese, which some systems write by themselves.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_and_what_is_not_alphanumeric_is_one_hyphen() {
        assert_eq!(slug("Add  a Link -- to /login!"), "add-a-link-to-login");
        assert_eq!(slug("--Fix #12--"), "fix-12");
        assert_eq!(slug("a_b\tc\r\nd"), "a-b-c-d");
        assert_eq!(slug("add-a-link"), "add-a-link");
    }

    #[test]
    fn japanese_letters_are_kept() {
        let title = "ログイン画面に「パスワードリセット」リンクを追加する。";
        assert_eq!(
            slug(title),
            "ログイン画面に-パスワードリセット-リンクを追加する"
        );
        assert_eq!(slug("か\u{3099}く"), "か\u{3099}く");
    }

    #[test]
    fn a_slug_is_never_empty() {
        for text in ["", "-", "!?", "\u{3099}", "🚀 🚀", "\n"] {
            assert_eq!(slug(text), "untitled", "{text:?}");
        }
    }

    #[test]
    fn a_slug_can_be_cut_between_characters() {
        assert_eq!(slug_within("あいう", 7), "あい");
        assert_eq!(slug_within("add a link", 4), "add");
        assert_eq!(slug_within("あ", 1), "untitled");
    }
}

//! Checks of texts that callers give: each kind of text has one function here, which every command uses.
//!
//! A refusal names the field, the cause, the expected form and, where one is likely, the intended text.

use unicode_normalization::UnicodeNormalization;
use unicode_security::MixedScript;

use crate::Refusal;
use crate::folding::{folded, is_blank, is_unseen, prototype};
use crate::refusal::not_blank;

/// Longest part of a text in a refusal, in characters.
const SHOWN: usize = 80;

/// The beginning of a text, as a refusal shows it.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}...", text.get(..end).unwrap_or_default()),
    }
}

/// Whether a character has no glyph, or controls a terminal: it makes two texts look alike that differ.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control() || is_unseen(c)
}

/// Refuses a text that git would take for an option, or for several arguments.
pub(crate) fn git_argument(field: &'static str, text: &str) -> Result<(), Refusal> {
    if text.starts_with('-') {
        let reason = format!("{} is an option of git: expected a name", shown(text));
        return Err(Refusal::invalid(field, reason));
    }
    if text.chars().any(|c| c.is_whitespace() || is_invisible(c)) {
        let reason = format!(
            "{} has white space or an invisible character: expected one name",
            shown(text)
        );
        return Err(Refusal::invalid(field, reason));
    }
    Ok(())
}

/// Refuses a path that leads out of the repository: an absolute one, or one with `..` in it.
pub(crate) fn path_in_repository(field: &'static str, path: &str) -> Result<(), Refusal> {
    let refuse = |cause: &str| {
        let reason = format!(
            "{} {cause}: expected a path relative to the repository's root, such as \"src/main.rs\"",
            shown(path)
        );
        Err(Refusal::invalid(field, reason))
    };
    if is_blank(path) {
        return Err(Refusal::invalid(field, "it must not be blank"));
    }
    if path.starts_with(['/', '\\', '~']) || has_drive(path) {
        return refuse("is an absolute path");
    }
    if path.contains('\0') {
        return refuse("has a NUL in it");
    }
    if path.split(['/', '\\']).any(|part| part.trim() == "..") {
        return refuse("leads out of a folder by \"..\"");
    }
    if path
        .split(['/', '\\'])
        .any(|part| part.eq_ignore_ascii_case(".git"))
    {
        return refuse("lies in git's own folder");
    }
    Ok(())
}

/// Refuses the path of a repository that goes up by `..`: behind a link it leads elsewhere than its text says.
pub(crate) fn path_of_repository(field: &'static str, path: &str) -> Result<(), Refusal> {
    match path.split(['/', '\\']).any(|part| part.trim() == "..") {
        false => Ok(()),
        true => {
            let reason = format!(
                "{} goes up by \"..\", and behind a link leads elsewhere than it says: expected the repository's own path",
                shown(path)
            );
            Err(Refusal::invalid(field, reason))
        }
    }
}

/// Whether a path begins with a drive of Windows, such as `C:`.
fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
}

/// A path without what does not change where it leads: repeated and trailing slashes, and `.`.
///
/// `..` is resolved where a folder is in front of it.
pub(crate) fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match path.starts_with('/') {
        true => format!("/{joined}"),
        false => joined,
    }
}

/// Demands that a word of an open list is one that is listed, to the letter, or another one that reads like none of
/// them: without white space around it, invisible characters and letters of another width.
///
/// # Errors
/// [`Refusal::Invalid`], with the word to write instead.
pub(crate) fn check_word<'w, W>(
    field: &'static str,
    word: &str,
    listed: impl IntoIterator<Item = &'w W>,
) -> Result<(), Refusal>
where
    W: std::fmt::Display + 'w,
{
    not_blank(field, word)?;
    let read = folded(word);
    for listed in listed {
        let listed = listed.to_string();
        if listed == word {
            return Ok(());
        }
        if folded(&listed) == read {
            let reason = format!("{} is not a word of its own; write {listed:?}", shown(word));
            return Err(Refusal::invalid(field, reason));
        }
    }
    let plain: String = word.nfkc().filter(|c| !is_unseen(*c)).collect();
    let plain = plain.trim();
    if plain != word {
        let reason = format!(
            "{} has white space around it, invisible characters or letters of another width: write {plain:?}",
            shown(word)
        );
        return Err(Refusal::invalid(field, reason));
    }
    Ok(())
}

/// The text that was likely meant, where letters of another script or width stand among others and look like them.
pub(crate) fn without_look_alikes(text: &str) -> Option<String> {
    let plain: String = text.nfkc().collect();
    let is_alike = |c: char| !c.is_ascii() && prototype(c).is_ascii();
    let mut words = plain.split(|c: char| !c.is_alphanumeric());
    if words.any(|word| !word.is_single_script() && word.contains(is_alike)) {
        let letter = |c: char| if is_alike(c) { prototype(c) } else { c };
        return Some(plain.chars().map(letter).collect());
    }
    (!text.nfc().eq(plain.chars())).then_some(plain)
}

/// The word of a list that a text reads like, apart from its case and the white space around it.
pub(crate) fn word_like<'w>(
    text: &str,
    words: impl IntoIterator<Item = &'w str>,
) -> Option<&'w str> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c));
    let mut words = words.into_iter();
    words.find(|word| word.eq_ignore_ascii_case(text))
}

/// Whether a glob pattern matches all that another one does, for sure: a star of that one is matched by a star alone,
/// and its question mark by a star or a question mark.
pub(crate) fn glob_covers(pattern: &str, other: &str) -> bool {
    glob_with(pattern, other, |c| c != '*')
}

/// Whether a glob pattern matches a text: `*` stands for any characters, `/` included, and `?` for one.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    glob_with(pattern, text, |_| true)
}

/// The same, where `?` stands for those characters alone that `is_one` takes.
fn glob_with(pattern: &str, text: &str, is_one: fn(char) -> bool) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where to go on if what follows the last star does not fit.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some('?') if text.get(t).copied().is_some_and(is_one) => {
                p += 1;
                t += 1;
            }
            Some(c) if *c != '?' && text.get(t) == Some(c) => {
                p += 1;
                t += 1;
            }
            _ => match &mut star {
                None => return false,
                Some((after, from)) => {
                    *from += 1;
                    (p, t) = (*after, *from);
                }
            },
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_repository() {
        for path in [
            "src/main.rs",
            "a b",
            "..a",
            "a..b/c..",
            "./x",
            ".github/x",
            "größe",
        ] {
            assert_eq!(path_in_repository("path", path), Ok(()), "{path}");
        }
        for path in [
            "",
            " ",
            "/etc/passwd",
            "../x",
            "../../x",
            "a/../../x",
            "a/..",
            "..\\x",
            "C:\\x",
            "c:x",
            "~/x",
            "a/ .. /x",
            ".git/config",
            "x/.GIT/hooks/y",
            "\\\\host\\x",
            "a\0b",
        ] {
            assert!(path_in_repository("path", path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_path_is_compared_in_its_plain_form() {
        for (path, plain) in [
            ("/src/app/", "/src/app"),
            ("/src//app/.", "/src/app"),
            ("./src", "src"),
            ("/a/../b", "/b"),
            ("../a", "../a"),
            ("/", "/"),
            (".", ""),
        ] {
            assert_eq!(plain_path(path), plain, "{path}");
        }
    }

    #[test]
    fn letters_that_look_like_those_around_them_are_found() {
        for (text, meant) in [
            ("mаin", "main"),
            ("release/mаin1", "release/main1"),
            ("größе", "größe"),
            ("ｍａｉｎ", "main"),
            ("topic-ｍain", "topic-main"),
            ("ⅿаіո", "main"),
        ] {
            assert_eq!(without_look_alikes(text).as_deref(), Some(meant), "{text}");
        }
        for text in [
            "main",
            "größe",
            "gro\u{308}ße",
            "релиз/2",
            "гора",
            "発行-v2リリース",
            "kapı",
            "release/*",
        ] {
            assert_eq!(without_look_alikes(text), None, "{text}");
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "a/b"),
            ("release/*", "release/1/2"),
            ("*-prod", "eu-prod"),
            ("v?", "v1"),
            ("a*b*c", "axxbyyc"),
            ("**", "x"),
            ("main", "main"),
        ] {
            assert!(glob(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("release/*", "release"),
            ("main", "mains"),
            ("v?", "v"),
            ("a*b*c", "acb"),
            ("", "a"),
        ] {
            assert!(!glob(pattern, text), "{pattern} {text}");
        }
    }
}

//! Paths as policies see them: absolute, without `.` and `..`, by words alone. Nothing is looked up.

use crate::host;
use crate::part::{Resource, Type};

/// Bytes of a path that are looked at; Linux takes none that is longer.
const MAX_PATH: usize = 4_096;

/// The directory that a path begins at, and the one that the agent works on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Where relative paths begin; none, where that is not known.
    pub(crate) dir: Option<&'a str>,
    /// What the agent works on.
    pub(crate) root: Option<&'a str>,
    /// What `~` is.
    pub(crate) home: Option<&'a str>,
}

/// A path by its text, as a tool takes it.
pub(crate) fn known(text: &str, place: Place<'_>) -> Resource {
    let absolute = match absolute(text, place) {
        Some(absolute) if text.len() <= MAX_PATH && !text.contains('\0') => absolute,
        _ => return Resource::new(Type::Path, text, false),
    };
    let name = absolute.rsplit('/').next().map(folded).unwrap_or_default();
    let extension = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_owned(),
        _ => String::new(),
    };
    let relative = place.root.and_then(|root| within(&absolute, root));
    let segments = absolute.split('/').filter(|it| !it.is_empty()).map(folded);
    Resource::new(Type::Path, absolute.as_str(), true)
        .text("path", absolute.as_str())
        .text("relative", relative.unwrap_or_default())
        .text("folded", relative.map(folded).unwrap_or_default())
        .flag("inside", relative.is_some())
        .set("segments", segments)
        .text("name", name)
        .text("extension", extension)
}

/// A path that a pattern of the shell stands for: where it is may be known, and not which it is.
pub(crate) fn pattern(text: &str, place: Place<'_>) -> Resource {
    let unknown = Resource::new(Type::Path, text, false);
    // A pattern matches `..` where its part begins with a dot.
    let is_up = |part: &str| part.starts_with('.') && part.contains(['*', '?', '[']);
    if text.split('/').any(is_up) || text.len() > MAX_PATH {
        return unknown;
    }
    let absolute = absolute(text, place);
    let fixed = absolute.as_deref().map(fixed_part);
    match (fixed, place.root) {
        (Some(fixed), Some(root)) if within(fixed, root).is_some() => unknown.flag("inside", true),
        // From above of the workspace, a pattern can lead into it.
        (Some(fixed), Some(root)) if within(root, fixed).is_none() => unknown.flag("inside", false),
        _ => unknown,
    }
}

/// A path that is not known before the call.
pub(crate) fn unknown(text: &str) -> Resource {
    Resource::new(Type::Path, text, false)
}

/// The part of a pattern before what is not fixed.
fn fixed_part(pattern: &str) -> &str {
    let end = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let before = pattern.get(..end).unwrap_or_default();
    match before.rfind('/') {
        Some(0) => "/",
        Some(slash) => before.get(..slash).unwrap_or_default(),
        None => "",
    }
}

/// A path from the root, if it is known where it begins.
pub(crate) fn absolute(text: &str, place: Place<'_>) -> Option<String> {
    if host::is_odd_file(text) {
        return None;
    }
    let text = host::file_of(text).unwrap_or(text);
    if let Some(rest) = text.strip_prefix('~') {
        return match rest.is_empty() || rest.starts_with('/') {
            true => Some(normal(&[place.home?, rest])),
            // Somebody else's.
            false => None,
        };
    }
    match text.starts_with('/') {
        true => Some(normal(&[text])),
        false => Some(normal(&[place.dir?, text])),
    }
}

/// A path without `.`, `..` and empty parts, from the root.
pub(crate) fn normal(parts: &[&str]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in parts.iter().flat_map(|part| part.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}

/// The rest of a path behind a folder, if it is in it.
fn within<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let folder = normal(&[folder]);
    let rest = match folder.as_str() {
        "/" => path,
        folder => path.strip_prefix(folder)?,
    };
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest),
        None if rest.is_empty() => Some(rest),
        None => None,
    }
}

/// A name as file systems compare it that ignore case, and characters that are not seen.
pub(crate) fn folded(name: &str) -> String {
    let is_seen = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    name.chars()
        .filter(is_seen)
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Attribute;

    const PLACE: Place<'static> = Place {
        dir: Some("/work/app/src"),
        root: Some("/work/app"),
        home: Some("/home/ann"),
    };

    #[test]
    fn paths_are_absolute_and_without_dots() {
        for (text, path, inside, relative) in [
            ("main.rs", "/work/app/src/main.rs", true, "src/main.rs"),
            ("./../.env", "/work/app/.env", true, ".env"),
            ("../../other", "/work/other", false, ""),
            ("../../app-2/x", "/work/app-2/x", false, ""),
            ("/etc//passwd", "/etc/passwd", false, ""),
            ("/../../etc/passwd", "/etc/passwd", false, ""),
            ("/work/app", "/work/app", true, ""),
            ("~/.ssh/id_rsa", "/home/ann/.ssh/id_rsa", false, ""),
            ("", "/work/app/src", true, "src"),
        ] {
            let found = known(text, PLACE);
            assert_eq!(found.known_text("path"), Some(path), "{text}");
            assert_eq!(found.known_text("relative"), Some(relative), "{text}");
            assert_eq!(
                found.attributes.get("inside"),
                Some(&Attribute::Flag(inside)),
                "{text}"
            );
        }
    }

    #[test]
    fn names_are_compared_without_case_and_hidden_characters() {
        let found = known(".E\u{200c}NV", PLACE);
        assert_eq!(found.known_text("name"), Some(".env"));
        assert_eq!(found.known_text("extension"), Some(""));
        assert_eq!(
            known("a/Key.PEM", PLACE).known_text("extension"),
            Some("pem")
        );
    }

    #[test]
    fn what_is_not_known_has_no_attributes() {
        for text in ["~bob/x", "a\0b", &"x".repeat(5_000)] {
            assert!(known(text, PLACE).attributes.is_empty());
        }
        let nowhere = Place { dir: None, ..PLACE };
        assert!(known("x", nowhere).attributes.is_empty());
        assert_eq!(known("/x", nowhere).known_text("path"), Some("/x"));
    }

    #[test]
    fn a_pattern_says_where_and_not_which() {
        for (text, inside) in [
            ("*.rs", Some(true)),
            ("../*", Some(true)),
            ("../../*", None),
            ("/etc/*", Some(false)),
            ("/*/x", None),
            (".*", None),
            ("../../app*/x", None),
        ] {
            let found = pattern(text, PLACE);
            let expected = inside.map(Attribute::Flag);
            assert_eq!(found.attributes.get("inside"), expected.as_ref(), "{text}");
            assert_eq!(found.known_text("path"), None);
        }
    }
}

//! Patterns by which a search chooses the files that it reads: `*.rs`, `.env`, `src/**`.
//!
//! A search for `*.rs` reads a folder as a whole, except that it passes over other files. Its pattern counts as the file
//! `*.rs` and the file `.rs`, so that rules on names and extensions see both. Of a pattern that fixes more of a name
//! (`id_*`), only the folder is known.

use crate::shell::word::Word;

/// The files that a search reads by some patterns; none, where these are all files of a folder.
pub(crate) fn chosen(patterns: &str) -> Vec<Word> {
    let single = split(patterns).into_iter();
    let single = single.filter(|it| !it.is_empty() && !it.starts_with('!'));
    single.flat_map(of_one).collect()
}

/// The same for a word of a command.
pub(crate) fn of_word(word: &Word) -> Vec<Word> {
    let patterns = word.text.as_ref().or(word.pattern.as_ref());
    match patterns {
        // `--type-add 'NAME:GLOB'`
        Some(patterns) => chosen(patterns.rsplit(':').next().unwrap_or_default()),
        None => vec![word.clone()],
    }
}

/// Patterns with commas or blanks between them, where these are not in braces.
fn split(patterns: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let between = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth <= 0 && (c == ',' || c.is_whitespace())
    };
    patterns.split(between).collect()
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '\\'])
}

fn is_any(segment: &str) -> bool {
    !segment.is_empty() && segment.chars().all(|c| c == '*')
}

fn of_one(pattern: &str) -> Vec<Word> {
    let (folders, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let fixed: Vec<&str> = folders.split('/').filter(|it| !is_any(it)).collect();
    if fixed.iter().any(|it| is_pattern(it)) {
        return vec![unknown(pattern)];
    }
    let folder = fixed.join("/");
    let within = |name: &str| match (folder.as_str(), pattern.starts_with('/')) {
        ("", false) => Word::known(name),
        (folder, _) => Word::known(&format!("{folder}/{name}")),
    };
    if is_any(name) {
        return match folder.is_empty() {
            true => Vec::new(),
            false => vec![Word::known(&folder)],
        };
    }
    if !is_pattern(name) {
        return vec![within(name)];
    }
    match extensions(name) {
        Some(extensions) => {
            let files = extensions
                .into_iter()
                .flat_map(|it| [format!("*.{it}"), format!(".{it}")]);
            files.map(|file| within(&file)).collect()
        }
        None => vec![unknown(pattern)],
    }
}

/// The extensions of `*.rs` and of `*.{ts,tsx}`.
fn extensions(name: &str) -> Option<Vec<&str>> {
    let rest = name.trim_start_matches('*').strip_prefix('.')?;
    let is_plain = |it: &&str| !it.is_empty() && !is_pattern(it) && !it.contains('}');
    let listed = rest.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let all: Vec<&str> = match listed {
        Some(listed) => listed.split(',').collect(),
        None => vec![rest],
    };
    (name.starts_with('*') && all.iter().all(is_plain)).then_some(all)
}

fn unknown(pattern: &str) -> Word {
    Word {
        pattern: Some(pattern.to_owned()),
        ..Word::unknown(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_the_files_that_it_fixes() {
        for (patterns, expected) in [
            ("*.rs", vec!["*.rs", ".rs"]),
            ("**/*.{ts,tsx}", vec!["*.ts", ".ts", "*.tsx", ".tsx"]),
            ("src/**/*.rs", vec!["src/*.rs", "src/.rs"]),
            ("*.env.local", vec!["*.env.local", ".env.local"]),
            (".env", vec![".env"]),
            ("**/.env", vec![".env"]),
            ("a/.env", vec!["a/.env"]),
            ("/.env", vec!["/.env"]),
            ("!*.rs", vec![]),
            ("**/*", vec![]),
            ("*", vec![]),
            (".ssh/**", vec![".ssh"]),
            ("*.rs,.env", vec!["*.rs", ".rs", ".env"]),
            ("*.rs .env", vec!["*.rs", ".rs", ".env"]),
            ("id_*", vec!["?id_*"]),
            (".e*", vec!["?.e*"]),
            ("*.en?", vec!["?*.en?"]),
            ("{.env,a}", vec!["?{.env,a}"]),
            ("**/.s*/x", vec!["?**/.s*/x"]),
            ("*.*", vec!["?*.*"]),
        ] {
            let shown = |word: Word| match word.text {
                Some(text) => text,
                None => format!("?{}", word.raw),
            };
            let found: Vec<String> = chosen(patterns).into_iter().map(shown).collect();
            assert_eq!(found, expected, "{patterns}");
        }
    }
}

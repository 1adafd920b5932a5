//! A Rust source as words and signs, without comments and without what is for tests only.

/// The words and signs of a source; `::` is one sign, and a text is its content behind a quote.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(&first) = chars.get(at) {
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        match (first, next) {
            ('/', '/') => at = place(&chars, at, |rest| rest[0] == '\n'),
            ('/', '*') => at = end_of_comment(&chars, at),
            ('"', _) => {
                let end = end_of_text(&chars, at + 1);
                tokens.push(chars[at..end - 1].iter().collect());
                at = end;
            }
            ('\'', _) => at = end_of_quoted(&chars, at),
            (':', ':') => {
                tokens.push("::".to_owned());
                at += 2;
            }
            _ if is_of_word(first) => {
                let end = place(&chars, at, |rest| !is_of_word(rest[0]));
                let word: String = chars[at..end].iter().collect();
                match end_of_raw_text(&chars, &word, end) {
                    Some(behind) => at = behind,
                    None => {
                        at = end;
                        tokens.push(word);
                    }
                }
            }
            _ => {
                if !first.is_whitespace() {
                    tokens.push(first.to_string());
                }
                at += 1;
            }
        }
    }
    tokens
}

/// The tokens without items, fields and statements that are compiled for tests only.
pub(super) fn without_tests(tokens: &[String]) -> Vec<String> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        let attribute = tokens[at..].iter().take(7).map(String::as_str);
        let attribute = attribute.collect::<Vec<_>>().concat();
        let is_test = ["#[test]", "#[cfg(test)", "#[cfg(all(test"];
        if is_test
            .iter()
            .any(|beginning| attribute.starts_with(beginning))
        {
            at = end_of_item(tokens, at);
        } else {
            kept.push(token.clone());
            at += 1;
        }
    }
    kept
}

/// The place behind the item, field or statement that begins with attributes at `at`.
fn end_of_item(tokens: &[String], mut at: usize) -> usize {
    const ITEMS: [&str; 17] = [
        "pub",
        "fn",
        "use",
        "mod",
        "struct",
        "enum",
        "union",
        "impl",
        "trait",
        "type",
        "const",
        "static",
        "async",
        "unsafe",
        "extern",
        "macro_rules",
        "let",
    ];
    while tokens.get(at).is_some_and(|token| token == "#") {
        at = end_of_group(tokens, at + 1);
    }
    let is_item = tokens
        .get(at)
        .is_some_and(|token| ITEMS.contains(&token.as_str()));
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "(" | "[" => at = end_of_group(tokens, at),
            "{" => {
                let end = end_of_group(tokens, at);
                return end + usize::from(tokens.get(end).is_some_and(|token| token == ";"));
            }
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            ")" | "]" | "}" => return at,
            _ => at += 1,
        }
    }
    at
}

/// The place behind the brackets that open at `at`.
pub(super) fn end_of_group(tokens: &[String], at: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth <= 1 => return place + 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The first place from `at` on of which this holds, or the end.
fn place(chars: &[char], at: usize, holds: impl Fn(&[char]) -> bool) -> usize {
    let found = (at..chars.len()).find(|place| holds(&chars[*place..]));
    found.unwrap_or(chars.len())
}

/// The place behind a comment with others in it.
fn end_of_comment(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < chars.len() {
        match chars.get(at..at + 2) {
            Some(['/', '*']) => depth += 1,
            Some(['*', '/']) => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The place behind a text whose content begins at `at`.
fn end_of_text(chars: &[char], mut at: usize) -> usize {
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len() + 1
}

/// The place behind a character or a lifetime.
fn end_of_quoted(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => place(chars, at + 3, |rest| rest[0] == '\'') + 1,
        (_, Some('\'')) => at + 3,
        _ => place(chars, at + 1, |rest| !is_of_word(rest[0])),
    }
}

/// The place behind a raw text, if `word`, which ends at `at`, begins one.
fn end_of_raw_text(chars: &[char], word: &str, at: usize) -> Option<usize> {
    if !matches!(word, "r" | "br" | "cr") {
        return None;
    }
    let quote = place(chars, at, |rest| rest[0] != '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let mut end = vec!['"'];
    end.extend(&chars[at..quote]);
    Some(place(chars, quote + 1, |rest| rest.starts_with(&end)) + end.len())
}

//! Where a substitution ends that begins in a word: quotes, comments and here-documents in it do
//! not end it.

/// What the text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Parens,
    Braces,
    Brackets,
    Quotes,
}

/// A here-document whose text follows the line.
struct Here {
    tag: String,
    strips_tabs: bool,
    /// Whether its text is expanded.
    is_expanded: bool,
}

/// The byte of the `)` that ends a command substitution, whose text begins behind `$(`.
pub(super) fn paren(text: &str) -> Option<usize> {
    closing(text, Within::Parens)
}

/// The byte of the `}` that ends a `${`.
pub(super) fn brace(text: &str) -> Option<usize> {
    closing(text, Within::Braces)
}

/// The byte of the `]` that ends a `$[`.
pub(super) fn bracket(text: &str) -> Option<usize> {
    closing(text, Within::Brackets)
}

/// The byte of the backquote that ends a substitution.
pub(super) fn backquote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| match c {
        _ if is_escaped => {
            is_escaped = false;
            None
        }
        '\\' => {
            is_escaped = true;
            None
        }
        '`' => Some(at),
        _ => None,
    })
}

fn closing(text: &str, begun: Within) -> Option<usize> {
    let mut stack = vec![begun];
    let mut waiting: Vec<Here> = Vec::new();
    let (mut at, mut before) = (0, ' ');
    while let Some(c) = text.get(at..)?.chars().next() {
        let within = *stack.last()?;
        let rest = text.get(at + c.len_utf8()..)?;
        let mut step = c.len_utf8();
        match (within, c) {
            (_, '\\') => step += rest.chars().next().map_or(0, char::len_utf8),
            (Within::Quotes, '"') => {
                stack.pop();
            }
            (_, '"') => stack.push(Within::Quotes),
            (_, '`') => step += backquote(rest)? + 1,
            (_, '$') if rest.starts_with('(') => {
                stack.push(Within::Parens);
                step += 1;
            }
            (_, '$') if rest.starts_with('{') => {
                stack.push(Within::Braces);
                step += 1;
            }
            (Within::Quotes, _) => {}
            (_, '\'') if before == '$' => step += ansi_quote(rest)? + 1,
            (_, '\'') => step += rest.find('\'')? + 1,
            (Within::Parens, '#') if before.is_whitespace() || "();&|".contains(before) => {
                step += rest.find('\n').unwrap_or(rest.len());
            }
            (Within::Parens, '<') if rest.starts_with("<<") => step += 2,
            (Within::Parens, '<') if rest.starts_with('<') => {
                waiting.push(here(rest.get(1..)?)?);
                step += 1;
            }
            (Within::Parens, '\n') if !waiting.is_empty() => {
                for here in waiting.drain(..) {
                    let behind = text.get(at + step..)?;
                    step += body(behind, &here)?;
                }
            }
            (Within::Parens, '(') => stack.push(Within::Parens),
            (Within::Brackets, '[') => stack.push(Within::Brackets),
            (Within::Parens, ')') | (Within::Braces, '}') | (Within::Brackets, ']') => {
                stack.pop();
            }
            _ => {}
        }
        if stack.is_empty() {
            return Some(at);
        }
        before = c;
        at += step;
    }
    None
}

/// The byte of the quote that ends `$'...'`.
pub(super) fn ansi_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '\'' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

/// The tag of a here-document, behind `<<`.
fn here(text: &str) -> Option<Here> {
    let strips_tabs = text.starts_with('-');
    let text = text.strip_prefix('-').unwrap_or(text);
    let text = text.trim_start_matches([' ', '\t']);
    let end = text.find(|c: char| c.is_whitespace() || ";&|<>()".contains(c));
    let word = text.get(..end.unwrap_or(text.len()))?;
    let (tag, is_expanded) = delimiter(word)?;
    Some(Here {
        tag: tag.to_owned(),
        strips_tabs,
        is_expanded,
    })
}

/// Returns the delimiter of a here-document by its word, and whether the text is expanded; none, if shells may read the
/// word in different ways.
pub(super) fn delimiter(word: &str) -> Option<(&str, bool)> {
    let quoted = ['\'', '"'].iter().find_map(|quote| {
        let rest = word.strip_prefix(*quote)?;
        rest.strip_suffix(*quote)
    });
    let quoted = quoted.or_else(|| word.strip_prefix('\\'));
    let delimiter = quoted.unwrap_or(word);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!delimiter.is_empty() && delimiter.chars().all(is_plain))
        .then_some((delimiter, quoted.is_none()))
}

/// Returns `true` if a text that is expanded has lines that are joined: the delimiter may be in pieces.
pub(super) fn has_joined_lines(text: &str) -> bool {
    text.contains("\\\n")
}

/// The length of a here-document's text with its last line.
fn body(text: &str, here: &Here) -> Option<usize> {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = match here.strips_tabs {
            true => bare.trim_start_matches('\t'),
            false => bare,
        };
        if bare == here.tag {
            // The line break stays, for what follows it begins a line.
            let is_last = !line.ends_with('\n');
            return Some(length + line.len() - usize::from(!is_last));
        }
        if here.is_expanded && has_joined_lines(line) {
            return None;
        }
        length += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_substitution_ends_where_the_shell_ends_it() {
        for (text, inside) in [
            ("ls)x", "ls"),
            (
                "echo ')' \")\" \\) $(a) `)` (b))x",
                "echo ')' \")\" \\) $(a) `)` (b)",
            ),
            ("a # )\nb)x", "a # )\nb"),
            ("cat <<'E'\nit's (\nE\n)x", "cat <<'E'\nit's (\nE\n"),
            ("cat <<-E; b\n\tx)\n\tE\n)x", "cat <<-E; b\n\tx)\n\tE\n"),
            ("a <<< b)x", "a <<< b"),
            ("echo \"$(b \")\")\")x", "echo \"$(b \")\")\""),
            ("a $'\\')' b)x", "a $'\\')' b"),
            ("a${b#)})x", "a${b#)}"),
        ] {
            assert_eq!(paren(text).map(|end| &text[..end]), Some(inside), "{text}");
        }
        for open in [
            "ls",
            "'",
            "\"$(",
            "cat <<E\nx)",
            "`",
            "cat <<$'E'\nx\nE\n)",
            "cat <<'E'x\nx\nEx\n)",
            "cat <<E\nx\\\n\nE\n)",
        ] {
            assert_eq!(paren(open), None, "{open}");
        }
        assert_eq!(brace("x:-$(a })}y"), Some(9));
    }
}

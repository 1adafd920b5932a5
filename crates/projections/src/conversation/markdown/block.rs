//! Blocks and spans of Markdown that hold any text.

use std::fmt::{self, Write};

/// Writes a text as a code block. The fence is longer than any run of backticks in the text.
pub(in crate::conversation) fn fenced(
    language: &str,
    text: &str,
    out: &mut impl Write,
) -> fmt::Result {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let end = if text.ends_with('\n') || text.is_empty() {
        ""
    } else {
        "\n"
    };
    writeln!(out, "{fence}{language}\n{text}{end}{fence}\n")
}

/// Returns a text as a code span on one line.
pub(in crate::conversation) fn code_span(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let text = text.trim();
    let fence = "`".repeat(longest_run(text) + 1);
    // A space keeps a backtick at either end apart from the fence.
    let space = match text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        true => " ",
        false => "",
    };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns a text on one line in which nothing has a meaning in Markdown.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '~' | '|' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A block that goes on until a line ends it.
#[derive(Debug, PartialEq)]
enum Open<'a> {
    Fence {
        indent: &'a str,
        mark: char,
        length: usize,
    },
    /// A block of HTML, with the text that ends it.
    Html(&'static str),
}

/// The beginnings of HTML blocks that only their own end ends, and these ends.
const HTML: [(&str, &str); 7] = [
    ("<!--", "-->"),
    ("<script", "</script>"),
    ("<pre", "</pre>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<?", "?>"),
    ("<![cdata[", "]]>"),
];

/// Returns the line that closes the code or HTML block that a text leaves open.
pub(super) fn closing(text: &str) -> Option<String> {
    let mut open: Option<Open<'_>> = None;
    for line in text.lines() {
        open = match open {
            None => opened(line),
            Some(block) => (!is_closed(&block, line)).then_some(block),
        };
    }
    open.map(|block| match block {
        Open::Fence {
            indent,
            mark,
            length,
        } => format!("{indent}{}", mark.to_string().repeat(length)),
        Open::Html(end) => end.to_owned(),
    })
}

/// The parts of a line that is a fence, or begins like one: indentation, mark, length and what follows.
fn fence(line: &str) -> Option<(&str, char, usize, &str)> {
    let content = line.trim_start_matches(' ');
    let indent = line.get(..line.len() - content.len())?;
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = content.trim_start_matches(mark);
    let length = content.len() - rest.len();
    (indent.len() <= 3 && length >= 3).then_some((indent, mark, length, rest))
}

fn opened(line: &str) -> Option<Open<'_>> {
    if let Some((indent, mark, length, info)) = fence(line)
        && !(mark == '`' && info.contains('`'))
    {
        return Some(Open::Fence {
            indent,
            mark,
            length,
        });
    }
    let content = line.trim_start_matches(' ');
    if line.len() - content.len() > 3 || !content.starts_with('<') {
        return None;
    }
    let lower = content.to_ascii_lowercase();
    let (begin, end) = HTML.iter().find(|(begin, _)| lower.starts_with(begin))?;
    let behind = lower.get(begin.len()..).unwrap_or_default();
    (!behind.contains(end)).then_some(Open::Html(end))
}

fn is_closed(open: &Open<'_>, line: &str) -> bool {
    match open {
        Open::Fence { mark, length, .. } => fence(line).is_some_and(|(_, own, run, rest)| {
            own == *mark && run >= *length && rest.trim().is_empty()
        }),
        Open::Html(end) => line.to_ascii_lowercase().contains(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        for (text, expected) in [
            ("a", "```x\na\n```\n\n"),
            ("a\n", "```x\na\n```\n\n"),
            ("", "```x\n```\n\n"),
            ("```\na\n```", "````x\n```\na\n```\n````\n\n"),
            ("a ````` b", "``````x\na ````` b\n``````\n\n"),
        ] {
            let mut out = String::new();
            fenced("x", text, &mut out).unwrap();
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn spans_and_escapes_hold_any_text() {
        for (text, span, plain) in [
            ("mcp__a__b", "`mcp__a__b`", r"mcp\_\_a\_\_b"),
            ("a`b", "``a`b``", r"a\`b"),
            ("`a", "`` `a ``", r"\`a"),
            ("", "`  `", ""),
            ("a\nb", "`a b`", "a b"),
            ("<b>&amp;", "`<b>&amp;`", r"\<b\>\&amp;"),
        ] {
            assert_eq!(
                (code_span(text).as_str(), escaped(text).as_str()),
                (span, plain)
            );
        }
    }

    #[test]
    fn a_block_that_a_text_leaves_open_is_closed() {
        for (text, expected) in [
            ("plain", None),
            ("```rust\nfn a() {}\n```", None),
            ("```rust\nfn a() {}", Some("```")),
            ("~~~~\n~~~\n", Some("~~~~")),
            ("````\n```\n", Some("````")),
            ("  ```\nx", Some("  ```")),
            ("    ```\nx", None),
            ("a ``` b", None),
            ("```a`b", None),
            ("```\nx\n``` y", Some("```")),
            ("<!-- a\nb", Some("-->")),
            ("<!-- a --> b", None),
            ("<PRE>\nx", Some("</pre>")),
            ("<script>\n</script>", None),
            ("<div>\nx", None),
        ] {
            assert_eq!(closing(text).as_deref(), expected, "{text:?}");
        }
    }
}

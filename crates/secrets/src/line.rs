//! Expressions that match within one line, and the line ends around a place in a text.

use memchr::{memchr, memrchr};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Parts of a text, in order, that do not overlap.
pub(super) type Parts = Vec<(usize, usize)>;

/// Line end.
const END: u8 = b'\n';

/// Parses an expression over bytes.
pub(super) fn parse(expression: &str) -> Option<Hir> {
    let mut parser = ParserBuilder::new();
    let parser = parser.utf8(false).unicode(false);
    parser.build().parse(expression).ok()
}

/// Parses an expression whose classes are of characters.
pub(super) fn parse_unicode(expression: &str) -> Option<Hir> {
    ParserBuilder::new()
        .utf8(false)
        .build()
        .parse(expression)
        .ok()
}

/// Returns `true` if every match has a line end as its first or last character at most.
pub(super) fn is_of_a_line(expression: &Hir) -> bool {
    !goes_on(expression, true, true)
}

/// Returns `true` if a match of a part may have a line end elsewhere. `is_first` allows one as its first character,
/// `is_last` as its last.
fn goes_on(part: &Hir, is_first: bool, is_last: bool) -> bool {
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => {
            let last = literal.0.len() - 1;
            let mut ends = literal.0.iter().enumerate().filter(|(_, it)| **it == END);
            ends.any(|(at, _)| !((at == 0 && is_first) || (at == last && is_last)))
        }
        HirKind::Class(class) => has_end(class) && !is_first && !is_last,
        HirKind::Capture(group) => goes_on(&group.sub, is_first, is_last),
        HirKind::Repetition(repeated) => {
            let is_once = repeated.max == Some(1);
            goes_on(&repeated.sub, is_first && is_once, is_last && is_once)
        }
        HirKind::Alternation(parts) => parts.iter().any(|it| goes_on(it, is_first, is_last)),
        HirKind::Concat(parts) => {
            let is_empty = |part: &Hir| part.properties().maximum_len() == Some(0);
            let first = parts.iter().position(|part| !is_empty(part));
            let last = parts.iter().rposition(|part| !is_empty(part));
            let mut parts = parts.iter().enumerate();
            parts.any(|(at, part)| {
                let (is_begin, is_end) = (first == Some(at), last == Some(at));
                goes_on(part, is_first && is_begin, is_last && is_end)
            })
        }
    }
}

fn has_end(class: &Class) -> bool {
    match class {
        Class::Unicode(class) => {
            let mut ranges = class.ranges().iter();
            ranges.any(|it| (it.start()..=it.end()).contains(&char::from(END)))
        }
        Class::Bytes(class) => {
            let mut ranges = class.ranges().iter();
            ranges.any(|it| (it.start()..=it.end()).contains(&END))
        }
    }
}

/// Cuts the part `from..to` to the line of the place `start..end`. The line ends on both sides are kept.
pub(super) fn within(
    text: &[u8],
    (start, end): (usize, usize),
    (from, to): (usize, usize),
) -> (usize, usize) {
    let before = text.get(from..start).unwrap_or_default();
    let behind = text.get(end..to.min(text.len())).unwrap_or_default();
    (
        memrchr(END, before).map_or(from, |at| from + at),
        memchr(END, behind).map_or(to, |at| end + at + 1),
    )
}

/// Adds a part that begins no earlier than the others. It is joined with the last one if they overlap.
pub(super) fn add(parts: &mut Parts, (start, end): (usize, usize)) {
    match parts.last_mut() {
        Some((from, to)) if start <= *to => {
            *from = start.min(*from);
            *to = end.max(*to);
        }
        _ => parts.push((start, end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_one_line_are_told_from_others() {
        for (expression, is_one) in [
            ("ghp_[A-Z]{3}", true),
            (r"(?:^|[\n\r])a[^\s]+b(?:[.,]{0,2}(?:\s|$))", true),
            (r"\nab|cd\n", true),
            (r"a\s?", true),
            (r"a(?:\s|$)", true),
            (r"a\sb", false),
            (r"\s{2}b", false),
            (r"a(?:\sb)?", false),
            (r"a[^b]c", false),
            (r"(?s)a.c", false),
            ("a.c", true),
            ("a\nb", false),
        ] {
            let parsed = [parse(expression), parse_unicode(expression)];
            for parsed in parsed.into_iter().flatten() {
                assert_eq!(is_of_a_line(&parsed), is_one, "{expression}");
            }
        }
    }

    #[test]
    fn a_part_ends_with_its_line() {
        let text = b"one\ntwo three\nfour";
        let place = (8, 13);
        assert_eq!(within(text, place, (0, 100)), (3, 14));
        assert_eq!(within(text, place, (6, 10)), (6, 10));
        assert_eq!(within(text, (0, 3), (0, 9)), (0, 4));
    }
}

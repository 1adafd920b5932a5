//! The hunks of a text diff, byte for byte as `git diff` prints them.

use std::ops::Range;

use gix::diff::blob::{Algorithm, Hunk, InternedInput, diff_with_slider_heuristics};

use super::sink::Sink;

/// Unchanged lines around a change.
const CONTEXT: u32 = 3;

/// The longest function name after a hunk's range, in bytes.
const HEADING: usize = 80;

/// Lines that a diff adds and deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lines {
    pub(crate) added: u32,
    pub(crate) deleted: u32,
}

/// Compares two texts with git's default algorithm and writes the hunks.
/// `header` is written before the first one, and not at all without any.
pub(crate) fn write(before: &[u8], after: &[u8], header: &[u8], sink: &mut Sink) -> Lines {
    if let Some(lines) = of_one_side(before, after, sink) {
        return lines;
    }
    let input = InternedInput::new(before, after);
    let diff = diff_with_slider_heuristics(Algorithm::Myers, &input);
    let lines = Lines {
        added: diff.count_additions(),
        deleted: diff.count_removals(),
    };
    if sink.is_full() {
        return lines;
    }
    let changes: Vec<Hunk> = diff.hunks().collect();
    if !changes.is_empty() {
        sink.write(header);
    }
    let printer = Printer {
        before: input
            .before
            .iter()
            .map(|token| input.interner[*token])
            .collect(),
        after: input
            .after
            .iter()
            .map(|token| input.interner[*token])
            .collect(),
    };
    printer.write(&changes, sink);
    lines
}

/// The lines of a text that is new or gone, and has no room in the sink: to compare it with nothing would take many
/// times its size in memory.
fn of_one_side(before: &[u8], after: &[u8], sink: &mut Sink) -> Option<Lines> {
    let count = |text: &[u8]| {
        let ends = text.iter().filter(|byte| **byte == b'\n').count();
        let open = usize::from(text.last().is_some_and(|last| *last != b'\n'));
        u32::try_from(ends + open).unwrap_or(u32::MAX)
    };
    let one = match (before, after) {
        ([], one) | (one, []) if !sink.has_room(one.len()) => one,
        _ => return None,
    };
    sink.write(one);
    Some(Lines {
        added: count(after),
        deleted: count(before),
    })
}

/// The lines of both sides, each with its line end.
struct Printer<'a> {
    before: Vec<&'a [u8]>,
    after: Vec<&'a [u8]>,
}

impl Printer<'_> {
    fn write(&self, changes: &[Hunk], sink: &mut Sink) {
        let mut heading: &[u8] = b"";
        let mut searched = 0;
        // Changes whose context would touch share a hunk.
        let groups = changes.chunk_by(|a, b| b.before.start - a.before.end <= 2 * CONTEXT);
        for group in groups {
            let (Some(first), Some(last)) = (group.first(), group.last()) else {
                continue;
            };
            let before = self.with_context(&first.before, &last.before, self.before.len());
            let after = self.with_context(&first.after, &last.after, self.after.len());
            heading = self.heading(searched..before.start).unwrap_or(heading);
            searched = before.start;
            sink.write(b"@@ -");
            write_range(&before, sink);
            sink.write(b" +");
            write_range(&after, sink);
            sink.write(b" @@");
            if !heading.is_empty() {
                sink.write(b" ");
                sink.write(heading);
            }
            sink.write(b"\n");
            self.write_lines(group, &before, sink);
        }
    }

    fn with_context(&self, first: &Range<u32>, last: &Range<u32>, lines: usize) -> Range<u32> {
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        first.start.saturating_sub(CONTEXT)..last.end.saturating_add(CONTEXT).min(lines)
    }

    /// The last line of the range that looks like the head of a function: it
    /// begins with a letter, `_` or `$`.
    fn heading(&self, range: Range<u32>) -> Option<&[u8]> {
        let lines = self.before.get(range.start as usize..range.end as usize)?;
        let head = |line: &&&[u8]| {
            line.first()
                .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$'))
        };
        let line = lines.iter().rev().find(head)?;
        Some(line.get(..HEADING).unwrap_or(line).trim_ascii_end())
    }

    fn write_lines(&self, group: &[Hunk], before: &Range<u32>, sink: &mut Sink) {
        let mut at = before.start;
        for change in group {
            write_side(&self.before, at..change.before.start, b" ", sink);
            write_side(&self.before, change.before.clone(), b"-", sink);
            write_side(&self.after, change.after.clone(), b"+", sink);
            at = change.before.end;
        }
        write_side(&self.before, at..before.end, b" ", sink);
    }
}

/// A range as hunk headers have it: from 1, the count left out where it is 1;
/// an empty range names the line before it.
fn write_range(range: &Range<u32>, sink: &mut Sink) {
    let count = range.end - range.start;
    let start = if count == 0 {
        range.start
    } else {
        range.start + 1
    };
    let text = if count == 1 {
        start.to_string()
    } else {
        format!("{start},{count}")
    };
    sink.write(text.as_bytes());
}

fn write_side(lines: &[&[u8]], range: Range<u32>, sign: &[u8], sink: &mut Sink) {
    for line in lines
        .get(range.start as usize..range.end as usize)
        .unwrap_or_default()
    {
        sink.write(sign);
        sink.write(line);
        if !line.ends_with(b"\n") {
            sink.write(b"\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &str) {
        let mut sink = Sink::new(1 << 20);
        write(before.as_bytes(), after.as_bytes(), b"", &mut sink);
        let written = sink
            .into_bytes()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(written.as_deref(), Some(expected));
    }

    // The expected texts are what git prints for the same contents.

    #[test]
    fn one_line_files_have_no_counts() {
        check("a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n");
    }

    #[test]
    fn empty_sides_begin_at_line_0() {
        check("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n");
        check("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n");
        check("", "", "");
    }

    #[test]
    fn missing_line_ends_are_said() {
        check(
            "a\nb",
            "a\nc",
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
        );
        check(
            "a",
            "a\n",
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
        );
    }

    #[test]
    fn changes_six_lines_apart_share_a_hunk_and_seven_do_not() {
        let text = |lines: usize, changed: &[usize]| {
            let line = |n| {
                if changed.contains(&n) {
                    format!(" X{n}\n")
                } else {
                    format!(" {n}\n")
                }
            };
            (1..=lines).map(line).collect::<String>()
        };
        let written = |before: &str, after: &str| {
            let mut sink = Sink::new(1 << 20);
            write(before.as_bytes(), after.as_bytes(), b"", &mut sink);
            String::from_utf8_lossy(&sink.into_bytes().unwrap_or_default()).into_owned()
        };
        let near = written(&text(20, &[]), &text(20, &[5, 12]));
        assert_eq!(near.matches("@@ -").count(), 1, "{near}");
        assert!(near.starts_with("@@ -2,14 +2,14 @@\n"), "{near}");
        let far = written(&text(20, &[]), &text(20, &[5, 13]));
        assert_eq!(far.matches("@@ -").count(), 2, "{far}");
        assert!(far.contains("@@ -10,7 +10,7 @@\n"), "{far}");
    }

    #[test]
    fn headings_are_the_last_line_that_looks_like_a_function() {
        let body = "    1\n    2\n    3\n    4\n    5\n";
        let before = format!("fn first() {{\n{body}    old\n}}\n");
        let after = format!("fn first() {{\n{body}    new\n}}\n");
        check(
            &before,
            &after,
            "@@ -4,5 +4,5 @@ fn first() {\n     3\n     4\n     5\n-    old\n+    new\n }\n",
        );
    }
}

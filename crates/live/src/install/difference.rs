//! The lines by which two texts differ.

use std::fmt::Write as _;

/// Lines around a change that are shown.
const AROUND: usize = 3;

/// More lines are not compared one by one.
const LINES: usize = 3_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The lines that go and come from one text to another, with some around them.
pub(super) fn between(before: &str, after: &str) -> String {
    let lines = aligned(before, after);
    let changed = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let mut text = String::new();
    let mut skipped = false;
    for (at, line) in lines.iter().enumerate() {
        let from = at.saturating_sub(AROUND);
        let until = (at + AROUND + 1).min(lines.len());
        let is_near = lines
            .get(from..until)
            .is_some_and(|near| near.iter().any(changed));
        if !is_near {
            skipped = true;
            continue;
        }
        if std::mem::take(&mut skipped) {
            text.push_str("  ...\n");
        }
        let (sign, line) = match line {
            Line::Same(line) => (' ', line),
            Line::Gone(line) => ('-', line),
            Line::New(line) => ('+', line),
        };
        let _ = writeln!(text, "{sign} {line}");
    }
    text
}

/// Both texts line by line, by their longest common lines.
fn aligned<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let [a, b]: [Vec<&str>; 2] = [before, after].map(|text| text.lines().collect());
    if a.len().max(b.len()) > LINES {
        let gone = a.into_iter().map(Line::Gone);
        return gone.chain(b.into_iter().map(Line::New)).collect();
    }
    // How many lines the ends behind two places share.
    let width = b.len() + 1;
    let mut shared = vec![0_u32; (a.len() + 1) * width];
    let get = |shared: &[u32], i: usize, j: usize| shared.get(i * width + j).copied().unwrap_or(0);
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            let best = match x == y {
                true => get(&shared, i + 1, j + 1) + 1,
                false => get(&shared, i + 1, j).max(get(&shared, i, j + 1)),
            };
            if let Some(cell) = shared.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    loop {
        match (a.get(i), b.get(j)) {
            (None, None) => return lines,
            (Some(x), Some(y)) if x == y => {
                lines.push(Line::Same(x));
                (i, j) = (i + 1, j + 1);
            }
            (Some(x), y) if y.is_none() || get(&shared, i + 1, j) >= get(&shared, i, j + 1) => {
                lines.push(Line::Gone(x));
                i += 1;
            }
            (_, Some(y)) => {
                lines.push(Line::New(y));
                j += 1;
            }
            (Some(x), None) => {
                lines.push(Line::Gone(x));
                i += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn what_goes_and_comes_is_shown_with_what_is_around() {
        let before = "a\nb\nc\nd\ne\nf\ng\n";
        let after = "a\nb\nc\nd\ne\nx\ng\n";
        assert_eq!(
            between(before, after),
            "  ...\n  c\n  d\n  e\n- f\n+ x\n  g\n"
        );
        assert_eq!(between("", "a\n"), "+ a\n");
        assert_eq!(between("a\n", ""), "- a\n");
        assert_eq!(between("a\n", "a\n"), "");
    }
}

//! Two texts as the lines that differ.

use super::side_by_side::{Aligned, align};

/// A line of two texts beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// It is in both.
    Same(&'a str),
    /// It is in the old one alone.
    Removed(&'a str),
    /// It is in the new one alone.
    Added(&'a str),
    /// So many lines that are in both are left out.
    Skipped(usize),
}

/// The lines of two texts that differ, with at most so many around them that are the same.
///
/// ```
/// use annals_projections::past::{DiffLine::*, line_diff};
/// let lines = line_diff("a\nb\nc\nd", "a\nb\nc\ne", 1);
/// assert_eq!(lines, [Skipped(2), Same("c"), Removed("d"), Added("e")]);
/// ```
pub fn line_diff<'a>(old: &'a str, new: &'a str, context: usize) -> Vec<DiffLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let aligned = align(&old, &new);
    let differs: Vec<usize> = (0..)
        .zip(&aligned)
        .filter(|(_, it)| it.a.is_none() || it.b.is_none())
        .map(|(at, _)| at)
        .collect();
    let is_near = |at: usize| {
        let next = differs.partition_point(|other| *other < at.saturating_sub(context));
        differs
            .get(next)
            .is_some_and(|other| *other <= at + context)
    };
    let (mut lines, mut skipped) = (Vec::new(), 0);
    for (at, Aligned { a, b }) in aligned.into_iter().enumerate() {
        let of = |list: &[&'a str], at: usize| list.get(at).copied().unwrap_or_default();
        let line = match (a, b) {
            (Some(a), None) => DiffLine::Removed(of(&old, a)),
            (None, Some(b)) => DiffLine::Added(of(&new, b)),
            (Some(a), Some(_)) if is_near(at) => DiffLine::Same(of(&old, a)),
            (Some(_), Some(_)) | (None, None) => {
                skipped += 1;
                continue;
            }
        };
        if skipped > 0 {
            lines.push(DiffLine::Skipped(skipped));
            skipped = 0;
        }
        lines.push(line);
    }
    if skipped > 0 {
        lines.push(DiffLine::Skipped(skipped));
    }
    lines
}

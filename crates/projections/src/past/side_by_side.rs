//! Two lists beside each other.

use std::hash::Hash;

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Elements of each list, behind where they part, that are aligned: what that takes grows with the product of what
/// differs.
const ALIGNED: usize = 2_000;

/// What stands beside each other: the numbers of two elements that are equal, or of one that has none beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Aligned {
    /// The number of the element of the first list.
    pub a: Option<usize>,
    /// The number of the element of the second list.
    pub b: Option<usize>,
}

/// How many elements two lists have in common from their beginning; none where they are equal to the end.
pub fn parting<T: PartialEq>(a: &[T], b: &[T]) -> Option<usize> {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    (common < a.len() || common < b.len()).then_some(common)
}

/// Lays two lists beside each other, so that much that is equal is in one line. The order of both is kept, and each
/// element is there once. Where they differ for very long, the rest is not aligned: first that of the one, then that
/// of the other.
pub fn align<T: Hash + Eq + Ord>(a: &[T], b: &[T]) -> Vec<Aligned> {
    let begin = parting(a, b).unwrap_or(a.len());
    let both = |a, b| Aligned {
        a: Some(a),
        b: Some(b),
    };
    let only_a = |a| Aligned {
        a: Some(a),
        b: None,
    };
    let only_b = |b| Aligned {
        a: None,
        b: Some(b),
    };
    let mut aligned: Vec<Aligned> = (0..begin).map(|number| both(number, number)).collect();
    let ends = [a.len(), b.len()].map(|len| len.min(begin + ALIGNED));
    let (of_a, of_b) = (a.get(begin..ends[0]), b.get(begin..ends[1]));
    let (of_a, of_b) = (of_a.unwrap_or_default(), of_b.unwrap_or_default());
    for op in capture_diff_slices(Algorithm::Myers, of_a, of_b) {
        let (from_a, from_b) = (begin + op.old_range().start, begin + op.new_range().start);
        let (len_a, len_b) = (op.old_range().len(), op.new_range().len());
        match op {
            DiffOp::Equal { .. } => {
                aligned.extend((0..len_a).map(|step| both(from_a + step, from_b + step)));
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                aligned.extend((from_a..from_a + len_a).map(only_a));
                aligned.extend((from_b..from_b + len_b).map(only_b));
            }
        }
    }
    aligned.extend((ends[0]..a.len()).map(only_a));
    aligned.extend((ends[1]..b.len()).map(only_b));
    aligned
}

//! The types of work that words stand for.

use super::phrases::Phrase;
use super::text::Words;

/// The types that words stand for. Without any of them work is a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Fix,
    Refactor,
    Test,
    Audit,
}

/// A type's words and phrases.
#[derive(Debug)]
pub(super) struct Signs {
    pub(super) work_type: Work,
    pub(super) words: Words,
    pub(super) phrases: &'static [Phrase],
}

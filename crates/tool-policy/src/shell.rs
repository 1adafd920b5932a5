//! Commands of the shell: their syntax, their words, and where substitutions end.

pub(crate) mod arithmetic;
mod closing;
pub(crate) mod syntax;
pub(crate) mod word;

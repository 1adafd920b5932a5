//! `import git`: what commits become, which diffs, repeats, odd repositories.

mod binary;
mod commits;
mod diffs;
mod odd;
mod repeat;
pub(crate) mod repo;
mod speed;

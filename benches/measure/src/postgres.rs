//! The comparison of logs on PostgreSQL: which appends are measured ([`loads`]), of which stores
//! ([`compared`]), and what becomes of it ([`results`], [`table`], [`goals`], [`page`]).
//!
//! The stores themselves are in the program `compare-postgres` of `annals-benches`, which starts the
//! server, too.

pub mod compared;
pub mod goals;
pub mod loads;
pub mod page;
pub mod results;
pub mod rows;
pub mod table;

#[cfg(test)]
mod tests;

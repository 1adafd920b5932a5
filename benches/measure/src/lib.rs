//! The comparison of our log with other stores: one program for all of them, the same payloads,
//! the same clients, real syncs, in turns.
//!
//! This crate has what is measured ([`measure`]), of which stores ([`stores`]), and what becomes
//! of it ([`table`], [`page`]). The stores themselves are in two programs, each of which hands
//! its stores to [`program::run`]: ours and raw RocksDB in `annals-benches` (`compare-ours`),
//! whose build shares the workspace's RocksDB, and the peers in `benches/compare`, outside of
//! the workspace. The program `compare` runs both ([`driver`]). `docs/performance.md` is the
//! page. [`postgres`] is the same for logs on PostgreSQL, whose stores are in one program.

pub mod clients;
pub mod disk;
pub mod driver;
pub mod machine;
pub mod marks;
pub mod measure;
pub mod measurement;
pub mod page;
pub mod payload;
pub mod postgres;
pub mod program;
pub mod results;
pub mod rows;
pub mod statistics;
pub mod store;
pub mod stores;
pub mod table;
pub mod workload;

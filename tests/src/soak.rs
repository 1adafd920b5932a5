//! The soak: the real program and the library under faults, and a witness outside of them
//! that finds what is lost.
//!
//! ```text
//! soak (runner) ─▶ cycle: a new log on a disk that can fail
//!    │               │ round: processes, a fault in one of them, perhaps a power cut
//!    │               │          │ soak-worker, annals ── say ──▶ history (the witness)
//!    │               │ check: a new process opens the log: do the invariants hold?
//!    ◀── violations ─┘          with the seed that repeats the cycle
//! ```
//!
//! A cycle follows from its seed, as far as the scheduling of threads lets it.

pub mod batch;
pub mod check;
pub mod copies;
pub mod cycle;
pub mod disk;
pub mod fault;
pub mod job;
pub mod mutants;
pub mod plan;
pub mod process;
pub mod program;
pub mod projection;
pub mod reading;
pub mod runner;
pub mod said;
pub mod work;
pub mod workload;

//! The importers, run against sources that the tests make.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::too_many_lines
)]

use proptest::test_runner::{Config, RngSeed};

mod agent_log;
mod atif;
mod claude;
mod codex;
mod contracts;
mod conversation;
mod copilot;
mod copilot_chat;
mod cursor;
mod damaged;
mod forge;
mod gemini;
mod git;
mod git_internal;
mod guesses;
mod opencode;
mod openhands;
mod raw;
mod recorded;
mod secrets;
mod sessions;
mod swe_agent;
mod told;
mod verbatim;

/// The same `count` cases each time, unless the environment asks for others
/// with `PROPTEST_CASES` and `PROPTEST_RNG_SEED`.
fn cases(count: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok();
    let asked = asked.and_then(|cases| cases.parse().ok());
    let config = Config {
        cases: asked.unwrap_or(count),
        failure_persistence: None,
        ..Config::default()
    };
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(20_260_102),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    println!("{} cases, {rng_seed:?}", config.cases);
    Config { rng_seed, ..config }
}

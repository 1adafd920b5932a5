//! Every parser of foreign bytes as a function of bytes, and inputs to begin with.
//!
//! A target takes any bytes, as a stranger may give them, and must come to an end without a panic,
//! in bounded memory. Where a parser accepts something, more is asked: what is written again must
//! be the same, and what is imported again must add nothing.
//!
//! `make fuzz` gives them to libFuzzer (`fuzz/`), which looks for inputs by coverage. `make test`
//! runs each on its seeds, on what was once found, and on a number of changed seeds
//! (`tests/corpus.rs`), on stable Rust.

// A target says what it found by a panic, as fuzzers expect it.
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)]

mod importers;
mod live;
mod mutation;
mod parsers;
mod seeds;

pub use mutation::Mutator;

/// A parser of foreign bytes.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// What it is called, as `make fuzz TARGET=name` names it.
    pub name: &'static str,
    /// Gives bytes to it.
    pub run: fn(&[u8]),
    /// Inputs that it accepts, or nearly.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 31] = [
    target("record", parsers::record, seeds::records),
    target("wire", parsers::wire, seeds::structures),
    target("chunk", parsers::chunk, seeds::chunks),
    target("watermark", parsers::watermark, seeds::watermarks),
    target("apply_line", parsers::apply_line, seeds::apply_lines),
    target("policy", parsers::policy, seeds::policies),
    target("prices", parsers::prices, seeds::prices),
    target("proof", parsers::proof, seeds::proofs),
    target("note", parsers::note, seeds::notes),
    target("key", parsers::key, seeds::keys),
    target("secrets", parsers::secrets, seeds::texts),
    target("contract", parsers::contract, seeds::contracts),
    target("hook", live::hook, live::hooks),
    target("spool", live::spool, live::spooled),
    target("settings", live::settings, live::settings_of_agents),
    target("telemetry", live::telemetry, live::telemetries),
    target("import_claude", importers::claude, seeds::recordings),
    target("import_gemini", importers::gemini, seeds::gemini),
    target("import_codex", importers::codex, seeds::codex),
    target("import_copilot", importers::copilot, seeds::copilot),
    target(
        "import_copilot_chat",
        importers::copilot_chat,
        seeds::copilot_chat,
    ),
    target("import_cursor", importers::cursor, seeds::cursor),
    target("import_opencode", importers::opencode, seeds::opencode),
    target("import_openhands", importers::openhands, seeds::openhands),
    target("import_swe_agent", importers::swe_agent, seeds::swe_agent),
    target("import_atif", importers::atif, seeds::atif),
    target("import_contracts", importers::contracts, seeds::contracts),
    target(
        "import_git_internal",
        importers::git_internal,
        seeds::objects,
    ),
    target("import_forge", importers::forge, seeds::forge),
    target("import_annals", importers::annals, seeds::exports),
    target("import_git", importers::git, seeds::git),
];

const fn target(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}

/// The target of a name.
pub fn by_name(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}

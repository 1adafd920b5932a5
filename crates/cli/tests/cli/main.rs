//! The program from outside: every test runs the binary.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines
)]

mod answers;
mod apply;
mod applying;
mod artifacts;
mod bad_input;
mod beside;
mod budget;
mod catalogue;
mod content;
mod conversation;
mod copying;
mod copying_beside;
mod cost;
mod damage;
mod doctor;
mod export;
mod first_steps;
mod flow;
mod forge;
mod git_internal;
mod help;
mod hook;
mod hook_disk;
mod hook_driver;
mod hook_gate;
mod hook_postgres;
mod hook_settings;
mod hostile;
mod import;
mod import_claude;
mod importers;
mod intake;
mod keeping;
mod kept;
mod lists;
mod log;
mod ls;
mod observations;
mod on_terminal;
mod outputs;
mod owners_that_go;
mod past;
mod persons;
mod persons_imports;
mod places;
mod postgres;
mod private;
mod proof;
mod readme;
mod recording;
mod redact;
mod removals;
mod resume;
mod retain;
mod s3;
mod search;
mod secrets;
mod serve;
mod server_away;
mod sessions;
mod share;
mod share_secrets;
mod skew;
mod start;
mod staying;
mod stores;
mod support;
mod taking_over;
mod temporary;
mod terminal;
mod tool_calls;
mod tool_policy;
mod tui;
mod unfinished;
mod what_if;
mod who;

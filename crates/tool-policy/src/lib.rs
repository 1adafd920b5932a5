//! Policies over tool calls of agents, in Cedar.
//!
//! A [`Call`] is read ([`read`]) into [`Part`]s: what is done (an action) to what (a resource). A
//! command of the shell is as many parts as there are simple commands in it, with the files, hosts
//! and branches that they are given. [`Policies`] judge each part, and the strongest [`Verdict`] of
//! all is that of the call: denied if any part is, asked if any part is, allowed if all are. What
//! cannot be read, or is only known when the command runs, is never allowed without asking, unless
//! no rule could say otherwise.
//!
//! All of it is pure: nothing is looked up, and the same call gets the same verdict.
//!
//! ```
//! use annals_tool_policy::{Call, Policies, Verdict};
//! use serde_json::json;
//!
//! let policies = Policies::parse(&[("policy.cedar", r#"
//!     @id("tests")
//!     permit (principal, action in Action::"run", resource)
//!     when { resource.program == "cargo" && resource.subcommand == "test" };
//!
//!     @id("no-force") @reason("History is not rewritten.")
//!     forbid (principal, action == Action::"push", resource)
//!     when { resource.force };
//! "#)])?;
//! let bash = |command: &str| {
//!     Call::new("Bash", json!({"command": command})).with_cwd("/work/app".to_owned())
//! };
//! assert_eq!(policies.judge(&bash("cargo test | cargo test")).verdict, Verdict::Allow);
//! assert_eq!(policies.judge(&bash("cargo test; ls")).verdict, Verdict::Ask);
//! let forced = policies.judge(&bash("cargo test && git push origin +main"));
//! assert_eq!(forced.verdict, Verdict::Deny);
//! assert_eq!(forced.rule().map(|rule| rule.id.as_str()), Some("no-force"));
//! # Ok::<(), annals_tool_policy::PolicyErrors>(())
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::too_many_lines
    )
)]

mod call;
mod clients;
mod dirs;
mod filter;
mod git;
mod globs;
mod host;
mod inputs;
mod interpret;
mod part;
mod path;
mod policies;
mod programs;
mod read;
mod request;
mod rules;
mod schema;
mod shell;
mod shell_options;
mod simple;
mod source;
mod suggest;
mod suite;
mod tools;
mod verdict;
mod wrap;

pub use call::{Call, UNNAMED_AGENT};
pub use part::{Attribute, Kind, Part, Reading, Resource, Type};
pub use policies::{Policies, PolicyErrors};
pub use read::read;
pub use schema::SCHEMA;
pub use source::PolicyError;
pub use suggest::{Decided, Suggestion, suggest};
pub use suite::{Suite, SuiteError, Tested};
pub use verdict::{JudgedPart, Judgement, NoVerdict, Rule, Verdict};

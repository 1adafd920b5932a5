//! A comparison as pages and the API have it.

use annals::domain::run::CallStatus;
use annals::projections::past::Aligned;
use annals::{CompareSide, ComparedCall, Comparison, FileLines};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::model::{Tokens, short};

/// Prompts of a side that are shown.
const PROMPTS: usize = 10;
/// Checks of a side that are shown.
const CHECKS: usize = 50;
/// Files that are shown.
const FILES: usize = 200;

/// Two pieces of work side by side.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Compared {
    /// The first one.
    pub(super) a: Side,
    /// The second one.
    pub(super) b: Side,
    /// The number of the first prompt, from 0, at which they part; null where all are the same.
    pub(super) prompts_part_at: Option<usize>,
    /// The number of the first tool call, likewise.
    pub(super) calls_part_at: Option<usize>,
    /// Files that either touched, at most 200.
    pub(super) files: Vec<File>,
    /// How many there are.
    pub(super) files_total: usize,
    /// Tool calls beside each other, from `from` on.
    pub(super) calls: Vec<Beside>,
    /// How many rows of calls there are.
    pub(super) calls_total: usize,
    /// The first row of calls that is shown, from 0.
    pub(super) from: usize,
    /// Where it goes on, as `from`; null where this is the end.
    pub(super) next: Option<usize>,
    /// The row of calls at which they part, as `from`.
    pub(super) parting: Option<usize>,
}

/// One of the two.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Side {
    /// The object.
    pub(super) id: Uuid,
    /// What it is.
    pub(super) kind: &'static str,
    /// What it is called by.
    pub(super) title: Option<String>,
    /// Where it is in its life.
    pub(super) status: Option<&'static str>,
    /// How many runs it has.
    pub(super) runs: usize,
    /// What was asked for, at most ten prompts.
    pub(super) prompts: Vec<String>,
    /// How many prompts there are.
    pub(super) prompts_total: usize,
    /// The models that were used.
    pub(super) models: Vec<String>,
    /// When the first of it happened.
    pub(super) began_at: Option<String>,
    /// From then to the last of it, in milliseconds.
    pub(super) duration_ms: Option<u64>,
    /// How many tool calls there are.
    pub(super) calls: usize,
    /// How many of them failed or were denied.
    pub(super) failed_calls: usize,
    /// How many files were touched.
    pub(super) files: usize,
    /// Tokens; null where they are not known.
    pub(super) tokens: Option<Tokens>,
    /// What it cost, by the table of prices, or else as its agent's program said; null where that is not known, and in
    /// the past.
    pub(super) cost: Option<String>,
    /// What was checked and decided, at most fifty of them.
    pub(super) checks: Vec<Check>,
}

/// A check or a decision.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Check {
    /// What it was: `test`, `lint`, `build`, `review`, or `decision`.
    pub(super) what: String,
    /// What was run, or decided.
    pub(super) name: String,
    /// The exit code of what was run.
    pub(super) exit_code: Option<i32>,
    /// The event that says so.
    pub(super) position: u64,
}

/// A file that either touched.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct File {
    /// Its path.
    pub(super) path: String,
    /// What the first did with it.
    pub(super) a: Option<Lines>,
    /// What the second did with it.
    pub(super) b: Option<Lines>,
}

/// What became of a file.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Lines {
    /// What became of it last.
    pub(super) change_type: String,
    /// Lines added.
    pub(super) added: u64,
    /// Lines deleted.
    pub(super) deleted: u64,
}

/// A row of tool calls: one of each, where they did the same, else of one of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Beside {
    /// The first one's.
    pub(super) a: Option<Call>,
    /// The second one's.
    pub(super) b: Option<Call>,
}

/// A tool call.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Call {
    /// Its number among its own, from 0.
    pub(super) number: usize,
    /// The call.
    pub(super) call: Uuid,
    /// The first event on it.
    pub(super) position: u64,
    /// The tool, and what it was called with.
    pub(super) line: String,
    /// Where it is in its life.
    pub(super) status: &'static str,
}

impl Compared {
    pub(super) fn of(found: &Comparison, from: usize, limit: usize) -> Compared {
        let from = from.min(found.calls.len());
        let rows = found.calls.iter().skip(from).take(limit);
        let rows: Vec<Beside> = rows.map(|row| Beside::of(row, found)).collect();
        let next = from + rows.len();
        let is_one = |row: &Aligned| row.a.is_none() || row.b.is_none();
        Compared {
            a: Side::of(&found.a),
            b: Side::of(&found.b),
            prompts_part_at: found.prompts_part_at,
            calls_part_at: found.calls_part_at,
            files: found.files.iter().take(FILES).map(File::of).collect(),
            files_total: found.files.len(),
            calls: rows,
            calls_total: found.calls.len(),
            from,
            next: Some(next).filter(|next| *next < found.calls.len()),
            parting: found.calls.iter().position(is_one),
        }
    }
}

impl Side {
    fn of(side: &CompareSide) -> Side {
        let took = side.began_at.zip(side.ended_at);
        let took =
            took.map(|(began, ended)| (ended.to_utc() - began.to_utc()).num_milliseconds().max(0));
        let is_failed =
            |call: &&ComparedCall| matches!(call.status, CallStatus::Error | CallStatus::Denied);
        let check = |check: &annals::SideCheck| Check {
            what: check.what.clone(),
            name: check.name.clone(),
            exit_code: check.exit_code,
            position: check.position.0,
        };
        Side {
            id: side.object_id,
            kind: side.object_type.object_type(),
            title: side.title.clone(),
            status: side.status,
            runs: side.runs,
            prompts: side.prompts.iter().take(PROMPTS).cloned().collect(),
            prompts_total: side.prompts.len(),
            models: side.models.clone(),
            began_at: side.began_at.map(|time| time.to_string()),
            duration_ms: took.and_then(|took| u64::try_from(took).ok()),
            calls: side.calls.len(),
            failed_calls: side.calls.iter().filter(is_failed).count(),
            files: side.files.len(),
            tokens: side.tokens.as_ref().map(Tokens::of),
            cost: None,
            checks: side.verdicts.iter().take(CHECKS).map(check).collect(),
        }
    }

    /// What it is called, on one line.
    pub(super) fn name(&self) -> String {
        match self.title.as_deref().and_then(|title| title.lines().next()) {
            Some(title) if !title.trim().is_empty() => title.to_owned(),
            _ => format!("{} {}", self.kind.replace('_', " "), short(self.id)),
        }
    }
}

impl File {
    fn of(file: &annals::FileBeside) -> File {
        let lines = |lines: &FileLines| Lines {
            change_type: lines.change_type.to_string(),
            added: lines.lines_added,
            deleted: lines.lines_deleted,
        };
        File {
            path: file.path.clone(),
            a: file.a.as_ref().map(lines),
            b: file.b.as_ref().map(lines),
        }
    }
}

impl Beside {
    fn of(row: &Aligned, found: &Comparison) -> Beside {
        let call = |number: Option<usize>, calls: &[ComparedCall]| {
            let number = number?;
            let call = calls.get(number)?;
            Some(Call {
                number,
                call: call.call,
                position: call.position.0,
                line: call.line.clone(),
                status: call.status.as_str(),
            })
        };
        Beside {
            a: call(row.a, &found.a.calls),
            b: call(row.b, &found.b.calls),
        }
    }
}

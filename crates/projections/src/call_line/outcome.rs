//! How a call ended, in some words.

use annals_domain::run::ToolStatus;
use derive_setters::Setters;

use super::words::first_line;
use crate::conversation::NO_RESULT;

/// Characters of what went wrong.
const REASON: usize = 60;
/// A call that worked in less time than this says nothing of it, in milliseconds.
const NOTABLE: u64 = 1_000;
/// A program's exit code is in so many lines of what its tool answered, or in none.
const HEAD_LINES: usize = 6;

/// How a call ended, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq, Setters)]
#[setters(prefix = "with_", into, strip_option)]
#[non_exhaustive]
pub struct CallEnd {
    /// Whether it worked.
    #[setters(skip)]
    pub status: ToolStatus,
    /// How long it took, in milliseconds.
    #[setters(strip_option = false)]
    pub duration_ms: Option<u64>,
    /// The beginning of what it answered.
    pub result: Option<String>,
    /// What failed, if anything else than the result says so.
    pub failure: Option<String>,
}

impl CallEnd {
    /// A call that ended so; nothing else is known.
    pub fn new(status: ToolStatus) -> CallEnd {
        CallEnd {
            status,
            duration_ms: None,
            result: None,
            failure: None,
        }
    }

    /// What is to be said of it behind the call: nothing of one that worked at once.
    pub(super) fn line(&self, is_command: bool) -> String {
        let took = |least: u64| {
            let took = self.duration_ms.filter(|took| *took >= least);
            took.map_or(String::new(), |took| format!(" ({})", duration(took)))
        };
        if self.status == ToolStatus::Ok {
            return took(NOTABLE);
        }
        let result = self.result.as_deref().unwrap_or_default();
        if result == NO_RESULT && self.failure.is_none() {
            return " -> result not recorded".to_owned();
        }
        let code = is_command.then(|| exit_code(result)).flatten();
        match code.filter(|code| *code != 0) {
            Some(code) => format!(" -> exit {code}{}", took(0)),
            None => {
                let reason = self.failure.as_deref().and_then(reason);
                let reason = reason.or_else(|| reason_of(result));
                let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
                format!(" -> failed{}{reason}", took(0))
            }
        }
    }
}

fn reason(text: &str) -> Option<String> {
    first_line(text, REASON)
}

/// What a result says first, without the tags that agents put around errors.
fn reason_of(result: &str) -> Option<String> {
    let text = result.trim_start();
    let text = match text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((tag, rest)) if tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => rest,
        _ => text,
    };
    reason(text.split("</").next().unwrap_or(text))
}

/// The exit code that a tool says its program ended with: in a line of its own, for a program may print anything.
fn exit_code(result: &str) -> Option<i64> {
    if let Some(rest) = result.trim_start().strip_prefix("<returncode>") {
        return rest.split_once('<')?.0.trim().parse().ok();
    }
    let by_line = |line: &str| {
        let line = line.trim().trim_start_matches('[').trim_end_matches(']');
        let starts = [
            "Exit code: ",
            "Exit Code: ",
            "Exit code ",
            "Process exited with code ",
            "The command completed with exit code ",
            "Command finished with exit code ",
        ];
        let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
        rest.trim_end_matches('.').trim().parse().ok()
    };
    let first = result.lines().take(HEAD_LINES).find_map(by_line);
    first.or_else(|| by_line(result.trim_end().lines().next_back()?))
}

/// A time span for people: `0.3 s`, `7.2 s`, `2 min 5 s`, `3 h 12 min`, `4 d 3 h`.
///
/// ```
/// use annals_projections::duration;
/// assert_eq!([0, 340, 7_234, 59_960].map(duration), ["0.0 s", "0.3 s", "7.2 s", "1 min 0 s"]);
/// assert_eq!(duration(11_520_000), "3 h 12 min");
/// ```
pub fn duration(milliseconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let tenths = milliseconds.saturating_add(50) / 100;
    let seconds = tenths / 10;
    match seconds {
        0..MINUTE => format!("{seconds}.{} s", tenths % 10),
        MINUTE..HOUR => format!("{} min {} s", seconds / MINUTE, seconds % MINUTE),
        HOUR..DAY => format!("{} h {} min", seconds / HOUR, seconds % HOUR / MINUTE),
        _ => format!("{} d {} h", seconds / DAY, seconds % DAY / HOUR),
    }
}

//! What went wrong: a message and what to do, a class and a code for programs, and the exit status.

mod keeping;

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::Path;

use annals::OpenError;
use annals::domain::cut;
use annals::event_log::{Classification, Classified, Position};
use annals::store_rocks::RebuildError;
use serde::Serialize;

pub(crate) use self::keeping::KeepingError;
pub(crate) use annals::event_log::ErrorClass;

type Source = Box<dyn StdError + Send + Sync>;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) struct CliError {
    class: ErrorClass,
    code: &'static str,
    source: Source,
    /// What to do about it, where the source does not say it.
    hint: Option<String>,
}

/// What programs read of an error.
#[derive(Debug, Serialize)]
pub(crate) struct SaidError {
    code: &'static str,
    class: &'static str,
    retryable: bool,
    message: String,
    /// Where in a line of input it is, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

impl SaidError {
    /// The same with its place in a line, if that is known.
    pub(crate) fn at(self, column: Option<usize>) -> SaidError {
        SaidError { column, ..self }
    }
}

/// A cause with what was done when it came up.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {source}")]
struct While {
    doing: String,
    source: Source,
}

/// The exit status for what was refused or failed.
const FAILED: u8 = 1;
/// The exit status for options that do not go together.
const USAGE: u8 = 2;
/// The exit status for corruption and failed verification.
const CORRUPT: u8 = 3;

/// The code of what was interrupted.
const INTERRUPTED: &str = "interrupted";

/// The code of a request that may have been recorded.
const UNKNOWN: &str = "outcome_unknown";

/// What to do about one.
const LOOK_FIRST: &str =
    "look whether it is there before you repeat it; with a key it can be repeated as it is";

/// Bytes of a message, at most.
const MESSAGE: usize = 8 * 1024;

/// Errors of the libraries say themselves what they are.
impl<E: Classified + Send + Sync + 'static> From<E> for CliError {
    fn from(error: E) -> CliError {
        let said = error.classify();
        // The ports, and what is built on them, say of any store's that it is unavailable, or that their operation failed.
        let is_general = matches!(
            said.code,
            "unavailable" | "unreadable" | "copy_failed" | "redaction_failed"
        );
        let of_store = is_general.then(|| of_store(&error)).flatten();
        let Classification { class, code } = of_store.unwrap_or(said);
        let may_repeat = said.code == "copy_failed";
        let source = Box::new(error);
        CliError {
            class,
            code,
            source,
            hint: (code == UNKNOWN && !may_repeat).then(|| LOOK_FIRST.to_owned()),
        }
    }
}

/// What a store on PostgreSQL says of its failure: the ports say of any store's that it is unavailable.
#[cfg(feature = "postgres")]
fn of_store(error: &(dyn StdError + 'static)) -> Option<Classification> {
    use annals::store_postgres::{AppendFailure, Failure};
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(failed) = error.downcast_ref::<AppendFailure>() {
            return Some(match failed.is_unknown {
                true => ErrorClass::Unavailable.code(UNKNOWN),
                false => failed.failure.classify(),
            });
        }
        if let Some(failure) = error.downcast_ref::<Failure>() {
            return Some(failure.classify());
        }
        cause = error.source();
    }
    None
}

#[cfg(not(feature = "postgres"))]
fn of_store(_: &(dyn StdError + 'static)) -> Option<Classification> {
    None
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}: {hint}", self.source),
            None => self.source.fmt(f),
        }
    }
}

impl CliError {
    /// An error that arises here, with its whole message.
    pub(crate) fn new(
        class: ErrorClass,
        code: &'static str,
        message: impl Into<String>,
    ) -> CliError {
        CliError {
            class,
            code,
            source: message.into().into(),
            hint: None,
        }
    }

    /// The same, with what to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> CliError {
        let hint = Some(hint.into());
        CliError { hint, ..self }
    }

    /// The same, with what was done when it came up.
    pub(crate) fn during(self, doing: impl Into<String>) -> CliError {
        let source = Box::new(While {
            doing: doing.into(),
            source: self.source,
        });
        CliError { source, ..self }
    }

    /// The same with other words, which are made of those that it has.
    pub(crate) fn worded(self, words: impl FnOnce(&CliError) -> String) -> CliError {
        let message = words(&self);
        CliError::new(self.class, self.code, message)
    }

    /// An error of the system or of a library that has no class of its own.
    fn failed(
        code: &'static str,
        doing: impl Into<String>,
        source: impl StdError + Send + Sync + 'static,
    ) -> CliError {
        let error = CliError {
            class: ErrorClass::Failed,
            code,
            source: Box::new(source),
            hint: None,
        };
        error.during(doing)
    }

    /// A file, or `-` for standard input, could not be read.
    pub(crate) fn input(path: &Path, source: io::Error) -> CliError {
        CliError::failed("input", format!("cannot read {}", path.display()), source)
    }

    /// A file could not be written.
    pub(crate) fn file(path: &Path, source: io::Error) -> CliError {
        CliError::failed("file", format!("cannot write {}", path.display()), source)
    }

    /// Standard output could not be written.
    pub(crate) fn output(source: io::Error) -> CliError {
        CliError::failed("output", "cannot write to standard output", source)
    }

    /// Something could not be written as JSON.
    pub(crate) fn json(source: serde_json::Error) -> CliError {
        CliError::failed("unencodable", "cannot write as JSON", source)
    }

    /// The program could not be started.
    pub(crate) fn runtime(source: io::Error) -> CliError {
        CliError::failed("not_started", "cannot start", source)
    }

    /// It cannot be known when the program is interrupted.
    pub(crate) fn signal(source: io::Error) -> CliError {
        CliError::failed("no_signals", "cannot wait for an interrupt", source)
    }

    /// A log could not be opened.
    pub(crate) fn open(log: &str, error: OpenError) -> CliError {
        use annals::store_rocks::OpenError as Rocks;
        let Classification { class, code } = error.classify();
        match error {
            OpenError::Rocks(Rocks::NotFound { .. }) => {
                CliError::new(class, code, format!("there is no log at {log}"))
                    .hint("create one with `annals log init`, or name another with --log")
            }
            OpenError::Rocks(Rocks::AlreadyExists { .. }) => CliError::log_exists(log),
            error => error.into(),
        }
    }

    /// The user's own log could not be opened.
    pub(crate) fn open_users(log: &str, error: OpenError) -> CliError {
        use annals::store_rocks::OpenError as Rocks;
        let Classification { class, code } = error.classify();
        match error {
            OpenError::Rocks(Rocks::NotFound { .. }) => {
                CliError::new(class, code, format!("there is no log yet at {log}")).hint(
                    "run `annals` to import your agents' recordings and look at them, `annals import PATH` to import \
                     some, or `annals log init` for a log in this folder",
                )
            }
            error => CliError::open(log, error),
        }
    }

    /// There is a log where a new one is to be made.
    pub(crate) fn log_exists(log: &str) -> CliError {
        let message = format!("{log} holds a log already");
        CliError::new(ErrorClass::Refused, "log_exists", message)
            .hint("use it as it is, or name another place with --log")
    }

    /// The indexes of a log could not be rebuilt.
    pub(crate) fn rebuild(log: &str, error: RebuildError) -> CliError {
        match error {
            RebuildError::Open(error) => CliError::open(log, OpenError::Rocks(error)),
            error => error.into(),
        }
    }

    /// A log in memory is of no use to a command that keeps something.
    pub(crate) fn in_memory() -> CliError {
        let message = "a log in memory is gone when the program ends";
        CliError::new(ErrorClass::Invalid, "in_memory", message).hint("name a directory with --log")
    }

    /// A command is about the files of a log in a folder, and this log is on PostgreSQL.
    pub(crate) fn needs_folder(what: &str, instead: &str) -> CliError {
        let message = format!("a log on PostgreSQL has no files of its own, and {what}");
        CliError::new(ErrorClass::Invalid, "needs_folder", message).hint(instead)
    }

    /// The log has not reached a position.
    pub(crate) fn beyond_end(position: Position, end: Position) -> CliError {
        let message = format!("position {position} is not there yet: the log ends at {end}");
        CliError::new(ErrorClass::NotFound, "beyond_end", message)
    }

    /// An object has no form in a dialect.
    pub(crate) fn not_in_dialect(object: &str, dialect: &str) -> CliError {
        let message = format!("{object} is not written by {dialect}");
        CliError::new(ErrorClass::Invalid, "not_in_dialect", message)
    }

    /// A check found something wrong.
    pub(crate) fn findings(findings: u64, remedy: &str) -> CliError {
        let findings = crate::counted::counted(findings, "finding", "findings");
        let message = format!("verification failed: {findings}; {remedy}");
        CliError::new(ErrorClass::Corrupt, "verification_failed", message)
    }

    /// Whether standard output was closed by its reader.
    pub(crate) fn is_closed_output(&self) -> bool {
        let cause = self.source.source();
        let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
        self.code == "output" && cause.is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe)
    }

    /// That the command was interrupted, which is nothing to complain of.
    pub(crate) fn interrupted() -> CliError {
        CliError::new(ErrorClass::Failed, INTERRUPTED, "interrupted")
    }

    /// Whether the command was interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.code == INTERRUPTED
    }

    /// Whether it is about what was asked alone, so that other things can still be done.
    pub(crate) fn is_about_request(&self) -> bool {
        self.class.is_about_request()
    }

    /// The cause, if it is of this type.
    pub(crate) fn cause<E: StdError + 'static>(&self) -> Option<&E> {
        self.source.downcast_ref()
    }

    /// Whether the same may succeed later.
    pub(crate) fn is_retryable(&self) -> bool {
        self.class.is_retryable()
    }

    pub(crate) fn exit_status(&self) -> u8 {
        match self.class {
            ErrorClass::Corrupt => CORRUPT,
            ErrorClass::Usage => USAGE,
            _ => FAILED,
        }
    }

    /// Whether a log, a copy of one, or a proof is damaged or altered.
    pub(crate) fn is_corrupt(&self) -> bool {
        self.class == ErrorClass::Corrupt
    }

    /// The cause in one word for programs.
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// The error as `--json` prints it.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "error": self.said() })
    }

    /// The error as JSON has it, alone or in the answer to one of several requests.
    pub(crate) fn said(&self) -> SaidError {
        SaidError {
            code: self.code,
            class: self.class.as_str(),
            retryable: self.class.is_retryable(),
            message: self.message(),
            column: None,
        }
    }

    /// What went wrong. Messages of libraries can quote a foreign file at length.
    pub(crate) fn message(&self) -> String {
        let message = self.to_string();
        match cut(&message, MESSAGE) {
            whole if whole.len() == message.len() => message,
            beginning => format!("{beginning}..."),
        }
    }
}

#[cfg(test)]
mod tests {
    use annals::event_log::AppendError;

    use super::*;

    #[test]
    fn other_words_leave_class_and_code() {
        let error = CliError::from(AppendError::Closed);
        let error = error.worded(|error| format!("line 2: {error}. Nothing after it was read"));
        assert_eq!(
            (error.class, error.code(), error.message().as_str()),
            (
                ErrorClass::Failed,
                "closed",
                "line 2: the log is closed. Nothing after it was read"
            )
        );
    }
}

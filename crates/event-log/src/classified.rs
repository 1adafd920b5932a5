//! What the receiver of an error can do about it: one answer for every error of every crate.

use std::error::Error;
use std::io;

/// What kind of cause an error has.
///
/// It decides what helps: another request, the same request later, or somebody who looks after the
/// store. A program prints its message, and branches on this and on the [code](Classified::code).
///
/// Where several would fit, the first of these that is true decides:
///
/// 1. What was stored, or a proof of it, is damaged: [`Corrupt`](ErrorClass::Corrupt), regardless of what was
///    asked and of the operation that found it.
/// 2. The same request may succeed unchanged: at once, [`Contended`](ErrorClass::Contended) (an append that
///    expected an older version: read, and append again), or later, [`Unavailable`](ErrorClass::Unavailable).
/// 3. The request names what is not there: [`NotFound`](ErrorClass::NotFound), also where a rule of an aggregate
///    says so, and also a position behind the log's end, which may never come.
/// 4. The request is wrong by itself, in any state of the log: [`Invalid`](ErrorClass::Invalid), and
///    [`Usage`](ErrorClass::Usage) for options. A decider says so with the code `invalid`.
/// 5. It would have been taken in another state of the log: [`Refused`](ErrorClass::Refused).
/// 6. Anything else is about the system or the program: [`Unsupported`](ErrorClass::Unsupported) or
///    [`Failed`](ErrorClass::Failed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The request contradicts itself or cannot be read. Another one is needed.
    Invalid,
    /// Options that do not go together. Another call is needed.
    Usage,
    /// The request is understood, and a rule or the present state forbids it.
    Refused,
    /// What the request names does not exist.
    NotFound,
    /// Another writer came first, or holds what is needed now: the same request may succeed at once.
    Contended,
    /// The store or the system failed: the same request may succeed later, a store's after it was
    /// opened again.
    Unavailable,
    /// It was written by a newer version of the program, or in a form that this one does not have.
    Unsupported,
    /// What is stored, or a copy or proof of it, was damaged or altered. Verify it, and restore it.
    Corrupt,
    /// It cannot be done where it was tried, for a reason that the message says: a file that cannot be
    /// read, a log that is closed or open for reading only.
    Failed,
}

impl ErrorClass {
    /// Whether the same call may succeed later without being changed.
    pub const fn is_retryable(self) -> bool {
        matches!(self, ErrorClass::Contended | ErrorClass::Unavailable)
    }

    /// Whether it is about what was asked, so that another request may succeed at the same time; any
    /// other class is about the log or the system, and whatever else is asked is likely to fail too.
    pub const fn is_about_request(self) -> bool {
        matches!(
            self,
            ErrorClass::Invalid
                | ErrorClass::Usage
                | ErrorClass::Refused
                | ErrorClass::NotFound
                | ErrorClass::Contended
        )
    }

    /// What helps where the operating system refused a file: the same call later where the disk is full, a
    /// device fails or somebody else uses it, and nothing where the file or its folder is not there, is of
    /// another kind, or may not be used.
    pub fn of_file(error: &io::Error) -> ErrorClass {
        use io::ErrorKind;
        match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::DirectoryNotEmpty
            | ErrorKind::AlreadyExists
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData
            | ErrorKind::InvalidFilename
            | ErrorKind::FileTooLarge
            | ErrorKind::CrossesDevices
            | ErrorKind::Unsupported => ErrorClass::Failed,
            _ => ErrorClass::Unavailable,
        }
    }

    /// This class with the code that stands for the cause.
    pub const fn code(self, code: &'static str) -> Classification {
        Classification { class: self, code }
    }

    /// The class as programs read it: `refused`, `not_found`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorClass::Invalid => "invalid",
            ErrorClass::Usage => "usage",
            ErrorClass::Refused => "refused",
            ErrorClass::NotFound => "not_found",
            ErrorClass::Contended => "contended",
            ErrorClass::Unavailable => "unavailable",
            ErrorClass::Unsupported => "unsupported",
            ErrorClass::Corrupt => "corrupt",
            ErrorClass::Failed => "failed",
        }
    }
}

/// The class and the code of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Classification {
    /// What kind of cause it has.
    pub class: ErrorClass,
    /// The cause in one word for programs, in `snake_case`. A code keeps its meaning for ever.
    pub code: &'static str,
}

impl Classification {
    /// The code of data that is damaged or altered, wherever it is found.
    pub const CORRUPT: Classification = ErrorClass::Corrupt.code("corrupt");

    /// The same class with the code of a whole operation, as its parts' codes say little to its caller; but
    /// damage stays what it is.
    pub fn of(self, operation: &'static str) -> Classification {
        match self.class {
            ErrorClass::Corrupt => self,
            class => class.code(operation),
        }
    }
}

/// An error that says what its receiver can do.
///
/// ```
/// use annals_event_log::{AppendError, Classified, ErrorClass};
///
/// let error = AppendError::ReadOnly;
/// assert_eq!((error.class(), error.code()), (ErrorClass::Failed, "read_only"));
/// assert!(!error.is_retryable());
/// ```
pub trait Classified: Error {
    /// Its class and its code.
    fn classify(&self) -> Classification;

    /// What kind of cause it has.
    fn class(&self) -> ErrorClass {
        self.classify().class
    }

    /// The cause in one word for programs.
    fn code(&self) -> &'static str {
        self.classify().code
    }

    /// Whether the same call may succeed later without being changed.
    fn is_retryable(&self) -> bool {
        self.class().is_retryable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AppendError;

    #[test]
    fn a_class_says_what_helps() {
        use ErrorClass::{
            Contended, Corrupt, Failed, Invalid, NotFound, Refused, Unavailable, Unsupported, Usage,
        };
        let all = [
            Invalid,
            Usage,
            Refused,
            NotFound,
            Contended,
            Unavailable,
            Unsupported,
            Corrupt,
            Failed,
        ];
        let retryable: Vec<_> = all.into_iter().filter(|it| it.is_retryable()).collect();
        assert_eq!(retryable, [Contended, Unavailable]);
        let of_request: Vec<_> = all.into_iter().filter(|it| it.is_about_request()).collect();
        assert_eq!(of_request, [Invalid, Usage, Refused, NotFound, Contended]);
        let mut words = all.map(ErrorClass::as_str);
        words.sort_unstable();
        assert!(words.windows(2).all(|pair| pair[0] < pair[1]), "{words:?}");
    }

    #[test]
    fn a_file_that_may_not_be_used_is_not_tried_again() {
        use io::ErrorKind;
        for (kind, class) in [
            (ErrorKind::NotFound, ErrorClass::Failed),
            (ErrorKind::PermissionDenied, ErrorClass::Failed),
            (ErrorKind::ReadOnlyFilesystem, ErrorClass::Failed),
            (ErrorKind::NotADirectory, ErrorClass::Failed),
            (ErrorKind::StorageFull, ErrorClass::Unavailable),
            (ErrorKind::TimedOut, ErrorClass::Unavailable),
            (ErrorKind::Other, ErrorClass::Unavailable),
        ] {
            assert_eq!(ErrorClass::of_file(&kind.into()), class, "{kind:?}");
        }
    }

    #[test]
    fn the_code_of_an_operation_does_not_hide_damage() {
        let reason = String::new();
        let damaged = AppendError::Corrupt { reason }.classify();
        assert_eq!(damaged.of("import_failed"), Classification::CORRUPT);
        let closed = AppendError::Closed.classify().of("import_failed");
        assert_eq!(closed, ErrorClass::Failed.code("import_failed"));
    }
}

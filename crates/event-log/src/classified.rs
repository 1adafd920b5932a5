//! What the receiver of an error can do about it: one answer for every error of every crate.

use std::error::Error;

/// What kind of cause an error has.
///
/// It decides what helps: another request, the same request later, or somebody who looks after the
/// store. A program prints its message, and branches on this and on the [code](Classified::code).
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
    fn the_code_of_an_operation_does_not_hide_damage() {
        let reason = String::new();
        let damaged = AppendError::Corrupt { reason }.classify();
        assert_eq!(damaged.of("import_failed"), Classification::CORRUPT);
        let closed = AppendError::Closed.classify().of("import_failed");
        assert_eq!(closed, ErrorClass::Failed.code("import_failed"));
    }
}

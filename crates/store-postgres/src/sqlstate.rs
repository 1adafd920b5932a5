//! What PostgreSQL and the library to talk with it say, as a [`Failure`].

use std::error::Error as _;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

use crate::failure::Failure;

/// A connection's words, with those that they rest on.
fn words(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// A text of the server on one line: what it has of its own lines must not pass for lines of ours.
pub(crate) fn on_a_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

fn of_server(error: &DbError) -> Failure {
    let code = error.code();
    let detail = match error.detail() {
        Some(more) => format!("{} ({more})", error.message()),
        None => error.message().to_owned(),
    };
    let detail = on_a_line(&detail);
    let is_encryption = detail.contains("no encryption") || detail.contains("SSL off");
    if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION && is_encryption {
        return Failure::TlsRequired { detail };
    }
    match code.code() {
        "28P01" | "28000" => Failure::AccessDenied { detail },
        "3D000" | "57P04" => Failure::NoDatabase { detail },
        "25006" => Failure::ReadOnly { detail },
        "53100" => Failure::DiskFull { detail },
        "53000" | "53200" | "53300" | "53400" => Failure::Overloaded { detail },
        "57P01" | "57P02" | "57P03" | "57P05" => Failure::Stopping { detail },
        "57014" | "55P03" | "25P03" | "25P04" => Failure::TimedOut { detail },
        "40001" | "40P01" | "40003" => Failure::Contended { detail },
        "42501" => Failure::NoPermission { detail },
        "42P01" | "3F000" | "42703" => Failure::NoSchema { detail },
        "54000" => Failure::TooLarge { detail },
        // All keys are given out behind a lock: one that is there already was put there by another.
        "XX001" | "XX002" | "23505" => Failure::Damaged { detail },
        code if code.starts_with("08") => Failure::Lost { detail },
        code => Failure::Other {
            code: code.to_owned(),
            detail,
        },
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        if let Some(error) = error.as_db_error() {
            return of_server(error);
        }
        let detail = words(&error);
        let kind = error.to_string();
        match kind.as_str() {
            "error performing TLS handshake" if detail.contains("does not support TLS") => {
                Failure::TlsAbsent
            }
            "error performing TLS handshake" => Failure::Tls { detail },
            // What the library says where target_session_attrs finds no server for it.
            "error connecting to server" if detail.ends_with("database does not allow writes") => {
                Failure::ReadOnly { detail }
            }
            "error connecting to server" | "timeout waiting for server" => {
                Failure::Unreachable { detail }
            }
            "authentication error" | "invalid configuration" => Failure::AccessDenied { detail },
            // Its columns are what the schema made them, or were altered.
            "query returned an unexpected number of rows" => Failure::Damaged { detail },
            kind if kind.starts_with("error deserializing column") => Failure::Damaged { detail },
            "connection closed" | "error communicating with the server" => Failure::Lost { detail },
            _ => Failure::Other {
                code: String::new(),
                detail,
            },
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Failure {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                error.into()
            }
            PoolError::Timeout(TimeoutType::Create) => Failure::Unreachable {
                detail: "it takes the connection and does not answer".to_owned(),
            },
            PoolError::Timeout(_) => Failure::Busy {
                detail: error.to_string(),
            },
            PoolError::Closed
            | PoolError::NoRuntimeSpecified
            | PoolError::PostCreateHook(HookError::Message(_)) => Failure::Lost {
                detail: error.to_string(),
            },
        }
    }
}

//! A pager before the terminal, as git has it.
//!
//! It is started with the first text that is printed, and waited for in the end. One that is quit early closes its
//! input, which the program takes as it takes that of `annals log | head`.

use std::ffi::OsString;
use std::io::{self, StdoutLock, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::say::say;

/// Where pagers are named, the first one first.
const NAMED: [&str; 2] = ["ANNALS_PAGER", "PAGER"];
const DEFAULT: &str = "less";
/// What else `less` is told, unless the user does: to end where all fits on the screen, to pass on styles, and to
/// leave on the screen what was shown.
const LESS: &str = "FRX";
/// What a shell says of a command that it cannot run.
const NOT_RUN: [i32; 2] = [126, 127];

/// Where output goes.
pub(crate) enum Sink {
    Stdout(StdoutLock<'static>),
    /// To a pager, as soon as there is anything.
    Waiting(PagerCommand),
    Pager(Pager),
}

/// A pager that runs.
pub(crate) struct Pager {
    child: Child,
    input: Option<ChildStdin>,
    command: OsString,
}

/// How a pager is started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PagerCommand(OsString);

impl PagerCommand {
    /// The pager that the environment names, or `less`; none, if it names none or `cat`.
    pub(crate) fn from_environment() -> Option<PagerCommand> {
        let named = NAMED.iter().find_map(std::env::var_os);
        PagerCommand::new(named)
    }

    fn new(named: Option<OsString>) -> Option<PagerCommand> {
        let command = named.unwrap_or_else(|| DEFAULT.into());
        let is_none = command.is_empty() || command == "cat";
        (!is_none).then_some(PagerCommand(command))
    }

    fn start(&self) -> io::Result<Pager> {
        // A program alone is run by itself, so that it is known whether it is there.
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
        let mut command = match self.0.as_encoded_bytes().iter().all(is_plain) {
            true => Command::new(&self.0),
            false => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(&self.0);
                shell
            }
        };
        for (name, value) in [("LESS", LESS), ("LV", "-c")] {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        Ok(Pager {
            child,
            input,
            command: self.0.clone(),
        })
    }
}

impl Sink {
    /// Starts a pager that waits. One that cannot be started is said, and there is none.
    fn start(&mut self) {
        let Sink::Waiting(command) = self else {
            return;
        };
        *self = match command.start() {
            Ok(pager) => Sink::Pager(pager),
            Err(error) => {
                // That the usual one is not installed is nothing to complain of.
                if command.0 != DEFAULT {
                    cannot_run(&command.0, &error.to_string());
                }
                Sink::Stdout(io::stdout().lock())
            }
        };
    }
}

fn cannot_run(command: &OsString, why: &str) {
    let command = command.to_string_lossy();
    say(&format!(
        "annals: the pager {command:?} cannot be run: {why}; --no-pager does without"
    ));
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.start();
        match self {
            Sink::Stdout(out) => out.write(bytes),
            Sink::Pager(pager) => pager.write(bytes),
            Sink::Waiting(_) => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.flush(),
            Sink::Pager(pager) => pager.flush(),
            Sink::Waiting(_) => Ok(()),
        }
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.input {
            Some(input) => input.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// The terminal is the pager's until it ends.
impl Drop for Pager {
    fn drop(&mut self) {
        drop(self.input.take());
        let ended = self.child.wait();
        let code = ended.ok().and_then(|status| status.code());
        if code.is_some_and(|code| NOT_RUN.contains(&code)) {
            cannot_run(&self.command, "no such command");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_is_what_is_named_or_less() {
        let of = |named: Option<&str>| PagerCommand::new(named.map(OsString::from));
        assert_eq!(of(None), Some(PagerCommand("less".into())));
        assert_eq!(of(Some("more -s")), Some(PagerCommand("more -s".into())));
        assert_eq!((of(Some("")), of(Some("cat"))), (None, None));
    }
}

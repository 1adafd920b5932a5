//! A process that applies commands for as long as a test has some, and what processes say meanwhile.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::support::Place;

/// How long a process may say nothing of what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// An `annals service apply` that is given one command after the other. It ends with this.
pub struct Applying {
    pub child: Child,
    /// Gone where there is nothing more to come.
    input: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Applying {
    /// Starts one on a log, as `--log` names it.
    pub fn start(place: &Place, log: &str) -> Applying {
        let mut command = place.command(&["--log", log, "apply"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        Applying {
            input: child.stdin.take(),
            answers: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    /// Gives it a command, and does not wait for the answer.
    pub fn send(&mut self, command: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{command}").unwrap();
    }

    /// The next answer, which says that the command was executed.
    #[track_caller]
    pub fn answer(&mut self) -> Value {
        let line = self.answers.next().expect("it answers").unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    }

    #[track_caller]
    pub fn execute(&mut self, command: &Value) -> Value {
        self.send(command);
        self.answer()
    }

    /// Kills it, so that it says and does nothing more.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Gives it nothing more, and waits until it has ended well.
    #[track_caller]
    pub fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Applying {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process says on standard error from now on, line by line, until it ends.
pub fn said_by(child: &mut Child) -> Receiver<String> {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let (sender, said) = channel();
    std::thread::spawn(move || {
        while let Some(Ok(line)) = lines.next() {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    said
}

/// Waits for a line with a text in it.
#[track_caller]
pub fn await_line(said: &Receiver<String>, text: &str) -> String {
    loop {
        let line = said.recv_timeout(PATIENCE).expect(text);
        if line.contains(text) {
            return line;
        }
    }
}

//! What a tool call was, in one line: `Bash go test ./... -> exit 1 (7.2 s)`, `Read cli/main.go:1-90`,
//! `Edit README.md +3 -1`.
//!
//! The line is made from the tool's name, its arguments and, where they are known, the files that it touched and how it
//! ended. It looks at what arguments are called, not at whose tool it is: tools of agents that nobody has seen
//! yet have a line, too, and the same tool of two agents has the same one.
//!
//! ```
//! use annals_domain::run::ToolStatus;
//! use annals_projections::{CallEnd, CallLine};
//!
//! let line = CallLine::new("Bash", Some(r#"{"command":"go test ./...","timeout":60000}"#));
//! assert_eq!(line.to_string(), "Bash go test ./...");
//! let end = CallEnd::new(ToolStatus::Error).with_duration_ms(7_234).with_result("Exit code 1\nFAIL");
//! assert_eq!(line.ended(&end).to_string(), "Bash go test ./... -> exit 1 (7.2 s)");
//! ```

mod arguments;
mod outcome;
mod patch;
mod telling;
mod todo;
mod what;
mod words;

#[cfg(test)]
mod tests;

use std::fmt;

use arguments::Arguments;
pub use outcome::{CallEnd, duration};
use what::What;
use words::{one_line, relative};

/// A tool call in one line.
///
/// It has three parts, of which a narrow screen cuts the middle one: the tool, what it was called with, and what came
/// of it. None of them has a line break or another control character; characters that are hidden otherwise are as
/// they were recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLine {
    before: String,
    tool: String,
    what: What,
    behind: String,
}

impl CallLine {
    /// A call of a tool with its arguments, as the JSON text that was recorded.
    pub fn new(tool: &str, args: Option<&str>) -> CallLine {
        CallLine {
            before: String::new(),
            tool: one_line(tool),
            what: What::of(tool, &Arguments::read(args)),
            behind: String::new(),
        }
    }

    /// A call whose arguments were removed.
    pub(crate) fn removed(tool: &str) -> CallLine {
        CallLine {
            what: What::removed(),
            ..CallLine::new(tool, None)
        }
    }

    /// The same with the files that it touched, as they are named relative to the repository: where an argument
    /// is the whole path of one of them, the line has its short name.
    #[must_use]
    pub fn touching<'a>(mut self, files: impl IntoIterator<Item = &'a str>) -> CallLine {
        for file in files {
            if let Some(short) = relative(&self.what.text, self.what.path.clone(), file) {
                self.what.path = self
                    .what
                    .path
                    .map(|path| path.start..path.start + file.len());
                self.what.text = short;
                break;
            }
        }
        self
    }

    /// The same with how it ended.
    #[must_use]
    pub fn ended(mut self, end: &CallEnd) -> CallLine {
        self.behind = end.line(self.what.is_command);
        self
    }

    /// Whether the call runs a command.
    pub(crate) fn is_command(&self) -> bool {
        self.what.is_command
    }

    /// The same with a word before it, such as `requested: `.
    #[must_use]
    pub(crate) fn after(mut self, before: &str) -> CallLine {
        before.clone_into(&mut self.before);
        self
    }

    /// The same with more behind it.
    #[must_use]
    pub(crate) fn followed_by(mut self, behind: &str) -> CallLine {
        self.behind.push_str(behind);
        self
    }

    /// The tool, with what stands before it and a space behind it where something follows.
    pub fn head(&self) -> String {
        let space = if self.what.text.is_empty() { "" } else { " " };
        format!("{}{}{space}", self.before, self.tool)
    }

    /// What it was called with: a command, a file, a pattern; empty, if nothing is known.
    pub fn what(&self) -> &str {
        &self.what.text
    }

    /// Lines that it added and deleted, how it ended and how long it took, as far as they are known.
    pub fn tail(&self) -> String {
        format!("{}{}", self.what.counts(), self.behind)
    }
}

impl fmt::Display for CallLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.head(), self.what(), self.tail())
    }
}

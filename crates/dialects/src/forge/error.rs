//! What can be wrong with a file of a `.forge/` folder, where, and what to do.

use std::fmt;
use std::path::PathBuf;

use annals_domain::cut;
use annals_event_log::{Classification, Classified, ErrorClass};

/// The bytes of a file's own text that an error shows; it is cut beyond them.
const SHOWN: usize = 80;

/// What every reader of this module returns.
pub type Read<T> = Result<T, ForgeError>;

/// Where in a text something is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The line, from 1; none where the text is an agent's answer.
    pub line: Option<u64>,
    /// The field, with those that contain it: `tasks[1].depends_on`. Empty for
    /// the whole of the text.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.path.is_empty() {
            "the file"
        } else {
            &self.path
        })
    }
}

/// Why a text cannot be read as what docs/spec/forge.md says it is. Its message says
/// what is wrong and what to do; the line is given separately, and the caller adds
/// the file's name ([`InFile`]).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForgeError {
    /// The file is too big.
    #[error("the file is larger than {limit} bytes; split it or shorten its texts")]
    TooLarge {
        /// How much was read of it.
        bytes: usize,
        /// How big it may be.
        limit: usize,
    },
    /// Its bytes are not text.
    #[error(
        "the byte {byte:#04x} at offset {offset} of the file is not UTF-8; save the file as UTF-8"
    )]
    NotUtf8 {
        /// The line that the byte is in.
        line: u64,
        /// Where in the file it is, from 0.
        offset: usize,
        /// The byte.
        byte: u8,
    },
    /// It is not valid YAML.
    #[error("it is not valid YAML: {reason}; correct it there or just above")]
    Syntax {
        /// Where that shows.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// It is indented with a tab.
    #[error("found a tab where YAML allows only spaces; indent with spaces")]
    Tab {
        /// Where.
        line: u64,
    },
    /// It has an anchor or an alias, which could make a small file a huge one.
    #[error(
        "anchors and aliases (`&name`, `*name`) are not read; write the value out, and put \
         quotes around a text that begins with `&` or `*`"
    )]
    Reference {
        /// Where.
        line: u64,
    },
    /// It has a tag that would change what a value is.
    #[error("the tag `{tag}` is not read; leave it out, and quote the value if it is a text")]
    Tag {
        /// Where.
        line: u64,
        /// The tag as it is written.
        tag: String,
    },
    /// It is nested too deep.
    #[error("it is nested more than {limit} deep; make it flatter")]
    TooDeep {
        /// Where that shows.
        line: Option<u64>,
        /// How deep it may be.
        limit: usize,
    },
    /// It has several YAML documents.
    #[error("a second YAML document begins here; keep one to a file")]
    SeveralDocuments {
        /// Where the second one begins.
        line: u64,
    },
    /// There is nothing in it.
    #[error("the file is empty: expected {expected}; {remedy}")]
    Empty {
        /// What is expected.
        expected: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A mapping has a duplicate key.
    #[error("duplicate key `{key}`{}; keep one of the two", since(*first))]
    DuplicateKey {
        /// Where the second one is.
        line: Option<u64>,
        /// Where the first one is.
        first: Option<u64>,
        /// The key.
        key: String,
    },
    /// A key of a mapping is a list or a mapping.
    #[error("invalid key: expected a text, found {found}; write `key: value`")]
    KeyNotText {
        /// Where.
        line: u64,
        /// What it is.
        found: &'static str,
    },
    /// A value is of another type.
    #[error("{at}: expected {expected}, found {found}; {remedy}")]
    Type {
        /// Which value.
        at: Place,
        /// What is expected.
        expected: &'static str,
        /// What it is.
        found: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A value must be there.
    #[error("{at} is missing; add it")]
    Missing {
        /// Which value; the line is that of what it is missing from.
        at: Place,
    },
    /// A text must not be blank.
    #[error("{at} is blank; write something or leave the whole out")]
    Blank {
        /// Which text.
        at: Place,
    },
    /// A word is not one of those that are known.
    #[error(
        "invalid {at} {word:?}: expected one of {}{}",
        known.join(", "),
        meant(nearest.as_deref())
    )]
    Word {
        /// Which value.
        at: Place,
        /// The word that was read.
        word: String,
        /// Those that are known.
        known: Vec<&'static str>,
        /// The one that it is close to.
        nearest: Option<String>,
    },
    /// Labels are written as one text that looks like several of them.
    #[error("{at}: {text:?} looks like several labels; write them as a list: `[ui, auth]`")]
    CommaLabels {
        /// Where.
        at: Place,
        /// The text.
        text: String,
    },
    /// A list is empty that says what an agent decided.
    #[error("{at} is empty, so nothing was decided; name at least one")]
    EmptyList {
        /// Which list.
        at: Place,
    },
    /// A file belongs to something else than its name says.
    #[error("{at} is {found:?}, but this belongs to {expected:?}; correct it or move it")]
    Elsewhere {
        /// Which value.
        at: Place,
        /// The id that it has.
        found: String,
        /// The id that the file's name, or the question, has.
        expected: String,
    },
    /// A review says two things.
    #[error("{at} says one thing and `verdict` another; keep `verdict` alone")]
    Contradiction {
        /// The value that contradicts the verdict.
        at: Place,
    },
    /// A draft's frontmatter has no end.
    #[error(
        "the frontmatter that begins here is not closed; put a line `---` after it, or take \
         this one out"
    )]
    UnclosedFrontmatter {
        /// Where it begins.
        line: u64,
    },
    /// A draft's frontmatter is not what it should be.
    #[error("invalid frontmatter: {reason}")]
    InvalidFrontmatter {
        /// Where.
        line: u64,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A draft says nothing.
    #[error("there is no text: write a title, and behind a blank line what is wanted and why")]
    EmptyDraft {
        /// Where the draft ends.
        line: u64,
    },
    /// Two tasks have one id.
    #[error("{at}: another task has the id {id:?}{}; give this one another", since(*first))]
    DuplicateId {
        /// The second one.
        at: Place,
        /// The id.
        id: String,
        /// Where the first one is.
        first: Option<u64>,
    },
    /// A task waits for itself.
    #[error("{at}: the task {task:?} depends on itself; take that out")]
    SelfDependency {
        /// Which value.
        at: Place,
        /// The task.
        task: String,
    },
    /// A task waits for one that there is not.
    #[error(
        "{at}: the task {task:?} depends on {dependency:?}, which is not a task of this intent{}",
        meant_id(nearest.as_deref())
    )]
    UnknownDependency {
        /// Which value.
        at: Place,
        /// The task.
        task: String,
        /// What it depends on.
        dependency: String,
        /// The id that this is close to.
        nearest: Option<String>,
    },
    /// A task waits for one that has something wrong with it.
    #[error(
        "{at}: the task {task:?} depends on {dependency:?}, which cannot be taken; correct that \
         one first"
    )]
    WaitsForWrong {
        /// Which value.
        at: Place,
        /// The task.
        task: String,
        /// What it depends on.
        dependency: String,
    },
    /// Tasks wait for each other.
    #[error("{at}: the tasks wait for each other: {}; take one of these out", path.join(" -> "))]
    Cycle {
        /// The first of them.
        at: Place,
        /// Their ids: each waits for the next one, and the last is the first again.
        path: Vec<String>,
    },
    /// It is not valid JSON.
    #[error("it is not valid JSON: {reason}; correct it there or just above")]
    Json {
        /// Where that shows.
        line: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The JSON of an answer has no end.
    #[error("the JSON object that begins here has no end: the answer was cut off; ask again")]
    CutOff {
        /// Where it begins.
        line: u64,
    },
    /// No JSON object of an answer is an analysis.
    #[error(
        "there is no analysis in the answer: expected a JSON object with `tasks` or the \
         fields of one task, or with an `outcome` and its `child_intents` or `clarifications`"
    )]
    NoAnalysis {
        /// Where the first JSON object is that is something else.
        line: Option<u64>,
    },
}

impl ForgeError {
    /// The line, from 1, where there is one.
    pub fn line(&self) -> Option<u64> {
        match self {
            ForgeError::TooLarge { .. } | ForgeError::Empty { .. } => None,
            ForgeError::NotUtf8 { line, .. }
            | ForgeError::Syntax { line, .. }
            | ForgeError::Tab { line }
            | ForgeError::Reference { line }
            | ForgeError::Tag { line, .. }
            | ForgeError::SeveralDocuments { line }
            | ForgeError::KeyNotText { line, .. }
            | ForgeError::UnclosedFrontmatter { line }
            | ForgeError::InvalidFrontmatter { line, .. }
            | ForgeError::EmptyDraft { line }
            | ForgeError::CutOff { line } => Some(*line),
            ForgeError::TooDeep { line, .. }
            | ForgeError::DuplicateKey { line, .. }
            | ForgeError::Json { line, .. }
            | ForgeError::NoAnalysis { line } => *line,
            ForgeError::Type { at, .. }
            | ForgeError::Missing { at }
            | ForgeError::Blank { at }
            | ForgeError::Word { at, .. }
            | ForgeError::CommaLabels { at, .. }
            | ForgeError::EmptyList { at }
            | ForgeError::Elsewhere { at, .. }
            | ForgeError::Contradiction { at }
            | ForgeError::DuplicateId { at, .. }
            | ForgeError::SelfDependency { at, .. }
            | ForgeError::UnknownDependency { at, .. }
            | ForgeError::WaitsForWrong { at, .. }
            | ForgeError::Cycle { at, .. } => at.line,
        }
    }
}

impl Classified for ForgeError {
    fn classify(&self) -> Classification {
        use ErrorClass::Invalid;
        Invalid.code("invalid")
    }
}

/// An error with the name of the file that it is in: `FILE:LINE: what; what to do`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {error}", file.display(), colon(error.line()))]
pub struct InFile {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub error: ForgeError,
}

impl InFile {
    /// Names the file.
    pub fn new(file: impl Into<PathBuf>, error: ForgeError) -> InFile {
        let file = file.into();
        InFile { file, error }
    }
}

impl Classified for InFile {
    fn classify(&self) -> Classification {
        self.error.classify()
    }
}

/// The beginning of a text, short enough for a message.
pub(super) fn shown(text: &str) -> String {
    cut(text, SHOWN).to_owned()
}

fn colon(line: Option<u64>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

fn since(first: Option<u64>) -> String {
    first
        .map(|line| format!(" (the first is in line {line})"))
        .unwrap_or_default()
}

fn meant(nearest: Option<&str>) -> String {
    match nearest {
        Some(word) => format!("; did you mean {word:?}?"),
        None => "; write one of them".to_owned(),
    }
}

fn meant_id(nearest: Option<&str>) -> String {
    match nearest {
        Some(id) => format!("; did you mean {id:?}?"),
        None => "; name one of its tasks or take that out".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_a_file_reads_file_line_what_and_what_to_do() {
        let error = ForgeError::UnclosedFrontmatter { line: 3 };
        let text = InFile::new("drafts/a.md", error).to_string();
        assert!(
            text.starts_with("drafts/a.md:3: the frontmatter that begins here"),
            "{text}"
        );
        let error = ForgeError::TooLarge { bytes: 9, limit: 8 };
        let text = InFile::new("a.yaml", error).to_string();
        assert!(
            text.starts_with("a.yaml: the file is larger than 8 bytes"),
            "{text}"
        );
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shown(&"あ".repeat(100)), "あ".repeat(26));
    }
}

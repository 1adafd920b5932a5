//! A line of emphasized text.

/// How a part of a line is emphasized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Emphasis {
    /// Not at all.
    #[default]
    Plain,
    /// Bold text and prompts.
    Strong,
    /// What matters less.
    Dim,
    /// A heading.
    Heading,
    /// Code.
    Code,
    /// Added lines, and what went well.
    Added,
    /// Deleted lines, and what went wrong.
    Removed,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSpan {
    /// The text.
    pub text: String,
    /// How it is emphasized.
    pub emphasis: Emphasis,
}

/// A line of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TextLine {
    /// The turn's number; of a line of several turns, the first one's.
    pub turn: u64,
    /// The last turn's number.
    pub last_turn: u64,
    /// Columns before the line and before what is wrapped of it.
    pub indent: usize,
    /// Columns by which wrapped text is indented further.
    pub hanging: usize,
    /// The parts.
    pub spans: Vec<TextSpan>,
    /// Whether the line is cut and not wrapped where it is too long: folded turns.
    pub is_cut: bool,
    /// Whether its spaces matter: code, diffs, results.
    pub is_code: bool,
}

impl TextLine {
    /// Returns a line with one part.
    pub fn new(emphasis: Emphasis, text: &str) -> TextLine {
        TextLine::default().with(emphasis, text)
    }

    /// Returns the line with one more part.
    #[must_use]
    pub fn with(mut self, emphasis: Emphasis, text: &str) -> TextLine {
        if !text.is_empty() {
            self.spans.push(TextSpan {
                text: text.replace('\r', ""),
                emphasis,
            });
        }
        self
    }

    /// Returns the text of the line, without emphasis and indentation.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    pub(super) fn indented(mut self, columns: usize) -> TextLine {
        self.indent += columns;
        self
    }

    pub(super) fn hanging(mut self, columns: usize) -> TextLine {
        self.hanging = columns;
        self
    }

    pub(super) fn cut(mut self) -> TextLine {
        self.is_cut = true;
        self
    }

    pub(super) fn code(mut self) -> TextLine {
        self.is_code = true;
        self
    }

    pub(super) fn is_blank(&self) -> bool {
        self.spans.iter().all(|span| span.text.trim().is_empty())
    }
}

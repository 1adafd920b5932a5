//! The objects of a text, one by one, each with its place: JSON lines, one JSON
//! array, or objects over several lines one after the other.
//!
//! A text is cut where its brackets close, and what is between is not looked at:
//! an object that is broken does not keep those after it from being read. Where
//! brackets do not close, an object ends before the next line that begins with
//! `{`, as no line within an indented object does. Only one object is held at a
//! time.

use std::io::{self, BufRead};

use annals_event_log::{Classification, Classified, ErrorClass};

use crate::lines::{BYTE_ORDER_MARK, of_system};

/// The most bytes of one object's JSON.
pub const MAX_OBJECT: usize = 32 * 1024 * 1024;

/// Why there is no text of an object.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// It has more bytes than are held at once. It was skipped.
    #[error("it has more than {limit} bytes, the most that is read; leave it out")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// It is not UTF-8.
    #[error("it is not UTF-8 from its byte {byte} on")]
    NotUtf8 {
        /// The first byte that is wrong, from 1.
        byte: usize,
    },
    /// The parts of an array are not set off by one comma each.
    #[error("invalid array: expected {expected}, found {found}")]
    Separator {
        /// What is there.
        found: &'static str,
        /// What should.
        expected: &'static str,
    },
    /// The array does not end. Nothing follows.
    #[error("the array is cut off: its \"]\" is missing")]
    Unclosed,
    /// The text cannot be read any further. Nothing follows.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

impl Classified for TextError {
    fn classify(&self) -> Classification {
        use ErrorClass::Invalid;
        match self {
            TextError::TooLong { .. }
            | TextError::NotUtf8 { .. }
            | TextError::Separator { .. }
            | TextError::Unclosed => Invalid.code("invalid_text"),
            TextError::Unreadable(error) => of_system(error.kind()).code("input"),
        }
    }
}

/// The text of one object, or of what is in the place of one.
#[derive(Debug)]
pub struct Text {
    /// The line that it begins in, from 1.
    pub line: u64,
    /// How many others are before it.
    pub index: u64,
    /// The text, or why there is none. Whether it is an object, reading it says.
    pub text: Result<String, TextError>,
}

/// What the text is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// Nothing of it was read.
    Unknown,
    /// Objects one after the other.
    Sequence,
    /// An array. A value may come next, or a comma must.
    Array { comma: bool },
    /// All of it was read.
    Ended,
}

/// Cuts a text into its objects.
///
/// ```
/// use annals_dialects::contracts::Texts;
/// let both: Vec<(u64, String)> = Texts::new(&b"{\"a\":1}\n{\n  \"b\":2\n}\n"[..])
///     .filter_map(|text| Some((text.line, text.text.ok()?)))
///     .collect();
/// assert_eq!(both, [(1, "{\"a\":1}".into()), (2, "{\n  \"b\":2\n}".into())]);
/// ```
#[derive(Debug)]
pub struct Texts<R> {
    reader: R,
    limit: usize,
    form: Form,
    line: u64,
    index: u64,
    bytes_read: u64,
}

impl<R: BufRead> Texts<R> {
    /// The objects of a text, each of at most [`MAX_OBJECT`] bytes.
    pub fn new(reader: R) -> Texts<R> {
        Texts::with_limit(reader, MAX_OBJECT)
    }

    /// The objects of a text, each of at most `limit` bytes.
    pub fn with_limit(reader: R, limit: usize) -> Texts<R> {
        Texts {
            reader,
            limit,
            form: Form::Unknown,
            line: 1,
            index: 0,
            bytes_read: 0,
        }
    }

    /// The bytes of all that was read so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The next byte, which stays the next one.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Goes on behind the next byte.
    fn pass(&mut self, byte: u8) {
        self.reader.consume(1);
        self.bytes_read += 1;
        if byte == b'\n' {
            self.line += 1;
        }
    }

    fn pass_byte_order_mark(&mut self) -> io::Result<()> {
        for mark in BYTE_ORDER_MARK {
            if self.peek()? != Some(*mark) {
                break;
            }
            self.pass(*mark);
        }
        Ok(())
    }

    /// Goes to where the next value begins; none if there is none.
    fn seek(&mut self) -> Result<Option<u8>, TextError> {
        if self.form == Form::Unknown {
            self.pass_byte_order_mark()?;
        }
        while let Some(byte) = self.peek()? {
            match (self.form, byte) {
                (_, b' ' | b'\t' | b'\r' | b'\n') => self.pass(byte),
                (Form::Unknown, b'[') => {
                    self.pass(byte);
                    self.form = Form::Array { comma: false };
                }
                (Form::Array { .. }, b']') => {
                    self.pass(byte);
                    // What follows belongs to no array.
                    self.form = Form::Sequence;
                }
                (Form::Array { comma: true }, b',') => {
                    self.pass(byte);
                    self.form = Form::Array { comma: false };
                }
                (Form::Array { comma: false }, b',') => {
                    self.pass(byte);
                    let (found, expected) = ("a comma", "an object");
                    return Err(TextError::Separator { found, expected });
                }
                (Form::Array { comma: true }, _) => {
                    self.form = Form::Array { comma: false };
                    let (found, expected) = ("something else", "a comma");
                    return Err(TextError::Separator { found, expected });
                }
                (Form::Array { comma: false } | Form::Sequence | Form::Ended, _) => {
                    return Ok(Some(byte));
                }
                (Form::Unknown, _) => {
                    self.form = Form::Sequence;
                    return Ok(Some(byte));
                }
            }
        }
        let unclosed = matches!(self.form, Form::Array { .. });
        self.form = Form::Ended;
        if unclosed {
            return Err(TextError::Unclosed);
        }
        Ok(None)
    }

    /// A value from its first byte to its end.
    fn value(&mut self) -> Result<String, TextError> {
        let mut kept = Kept::new(self.limit);
        let mut scan = Scan::default();
        while let Some(byte) = self.peek()? {
            if scan.ends_before(byte, self.form) {
                break;
            }
            self.pass(byte);
            kept.push(byte);
            if scan.ends_with(byte) {
                break;
            }
        }
        if let Form::Array { comma } = &mut self.form {
            *comma = true;
        }
        kept.text()
    }
}

impl<R: BufRead> Iterator for Texts<R> {
    type Item = Text;

    fn next(&mut self) -> Option<Text> {
        if self.form == Form::Ended {
            return None;
        }
        let sought = self.seek();
        let line = self.line;
        let text = match sought {
            Ok(None) => return None,
            Ok(Some(_)) => self.value(),
            Err(error) => Err(error),
        };
        if matches!(text, Err(TextError::Unreadable(_))) {
            self.form = Form::Ended;
        }
        let index = self.index;
        self.index += 1;
        Some(Text { line, index, text })
    }
}

/// Where a value ends, by its brackets.
#[derive(Debug, Default)]
struct Scan {
    depth: u64,
    in_string: bool,
    escaped: bool,
    /// Whether the last byte was a line's end.
    new_line: bool,
}

impl Scan {
    /// Whether the value ended before a byte: a new object begins there, or the value
    /// is not an object and what follows it begins there.
    fn ends_before(&self, byte: u8, form: Form) -> bool {
        let in_array = matches!(form, Form::Array { .. });
        if self.depth > 0 {
            return self.new_line && byte == b'{' && !in_array;
        }
        match byte {
            b'\n' => true,
            b',' | b']' => in_array && !self.in_string,
            _ => false,
        }
    }

    /// Whether a byte is the value's last one.
    fn ends_with(&mut self, byte: u8) -> bool {
        self.new_line = byte == b'\n';
        let escaped = std::mem::take(&mut self.escaped);
        match byte {
            // A string never spans lines, even if its closing quote is missing.
            b'\n' => self.in_string = false,
            b'"' if !escaped => self.in_string = !self.in_string,
            b'\\' if self.in_string => self.escaped = !escaped,
            b'{' | b'[' if !self.in_string => self.depth += 1,
            b'}' | b']' if !self.in_string => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

/// The bytes of a value, unless there are too many.
struct Kept {
    bytes: Vec<u8>,
    limit: usize,
    too_long: bool,
}

impl Kept {
    fn new(limit: usize) -> Kept {
        Kept {
            bytes: Vec::new(),
            limit,
            too_long: false,
        }
    }

    fn push(&mut self, byte: u8) {
        if self.bytes.len() < self.limit {
            self.bytes.push(byte);
        } else {
            self.too_long = true;
        }
    }

    fn text(self) -> Result<String, TextError> {
        if self.too_long {
            let limit = self.limit;
            return Err(TextError::TooLong { limit });
        }
        let text = String::from_utf8(self.bytes).map_err(|error| TextError::NotUtf8 {
            byte: error.utf8_error().valid_up_to() + 1,
        })?;
        Ok(text.trim_end().to_owned())
    }
}

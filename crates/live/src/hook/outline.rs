//! The short fields of a JSON object that is too large to be read: what says whose event it is, and which.
//!
//! It is found a byte after the other, so that neither the object nor any of its values need be in memory, nor be whole.

/// The most bytes of a value that is found, as JSON.
const LONGEST: usize = 4 * 1024;

/// The most bytes of a field's name, as JSON.
const LONGEST_NAME: usize = 256;

/// The most fields.
const MOST: usize = 64;

/// A field: its name and its value, as JSON.
type Field = (Vec<u8>, Vec<u8>);

/// Where in the object the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    BeforeName,
    Name,
    Colon,
    BeforeValue,
    /// In a text that is a value.
    Text,
    /// In a number or a word.
    Word,
    /// In a list or an object that is a value, so deep, and maybe in a text there.
    Nested(usize, bool),
    End,
}

/// The short fields of an object, as far as it has come.
#[derive(Debug)]
pub(crate) struct Outline {
    at: At,
    is_escaped: bool,
    name: Vec<u8>,
    value: Vec<u8>,
    fields: Vec<Field>,
}

impl Outline {
    pub(crate) fn new() -> Outline {
        Outline {
            at: At::Start,
            is_escaped: false,
            name: Vec::new(),
            value: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// The outline of a text, which need not be whole, as an object of JSON; none where there are no fields.
    pub(crate) fn of(text: &[u8]) -> Option<Vec<u8>> {
        let mut outline = Outline::new();
        outline.add(text);
        let fields = joined(&outline.fields)?;
        Some([b"{", &fields[..], b"}"].concat())
    }

    /// Goes on with more of the text.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.at == At::End {
                return;
            }
            self.take(*byte);
        }
    }

    /// How many fields were found so far.
    pub(crate) fn count(&self) -> usize {
        self.fields.len()
    }

    /// The fields from one on, as they are written in an object.
    pub(crate) fn behind(&self, first: usize) -> Option<Vec<u8>> {
        joined(self.fields.get(first..).unwrap_or_default())
    }

    fn take(&mut self, byte: u8) {
        match (self.at, byte) {
            (At::Name, _) => self.in_name(byte),
            (At::Text, _) => self.in_text(byte),
            (At::Word, b',' | b'}') => self.found(match byte {
                b',' => At::BeforeName,
                _ => At::End,
            }),
            (At::Word, _) => keep(&mut self.value, byte, LONGEST),
            (At::Nested(depth, in_text), _) => self.nested(byte, depth, in_text),
            (_, b' ' | b'\t' | b'\r' | b'\n') => {}
            (At::Start, b'{') | (At::BeforeName, b',') => self.at = At::BeforeName,
            (At::BeforeName, b'"') => {
                self.name = vec![byte];
                self.at = At::Name;
            }
            (At::Colon, b':') => self.at = At::BeforeValue,
            (At::BeforeValue, b'{' | b'[') => self.at = At::Nested(1, false),
            (At::BeforeValue, _) => {
                self.value = vec![byte];
                self.at = if byte == b'"' { At::Text } else { At::Word };
            }
            _ => self.at = At::End,
        }
    }

    fn in_name(&mut self, byte: u8) {
        keep(&mut self.name, byte, LONGEST_NAME);
        if self.ends_text(byte) {
            self.at = At::Colon;
        }
    }

    fn in_text(&mut self, byte: u8) {
        keep(&mut self.value, byte, LONGEST);
        if self.ends_text(byte) {
            self.found(At::BeforeName);
        }
    }

    fn nested(&mut self, byte: u8, depth: usize, in_text: bool) {
        self.at = match (in_text, byte) {
            (true, _) => At::Nested(depth, !self.ends_text(byte)),
            (false, b'"') => At::Nested(depth, true),
            (false, b'{' | b'[') => At::Nested(depth.saturating_add(1), false),
            (false, b'}' | b']') if depth == 1 => At::BeforeName,
            (false, b'}' | b']') => At::Nested(depth - 1, false),
            _ => At::Nested(depth, false),
        };
    }

    /// Whether a byte within a text ends it.
    fn ends_text(&mut self, byte: u8) -> bool {
        let was_escaped = std::mem::replace(&mut self.is_escaped, false);
        self.is_escaped = !was_escaped && byte == b'\\';
        !was_escaped && byte == b'"'
    }

    fn found(&mut self, next: At) {
        let (name, mut value) = (
            std::mem::take(&mut self.name),
            std::mem::take(&mut self.value),
        );
        value.truncate(value.trim_ascii_end().len());
        let is_short = name.len() <= LONGEST_NAME && value.len() <= LONGEST;
        if is_short && self.fields.len() < MOST && is_json(&name) && is_json(&value) {
            self.fields.push((name, value));
        }
        self.at = next;
    }
}

/// Adds a byte to what is kept; one byte more than the limit says that it is longer.
fn keep(kept: &mut Vec<u8>, byte: u8, longest: usize) {
    if kept.len() <= longest {
        kept.push(byte);
    }
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
        && std::str::from_utf8(bytes).is_ok()
}

fn joined(fields: &[Field]) -> Option<Vec<u8>> {
    let written: Vec<Vec<u8>> = fields
        .iter()
        .map(|(name, value)| [&name[..], b":", &value[..]].concat())
        .collect();
    (!written.is_empty()).then(|| written.join(&b','))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Option<String> {
        let whole = Outline::of(text.as_bytes());
        // The same, whatever the pieces are that it comes in.
        let mut by_bytes = Outline::new();
        text.bytes().for_each(|byte| by_bytes.add(&[byte]));
        let fields = by_bytes.behind(0).map(|it| [b"{", &it[..], b"}"].concat());
        assert_eq!(fields, whole);
        whole.map(|it| String::from_utf8_lossy(&it).into_owned())
    }

    #[test]
    fn short_fields_are_found() {
        let long = "x".repeat(LONGEST);
        for (text, expected) in [
            ("", None),
            ("nonsense", None),
            ("[1]", None),
            ("{", None),
            (r#"{"a":"b"}"#, Some(r#"{"a":"b"}"#)),
            (r#" { "a" : "b" , "c" : 5 } "#, Some(r#"{"a":"b","c":5}"#)),
            (r#"{"a":"b","c":"d"#, Some(r#"{"a":"b"}"#)),
            (
                r#"{"a":1,"c":[{"x":"]}\"","y":[]}],"e":true"#,
                Some(r#"{"a":1}"#),
            ),
            (r#"{"a":{"b":"c"},"d":null,"#, Some(r#"{"d":null}"#)),
            (
                r#"{"a\"b":"c\\","d":"\"","#,
                Some(r#"{"a\"b":"c\\","d":"\""}"#),
            ),
            (r#"{"a":nonsense,"b":1,"#, Some(r#"{"b":1}"#)),
            (
                &format!(r#"{{"a":"{long}","b":"c","d":"{long}"#),
                Some(r#"{"b":"c"}"#),
            ),
        ] {
            assert_eq!(outline(text).as_deref(), expected, "{text:.100}");
        }
    }

    #[test]
    fn what_comes_behind_is_told_from_what_came_before() {
        let mut outline = Outline::new();
        outline.add(br#"{"a":1,"b":"xxx"#);
        let before = outline.count();
        outline.add(br#"xx","c":"d","e":[1,"#);
        assert_eq!((before, outline.count()), (1, 3));
        let behind = outline.behind(before);
        assert_eq!(behind.as_deref(), Some(&br#""b":"xxxxx","c":"d""#[..]));
        assert_eq!(outline.behind(3), None);
    }
}

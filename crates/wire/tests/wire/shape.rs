//! The shape of an event type: which types its reader asks for, field by field.
//!
//! An example's bytes do not show everything. A number that becomes wider, for
//! instance, is written in the same bytes while it is small. So the golden
//! files also hold what a reader asks its format for.

use std::fmt::Write as _;

use annals_domain::{AnyEvent, StreamKind};
use serde::de::value::Error;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Every list gets so many elements; as many as a SHA-1 has bytes, since git
/// ids are read as lists of bytes.
const ELEMENTS: usize = 20;

/// The shape, one field a line, the fields of a group indented.
pub fn shape_of(kind: StreamKind, event_type: &str) -> String {
    let mut trace = Trace::default();
    AnyEvent::deserialize_structure(kind, event_type, Reader(&mut trace))
        .expect("a known type")
        .unwrap_or_else(|error| panic!("{event_type}: {error}"));
    trace.text.trim_start().to_owned() + "\n"
}

#[derive(Default)]
struct Trace {
    text: String,
    depth: usize,
    /// Above 0 within a list's elements after the first: they are all alike.
    muted: usize,
}

impl Trace {
    fn say(&mut self, words: &str) {
        if self.muted == 0 {
            self.text.push_str(words);
        }
    }

    fn field(&mut self, name: &str) {
        if self.muted == 0 {
            let _ = write!(
                self.text,
                "\n{:width$}{name}:",
                "",
                width = 2 * (self.depth - 1)
            );
        }
    }
}

/// Answers with the simplest value that is allowed: 1 is a number of every
/// enum, and everything optional is there.
struct Reader<'a>(&'a mut Trace);

struct Elements<'a> {
    trace: &'a mut Trace,
    names: Option<&'static [&'static str]>,
    /// Whether the elements after the first are like it.
    alike: bool,
    at: usize,
    count: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.at == self.count {
            return Ok(None);
        }
        if let Some(name) = self.names.and_then(|names| names.get(self.at)) {
            self.trace.field(name);
        }
        let muted = usize::from(self.alike && self.at > 0);
        self.at += 1;
        self.trace.muted += muted;
        let value = seed.deserialize(Reader(self.trace));
        self.trace.muted -= muted;
        value.map(Some)
    }
}

macro_rules! simple {
    ($($method:ident => $name:literal, $visit:ident($value:expr);)+) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.0.say(concat!(" ", $name));
                visitor.$visit($value)
            }
        )+
    };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    simple! {
        deserialize_bool => "bool", visit_bool(true);
        deserialize_u8 => "u8", visit_u8(1);
        deserialize_u16 => "u16", visit_u16(1);
        deserialize_u32 => "u32", visit_u32(1);
        deserialize_u64 => "u64", visit_u64(1);
        deserialize_i32 => "i32", visit_i32(1);
        deserialize_i64 => "i64", visit_i64(1);
        deserialize_f64 => "f64", visit_f64(1.0);
        deserialize_string => "text", visit_str("x");
        deserialize_str => "text", visit_str("x");
        deserialize_bytes => "bytes", visit_bytes(&[1; 16]);
        deserialize_byte_buf => "bytes", visit_bytes(&[1; 16]);
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.say(" option");
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.say(" list");
        let trace = self.0;
        visitor.visit_seq(Elements {
            trace,
            names: None,
            alike: true,
            at: 0,
            count: ELEMENTS,
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.0.say(&format!(" {len} of ("));
        let trace = &mut *self.0;
        // Longer ones are arrays: a hash.
        let alike = len > 4;
        let value = visitor.visit_seq(Elements {
            trace,
            names: None,
            alike,
            at: 0,
            count: len,
        })?;
        self.0.say(" )");
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let trace = &mut *self.0;
        trace.depth += 1;
        let (names, count) = (Some(fields), fields.len());
        let value = visitor.visit_seq(Elements {
            trace,
            names,
            alike: false,
            at: 0,
            count,
        })?;
        self.0.depth -= 1;
        Ok(value)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom(
            "events are plain data: bincode cannot read this type either",
        ))
    }

    forward_to_deserialize_any! {
        i8 i16 f32 char unit unit_struct tuple_struct map enum identifier ignored_any
    }
}

#[test]
fn a_shape_lists_every_field_with_its_type() {
    let shape = shape_of(StreamKind::Run, "run.patch_set_proposed");
    let expected = "\
patch_set: bytes
commit: option list u8
format: u16
artifact: option
  store: u16
  key: u16
  content_type: option u16
  size_bytes: option u64
  hash: option 32 of ( u8 )
  expires_at: option 2 of ( i64 u32 )
  content: option u16
touched: list
  path: u16
  change_type: u16
  lines_added: u32
  lines_deleted: u32
rationale: option u16
";
    assert_eq!(shape, expected);
}

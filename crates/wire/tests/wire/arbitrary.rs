//! Any event of any type, made from random bytes.
//!
//! A deserializer that reads no format but makes up each value that is
//! requested. Every event type goes through it, those included that are added later:
//! there is no list of strategies that could be forgotten. proptest supplies
//! and shrinks the bytes.

use annals_domain::{AnyEvent, StreamKind};
use proptest::prelude::*;
use serde::de::value::Error;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Enough for the largest event that is made up; after the last byte all
/// choices are 0.
const ENTROPY: usize = 600;

/// Values are made up again while they are not allowed, for example a number
/// that no word has. So often that it hardly ever fails.
const ATTEMPTS: usize = 2_000;

/// Any event of any type.
pub fn any_event() -> impl Strategy<Value = AnyEvent> {
    let types = AnyEvent::types();
    (0..types.len(), prop::collection::vec(any::<u8>(), ENTROPY)).prop_filter_map(
        "no allowed value was made up",
        move |(index, bytes)| {
            let (kind, event_type, _) = types.get(index)?;
            make_up(*kind, event_type, &bytes)
        },
    )
}

/// An event of this type, made from random bytes.
pub fn make_up(kind: StreamKind, event_type: &str, bytes: &[u8]) -> Option<AnyEvent> {
    let mut choices = Choices {
        bytes,
        at: 0,
        state: 0x9e37_79b9_7f4a_7c15,
    };
    (0..ATTEMPTS)
        .find_map(|_| AnyEvent::deserialize_structure(kind, event_type, MakeUp(&mut choices))?.ok())
}

/// The random bytes, and after the last one a generator that they seed.
struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
    state: u64,
}

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let fresh = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        // A step of splitmix64; so that attempts go on differing.
        self.state = self
            .state
            .wrapping_add(0x9e37_79b9_7f4a_7c15 ^ u64::from(fresh));
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed.to_le_bytes()[7] ^ fresh
    }

    fn number(&mut self) -> u64 {
        let mut bytes = [0; 8];
        bytes.fill_with(|| self.byte());
        u64::from_le_bytes(bytes)
    }

    /// Numbers of every length: bincode writes small ones in fewer bytes.
    fn sized_number(&mut self) -> u64 {
        match self.byte() % 4 {
            0 => self.number() % 6,
            1 => 250 + self.number() % 4,
            2 => self.number() % 100_000,
            _ => self.number(),
        }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    fn text(&mut self) -> String {
        let chars = [
            'a', 'Z', '0', ' ', '\n', '"', '\0', 'é', '日', '🦀', '\u{202e}',
        ];
        let length = self.pick(&[0, 1, 3, 40]);
        (0..length).map(|_| self.pick(&chars)).collect()
    }
}

struct MakeUp<'a, 'c>(&'a mut Choices<'c>);

/// As many elements as were drawn; a list simply ends before an element that
/// is not allowed.
struct Elements<'a, 'c> {
    choices: &'a mut Choices<'c>,
    left: usize,
    list: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        match seed.deserialize(MakeUp(self.choices)) {
            Ok(value) => Ok(Some(value)),
            Err(_) if self.list => {
                self.left = 0;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

macro_rules! numbers {
    ($($method:ident => $visit:ident, |$c:ident| $value:expr;)+) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                let $c = self.0;
                visitor.$visit($value)
            }
        )+
    };
}

/// Casts keep the low bits, which are as random as the others.
impl<'de> Deserializer<'de> for MakeUp<'_, '_> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    numbers! {
        deserialize_bool => visit_bool, |c| c.byte() & 1 == 1;
        deserialize_u8 => visit_u8, |c| c.byte();
        // Numbers of words are small.
        deserialize_u16 => visit_u16, |c| match c.byte() % 4 { 0 => c.sized_number() as u16, _ => c.number() as u16 % 7 };
        deserialize_u32 => visit_u32, |c| c.sized_number() as u32;
        deserialize_u64 => visit_u64, |c| c.sized_number();
        deserialize_i32 => visit_i32, |c| c.number() as i32;
        // Seconds of years that chrono knows, for the most part.
        deserialize_i64 => visit_i64, |c| c.number() as i64 >> 21;
        deserialize_f64 => visit_f64, |c| c.pick(&[0.0, -0.0, 0.1, -1.5, 1e300, f64::MIN_POSITIVE, f64::INFINITY]);
        deserialize_string => visit_string, |c| c.text();
        deserialize_str => visit_string, |c| c.text();
        // Only ids are read as bytes.
        deserialize_bytes => visit_byte_buf, |c| (0..16).map(|_| c.byte()).collect();
        deserialize_byte_buf => visit_byte_buf, |c| (0..16).map(|_| c.byte()).collect();
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.byte() & 1 == 1 {
            visitor.visit_some(self)
        } else {
            visitor.visit_none()
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // 20 and 32 are the lengths of git ids.
        let left = self.0.pick(&[0, 1, 2, 5, 20, 32]);
        visitor.visit_seq(Elements {
            choices: self.0,
            left,
            list: true,
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Elements {
            choices: self.0,
            left: len,
            list: false,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(fields.len(), visitor)
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

/// The generator reaches every type, and more than one value of each that has
/// fields.
#[test]
fn every_type_is_made_up() {
    for (kind, event_type, _) in AnyEvent::types() {
        let made: Vec<AnyEvent> = (0..32_u8)
            .filter_map(|seed| {
                let bytes: Vec<u8> = (0..ENTROPY)
                    .map(|at| seed ^ (at as u8).wrapping_mul(31))
                    .collect();
                make_up(kind, event_type, &bytes)
            })
            .collect();
        assert!(
            made.len() > 24,
            "{event_type}: only {} of 32 were allowed",
            made.len()
        );
        let empty = [
            "intent.execution_started",
            "task.started",
            "run.patching_started",
            "run.validation_started",
        ];
        let differing = made.iter().any(|event| Some(event) != made.first());
        assert!(
            differing || empty.contains(&event_type),
            "{event_type}: always the same"
        );
    }
}

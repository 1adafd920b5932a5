//! Enums that are stored as explicit numbers and shown as words.
//!
//! A stored enum must not depend on the order of its variants in the source,
//! so each variant names its number. In text formats the same enum is its
//! snake_case word, which is what git-internal write.
//!
//! What an enum and each of its words mean is said by their doc comments alone: the schemas of
//! events have them from there.

use schemars::{Schema, json_schema};

/// Declares an enum whose variants are all known.
///
/// In binary formats it is its u16 code, in text formats its word. Messages call it by the words of its name,
/// or as it is `called`.
macro_rules! coded_enum {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident $(called $called:literal)? {
            $($(#[doc = $meaning:literal])+ $variant:ident = $code:literal => $word:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $meaning])+ $variant,)+ }

        impl $name {
            /// Every variant, in the order of the source.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The word that text formats use.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// The number that is stored.
            pub fn code(self) -> u16 {
                match self { $($name::$variant => $code,)+ }
            }

            fn from_code(code: u16) -> Option<Self> {
                match code { $($code => Some($name::$variant),)+ _ => None }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::codes::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::from_word(word).ok_or_else(|| $crate::codes::UnknownWord {
                    word: word.to_owned(),
                    what: $crate::codes::called!($name $($called)?),
                    known: &[$($word,)+],
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(self.as_str())
                } else {
                    serializer.serialize_u16(self.code())
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                if deserializer.is_human_readable() {
                    let word = String::deserialize(deserializer)?;
                    word.parse().map_err(D::Error::custom)
                } else {
                    let code = u16::deserialize(deserializer)?;
                    Self::from_code(code).ok_or_else(|| {
                        D::Error::custom(format!("unknown {} code {code}", stringify!($name)))
                    })
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                if generator.contract().is_deserialize() {
                    return schemars::json_schema!({ "type": "string", "enum": [$($word,)+] });
                }
                let words = [$(($code, $word, concat!($($meaning),+)),)+];
                $crate::codes::described(concat!($($doc),+), &words, None)
            }
        }
    };
}

/// Declares an enum that others may extend: `Other(String)` holds any word
/// that is not listed.
///
/// `bare` writes another word as itself, `tagged` as `{"other": "word"}`; both
/// occur in git-internal. In binary formats it is the code and the
/// word, which is empty unless the code is 0.
macro_rules! open_enum {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident as $form:ident {
            $($(#[doc = $meaning:literal])+ $variant:ident = $code:literal => $word:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[doc = $meaning])+ $variant,)+
            /// A word that is not listed here.
            Other(String),
        }

        impl $name {
            /// Every listed variant, in the order of the source.
            pub const LISTED: &'static [$name] = &[$($name::$variant,)+];

            /// The word that text formats use.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $word,)+
                    $name::Other(word) => word,
                }
            }

            /// The number that is stored; 0 for a word that is not listed.
            pub fn code(&self) -> u16 {
                match self { $($name::$variant => $code,)+ $name::Other(_) => 0 }
            }

            /// The variant for a word; never fails.
            pub fn from_word(word: &str) -> Self {
                match word {
                    $($word => $name::$variant,)+
                    other => $name::Other(other.to_owned()),
                }
            }

            /// The word, where it is not listed: one that the user chose.
            #[allow(dead_code)]
            pub(crate) fn own_word(&mut self) -> Option<&mut String> {
                match self { $name::Other(word) => Some(word), _ => None }
            }

            fn from_code(code: u16, word: String) -> Option<Self> {
                match code {
                    0 => Some($name::Other(word)),
                    $($code => Some($name::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            /// The word; a user's own one that reads like a listed one is marked.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $name::Other(word) if $name::from_word(word).code() != 0 => {
                        write!(f, "other {word:?}")
                    }
                    _ => f.write_str(self.as_str()),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    return $crate::codes::$form::serialize(
                        self.as_str(), matches!(self, $name::Other(_)), serializer);
                }
                let word = match self { $name::Other(word) => word.as_str(), _ => "" };
                (self.code(), word).serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                if deserializer.is_human_readable() {
                    let (word, other) = $crate::codes::$form::deserialize(deserializer)?;
                    if other {
                        return Ok($name::Other(word));
                    }
                    let read = Self::from_word(&word);
                    if let $name::Other(other) = &read {
                        // A listed word in other letters is a slip, not another word.
                        let slip = [$($word,)+].iter().any(|w| w.eq_ignore_ascii_case(other));
                        if slip || $crate::codes::$form::CLOSED {
                            return Err(D::Error::custom($crate::codes::UnknownWord {
                                word,
                                what: stringify!($name),
                                known: &[$($word,)+ $crate::codes::$form::ELSE],
                            }));
                        }
                    }
                    return Ok(read);
                }
                let (code, word) = <(u16, String)>::deserialize(deserializer)?;
                Self::from_code(code, word).ok_or_else(|| {
                    D::Error::custom(format!("unknown {} code {code}", stringify!($name)))
                })
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                if generator.contract().is_deserialize() {
                    return $crate::codes::$form::schema(&[$($word,)+]);
                }
                let words = [$(($code, $word, concat!($($meaning),+)),)+];
                let other = $crate::codes::$form::other();
                $crate::codes::described(concat!($($doc),+), &words, Some(other))
            }
        }
    };
}

/// What messages call an enum.
macro_rules! called {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $called:literal) => {
        $called
    };
}

pub(crate) use {called, coded_enum, open_enum};

/// The schema of an enum in events: each word with its meaning and, as `x-number`, the number that
/// is stored for it; and what another word looks like, where others are allowed.
pub(crate) fn described(
    meaning: &str,
    words: &[(u16, &str, &str)],
    other: Option<Schema>,
) -> Schema {
    let word = |(number, word, meaning): &(u16, &str, &str)| json_schema!({ "const": word, "description": meaning.trim(), "x-number": number });
    let forms: Vec<Schema> = words.iter().map(word).chain(other).collect();
    json_schema!({ "description": meaning.trim(), "anyOf": forms })
}

/// A word that an enum does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {} {word:?}: expected one of {}", words_of(what), known.join(", "))]
pub struct UnknownWord {
    /// The word that was read.
    pub word: String,
    /// The name of the enum that was asked, or what messages call it.
    pub what: &'static str,
    /// The words that it has.
    pub known: &'static [&'static str],
}

/// A type's name as a sentence has it: `ApprovalStatus` is "approval status".
fn words_of(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// Open enums whose other words are written as they are.
pub(crate) mod bare {
    use schemars::{Schema, json_schema};
    use serde::{Deserialize, Deserializer, Serializer};

    /// Any word is allowed.
    pub(crate) const CLOSED: bool = false;
    pub(crate) const ELSE: &str = "any other word";

    pub(crate) fn serialize<S: Serializer>(word: &str, _: bool, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(word)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<(String, bool), D::Error> {
        Ok((String::deserialize(d)?, false))
    }

    pub(crate) fn schema(words: &[&str]) -> Schema {
        json_schema!({ "type": "string", "examples": words })
    }

    pub(crate) fn other() -> Schema {
        json_schema!({ "type": "string", "description": "Any other word." })
    }
}

/// Open enums whose other words are written as `{"other": "word"}`.
pub(crate) mod tagged {
    use schemars::{Schema, json_schema};
    use serde::ser::SerializeMap;
    use serde::{Deserialize, Deserializer, Serializer};

    /// A bare word must be one of the listed ones.
    pub(crate) const CLOSED: bool = true;
    pub(crate) const ELSE: &str = "{\"other\": \"...\"}";

    #[derive(Deserialize)]
    #[serde(untagged, deny_unknown_fields)]
    enum Form {
        Word(String),
        Other { other: String },
    }

    pub(crate) fn serialize<S: Serializer>(
        word: &str,
        other: bool,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        if !other {
            return s.serialize_str(word);
        }
        let mut map = s.serialize_map(Some(1))?;
        map.serialize_entry("other", word)?;
        map.end()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<(String, bool), D::Error> {
        use serde::de::Error;

        let expected = "expected a word, or {\"other\": \"another word\"} without any other field";
        let form = Form::deserialize(d).map_err(|_| D::Error::custom(expected))?;
        Ok(match form {
            Form::Word(word) => (word, false),
            Form::Other { other } => (other, true),
        })
    }

    pub(crate) fn schema(words: &[&str]) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "enum": words },
            { "type": "object", "properties": { "other": { "type": "string" } },
              "required": ["other"], "additionalProperties": false },
        ] })
    }

    pub(crate) fn other() -> Schema {
        json_schema!({ "type": "object", "description": "Any other word.",
            "properties": { "other": { "type": "string" } },
            "required": ["other"], "additionalProperties": false })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::intent::{ApprovalStatus, ListedType};
    use crate::pipeline::FrameKind;
    use crate::run::DecisionType;
    use crate::settings::Setting;
    use crate::task::GoalType;
    use crate::{ActorKind, Kind, UnknownWord};

    #[test]
    fn a_listed_word_in_other_letters_is_a_slip() {
        let read = serde_json::from_str::<DecisionType>;
        assert_eq!(read(r#""commit""#).unwrap(), DecisionType::Commit);
        let other = DecisionType::Other("escalate".into());
        assert_eq!(read(r#""escalate""#).unwrap(), other);
        for slip in [r#""Commit""#, r#""ROLLBACK""#] {
            let error = read(slip).unwrap_err().to_string();
            assert!(error.contains("expected one of commit"), "{error}");
        }
        assert!(serde_json::from_str::<ActorKind>(r#""Human""#).is_err());
        let error = serde_json::from_str::<GoalType>(r#""Fix!""#).unwrap_err();
        assert!(error.to_string().contains("other"), "{error}");
    }

    #[test]
    fn a_users_own_word_is_shown_differently_from_a_listed_one() {
        let own = serde_json::from_str::<FrameKind>(r#"{"other":"checkpoint"}"#).unwrap();
        assert_eq!(own.to_string(), "other \"checkpoint\"");
        assert_eq!(FrameKind::Checkpoint.to_string(), "checkpoint");
        let plain = FrameKind::Other("escalate".into());
        assert_eq!(plain.to_string(), "escalate");
    }

    #[test]
    fn a_message_names_an_enum_in_words() {
        let messages: [(UnknownWord, &str); 4] = [
            (
                "x".parse::<ApprovalStatus>().unwrap_err(),
                "unknown approval status \"x\": ",
            ),
            (
                "x".parse::<Setting>().unwrap_err(),
                "unknown setting \"x\": ",
            ),
            (
                "x".parse::<ListedType>().unwrap_err(),
                "unknown type \"x\": ",
            ),
            ("x".parse::<Kind>().unwrap_err(), "unknown kind \"x\": "),
        ];
        for (message, begins) in messages {
            assert!(message.to_string().starts_with(begins), "{message}");
        }
    }
}

//! Content hashes: SHA-256, canonical JSON, and the seal of an object.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A SHA-256 content hash, written as 64 lower-case hex digits (docs/spec/git-internal.md).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntegrityHash(pub [u8; 32]);

/// A text that is not an [`IntegrityHash`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid SHA-256 hash {text:?}: expected 64 lower-case hex digits")]
pub struct InvalidHash {
    /// The text, cut to its first 80 characters.
    pub text: String,
}

impl IntegrityHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> IntegrityHash {
        IntegrityHash(Sha256::digest(bytes).into())
    }

    /// The hash of a JSON value, independent of the order of its keys: SHA-256 of
    /// the compact text with object keys sorted at every level.
    ///
    /// ```
    /// use annals_domain::IntegrityHash;
    /// use serde_json::json;
    /// let (a, b) = (json!({"x": 1, "y": [2]}), json!({"y": [2], "x": 1}));
    /// assert_eq!(IntegrityHash::of_json(&a), IntegrityHash::of_json(&b));
    /// ```
    pub fn of_json(value: &Value) -> IntegrityHash {
        let mut text = String::new();
        write_canonical(value, &mut text);
        IntegrityHash::of(text.as_bytes())
    }

    /// The seal of an object in git-internal's JSON: the canonical hash with
    /// its `checksum` field null (docs/spec/git-internal.md, `Header.checksum`).
    pub fn seal(object: &Value) -> IntegrityHash {
        let mut unsealed = object.clone();
        if let Some(fields) = unsealed.as_object_mut() {
            fields.insert("checksum".to_owned(), Value::Null);
        }
        IntegrityHash::of_json(&unsealed)
    }
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write_canonical(&fields[key], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

impl FromStr for IntegrityHash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<IntegrityHash, InvalidHash> {
        let invalid = || InvalidHash {
            text: text.chars().take(80).collect(),
        };
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(invalid());
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| invalid())?;
        Ok(IntegrityHash(bytes))
    }
}

impl fmt::Display for IntegrityHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for IntegrityHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IntegrityHash({self})")
    }
}

impl Serialize for IntegrityHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for IntegrityHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<IntegrityHash, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer)?
                .parse()
                .map_err(D::Error::custom);
        }
        Ok(IntegrityHash(<[u8; 32]>::deserialize(deserializer)?))
    }
}

impl JsonSchema for IntegrityHash {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "IntegrityHash".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_canonical_text_sorts_every_level() {
        let mut text = String::new();
        write_canonical(
            &json!({"b": {"z": null, "a": "\u{e9}\n"}, "a": [1.5, true]}),
            &mut text,
        );
        assert_eq!(text, r#"{"a":[1.5,true],"b":{"a":"é\n","z":null}}"#);
    }

    #[test]
    fn the_seal_does_not_depend_on_the_checksum() {
        let open = json!({"object_id": "x", "checksum": null});
        let sealed = json!({"object_id": "x", "checksum": IntegrityHash::seal(&open).to_string()});
        assert_eq!(IntegrityHash::seal(&open), IntegrityHash::seal(&sealed));
        let other = json!({"object_id": "y", "checksum": null});
        assert_ne!(IntegrityHash::seal(&open), IntegrityHash::seal(&other));
    }

    #[test]
    fn upper_case_and_short_hashes_are_refused() {
        let good = IntegrityHash::of(b"x").to_string();
        assert_eq!(
            good.parse::<IntegrityHash>().map(|h| h.to_string()),
            Ok(good.clone())
        );
        assert!(good.to_uppercase().parse::<IntegrityHash>().is_err());
        assert!(good[1..].parse::<IntegrityHash>().is_err());
    }
}

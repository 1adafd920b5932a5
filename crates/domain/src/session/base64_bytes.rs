//! Bytes as the contracts write them: base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes, in JSON as base64 with padding.
///
/// ```
/// use annals_domain::session::Base64Bytes;
/// let bytes: Base64Bytes = serde_json::from_str(r#""AQID""#)?;
/// assert_eq!(bytes.0, [1, 2, 3]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Base64Bytes(pub Vec<u8>);

impl Base64Bytes {
    /// Reads bytes from their base64.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn decode(text: &str) -> Result<Base64Bytes, InvalidBase64> {
        let bytes = STANDARD.decode(text);
        bytes.map(Base64Bytes).map_err(|error| InvalidBase64 {
            reason: error.to_string().trim_end_matches('.').to_owned(),
        })
    }

    /// The bytes as base64.
    pub fn encode(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

/// A text that is not valid base64.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid base64: {reason}")]
pub struct InvalidBase64 {
    /// What is wrong, and where.
    pub reason: String,
}

impl Serialize for Base64Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl<'de> Deserialize<'de> for Base64Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Base64Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        Base64Bytes::decode(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Base64Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Base64Bytes".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "contentEncoding": "base64" })
    }
}

//! The checksum of an object.

use annals_domain::{IntegrityHash, Timestamp};
use serde_json::Value;

use crate::ObjectView;

/// The checksum of an object as it will stand once it is sealed at `at`:
/// SHA-256 of its JSON with the keys sorted at every level, `updated_at` being
/// `at` and `checksum` null.
///
/// # Errors
/// serde_json's; for a view that came out of a fold there are none.
pub fn seal_hash(view: &ObjectView, at: Timestamp) -> Result<IntegrityHash, serde_json::Error> {
    let mut object = serde_json::to_value(view)?;
    if let Some(fields) = object.as_object_mut() {
        fields.insert("updated_at".to_owned(), Value::String(at.to_string()));
    }
    Ok(IntegrityHash::seal(&object))
}

#[cfg(test)]
mod tests;

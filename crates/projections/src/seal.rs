//! The checksum of an object, and whether a seal still holds.

use annals_domain::{IntegrityHash, Timestamp};
use serde_json::Value;

use crate::ObjectView;

/// What checking the seal of an object comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealCheck {
    /// It has none, or something happened to it since.
    NotSealed,
    /// The checksum is that of the object.
    Holds,
    /// It is not. Another one was given with the command, or content was removed from an object
    /// whose seal an older version made.
    Differs {
        /// The checksum that was recorded.
        recorded: IntegrityHash,
        /// That of the object as it is shown.
        found: IntegrityHash,
    },
    /// The checksum was removed together with content: it cannot be checked any more.
    Removed,
    /// The seal is another system's, which has rules of its own for what it is made of.
    Foreign,
}

/// Checks the seal of an object, as it is or as it was.
///
/// # Errors
/// serde_json's; for a view that came out of a fold there are none.
pub fn check_seal(view: &ObjectView) -> Result<SealCheck, serde_json::Error> {
    let header = view.header();
    let Some(recorded) = header.checksum else {
        return Ok(match header.seal_removed {
            true => SealCheck::Removed,
            false => SealCheck::NotSealed,
        });
    };
    if header.adopted.as_ref().is_some_and(|it| it.untouched) {
        return Ok(SealCheck::Foreign);
    }
    let json = serde_json::to_value(view)?;
    let found = IntegrityHash::seal(&json);
    // Before `updated_at` only moved on, a seal was dated as its command was.
    let holds = found == recorded
        || header
            .sealed_at
            .is_some_and(|at| at < header.updated_at && dated(json, at) == recorded);
    Ok(match holds {
        true => SealCheck::Holds,
        false => SealCheck::Differs { recorded, found },
    })
}

/// The checksum of an object as it will be once it is sealed at `at`:
/// SHA-256 of its JSON with the keys sorted at every level, `updated_at` being
/// `at`, unless that is before what it is already, and `checksum` null.
///
/// # Errors
/// serde_json's; for a view that came out of a fold there are none.
pub fn seal_hash(view: &ObjectView, at: Timestamp) -> Result<IntegrityHash, serde_json::Error> {
    let at = at.max(view.header().updated_at);
    Ok(dated(serde_json::to_value(view)?, at))
}

/// The checksum of an object that was last changed at `at`.
fn dated(mut object: Value, at: Timestamp) -> IntegrityHash {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("updated_at".to_owned(), Value::String(at.to_string()));
    }
    IntegrityHash::seal(&object)
}

#[cfg(test)]
mod tests;

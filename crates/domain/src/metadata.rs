//! The common header's facts: visibility, tags, external ids, seals.
//!
//! These two events occur in every stream and name the object that they are
//! about, since a run's stream holds many objects.

mod decide;

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::codes::coded_enum;
use crate::event::Touched;
use crate::pieces::Slot;
use crate::{IntegrityHash, Kind, Ordered};

pub(crate) use decide::{seal, set_metadata};

coded_enum! {
    /// Who may see an object (git-internal, common header).
    pub enum Visibility {
        /// Only its owner; the default.
        Private = 1 => "private",
        /// Every user.
        Public = 2 => "public",
    }
}

/// Visibility, tags or external ids of an object of this stream were set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetadataSet {
    /// The object's kind, by its number (8 to 18, 64 for a session, or 65 for an observation).
    pub kind: u8,
    /// The object; a run's stream holds several.
    pub object: Uuid,
    /// Who may see it; absent leaves it as it was.
    pub visibility: Option<Visibility>,
    /// Search tags, keys and values in the order given; they replace all earlier ones.
    pub tags: Option<Vec<(Slot, Slot)>>,
    /// Ids in other systems, names and values in the order given; they replace all earlier ones.
    pub external_ids: Option<Vec<(Slot, Slot)>>,
}

/// An object of this stream was sealed. Any later event on it breaks the seal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sealed {
    /// The object's kind, by its number (8 to 18).
    pub kind: u8,
    /// The object; a run's stream holds several.
    pub object: Uuid,
    /// The canonical hash of the object as it was at this event, 64 hex digits. Texts that the
    /// object had can be tried against it, so a redaction of them removes it, too.
    pub checksum: Option<Slot>,
    /// The same, in a seal that was stored as version 1: it is structure, and stays.
    pub old_checksum: Option<IntegrityHash>,
}

/// Command: sets visibility, tags or external ids of any object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetMetadata {
    /// The object.
    #[setters(skip)]
    pub object: Uuid,
    /// Who may see it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// Search tags; replaces all earlier ones.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Ordered<String>>,
    /// Ids in other systems; replaces all earlier ones.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_ids: Option<Ordered<String>>,
}

/// Command: seals an object. The caller computes the checksum over the object
/// as it will be after this event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Seal {
    /// The object.
    #[setters(skip)]
    pub object: Uuid,
    /// Its canonical hash; left out, the service that executes the command
    /// computes it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<IntegrityHash>,
}

/// The object that a common event is about.
pub(crate) fn subject(kind: u8, object: Uuid) -> Touched {
    Kind::from_number(kind)
        .map(|kind| (kind, object))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests;

//! What can be asked of an alias.

use derive_new::new;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Gives an object a name for people, which can then be used instead of its id. An object
/// may have several; an alias is of one object for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReserveAlias {
    /// The object.
    pub object: Uuid,
    /// The alias: 1 to 200 bytes without white space, slashes or control
    /// characters, and not like an id.
    #[new(into)]
    pub alias: String,
}

//! Objects taken over from another system, as they are.
//!
//! Foreign history is not judged: an object is adopted in the state that it is
//! in, and how it violates our rules is recorded with it. From there on our
//! deciders apply. Lists that are too long for one event go on in further
//! events of the same type, which have the lists alone.

use schemars::JsonSchema;
mod adoption;
mod importer;
mod work;

use serde::{Deserialize, Serialize};

use crate::codes::coded_enum;
use crate::metadata::Visibility;
use crate::pieces::Slot;
use crate::{IntegrityHash, StoredActor, Timestamp};

pub use adoption::Adoption;
pub use importer::{check_copy, check_extension, check_import};
pub use work::{check_work_on, refused_work};

coded_enum! {
    /// The format that an object came in.
    pub enum Dialect {
        /// The JSON of git-internal (git-internal).
        GitInternal = 1 => "git_internal",
        /// The JSON of Contracts v1.1 (docs/spec/contracts.md).
        Contracts = 2 => "contracts",
        /// The files of a `.forge/` folder (docs/spec/forge.md).
        Forge = 3 => "forge",
    }
}

impl Dialect {
    /// The system's own name.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::GitInternal => "git-internal",
            Dialect::Contracts => "contracts",
            Dialect::Forge => "forge",
        }
    }
}

/// The common header of an adopted object (docs/spec/git-internal.md, Common Header), and
/// what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "adopted header")]
pub struct AdoptedHeader {
    /// The format that it came in.
    pub dialect: Dialect,
    /// The version of its header's format.
    pub header_version: u32,
    /// The version of its type's format.
    pub schema_version: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Who created it.
    pub created_by: StoredActor,
    /// Who may see it.
    pub visibility: Visibility,
    /// Search tags, keys and values in the order given.
    pub tags: Vec<(Slot, Slot)>,
    /// Ids in other systems, names and values in the order given.
    pub external_ids: Vec<(Slot, Slot)>,
    /// Its seal.
    pub checksum: Option<IntegrityHash>,
    /// The hash of its JSON as it came, in the dialect's canonical form: it tells whether it came
    /// before.
    pub digest: IntegrityHash,
    /// What our rules say against it, a sentence each.
    pub violations: Vec<Slot>,
}

#[cfg(test)]
mod tests;

//! How blobs can be kept, and what was done.

use annals_domain::GitOid;
use gix::ObjectId;
use serde::{Serialize, Serializer};

use super::blobs::Place;

/// How blobs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// A ref for each blob, `refs/ai/blobs/<id of the log>/<id>`.
    Refs,
    /// One commit without a parent, `refs/ai/uploads`, whose tree has all of them.
    Orphan,
    /// Packs of their own, each with a `.keep` file.
    KeepPack,
    /// Nothing is held: the ids are given to a gc that asks for them.
    CustomGc,
}

impl Strategy {
    /// The word that commands take.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Refs => "refs",
            Strategy::Orphan => "orphan",
            Strategy::KeepPack => "keep-pack",
            Strategy::CustomGc => "custom-gc",
        }
    }
}

/// What was done.
#[derive(Debug, Clone, Serialize)]
pub struct RetentionReport {
    /// How.
    pub strategy: Strategy,
    /// Whether blobs were let go.
    pub release: bool,
    /// The blobs that the objects name.
    pub named: usize,
    /// How many of them are kept now that were not, or are let go.
    pub changed: usize,
    /// How many were kept already; of a release, how many were not kept.
    pub unchanged: usize,
    /// Blobs whose content only the log had, and that were written into the repository.
    pub written: usize,
    /// Blobs that are kept under an id of the repository's own hash, as the log has the other one.
    pub other_hash: usize,
    /// Of a release: blobs that stay since other objects of the log name them.
    pub shared: Vec<GitOid>,
    /// Of a release: blobs that stay since entries of other logs, of other tools or of older
    /// versions hold them.
    pub held_by_others: usize,
    /// Blobs that are not kept, since their content was removed from the log. What keeps them from
    /// before is removed by a release.
    pub removed: Vec<GitOid>,
    /// Blobs that neither the repository nor the log has, or that cannot be read.
    pub missing: Vec<MissingBlob>,
    /// What holds them now: a commit, or a pack; where it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The ids, in the repository, that a custom gc must keep.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "hex_ids")]
    pub ids: Vec<ObjectId>,
}

fn hex_ids<S: Serializer>(ids: &[ObjectId], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ids.iter().map(ToString::to_string))
}

/// A blob that is nowhere, or that cannot be read.
#[derive(Debug, Clone, Serialize)]
pub struct MissingBlob {
    /// Its id.
    pub blob: GitOid,
    /// An object that names it.
    pub named_by: Place,
    /// What was found instead.
    pub reason: String,
}

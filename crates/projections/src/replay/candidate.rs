//! A policy that is tried.

use annals_domain::pipeline::{EvictionPolicy, Evictor};

/// A policy to be tried on recorded histories.
pub struct Candidate<'a> {
    /// What the report calls it.
    pub name: String,
    pub(super) kind: CandidateKind<'a>,
}

pub(super) enum CandidateKind<'a> {
    Policy(EvictionPolicy),
    Custom(&'a (dyn Fn() -> Box<dyn Evictor + Send> + Sync)),
}

impl<'a> Candidate<'a> {
    /// One of the policies that a pipeline can record. git-internal's without a
    /// limit of its own follows the limits that were recorded.
    pub fn policy(name: impl Into<String>, policy: EvictionPolicy) -> Candidate<'a> {
        Candidate {
            name: name.into(),
            kind: CandidateKind::Policy(policy),
        }
    }

    /// A policy of the caller's own, created again for each window.
    pub fn custom(
        name: impl Into<String>,
        make: &'a (dyn Fn() -> Box<dyn Evictor + Send> + Sync),
    ) -> Candidate<'a> {
        Candidate {
            name: name.into(),
            kind: CandidateKind::Custom(make),
        }
    }
}

impl std::fmt::Debug for Candidate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Candidate");
        shown.field("name", &self.name);
        if let CandidateKind::Policy(policy) = &self.kind {
            shown.field("policy", policy);
        }
        shown.finish_non_exhaustive()
    }
}

//! What intents are listed by apart from their life: each has a list for every word that it has.

use annals_domain::intent::{ApprovalStatus, Risk, Source, WorkType};
use bytes::Bytes;
use derive_setters::Setters;

use super::keys::{self, Facet};

/// Which intents to list: those that have all of what is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct IntentFilter {
    /// Those in this status; only intents that were ever proposed, judged, approved or
    /// asked about have one.
    #[setters(into)]
    pub approval: Option<ApprovalStatus>,
    /// Those of this kind of work.
    #[setters(into)]
    pub work_type: Option<WorkType>,
    /// Those of this risk.
    #[setters(into)]
    pub risk: Option<Risk>,
    /// Those that come from there.
    #[setters(into)]
    pub source: Option<Source>,
    /// Those that have all of these labels.
    pub labels: Vec<String>,
}

impl IntentFilter {
    /// Whether it leaves nothing out.
    pub fn is_empty(&self) -> bool {
        *self == IntentFilter::default()
    }

    /// The lists that an intent must be in, those that are likely shorter first.
    pub(super) fn lists(&self) -> Vec<Bytes> {
        let labels = self.labels.iter();
        let mut lists: Vec<Bytes> = labels
            .map(|label| keys::of_facet(Facet::Label, label))
            .collect();
        let of_type = self.work_type.as_ref();
        let rest = [
            of_type.map(|it| (Facet::Type, it.as_str())),
            self.approval.map(|it| (Facet::Approval, it.as_str())),
            self.risk.map(|it| (Facet::Risk, it.as_str())),
            self.source.map(|it| (Facet::Source, it.as_str())),
        ];
        let rest = rest.into_iter().flatten();
        lists.extend(rest.map(|(facet, word)| keys::of_facet(facet, word)));
        lists
    }
}

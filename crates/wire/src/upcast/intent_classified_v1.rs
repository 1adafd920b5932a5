//! `intent.classified`, version 1 to 2: a type was one of those that are listed.

use annals_domain::Slot;
use annals_domain::intent::{Classified, FlowStep, ListedType, Risk, RiskBasis, TypeBasis};
use serde::Deserialize;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct ClassifiedV1 {
    work_type: Option<ListedType>,
    type_basis: Option<TypeBasis>,
    type_word: Option<Slot>,
    flow: Vec<FlowStep>,
    risk: Option<Risk>,
    risk_basis: Option<RiskBasis>,
    risk_word: Option<Slot>,
    reason: Option<Slot>,
}

pub(super) const STEP: Step<ClassifiedV1, Classified> =
    Step::new("intent.classified", 1, |old| Classified {
        work_type: old.work_type.map(Into::into),
        type_basis: old.type_basis,
        type_word: old.type_word,
        flow: old.flow,
        risk: old.risk,
        risk_basis: old.risk_basis,
        risk_word: old.risk_word,
        reason: old.reason,
    });

//! `session.adopted`, version 1 to 2: see `session.created`.

use annals_domain::Dialect;
use serde::Deserialize;

use super::Step;
use super::session_adopted_v2::AdoptedV2;
use super::session_created_v1::StoredConfigV1;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct AdoptedV1 {
    dialect: Dialect,
    config: Option<StoredConfigV1>,
}

pub(super) const STEP: Step<AdoptedV1, AdoptedV2> =
    Step::new("session.adopted", 1, |old| AdoptedV2 {
        dialect: old.dialect,
        config: old.config.map(Into::into),
    });

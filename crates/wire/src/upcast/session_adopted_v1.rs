//! `session.adopted`, version 1 to 2: see `session.created`.

use annals_domain::Dialect;
use annals_domain::session::Adopted;
use serde::Deserialize;

use super::Step;
use super::session_created_v1::StoredConfigV1;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct AdoptedV1 {
    dialect: Dialect,
    config: Option<StoredConfigV1>,
}

pub(super) const STEP: Step<AdoptedV1, Adopted> = Step::new("session.adopted", 1, |old| Adopted {
    dialect: old.dialect,
    config: old.config.map(Into::into),
});

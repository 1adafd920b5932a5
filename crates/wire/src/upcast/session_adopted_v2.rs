//! `session.adopted`, version 2 to 3: see `session.created`.

use annals_domain::Dialect;
use annals_domain::session::Adopted;
use serde::{Deserialize, Serialize};

use super::Step;
use super::session_created_v2::StoredConfigV2;

/// The shape of version 2.
#[derive(Serialize, Deserialize)]
pub(super) struct AdoptedV2 {
    pub(super) dialect: Dialect,
    pub(super) config: Option<StoredConfigV2>,
}

pub(super) const STEP: Step<AdoptedV2, Adopted> = Step::new("session.adopted", 2, |old| Adopted {
    dialect: old.dialect,
    config: old.config.map(Into::into),
});

//! Sessions by the names that people give them.

use annals::Annals;
use annals::projections::SessionSummary;

use crate::error::{CliError, ErrorClass};

/// A session by a prefix or suffix of its id or of the agent's session id, or by `@last` or `@2`.
pub(super) async fn find(annals: &Annals, name: &str) -> Result<SessionSummary, CliError> {
    let _ = annals;
    Err(CliError::new(ErrorClass::NotFound, "no_session", name))
}

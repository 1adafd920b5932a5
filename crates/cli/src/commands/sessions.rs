//! Sessions by the names that people give them.

use annals::Annals;
use annals::projections::SessionSummary;

use crate::error::CliError;

/// A session by a prefix or suffix of its id or of the agent's session id, or by `@last` or `@2`.
pub(super) async fn find(annals: &Annals, name: &str) -> Result<SessionSummary, CliError> {
    Ok(annals.conversations().find(name).await?)
}

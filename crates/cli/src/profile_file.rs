//! Policy profiles as files: document 003's JSON.

use std::path::Path;

use annals::domain::session::PolicyProfile;
use annals_dialects::contracts;

use crate::error::CliError;

/// Reads the policy profile in a file, and checks that it can do what it says.
pub(crate) fn read(path: &Path) -> Result<PolicyProfile, CliError> {
    let text = std::fs::read_to_string(path).map_err(|source| CliError::Input {
        path: path.to_owned(),
        source,
    })?;
    profile(&text).map_err(|reason| CliError::Policy {
        path: path.to_owned(),
        line: None,
        reason,
    })
}

fn profile(text: &str) -> Result<PolicyProfile, String> {
    let parsed = contracts::read::<PolicyProfile>(text).map_err(|error| error.to_string())?;
    // A rule that is misspelt would forbid nothing, and nobody would notice.
    if let Some(unknown) = parsed.unknown.first() {
        return Err(format!("a policy profile has no property {}", unknown.path));
    }
    parsed
        .value
        .check()
        .map_err(|refusal| refusal.to_string())?;
    Ok(parsed.value)
}

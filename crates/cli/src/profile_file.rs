//! Policy profiles as files: Contracts v1.1's JSON.

use std::path::Path;

use annals::domain::Refusal;
use annals::domain::session::PolicyProfile;
use annals_dialects::contracts::{self, ContractsError};

use crate::error::CliError;
use crate::policy_file::{read_text, wrong};

/// Why a text is not a policy profile.
#[derive(Debug, thiserror::Error)]
enum NoProfile {
    #[error(transparent)]
    Json(#[from] ContractsError),
    // A rule that is misspelt would silently forbid nothing.
    #[error("a policy profile has no property {path}")]
    Unknown { path: String },
    #[error(transparent)]
    Senseless(#[from] Refusal),
}

/// Reads the policy profile in a file, and checks that it can do what it says.
pub(crate) fn read(path: &Path) -> Result<PolicyProfile, CliError> {
    parse(path, &read_text(path)?)
}

/// The policy profile that the text of a file is.
pub(crate) fn parse(path: &Path, text: &str) -> Result<PolicyProfile, CliError> {
    profile(text).map_err(|error| wrong(path, None, &error.to_string()))
}

fn profile(text: &str) -> Result<PolicyProfile, NoProfile> {
    let mut parsed = contracts::read::<PolicyProfile>(text)?;
    if !parsed.unknown.is_empty() {
        let path = parsed.unknown.swap_remove(0).path;
        return Err(NoProfile::Unknown { path });
    }
    parsed.value.check()?;
    Ok(parsed.value)
}

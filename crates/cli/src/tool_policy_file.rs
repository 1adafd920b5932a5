//! Policies over tool calls as files: Cedar, or the JSON of a policy profile, which is one over git
//! commands.

mod profile;

use std::path::PathBuf;

use annals_tool_policy::{Policies, PolicyErrors};

use crate::error::{CliError, ErrorClass};
use crate::policy_file::read_text;
use crate::profile_file;

/// Reads policy files, which are one set of policies, and checks them.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Policies, CliError> {
    let mut texts = Vec::new();
    for path in paths {
        let is_profile = path.extension().is_some_and(|it| it == "json");
        let text = match is_profile {
            true => profile::cedar(&profile_file::read(path)?),
            false => read_text(path)?,
        };
        texts.push((path.display().to_string(), text));
    }
    let files: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    Policies::parse(&files).map_err(|errors| wrong(&errors))
}

/// What is wrong, each on a line of its own.
fn wrong(errors: &PolicyErrors) -> CliError {
    CliError::new(ErrorClass::Invalid, "invalid_policy", errors.to_string())
}

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
    read_with_texts(paths).map(|(policies, _)| policies)
}

/// The same, and each file's path with its text as it was read.
pub(crate) fn read_with_texts(
    paths: &[PathBuf],
) -> Result<(Policies, Vec<(String, String)>), CliError> {
    let (mut texts, mut cedar) = (Vec::new(), Vec::new());
    let mut profiles = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let text = read_text(path)?;
        let is_profile = path.extension().is_some_and(|it| it == "json");
        let rules = match is_profile {
            true => {
                let profile = profile_file::parse(path, &text)?;
                let rules = profile::cedar(&profile);
                profiles.push(profile);
                rules
            }
            false => text.clone(),
        };
        texts.push((name.clone(), text));
        cedar.push((name, rules));
    }
    let files: Vec<(&str, &str)> = cedar
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let policies = Policies::parse(&files).map_err(|errors| wrong(&errors))?;
    let policies = profiles.into_iter().fold(policies, profile::protect);
    Ok((policies, texts))
}

/// What is wrong, each on a line of its own.
fn wrong(errors: &PolicyErrors) -> CliError {
    CliError::new(ErrorClass::Invalid, "invalid_policy", errors.to_string())
}

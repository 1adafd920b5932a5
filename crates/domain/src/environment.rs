//! The machine that a run is executed on (docs/spec/git-internal.md, Environment).

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pieces::{Json, JsonPiece, Pieces, Slot};
use crate::{Ordered, Refusal};

/// Operating system, architecture and working directory, and anything else
/// is worth knowing. It is captured by the caller: this crate does no I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Environment {
    /// The operating system, for example `linux`.
    #[new(into)]
    #[setters(skip)]
    pub os: String,
    /// The processor architecture, for example `x86_64`.
    #[new(into)]
    #[setters(skip)]
    pub arch: String,
    /// The working directory.
    #[new(into)]
    #[setters(skip)]
    pub cwd: String,
    /// More, by name, in the order given.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub extra: Ordered<Json>,
}

impl Environment {
    /// Checks that no further key repeats one of the three that are always
    /// there: all of them are members of one JSON object.
    ///
    /// # Errors
    /// [`Refusal::Invalid`].
    pub fn check(&self) -> Result<(), Refusal> {
        let taken = |(key, _): &&(String, Json)| matches!(key.as_str(), "os" | "arch" | "cwd");
        match self.extra.0.iter().find(taken) {
            None => Ok(()),
            Some((key, _)) => {
                let reason = format!("{key:?} has a field of its own and cannot be there twice");
                Err(Refusal::invalid("environment.extra", reason))
            }
        }
    }
}

/// An environment inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "environment")]
pub struct StoredEnvironment {
    /// The operating system.
    pub os: Slot,
    /// The processor architecture.
    pub arch: Slot,
    /// The working directory.
    pub cwd: Slot,
    /// More, by name, in the order given.
    #[schemars(with = "Vec<(Slot, JsonPiece)>")]
    pub extra: Vec<(Slot, Slot)>,
}

impl StoredEnvironment {
    /// Splits an environment into structure and content.
    pub fn store(environment: &Environment, pieces: &mut Pieces) -> StoredEnvironment {
        StoredEnvironment {
            os: pieces.text(environment.os.as_str()),
            arch: pieces.text(environment.arch.as_str()),
            cwd: pieces.text(environment.cwd.as_str()),
            extra: environment
                .extra
                .0
                .iter()
                .map(|(name, json)| (pieces.text(name.as_str()), pieces.json(json)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_key_does_not_repeat_a_field() {
        let json = Json::parse("1").expect("JSON");
        let with = |key: &str| Environment {
            os: "linux".into(),
            arch: "x86_64".into(),
            cwd: "/".into(),
            extra: Ordered(vec![(key.to_owned(), json.clone())]),
        };
        assert!(with("shell").check().is_ok());
        for key in ["os", "arch", "cwd"] {
            assert!(with(key).check().is_err(), "{key}");
        }
    }
}

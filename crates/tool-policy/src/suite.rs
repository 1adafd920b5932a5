//! Tests of policies: calls, and what is expected of them.
//!
//! A tests file is JSON: the policies that it tests, what is the same for all calls, and the calls.
//! What a call says itself takes the place of what is said for all.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::policies::Policies;
use crate::verdict::{Judgement, Verdict};

/// Tests, as a file has them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Suite {
    /// The policy files, from the folder of the tests file.
    pub policies: Vec<PathBuf>,
    /// What no rule matches; left out, it is asked.
    #[serde(default)]
    pub otherwise: Option<Verdict>,
    /// What is the same for all calls.
    #[serde(default)]
    defaults: Map<String, Value>,
    /// The calls.
    tests: Vec<Test>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    #[serde(default)]
    name: Option<String>,
    /// A call, or the command of a call of Bash.
    call: Given,
    verdict: Verdict,
    /// The rule that decides; null: none does.
    #[serde(default, deserialize_with = "given")]
    rule: Option<Option<String>>,
}

/// A field that is null is another one than a field that is not there.
fn given<'de, D>(reader: D) -> Result<Option<Option<String>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Option::deserialize(reader).map(Some)
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Given {
    Command(String),
    Call(Map<String, Value>),
}

/// Why a text has no tests.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// It is not the JSON of tests.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A call is none.
    #[error("test {number}: {source}")]
    Call {
        /// Which one, from 1.
        number: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// What a test found.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Tested {
    /// Its name, or the call.
    pub name: String,
    /// The verdict that is expected.
    pub expected: Verdict,
    /// The rule that is expected; none: any, or no rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_rule: Option<String>,
    /// Whether it is as expected.
    pub passed: bool,
    /// What was found.
    pub found: Judgement,
}

impl Suite {
    /// Reads a tests file.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn parse(text: &str) -> Result<Suite, SuiteError> {
        let suite: Suite = serde_json::from_str(text)?;
        // So that a call that is none is found before any test is run.
        suite.calls()?;
        Ok(suite)
    }

    /// The paths of the policy files, by that of the tests file.
    pub fn files(&self, of: &Path) -> Vec<PathBuf> {
        let folder = of.parent().unwrap_or(Path::new(""));
        self.policies.iter().map(|path| folder.join(path)).collect()
    }

    fn calls(&self) -> Result<Vec<Call>, SuiteError> {
        let call = |(index, test): (usize, &Test)| {
            let mut fields = self.defaults.clone();
            match &test.call {
                Given::Command(command) => {
                    fields.insert("tool".to_owned(), "Bash".into());
                    fields.insert("args".to_owned(), serde_json::json!({ "command": command }));
                }
                Given::Call(own) => fields.extend(own.clone()),
            }
            let number = index + 1;
            serde_json::from_value(Value::Object(fields))
                .map_err(|source| SuiteError::Call { number, source })
        };
        self.tests.iter().enumerate().map(call).collect()
    }

    /// Judges each call, and compares.
    ///
    /// # Errors
    /// [`SuiteError`], if a call is none.
    pub fn run(&self, policies: &Policies) -> Result<Vec<Tested>, SuiteError> {
        let calls = self.calls()?;
        let run = |(test, call): (&Test, &Call)| {
            let found = policies.judge(call);
            let rules = || found.rules.iter().map(|rule| rule.id.as_str());
            let is_rule = match &test.rule {
                None => true,
                Some(None) => found.rules.is_empty(),
                Some(Some(rule)) => rules().any(|id| id == rule),
            };
            Tested {
                name: test.name.clone().unwrap_or_else(|| shown(call)),
                expected: test.verdict,
                expected_rule: test.rule.clone().flatten(),
                passed: found.verdict == test.verdict && is_rule,
                found,
            }
        };
        Ok(self.tests.iter().zip(&calls).map(run).collect())
    }
}

/// A call in a few words.
fn shown(call: &Call) -> String {
    let command = call.args.get("command").and_then(Value::as_str);
    match command {
        Some(command) => command.to_owned(),
        None => format!("{} {}", call.tool, call.args),
    }
}

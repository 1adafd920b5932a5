//! The policies in `policies/`: they are valid, and do what their tests say.

use std::fs;
use std::path::{Path, PathBuf};

use annals_tool_policy::{Policies, Suite};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies")
}

#[test]
fn each_policy_has_tests_and_passes_them() {
    let mut checked = 0;
    for entry in fs::read_dir(folder()).expect("there are policies") {
        let path = entry.expect("it is readable").path();
        if path.extension().is_none_or(|it| it != "cedar") {
            continue;
        }
        let tests = path.with_extension("tests.json");
        let text = fs::read_to_string(&tests).unwrap_or_else(|_| panic!("{path:?} has no tests"));
        let suite = Suite::parse(&text).unwrap_or_else(|error| panic!("{tests:?}: {error}"));
        let files = suite.files(&tests);
        assert!(files.contains(&path), "{tests:?} does not test {path:?}");
        let read = |path: &PathBuf| {
            (
                path.display().to_string(),
                fs::read_to_string(path).expect("it is there"),
            )
        };
        let texts: Vec<(String, String)> = files.iter().map(read).collect();
        let named: Vec<(&str, &str)> = texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let policies = Policies::parse(&named).unwrap_or_else(|errors| panic!("{errors}"));
        let results = suite.run(&policies).expect("the calls are calls");
        let failed: Vec<String> = results
            .iter()
            .filter(|it| !it.passed)
            .map(|it| {
                let rules: Vec<&str> = it.found.rules.iter().map(|rule| rule.id.as_str()).collect();
                format!(
                    "{}: expected {} by {:?}, found {} by {rules:?}: {}",
                    it.name, it.expected, it.expected_rule, it.found.verdict, it.found.reason
                )
            })
            .collect();
        assert!(failed.is_empty(), "{path:?}\n{}", failed.join("\n"));
        assert!(!results.is_empty());
        checked += 1;
    }
    assert_eq!(checked, 6);
}

/// The policy files, with their names.
pub(crate) fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder()).expect("there are policies") {
        let path = entry.expect("it is readable").path();
        if path.extension().is_some_and(|it| it == "cedar") {
            texts.push((
                path.display().to_string(),
                fs::read_to_string(&path).expect("it is there"),
            ));
        }
    }
    texts
}

pub(crate) fn parsed(texts: &[(String, String)]) -> Policies {
    let named = texts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let named: Vec<(&str, &str)> = named.collect();
    Policies::parse(&named).unwrap_or_else(|errors| panic!("{errors}"))
}

/// All of them together.
pub(crate) fn all() -> Policies {
    parsed(&texts())
}

#[test]
fn all_of_them_go_together() {
    assert!(all().rules().len() > 20);
}

//! A changed shape has a dated line in the change log.

use std::fs;
use std::path::Path;

use annals_event_log::Digest;

use crate::support::{golden_folder, read, workspace_file};

/// The first 16 hex digits of SHA-256 over the names and contents of all
/// golden files, sorted by name: name, 0, length (u64, big-endian), content.
fn digest_of_shapes(folder: &Path) -> String {
    let folder = fs::read_dir(folder).expect("the folder of goldens");
    let mut files: Vec<(String, Vec<u8>)> = folder
        .map(|entry| {
            let entry = entry.expect("an entry");
            let content = fs::read(entry.path()).expect("a golden");
            (entry.file_name().display().to_string(), content)
        })
        .collect();
    files.sort();
    let mut all = Vec::new();
    for (name, content) in files {
        all.extend_from_slice(name.as_bytes());
        all.push(0);
        all.extend_from_slice(&(content.len() as u64).to_be_bytes());
        all.extend_from_slice(&content);
    }
    Digest::of(&all).to_string().chars().take(16).collect()
}

/// The list items under `### Shapes`, each in one line, the newest first.
fn shape_lines(change_log: &str) -> Vec<String> {
    lines_under("### Shapes", change_log)
}

/// The list items under a heading.
fn lines_under(heading: &str, page: &str) -> Vec<String> {
    let after = page.split(heading).nth(1).expect(heading);
    let section = after.split("\n#").next().unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    for line in section
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
    {
        match lines.last_mut() {
            Some(last) if !line.starts_with("- ") => last.extend([" ", line.trim_start()]),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

fn is_dated(line: &str) -> bool {
    let date = line
        .strip_prefix("- **")
        .and_then(|rest| rest.split("**:").next());
    date.is_some_and(|date| chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").is_ok())
}

/// Demands that the newest line for `what` names the goldens as they are.
fn is_named(what: &str, goldens: &Path) {
    let digest = digest_of_shapes(goldens);
    let lines = shape_lines(&read(&workspace_file("CHANGELOG.md")));
    let latest = lines
        .iter()
        .find(|line| is_dated(line) && line.contains(&format!("({what} `")));
    assert!(
        latest.is_some_and(|line| line.contains(&format!("({what} `{digest}`)"))),
        "a shape changed: add a dated line to CHANGELOG.md under Shapes with \
         `({what} `{digest}`)`; the topmost such line must have it, and is {latest:?}"
    );
}

#[test]
fn the_change_log_names_the_shapes_of_the_events() {
    is_named("shapes", &golden_folder());
}

/// What the dialect's readers see must not change unannounced either.
#[test]
fn the_change_log_names_the_json_of_the_objects() {
    is_named(
        "objects",
        &workspace_file("crates/projections/tests/golden"),
    );
}

/// The version and the digest of a line on the contracts: `- **DATE**: VERSION (contracts `DIGEST`): ...`.
fn contract_line(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once("**: ").filter(|_| is_dated(line))?;
    let (version, rest) = rest.split_once(" (contracts `")?;
    Some((version, rest.split_once("`)")?.0))
}

/// What the contracts' readers see changes with a version, a date and a reason
/// (docs/spec/contracts.md, Versions).
#[test]
fn a_changed_contract_has_a_version_and_dated_lines() {
    let digest = digest_of_shapes(&workspace_file("crates/dialects/tests/it/contracts/golden"));
    let page = read(&workspace_file("docs/contracts.md"));
    let lines = lines_under("## Change log", &page);
    let told: Vec<_> = lines
        .iter()
        .filter_map(|line| contract_line(line))
        .collect();
    assert_eq!(
        told.len(),
        lines.iter().filter(|line| is_dated(line)).count()
    );
    let (version, latest) = told[0];
    assert_eq!(
        latest, digest,
        "a contract changed: add a line to docs/contracts.md and to CHANGELOG.md (Shapes) with a new version"
    );
    let stated = format!("Version of the contracts: **{version}**");
    assert!(
        page.contains(&stated),
        "docs/contracts.md does not say {stated:?}"
    );
    let mut versions: Vec<&str> = told.iter().map(|(version, _)| *version).collect();
    versions.sort_unstable();
    versions.dedup();
    assert_eq!(
        versions.len(),
        told.len(),
        "each change has its own version"
    );
    let log = shape_lines(&read(&workspace_file("CHANGELOG.md")));
    let logged = log.iter().find_map(|line| contract_line(line));
    assert_eq!(logged, Some((version, latest)), "CHANGELOG.md, Shapes");
}

#[test]
fn lines_are_found_and_joined() {
    let log = "# C\n\n### Shapes\n\n- **2026-01-02**: b\n  (shapes `1`).\n- x\n\n## [0.1]\n- y\n";
    let lines = shape_lines(log);
    assert_eq!(lines, ["- **2026-01-02**: b (shapes `1`).", "- x"]);
    assert!(is_dated(&lines[0]));
    assert!(!is_dated(&lines[1]) && !is_dated("- **2026-13-02**: b"));
}

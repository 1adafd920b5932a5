//! What is published has what a registry shows of it, and depends on nothing that is not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::root;

/// What nobody depends on outside of this repository.
const OURS_ALONE: [&str; 6] = [
    "annals-benches",
    "annals-concurrency",
    "annals-examples",
    "annals-fuzzing",
    "annals-measure",
    "annals-tests",
];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a section of a manifest.
fn section<'a>(manifest: &'a str, name: &str) -> Vec<&'a str> {
    let head = format!("[{name}]");
    let lines = manifest.lines().skip_while(|line| *line != head).skip(1);
    lines.take_while(|line| !line.starts_with('[')).collect()
}

/// The manifests of the workspace's packages.
fn manifests() -> Vec<(PathBuf, String)> {
    let mut folders: Vec<PathBuf> = ["examples", "tests", "benches", "benches/measure"]
        .map(PathBuf::from)
        .into();
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates") {
        folders.push(Path::new("crates").join(entry.expect("an entry").file_name()));
    }
    let manifest = |folder: &PathBuf| read(&root().join(folder).join("Cargo.toml"));
    folders
        .iter()
        .map(|folder| (folder.clone(), manifest(folder)))
        .collect()
}

fn name_of(manifest: &str) -> &str {
    let lines = section(manifest, "package");
    let name = lines.iter().find_map(|line| line.strip_prefix("name = \""));
    name.expect("a name").trim_end_matches('"')
}

#[test]
fn what_is_published_says_what_it_is() {
    let mut ours_alone = BTreeSet::new();
    for (folder, manifest) in manifests() {
        let package = section(&manifest, "package");
        let name = name_of(&manifest);
        let has = |key: &str| package.iter().find(|line| line.starts_with(key));
        assert!(
            has("description = \"").is_some(),
            "{name} has no description"
        );
        for key in ["version", "edition", "rust-version", "license"] {
            assert!(
                has(&format!("{key}.workspace = true")).is_some(),
                "{name}: {key}"
            );
        }
        if has("publish = false").is_some() {
            ours_alone.insert(name.to_owned());
            continue;
        }
        assert!(
            has("readme.workspace = true").is_some(),
            "{name} has no README"
        );
        let words = |key: &str| has(key).map_or(0, |line| line.matches(", ").count() + 1);
        assert!(
            (3..=5).contains(&words("keywords = [")),
            "{name}: 3 to 5 keywords"
        );
        assert!(
            (1..=5).contains(&words("categories = [")),
            "{name}: 1 to 5 categories"
        );
        let docs = section(&manifest, "package.metadata.docs.rs");
        assert!(
            !docs.is_empty(),
            "{name} does not say how its documentation is built"
        );
        let library = read(&root().join(&folder).join("src/lib.rs"));
        assert!(library.starts_with("//!"), "{name} has no front page");
    }
    let expected = OURS_ALONE.map(str::to_owned);
    assert_eq!(ours_alone, BTreeSet::from(expected));
}

#[test]
fn what_is_published_depends_on_what_is_published_by_its_version() {
    let workspace = read(&root().join("Cargo.toml"));
    let version = section(&workspace, "workspace.package");
    let version = version
        .iter()
        .find_map(|line| line.strip_prefix("version = "));
    let version = version.expect("a version");
    let dependencies = section(&workspace, "workspace.dependencies");
    let ours: Vec<_> = dependencies
        .iter()
        .filter_map(|line| line.split_once(" = "))
        .filter(|(name, _)| name.starts_with("annals"))
        .collect();
    assert!(ours.len() > 12, "{ours:?}");
    for (name, value) in &ours {
        let is_published = !OURS_ALONE.contains(name);
        let has_version = value.contains(&format!("version = {version}"));
        assert_eq!(is_published, has_version, "{name} = {value}");
    }
    for (_, manifest) in manifests() {
        let name = name_of(&manifest);
        if OURS_ALONE.contains(&name) {
            continue;
        }
        let lines = ["dependencies", "dev-dependencies", "build-dependencies"];
        let lines = lines.iter().flat_map(|it| section(&manifest, it));
        for line in lines.filter(|line| line.starts_with("annals")) {
            let other = line.split(['.', ' ']).next().unwrap_or_default();
            assert!(!OURS_ALONE.contains(&other), "{name} depends on {other}");
        }
    }
}

/// What the library's users compile who have a log in a folder: nothing that only PostgreSQL and object stores need.
#[test]
fn the_library_without_the_feature_needs_nothing_of_postgresql() {
    let packages = |features: &[&str]| {
        let mut cargo = std::process::Command::new(std::env!("CARGO"));
        cargo
            .current_dir(root())
            .args(["tree", "--offline", "--locked"]);
        cargo.args(["-p", "annals", "-e", "normal", "--prefix", "none"]);
        let listed = cargo.args(features).output().expect("cargo lists them");
        let said = String::from_utf8_lossy(&listed.stderr);
        assert!(listed.status.success(), "{said}");
        String::from_utf8(listed.stdout).expect("a text")
    };
    let has = |packages: &str, name: &str| {
        let mut lines = packages.lines();
        lines.any(|line| line.split(' ').next() == Some(name))
    };
    let (without, with) = (packages(&[]), packages(&["--features", "s3"]));
    for name in [
        "annals-store-postgres",
        "tokio-postgres",
        "object_store",
        "reqwest",
    ] {
        assert!(!has(&without, name), "{name}");
        assert!(has(&with, name), "{name}");
    }
}

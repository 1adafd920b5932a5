//! The project keeps its own rules: what the documents name exists, and every
//! source file says what it is for.

mod circles;
mod lists;
mod packages;
mod tokens;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use circles::{Modules, circles, explained};

fn root() -> PathBuf {
    let tests = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    Path::new(&tests)
        .parent()
        .expect("the workspace")
        .to_path_buf()
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all_rust_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in ["crates", "examples", "tests", "benches"] {
        rust_files(&root().join(directory), &mut found);
    }
    assert!(
        found.len() > 50,
        "the search found only {} files",
        found.len()
    );
    found
}

#[test]
fn every_source_file_says_what_it_is_for() {
    for path in all_rust_files() {
        let text = std::fs::read_to_string(&path).expect("a text");
        assert!(
            text.starts_with("//!") || text.starts_with("#![doc ="),
            "{} does not open with a //! line",
            path.display()
        );
    }
}

/// A module with parts is `foo.rs` with its parts in `foo/`. The one that another crate takes in by its
/// path cannot be: a compiler looks for the parts of such a file next to it.
#[test]
fn modules_have_one_form() {
    let other = root().join("crates/event-log/src/memory/mod.rs");
    let found = all_rust_files();
    let found = found.iter().filter(|path| path.ends_with("mod.rs"));
    assert_eq!(found.collect::<Vec<_>>(), [&other]);
}

/// The circles that ARCHITECTURE.md lists: the paths of each before a colon, and its reason behind it.
fn listed_circles() -> BTreeSet<Vec<PathBuf>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a text");
    let section = text.split("\n## ").find(|it| it.starts_with("Circles"));
    let section = section.expect("a section on circles");
    let listed = section.split("\n- ").skip(1).map(|line| {
        let (paths, reason) = line.split_once("`:").expect("a reason");
        assert!(reason.trim().len() > 20, "{line} has no reason");
        let paths = paths.split('`').skip(1).step_by(2);
        let mut paths: Vec<PathBuf> = paths.map(PathBuf::from).collect();
        paths.sort();
        paths
    });
    listed.collect()
}

/// Where files need each other in turn, none of them can be read or changed by itself. Put what two need
/// into a file that both can use, or pass it on as a value.
#[test]
fn files_use_each_other_in_no_circle_but_those_that_are_listed() {
    let (mut found, mut ties_of) = (BTreeSet::new(), String::new());
    let read = |path: &Path| std::fs::read_to_string(root().join(path)).ok();
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates") {
        let name = entry.expect("an entry").file_name();
        let library = Path::new("crates").join(name).join("src/lib.rs");
        let ties = Modules::of(&library, &read).ties();
        for circle in circles(&ties) {
            ties_of.push_str(&format!("{circle:?}:\n{}", explained(&ties, &circle)));
            found.insert(circle);
        }
    }
    let listed = listed_circles();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(
        new.is_empty(),
        "ARCHITECTURE.md does not list the circles {new:?}; what ties all that there are:\n{ties_of}"
    );
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        gone.is_empty(),
        "ARCHITECTURE.md lists circles that are not there: {gone:?}"
    );
}

#[test]
fn every_path_in_the_documents_exists() {
    for document in ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root().join(document)).expect(document);
        let mut checked = 0;
        for quoted in text.split('`').skip(1).step_by(2) {
            let folders = [
                "crates/",
                "docs/",
                "examples/",
                "tests/",
                "benches/",
                "scripts/",
            ];
            let is_path = folders.iter().any(|prefix| quoted.starts_with(prefix));
            if is_path && !quoted.contains(['<', '*', ' ', '$']) {
                assert!(
                    root().join(quoted).exists(),
                    "{document} names {quoted}, which is not there"
                );
                checked += 1;
            }
        }
        assert!(
            document != "ARCHITECTURE.md" || checked > 10,
            "only {checked} paths in {document}"
        );
    }
}

/// The bullets of ARCHITECTURE.md's code map, each with the crate that it is about, if it is about one.
fn code_map() -> Vec<(Option<String>, String)> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a text");
    let section = text.split("\n## ").find(|it| it.starts_with("Code map"));
    let section = section.expect("a code map");
    let (mut about, mut bullets) = (None, Vec::<(Option<String>, String)>::new());
    for line in section.lines().skip(2) {
        if let Some(bullet) = line.strip_prefix("- `") {
            let name = bullet.split('`').next().unwrap_or_default();
            about = name.starts_with("crates/").then(|| name.to_owned());
        }
        if line.trim_start().starts_with("- ") {
            bullets.push((about.clone(), String::new()));
        }
        if let Some((_, bullet)) = bullets.last_mut() {
            bullet.push_str(line);
            bullet.push('\n');
        }
    }
    bullets
}

#[test]
fn the_code_map_has_every_crate_and_names_files_that_are_there() {
    let bullets = code_map();
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates") {
        let name = entry.expect("an entry").file_name();
        let own = format!("- `crates/{}`", name.to_str().expect("a name"));
        let listed = bullets.iter().filter(|(_, it)| it.starts_with(&own));
        assert_eq!(listed.count(), 1, "{own}");
    }
    let mut checked = 0;
    for (about, bullet) in &bullets {
        assert!(
            bullet.lines().count() <= 6,
            "too long for one bullet:\n{bullet}"
        );
        for name in bullet.split('`').skip(1).step_by(2) {
            if !name.ends_with(".rs") && !name.ends_with('/') {
                continue;
            }
            let of_crate = about
                .iter()
                .map(|it| root().join(it).join("src").join(name));
            let mut places = of_crate.chain([root().join(name)]);
            assert!(
                places.any(|it| it.exists()),
                "{name} is not there:\n{bullet}"
            );
            checked += 1;
        }
    }
    assert!(checked > 150, "only {checked} names");
}

/// A name in code font with three underscores or more is a test's.
/// A picture that is not there is a hole in its page.
#[test]
fn every_picture_of_a_page_exists() {
    let mut pages = vec![root().join("README.md")];
    let documents = std::fs::read_dir(root().join("docs")).expect("a folder");
    pages.extend(documents.map(|entry| entry.expect("an entry").path()));
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    let mut shown = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a text");
        let pictures = text.split(['(', '"']).filter_map(|part| {
            let (path, _) = part.split_once([')', '"'])?;
            (path.ends_with(".png") && path.contains("images/")).then_some(path)
        });
        for picture in pictures {
            let path = page.parent().expect("a folder").join(picture);
            assert!(path.is_file(), "{}: there is no {picture}", page.display());
            shown += 1;
        }
    }
    assert!(shown > 5, "only {shown} pictures were found");
}

#[test]
fn every_test_that_a_document_names_exists() {
    let sources: Vec<String> = all_rust_files()
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a text"))
        .collect();
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("a text");
    let documents = [
        "docs/guarantees.md",
        "docs/security.md",
        "docs/spec/contracts.md",
        "docs/spec/forge.md",
        "docs/spec/git-internal.md",
    ];
    let text = documents.map(read).join("\n");
    let made: HashSet<&str> = sources.iter().flat_map(|it| tests_made_in(it)).collect();
    let mut checked = 0;
    for name in text.split('`').skip(1).step_by(2) {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.matches('_').count() < 3 || !name.chars().all(is_name) {
            continue;
        }
        assert!(
            made.contains(name),
            "one of {documents:?} names the test {name}, which is not there"
        );
        checked += 1;
    }
    assert!(checked > 50, "only {checked} tests are named");
}

/// The functions of a source, and what its macros make functions of.
fn tests_made_in(source: &str) -> impl Iterator<Item = &str> {
    source.lines().flat_map(|line| {
        let function = line
            .split_once("fn ")
            .and_then(|(_, rest)| rest.split_once('('));
        let listed = line
            .strip_prefix("    ")
            .and_then(|it| it.trim_start().split_once(": "));
        [function, listed]
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
    })
}

/// What a reader cannot open is not named as the reason for anything.
#[test]
fn what_is_implemented_is_cited_by_its_page_in_the_repository() {
    let by_number = ["document 00", "documents 00", "Document 00", "dialects.md"];
    for path in all_rust_files() {
        let text = std::fs::read_to_string(&path).expect("a text");
        let is_this = path.ends_with("tests/all/project.rs");
        let found = by_number
            .iter()
            .find(|words| text.contains(*words) && !is_this);
        assert_eq!(found, None, "{}", path.display());
    }
}

/// Crates of ours that a crate may depend on.
#[test]
fn dependencies_point_one_way() {
    let allowed: [(&str, &[&str]); 11] = [
        ("domain", &[]),
        ("event-log", &[]),
        ("wire", &["annals-domain", "annals-event-log"]),
        ("files", &[]),
        ("terminal", &[]),
        ("secrets", &["annals-event-log"]),
        ("tool-policy", &[]),
        ("store-postgres", &["annals-event-log"]),
        ("store-rocks", &["annals-event-log", "annals-files"]),
        (
            "projections",
            &["annals-domain", "annals-event-log", "annals-wire"],
        ),
        // No store: tests of a service must not take a store's time to compile.
        (
            "testkit",
            &["annals-domain", "annals-event-log", "annals-wire"],
        ),
    ];
    for (name, allowed) in allowed {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).expect("a manifest");
        let dependencies = text.split("[dependencies]").nth(1).expect("dependencies");
        let dependencies = dependencies.split("\n[").next().expect("a section");
        for line in dependencies
            .lines()
            .filter(|line| line.starts_with("annals"))
        {
            let dependency = line.split(['.', ' ', '=']).next().expect("a name");
            assert!(
                allowed.contains(&dependency),
                "{name} must not depend on {dependency}"
            );
        }
    }
}

/// Each has its line in docs/dependencies.md, and each line its dependency.
#[test]
fn every_dependency_has_its_line() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("a file");
    let manifest = read("Cargo.toml");
    let table = manifest
        .split("[workspace.dependencies]")
        .nth(1)
        .expect("dependencies");
    let table = table.split("\n[").next().expect("a section");
    let named = table.lines().filter_map(|line| line.split_once(" = "));
    // One that has another name here has its own there.
    let own = |(name, value): (&str, &str)| match value.split_once("package = \"") {
        Some((_, package)) => package.split('"').next().unwrap_or(name).to_owned(),
        None => name.to_owned(),
    };
    let named = named.map(own).filter(|name| !name.starts_with("annals"));
    let named: BTreeSet<String> = named.collect();
    let page = read("docs/dependencies.md");
    let lines = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let lines = lines
        .filter_map(|line| line.split('`').next())
        .map(str::to_owned);
    let lines: BTreeSet<String> = lines.collect();
    assert_eq!(named, lines);
    assert!(named.len() > 40);
}

/// An importer of recordings is a folder of few files and one line in a table (CONTRIBUTING.md).
#[test]
fn an_importer_is_a_folder_of_four_files_and_a_line_in_a_table() {
    let sources = root().join("crates/dialects/src");
    let text = |path: &Path| std::fs::read_to_string(path).expect("a text");
    let table = text(&sources.join("import/formats.rs"));
    let (_, table) = table
        .split_once("pub(crate) static FORMATS")
        .expect("a table");
    let (table, _) = table.split_once("];").expect("its end");
    let names: Vec<&str> = table
        .split('&')
        .filter_map(|part| part.split_once("::KIND"))
        .map(|(name, _)| name)
        .collect();
    assert!(names.contains(&"claude"), "{names:?}");
    for name in names {
        let library = sources.join(name).with_extension("rs");
        let mut files = vec![library.clone()];
        rust_files(&sources.join(name), &mut files);
        // Importers that are older than this rule, and exporters next to them, have more.
        let is_own = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            !matches!(name, Some("tests.rs" | "export.rs"))
        };
        let own = files.iter().filter(is_own).count();
        // OpenHands and OpenCode have two versions of their formats, Copilot counts credits of its own, and Codex runs scripts
        // with calls in them.
        let most = match name {
            "claude" => 7,
            "opencode" => 8,
            "codex" | "copilot" | "openhands" => 5,
            _ => 4,
        };
        assert!(own <= most, "{name} has {own} files: {files:?}");
        for file in &files {
            let text = text(file);
            for other in ["annals::", "annals_event_log::EventLog"] {
                let is_used = text
                    .lines()
                    .any(|line| line.trim().starts_with("use ") && line.contains(other));
                let is_library =
                    *file == library || file.ends_with("tests.rs") || file.ends_with("export.rs");
                assert!(!is_used || is_library, "{} knows {other}", file.display());
            }
        }
    }
}

//! CONTRIBUTING.md lists the files that a change takes: each list is held against changes that were made.

use std::path::{Path, PathBuf};

use super::{root, rust_files};

/// The text of a section: from its heading to the next one of the same level or above.
fn section(heading: &str) -> String {
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("a text");
    let (_, rest) = page
        .split_once(&format!("{heading}\n"))
        .unwrap_or_else(|| panic!("CONTRIBUTING.md has no heading {heading}"));
    let level = heading.split(' ').next().unwrap_or_default();
    let ends = |line: &&str| {
        let marks = line.split(' ').next().unwrap_or_default();
        !marks.is_empty() && marks.chars().all(|c| c == '#') && marks.len() <= level.len()
    };
    let lines: Vec<&str> = rest.lines().take_while(|line| !ends(line)).collect();
    lines.join("\n")
}

/// The paths in the first column of each table of a section.
fn tables(section: &str) -> Vec<Vec<String>> {
    let mut tables: Vec<Vec<String>> = Vec::new();
    let mut before = "";
    for line in section.lines() {
        if let Some(row) = line.strip_prefix("| `") {
            if before.starts_with("| ---") {
                tables.push(Vec::new());
            }
            let path = row.split('`').next().unwrap_or_default();
            tables.last_mut().expect("a head").push(path.to_owned());
        }
        before = line;
    }
    tables
}

/// The text of a file, or of all files below a folder; a file that has parts is both.
fn text(path: &str) -> String {
    let path = root().join(path);
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a text");
    let mut files = Vec::new();
    // Decisions of an aggregate may be in several files, whose names end so.
    if path.ends_with("decide.rs") {
        let folder = path.parent().expect("a folder");
        let entries = std::fs::read_dir(folder).expect("a folder");
        let entries = entries.map(|entry| entry.expect("an entry").path());
        files.extend(entries.filter(|it| it.to_string_lossy().ends_with("_decide.rs")));
    }
    let folder = path.with_extension("");
    if folder.is_dir() {
        rust_files(&folder, &mut files);
    }
    if path.is_file() {
        files.push(path.clone());
    }
    assert!(!files.is_empty(), "{} is not there", path.display());
    files.iter().map(read).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_of_word(c)).any(|it| it == word)
}

/// Whether a source is compiled for tests only.
fn is_test(path: &Path) -> bool {
    let is_test = |part: &str| {
        matches!(part, "tests" | "testing") || part == "tests.rs" || part == "testing.rs"
    };
    path.iter().filter_map(|part| part.to_str()).any(is_test)
}

/// Whether a file is a further one of its kind, such as `run/tool_command.rs` of `run/command.rs`.
fn is_further(name: &Path, listed: &Path) -> bool {
    let stem = |path: &Path| {
        path.file_name()
            .and_then(|name| name.to_str().map(str::to_owned))
    };
    match (stem(name), stem(listed)) {
        (Some(name_stem), Some(of)) => {
            name.parent() == listed.parent() && name_stem.ends_with(&format!("_{of}"))
        }
        _ => false,
    }
}

/// How long a tool call took came to an event that was stored already.
#[test]
fn a_field_of_an_event_takes_the_files_that_the_page_lists() {
    let (aggregate, event, field, old) = ("run", "tool_invoked", "duration_ms", "1");
    let filled = |path: &String| {
        path.replace("<aggregate>", aggregate)
            .replace("<event>", event)
            .replace("<old>", old)
    };
    let tables = tables(&section("### Adding a field to an event"));
    let [files, more] = tables.as_slice() else {
        panic!("two tables are expected: {tables:?}");
    };
    assert!(files.len() <= 8, "a field takes at most 8 files: {files:?}");
    let files: Vec<String> = files.iter().map(filled).collect();
    let more: Vec<String> = more.iter().map(filled).collect();
    for file in &files {
        let module = format!("{aggregate}_{event}_v{old}");
        let words: &[&str] = match file.as_str() {
            "crates/wire/src/upcast.rs" => &[&module],
            "CHANGELOG.md" => &["version", "duration"],
            _ => &[field],
        };
        let text = match file.as_str() {
            "CHANGELOG.md" => {
                let log = text(file);
                let lines = log.split("\n- **");
                let of_it = format!("`{aggregate}.{event}`");
                lines.filter(|it| it.contains(&of_it)).collect()
            }
            _ => text(file),
        };
        for word in words {
            assert!(has_word(&text, word), "{file} does not have {word}");
        }
    }
    // The old shape does not have it, the new one does.
    let golden = |version| {
        let name = format!("crates/wire/tests/golden/{aggregate}.{event}.v{version}.json");
        has_word(&text(&name), field)
    };
    assert_eq!((golden(1), golden(2)), (false, true));

    // No other file of the crates that an event goes through knows it.
    let mut sources = Vec::new();
    for name in [
        "domain",
        "event-log",
        "wire",
        "projections",
        "annals",
        "dialects",
    ] {
        rust_files(&root().join("crates").join(name).join("src"), &mut sources);
    }
    let mut knowing = 0;
    for path in sources.iter().filter(|path| !is_test(path)) {
        let own = std::fs::read_to_string(path).expect("a text");
        if !has_word(
            own.split("#[cfg(test)]\nmod ").next().unwrap_or(&own),
            field,
        ) {
            continue;
        }
        let name = path.strip_prefix(root()).expect("a path of the workspace");
        let is_listed = files.iter().chain(&more).any(|listed| {
            name.starts_with(listed)
                || name.starts_with(Path::new(listed).with_extension(""))
                || is_further(name, Path::new(listed))
        });
        assert!(
            is_listed,
            "{} has {field} and is not listed",
            name.display()
        );
        knowing += 1;
    }
    assert!(knowing > 6, "only {knowing} files have {field}");
}

/// The modules of all importers, by the table of formats.
fn importers() -> Vec<String> {
    let table = text("crates/dialects/src/import/formats.rs");
    let (_, table) = table
        .split_once("pub(crate) static FORMATS")
        .expect("a table");
    let (table, _) = table.split_once("];").expect("its end");
    let names = table
        .split('&')
        .filter_map(|part| part.split_once("::KIND"));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn an_importer_takes_the_files_that_the_page_lists() {
    let tables = tables(&section("## Adding an importer"));
    let [files] = tables.as_slice() else {
        panic!("one table is expected: {tables:?}");
    };
    assert!(files.len() > 5, "{files:?}");
    let importers = importers();
    assert!(importers.len() > 7, "{importers:?}");
    for name in &importers {
        for file in files {
            let path = match (name.as_str(), file.as_str()) {
                // The first one, whose recount stands by itself.
                ("claude", "scripts/recounts/<name>.py") => "scripts/recount.py".to_owned(),
                _ => file.replace("<name>", name),
            };
            let word = match path.as_str() {
                "crates/fuzzing/src/lib.rs" => format!("import_{name}"),
                "crates/dialects/src/lib.rs" | "crates/dialects/src/import/formats.rs" => {
                    name.clone()
                }
                _ => "".to_owned(),
            };
            let own = text(&path);
            assert!(
                word.is_empty() || has_word(&own, &word),
                "{path} does not have {word}"
            );
            if path == format!("crates/dialects/src/{name}.rs") {
                assert!(has_word(&own, "KIND"), "{path} has no Kind");
            }
        }
        let tools = format!("crates/dialects/src/{name}/tools.rs");
        assert!(root().join(&tools).is_file(), "{tools} is not there");
        demand_unknown_elsewhere(name);
    }
}

/// Demands that no importing code outside of an importer names its module: it goes by the table.
fn demand_unknown_elsewhere(name: &str) {
    let mut files = Vec::new();
    let sources = root().join("crates/dialects/src");
    for folder in ["import", "transcript"] {
        rust_files(&sources.join(folder), &mut files);
        files.push(sources.join(folder).with_extension("rs"));
    }
    for path in files
        .iter()
        .filter(|path| !path.ends_with("import/formats.rs"))
    {
        // The options of imports, and what they answer, have the names of the first importer.
        if is_test(path) || (name == "claude" && path.ends_with("src/import.rs")) {
            continue;
        }
        let own = std::fs::read_to_string(path).expect("a text");
        let code = own
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let named = [format!("crate::{name}::"), format!("crate::{name};")];
        let found = code.filter(|line| named.iter().any(|it| line.contains(it)));
        let found: Vec<&str> = found.collect();
        assert!(
            found.is_empty(),
            "{} names {name}: {found:?}",
            path.display()
        );
    }
}

//! What the README and the tour show is what the program prints.
//!
//! A block of the kind `console` in them has commands behind `$ `, each followed by what it printed. All
//! of a page run in one folder that has the repository's `examples`. `...` in a line stands for any text,
//! as ids of logs and roots differ from run to run; a line with nothing but `...` stands for any lines.
//! `make readme` writes what differs.

use std::fs;
use std::path::Path;

use crate::support::Place;

/// A command and the lines that it is shown to print.
struct Shown<'a> {
    command: &'a str,
    lines: Vec<&'a str>,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn commands(block: &str) -> Vec<Shown<'_>> {
    let mut all: Vec<Shown<'_>> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push(Shown {
                command,
                lines: Vec::new(),
            }),
            (None, Some(shown)) => shown.lines.push(line),
            (None, None) => panic!("output without a command: {line}"),
        }
    }
    all
}

/// Whether a line is one that `...` in `pattern` stands for.
fn is_line(pattern: &str, line: &str) -> bool {
    let Some((first, rest)) = pattern.split_once("...") else {
        return pattern == line;
    };
    let Some(mut line) = line.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split("...").collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = line.split_once(part) else {
            return false;
        };
        line = after;
    }
    line.ends_with(last)
}

fn are_lines(patterns: &[&str], lines: &[&str]) -> bool {
    match (patterns, lines) {
        ([], []) => true,
        (["...", rest @ ..], _) => (0..=lines.len())
            .any(|skipped| are_lines(rest, lines.get(skipped..).unwrap_or_default())),
        ([pattern, patterns @ ..], [line, lines @ ..]) => {
            is_line(pattern, line) && are_lines(patterns, lines)
        }
        _ => false,
    }
}

/// What a command prints, from a shell's words without quotes.
fn printed(place: &Place, command: &str) -> String {
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("annals"), "{command}");
    let words: Vec<&str> = words.collect();
    let output = place
        .command(&words)
        .env_remove("ANNALS_LOG")
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    String::from_utf8(printed).unwrap()
}

/// A page with what the program prints, and the commands that it shows otherwise.
fn with_outputs(page: &str) -> (String, Vec<String>) {
    let place = Place::empty();
    fs::create_dir(place.path("examples")).unwrap();
    for example in fs::read_dir(root().join("examples")).unwrap() {
        let example = example.unwrap();
        // Programs over the library are there, too.
        if !example.file_type().unwrap().is_file() {
            continue;
        }
        let to = place.path("examples").join(example.file_name());
        fs::copy(example.path(), to).unwrap();
    }
    let (mut made, mut rest, mut differing) = (String::new(), page, Vec::new());
    while let Some((before, after)) = rest.split_once("```console\n") {
        let (block, after) = after.split_once("```\n").unwrap();
        made.push_str(before);
        made.push_str("```console\n");
        for Shown { command, lines } in commands(block) {
            let printed = printed(&place, command);
            let output: Vec<&str> = printed.lines().collect();
            let fits = are_lines(&lines, &output);
            if !fits {
                differing.push(format!("$ {command}\n{printed}"));
            }
            made.push_str(&format!("$ {command}\n"));
            for line in if fits { lines } else { output } {
                made.push_str(&format!("{line}\n"));
            }
        }
        made.push_str("```\n");
        rest = after;
    }
    made.push_str(rest);
    (made, differing)
}

/// Compares a page with what the program prints, or writes that into it.
fn check(page: &str) {
    let path = root().join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (made, differing) = with_outputs(&text);
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    assert!(
        text.contains("```console\n$ annals "),
        "{page} shows no command"
    );
    assert!(
        differing.is_empty(),
        "these commands of {page} print something else; `make readme` writes it:\n{}",
        differing.join("\n")
    );
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    check("README.md");
}

#[test]
fn the_tour_shows_what_the_program_prints() {
    check("docs/tour.md");
}

#[test]
fn dots_stand_for_text_and_for_lines() {
    let fits = |patterns: &[&str], text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        are_lines(patterns, &lines)
    };
    assert!(fits(&["a ... c", "...", "z"], "a b c\nx\ny\nz"));
    assert!(fits(&["...", "root ..."], "root 5"));
    assert!(fits(&["a", "..."], "a"));
    assert!(!fits(&["a ... c"], "a b d"));
    assert!(!fits(&["a"], "a\nb"));
    assert!(!fits(&["...", "z"], "a\nb"));
}

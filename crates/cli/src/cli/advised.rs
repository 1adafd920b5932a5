//! Every command line that a message, a hint or a comment of the sources names is one that parses.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::spellings::new_spelling;
use super::{Cli, groups};

/// What a command line begins with in a text.
const OPENS: &str = "`annals ";

/// All sources below a folder.
fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, texts);
        } else if path.extension().is_some_and(|it| it == "rs") {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
}

/// A source without the line breaks in its texts and comments.
fn joined(source: &str) -> String {
    let mut joined = String::with_capacity(source.len());
    for line in source.lines() {
        let line = line.trim_start();
        let comment = line.trim_start_matches('/').trim_start_matches('!');
        let is_comment = line.starts_with("//");
        joined.push_str(if is_comment { comment } else { line });
        match joined.strip_suffix('\\') {
            Some(text) => joined.truncate(text.len()),
            None => joined.push(if is_comment { ' ' } else { '\n' }),
        }
    }
    joined
}

/// The command lines in a text, without the program's name.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let named = text.split(OPENS).skip(1);
    let line = named.filter_map(|rest| rest.split_once('`').map(|(line, _)| line));
    line.filter(|line| !line.contains('\n'))
}

/// What a shell would give the program; `1` is in the place of what a message fills in.
fn arguments(line: &str) -> Vec<String> {
    let line = line.split('|').next().unwrap_or_default();
    let word = |word: &str| match word.contains('{') {
        true => "1".to_owned(),
        false => word.to_owned(),
    };
    line.split_whitespace().map(word).collect()
}

/// Whether the program knows the command and each of the options. What is left out is the reader's to add.
fn is_known(line: &str) -> bool {
    let arguments = arguments(line);
    let is_upper = |word: &String| word.bytes().all(|byte| byte.is_ascii_uppercase());
    let stands_for_any = |word: &String| word == "1" || is_upper(word);
    if arguments.first().is_none_or(stands_for_any) {
        return true;
    }
    let given = std::iter::once("annals".to_owned()).chain(arguments);
    let error = groups::grouped(Cli::command())
        .try_get_matches_from(given)
        .err();
    let kind = error.map(|error| error.kind());
    !matches!(
        kind,
        Some(
            ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand | ErrorKind::ArgumentConflict
        )
    )
}

/// The folder of all crates, and the sources of them all.
fn all_sources() -> (&'static Path, Vec<String>) {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut texts = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut texts);
        }
    }
    (crates, texts)
}

#[test]
fn every_command_line_that_is_advised_parses() {
    let (_, texts) = all_sources();
    let texts: Vec<String> = texts.iter().map(|text| joined(text)).collect();
    let found: BTreeSet<&str> = texts.iter().flat_map(|text| lines(text)).collect();
    assert!(found.len() > 40, "{found:?}");
    let unknown: Vec<&&str> = found.iter().filter(|line| !is_known(line)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// The words behind the program's name, for each time that a text names it, without global options.
fn named(text: &str) -> Vec<Vec<&str>> {
    let is_name = |at: &usize| {
        let before = text
            .get(..*at)
            .and_then(|before| before.chars().next_back());
        before.is_none_or(|it| !it.is_alphanumeric() && !"._-/:".contains(it))
    };
    let places = text.match_indices("annals ").map(|(at, _)| at);
    let rest = places
        .filter(is_name)
        .filter_map(|at| text.get(at + "annals ".len()..));
    rest.map(words_of).collect()
}

/// The first words of a command line, without global options.
fn words_of(line: &str) -> Vec<&str> {
    let mut is_value = false;
    let words = line.lines().next().unwrap_or_default().split_whitespace();
    let words = words.filter(|word| {
        let was_value = std::mem::replace(&mut is_value, *word == "--log");
        !was_value && (!word.starts_with('-') || *word == "--otlp")
    });
    let end = |it: char| !it.is_alphanumeric() && it != '-';
    let plain = words.map(|word| word.split(end).next().unwrap_or_default());
    plain.take(3).collect()
}

/// Documentation below `docs`; decisions keep the words of their day, and the page of commands is generated.
fn documents(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_kept = path.ends_with("adr") || path.ends_with("cli.md");
        if path.is_dir() && !is_kept {
            documents(&path, texts);
        } else if path.extension().is_some_and(|it| it == "md") && !is_kept {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn no_text_names_an_old_spelling() {
    let (crates, mut texts) = all_sources();
    // These name old spellings to translate them.
    let names_old = |text: &String| {
        let marks = ["const OLD: [(&str", "const OLD_SPELLINGS", "fn named(text"];
        marks.iter().any(|mark| text.contains(mark))
    };
    texts.retain(|text| !names_old(text));
    documents(&crates.with_file_name("docs"), &mut texts);
    let lines: BTreeSet<Vec<&str>> = texts.iter().flat_map(|text| named(text)).collect();
    assert!(lines.len() > 200, "{}", lines.len());
    let old: Vec<&Vec<&str>> = lines
        .iter()
        .filter(|words| new_spelling(words).is_some())
        .collect();
    assert!(old.is_empty(), "{old:?}");
}

#[test]
fn an_old_spelling_is_found() {
    let text =
        "`annals --log x verify`; annals.verify, \"annals hook install claude\" and annals ls";
    let found = named(text);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(new_spelling(&found[0]).is_some() && new_spelling(&found[1]).is_some());
    assert_eq!(new_spelling(&found[2]), None);
}

#[test]
fn a_command_line_that_does_not_exist_is_found() {
    let source = format!("#[error(\n  \"gone; {OPENS}log \\\n     --from {{first}}` says so\"\n)]");
    let source = joined(&source);
    let found: Vec<&str> = lines(&source).collect();
    assert_eq!(found, ["log --from {first}"]);
    assert!(!is_known(found[0]));
    assert!(!is_known("lock --since 1") && !is_known("list work-items --forms"));
    for known in [
        "log --since {first}",
        "show --at",
        "COMMAND --help",
        "log | head",
    ] {
        assert!(is_known(known), "{known}");
    }
}

//! Every command line that a message, a hint or a comment of the sources names is one that parses.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap::error::ErrorKind;

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

#[test]
fn every_command_line_that_is_advised_parses() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut texts = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut texts);
        }
    }
    let texts: Vec<String> = texts.iter().map(|text| joined(text)).collect();
    let found: BTreeSet<&str> = texts.iter().flat_map(|text| lines(text)).collect();
    assert!(found.len() > 40, "{found:?}");
    let unknown: Vec<&&str> = found.iter().filter(|line| !is_known(line)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
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

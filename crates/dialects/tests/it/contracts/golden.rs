//! Every kind and type in the form that Contracts v1.1 gives it, written by hand: a
//! file for each, and more where some of it may be left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use annals_dialects::contracts::{
    CORE_TYPES, ContractsError, CoreType, Correlation, EventBody, Object, Style, read, write,
};
use annals_domain::session::{
    Artifact, CommandKind, PolicyProfile, RateLimits, RepoRef, SessionConfig, TaskNode, TaskPlan,
    WorkItemDetails, WorkItemRef, WorkItemSummary, WorkspaceRef,
};

/// Names and texts of the files. A name is that of the kind or type, and what
/// follows its first dot tells files of one kind apart.
fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/contracts/golden");
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let text = text.strip_suffix('\n').expect(&name).to_owned();
        files.push((name, text));
    }
    files.sort();
    files
}

fn kind(name: &str) -> &str {
    name.split('.').next().unwrap()
}

/// Everything that must have a file.
fn all_kinds() -> BTreeSet<String> {
    let commands = CommandKind::ALL.iter().map(|kind| kind.as_str());
    let events = EventBody::KINDS.iter().copied();
    let types = CORE_TYPES.iter().copied();
    let all = commands.chain(events).chain(types);
    all.map(str::to_owned).collect()
}

fn type_again<T: CoreType>(text: &str) -> Result<String, ContractsError> {
    let read = read::<T>(text)?;
    assert_eq!(read.unknown, [], "{text}");
    Ok(write(&read.value, Style::Pretty).unwrap())
}

/// A text read and written again as what its file's name says.
fn again(name: &str, text: &str) -> Result<String, ContractsError> {
    match kind(name) {
        Artifact::NAME => type_again::<Artifact>(text),
        Correlation::NAME => type_again::<Correlation>(text),
        PolicyProfile::NAME => type_again::<PolicyProfile>(text),
        RateLimits::NAME => type_again::<RateLimits>(text),
        RepoRef::NAME => type_again::<RepoRef>(text),
        SessionConfig::NAME => type_again::<SessionConfig>(text),
        TaskNode::NAME => type_again::<TaskNode>(text),
        TaskPlan::NAME => type_again::<TaskPlan>(text),
        WorkItemDetails::NAME => type_again::<WorkItemDetails>(text),
        WorkItemRef::NAME => type_again::<WorkItemRef>(text),
        WorkItemSummary::NAME => type_again::<WorkItemSummary>(text),
        WorkspaceRef::NAME => type_again::<WorkspaceRef>(text),
        kind => {
            let read = Object::read(text)?;
            assert_eq!(read.unknown, [], "{name}");
            assert!(!matches!(read.value, Object::Foreign(_)), "{name}");
            assert_eq!(read.value.kind(), kind, "{name}");
            Ok(read.value.write(Style::Pretty).unwrap())
        }
    }
}

/// The objects of all files that hold one.
pub(super) fn objects() -> Vec<Object> {
    let read = |(name, text): (String, String)| {
        let read = Object::read(&text).ok()?.value;
        (read.kind() == kind(&name)).then_some(read)
    };
    files().into_iter().filter_map(read).collect()
}

#[test]
fn every_kind_and_type_has_a_file_and_no_file_is_of_another() {
    let files = files();
    let there: BTreeSet<String> = files
        .iter()
        .map(|(name, _)| kind(name).to_owned())
        .collect();
    assert_eq!(there, all_kinds());
    assert_eq!(all_kinds().len(), 15 + 10 + 12);
}

#[test]
fn what_is_read_from_a_file_is_written_as_the_same_text() {
    for (name, text) in files() {
        match again(&name, &text) {
            Ok(written) => assert_eq!(written, text, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// The compact form is the same without the white space between its parts: of
/// these texts none has line breaks or runs of blanks in its strings.
#[test]
fn the_compact_form_has_the_same_parts() {
    let mut compared = 0;
    for (name, text) in files() {
        let Ok(read) = Object::read(&text) else {
            continue;
        };
        // An artifact by itself has a kind too, which is not one of an object.
        if read.value.kind() != kind(&name) {
            continue;
        }
        let squeezed: String = text.lines().map(str::trim_start).collect();
        let squeezed = squeezed.replace("\": ", "\":");
        assert_eq!(
            read.value.write(Style::Compact).unwrap(),
            squeezed,
            "{name}"
        );
        compared += 1;
    }
    assert!(compared >= 25, "{compared}");
}

/// The properties that a table of the document gives a kind or type.
fn described(row: &str) -> Option<(&str, Vec<&str>)> {
    let mut cells = row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
    let name = cells.next()?.split(' ').next()?;
    let names = cells.next()?;
    let is_name = |c: char| c.is_ascii_alphanumeric();
    let mut properties = Vec::new();
    let mut rest = names;
    while let Some(begin) = rest.find(is_name) {
        let from = &rest[begin..];
        let end = from.find(|c| !is_name(c)).unwrap_or(from.len());
        properties.push(&from[..end]);
        // What is said of a property is in brackets behind it.
        rest = from[end..].trim_start_matches(['?', '[', ']', ' ']);
        if let Some(said) = rest.strip_prefix('(') {
            rest = said.split_once(')')?.1;
        }
    }
    Some((name, properties))
}

/// A change of a shape has to change the document too.
#[test]
fn the_document_gives_every_kind_and_type_its_properties_in_order() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contracts.md");
    let document = fs::read_to_string(path).unwrap();
    let (_, tables) = document.split_once("## Objects").unwrap();
    let (tables, _) = tables.split_once("## How it is written").unwrap();
    let rows: Vec<_> = tables.lines().filter_map(described).collect();
    for (name, text) in files() {
        let [kind, "json"] = name.split('.').collect::<Vec<_>>()[..] else {
            continue;
        };
        let mut in_file: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("  \"")?.split_once("\": "))
            .map(|(property, _)| property)
            .collect();
        if Object::read(&text).is_ok_and(|read| read.value.kind() == kind) {
            let common = in_file.split_off(in_file.len() - 3);
            assert_eq!(common, ["id", "correlation", "kind"], "{kind}");
        }
        let row = rows.iter().find(|(name, _)| *name == kind);
        let in_document = if kind == Correlation::NAME {
            // It is in every object, and so in the text.
            let (_, list) = tables.split_once("`correlation` is `{").unwrap();
            list.split_once('}')
                .unwrap()
                .0
                .split(", ")
                .map(|p| p.trim_end_matches('?'))
                .collect()
        } else {
            row.unwrap_or_else(|| panic!("{kind} is not described"))
                .1
                .clone()
        };
        assert_eq!(in_document, in_file, "{kind}");
    }
}

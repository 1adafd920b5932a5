//! What was removed from the log is not found, and not in the index's files.

use std::fs;
use std::path::Path;

use annals::Target;
use annals::blocking::Wait;
use annals::event_log::Position;
use annals_search::Using;
use regex::bytes::Regex;

use crate::support::{Home, NOTHING, ask, files, found, positions};

const SECRET: &str = "correcthorsebatterystaple";

/// Whether any file of the index has the secret, forwards or backwards, as dictionaries keep words, or a dictionary
/// says so.
fn has_secret(home: &Home) -> bool {
    let backwards: Vec<u8> = SECRET.bytes().rev().collect();
    let has = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    files(&home.index()).iter().any(|file| {
        let bytes = fs::read(file).unwrap();
        let is_index = file.file_name().is_some_and(|name| name == "meta.json");
        has(&bytes, SECRET.as_bytes())
            || has(&bytes, &backwards)
            || is_index
                && words(file.parent().unwrap())
                    .iter()
                    .any(|word| word == SECRET)
    })
}

/// All words of an index.
fn words(folder: &Path) -> Vec<String> {
    let index = tantivy::Index::open_in_dir(folder).unwrap();
    let searcher = index.reader().unwrap().searcher();
    let mut found = Vec::new();
    for segment in searcher.segment_readers() {
        for facet in annals_search::Facet::ALL {
            let field = index.schema().get_field(facet.as_str()).unwrap();
            let terms = segment.inverted_index(field).unwrap();
            let mut stream = terms.terms().stream().unwrap();
            while stream.advance() {
                found.push(String::from_utf8_lossy(stream.key()).into_owned());
            }
        }
    }
    found
}

#[test]
fn a_removed_text_is_gone_from_the_files() {
    let home = Home::new();
    let search = home.search();
    let prompt = home.submit(&format!("the password is {SECRET}"));
    let call = home.tool(
        "Bash",
        r#"{"command":"login"}"#,
        &format!("welcome {SECRET}"),
    );
    assert_eq!(found(&search, SECRET), [prompt, call]);
    assert!(has_secret(&home), "the check would find it");

    home.redact(Target::Event(Position(prompt)));
    assert!(!has_secret(&home), "{:?}", files(&home.index()));
    assert_eq!(files(&home.index()), Vec::<std::path::PathBuf>::new());
    assert_eq!(found(&search, SECRET), [call]);
    assert_eq!(found(&search, "password"), NOTHING);
    assert_eq!(found(&search, "login"), [call]);

    home.redact(Target::Pattern(Regex::new(SECRET).unwrap()));
    assert!(!has_secret(&home));
    assert_eq!(found(&search, SECRET), NOTHING);
    assert_eq!(found(&search, "login"), [call], "the arguments stay");
    assert!(!has_secret(&home));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_stays_gives_the_removed_files_back() {
    let home = Home::new();
    let search = home.search();
    let prompt = home.submit(&format!("the password is {SECRET}"));
    assert_eq!(found(&search, SECRET), [prompt]);
    let folder = home.index().to_str().unwrap().to_owned();
    let mapped = || {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines().any(|line| line.contains(&folder))
    };
    search.let_go().wait().unwrap();
    assert!(mapped(), "one that is there still is kept open");
    home.redact(Target::Event(Position(prompt)));
    assert!(mapped(), "the check would find it");
    search.let_go().wait().unwrap();
    assert!(!mapped());
    assert_eq!(found(&search, SECRET), NOTHING);
}

#[test]
fn an_index_that_was_left_has_no_answers() {
    let home = Home::new();
    let prompt = home.submit(&format!("the password is {SECRET}"));
    assert_eq!(found(&home.search(), SECRET), [prompt]);
    // As if whoever removed it could not remove the index, and put it into the new epoch's place.
    let old = home.index().join("0");
    let kept = home.log().with_file_name("kept");
    fs::rename(&old, &kept).unwrap();
    home.redact(Target::Event(Position(prompt)));
    let epoch = home.annals.position().0;
    fs::rename(&kept, home.index().join(epoch.to_string())).unwrap();
    assert!(has_secret(&home));
    let search = home.search();
    assert_eq!(
        positions(&ask(&search, SECRET, Using::IndexAsItIs)),
        NOTHING
    );
    assert_eq!(
        found(&search, SECRET),
        NOTHING,
        "it says itself of which epoch it is"
    );
    assert!(!has_secret(&home));
}

#[test]
fn the_log_decides() {
    let home = Home::new();
    let prompt = home.submit(&format!("the password is {SECRET}"));
    let search = home.search();
    assert_eq!(found(&search, SECRET), [prompt]);
    // Removed, while the bytes stay: nobody has looked at the index since.
    let request = annals::RedactRequest::new(
        vec![Target::Event(Position(prompt))],
        home.ada.clone(),
        "it leaked",
    );
    home.annals
        .contents()
        .redact(&request, &mut |_| {})
        .wait()
        .unwrap();
    assert!(has_secret(&home));
    assert_eq!(
        positions(&ask(&search, SECRET, Using::IndexAsItIs)),
        NOTHING
    );
    assert_eq!(found(&search, SECRET), NOTHING);
    assert!(
        !has_secret(&home),
        "whoever makes the new one removes the old one"
    );
    home.annals.contents().purge().wait().unwrap();
    assert_eq!(found(&search, "begin").len(), 4);
}

#[test]
fn an_interrupted_redaction_is_completed_with_the_index() {
    let mut home = Home::new();
    let prompt = home.submit(&format!("the password is {SECRET}"));
    assert_eq!(found(&home.search(), SECRET), [prompt]);
    let request = annals::RedactRequest::new(
        vec![Target::Event(Position(prompt))],
        home.ada.clone(),
        "it leaked",
    );
    home.annals
        .contents()
        .redact(&request, &mut |_| {})
        .wait()
        .unwrap();
    // A process that is killed here has not given up the bytes.
    assert!(has_secret(&home));
    home.reopen();
    assert!(!has_secret(&home), "the next opening does so");
    assert_eq!(found(&home.search(), SECRET), NOTHING);
}

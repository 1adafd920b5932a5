//! Stream names: every allowed character, and names that are nearly the same.

use futures::executor::block_on;

use super::Harness;
use super::support::{all, assert_dense, batch, batch_to, event, must_append, name};
use crate::{Query, StreamHead, StreamName, Version};

/// Names whose ids hold, one after the other, all characters that an id may have.
fn names_with_every_character() -> Vec<StreamName> {
    let mut ids = vec![String::new()];
    for character in ('\0'..=char::MAX).filter(|c| !c.is_control()) {
        let full = |id: &String| id.len() + character.len_utf8() > StreamName::MAX_ID;
        if ids.last().is_none_or(full) {
            ids.push(String::new());
        }
        ids.last_mut().unwrap().push(character);
    }
    ids.iter()
        .map(|id| StreamName::new("every", id).expect("all of them are allowed"))
        .collect()
}

/// Every character of Unicode but the control characters, in both parts as
/// each allows; listed in the order of their bytes.
pub fn every_allowed_character(harness: &dyn Harness) {
    let log = harness.open();
    let mut names = names_with_every_character();
    for kind in [
        "a",
        "abcdefghijklm_nopqrstuvwxyz",
        "z0123456789",
        "k_",
        "k__9",
        &"k".repeat(32),
    ] {
        names.push(StreamName::new(kind, "1").unwrap());
    }
    for part in names.chunks(5_000) {
        let events = part.iter().map(|name| crate::NewEvent {
            stream: name.clone(),
            ..event("x-1")
        });
        must_append(&*log, batch(events.collect()));
    }
    let records = all(&*log);
    assert_dense(&records);
    assert!(
        records
            .iter()
            .map(|record| record.stream())
            .eq(names.iter().map(StreamName::as_str))
    );
    for stream in names.iter().step_by(500) {
        assert_eq!(
            block_on(log.head(stream)).unwrap(),
            Version(1),
            "{stream:?}"
        );
        let page = block_on(log.read(Query::stream(stream.clone(), Version(1)))).unwrap();
        assert!(
            page.records
                .iter()
                .map(|r| r.stream_name())
                .eq([stream.clone()]),
            "{stream:?}"
        );
    }
    names.sort_by(|a, b| a.as_str().as_bytes().cmp(b.as_str().as_bytes()));
    let mut listed: Vec<StreamHead> = Vec::new();
    while listed.len() < names.len() {
        let after = listed.last().map(|head| head.name.clone());
        let more = block_on(log.streams("", after.as_ref(), 7_000)).unwrap();
        assert!(
            !more.is_empty(),
            "{} of {} streams are listed",
            listed.len(),
            names.len()
        );
        listed.extend(more);
    }
    assert!(
        listed.iter().map(|head| &head.name).eq(&names),
        "the order of the names' bytes"
    );
}

/// Prefixes, case, spaces, hyphens and two ways to write é make other streams.
pub fn names_that_resemble_each_other_stay_apart(harness: &dyn Harness) {
    let log = harness.open();
    let longest = format!("{}-{}", "k".repeat(32), "x".repeat(200));
    let names = [
        "a-1",
        "a-10",
        "a-1 ",
        "a- 1",
        "a--1",
        "a-1-",
        "a-1-a-1",
        "aa-1",
        "a_-1",
        "a-A",
        "a-a",
        "a-\u{e9}",
        "a-e\u{301}",
        "a-%31",
        "a-/1",
        "a-../a-1",
        "a-\\",
        "a-'\"",
        "a-\u{ffff}",
        "a-\u{10ffff}",
        &longest,
        &longest[..longest.len() - 1],
    ];
    for (index, stream) in names.iter().enumerate() {
        must_append(&*log, batch_to(stream, index + 1));
    }
    for (index, stream) in names.iter().enumerate() {
        let count = index as u64 + 1;
        assert_eq!(
            block_on(log.head(&name(stream))).unwrap(),
            Version(count),
            "{stream:?}"
        );
        let page = block_on(log.read(Query::stream(name(stream), Version(1)))).unwrap();
        let versions: Vec<u64> = page.records.iter().map(|r| r.version().0).collect();
        assert!(
            versions.iter().copied().eq(1..=count),
            "{stream:?}: {versions:?}"
        );
        assert!(
            page.records.iter().all(|record| record.stream() == *stream),
            "{stream:?}"
        );
    }
    assert_eq!(block_on(log.stats()).unwrap().streams, names.len() as u64);
}

//! git-internal's objects with secrets in their texts.

use annals_dialects::git_internal;
use futures::executor::block_on;

use super::{check, count, token};
use crate::git_internal::writer::Writer;

/// Objects of all kinds, one a line, and how many tokens are in them: each text that
/// is just a word is a token of its own.
fn objects() -> (String, usize) {
    let all = Writer::new(7).objects(220).join("\n");
    let parts: Vec<&str> = all.split("\"plain\"").collect();
    let mut text = String::new();
    for (n, part) in parts.iter().enumerate() {
        text.push_str(part);
        if n + 1 < parts.len() {
            text.push_str(&format!("\"{}\"", token(n)));
        }
    }
    (text, parts.len() - 1)
}

#[test]
fn nothing_of_an_objects_secrets_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.jsonl");
    let (text, tokens) = objects();
    assert!(tokens > 100, "{tokens}");
    std::fs::write(&path, text).unwrap();
    let needles: Vec<String> = (0..tokens).map(token).collect();
    let report = check(&needles, |annals, secrets| {
        let report = block_on(git_internal::import(annals, &path, secrets, &mut |_| {})).unwrap();
        assert_eq!(report.broken, [], "{report}");
        report
    });
    assert_eq!(count(&report, "github-token"), tokens as u64);
    let named = &report.redacted.kinds()[0].places;
    assert_eq!(named.len(), 20, "the first places are named");
    assert!(named[0].line >= 1 && !named[0].field.is_empty());
}

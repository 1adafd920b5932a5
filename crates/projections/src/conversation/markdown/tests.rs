//! Tests of the Markdown of turns.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::conversation::samples::{conversation, diffs, prompt, session, turn};

fn writer_in_utc() -> MarkdownWriter {
    MarkdownWriter::new().with_zone(CostZone::Utc)
}

fn written(turns: &[Turn], writer: &mut MarkdownWriter) -> String {
    let mut out = String::new();
    for turn in turns {
        writer.turn(turn, &diffs(), &mut out).unwrap();
    }
    out
}

#[test]
fn every_kind_of_turn_is_written() {
    let out = written(&conversation(), &mut writer_in_utc());
    let expected = include_str!("expected.md");
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/conversation/markdown/expected.md"
        );
        std::fs::write(path, &out).unwrap();
    }
    assert_eq!(out, expected);
}

#[test]
fn each_recorded_text_is_written_once() {
    let out = written(&conversation(), &mut writer_in_utc());
    for text in [
        "Fix the *total*\n\nIt is wrong.",
        "First I read.\nThen I edit.",
        "/shop/common.go",
        "a := 1\nb := 2\n",
        "The file was updated.",
        "sed -i s/a/b/ x",
        "go ahead",
        "```\ndone\n```",
        "+two ``` three",
        "rm -rf data",
        "not in production",
        "# Done\n\n- **bold** and `code`\n\n```go\na := 3",
        "We fixed the total.",
        "[Request interrupted by user]",
        "rate limit",
        "3 files\n4 lines",
    ] {
        assert_eq!(out.matches(text).count(), 1, "{text:?} in {out}");
    }
}

#[test]
fn a_sub_agents_headings_are_deeper() {
    let mut writer = writer_in_utc().nested();
    let out = written(&[turn(1, prompt("Look"))], &mut writer);
    assert!(out.starts_with("#### Prompt 1\n"), "{out}");
    let mut deep = writer.nested().nested().nested();
    let out = written(&[turn(1, prompt("Look"))], &mut deep);
    assert!(out.starts_with("###### Prompt 1\n"), "{out}");
}

#[test]
fn the_header_has_the_title_unless_it_is_the_prompt() {
    let mut session = session();
    for (title, prompt, expected) in [
        (Some("Fix <b>"), Some("Please fix it"), r"# Fix \<b\>"),
        (Some("Fix it"), Some("Fix it\n"), "# Session in shop"),
        (Some("Fix it"), Some("Fix it\nand more"), "# Fix it"),
        (None, None, "# Session in shop"),
    ] {
        session.title = title.map(str::to_owned);
        let mut out = String::new();
        let writer = writer_in_utc();
        writer
            .header(&session, prompt, Some("$1.20"), &mut out)
            .unwrap();
        assert_eq!(out.lines().next(), Some(expected));
        assert!(out.contains("\n- Files: 2 changed, +3 -12\n"), "{out}");
        assert!(out.contains("\n- Cost: $1.20\n"), "{out}");
    }
    session.started = None;
    let mut out = String::new();
    writer_in_utc()
        .header(&session, None, None, &mut out)
        .unwrap();
    assert!(out.contains("- Started: time unknown\n"), "{out}");
}

#[test]
fn times_are_those_of_a_zone() {
    let india = "+05:30".parse().unwrap();
    let writer = MarkdownWriter::new().with_zone(india);
    let mut out = String::new();
    writer.header(&session(), None, None, &mut out).unwrap();
    let nested = writer.nested();
    let turns = conversation();
    out.push_str(&written(&turns, &mut nested.clone()));
    let times = out.matches(" +05:30").count();
    assert!(times > 3, "{out}");
    assert!(!out.contains("Z\n"), "{out}");
}

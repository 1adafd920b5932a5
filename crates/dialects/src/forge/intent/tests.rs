//! Intents as their files have them.

use super::*;
use crate::forge::render;

const FULL: &str = "\
title: ログイン画面にパスワードリセットリンクを追加する。
body: |
  現状ではパスワードを忘れたユーザーがリセットする手段がない。

  - リンクは #login の下
source: human
type: feature
risk: med
status: approved
parent: account-recovery
created_at: 2025-02-30T25:61:00+09:00
labels:
  - ui
  - auth
clarifications:
  - question: メールの送信元は?
    answer: no-reply@example.com
    asked_by: analyze
  - question: 有効期限は?
depends_on:
  - send-mail
  - '012'
priority: 010
reviewers: [佐藤, ~, yes]
meta:
  due: 2025-03-01
  \"quoted\": '1.0'
";

fn read_ok(text: &str) -> ForgeIntent {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> ForgeError {
    read(text).unwrap_err()
}

fn with(line: &str) -> String {
    format!("title: a\nbody: b\nsource: human\n{line}\n")
}

#[test]
fn title_body_and_source_are_required() {
    let intent = read_ok("title: a\nbody: b\nsource: human\n");
    assert_eq!((intent.title.as_str(), intent.body.as_str()), ("a", "b"));
    assert_eq!(intent.source, Source::Human);
    for (text, name) in [
        ("body: b\nsource: human", "title"),
        ("\n\ntitle: a\nsource: human", "body"),
        ("title: a\nbody: b", "source"),
        ("title: ~\nbody: b\nsource: human", "title"),
        ("title:\nbody: b\nsource: human", "title"),
    ] {
        let error = refused(text);
        let ForgeError::Missing { at } = &error else {
            panic!("{text}: {error}");
        };
        assert_eq!(at.path, name);
        assert!(at.line.is_some());
    }
}

#[test]
fn the_other_fields_are_optional_and_the_status_is_proposed_by_default() {
    let intent = read_ok("title: a\nbody: b\nsource: audit\n");
    let expected = ForgeIntent {
        title: "a".to_owned(),
        body: "b".to_owned(),
        source: Source::Audit,
        work_type: None,
        risk: None,
        status: IntentStatus::Proposed,
        parent: None,
        created_at: None,
        labels: vec![],
        clarifications: vec![],
        depends_on: vec![],
        extra: Extra::default(),
    };
    assert_eq!(intent, expected);
    let nulls = "type: ~\nrisk:\nstatus: null\nparent:\nlabels:\nclarifications: ~\ndepends_on:";
    assert_eq!(read_ok(&(with(nulls) + "")).extra, Extra::default());
}

#[test]
fn an_intent_is_read_with_everything_that_it_may_have() {
    let intent = read_ok(FULL);
    assert_eq!(
        intent.title,
        "ログイン画面にパスワードリセットリンクを追加する。"
    );
    assert!(intent.body.ends_with("#login の下\n"));
    assert_eq!(intent.work_type, Some(WorkType::Feature));
    assert_eq!(intent.risk, Some(Risk::Med));
    assert_eq!(intent.status, IntentStatus::Approved);
    assert_eq!(intent.parent.as_deref(), Some("account-recovery"));
    assert_eq!(intent.labels, ["ui", "auth"]);
    assert_eq!(intent.depends_on, ["send-mail", "012"]);
    let [asked, open] = &intent.clarifications[..] else {
        panic!("{:?}", intent.clarifications);
    };
    assert_eq!(asked.answer.as_deref(), Some("no-reply@example.com"));
    assert!(asked.extra.get("asked_by").is_some());
    assert_eq!(
        (open.question.as_str(), open.is_answered()),
        ("有効期限は?", false)
    );
}

#[test]
fn created_at_is_kept_as_it_stands() {
    let kept = read_ok(FULL).created_at;
    assert_eq!(kept.as_deref(), Some("2025-02-30T25:61:00+09:00"));
}

#[test]
fn unknown_keys_are_kept() {
    let intent = read_ok(FULL);
    let names: Vec<&str> = intent.extra.0.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(names, ["priority", "reviewers", "meta"]);
    let text = render::intent(&intent);
    for line in [
        "priority: 010",
        "  - ~",
        "  - yes",
        "  due: 2025-03-01",
        "  quoted: \"1.0\"",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}: {text}");
    }
}

#[test]
fn reading_what_was_written_gives_the_same_intent() {
    for text in [
        FULL.to_owned(),
        FULL.replace('\n', "\r\n"),
        format!("\u{feff}{FULL}"),
    ] {
        let intent = read_ok(&text);
        assert_eq!(intent, read_ok(FULL));
        assert_eq!(read_ok(&render::intent(&intent)), intent);
    }
}

#[test]
fn scalars_without_quotes_keep_their_spelling_in_a_text() {
    for text in [
        "2024-01-01",
        "yes",
        "012",
        "1e3",
        "true",
        "1.0",
        "0x1F",
        "1_000",
    ] {
        let intent = read_ok(&format!("title: {text}\nbody: '{text}'\nsource: human\n"));
        assert_eq!((intent.title.as_str(), intent.body.as_str()), (text, text));
        assert_eq!(read_ok(&render::intent(&intent)), intent);
    }
    let quoted = read_ok("title: '~'\nbody: \"null\"\nsource: human\n");
    assert_eq!((quoted.title.as_str(), quoted.body.as_str()), ("~", "null"));
}

#[test]
fn every_word_of_document_004_is_read() {
    for it in WorkType::LISTED {
        let read = read_ok(&with(&format!("type: {}", it.as_str())));
        assert_eq!(read.work_type.as_ref(), Some(it));
    }
    let read = read_ok(&with("type: feeture"));
    assert_eq!(read.work_type, Some(WorkType::Other("feeture".into())));
    for it in Risk::ALL {
        assert_eq!(
            read_ok(&with(&format!("risk: {}", it.as_str()))).risk,
            Some(*it)
        );
    }
    for it in IntentStatus::ALL {
        assert_eq!(
            read_ok(&with(&format!("status: {}", it.as_str()))).status,
            *it
        );
    }
    for it in Source::ALL {
        let text = format!("title: a\nbody: b\nsource: {}\n", it.as_str());
        assert_eq!(read_ok(&text).source, *it);
    }
}

#[test]
fn an_unknown_word_is_named_with_its_field_line_and_the_words_there_are() {
    let error = refused(&with("type: Feature"));
    let expected = ForgeError::Word {
        at: Place {
            line: Some(4),
            path: "type".to_owned(),
        },
        word: "Feature".to_owned(),
        known: vec![
            "feature",
            "refactor",
            "fix",
            "test",
            "audit",
            "any other word",
        ],
        nearest: Some("feature".to_owned()),
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "invalid type \"Feature\": expected one of feature, refactor, fix, test, audit, any other \
         word; did you mean \"feature\"?"
    );
    for (line, nearest) in [
        ("risk: medium", Some("med")),
        ("risk: Hihg", Some("high")),
        ("risk: severe", None),
        ("status: aproved", Some("approved")),
        ("status: canceled", Some("cancelled")),
        ("type: ' '", None),
    ] {
        let error = refused(&with(line));
        let ForgeError::Word { nearest: found, .. } = &error else {
            panic!("{line}: {error}");
        };
        assert_eq!(found.as_deref(), nearest, "{line}");
        assert_eq!(error.line(), Some(4));
    }
}

#[test]
fn a_value_of_another_type_is_named() {
    for (line, path, expected, found) in [
        ("parent: [a]", "parent", "a text", "a list"),
        ("created_at: {a: 1}", "created_at", "a text", "a mapping"),
        ("depends_on: a", "depends_on", "a list", "a text"),
        ("depends_on: [a, [b]]", "depends_on[1]", "a text", "a list"),
        ("depends_on: [~]", "depends_on[0]", "a text", "null"),
        ("labels: {a: 1}", "labels", "a list", "a mapping"),
        ("clarifications: a", "clarifications", "a list", "a text"),
        (
            "clarifications: [a]",
            "clarifications[0]",
            "a mapping",
            "a text",
        ),
        ("risk: [low]", "risk", "a text", "a list"),
    ] {
        let error = refused(&with(line));
        let ForgeError::Type {
            at,
            expected: wanted,
            found: is,
            ..
        } = &error
        else {
            panic!("{line}: {error}");
        };
        assert_eq!((at.path.as_str(), *wanted, *is), (path, expected, found));
        assert_eq!(at.line, Some(4), "{line}");
    }
    let error = refused("title: [a]\nbody: b\nsource: human");
    assert!(
        error
            .to_string()
            .starts_with("title: expected a text, found a list; ")
    );
    let error = refused("- title: a\n");
    assert!(
        error
            .to_string()
            .starts_with("the file: expected a mapping, found a list")
    );
    assert!(matches!(refused("only text"), ForgeError::Type { .. }));
}

#[test]
fn blank_names_are_refused() {
    for text in [
        "title: ''\nbody: b\nsource: human",
        "title: '  '\nbody: b\nsource: human",
        "title: a\nbody: b\nsource: human\nlabels: ['']",
        "title: a\nbody: b\nsource: human\nclarifications: [{question: ' '}]",
        "title: a\nbody: b\nsource: human\nparent: ''",
    ] {
        assert!(matches!(refused(text), ForgeError::Blank { .. }), "{text}");
    }
}

#[test]
fn an_empty_file_and_a_key_that_stands_twice_are_refused() {
    for text in ["", "# nothing\n", "---\n"] {
        assert!(
            matches!(refused(text), ForgeError::Empty { .. }),
            "{text:?}"
        );
    }
    let error = refused("title: a\nbody: b\nsource: human\ntitle: c\n");
    assert_eq!(error.line(), Some(4));
    assert!(error.to_string().contains("`title`"), "{error}");
    let nested = refused(&with("mine: {a: 1, a: 2}"));
    assert!(matches!(nested, ForgeError::DuplicateKey { .. }));
}

#[test]
fn labels_may_be_one_word() {
    assert_eq!(read_ok(&with("labels: ui")).labels, ["ui"]);
    let error = refused(&with("labels: ui, auth"));
    assert!(matches!(error, ForgeError::CommaLabels { .. }), "{error}");
}

#[test]
fn some_clarification_without_an_answer_is_needed() {
    let asked = |answer| {
        let text = format!("clarifications: [{{question: q{answer}}}, {{question: r, answer: a}}]");
        read_ok(&with(&text)).needs_clarification()
    };
    assert!(asked(""));
    assert!(asked(", answer: ~"));
    assert!(asked(", answer: ' '"));
    assert!(!asked(", answer: no"));
    assert!(!read_ok(&with("")).needs_clarification());
}

//! Drafts as people write them.

use super::*;

/// Forge's example.
const EXAMPLE: &str = "\
---
type: feature
labels: [ui, auth]
---

ログイン画面にパスワードリセットリンクを追加する。

現状ではパスワードを忘れたユーザーがリセットする手段がない。
";

fn read_ok(text: &str) -> ForgeDraft {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> ForgeError {
    read(text).unwrap_err()
}

#[test]
fn document_004s_example_is_read() {
    let draft = read_ok(EXAMPLE);
    let expected = ForgeDraft {
        title: "ログイン画面にパスワードリセットリンクを追加する。".to_owned(),
        body: "現状ではパスワードを忘れたユーザーがリセットする手段がない。\n".to_owned(),
        work_type: Some(WorkType::Feature),
        labels: vec!["ui".to_owned(), "auth".to_owned()],
        risk: None,
    };
    assert_eq!(draft, expected);
}

#[test]
fn lf_and_crlf_and_a_byte_order_mark_make_no_difference() {
    let crlf = EXAMPLE.replace('\n', "\r\n");
    for text in [
        &crlf,
        &format!("\u{feff}{EXAMPLE}"),
        &format!("\u{feff}{crlf}"),
    ] {
        assert_eq!(read_ok(text), read_ok(EXAMPLE));
    }
}

#[test]
fn frontmatter_is_optional() {
    let draft = read_ok("Add a link\n\nUsers ask for it.\n");
    assert_eq!(
        (draft.title.as_str(), draft.body.as_str()),
        ("Add a link", "Users ask for it.\n")
    );
    assert_eq!(
        (draft.work_type, draft.risk, draft.labels.len()),
        (None, None, 0)
    );
    for text in [
        "---\n---\na\n\nb",
        "--- \n\n---  \na\n\nb",
        "\n\n---\n# none\n---\na\n\nb",
    ] {
        assert_eq!(read_ok(text).body, "b", "{text:?}");
    }
}

#[test]
fn the_risk_is_read_too_and_unknown_keys_are_ignored() {
    let draft = read_ok("---\nrisk: high\nauthor: {a: 1}\nlabels: ui\n---\na\n\nb");
    assert_eq!(draft.risk, Some(Risk::High));
    assert_eq!(draft.labels, ["ui"]);
}

#[test]
fn a_heading_is_a_title_without_its_marks() {
    for (text, title, body) in [
        ("# Add a link\n\nUsers ask.\n", "Add a link", "Users ask.\n"),
        ("\n## Add a link ##\nUsers ask.", "Add a link", "Users ask."),
        ("---\nrisk: low\n---\n#\tリンクを足す", "リンクを足す", ""),
        ("# Use C#\n\nb", "Use C#", "b"),
        // What is no heading stays as it is.
        ("#1 is broken\n\nb", "#1 is broken", "b"),
        ("####### a\n\nb", "####### a", "b"),
        ("#\n\nb", "#", "b"),
        ("Add a link\n# and more\n\nb", "Add a link\n# and more", "b"),
    ] {
        let draft = read_ok(text);
        assert_eq!(
            (draft.title.as_str(), draft.body.as_str()),
            (title, body),
            "{text:?}"
        );
    }
}

#[test]
fn the_title_is_the_text_up_to_the_first_blank_line_and_the_rest_is_the_body() {
    let draft = read_ok("\n\nA title that\ngoes on\n \t\n\n    code\n\n---\nmore\n\n");
    assert_eq!(draft.title, "A title that\ngoes on");
    assert_eq!(draft.body, "    code\n\n---\nmore\n\n");
}

#[test]
fn unclosed_frontmatter_is_refused() {
    for (text, line) in [
        ("---\ntype: fix\n\na\n\nb\n", 1),
        ("---", 1),
        ("\n\n---\na\n\nb", 3),
    ] {
        assert_eq!(
            refused(text),
            ForgeError::UnclosedFrontmatter { line },
            "{text:?}"
        );
    }
}

#[test]
fn invalid_frontmatter_is_refused() {
    for (text, line) in [
        ("---\ntype: [fix\n---\na\n\nb\n", None),
        ("---\njust text\n---\na\n\nb\n", Some(2)),
        ("---\n- type\n---\na\n\nb\n", Some(2)),
        ("\n---\ntype: fix\n\nlabels: {a: 1}\n---\na\n\nb\n", Some(5)),
        ("---\ntype: fix\ntype: fix\n---\na\n\nb\n", Some(3)),
        ("---\ntype: &x fix\n---\na\n\nb\n", Some(2)),
        ("---\nlabels: ui, auth\n---\na\n\nb\n", Some(2)),
        ("---\ntype: [fix]\n---\na\n\nb\n", Some(2)),
        ("---\na: 1\n\tb: 2\n---\na\n\nb\n", Some(3)),
    ] {
        let error = refused(text);
        assert!(
            matches!(error, ForgeError::InvalidFrontmatter { .. }),
            "{text:?}: {error}"
        );
        assert!(error.to_string().starts_with("invalid frontmatter: "));
        if text.contains("type: fix\ntype") {
            assert!(error.to_string().contains("first is in line 2"), "{error}");
        }
        if line.is_some() {
            assert_eq!(error.line(), line, "{text:?}: {error}");
        }
    }
}

#[test]
fn a_type_in_other_letters_and_a_risk_spelled_wrong_are_refused_with_their_lines() {
    let error = refused("---\nlabels: [a]\ntype: FIX\n---\na\n\nb\n");
    assert!(matches!(&error, ForgeError::Word { word, .. } if word == "FIX"));
    assert_eq!(error.line(), Some(3));
    let error = refused("\r\n---\r\nrisk: hgih\r\n---\r\na\r\n\r\nb\r\n");
    assert_eq!(error.line(), Some(3));
    let said = "invalid risk \"hgih\": expected one of low, med, high; did you mean \"high\"?";
    assert_eq!(error.to_string(), said);
}

#[test]
fn a_draft_that_says_nothing_is_refused() {
    for (text, line) in [
        ("", 1),
        ("\n\n", 2),
        ("---\ntype: fix\n---\n", 3),
        ("\u{3000}\n", 1),
    ] {
        assert_eq!(refused(text), ForgeError::EmptyDraft { line }, "{text:?}");
    }
}

#[test]
fn a_draft_of_one_line_is_its_title() {
    for (text, title) in [
        ("only a title\n", "only a title"),
        ("a title\nof two lines", "a title\nof two lines"),
        ("a title\n\n \n\t\n", "a title"),
        ("---\ntype: fix\n---\na title\n", "a title"),
        ("a\u{3000}\n\u{3000}\n", "a"),
    ] {
        let draft = read(text).unwrap();
        assert_eq!(
            (draft.title.as_str(), draft.body.as_str()),
            (title, ""),
            "{text:?}"
        );
    }
}

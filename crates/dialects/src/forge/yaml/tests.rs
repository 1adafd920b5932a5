//! What YAML is read, and what is refused of it.

use super::*;
use crate::forge::data::Data;

fn data(text: &str) -> Read<Option<Data>> {
    read(text)?.map(Node::into_data).transpose()
}

fn one(text: &str) -> Data {
    data(text).unwrap().unwrap()
}

fn refused(text: &str) -> ForgeError {
    data(text).unwrap_err()
}

fn bare(text: &str) -> Data {
    Data::Scalar(Scalar::Bare(text.to_owned()))
}

fn key(text: &str) -> Scalar {
    Scalar::Text(text.to_owned())
}

#[test]
fn keys_keep_their_order_and_scalars_their_spelling() {
    let map = one("b: 012\na: '012'\nc: [2024-01-01, yes, ~, 1e3, word]\n");
    let list = vec![
        bare("2024-01-01"),
        bare("yes"),
        bare("~"),
        bare("1e3"),
        Data::text("word"),
    ];
    let expected = vec![
        (key("b"), bare("012")),
        (key("a"), Data::text("012")),
        (key("c"), Data::List(list)),
    ];
    assert_eq!(map, Data::Map(expected));
}

#[test]
fn every_node_has_its_line() {
    let Value::Map(entries) = read("# a\na: 1\nb:\n  - x\n\n  - y\n")
        .unwrap()
        .unwrap()
        .value
    else {
        panic!("no mapping");
    };
    let lines: Vec<_> = entries.iter().map(|entry| entry.value.line).collect();
    assert_eq!(lines, [Some(2), Some(4)]);
    let Value::List(items) = &entries[1].value.value else {
        panic!("no list");
    };
    let lines: Vec<_> = items.iter().map(|item| item.line).collect();
    assert_eq!(lines, [Some(4), Some(6)]);
}

#[test]
fn line_ends_and_a_byte_order_mark_make_no_difference() {
    let lf = one("a: |\n  x\n  y\nb: 1\n");
    assert_eq!(one("\u{feff}a: |\r\n  x\r\n  y\r\nb: 1\r\n"), lf);
}

#[test]
fn an_empty_document_is_nothing() {
    for text in [
        "",
        "\n\n",
        "# nothing\n",
        "---\n",
        "~",
        "null\n",
        "\u{feff}",
        "  ",
        "\t\n",
    ] {
        assert_eq!(data(text), Ok(None), "{text:?}");
    }
}

#[test]
fn invalid_yaml_is_refused_with_its_line() {
    for (text, line) in [
        ("a: 1\nb: [1, 2\nc: 3\n", 2),
        ("a: 'x\n", 1),
        ("a: 1\nb: c: d\n", 2),
        ("a: 1\n- b\n", 2),
        ("a: \u{7}\n", 1),
        ("a: `x`\n", 1),
    ] {
        let error = refused(text);
        assert!(
            matches!(error, ForgeError::Syntax { .. }),
            "{text:?}: {error}"
        );
        let found = error.line().unwrap();
        assert!(
            (line..=line + 2).contains(&found),
            "{text:?}: line {found}: {error}"
        );
    }
}

#[test]
fn tabs_as_indentation_are_refused_with_their_line() {
    for text in [
        "a: 1\n\tb: 2\n",
        "a:\n\t- 1\n",
        "-\ta: 1\n\tb: 2\n",
        "a: |\n\tx\n",
    ] {
        let error = refused(text);
        assert_eq!(error, ForgeError::Tab { line: 2 }, "{text:?}: {error}");
    }
    assert_eq!(one("a:\tb"), Data::Map(vec![(key("a"), Data::text("b"))]));
}

#[test]
fn several_documents_are_refused() {
    let refused = refused("a: 1\n---\nb: 2\n");
    assert_eq!(refused, ForgeError::SeveralDocuments { line: 2 });
    assert!(data("---\na: 1\n...\n").is_ok());
}

#[test]
fn a_duplicate_key_is_refused() {
    let expected = ForgeError::DuplicateKey {
        line: Some(3),
        first: Some(1),
        key: "a".to_owned(),
    };
    assert_eq!(refused("a: 1\nb: 2\na: 3\n"), expected);
    assert!(expected.to_string().contains("the first is in line 1"));
    assert!(matches!(
        refused("x: [{a: 1, 'a': 2}]"),
        ForgeError::DuplicateKey { .. }
    ));
}

#[test]
fn a_key_that_is_not_a_text_is_refused() {
    let found = "a list";
    assert_eq!(
        refused("? [a]\n: 1\n"),
        ForgeError::KeyNotText { line: 1, found }
    );
    let found = "a mapping";
    assert_eq!(
        refused("b: 1\n{a: 1}: 2\n"),
        ForgeError::KeyNotText { line: 2, found }
    );
}

#[test]
fn anchors_and_aliases_are_refused() {
    for text in [
        "a: &x 1\n",
        "a: *x\n",
        "a: &x [1]\n",
        "b: 1\na: &x {c: 1}\n",
        "&x a: 1",
    ] {
        let error = refused(text);
        assert!(
            matches!(error, ForgeError::Reference { .. }),
            "{text:?}: {error}"
        );
    }
}

#[test]
fn an_alias_bomb_does_not_go_off() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..100 {
        let below = format!("*a{},", level - 1).repeat(9);
        bomb += &format!("a{level}: &a{level} [{below}]\n");
    }
    assert_eq!(refused(&bomb), ForgeError::Reference { line: 1 });
}

#[test]
fn tags_that_say_what_is_there_anyway_are_read() {
    assert_eq!(one("!!str 012"), Data::text("012"));
    assert_eq!(one("! 012"), Data::text("012"));
    assert_eq!(one("!!seq [!!map {}]"), Data::List(vec![Data::Map(vec![])]));
    for (text, tag) in [
        ("!!int 5", "!!int"),
        ("!mine x", "!mine"),
        ("!!set {a}", "!!set"),
    ] {
        let tag = tag.to_owned();
        assert_eq!(refused(text), ForgeError::Tag { line: 1, tag });
    }
}

#[test]
fn deep_nesting_is_refused_and_uses_up_no_stack() {
    let within = format!("{}{}", "[".repeat(MOST_NESTING), "]".repeat(MOST_NESTING));
    assert!(data(&within).is_ok());
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("[", "")] {
        let deep = format!("{}{}", open.repeat(10_000), close.repeat(10_000));
        let error = refused(&deep);
        assert!(
            matches!(error, ForgeError::TooDeep { .. }),
            "{open:?}: {error}"
        );
    }
    let block: String = (0..1_000)
        .map(|level| format!("{}a:\n", " ".repeat(level)))
        .collect();
    assert!(matches!(
        refused(&block),
        ForgeError::TooDeep {
            line: Some(129),
            ..
        }
    ));
}

#[test]
fn a_file_of_10_mb_is_refused() {
    let text = "a".repeat(10_000_000);
    assert!(matches!(
        refused(&text),
        ForgeError::TooLarge {
            bytes: 10_000_000,
            ..
        }
    ));
}

mod any_text {
    use proptest::prelude::*;

    use super::super::read;

    proptest! {
        /// No text makes the reader panic or go on for ever.
        #[test]
        fn is_read_or_refused(text in any::<String>()) {
            let _ = read(&text);
        }

        #[test]
        fn of_yaml_signs_is_read_or_refused(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "a", "b: ", "- ", "? ", ": ", "\n", "  ", "\t", "[", "]", "{", "}", ",", " #",
                    "&a ", "*a", "!t ", "|\n", ">-\n", "'", "\"", "\\", "%Y", "---", "...", "\r",
                    "\u{feff}", "\u{85}", "日",
                ]),
                0..40,
            ),
        ) {
            let _ = read(&pieces.concat()).map(|node| node.map(|node| node.into_data()));
        }
    }
}

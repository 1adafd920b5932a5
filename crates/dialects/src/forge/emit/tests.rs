//! What is written reads back as the same data.

use proptest::prelude::*;

use super::*;
use crate::forge::yaml;

fn read(text: &str) -> Data {
    let node = yaml::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    node.unwrap_or_else(|| panic!("nothing: {text}"))
        .into_data()
        .unwrap()
}

/// In a mapping, in a list, as a key and inside both.
fn around(text: &str) -> Data {
    let pair = |value| (Scalar::Text("k".to_owned()), value);
    let scalar = || Data::text(text);
    Data::Map(vec![
        pair(scalar()),
        (
            Scalar::Text("list".to_owned()),
            Data::List(vec![scalar(), scalar()]),
        ),
        (
            Scalar::Text("deep".to_owned()),
            Data::List(vec![
                Data::Map(vec![
                    pair(scalar()),
                    (Scalar::Text(text.to_owned() + "?"), scalar()),
                ]),
                Data::List(vec![Data::List(vec![scalar()]), scalar()]),
            ]),
        ),
        (Scalar::Text("last".to_owned()), scalar()),
    ])
}

fn check(data: &Data) {
    let text = document(data);
    assert_eq!(read(&text), *data, "{text}");
    assert_eq!(document(&read(&text)), text);
}

#[test]
fn odd_texts_are_read_as_they_were() {
    for text in [
        "",
        " ",
        "  leading",
        "trailing ",
        "# no comment",
        "a # b",
        "a: b",
        "a:",
        ":",
        "- a",
        "-",
        "---",
        "...",
        "? a",
        "a\n",
        "a\n\n",
        "\na",
        "a\nb",
        "a\n\nb\n",
        "a\r\nb\r\n",
        "a\rb",
        "\ta",
        "a\tb",
        "a\n\tb",
        "a\n  b\n c",
        "a\n   \nb",
        "a\n \n",
        "🚀",
        "日本語",
        "日本\n語\n",
        "a\u{2028}b",
        "a\u{2029}b\nc",
        "a\u{85}b",
        "\u{0}\u{1}\u{7}\u{1b}\u{7f}\u{9f}",
        "\u{feff}a",
        "a\u{feff}\nb",
        "true",
        "True",
        "null",
        "~",
        "yes",
        "NO",
        "on",
        "y",
        "1.0",
        "012",
        "0x1F",
        "1e3",
        "2024-01-01",
        ".inf",
        ".nan",
        "<<",
        "=",
        "190:20:30",
        "1_000",
        "'",
        "\"",
        "\\",
        "\\n",
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a`",
        "|",
        ">",
        "[a",
        "{a",
        "]",
        "}",
        ",",
        "a, b",
        "a]",
        "# a\n# b",
        "- a\n- b",
        "---\na",
        "a\n---\nb",
        "a\n...\nb",
        "\u{fffe}",
        "\u{1fffe}",
        "\u{10ffff}",
        "\u{e000}",
        "\u{200b}",
        "\u{202e}x",
        "a\u{a0}",
        "\u{3000}a\nb\u{3000}",
        "👩\u{200d}👩",
        "ok\n\n\nok\n",
        "null\nx",
        "x \ny \n",
        "key: |\n  x\n",
    ] {
        check(&around(text));
        check(&Data::text(text));
    }
}

#[test]
fn texts_of_several_lines_are_written_as_they_are() {
    let map = Data::Map(vec![
        (Scalar::Text("a".to_owned()), Data::text("題\n\n本文: #1\n")),
        (Scalar::Text("b".to_owned()), Data::text("x\n  y")),
        (Scalar::Text("c".to_owned()), Data::List(vec![])),
    ]);
    let text = "a: |\n  題\n\n  本文: #1\nb: |-\n  x\n    y\nc: []\n";
    assert_eq!(document(&map), text);
}

#[test]
fn bare_scalars_keep_their_spelling() {
    let text = "a: 012\nb: 1e3\nc: 2024-01-01 10:00:00 +09:00\nd: .5\ne: ~\nf:\n  - yes\n  - ~\n  \
                - 123456789012345678901234567890\n~: 1\n";
    assert_eq!(document(&read(text)), text);
}

#[test]
fn a_long_key_is_read_as_it_was() {
    let key = "\u{1}".repeat(600);
    let inner = Data::Map(vec![(Scalar::Text(key.clone()), Data::text("a\nb"))]);
    check(&Data::Map(vec![
        (Scalar::Text(key), Data::List(vec![inner.clone()])),
        (Scalar::Text("b".repeat(2_000)), inner),
    ]));
}

#[test]
fn collections_with_nothing_in_them_are_read_as_they_were() {
    for data in [Data::List(vec![]), Data::Map(vec![])] {
        check(&data);
        check(&Data::List(vec![
            data.clone(),
            Data::List(vec![data.clone()]),
        ]));
        check(&Data::Map(vec![(Scalar::Text("a".to_owned()), data)]));
    }
}

/// Scalars as the readers give them.
fn scalars() -> impl Strategy<Value = Scalar> {
    let signs = "[ a-c0-2:#\\-?|>~.'\"\\\\\\n\\r\\t,\\[\\]{}&*!%@`\u{85}\u{2028}é日\u{7}]{0,12}";
    prop_oneof![
        signs.prop_map(Scalar::Text),
        any::<String>().prop_map(Scalar::Text),
        "[0-9.+:_~=<-]{0,6}"
            .prop_map(|it| if it.starts_with("..") { it + "1" } else { it })
            .prop_map(Scalar::bare),
    ]
}

fn any_data() -> impl Strategy<Value = Data> {
    let leaf = scalars().prop_map(Data::Scalar);
    leaf.prop_recursive(4, 24, 5, |inner| {
        let pairs = prop::collection::vec((scalars(), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Data::List),
            pairs.prop_map(|mut pairs| {
                let mut seen = std::collections::HashSet::new();
                pairs.retain(|(key, _)| seen.insert(key.as_str().to_owned()));
                Data::Map(pairs)
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text_is_read_as_it_was(text in any::<String>()) {
        check(&around(&text));
    }

    #[test]
    fn any_text_of_odd_signs_is_read_as_it_was(
        text in "[ a:#\\-?|>~'\"\\\\\\n\\r\\t,\\[{&*!%@`\u{85}\u{2028}\u{feff}日]{0,16}",
    ) {
        check(&around(&text));
    }

    #[test]
    fn any_data_is_read_as_it_was(data in any_data()) {
        let is_null = matches!(&data, Data::Scalar(scalar) if scalar.is_null());
        prop_assume!(!is_null);
        check(&data);
    }
}

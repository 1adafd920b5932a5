//! How a file is cut into its objects, and what is said of a broken one.

use std::io::{self, BufReader, Read};

use annals_dialects::contracts::{TextError, Texts};
use annals_event_log::Classified;

/// Line and text of each object, or what is wrong with it.
fn texts(file: impl AsRef<[u8]>) -> Vec<(u64, String)> {
    // A small buffer, so that objects span several of its fillings.
    let reader = BufReader::with_capacity(3, file.as_ref());
    let texts = Texts::with_limit(reader, 60).enumerate();
    texts
        .map(|(index, text)| {
            assert_eq!(text.index, index as u64);
            let said = text.text.unwrap_or_else(|error| format!("! {error}"));
            (text.line, said)
        })
        .collect()
}

fn at(line: u64, text: &str) -> (u64, String) {
    (line, text.to_owned())
}

#[test]
fn lines_arrays_and_sequences_are_read() {
    let lines = [at(1, "{\"a\":1}"), at(3, "{\"b\":[2]}")];
    assert_eq!(texts("{\"a\":1}\n\n{\"b\":[2]}"), lines);
    assert_eq!(texts("\u{feff}{\"a\":1}\r\n\r\n{\"b\":[2]}\r\n"), lines);
    let pretty = "{\n  \"a\": 1\n}";
    let two = [at(1, pretty), at(4, pretty)];
    assert_eq!(texts(format!("{pretty}\n{pretty}\n")), two);
    let close = [at(1, pretty), at(3, pretty)];
    assert_eq!(texts(format!("{pretty}{pretty}")), close);
    let array = [at(2, "{\"a\":1}"), at(3, "{\"b\":[2]}")];
    assert_eq!(texts("[\n{\"a\":1},\n{\"b\":[2]}]\n"), array);
    assert_eq!(
        texts("[\n  {\"a\":1}\n  ,\n {\"b\":\"]\"}]")[1],
        at(4, "{\"b\":\"]\"}")
    );
    for empty in ["", " \n", "[]", " [ ] ", "\u{feff}"] {
        assert_eq!(texts(empty), [], "{empty:?}");
    }
}

#[test]
fn brackets_in_strings_do_not_count() {
    for text in [
        r#"{"a":"}{"}"#,
        r#"{"a":"\"}"}"#,
        r#"{"a":"\\"}"#,
        r#"{"a":"\\\"]"}"#,
        r#"{"[":"{,"}"#,
    ] {
        assert_eq!(texts(format!("{text}\n{text}")), [at(1, text), at(2, text)]);
        assert_eq!(
            texts(format!("[{text},{text}]")),
            [at(1, text), at(1, text)]
        );
    }
}

#[test]
fn a_broken_object_does_not_lose_the_rest() {
    let good = "{\"a\":1}";
    for broken in [
        "{\"a\":{\"b\":1}",
        "{\"a\":\"b",
        "{\"a\":\"b\\",
        "{\"a\":[1,2}",
        "nonsense",
        "\"text\"",
        "5,6",
        "}",
        "[1]",
    ] {
        let file = format!("{good}\n{broken}\n{good}\n");
        let expected = [at(1, good), at(2, broken), at(3, good)];
        assert_eq!(texts(file), expected, "{broken}");
    }
    let unfinished = "{\n  \"a\": 1,";
    let file = format!("{good}\n{unfinished}\n{good}\n");
    assert_eq!(texts(file), [at(1, good), at(2, unfinished), at(4, good)]);
    assert_eq!(
        texts(format!("{good} x\n{good}")),
        [at(1, good), at(1, "x"), at(2, good)]
    );
    assert_eq!(
        texts("[{\"a\":\"b\n},{}]"),
        [at(1, "{\"a\":\"b\n}"), at(2, "{}")]
    );
}

#[test]
fn what_is_too_long_or_no_utf8_is_skipped_alone() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(60));
    let said = "! it has more than 60 bytes, the most that is read; leave it out";
    let file = format!("{{}}\n{long}\n{{}}");
    assert_eq!(texts(file), [at(1, "{}"), at(2, said), at(3, "{}")]);
    assert_eq!(texts(format!("[{long},{{}}]")), [at(1, said), at(1, "{}")]);
    let odd = texts(b"{}\n{\"a\":\"\xff\"}\n{}");
    assert_eq!(odd[1], at(2, "! it is not UTF-8 from its byte 7 on"));
    assert_eq!(odd.len(), 3);
}

#[test]
fn an_array_must_be_one() {
    let cut = "! the array is cut off: its \"]\" is missing";
    assert_eq!(texts("[{},"), [at(1, "{}"), at(1, cut)]);
    assert_eq!(texts("["), [at(1, cut)]);
    assert_eq!(texts("[{\"a\":"), [at(1, "{\"a\":"), at(1, cut)]);
    let comma = "! invalid array: expected a comma, found something else";
    assert_eq!(texts("[{}{}]"), [at(1, "{}"), at(1, comma), at(1, "{}")]);
    let object = "! invalid array: expected an object, found a comma";
    assert_eq!(texts("[{},,{}]"), [at(1, "{}"), at(1, object), at(1, "{}")]);
    assert_eq!(texts("[,]"), [at(1, object)]);
}

#[test]
fn nothing_is_read_after_a_failure() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::TimedOut))
        }
    }
    let mut texts = Texts::new(BufReader::new(b"{}\n{\"a\"".chain(Broken)));
    assert!(texts.next().unwrap().text.is_ok());
    let failed = texts.next().unwrap();
    assert_eq!(failed.line, 2);
    let error = failed.text.unwrap_err();
    assert!(matches!(error, TextError::Unreadable(_)) && error.is_retryable());
    assert!(texts.next().is_none());
}

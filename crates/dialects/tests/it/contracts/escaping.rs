//! Which characters are escaped, class by class.

use annals_dialects::contracts::{Style, read, write};
use annals_domain::session::WorkspaceRef;

/// A text as it is written, without its quotation marks.
fn written(text: &str) -> String {
    let value = WorkspaceRef::new(text);
    let json = write(&value, Style::Compact).unwrap();
    assert_eq!(read::<WorkspaceRef>(&json).unwrap().value, value);
    let inner = json.strip_prefix(r#"{"path":""#).unwrap();
    inner.strip_suffix(r#""}"#).unwrap().to_owned()
}

#[test]
fn ordinary_characters_of_the_basic_plane_stand_as_they_are() {
    for text in [
        "",
        "plain text",
        "< > & ' + / ` = ~ | ^ { } [ ] % # @ ! ? $ * ( ) - _ ; : , .",
        "äöüß ÀÉ ñ ŷ",
        "Ωμέγα Жизнь עברית العربية हिन्दी ไทย",
        "漢字 かな カナ 한국어",
        "combining: e\u{301} \u{20dd}",
        "0٣४ Ⅷ ½",
        "« » “ ” ‚ ‘ — … ‰ № € ¥ © ® ™ ← ↔ ∑ ≤ ░ ♥ \u{fffd}",
        "\u{ff08}\u{ff21}\u{ff09}",
    ] {
        assert_eq!(written(text), text);
    }
}

#[test]
fn what_json_escapes_has_its_short_form() {
    for (text, expected) in [
        ("\"", "\\\""),
        ("\\", "\\\\"),
        ("\u{8}", "\\b"),
        ("\t", "\\t"),
        ("\n", "\\n"),
        ("\u{c}", "\\f"),
        ("\r", "\\r"),
        ("a\r\nb", "a\\r\\nb"),
        ("C:\\new\\table", "C:\\\\new\\\\table"),
    ] {
        assert_eq!(written(text), expected);
    }
}

#[test]
fn what_has_no_shape_is_escaped() {
    for (class, c) in [
        ("control", '\0'),
        ("control", '\u{b}'),
        ("control", '\u{1f}'),
        ("control", '\u{7f}'),
        ("control", '\u{80}'),
        ("control", '\u{9f}'),
        ("format", '\u{ad}'),
        ("format", '\u{61c}'),
        ("format", '\u{200b}'),
        ("format", '\u{200d}'),
        ("format", '\u{202e}'),
        ("format", '\u{2060}'),
        ("format", '\u{feff}'),
        ("unassigned", '\u{378}'),
        ("unassigned", '\u{fdd0}'),
        ("unassigned", '\u{ffff}'),
        ("private use", '\u{e000}'),
        ("private use", '\u{f8ff}'),
        ("space", '\u{a0}'),
        ("space", '\u{2003}'),
        ("space", '\u{202f}'),
        ("space", '\u{3000}'),
        ("line separator", '\u{2028}'),
        ("paragraph separator", '\u{2029}'),
    ] {
        let expected = format!("a\\u{:04X}b", u32::from(c));
        assert_eq!(written(&format!("a{c}b")), expected, "{class}");
    }
}

#[test]
fn whatever_is_beyond_the_basic_plane_is_escaped_as_a_pair() {
    for (text, expected) in [
        ("\u{10000}", r"\uD800\uDC00"),
        ("\u{1f4a9}", r"\uD83D\uDCA9"),
        ("\u{20000}", r"\uD840\uDC00"),
        ("\u{10ffff}", r"\uDBFF\uDFFF"),
        (
            "a\u{1f469}\u{200d}\u{1f680}z",
            r"a\uD83D\uDC69\u200D\uD83D\uDE80z",
        ),
    ] {
        assert_eq!(written(text), expected);
    }
}

#[test]
fn every_character_is_written_alone_or_as_one_escape() {
    for c in '\0'..=char::MAX {
        let text = written(&c.to_string());
        let expected = match text.len() {
            6 => format!("\\u{:04X}", u32::from(c)),
            12 => {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units);
                units.iter().map(|unit| format!("\\u{unit:04X}")).collect()
            }
            2 if c.is_ascii() => continue,
            _ => c.to_string(),
        };
        assert_eq!(text, expected, "U+{:04X}", u32::from(c));
    }
}

#[test]
fn keys_of_a_map_are_escaped_too_and_keep_their_letters() {
    let text = r#"{"perCommandCaps":{"Run\u00A0Tests":1,"PUSH":2,"a<b>":3}}"#;
    let limits = read::<annals_domain::session::RateLimits>(text).unwrap();
    assert_eq!(write(&limits.value, Style::Compact).unwrap(), text);
    assert_eq!(limits.unknown, []);
}

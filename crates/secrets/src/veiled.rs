//! Texts in which something is between the letters of a secret: codes of a terminal, characters
//! that are invisible, the escapes of a URL.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// What is taken out, and what is decoded: the codes of a terminal, also as programs write them; characters without a
/// shape, also as escapes of JSON, HTML and URLs; letters that a URL or HTML escapes, once or twice.
const VEIL: &str = concat!(
    r"(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))(?:\[[0-?]{0,20}[ -/]{0,2}[@-~]",
    r"|\](?-u:[^\x07\x1b\\\n]){0,200}(?:\x07|\x1b\\|\\+(?:a|u0007|x07|007|u001[bB]\\+|x1[bB]\\+|033\\+|e\\+))",
    r"|[ -/]{1,2}[0-~])",
    r"|\x1b[PX^_](?-u:[^\x1b\n]){0,200}\x1b\\|\x1b[0-9=>A-OQ-WYZ`a-z~|}]",
    r"|\x{9b}[0-?]{0,20}[ -/]{0,2}[@-~]",
    r"|[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x{2800}]--[\t\n\r\x1b]]",
    // A carriage return, unless it is a part of a line end.
    r"|\r(?Rm:^)",
    r"|\\+u(?:200[b-fB-F]|20[26][0-9a-fA-F]|[fF][eE][fF][fF]|00[aA][dD])",
    r"|&(?:#(?:820[3-7]|823[2-8]|8288|65279|173|[xX](?:200[b-fB-F]|20[26][0-9a-fA-F]|[fF][eE][fF][fF]|[aA][dD]))|shy|zwn?j);",
    r"|%[eE]2%8(?:0%(?:8[b-fB-F]|[aA][89a-eA-E])|1%[aA][0-9a-fA-F])|%[eE][fF]%[bB][bB]%[bB][fF]|%[cC]2%[aA][dD]",
    r"|%(?:25)?[2-7][0-9A-Fa-f]",
    r"|(?:&|\\+u0026)(?:amp;){0,2}(?:#0{0,5}(?:3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6])|#[xX]0{0,5}[2-7][0-9A-Fa-f]|[A-Za-z]{2,8});"
);
/// The same where JSON may escape it.
const MAY_BE: &str = concat!(
    r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x{2800}]--[\t\n\r]]",
    r"|\r(?Rm:^)|\\r(?:[^\\\x22]|\\+[^n\\\x22])",
    r"|%[2-7cCeE][0-9A-Fa-f]|&#|&shy;|&zwn?j;|\\[bf]|\\u(?:00(?:0[0-8b-fB-F]|[189][0-9a-fA-F]|7[fF]|[aA][dD])",
    r"|034[fF]|06(?:0[0-5]|1[cC]|[dD][dD])|070[fF]|08(?:9[01]|[eE]2)|115[fF]|1160|17[bB][45]|180[b-fB-F]",
    r"|20(?:0[b-fB-F]|2[89a-eA-E]|6[0-9a-fA-F])|2800|3164|[fF][eE](?:0[0-9a-fA-F]|[fF][fF])",
    r"|[fF][fF](?:[aA]0|[fF][0-9abAB])|[dD]8(?:0[4dD]|2[fF]|34)|[dD][bB]4[0-3])",
    r"|\\\\+(?:u001[bB]|x1[bB]|033|e)",
    r"|(?:&|\\u0026)[A-Za-z]{2,8};|\\u0026#"
);
/// Names of HTML for characters that secrets, and what is around them, consist of.
const ENTITIES: [(&str, u8); 39] = [
    ("AMP", b'&'),
    ("GT", b'>'),
    ("Hat", b'^'),
    ("LT", b'<'),
    ("QUOT", b'"'),
    ("UnderBar", b'_'),
    ("amp", b'&'),
    ("apos", b'\''),
    ("ast", b'*'),
    ("bsol", b'\\'),
    ("colon", b':'),
    ("comma", b','),
    ("commat", b'@'),
    ("dollar", b'$'),
    ("equals", b'='),
    ("excl", b'!'),
    ("grave", b'`'),
    ("gt", b'>'),
    ("lbrace", b'{'),
    ("lbrack", b'['),
    ("lcub", b'{'),
    ("lowbar", b'_'),
    ("lpar", b'('),
    ("lsqb", b'['),
    ("lt", b'<'),
    ("nbsp", b' '),
    ("num", b'#'),
    ("percnt", b'%'),
    ("period", b'.'),
    ("plus", b'+'),
    ("quest", b'?'),
    ("quot", b'"'),
    ("rbrace", b'}'),
    ("rbrack", b']'),
    ("rcub", b'}'),
    ("rpar", b')'),
    ("rsqb", b']'),
    ("semi", b';'),
    ("sol", b'/'),
];

// Tests make sure that these are not `None`.
static VEILS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(VEIL).ok());
static MAY_BES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(MAY_BE).ok());

/// A text without what was between its letters.
pub(super) struct Unveiled {
    pub(super) text: Vec<u8>,
    /// Behind each place where something was: the offset here and in the text as it was, and whether
    /// it was the escape of the letter before.
    behind: Vec<(usize, usize, bool)>,
}

impl Unveiled {
    /// Where the letter at an offset began.
    pub(super) fn start(&self, offset: usize) -> usize {
        let after = self.behind.partition_point(|(here, ..)| *here <= offset);
        self.raw(after, offset)
    }

    /// Where the letter before an offset ended: what came after it stays.
    pub(super) fn end(&self, offset: usize) -> usize {
        let is_before = |(here, _, is_escape): &(usize, usize, bool)| {
            *here < offset || (*here == offset && *is_escape)
        };
        self.raw(self.behind.partition_point(is_before), offset)
    }

    fn raw(&self, after: usize, offset: usize) -> usize {
        let last = after.checked_sub(1).and_then(|last| self.behind.get(last));
        let (here, raw, _) = last.copied().unwrap_or_default();
        raw + (offset - here)
    }
}

/// Whether a text, or one that its JSON escapes, may have something between its letters.
pub(super) fn may_be(text: &[u8]) -> bool {
    MAY_BES.as_ref().is_some_and(|veil| veil.is_match(text))
}

/// The text without it; nothing where there is none.
pub(super) fn unveiled(text: &[u8]) -> Option<Unveiled> {
    let found = VEILS.as_ref()?.find_iter(text);
    let mut plain = Vec::with_capacity(text.len());
    let (mut behind, mut copied) = (Vec::new(), 0);
    for veil in found {
        let Some(letter) = letter(veil.as_bytes()) else {
            continue;
        };
        plain.extend_from_slice(text.get(copied..veil.start()).unwrap_or_default());
        plain.extend(letter);
        copied = veil.end();
        behind.push((plain.len(), copied, letter.is_some()));
    }
    if behind.is_empty() {
        return None;
    }
    plain.extend_from_slice(text.get(copied..).unwrap_or_default());
    Some(Unveiled {
        text: plain,
        behind,
    })
}

/// The letter that an escape is, if it is one of a letter; nothing where it is to stay.
fn letter(veil: &[u8]) -> Option<Option<u8>> {
    let text = std::str::from_utf8(veil).unwrap_or_default();
    let hex = |digits: &str| u8::from_str_radix(digits, 16).ok();
    if let Some(digits) = text.strip_prefix('%') {
        let digits = digits
            .strip_prefix("25")
            .filter(|it| !it.is_empty())
            .unwrap_or(digits);
        return Some(hex(digits).filter(|_| digits.len() == 2));
    }
    let is_of_html = text.starts_with('&') || text.contains("u0026");
    let Some(text) = text.strip_suffix(';').filter(|_| is_of_html) else {
        return Some(None);
    };
    let name = text.rsplit(['&', ';']).next().unwrap_or_default();
    let name = name.split_once("u0026").map_or(name, |(_, name)| name);
    match name.strip_prefix('#') {
        // Others have no shape.
        Some(number) => Some(match number.strip_prefix(['x', 'X']) {
            Some(digits) => hex(digits).filter(u8::is_ascii),
            None => number.parse().ok().filter(u8::is_ascii),
        }),
        None if matches!(name, "shy" | "zwj" | "zwnj") => Some(None),
        None => {
            let named = ENTITIES.iter().find(|(it, _)| *it == name);
            named.map(|(_, letter)| Some(*letter))
        }
    }
}

#[cfg(test)]
pub(super) fn is_searchable() -> bool {
    VEILS.is_some() && MAY_BES.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Option<String> {
        let plain = unveiled(text.as_bytes())?.text;
        Some(String::from_utf8_lossy(&plain).into_owned())
    }

    #[test]
    fn codes_of_a_terminal_and_escapes_are_taken_out() {
        for veil in [
            "\x1b[0m",
            "\x1b[?25l",
            "\x1b[>4;1m",
            "\x1b[0 q",
            "\x1b(B",
            "\x1b7",
            "\x1b=",
            "\x1b]8;;http://a\x07",
            "\x1b]0;title\x1b\\",
            "\x1bPq#0\x1b\\",
            "\u{9b}1m",
            "\\u001b[0m",
            "\\033[1;31m",
            "\\u200b",
            "&#8203;",
            "&shy;",
            "&#x200B;",
            "%E2%80%8B",
            "%c2%ad",
            "\u{85}",
            "\r",
        ] {
            let text = format!("ab{veil}cd");
            assert_eq!(plain(&text).as_deref(), Some("abcd"), "{veil:?}");
            let json = serde_json::to_string(&text).unwrap();
            assert!(may_be(json.as_bytes()), "{json}");
        }
        assert_eq!(plain("a%5Fb%255Fc%2535").as_deref(), Some("a_b_c5"));
        for (text, expected) in [
            ("a&#95;b&#x5F;c&#0095;d&lowbar;e", Some("a_b_c_d_e")),
            ("&quot;a&quot;:&#34;b&#x22;", Some("\"a\":\"b\"")),
            ("a:&#x2F;&sol;b&commat;c", Some("a://b@c")),
            ("&amp;quot;a&amp;amp;#95;b", Some("\"a_b")),
            ("\\u0026quot;a\\u0026amp;#95;b", Some("\"a_b")),
            ("a&amp;b", Some("a&b")),
            ("a&copy;b&#233;c&d;", None),
        ] {
            assert_eq!(plain(text).as_deref(), expected, "{text}");
            let json = serde_json::to_string(text).unwrap();
            assert!(may_be(json.as_bytes()), "{json}");
        }
        assert_eq!(plain("\t100 % of it\r\n"), None);
        assert_eq!(plain("a\r\nb\r\n").as_deref(), None);
        assert_eq!(plain("a\rb\r\r\nc\r").as_deref(), Some("ab\r\nc"));
        for (text, expected) in [
            (r#"{"a":"b\r\nc\r\n"}"#, false),
            (r#"{"a":"{\"b\":\"c\\r\\nd\\r\\n\"}"}"#, false),
            (r#"{"a":"b\rc"}"#, true),
            (r#"{"a":"b\r\tc"}"#, true),
            (r#"{"a":"{\"b\":\"c\\rd\"}"}"#, true),
            (r#"{"a":"b\u000Dc"}"#, true),
        ] {
            assert_eq!(may_be(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn characters_that_the_terminal_hides_are_taken_out() {
        for hidden in ('\0'..=char::MAX).filter(|c| annals_terminal::is_hidden(*c)) {
            // U+009B begins a code, of which the next letter is a part.
            if matches!(hidden, '\t' | '\n' | '\x1b' | '\u{9b}') {
                continue;
            }
            let text = format!("ab{hidden}cd");
            assert_eq!(plain(&text).as_deref(), Some("abcd"), "{hidden:?}");
            let escaped = hidden
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>();
            assert!(may_be(escaped.as_bytes()), "{escaped}");
            assert!(may_be(text.as_bytes()), "{hidden:?}");
        }
    }
}

//! Texts in which something is between the letters of a secret: codes of a terminal, characters
//! that are invisible, the escapes of a URL.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// What is taken out, and what is decoded. In JSON an escape stands for the same.
const VEIL: &str = r"(?-u)(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))\[[0-9;:]{0,20}[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\xc2\xad|\xcd\x8f|\xe1(?:\x85[\x9f\xa0]|\xa0[\x8b-\x8e])|\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf)|\xf3\xa0[\x80-\xbf][\x80-\xbf]|%[2-7][0-9A-Fa-f]";
/// The same where JSON may escape it.
const MAY_BE: &str = r"(?-u)[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2\xad|\xcd\x8f|\xe1(?:\x85[\x9f\xa0]|\xa0[\x8b-\x8e])|\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf)|\xf3\xa0[\x80-\xbf][\x80-\xbf]|%[2-7][0-9A-Fa-f]|\\[bf]|\\u(?:00(?:0[0-8bcefBCEF]|1[0-9a-fA-F]|7[fF]|[aA][dD])|034[fF]|115[fF]|1160|180[b-eB-E]|20(?:0[b-fB-F]|2[89a-eA-E]|6[0-9a-fA-F])|[fF][eE](?:0[0-9a-fA-F]|[fF][fF])|[dD][bB]40)";

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
    let mut found = VEILS.as_ref()?.find_iter(text).peekable();
    found.peek()?;
    let mut plain = Vec::with_capacity(text.len());
    let (mut behind, mut copied) = (Vec::new(), 0);
    for veil in found {
        plain.extend_from_slice(text.get(copied..veil.start()).unwrap_or_default());
        let escape = veil.as_bytes().strip_prefix(b"%");
        if let Some(digits) = escape {
            let digits = std::str::from_utf8(digits).ok();
            plain.extend(digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()));
        }
        copied = veil.end();
        behind.push((plain.len(), copied, escape.is_some()));
    }
    plain.extend_from_slice(text.get(copied..).unwrap_or_default());
    Some(Unveiled {
        text: plain,
        behind,
    })
}

#[cfg(test)]
pub(super) fn is_searchable() -> bool {
    VEILS.is_some() && MAY_BES.is_some()
}

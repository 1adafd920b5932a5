//! A search for many short keywords at once, in any case of their letters.
//!
//! Three characters of a text are looked up in a bit map of the beginnings of all keywords. The map
//! fits into the processor's nearest cache, so that most characters cost one look-up.

/// Bits of a character's class.
const CLASS_BITS: u32 = 6;
/// Characters of a beginning.
const BEGINNING: usize = 3;
/// Number of beginnings.
const BEGINNINGS: usize = 1 << (CLASS_BITS as usize * BEGINNING);
/// Bits of a word of the map.
const WORD_BITS: usize = 64;

#[derive(Debug)]
pub(super) struct Keywords {
    /// Class of each byte. Class 0 is what is behind the end of a text.
    classes: [u8; 256],
    /// One bit for each beginning that a keyword has.
    begins: Vec<u64>,
    /// Number of beginnings before each word of the map.
    before: Vec<usize>,
    /// Keywords of each beginning, by their numbers.
    of_beginning: Vec<Vec<usize>>,
    keywords: Vec<Vec<u8>>,
}

impl Keywords {
    pub(super) fn new(keywords: Vec<Vec<u8>>) -> Keywords {
        let mut classes = [0; 256];
        for (byte, class) in (0..=u8::MAX).zip(&mut classes) {
            *class = class_of(byte);
        }
        let mut by_code = vec![Vec::new(); BEGINNINGS];
        for (number, keyword) in keywords.iter().enumerate() {
            for code in codes(keyword) {
                if let Some(numbers) = by_code.get_mut(code) {
                    numbers.push(number);
                }
            }
        }
        let (mut begins, mut before, mut of_beginning) = (Vec::new(), Vec::new(), Vec::new());
        for word in by_code.chunks(WORD_BITS) {
            before.push(of_beginning.len());
            let mut bits = 0;
            for (bit, numbers) in word.iter().enumerate().filter(|(_, it)| !it.is_empty()) {
                bits |= 1_u64 << bit;
                of_beginning.push(numbers.clone());
            }
            begins.push(bits);
        }
        Keywords {
            classes,
            begins,
            before,
            of_beginning,
            keywords,
        }
    }

    /// Number of keywords.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.keywords.len()
    }

    /// Calls `found` with the number, start and end of each keyword in a text, in the order of their starts.
    pub(super) fn search(&self, text: &[u8], mut found: impl FnMut(usize, usize, usize)) {
        let mut code = 0;
        let classes = text.iter().map(|byte| self.classes.get(usize::from(*byte)));
        let classes = classes.map(|class| class.copied().unwrap_or_default());
        for (at, class) in classes.chain([0; BEGINNING - 1]).enumerate() {
            code = ((code << CLASS_BITS) | usize::from(class)) & (BEGINNINGS - 1);
            let word = self.begins.get(code / WORD_BITS).copied();
            let bit = 1_u64 << (code % WORD_BITS);
            let Some(word) = word.filter(|word| word & bit != 0) else {
                continue;
            };
            let Some(start) = (at + 1).checked_sub(BEGINNING) else {
                continue;
            };
            let before = self.before.get(code / WORD_BITS).copied().unwrap_or(0);
            let rank = before + (word & (bit - 1)).count_ones() as usize;
            for number in self.of_beginning.get(rank).into_iter().flatten() {
                let keyword = self.keywords.get(*number).map(Vec::as_slice);
                let keyword = keyword.unwrap_or_default();
                let end = start + keyword.len();
                let is_here = |it: &[u8]| it.eq_ignore_ascii_case(keyword);
                if text.get(start..end).is_some_and(is_here) {
                    found(*number, start, end);
                }
            }
        }
    }
}

/// Class of a byte: letters without regard to case and digits have their own, other bytes share some.
fn class_of(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        letter @ b'a'..=b'z' => 1 + letter - b'a',
        digit @ b'0'..=b'9' => 27 + digit - b'0',
        other => 37 + other % 27,
    }
}

/// Codes of the beginnings that a keyword may have in a text: shorter ones are followed by anything.
fn codes(keyword: &[u8]) -> Vec<usize> {
    let mut codes = vec![0];
    for at in 0..BEGINNING {
        let classes = match keyword.get(at) {
            Some(byte) => class_of(*byte)..=class_of(*byte),
            None => 0..=63,
        };
        let next = codes.iter().flat_map(|code| {
            let classes = classes.clone();
            classes.map(move |class| (code << CLASS_BITS) | usize::from(class))
        });
        codes = next.collect();
    }
    codes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(keywords: &[&str], text: &[u8]) -> Vec<(usize, usize, usize)> {
        let keywords = keywords.iter().map(|it| it.as_bytes().to_vec());
        let mut hits = Vec::new();
        Keywords::new(keywords.collect()).search(text, |number, start, end| {
            hits.push((number, start, end));
        });
        hits
    }

    #[test]
    fn keywords_are_found_in_any_case_and_at_both_ends() {
        assert_eq!(found(&["ghp_", "pass"], b"GHP_ and PaSs"), [(0, 0, 4), (1, 9, 13)]);
        assert_eq!(found(&["@", "=="], b"@a=="), [(0, 0, 1), (1, 2, 4)]);
        assert_eq!(found(&["@"], b"@"), [(0, 0, 1)]);
        assert_eq!(found(&["abc", "abcd"], b"xabcd"), [(0, 1, 4), (1, 1, 5)]);
        assert_eq!(found(&["abc"], b"ab"), []);
    }

    proptest! {
        #[test]
        fn all_keywords_are_found(
            keywords in proptest::collection::vec("[ab@_-]{1,5}", 1..6),
            text in "[abAB@_ -]{0,40}",
        ) {
            let mut expected = Vec::new();
            for start in 0..text.len() {
                for (number, keyword) in keywords.iter().enumerate() {
                    let end = start + keyword.len();
                    if text.get(start..end).is_some_and(|it| it.eq_ignore_ascii_case(keyword)) {
                        expected.push((number, start, end));
                    }
                }
            }
            let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
            prop_assert_eq!(found(&keywords, text.as_bytes()), expected);
        }
    }
}

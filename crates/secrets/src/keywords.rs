//! A search for many short keywords at once.
//!
//! The beginnings of all keywords are in two bit maps: three characters of the short keywords, a hash of four of the
//! others. Both fit into the processor's nearest caches, so that most characters of a text cost two look-ups.

/// Bits of a character's class.
const CLASS_BITS: u32 = 6;
/// Characters of the beginning of a short keyword, and of a long one.
const SHORT: usize = 3;
const LONG: usize = 4;
/// Bits of an index into a map.
const INDEX_BITS: u32 = 18;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
/// Characters that are remembered.
const CODE_MASK: u32 = (1 << (CLASS_BITS * LONG as u32)) - 1;
/// Multiplier that spreads the codes of four characters.
const SPREAD: u32 = 0x9E37_79B1;
/// Bits of a word of a map.
const WORD_BITS: usize = 64;

/// A keyword.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Keyword {
    /// Text, in small letters unless it is exact.
    pub(super) text: Vec<u8>,
    /// `true` if the case of its letters counts.
    pub(super) is_exact: bool,
}

impl Keyword {
    fn is(&self, text: &[u8]) -> bool {
        match self.is_exact {
            true => text == self.text,
            false => text.eq_ignore_ascii_case(&self.text),
        }
    }
}

#[derive(Debug)]
pub(super) struct Keywords {
    /// Class of each byte.
    classes: [u8; 256],
    short: Map,
    long: Map,
    keywords: Vec<Keyword>,
}

impl Keywords {
    pub(super) fn new(keywords: Vec<Keyword>) -> Keywords {
        let mut classes = [0; 256];
        for (byte, class) in (0..=u8::MAX).zip(&mut classes) {
            *class = class_of(byte);
        }
        let is_short = |keyword: &Keyword| keyword.text.len() < LONG;
        let all = || keywords.iter().enumerate();
        let short = all().filter(|(_, it)| is_short(it));
        let short = short.flat_map(|(number, it)| {
            let codes = codes(&it.text, SHORT).into_iter();
            codes.map(move |code| (code & INDEX_MASK, number))
        });
        let long = all().filter(|(_, it)| !is_short(it));
        let long = long.flat_map(|(number, it)| {
            let codes = codes(&it.text, LONG).into_iter();
            codes.map(move |code| (spread(code), number))
        });
        Keywords {
            classes,
            short: Map::new(short),
            long: Map::new(long),
            keywords,
        }
    }

    /// Number of keywords.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.keywords.len()
    }

    /// Calls `found` with the number, start and end of each keyword in a text.
    pub(super) fn search(&self, text: &[u8], mut found: impl FnMut(usize, usize, usize)) {
        let mut verify = |numbers: &[usize], start: usize| {
            for number in numbers {
                let Some(keyword) = self.keywords.get(*number) else {
                    continue;
                };
                let end = start + keyword.text.len();
                if text.get(start..end).is_some_and(|it| keyword.is(it)) {
                    found(*number, start, end);
                }
            }
        };
        let mut code = 0;
        let class = |byte: u8| self.classes.get(usize::from(byte)).copied();
        let classes = text.iter().map(|byte| class(*byte).unwrap_or_default());
        // Short keywords may end before the beginning does.
        for (at, class) in classes.chain([0; SHORT - 1]).enumerate() {
            code = ((code << CLASS_BITS) | u32::from(class)) & CODE_MASK;
            if self.short.has(code & INDEX_MASK)
                && let Some(start) = (at + 1).checked_sub(SHORT)
            {
                verify(self.short.of(code & INDEX_MASK), start);
            }
            let spread = spread(code);
            if self.long.has(spread)
                && let Some(start) = (at + 1).checked_sub(LONG)
            {
                verify(self.long.of(spread), start);
            }
        }
    }
}

/// A bit map with the numbers of keywords for each bit that is set.
#[derive(Debug)]
struct Map {
    words: Vec<u64>,
    /// Number of bits that are set before each word.
    before: Vec<u32>,
    numbers: Vec<Vec<usize>>,
}

impl Map {
    fn new(entries: impl Iterator<Item = (u32, usize)>) -> Map {
        let mut entries: Vec<(u32, usize)> = entries.collect();
        entries.sort_unstable();
        let mut words = vec![0_u64; (1 << INDEX_BITS) / WORD_BITS];
        let mut numbers: Vec<Vec<usize>> = Vec::new();
        for (index, number) in entries {
            let Some(word) = words.get_mut(index as usize / WORD_BITS) else {
                continue;
            };
            let bit = 1 << (index as usize % WORD_BITS);
            match numbers.last_mut().filter(|_| *word & bit != 0) {
                Some(last) => last.push(number),
                None => numbers.push(vec![number]),
            }
            *word |= bit;
        }
        let mut count = 0;
        let before = words.iter().map(|word| {
            let before = count;
            count += word.count_ones();
            before
        });
        Map {
            before: before.collect(),
            words,
            numbers,
        }
    }

    #[inline]
    fn has(&self, index: u32) -> bool {
        let word = self.words.get(index as usize / WORD_BITS);
        word.is_some_and(|word| word >> (index as usize % WORD_BITS) & 1 == 1)
    }

    fn of(&self, index: u32) -> &[usize] {
        let at = index as usize / WORD_BITS;
        let word = self.words.get(at).copied().unwrap_or_default();
        let below = word & ((1 << (index as usize % WORD_BITS)) - 1);
        let rank = self.before.get(at).copied().unwrap_or_default() + below.count_ones();
        self.numbers.get(rank as usize).map_or(&[], Vec::as_slice)
    }
}

/// Spreads the code of four characters over the indexes of a map.
#[inline]
fn spread(code: u32) -> u32 {
    code.wrapping_mul(SPREAD) >> (u32::BITS - INDEX_BITS)
}

/// Class of a byte: letters without regard to case and digits have their own, other bytes share some. No byte has 0,
/// which stands for the end of a text.
fn class_of(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        letter @ b'a'..=b'z' => 1 + letter - b'a',
        digit @ b'0'..=b'9' => 27 + digit - b'0',
        other => 37 + other % 27,
    }
}

/// Codes of the beginnings that a keyword may have in a text: any characters follow a short one.
fn codes(keyword: &[u8], beginning: usize) -> Vec<u32> {
    let mut codes = vec![0];
    for at in 0..beginning {
        let classes = match keyword.get(at) {
            Some(byte) => class_of(*byte)..=class_of(*byte),
            None => 0..=63,
        };
        let next = codes.iter().flat_map(|code: &u32| {
            let classes = classes.clone();
            classes.map(move |class| (code << CLASS_BITS) | u32::from(class))
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
        let keywords = keywords.iter().map(|it| Keyword {
            text: it.as_bytes().to_vec(),
            is_exact: it.contains(char::is_uppercase),
        });
        let mut hits = Vec::new();
        Keywords::new(keywords.collect()).search(text, |number, start, end| {
            hits.push((number, start, end));
        });
        hits.sort_unstable_by_key(|(number, start, _)| (*start, *number));
        hits
    }

    #[test]
    fn keywords_are_found_in_any_case_and_at_both_ends() {
        assert_eq!(
            found(&["ghp_", "pass"], b"GHP_ and PaSs"),
            [(0, 0, 4), (1, 9, 13)]
        );
        assert_eq!(found(&["@", "=="], b"@a=="), [(0, 0, 1), (1, 2, 4)]);
        assert_eq!(found(&["@"], b"@"), [(0, 0, 1)]);
        assert_eq!(found(&["abc", "abcd"], b"xabcd"), [(0, 1, 4), (1, 1, 5)]);
        assert_eq!(found(&["abc"], b"ab"), []);
        assert_eq!(
            found(&["Ab", "ABCDE"], b"ab Ab abcde ABCDE"),
            [(0, 3, 5), (1, 12, 17)]
        );
    }

    proptest! {
        #[test]
        fn all_keywords_are_found(
            keywords in proptest::collection::vec("[abA@_-]{1,6}", 1..6),
            text in "[abAB@_ -]{0,60}",
        ) {
            let mut expected = Vec::new();
            for start in 0..text.len() {
                for (number, keyword) in keywords.iter().enumerate() {
                    let end = start + keyword.len();
                    let is_exact = keyword.contains('A');
                    let is_here = |it: &str| it == keyword || (!is_exact && it.eq_ignore_ascii_case(keyword));
                    if text.get(start..end).is_some_and(is_here) {
                        expected.push((number, start, end));
                    }
                }
            }
            let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
            prop_assert_eq!(found(&keywords, text.as_bytes()), expected);
        }
    }
}

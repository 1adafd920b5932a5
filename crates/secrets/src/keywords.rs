//! The search for all keywords at once.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// A keyword.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Keyword {
    /// Text, in small letters unless it is exact.
    pub(super) text: Vec<u8>,
    /// `true` if the case of its letters counts.
    pub(super) is_exact: bool,
}

#[derive(Debug)]
pub(super) struct Keywords {
    /// Finds all of them in any case; `None` if they cannot be searched for.
    search: Option<AhoCorasick>,
    keywords: Vec<Keyword>,
}

impl Keywords {
    pub(super) fn new(keywords: Vec<Keyword>) -> Keywords {
        let mut search = AhoCorasick::builder();
        // A DFA of them takes 20 times the memory, and as long to make as all else.
        search
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA));
        let search = search.build(keywords.iter().map(|keyword| &keyword.text));
        Keywords {
            search: search.ok(),
            keywords,
        }
    }

    /// Returns `true` if keywords are found.
    #[cfg(test)]
    pub(super) fn is_searchable(&self) -> bool {
        self.search.is_some()
    }

    /// Number of keywords.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.keywords.len()
    }

    /// Calls `found` with the number, start and end of each keyword in a text.
    pub(super) fn search(&self, text: &[u8], mut found: impl FnMut(usize, usize, usize)) {
        let Some(search) = &self.search else {
            return;
        };
        for hit in search.find_overlapping_iter(text) {
            let (number, start, end) = (hit.pattern().as_usize(), hit.start(), hit.end());
            let keyword = self.keywords.get(number);
            let is_it = |keyword: &Keyword| {
                !keyword.is_exact || text.get(start..end) == Some(keyword.text.as_slice())
            };
            if keyword.is_some_and(is_it) {
                found(number, start, end);
            }
        }
    }
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

//! A question: the words that an event must have, and must not have (`docs/search.md`, "Asking").

use std::collections::BTreeSet;
use std::ops::Range;

use annals_event_log::{Classification, Classified, ErrorClass};

use crate::facet::Facet;
use crate::words::{Run, Runs, Word, fold_into, stands_alone, words};

/// Bytes of a question, at most.
const LONGEST: usize = 4 * 1024;
/// Terms of a question, at most.
const MOST: usize = 64;
/// Words of its terms, at most.
const MOST_WORDS: usize = 256;
/// Characters before a `*`, at least: fewer would be the beginning of almost every word.
const PREFIX: usize = 2;

/// Why a question cannot be answered: another one is needed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A quote is not closed.
    #[error(
        "the quote at character {at} is not closed: put a \" behind the phrase, or leave it out"
    )]
    Open {
        /// Which character of the question it is, from 1.
        at: usize,
    },
    /// Nothing is left to look for.
    #[error("there is no word in {question:?}: name at least one, of letters or digits")]
    NoWord {
        /// The question.
        question: String,
    },
    /// It only says what must not be there.
    #[error("{question:?} only says what must not be there: name a word that must")]
    OnlyExcluded {
        /// The question.
        question: String,
    },
    /// Too many words begin so.
    #[error(
        "{word:?} is the beginning of too many words: put at least {PREFIX} letters or digits before the *"
    )]
    ShortPrefix {
        /// The word.
        word: String,
    },
    /// It is too long.
    #[error(
        "the question is too long: at most {MOST} words and phrases, of {MOST_WORDS} words together, and {LONGEST} bytes"
    )]
    TooLong,
}

impl Classified for QueryError {
    fn classify(&self) -> Classification {
        ErrorClass::Invalid.code("invalid_query")
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What an event must have, all of it, in any of its texts.
    pub(crate) wanted: Vec<Term>,
    /// What no text of it may have.
    pub(crate) excluded: Vec<Term>,
}

/// Runs that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) runs: Vec<Wanted>,
    /// Whether the last word may go on.
    pub(crate) is_prefix: bool,
}

/// A run as it is looked for: whole, or its parts one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) whole: String,
    /// Two or more, or none.
    pub(crate) parts: Vec<String>,
}

impl Wanted {
    /// The words that it can begin with.
    pub(crate) fn begins(&self) -> impl Iterator<Item = &str> + '_ {
        std::iter::once(&self.whole)
            .chain(self.parts.first())
            .map(String::as_str)
    }

    /// The words that it can end with.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &str> + '_ {
        std::iter::once(&self.whole)
            .chain(self.parts.last())
            .map(String::as_str)
    }
}

impl Query {
    /// Reads a question: words, `"phrases"`, `-excluded` and `beginnings*`.
    ///
    /// ```
    /// use annals_search::Query;
    /// assert!(Query::parse("panic \"index out of bounds\" -vendor pagin*").is_ok());
    /// let error = Query::parse("\"index out").unwrap_err();
    /// assert!(error.to_string().contains("not closed"));
    /// ```
    ///
    /// # Errors
    /// [`QueryError`].
    pub fn parse(question: &str) -> Result<Query, QueryError> {
        Query::read(question, false)
    }

    /// Reads a question that is still being typed: the last word is a beginning from two letters on, an open quote ends
    /// with the text, and a last single letter is left out unless the question has nothing else.
    ///
    /// ```
    /// use annals_search::Query;
    /// assert_eq!(Query::parse_typed("index out pagin")?, Query::parse("index out pagin*")?);
    /// assert_eq!(Query::parse_typed("index o")?, Query::parse("index")?);
    /// assert_eq!(Query::parse_typed("pagin ")?, Query::parse("pagin")?);
    /// # Ok::<(), annals_search::QueryError>(())
    /// ```
    ///
    /// # Errors
    /// [`QueryError`].
    pub fn parse_typed(question: &str) -> Result<Query, QueryError> {
        Query::read(question, true)
    }

    fn read(question: &str, is_typed: bool) -> Result<Query, QueryError> {
        if question.len() > LONGEST {
            return Err(QueryError::TooLong);
        }
        let mut query = Query {
            wanted: Vec::new(),
            excluded: Vec::new(),
        };
        let mut rest = question;
        while let Some(begin) = rest.find(|character: char| !character.is_whitespace()) {
            rest = rest.get(begin..).unwrap_or_default();
            // `--flag` is a word; `-word` excludes one.
            let excludes = rest.starts_with('-') && !rest.starts_with("--");
            if excludes {
                rest = rest.get(1..).unwrap_or_default();
            }
            let is_phrase = rest.starts_with('"');
            let (text, behind) = match rest.strip_prefix('"') {
                Some(phrase) => match phrase.split_once('"') {
                    Some(found) => found,
                    None if is_typed => (phrase, ""),
                    None => {
                        let at = question.chars().count() - phrase.chars().count();
                        return Err(QueryError::Open { at });
                    }
                },
                None => {
                    let end = rest.find(|it: char| it.is_whitespace() || it == '"');
                    rest.split_at(end.unwrap_or(rest.len()))
                }
            };
            // A closed phrase ends with its quote.
            let is_growing = is_typed && !excludes && behind.is_empty() && rest.ends_with(text);
            rest = behind;
            let Some(mut term) = Term::of(text, !is_phrase)? else {
                continue;
            };
            if is_growing && !term.grow(text, !query.wanted.is_empty()) {
                continue;
            }
            match excludes {
                true => query.excluded.push(term),
                false => query.wanted.push(term),
            }
        }
        query.checked(question)
    }

    fn checked(self, question: &str) -> Result<Query, QueryError> {
        let question = || question.to_owned();
        let terms = || self.wanted.iter().chain(&self.excluded);
        let words: usize = terms().map(|term| term.runs.len()).sum();
        if terms().count() > MOST || words > MOST_WORDS {
            return Err(QueryError::TooLong);
        }
        match (self.wanted.is_empty(), self.excluded.is_empty()) {
            (true, true) => Err(QueryError::NoWord {
                question: question(),
            }),
            (true, false) => Err(QueryError::OnlyExcluded {
                question: question(),
            }),
            (false, _) => Ok(self),
        }
    }

    /// Where the words of the question are in the texts of an event, of those facets, if it is an answer: for each
    /// text that has some, its number and the bytes.
    pub fn matches(&self, texts: &[(Facet, String)], facets: &[Facet]) -> Option<Vec<Marked>> {
        let mut missing: Vec<&Term> = self.wanted.iter().collect();
        let mut marked = Vec::new();
        for (number, (facet, text)) in texts.iter().enumerate() {
            if !facets.contains(facet) {
                continue;
            }
            let words = Words::of(text);
            if self
                .excluded
                .iter()
                .any(|term| !words.find(term).is_empty())
            {
                return None;
            }
            let mut bytes = Vec::new();
            for term in &self.wanted {
                let found = words.find(term);
                if !found.is_empty() {
                    missing.retain(|it| *it != term);
                    bytes.extend(found);
                }
            }
            if !bytes.is_empty() {
                bytes.sort_by_key(|it| (it.start, it.end));
                marked.push(Marked {
                    text: number,
                    bytes,
                });
            }
        }
        missing.is_empty().then_some(marked)
    }

    /// Whether an index of words knows the answer without the texts: there is nothing that must be next to each other.
    pub(crate) fn is_of_words(&self) -> bool {
        let mut terms = self.wanted.iter().chain(&self.excluded);
        terms.all(|term| matches!(term.runs.as_slice(), [run] if run.parts.is_empty()))
    }
}

/// A text in which words of a question are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// The text's number.
    pub text: usize,
    /// The bytes of the words, in their order; they may overlap.
    pub bytes: Vec<Range<usize>>,
}

impl Term {
    /// A word or a phrase; none where it has no letter and no digit.
    fn of(text: &str, may_be_prefix: bool) -> Result<Option<Term>, QueryError> {
        let (mut runs, mut run, mut found) = (Runs::of(text), Run::default(), Vec::new());
        let mut end = 0;
        while runs.next_into(&mut run) {
            let folded = |bytes: Range<usize>| {
                let mut folded = String::new();
                fold_into(text.get(bytes).unwrap_or_default(), &mut folded);
                folded
            };
            let parts = match run.ends.len() {
                1 => Vec::new(),
                _ => run.parts().map(folded).collect(),
            };
            found.push(Wanted {
                whole: folded(run.bytes.clone()),
                parts,
            });
            end = run.bytes.end;
        }
        let Some(last) = found.last() else {
            return Ok(None);
        };
        let is_prefix = may_be_prefix
            && text
                .get(end..)
                .is_some_and(|behind| behind.starts_with('*'));
        if is_prefix && last.whole.chars().count() < PREFIX {
            return Err(QueryError::ShortPrefix {
                word: text.to_owned(),
            });
        }
        Ok(Some(Term {
            runs: found,
            is_prefix,
        }))
    }

    /// Makes a beginning of the last word of a text that is still being typed. A single letter would be the beginning of
    /// almost every word: it is left out if there are other words. Returns `false` if no word is left.
    fn grow(&mut self, text: &str, has_others: bool) -> bool {
        let last = text.chars().next_back();
        let Some(last) = last.filter(|last| last.is_alphanumeric()) else {
            return true;
        };
        let length = self.runs.last().map_or(0, |run| run.whole.chars().count());
        if length >= PREFIX {
            self.is_prefix = true;
        } else if !stands_alone(last) && (has_others || self.runs.len() > 1) {
            self.runs.pop();
        }
        !self.runs.is_empty()
    }
}

/// The words of a text by their places.
struct Words(Vec<Word>);

impl Words {
    fn of(text: &str) -> Words {
        let mut found = Vec::new();
        words(text, |word| found.push(word.clone()));
        // A whole run comes behind its parts.
        found.sort_by_key(|word| word.first);
        Words(found)
    }

    /// The words at a place.
    fn at(&self, place: u32) -> impl Iterator<Item = &Word> {
        let first = self.0.partition_point(|word| word.first < place);
        let words = self.0.get(first..).unwrap_or_default().iter();
        words.take_while(move |word| word.first == place)
    }

    /// Where a term is.
    fn find(&self, term: &Term) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut tried = None;
        for word in &self.0 {
            if tried == Some(word.first) {
                continue;
            }
            tried = Some(word.first);
            // Places that the runs up to here end at, with the last byte.
            let mut ends = BTreeSet::from([(word.first, word.bytes.start)]);
            for (number, run) in (1..).zip(&term.runs) {
                let is_open = term.is_prefix && number == term.runs.len();
                let reached = ends
                    .iter()
                    .flat_map(|(place, _)| self.behind(*place, run, is_open));
                ends = reached.collect();
            }
            let longest = ends.iter().map(|(_, byte)| *byte).max();
            found.extend(longest.map(|end| word.bytes.start..end));
        }
        found
    }

    /// Behind which places, and bytes, a run ends that begins at one.
    fn behind(&self, place: u32, run: &Wanted, is_open: bool) -> Vec<(u32, usize)> {
        let fits = |word: &Word, wanted: &str, is_open: bool| match is_open {
            true => word.text.starts_with(wanted),
            false => word.text == wanted,
        };
        let whole = self
            .at(place)
            .filter(|word| fits(word, &run.whole, is_open));
        let mut reached: Vec<(u32, usize)> = whole.map(|word| (word.end, word.bytes.end)).collect();
        if run.parts.is_empty() {
            return reached;
        }
        let mut ends = BTreeSet::from([(place, 0)]);
        for (number, part) in (1..).zip(&run.parts) {
            let is_open = is_open && number == run.parts.len();
            let next = ends.iter().flat_map(|(place, _)| {
                let words = self.at(*place).filter(|word| fits(word, part, is_open));
                words
                    .map(|word| (word.end, word.bytes.end))
                    .collect::<Vec<_>>()
            });
            ends = next.collect();
        }
        reached.extend(ends);
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(question: &str, text: &str) -> Option<Vec<String>> {
        let texts = vec![(Facet::Results, text.to_owned())];
        let query = Query::parse(question).unwrap();
        let marked = query.matches(&texts, &Facet::ALL)?;
        let bytes = marked.into_iter().flat_map(|it| it.bytes);
        Some(bytes.map(|bytes| text[bytes].to_owned()).collect())
    }

    #[test]
    fn words_phrases_beginnings_and_exclusions() {
        let text =
            "FAIL: TestPagination (cli/main.go:17): unknown flag --no-index in max_frames_set";
        for (question, expected) in [
            ("fail", Some(vec!["FAIL"])),
            ("testpagination", Some(vec!["TestPagination"])),
            ("TestPagination", Some(vec!["TestPagination"])),
            ("pagination", Some(vec!["Pagination"])),
            ("test_pagination", Some(vec!["TestPagination"])),
            ("testPag*", Some(vec!["TestPagination"])),
            ("cli/main.go", Some(vec!["cli/main.go"])),
            ("main.go:17", Some(vec!["main.go:17"])),
            ("go/main", None),
            ("--no-index", Some(vec!["no-index"])),
            ("\"flag unknown\"", None),
            ("\"unknown flag\" 17", Some(vec!["17", "unknown flag"])),
            ("max_frames", Some(vec!["max_frames"])),
            ("maxFramesSet", Some(vec!["max_frames_set"])),
            ("maxframes", None),
            ("fra*", Some(vec!["frames"])),
            ("\"fra*\"", None),
            ("fail -pagination", None),
            ("fail -\"flag unknown\"", Some(vec!["FAIL"])),
            ("fail missing", None),
        ] {
            let expected = expected.map(|it| it.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(marks(question, text), expected, "{question}");
        }
        assert_eq!(
            marks("日本", "これは日本語です"),
            Some(vec!["日本".to_owned()])
        );
        assert_eq!(marks("本日", "これは日本語です"), None);
    }

    #[test]
    fn the_last_word_is_a_beginning_while_it_is_typed() {
        for (typed, expected) in [
            ("pag", "pag*"),
            ("fail pag", "fail pag*"),
            ("fail fail", "fail fail*"),
            ("fail p", "fail"),
            ("fail ", "fail"),
            ("p", "p"),
            ("cli/main.g", "cli/main"),
            ("cli/main.go", "cli/main.go*"),
            ("cli/main.", "cli/main"),
            ("testPag", "testPag*"),
            ("pag*", "pag*"),
            ("fail -pag", "fail -pag"),
            ("-pag fail", "-pag fail*"),
            ("\"unknown flag\"", "\"unknown flag\""),
            ("本", "本"),
            ("日 本", "日 本"),
        ] {
            assert_eq!(Query::parse_typed(typed), Query::parse(expected), "{typed}");
        }
        let text = vec![(Facet::Results, "unknown flag --no-index".to_owned())];
        for (typed, is_found) in [
            ("\"unknown fl", true),
            ("\"unknown f", true),
            ("\"", false),
            ("\"flag unk", false),
        ] {
            let query = Query::parse_typed(typed).ok();
            let found = query.and_then(|query| query.matches(&text, &Facet::ALL));
            assert_eq!(found.is_some(), is_found, "{typed}");
        }
        let error = Query::parse_typed("-pag").unwrap_err();
        assert!(matches!(error, QueryError::OnlyExcluded { .. }), "{error}");
        assert!(Query::parse_typed("x*").is_err());
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (question, expected) in [
            ("a \"b c", "the quote at character 3 is not closed"),
            ("", "there is no word in \"\""),
            ("-- ++", "there is no word in"),
            ("-a -\"b c\"", "only says what must not be there"),
            ("x*", "at least 2 letters or digits before the *"),
        ] {
            let error = Query::parse(question).unwrap_err().to_string();
            assert!(error.contains(expected), "{question}: {error}");
        }
        assert_eq!(Query::parse(&"a ".repeat(65)), Err(QueryError::TooLong));
        let phrase = |words| format!("\"{}\"", "a ".repeat(words));
        assert!(Query::parse(&phrase(256)).is_ok());
        assert_eq!(Query::parse(&phrase(257)), Err(QueryError::TooLong));
        assert_eq!(Query::parse(&"a".repeat(5_000)), Err(QueryError::TooLong));
    }

    #[test]
    fn words_of_a_question_may_be_in_several_texts() {
        let texts = vec![
            (Facet::Tools, "go test ./...".to_owned()),
            (Facet::Results, "exit 1".to_owned()),
        ];
        let query = Query::parse("test exit").unwrap();
        assert_eq!(
            query.matches(&texts, &Facet::ALL).map(|it| it.len()),
            Some(2)
        );
        assert_eq!(query.matches(&texts, &[Facet::Tools]), None);
        let query = Query::parse("test -exit").unwrap();
        assert_eq!(query.matches(&texts, &Facet::ALL), None);
        assert_eq!(
            query.matches(&texts, &[Facet::Tools]).map(|it| it.len()),
            Some(1)
        );
    }
}

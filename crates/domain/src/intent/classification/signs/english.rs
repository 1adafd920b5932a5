//! Complaints in an English title.

use super::super::phrases::{Phrase, near};
use super::super::text::{Text, Words};
use super::super::work::{Signs, Work};

/// The first sign of a title.
pub(super) fn sign(title: &Text) -> Option<(Work, String)> {
    let denied = || {
        let first = NEGATIVE.iter().find_map(|phrase| {
            let places = title.phrase_places(phrase);
            let stated = places.into_iter().find(|at| is_statement(title, at));
            stated.map(|at| title.joined(&at))
        });
        Some((Work::Fix, first?))
    };
    let named = |signs: &Signs| {
        let word = title.first_of(signs.words).map(str::to_owned);
        let sign = word.or_else(|| title.first_phrase(signs.phrases));
        Some((signs.work_type, sign?))
    };
    let [fix, refactor] = &ENGLISH;
    named(fix).or_else(denied).or_else(|| named(refactor))
}

/// Returns `true` for a statement about the words in front of it: "Tabs do not close", but not "Do
/// not close tabs" and "tabs that do not close".
fn is_statement(title: &Text, places: &[usize]) -> bool {
    let Some(first) = places.first() else {
        return false;
    };
    let mut before = title.words().take(*first);
    let starts = *first == 0
        && !title
            .words()
            .next()
            .is_some_and(|it| Words("can cannot").have(it));
    !starts && *first <= 7 && !before.any(|it| CONDITIONS.have(it))
}

/// The types with their signs.
const ENGLISH: [Signs; 2] = [
    Signs {
        work_type: Work::Fix,
        words: Words(
            "misalign* misspell* misspelt mistake wrong wrongly incorrect incorrectly inaccurate \
             inconsistent unreadable illegible unclickable unusable outdated stale overlap \
             flicker garbled mojibake truncated blurry stuck complain deadlock segfault corrupt \
             glitch mismatch unexpected unexpectedly accidentally erroneous erroneously missing \
             breaks. broke. exception nan misleading obscured unresponsive misplace weird \
             strange strangely swapped unhandled uncaught npe",
        ),
        phrases: &[
            near(
                0,
                &["out.", "of.", "date sync bounds order place line range"],
            ),
            near(0, &["off.", "by.", "one. a"]),
            near(0, &["off.", "center centre"]),
            near(0, &["cut", "off."]),
            near(0, &["do", "nothing"]),
            near(0, &["no. any", "longer more"]),
            near(0, &["a. is are gives return show", "404"]),
            near(0, &["dead", "link"]),
            near(0, &["race", "condition"]),
            near(2, &["should", "be.", "spelled spelt"]),
            near(0, &["memory resource", "leak"]),
            near(0, &["stack", "overflow"]),
            near(1, &["blank white", "screen"]),
            near(0, &["infinite endless", "loop"]),
            near(0, &["upside", "down."]),
            near(
                0,
                &[
                    "not",
                    "working shown visible found updated displayed saved rendered",
                ],
            ),
            near(1, &["stop", "working"]),
            near(
                3,
                &[
                    "compiler lint linter clippy eslint deprecation build rustc",
                    "warn",
                ],
            ),
            near(8, &["is are show display return print open", "instead"]),
            near(
                0,
                &[
                    "too.",
                    "small large long short dark light narrow wide high low thin big bright",
                ],
            ),
            near(
                0,
                &[
                    "is. are. get being",
                    "ignored skipped swallowed gone. clipped lost.",
                ],
            ),
            near(
                3,
                &[
                    "get is are be was were appear show shown send sent create count call fire \
                     load print render run trigger save",
                    "twice",
                ],
            ),
            near(0, &["please", "stop"]),
            near(0, &["even.", "though"]),
        ],
    },
    Signs {
        work_type: Work::Refactor,
        words: Words("duplication boilerplate readability nesting"),
        phrases: &[
            near(
                0,
                &[
                    "dead unused unreachable",
                    "code import variable function method",
                ],
            ),
            near(0, &["magic", "number string"]),
            near(0, &["technical tech", "debt"]),
        ],
    },
];

/// Statements that something does not work.
const NEGATIVE: &[Phrase] = &[
    near(
        0,
        &[
            "overflow ignores. forgets. drops. loses. misses. swallows. jumps. overflows. clips. \
             disappears. vanishes. lags. jitters.",
        ],
    ),
    near(
        0,
        &[
            "doesn isn aren don didn won wasn weren hasn haven couldn can",
            "t.",
        ],
    ),
    near(0, &["do did is are was were has have", "not."]),
    near(0, &["cannot"]),
    near(0, &["unable", "to."]),
    near(0, &["fail. fails. failing. never hang freeze leak panic"]),
];

/// Words in front of a statement that make it a condition or a wish.
const CONDITIONS: Words = Words(
    "if when that where who whose which what so unless until whether because please should must \
     ensure make let to",
);

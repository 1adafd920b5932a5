//! Types by the beginning of an English title.

use super::super::harmless::deletes_code;
use super::super::phrases::{Phrase, near, object};
use super::super::text::{Text, Words};
use super::super::work::Work;

/// The type that a title begins with: the word at `start` is its verb.
pub(in super::super) fn opening(title: &Text, start: usize) -> Option<(Work, String)> {
    let mut openings = OPENINGS.iter();
    let found =
        openings.find_map(|(work_type, of)| Some((*work_type, title.phrase_at(start, of)?)));
    found.or_else(|| {
        let verb = title.words().nth(start)?;
        let is_it = REMOVALS.fit(verb) && deletes_code(title, start);
        is_it.then(|| (Work::Refactor, verb.to_owned()))
    })
}

/// Verbs whose object may be unneeded code.
const REMOVALS: Words = Words("remove delete drop strip prune trim purge wipe eliminate");

/// Beginnings of a title: the first word of a phrase is its verb.
const OPENINGS: [(Work, &[Phrase]); 3] = [
    (
        Work::Fix,
        &[
            near(0, &["pay", "attention heed"]),
            near(
                0,
                &[
                    "stop",
                    "sending showing logging counting printing using writing",
                ],
            ),
        ],
    ),
    (
        Work::Refactor,
        &[
            near(
                6,
                &[
                    "move pull factor hoist lift carve",
                    "into. to. out. from.",
                    CODE,
                ],
            ),
            near(
                6,
                &[
                    "move pull split break factor turn group merge combine organize",
                    "into. to. in. out. by.",
                    "own separate single smaller several different another one two",
                    "file module",
                ],
            ),
            object(
                6,
                &[
                    "split break merge combine join flatten sort reorder group order shorten \
                     dedupe share reuse shrink rewrite collapse",
                    CODE,
                ],
            ),
            object(
                4,
                &[
                    "remove delete drop strip prune eliminate kill trim avoid",
                    "unused unneeded obsolete old duplicate stale needless unnecessary \
                     superfluous redundant",
                    CODE,
                ],
            ),
            object(
                3,
                &[
                    "remove drop strip prune eliminate kill trim avoid",
                    "unnecessary needless redundant superfluous dead unreachable commented \
                     boilerplate",
                ],
            ),
            near(
                3,
                &[
                    "get",
                    "rid",
                    "of.",
                    "unused unnecessary needless redundant superfluous dead duplicate \
                     boilerplate global",
                ],
            ),
            near(
                3,
                &[
                    "reduce lower cut decrease remove",
                    "nesting duplication complexity boilerplate indentation",
                ],
            ),
            near(
                6,
                &[
                    "replace",
                    "with. by.",
                    "constant const enum helper iterator macro match loop",
                ],
            ),
            object(3, &["remove drop", "dependency"]),
            near(3, &["make turn", "struct enum trait const constant helper"]),
            near(1, &["strip remove drop", "debug println"]),
            near(2, &["sort order", "css property keys members"]),
            near(
                2,
                &["add write improve", "missing doc", "comment docstring"],
            ),
            near(
                6,
                &["turn convert", "into.", "lookup map enum struct function"],
            ),
            near(0, &["replace", "magic"]),
            near(
                1,
                &[
                    "run apply",
                    "rustfmt prettier black gofmt clippy eslint formatter",
                ],
            ),
            near(3, &["format", "code source rustfmt prettier"]),
            near(
                1,
                &["replace", "println print printf console unwrap expect"],
            ),
            near(2, &["remove delete drop", "todo fixme"]),
            near(
                1,
                &["remove delete drop", "debug", "output print log statement"],
            ),
            near(
                4,
                &["use", "let iterator enum constant helper early generic"],
            ),
            near(
                5,
                &[
                    "make",
                    CODE,
                    "consistent private immutable generic static const readonly",
                ],
            ),
            near(
                5,
                &[
                    "convert turn",
                    "async iterator enum struct const generic hook",
                ],
            ),
            near(
                3,
                &["sort group order", "alphabetical alphabetically import"],
            ),
            near(
                0,
                &[
                    "document describe explain",
                    "the. a. an how why what which when all our every each",
                ],
            ),
            near(
                4,
                &[
                    "update bump refresh reword clarify polish",
                    "readme changelog copyright documentation docs docstring screenshot \
                     gitignore license contributing",
                ],
            ),
        ],
    ),
    (
        Work::Audit,
        &[
            near(
                0,
                &[
                    "check verify see determine",
                    "whether. if. why. how. which. what. where. who.",
                ],
            ),
            near(1, &["find figure", "out."]),
            near(1, &["look", "into."]),
            near(1, &["look", "for.", "place usage case spot"]),
            near(0, &["understand", "why. how."]),
            near(0, &["why.", "do did is are was were can"]),
            near(0, &["how.", "many much often long do is are"]),
        ],
    ),
];

/// Parts of code.
const CODE: &str = "helper function method module crate struct enum trait constant const \
    variable imports. macro util utility clone boilerplate closure callback mixin superclass \
    typedef header parameters argument code";

//! Production systems.

use super::super::phrases::near;
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const PRODUCTION: Subject = Subject {
    english: Words("production prod. prd."),
    but: Words(""),
    english_phrases: &[
        near(
            0,
            &[
                "live",
                "system server site database environment cluster traffic customer",
            ],
        ),
        near(0, &["go", "live"]),
        near(0, &["to.", "live."]),
        near(2, &["straight directly direct", "live."]),
        near(
            5,
            &[
                "roll rollout deploy release ship",
                "all every everyone",
                "customer users. clusters. regions.",
            ],
        ),
    ],
    japanese: Words("本番 プロダクション環境"),
    japanese_phrases: &[],
};

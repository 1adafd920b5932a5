//! Reviews as their files have them.

use super::*;
use crate::forge::render;

const FULL: &str = "\
task_id: t1
verdict: rejected
issues:
  - テストがない
  - \"null: と書く\"
suggestions: [名前を短く, 1.0]
score: 1e3
";

fn read_ok(text: &str) -> ForgeReview {
    read(text, "t1").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> ForgeError {
    read(text, "t1").unwrap_err()
}

#[test]
fn a_review_is_read_and_written() {
    let review = read_ok(FULL);
    assert_eq!(
        (review.task_id.as_str(), review.verdict),
        ("t1", ReviewVerdict::Rejected)
    );
    assert_eq!(review.issues, ["テストがない", "null: と書く"]);
    assert_eq!(review.suggestions, ["名前を短く", "1.0"]);
    let written = render::review(&review);
    assert_eq!(read_ok(&written), review);
    assert!(written.ends_with("  - \"1.0\"\nscore: 1e3\n"), "{written}");
}

#[test]
fn approved_true_or_false_is_read_too() {
    assert_eq!(read_ok("approved: true").verdict, ReviewVerdict::Approved);
    assert_eq!(
        read_ok("approved: false\nissues: [a]").verdict,
        ReviewVerdict::Rejected
    );
    let both = read_ok("verdict: approved\napproved: true\n");
    assert_eq!(
        (both.verdict, both.extra.is_empty()),
        (ReviewVerdict::Approved, true)
    );
    let error = refused("verdict: approved\napproved: false\n");
    assert!(matches!(error, ForgeError::Contradiction { .. }), "{error}");
    assert_eq!(error.line(), Some(2));
    let error = refused("approved: 'true'");
    assert!(
        matches!(
            error,
            ForgeError::Type {
                expected: "true or false",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn yaml_and_json_are_read() {
    let json = r#"{
  "task_id": "t1",
  "verdict": "approved",
  "issues": [],
  "suggestions": ["名前\/path 🚀", "a\tb \ud83d\ude80"]
}"#;
    let review = read_ok(json);
    assert_eq!(review.verdict, ReviewVerdict::Approved);
    assert_eq!(review.suggestions, ["名前/path 🚀", "a\tb 🚀"]);
    assert_eq!(read_ok(&render::review(&review)), review);
    assert_eq!(read_ok("{approved: true}").verdict, ReviewVerdict::Approved);
}

#[test]
fn what_is_no_review_is_refused() {
    assert!(matches!(refused(""), ForgeError::Empty { .. }));
    assert!(matches!(refused("issues: [a]"), ForgeError::Missing { .. }));
    assert!(matches!(
        refused("- verdict: approved"),
        ForgeError::Type { .. }
    ));
    assert!(matches!(
        refused("{\"verdict\": "),
        ForgeError::Syntax { .. }
    ));
    let error = refused("verdict: aproved\n");
    assert!(
        error.to_string().ends_with("did you mean \"approved\"?"),
        "{error}"
    );
    let error = refused("task_id: t2\nverdict: approved\n");
    assert!(matches!(error, ForgeError::Elsewhere { .. }), "{error}");
    let error = refused("verdict: approved\nissues: no tests\n");
    assert!(
        matches!(
            error,
            ForgeError::Type {
                expected: "a list",
                ..
            }
        ),
        "{error}"
    );
}

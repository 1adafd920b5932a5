//! Forge's Quick Classification, row by row, in both languages of text.

use proptest::prelude::*;

use super::*;

fn proposal(title: &str) -> Proposal<'_> {
    Proposal {
        title,
        body: "",
        labels: &[],
        declared: None,
        source: Source::Human,
        unknown_type: ListedType::Feature,
    }
}

fn by(rule: &TypeRule) -> String {
    match rule {
        TypeRule::Declared => "declared".into(),
        TypeRule::Label(label) => format!("label {label}"),
        TypeRule::Keyword(word) => format!("keyword {word}"),
        TypeRule::Source => "source".into(),
        TypeRule::Default => "default".into(),
    }
}

/// The type of a title, and what decided it.
fn kind(title: &str) -> (WorkType, String) {
    let found = classify(&proposal(title));
    (found.work_type, by(&found.type_rule))
}

/// The risk of a title, and the high word, if one decided.
fn risk(title: &str) -> (Risk, Option<String>) {
    let found = classify(&proposal(title));
    match found.risk_rule {
        RiskRule::HighWord(word) => (found.risk, Some(word)),
        RiskRule::Type => (found.risk, None),
    }
}

#[track_caller]
fn check(work_type: WorkType, words: &[&str]) {
    for word in words {
        let expected = (work_type.clone(), format!("keyword {word}"));
        for title in [(*word).to_owned(), format!("the {word}, please")] {
            assert_eq!(kind(&title), expected, "{title}");
        }
        if !word.is_ascii() {
            assert_eq!(kind(&format!("画面の{word}をお願い")), expected);
        }
        assert_eq!(kind(&word.to_uppercase()), expected);
    }
}

#[test]
fn type_fix() {
    check(
        WorkType::Fix,
        &[
            "fix",
            "bug",
            "crash",
            "regression",
            "error",
            "broken",
            "修正",
            "バグ",
            "不具合",
        ],
    );
}

#[test]
fn type_refactor() {
    check(
        WorkType::Refactor,
        &[
            "refactor",
            "cleanup",
            "rename",
            "simplify",
            "extract",
            "リファクタ",
            "整理",
        ],
    );
}

#[test]
fn type_test() {
    check(WorkType::Test, &["test", "coverage", "flaky", "テスト"]);
}

#[test]
fn type_audit() {
    check(WorkType::Audit, &["audit", "review", "inspect", "監査"]);
}

#[test]
fn type_feature_is_whatever_nothing_else_names() {
    let expected = (WorkType::Feature, "default".to_owned());
    let japanese = "ログイン画面にパスワードリセットリンクを追加する。";
    for title in [
        "Add a password reset link",
        japanese,
        "",
        "fixture, debugger, contest",
    ] {
        assert_eq!(kind(title), expected, "{title}");
    }
}

#[test]
fn a_word_of_latin_script_is_a_whole_word() {
    for title in [
        "prefix", "fixes", "fix_me", "a_fix", "bugfix", "testé", "2fix",
    ] {
        assert_eq!(kind(title).0, WorkType::Feature, "{title}");
    }
    for title in [
        "bug-fix",
        "(fix)",
        "fix.",
        "fix\nit",
        "ログインのfixです",
        "«fix»",
    ] {
        assert_eq!(kind(title).0, WorkType::Fix, "{title}");
    }
    // The first place is within another word; the second is not.
    assert_eq!(kind("prefix: fix it").0, WorkType::Fix);
}

#[test]
fn wide_narrow_and_decomposed_letters_are_the_same() {
    for title in [
        "ＦＩＸ",
        "fｉx it",
        "ﾊﾞｸﾞを直す",
        "ハ\u{3099}ク\u{3099}を直す",
    ] {
        assert_eq!(kind(title).0, WorkType::Fix, "{title}");
    }
}

#[test]
fn the_order_is_fix_refactor_test_audit_whatever_comes_first_in_the_text() {
    assert_eq!(kind("review, test, rename, fix").1, "keyword fix");
    assert_eq!(kind("review, test, rename").1, "keyword rename");
    assert_eq!(kind("review, flaky test").1, "keyword test");
    assert_eq!(
        kind("crash of a bug").1,
        "keyword bug",
        "by the table's order"
    );
    let body = Proposal {
        body: "It has a bug.",
        ..proposal("Review it")
    };
    assert_eq!(classify(&body).work_type, WorkType::Fix);
}

#[test]
fn a_declared_type_counts_before_labels_and_labels_before_words() {
    let labels = ["ui".to_owned(), " Refactor ".into(), "test".into()];
    let both = Proposal {
        labels: &labels,
        ..proposal("fix it")
    };
    let found = classify(&both);
    assert_eq!(
        (found.work_type, by(&found.type_rule)),
        (WorkType::Refactor, "label  Refactor ".into())
    );
    let declared = Proposal {
        declared: Some(&WorkType::Audit),
        ..both
    };
    let found = classify(&declared);
    assert_eq!(
        (found.work_type, found.type_rule),
        (WorkType::Audit, TypeRule::Declared)
    );
}

#[test]
fn source_audit_and_reflection_give_an_audit_where_no_word_says_otherwise() {
    for source in Source::ALL {
        let found = classify(&Proposal {
            source: *source,
            ..proposal("The cache grows")
        });
        let expected = match source {
            Source::Audit | Source::Reflection => (WorkType::Audit, TypeRule::Source),
            Source::Human | Source::Epiphany => (WorkType::Feature, TypeRule::Default),
        };
        assert_eq!((found.work_type, found.type_rule), expected);
        let found = classify(&Proposal {
            source: *source,
            ..proposal("The cache is broken")
        });
        assert_eq!(found.work_type, WorkType::Fix);
    }
}

#[test]
fn flow_of_an_audit_is_audit_and_report_and_of_all_else_analyze_implement_review() {
    for work_type in WorkType::LISTED {
        let found = classify(&Proposal {
            declared: Some(work_type),
            ..proposal("")
        });
        let steps: Vec<&str> = found.flow.iter().map(|step| step.as_str()).collect();
        match work_type {
            WorkType::Audit => assert_eq!(steps, ["audit", "report"]),
            _ => assert_eq!(steps, ["analyze", "implement", "review"]),
        }
    }
}

#[test]
fn risk_low_of_tests_whatever_they_are_about() {
    assert_eq!(risk("test it"), (Risk::Low, None));
    assert_eq!(risk("認証のテストを追加"), (Risk::Low, None));
}

#[test]
fn risk_low_of_fixes_and_refactorings_unless_a_high_word_is_there() {
    assert_eq!(risk("fix the parser"), (Risk::Low, None));
    assert_eq!(risk("小規模なリファクタ"), (Risk::Low, None));
    assert_eq!(risk("fix the auth"), (Risk::High, Some("auth".into())));
    assert_eq!(
        risk("リファクタと設計変更"),
        (Risk::High, Some("設計変更".into()))
    );
}

#[test]
fn risk_med_of_features_and_audits() {
    assert_eq!(risk("add a page"), (Risk::Med, None));
    assert_eq!(risk("監査する"), (Risk::Med, None));
}

#[test]
fn risk_high_by_every_high_word_in_text_or_label() {
    for word in HIGH_WORDS {
        let expected = RiskRule::HighWord(word.to_owned());
        let text = classify(&proposal(word));
        assert_eq!((text.risk, text.risk_rule), (Risk::High, expected.clone()));
        let labels = [word.to_uppercase()];
        let label = classify(&Proposal {
            labels: &labels,
            ..proposal("add a page")
        });
        assert_eq!((label.risk, label.risk_rule), (Risk::High, expected));
    }
    assert_eq!(risk("add an author"), (Risk::Med, None));
}

#[test]
fn a_type_that_is_not_listed_is_kept_and_goes_by_the_type_for_those() {
    let docs = WorkType::Other("docs".into());
    for unknown_type in ListedType::ALL {
        let found = classify(&Proposal {
            declared: Some(&docs),
            unknown_type: *unknown_type,
            ..proposal("add a page")
        });
        assert_eq!(found.work_type, docs);
        assert_eq!(found.type_rule, TypeRule::Declared);
        let same = classify(&Proposal {
            declared: Some(&(*unknown_type).into()),
            ..proposal("add a page")
        });
        assert_eq!((found.flow, found.risk), (same.flow, same.risk));
    }
    let high = classify(&Proposal {
        declared: Some(&docs),
        ..proposal("describe the auth")
    });
    assert_eq!(high.risk, Risk::High);
}

#[test]
fn a_listed_type_in_other_letters_is_a_slip_and_any_other_word_a_type() {
    for slip in ["Fix", "FIX", " fix", "fix ", "", " "] {
        let error = slip.parse::<WorkType>().unwrap_err().to_string();
        assert!(error.contains("any other word"), "{error}");
        assert!(
            WorkType::Other(slip.into()).check("type").is_err(),
            "{slip:?}"
        );
    }
    assert!(serde_json::from_str::<WorkType>(r#""Fix""#).is_err());
    for own in ["docs", "feture", "文書", "security review"] {
        let read: WorkType = own.parse().unwrap();
        assert_eq!(read, WorkType::Other(own.into()));
        read.check("type").unwrap();
        let json = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<WorkType>(&json).unwrap(), read);
    }
    let long = WorkType::Other("x".repeat(101));
    assert!(
        long.check("type")
            .unwrap_err()
            .to_string()
            .contains("100 characters")
    );
}

#[test]
fn its_json_names_the_answer_and_the_rules() {
    let found = classify(&proposal("Fix the login crash"));
    let json = serde_json::to_value(&found).unwrap();
    let expected = serde_json::json!({
        "type": "fix",
        "type_rule": { "by": "keyword", "word": "fix" },
        "flow": ["analyze", "implement", "review"],
        "risk": "low",
        "risk_rule": { "by": "type" },
    });
    assert_eq!(json, expected);
    assert_eq!(
        serde_json::from_value::<Classification>(json).unwrap(),
        found
    );
}

/// The words of a text by another way than the code's: cut where no Latin letter,
/// digit or underscore is.
fn words(text: &str) -> Vec<String> {
    let latin = |c: char| c == '_' || (c.is_alphanumeric() && c < '\u{250}');
    text.to_lowercase()
        .split(|c| !latin(c))
        .map(str::to_owned)
        .collect()
}

fn plain_type(text: &str) -> WorkType {
    let (lower, words) = (text.to_lowercase(), words(text));
    let has = |word: &&str| match word.is_ascii() {
        true => words.iter().any(|found| found == word),
        false => lower.contains(word),
    };
    let found = KEYWORDS
        .iter()
        .find(|(_, keywords)| keywords.iter().any(has));
    found.map_or(WorkType::Feature, |(work_type, _)| (*work_type).into())
}

/// Texts of keywords, parts of them, and what is between them.
fn text() -> impl Strategy<Value = String> {
    let keywords = KEYWORDS.iter().flat_map(|(_, words)| words.iter());
    let mut parts: Vec<String> = keywords.map(|word| (*word).to_owned()).collect();
    parts.extend(["es", "pre", "_", "é", "の", "ー", "Ω", "1"].map(str::to_owned));
    let part = prop::sample::select(parts);
    let gap = prop::sample::select(vec!["", "", " ", "-", "\n", "。"]);
    prop::collection::vec((part, gap, any::<bool>()), 0..8).prop_map(|parts| {
        let mut text = String::new();
        for (part, gap, upper) in parts {
            text.push_str(&if upper { part.to_uppercase() } else { part });
            text.push_str(gap);
        }
        text
    })
}

proptest! {
    #[test]
    fn the_type_is_the_plain_references(text in text()) {
        prop_assert_eq!(classify(&proposal(&text)).work_type, plain_type(&text));
    }

    #[test]
    fn any_text_is_classified_and_always_alike(title in any::<String>(), body in any::<String>()) {
        let one = Proposal { body: &body, ..proposal(&title) };
        let found = classify(&one);
        prop_assert_eq!(&classify(&one), &found);
        prop_assert_eq!(found.flow, found.work_type.flow(ListedType::Feature));
    }
}

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
fn a_word_of_latin_script_is_a_whole_word_with_its_inflections() {
    for title in ["prefix", "fixture", "fix_me", "a_fix", "testé", "2fix"] {
        assert_eq!(kind(title).0, WorkType::Feature, "{title}");
    }
    for title in ["fixes", "fixed", "fixing", "bugfix", "bugs", "crashed"] {
        assert_eq!(kind(title).0, WorkType::Fix, "{title}");
    }
    for title in [
        "renaming",
        "simplified",
        "simplifies",
        "clean up",
        "extraction",
    ] {
        assert_eq!(kind(title).0, WorkType::Refactor, "{title}");
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
    assert_eq!(kind("review, flaky test").1, "keyword flaky");
    assert_eq!(
        kind("crash of a bug").1,
        "keyword bug",
        "by the table's order"
    );
    let body = Proposal {
        body: "It needs a fix.",
        ..proposal("Review it")
    };
    assert_eq!(classify(&body).work_type, WorkType::Fix);
}

#[test]
fn words_for_the_work_count_before_words_for_its_subject() {
    assert_eq!(kind("rename the Error type").1, "keyword rename");
    assert_eq!(kind("review the bug list").1, "keyword review");
    let body = Proposal {
        body: "It has a bug.",
        ..proposal("Review it")
    };
    assert_eq!(classify(&body).work_type, WorkType::Audit);
}

#[test]
fn what_begins_with_something_new_is_no_fix_by_its_other_words() {
    for title in [
        "Add an error page",
        "[ui] Add an error page",
        "ui: let users rename a list",
        "Please show broken links",
        "Users should be able to fix their address",
        "エラーページを追加する",
        "名前の整理機能を追加",
    ] {
        assert_eq!(
            kind(title),
            (WorkType::Feature, "default".into()),
            "{title}"
        );
        assert_eq!(risk(title), (Risk::Med, None), "{title}");
    }
    assert_eq!(kind("fix: add a null check").0, WorkType::Fix);
    assert_eq!(kind("[Bug] allow empty names").0, WorkType::Fix);
}

#[test]
fn only_a_title_that_asks_for_tests_is_one() {
    for title in [
        "Add unit tests for the lexer",
        "test: cover the lexer",
        "The tests are slow",
        "Increase test coverage",
        "テストケースの追加",
    ] {
        assert_eq!(kind(title).0, WorkType::Test, "{title}");
    }
    for title in [
        "Ship it without a test run",
        "Roll it out and test it",
        "Speed up the test environment",
        "Add a test runner",
        "テストなしで出す",
        "テスト環境を速く",
    ] {
        assert_eq!(kind(title).0, WorkType::Feature, "{title}");
    }
    let body = Proposal {
        body: "With tests, please.",
        ..proposal("The list has pages")
    };
    assert_eq!(classify(&body).work_type, WorkType::Feature);
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
fn risk_low_of_tests_unless_a_high_word_is_there() {
    assert_eq!(risk("test it"), (Risk::Low, None));
    assert_eq!(risk("パーサーのテストを追加"), (Risk::Low, None));
    assert_eq!(
        risk("認証のテストを追加"),
        (Risk::High, Some("認証".into()))
    );
    let declared = classify(&Proposal {
        declared: Some(&WorkType::Test),
        ..proposal("Delete all payment records in production without a test run")
    });
    assert_eq!(declared.risk, Risk::High);
    assert_eq!(declared.risk_rule, RiskRule::HighWord("delete".into()));
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
    let words = SUBJECTS
        .iter()
        .flat_map(|it| it.english.iter().chain(it.japanese.iter()));
    for word in words.map(|word| word.trim_end_matches(['*', '.'])) {
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
fn a_high_word_counts_inflected_prefixed_and_as_a_part_of_a_name() {
    for title in [
        "payments",
        "AUTHENTICATION",
        "deleting",
        "deleted",
        "migrated",
        "unauthorized",
        "deleteUser",
        "delete_user",
        "getAuthToken",
        "OAuth2",
        "de\u{ad}lete",
        "認\u{200b}証",
        "drop the old orders table",
        "design changes",
        "設計を大きく変更する",
    ] {
        assert_eq!(risk(title).0, Risk::High, "{title}");
    }
    for title in [
        "authors",
        "a dropdown in the table",
        "a drop-down of accounts",
        "design",
        "設計書を読む",
    ] {
        assert_eq!(risk(title).0, Risk::Med, "{title}");
    }
    let word = Some("drop table".to_owned());
    assert_eq!(risk("drop the old orders table"), (Risk::High, word));
}

#[test]
fn breaking_counts_but_where_nothing_breaks() {
    assert_eq!(risk("refactor: a breaking change").0, Risk::High);
    assert_eq!(risk("refactor it without breaking callers").0, Risk::Low);
    assert_eq!(risk("refactor it in a non-breaking way").0, Risk::Low);
}

/// A sentence of a table, with the risks and the types of which one each is expected.
struct Sentence {
    line: &'static str,
    risks: Vec<&'static str>,
    found: Classification,
    is_right_risk: bool,
    is_right_type: bool,
}

/// Reads a table of at least 40 sentences in each language and classifies them.
fn classified(table: &'static str) -> Vec<Sentence> {
    assert!(table.lines().filter(|it| it.is_ascii()).count() >= 40);
    assert!(table.lines().filter(|it| !it.is_ascii()).count() >= 40);
    let sentences = table.lines().map(|line| {
        let mut fields = line.splitn(3, '\t');
        let mut choice = || fields.next().unwrap().split('|').collect::<Vec<_>>();
        let (risks, types) = (choice(), choice());
        let found = classify(&proposal(fields.next().unwrap()));
        Sentence {
            line,
            is_right_risk: risks.contains(&found.risk.as_str()),
            is_right_type: types.contains(&found.work_type.as_str()),
            risks,
            found,
        }
    });
    sentences.collect()
}

/// Checks that all sentences of a table are classified right.
#[track_caller]
fn check_sentences(table: &'static str) {
    let sentences = classified(table);
    assert!(sentences.len() >= 100);
    for it in sentences {
        assert!(
            it.is_right_risk && it.is_right_type,
            "{}: {:?}",
            it.line,
            it.found
        );
    }
}

#[test]
fn sentences_of_the_author_are_classified() {
    check_sentences(include_str!("sentences/authored.tsv"));
}

#[test]
fn held_out_sentences_are_classified() {
    check_sentences(include_str!("sentences/held_out.tsv"));
}

/// Sentences of somebody who did not know the rules. Those that no general rule reaches stay.
#[test]
fn fresh_sentences_are_mostly_classified_and_no_high_one_is_low() {
    let sentences = classified(include_str!("sentences/fresh.tsv"));
    assert_eq!(sentences.len(), 120);
    for it in &sentences {
        let is_worst = it.risks == ["high"] && it.found.risk == Risk::Low;
        assert!(!is_worst, "{}: {:?}", it.line, it.found);
    }
    let count = |is_right: fn(&Sentence) -> bool| {
        let wrong = sentences.iter().filter(|it| !is_right(it));
        for it in wrong.clone() {
            println!("{}: {:?}", it.line, it.found);
        }
        sentences.len() - wrong.count()
    };
    let risks = count(|it| it.is_right_risk);
    let types = count(|it| it.is_right_type);
    assert!(risks >= 119 && types >= 117, "{risks} risks, {types} types");
}

/// Sentences of somebody else, for which no rule was made: what other texts can expect.
#[test]
fn unseen_sentences_are_judged_as_docs_spec_forge_md_says() {
    let sentences = classified(include_str!("sentences/unseen.tsv"));
    let count = |is: &dyn Fn(&Sentence) -> bool| sentences.iter().filter(|it| is(it)).count();
    let is_high = |it: &Sentence| it.risks == ["high"];
    let highs = count(&is_high);
    let seen = count(&|it| is_high(it) && it.found.risk == Risk::High);
    let low = count(&|it| is_high(it) && it.found.risk == Risk::Low);
    let risks = count(&|it| it.is_right_risk);
    let types = count(&|it| it.is_right_type);
    assert_eq!((sentences.len(), highs), (100, 38));
    assert!(seen >= 32 && low <= 3, "{seen} high, {low} low");
    assert!(risks >= 71 && types >= 72, "{risks} risks, {types} types");
}

#[test]
fn words_count_together_within_a_distance() {
    for (title, word) in [
        (
            "Users of one team see the boards of other teams",
            "see other teams",
        ),
        ("Move the events from Redis to Kafka", "move from redis"),
        (
            "Rename a field of the public v2 response",
            "rename public response",
        ),
        ("Only owners may invite", "only owners"),
        ("The token leaks into the log", "token leaks"),
        ("別の会社の書類が見える", "別の会社 見"),
        ("MySQLからPostgreSQLへ切り替える", "mysql から 切り替え"),
        ("バックアップを古いものから捨てる", "バックアップ 捨て"),
    ] {
        assert_eq!(risk(title), (Risk::High, Some(word.into())), "{title}");
    }
    for title in [
        "Move the Redis settings to their own page",
        "Show the public page with a new route and a header",
        "sandboxを作り直す",
        "データ。見出しを消す",
    ] {
        assert_ne!(risk(title).0, Risk::High, "{title}");
    }
}

#[test]
fn a_high_word_counts_with_one_slip_of_the_pen() {
    for word in [
        "autentication",
        "pasword",
        "migartion",
        "vulnerabillity",
        "permision",
    ] {
        let expected = (Risk::High, Some(word.to_owned()));
        assert_eq!(risk(&format!("fix the {word}")), expected);
    }
    for word in ["pavement", "relation", "subscriptions", "introduction"] {
        assert_ne!(risk(&format!("fix the {word}")).0, Risk::High, "{word}");
    }
}

#[test]
fn a_harmless_use_of_a_high_word_does_not_count() {
    for title in [
        "Pay attention to the locale",
        "Fix line breaking in the table",
        "The avatars look authentic",
        "Draw migratory birds",
        "The Delete key does nothing",
        "Deleteキーが効かない",
        "Fix the secret Santa example",
        "Fix the production build",
        "Show the token count",
        "Delete trailing white space",
        "Delete the unused import in main.rs",
        "Deleting dead code and blank lines",
        "行末の空白の削除",
        "使われていない変数を削除する",
        "認証済みバッジの色を変える",
        "Fix a typo: 'payement' should be 'payment'",
        "文言「削除しますた」を直す",
        "ログイン画面に「パスワードリセット」リンクを追加する。",
    ] {
        assert_ne!(risk(title).0, Risk::High, "{title}");
    }
}

#[test]
fn a_high_word_counts_beside_a_harmless_one() {
    for title in [
        "Pay attention to the paid plans",
        "Breaking: lines are numbered from 1",
        "Verify that the message is authentic",
        "Delete key 7 from the cache",
        "Press the Delete key to delete all users",
        "Delete unused imports and all users",
        "Delete trailing white space, and the users",
        "Delete blank lines in main.rs and all users",
        "Delete unused accounts",
        "行末の空白とユーザーを削除",
        "ユーザーと行末の空白を削除",
        "不要なレコードを削除",
        "drop the legacy_total column and tidy up the comments",
        "Fix the typo 'secret' and rotate the secrets",
        "Fix a typo in the label of users' passwords and admins' keys",
    ] {
        assert_eq!(risk(title).0, Risk::High, "{title}");
    }
}

#[test]
fn what_a_title_begins_with_counts_before_words_for_something_new() {
    for (title, expected) in [
        ("Remove unused imports", WorkType::Refactor),
        ("Move the error helpers into a module", WorkType::Refactor),
        ("Document the error codes", WorkType::Refactor),
        ("Pay attention to the locale", WorkType::Fix),
        ("Check whether the crash is known", WorkType::Audit),
        ("Find out why it is slow", WorkType::Audit),
        ("Remove the sidebar", WorkType::Feature),
        ("Move the menu to the left", WorkType::Feature),
        ("Check for updates at startup", WorkType::Feature),
        ("Document upload in the sidebar", WorkType::Feature),
    ] {
        assert_eq!(kind(title).0, expected, "{title}");
    }
    assert_eq!(kind("Export fails on Windows").0, WorkType::Fix);
}

#[test]
fn a_title_that_complains_is_a_fix_and_one_that_asks_an_audit() {
    for title in [
        "The icon is misaligned",
        "The README is out of date",
        "Off by one in the footer",
        "The button does nothing",
        "Clippy complains about a clone",
        "Rows get shown twice",
        "Tabs do not close",
        "リンク切れ",
        "凡例が古い",
        "文字が消えない",
        "警告をなくす",
        "一つずれて表示される",
        "画面が真っ白になってしまう",
    ] {
        assert_eq!(kind(title).0, WorkType::Fix, "{title}");
    }
    for title in [
        "Do we need the cache?",
        "遅い原因を調べる",
        "抜けがないか確認してほしい",
    ] {
        assert_eq!(kind(title).0, WorkType::Audit, "{title}");
    }
    for title in [
        "Do not close tabs",
        "Back up twice a day",
        "Hide tabs that do not close",
        "色を選べるようにする",
        "いずれかを選ぶ",
        "ヘルプがない",
        "ずれを表示する",
    ] {
        assert_eq!(kind(title).0, WorkType::Feature, "{title}");
    }
    let body = Proposal {
        body: "The old one is out of date.",
        ..proposal("A list of names")
    };
    assert_eq!(classify(&body).work_type, WorkType::Feature, "only titles");
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
    for slip in [
        "Fix",
        "FIX",
        " fix",
        "fix ",
        "",
        " ",
        "\u{ff46}ix",
        "fix\u{200b}",
        "docs ",
        "do\u{ad}cs",
    ] {
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

/// The type of a body, by all forms of its words.
fn plain_type(text: &str) -> WorkType {
    let (lower, words) = (text.to_lowercase(), words(text));
    let has = |word: &str| match word.is_ascii() {
        true => ["", "s", "es", "d", "ed", "ing", "ion", "ions"]
            .iter()
            .any(|end| words.contains(&format!("{word}{end}"))),
        false => lower.contains(word),
    };
    let types = || WORDS_BY_TYPE.iter().filter(|it| it.work_type != Work::Test);
    let act = types().find(|it| it.acts.iter().any(has));
    let found = act.or_else(|| types().find(|it| it.subjects.iter().any(has)));
    found.map_or(WorkType::Feature, |it| {
        ListedType::from(it.work_type).into()
    })
}

/// Texts of words for types, parts of them, and what is between them.
fn text() -> impl Strategy<Value = String> {
    let words = WORDS_BY_TYPE
        .iter()
        .flat_map(|it| it.acts.iter().chain(it.subjects.iter()));
    let mut parts: Vec<String> = words.map(|word| (*word).to_owned()).collect();
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
        let found = classify(&Proposal { body: &text, ..proposal("") });
        prop_assert_eq!(found.work_type, plain_type(&text));
    }

    #[test]
    fn any_text_is_classified_and_always_alike(title in any::<String>(), body in any::<String>()) {
        let one = Proposal { body: &body, ..proposal(&title) };
        let found = classify(&one);
        prop_assert_eq!(&classify(&one), &found);
        prop_assert_eq!(found.flow, found.work_type.flow(ListedType::Feature));
    }
}

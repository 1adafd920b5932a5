//! The words that stand for a type of work, and which of them a title is about.

use super::text::{Text, fits};

/// The types that words stand for. Without any of them work is a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Fix,
    Refactor,
    Test,
    Audit,
}

/// The words of a type.
#[derive(Debug)]
pub(super) struct TypeWords {
    pub(super) work_type: Work,
    /// Words for the work itself; they count in all their forms.
    pub(super) acts: &'static [&'static str],
    /// Words for what such work is about; they count where no act is named.
    pub(super) subjects: &'static [&'static str],
    /// Words that are acts where a title begins with them.
    leads: &'static [&'static str],
}

/// The types' words, in the order in which they are looked for.
pub(super) const WORDS_BY_TYPE: [TypeWords; 4] = [
    TypeWords {
        work_type: Work::Fix,
        acts: &[
            "fix",
            "bugfix",
            "hotfix",
            "修正",
            "修復",
            "解消",
            "解決",
            "デバッグ",
            "手直し",
            "を直",
            "が直",
            "を治",
        ],
        subjects: &[
            "bug",
            "crash",
            "regression",
            "error",
            "broken",
            "typo",
            "バグ",
            "不具合",
            "エラー",
            "クラッシュ",
            "障害",
            "誤字",
            "デグレ",
            "壊れ",
            "崩れ",
            "動かない",
            "落ちる",
        ],
        leads: &["correct", "repair", "resolve", "patch", "solve", "debug"],
    },
    TypeWords {
        work_type: Work::Refactor,
        acts: &[
            "refactor",
            "cleanup",
            "rename",
            "simplify",
            "extract",
            "リファクタ",
            "整理",
            "リネーム",
            "改名",
            "簡素化",
            "単純化",
            "共通化",
            "切り出",
            "クリーンアップ",
        ],
        subjects: &["命名", "重複コード"],
        leads: &[
            "restructure",
            "reorganize",
            "reorganise",
            "deduplicate",
            "inline",
            "tidy",
            "consolidate",
            "modularize",
            "modularise",
            "decouple",
            "unify",
            "reformat",
        ],
    },
    TypeWords {
        work_type: Work::Test,
        acts: &["test", "coverage", "flaky", "テスト", "カバレッジ"],
        subjects: &[],
        leads: &["cover"],
    },
    TypeWords {
        work_type: Work::Audit,
        acts: &[
            "audit",
            "review",
            "inspect",
            "監査",
            "レビュー",
            "点検",
            "調査",
            "精査",
            "棚卸",
        ],
        subjects: &[],
        leads: &[
            "examine",
            "assess",
            "investigate",
            "evaluate",
            "analyze",
            "analyse",
        ],
    },
];

/// Words for something new or other: a title that begins with one is not about the other
/// types' words in it.
const NEW: &[&str] = &[
    "add",
    "implement",
    "introduce",
    "create",
    "build",
    "built",
    "support",
    "allow",
    "enable",
    "provide",
    "show",
    "display",
    "let",
    "offer",
    "integrate",
    "expose",
    "replace",
    "switch",
    "upgrade",
    "update",
    "change",
    "improve",
    "increase",
    "extend",
    "expand",
    "write",
    "wrote",
    "move",
    "migrate",
    "delete",
    "remove",
    "drop",
    "purge",
    "disable",
    "hide",
    "export",
    "import",
    "send",
    "publish",
    "release",
    "deploy",
    "ship",
    "paginate",
    "feat",
    "feature",
];

/// The same in Japanese, where a title ends with them.
const NEW_JAPANESE: &[&str] = &[
    "追加",
    "実装",
    "導入",
    "作成",
    "新設",
    "対応",
    "表示",
    "サポート",
    "拡張",
    "拡充",
    "強化",
    "増や",
    "変更",
    "切り替え",
    "切替",
    "更新",
    "提供",
    "連携",
    "公開",
    "送信",
    "出力",
    "を書",
    "を作",
    "できるように",
    "可能に",
    "欲しい",
    "がほしい",
];

/// Words in front of what a title asks for.
const POLITE: &[&str] = &[
    "please", "can", "could", "you", "we", "should", "must", "need", "to", "i", "would", "like",
    "want", "also", "now", "just", "kindly", "lets", "us", "s",
];

/// Words that begin another phrase: the object of the verb ends before them.
const PHRASE_ENDS: &[&str] = &[
    "for", "of", "to", "in", "on", "at", "by", "from", "with", "without", "and", "or", "that",
    "which", "when", "where", "so", "into", "as", "around", "against", "using", "before", "after",
];

/// Words in front of a test that is no more than a condition of other work.
const BESIDES: &[&str] = &[
    "with",
    "without",
    "and",
    "plus",
    "including",
    "no",
    "after",
    "before",
    "skipping",
    "skip",
];

/// Words behind a test that make it a part of something else.
const OF_TESTS: &[&str] = &[
    "environment",
    "server",
    "user",
    "account",
    "data",
    "result",
    "page",
    "run",
    "drive",
    "mode",
];

/// The same behind a Japanese one.
const OF_TESTS_JAPANESE: &[&str] = &[
    "なし",
    "無し",
    "無く",
    "なく",
    "せず",
    "しない",
    "抜き",
    "不要",
    "付き",
    "つき",
    "も",
    "環境",
    "結果",
    "データ",
    "ユーザ",
    "用",
    "サーバ",
    "アカウント",
];

/// What a title is about by its verb: in English its first one, in Japanese its last one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// Something new or other. The words in the text do not say otherwise.
    New,
    /// A type, by the word.
    Type(Work, String),
    /// Its words decide, in the types' order.
    Words,
}

/// Finds the verb of a title, in its first line.
pub(super) fn lead(title: &Text) -> Lead {
    let first_line = title.folded().lines().next().unwrap_or_default();
    if let Some(lead) = japanese_lead(first_line) {
        return lead;
    }
    if is_japanese(first_line) {
        return Lead::Words;
    }
    let words: Vec<&str> = words_after_scope(title);
    let is = |word: &str, of: &[&str]| of.iter().any(|it| fits(word, it));
    let mut from_verb = words
        .iter()
        .copied()
        .skip_while(|word| POLITE.contains(word));
    let Some(verb) = from_verb.next() else {
        return Lead::Words;
    };
    if is(verb, NEW) {
        let object: Vec<&str> = from_verb
            .take_while(|it| !PHRASE_ENDS.contains(it))
            .collect();
        return match test_of(&object) {
            Some(word) => Lead::Type(Work::Test, word),
            None => Lead::New,
        };
    }
    for words in &WORDS_BY_TYPE {
        if is(verb, words.leads) {
            return Lead::Type(words.work_type, verb.to_owned());
        }
        if is(verb, words.acts) || is(verb, words.subjects) {
            return Lead::Words;
        }
    }
    match words.windows(2).any(|pair| pair == ["able", "to"]) {
        true => Lead::New,
        false => Lead::Words,
    }
}

/// The words of a title without a scope in front of it that names no type: `[ui]`, `parser:`.
fn words_after_scope(title: &Text) -> Vec<&str> {
    let text = title.folded();
    let head = text.trim_start();
    let from = text.len() - head.len();
    let end = match head.strip_prefix('[') {
        Some(_) => head.find(']'),
        None => head.lines().next().and_then(|line| line.find(':')),
    };
    let end = end.map(|end| from + end);
    let is_scope = |word: &str| {
        let of_types = WORDS_BY_TYPE
            .iter()
            .flat_map(|it| it.acts.iter().chain(it.subjects));
        !of_types.chain(NEW).any(|it| fits(word, it))
    };
    let scope = |end: usize| title.placed_words().filter(move |(at, _)| *at < end);
    let skipped =
        end.filter(|end| scope(*end).count() <= 3 && scope(*end).all(|(_, word)| is_scope(word)));
    let start = skipped.unwrap_or_default();
    title
        .placed_words()
        .filter(|(at, _)| *at >= start)
        .map(|(_, word)| word)
        .collect()
}

/// The test that an object is: `missing unit tests`, `test cases`, but not `a test runner`.
fn test_of(object: &[&str]) -> Option<String> {
    let tests = WORDS_BY_TYPE.iter().find(|it| it.work_type == Work::Test)?;
    let is_test = |word: &str| tests.acts.iter().any(|it| fits(word, it));
    match object {
        [.., word] if is_test(word) => Some((*word).to_owned()),
        [.., word, of] if is_test(word) && ["case", "cases", "suite", "suites"].contains(of) => {
            Some((*word).to_owned())
        }
        _ => None,
    }
}

/// Whether kana or kanji are in a text.
fn is_japanese(text: &str) -> bool {
    text.chars()
        .any(|it| matches!(it, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

fn japanese_lead(line: &str) -> Option<Lead> {
    let last = |words: &[&str]| {
        let japanese = words.iter().filter(|word| !word.is_ascii());
        japanese.filter_map(|word| line.rfind(word)).max()
    };
    let (verb_at, verb) = NEW_JAPANESE
        .iter()
        .filter_map(|word| Some((line.rfind(word)?, *word)))
        .max()?;
    let mut others = WORDS_BY_TYPE
        .iter()
        .flat_map(|it| [last(it.acts), last(it.subjects)]);
    if others.any(|other| other > Some(verb_at)) {
        return Some(Lead::Words);
    }
    let object = line.get(..verb_at).unwrap_or_default();
    let object = object.trim_end_matches(['を', 'の', 'も', 'へ', 'に', ' ', '、']);
    if let Some(word) = ["テスト", "テストケース", "テストコード", "カバレッジ"]
        .iter()
        .find(|test| object.ends_with(**test))
    {
        return Some(Lead::Type(Work::Test, (*word).to_owned()));
    }
    let faults = WORDS_BY_TYPE
        .iter()
        .flat_map(|it| it.acts.iter().chain(it.subjects));
    let mut faults = faults.filter(|word| !word.is_ascii());
    match verb == "対応" && faults.any(|word| object.ends_with(word)) {
        true => Some(Lead::Words),
        false => Some(Lead::New),
    }
}

/// The word of a title that asks for tests; a condition (`without a test run`) does not.
pub(super) fn asked_test(title: &Text, words: &[&str]) -> Option<String> {
    let all: Vec<&str> = title.words().collect();
    let is = |word: &&str, of: &[&str]| of.iter().any(|it| fits(word, it));
    let english = all.iter().enumerate().find(|(at, word)| {
        let before = all.iter().take(*at).rev().take(3);
        let after = all.get(at + 1);
        is(word, words)
            && !before.into_iter().any(|it| BESIDES.contains(it))
            && !after.is_some_and(|it| is(it, OF_TESTS))
    });
    if let Some((_, word)) = english {
        return Some((*word).to_owned());
    }
    let japanese = words.iter().filter(|word| !word.is_ascii());
    let mut japanese = japanese.flat_map(|word| title.folded().match_indices(word));
    let asked = japanese.find(|(at, word)| {
        let behind = title.folded().get(at + word.len()..).unwrap_or_default();
        !OF_TESTS_JAPANESE.iter().any(|it| behind.starts_with(it))
    });
    asked.map(|(_, word)| word.to_owned())
}

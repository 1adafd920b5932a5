//! The words that stand for a type of work, and which of them a title is about.

use super::signs;
use super::text::{Text, Words};
use super::work::Work;

/// The words of a type.
#[derive(Debug)]
pub(super) struct TypeWords {
    pub(super) work_type: Work,
    /// Words for the work itself; they count in all their forms.
    pub(super) acts: Words,
    /// Words for what such work is about; they count where no act is named.
    pub(super) subjects: Words,
    /// Words that are acts where a title begins with them.
    leads: Words,
}

/// The types' words, in the order in which they are looked for.
pub(super) const WORDS_BY_TYPE: [TypeWords; 4] = [
    TypeWords {
        work_type: Work::Fix,
        acts: Words(
            "fix bugfix hotfix 修正 修復 解消 解決 デバッグ 手直し を直 が直 に直す に直し を治 \
             訂正",
        ),
        subjects: Words(
            "bug crash regression error broken typo バグ 不具合 エラー クラッシュ 障害 誤字 \
             デグレ 壊れ 崩れ 動かない 落ちる",
        ),
        leads: Words(
            "correct repair resolve patch solve debug spell align realign avoid reword rephrase \
             capitalize capitalise silence respect honour honor fails. panic panics. hangs. \
             freezes. leaks.",
        ),
    },
    TypeWords {
        work_type: Work::Refactor,
        acts: Words(
            "refactor cleanup rename simplify extract リファクタ 整理 リネーム 改名 簡素化 \
             単純化 共通化 切り出 クリーンアップ",
        ),
        subjects: Words("命名 重複コード"),
        leads: Words(
            "restructure reorganize reorganise deduplicate dedupe dedup inline tidy modernize \
             modernise declutter untangle hoist prettify consolidate modularize modularise \
             decouple unify reformat",
        ),
    },
    TypeWords {
        work_type: Work::Test,
        acts: Words("test coverage flaky e2e テスト カバレッジ"),
        subjects: Words(""),
        leads: Words("cover fuzz parametrize parameterize parametrise assert"),
    },
    TypeWords {
        work_type: Work::Audit,
        acts: Words("audit review inspect 監査 レビュー 点検 調査 精査 棚卸"),
        subjects: Words(""),
        leads: Words(
            "examine assess investigate evaluate analyze analyse research diagnose determine \
             identify",
        ),
    },
];

/// Words for something new or other: a title that begins with one is not about the other
/// types' words in it.
const NEW: Words = Words(
    "add implement introduce create build built support allow enable provide show display let \
     offer integrate expose replace switch upgrade update change improve increase extend expand \
     write wrote move migrate delete remove drop purge disable hide export import send publish \
     release deploy ship paginate feat feature",
);

/// Words of [`NEW`] that are nouns, too, and the verbs that show it.
const NOUNS: Words = Words(
    "build builds export import release support display update upgrade change switch drop feature",
);
const PREDICATES: Words = Words(
    "fails fail failed is are was does doesn do don hangs crashes breaks never stops stopped \
     cannot ignores drops loses misses freezes leaks warns still keeps takes shows",
);

/// The same as [`NEW`] in Japanese, where a title ends with them.
const NEW_JAPANESE: Words = Words(
    "追加 実装 導入 作成 新設 対応 表示 サポート 拡張 拡充 強化 増や 変更 切り替え 切替 更新 \
     提供 連携 公開 送信 出力 を書 を作 できるように 可能に 欲しい がほしい",
);

/// Words in front of what a title asks for.
const POLITE: Words = Words(
    "please can could you we should must need to i would like want also now just kindly lets us \
     s",
);

/// Words that begin another phrase: the object of the verb ends before them.
const PHRASE_ENDS: Words = Words(
    "for of to in on at by from with without and or that which when where so into as around \
     against using before after",
);

/// Words in front of a test that is no more than a condition of other work.
const BESIDES: Words = Words("with without and plus including no after before skipping skip");

/// Words behind a test that make it a part of something else.
const OF_TESTS: Words = Words("environment server user account data result page run drive mode");

/// The same behind a Japanese one.
const OF_TESTS_JAPANESE: Words = Words(
    "なし 無し 無く なく せず しない 抜き 不要 付き つき も 環境 結果 データ ユーザ 用 サーバ \
     アカウント",
);

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
    let words: Vec<&str> = title.words().collect();
    let start = verb_of(title, &words);
    let mut from_verb = words.iter().copied().skip(start);
    let Some(verb) = from_verb.next() else {
        return Lead::Words;
    };
    if let Some((work_type, phrase)) = signs::opening(title, start) {
        return Lead::Type(work_type, phrase);
    }
    if NEW.fit(verb) && !is_noun(&words, start) {
        let object: Vec<&str> = from_verb.take_while(|it| !PHRASE_ENDS.have(it)).collect();
        return match test_of(&object) {
            Some(word) => Lead::Type(Work::Test, word),
            None => Lead::New,
        };
    }
    for words in &WORDS_BY_TYPE {
        if words.leads.fit(verb) {
            return Lead::Type(words.work_type, verb.to_owned());
        }
        if words.acts.fit(verb) || words.subjects.fit(verb) {
            return Lead::Words;
        }
    }
    match words.windows(2).any(|pair| pair == ["able", "to"]) {
        true => Lead::New,
        false => Lead::Words,
    }
}

/// Returns `true` if the first word of a title is not its verb: "Export fails", "Build is broken".
fn is_noun(words: &[&str], start: usize) -> bool {
    let is_both = words.get(start).is_some_and(|it| NOUNS.have(it));
    let mut next = words.iter().skip(start + 1).take(3);
    is_both && next.any(|it| PREDICATES.have(it))
}

/// The place of the verb that a title begins with, behind a scope and polite words.
fn verb_of(title: &Text, words: &[&str]) -> usize {
    let start = scope_of(title);
    let polite = words.iter().skip(start).take_while(|it| POLITE.have(it));
    start + polite.count()
}

/// Counts the words of a scope in front of a title that names no type: `[ui]`, `parser:`.
fn scope_of(title: &Text) -> usize {
    let text = title.folded();
    let head = text.trim_start();
    let from = text.len() - head.len();
    let end = match head.strip_prefix('[') {
        Some(_) => head.find(']'),
        None => head.lines().next().and_then(|line| line.find(':')),
    };
    let end = end.map_or(0, |end| from + end);
    let is_scope = |word: &str| {
        let types = WORDS_BY_TYPE.iter();
        !NEW.fit(word)
            && !types
                .flat_map(|it| [it.acts, it.subjects])
                .any(|it| it.fit(word))
    };
    let placed = title.placed_words().take_while(|(at, _)| *at < end);
    let scope: Vec<&str> = placed.map(|(_, word)| word).collect();
    match scope.len() <= 3 && scope.iter().all(|word| is_scope(word)) {
        true => scope.len(),
        false => 0,
    }
}

/// The test that an object is: `missing unit tests`, `test cases`, but not `a test runner`.
fn test_of(object: &[&str]) -> Option<String> {
    let tests = WORDS_BY_TYPE.iter().find(|it| it.work_type == Work::Test)?;
    match object {
        [.., word] if tests.acts.fit(word) => Some((*word).to_owned()),
        [.., word, of] if tests.acts.fit(word) && Words("case cases suite suites").have(of) => {
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
    let (verb_at, verb) = NEW_JAPANESE
        .iter()
        .filter_map(|word| Some((last_request(line, word)?, word)))
        .max()?;
    let last = |words: Words| {
        let japanese = words.iter().filter(|word| !word.is_ascii());
        japanese.filter_map(|word| line.rfind(word)).max()
    };
    let mut others = WORDS_BY_TYPE
        .iter()
        .flat_map(|it| [last(it.acts), last(it.subjects)]);
    let is_sign = signs::last_sign(line).is_some_and(|(at, ..)| at >= verb_at);
    if is_sign || others.any(|other| other > Some(verb_at)) {
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
        .flat_map(|it| it.acts.iter().chain(it.subjects.iter()));
    let mut faults = faults.filter(|word| !word.is_ascii());
    match verb == "対応" && faults.any(|word| object.ends_with(word)) {
        true => Some(Lead::Words),
        false => Some(Lead::New),
    }
}

/// The last place where a verb is a request and not a statement: `表示されるようにする`, but
/// not `ずれて表示される`.
fn last_request(line: &str, verb: &str) -> Option<usize> {
    let found = line.rmatch_indices(verb).find(|(at, _)| {
        let behind = line.get(at + verb.len()..).unwrap_or_default();
        !behind.starts_with("され") || behind.contains("ように")
    });
    found.map(|(at, _)| at)
}

/// The word of a title that asks for tests; a condition (`without a test run`) does not.
pub(super) fn asked_test(title: &Text, words: Words) -> Option<String> {
    let all: Vec<&str> = title.words().collect();
    let english = all.iter().enumerate().find(|(at, word)| {
        let before = all.iter().take(*at).rev().take(3);
        let after = all.get(at + 1);
        words.fit(word)
            && !before.into_iter().any(|it| BESIDES.have(it))
            && !after.is_some_and(|it| OF_TESTS.fit(it))
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

//! Harmless uses of high words. They are removed before high words are searched.
//! The rest of the text still counts.

use std::ops::Range;

use super::phrases::{Phrase, is_whole, japanese_places, near};
use super::text::{Text, Words};

/// Words of Latin script that are harmless together.
const ENGLISH: &[Phrase] = &[
    near(0, &["pay paid", "attention heed"]),
    near(1, &["attention", "paid"]),
    near(0, &["line word page tie circuit", "breaking"]),
    near(0, &["breaking", "lines. words. news point space"]),
    near(0, &["breaking", "long", "line word string text title name"]),
    near(0, &["secret", "santa sauce"]),
    near(
        0,
        &[
            "look feel sound seem appear more less very most so.",
            "authentic. authentically. inauthentic.",
        ],
    ),
    near(
        0,
        &["authentic. authentically.", "looking style recipe voice"],
    ),
    near(0, &["privacy", "policy"]),
    near(0, &["zebra table row", "stripe."]),
    near(0, &["git actions sparse shallow", "checkout"]),
    near(0, &["checkout", "branch repository repo commit depth"]),
    near(
        0,
        &[
            "invoice",
            "pdf template list icon header footer layout logo title heading page",
        ],
    ),
    near(0, &["read delivery message", "receipt"]),
    near(0, &["wipe", "transition animation effect"]),
    near(0, &["attack", "animation sound damage"]),
    near(0, &["free", "of.", "charge"]),
    near(0, &["in.", "charge"]),
    near(
        0,
        &[
            "plus minus dollar percent equal hash pound currency euro",
            "sign",
            "in. on.",
        ],
    ),
    near(
        0,
        &[
            "the a. an our your each every debug error build server change audit access event \
             activity json",
            "log.",
            "in.",
        ],
    ),
    near(
        0,
        &[
            "the press hit forward",
            "delete del",
            "key.",
            "do doesn is isn should has cannot can when in. on. to. must not with. while work \
             trigger remove clear stop",
        ],
    ),
    near(
        0,
        &[
            "delete",
            "key.",
            "does doesn isn should has cannot works stops",
        ],
    ),
    near(
        4,
        &[
            "delete",
            "button icon",
            "misalign* align* color colour padding margin hover tooltip position size font \
             overlap cut. capital*",
        ],
    ),
    // Only if the link is new: a change of the reset itself is a risk.
    near(
        3,
        &[
            "add show put place display",
            "password",
            "reset",
            "link button",
        ],
    ),
    near(
        0,
        &[
            "token",
            "count limit usage budget kind type stream position number",
        ],
    ),
    near(
        0,
        &[
            "log error debug warning console trace status commit",
            "message",
        ],
    ),
    near(
        0,
        &[
            "test sample dummy mock seed demo example fake",
            "data records rows",
        ],
    ),
    near(
        0,
        &[
            "data",
            "testid attribute url uri type class structure binding",
        ],
    ),
    near(0, &["user", "data", "dir directory folder path"]),
    near(0, &["case context locale", "sensitive"]),
    near(0, &["service", "class object"]),
    near(
        0,
        &[
            "memory resource handle file thread connection space",
            "leak",
        ],
    ),
    near(
        1,
        &["leak", "handle memory goroutine listener connection thread"],
    ),
    near(0, &["address thread memory leak", "saniti*"]),
    near(
        0,
        &[
            "production",
            "build bundle mode code grade quality ready dependency",
        ],
    ),
];

/// Verbs whose object may be unneeded code.
const DELETIONS: Words = Words("delete purge wipe erase destroy");

/// The words of an object that is code. One of [`UNNEEDED`] has to be among them.
const CODE: Words = Words(
    "the a. an all any some every or. extra stray old out empty duplicate obsolete line space \
     newline comma semicolon import code variable function helper method parameter argument \
     constant include using macro css local private",
);

/// Words for code that is not needed.
const UNNEEDED: Words = Words(
    "unused unneeded unnecessary needless redundant superfluous dead unreachable trailing \
     leading blank whitespace commented",
);

/// Parts of code that have a name behind them.
const NAMED: Words = Words("function method variable constant macro helper parameter argument");

/// Words behind which the object of a verb ends.
const OBJECT_ENDS: Words =
    Words("in. from. at. on. of. for. throughout. across. inside. within. under. after. before.");

/// Words that begin something else.
const BESIDES: Words = Words("and. then. also. plus. as. but. while. or.");

/// Japanese words that are harmless.
const JAPANESE: Words = Words(
    "認証済みバッジ 認証バッジ 認証マーク 依存性インジェクション プライバシーポリシー deleteキー \
     delキー デリートキー 削除キー 本番ビルド 本番用ビルド 本番コード トークン数 カラム幅 解消 \
     スクロール コントロール ロールバック ロールアップ ロールアウト",
);

/// Japanese words that are harmless together.
const JAPANESE_PHRASES: &[Phrase] = &[
    near(
        1,
        &[
            "パスワードリセットリンク パスワードリセット」リンク パスワード再設定リンク",
            "追加 表示 設置 置",
        ],
    ),
    near(1, &["警告 空白 空行 lint", "すべて 全て"]),
    near(
        4,
        &[
            "削除ボタン 削除アイコン",
            "色 位置 ずれ 余白 サイズ 大きさ フォント 配置 重な はみ出",
        ],
    ),
    near(1, &[BLANKS, DELETIONS_JAPANESE]),
    near(
        1,
        &[
            "未使用 使われていない 使っていない 使用していない 不要な 不要になった いらない \
             余分な 余計な 冗長な",
            CODE_JAPANESE,
            DELETIONS_JAPANESE,
        ],
    ),
];

const BLANKS: &str = "空白 スペース 空行 末尾の改行 余分な改行 余計な改行 不要な改行 \
    デッドコード コメントアウトされたコード コメントアウトされた行 コメントアウトしたコード";

const CODE_JAPANESE: &str = "import import文 インポート インポート文 ソースコード 変数 \
    ローカル変数 関数 メソッド 引数 コード 定数 using マクロ css スタイル 括弧 カッコ セミコロン \
    条件分岐 分岐 デバッグ出力";

const DELETIONS_JAPANESE: &str = "削除 消去 消す 消し 破棄";

/// Words of lines that are about wording.
const WORDING: Words = Words(
    "typo spelling misspell misspelt wording reword rephrase caption capitalisation \
     capitalization capitalise capitalize label tooltip heading placeholder grammar 誤字 脱字 \
     文言 表記 誤記 誤植 スペル タイポ 綴り ラベル 見出し 訳語 誤訳",
);

/// The text without harmless uses of high words.
pub(super) fn without_harmless(text: &Text) -> Text {
    let mut ranges = Vec::new();
    for phrase in ENGLISH {
        let found = text.phrase_places(phrase).into_iter();
        let words = found.filter(|words| is_unbroken(text, words)).flatten();
        ranges.extend(words.filter_map(|at| text.word_range(at)));
    }
    let words = text.words().enumerate();
    let deletions = words.filter(|(at, word)| DELETIONS.fit(word) && deletes_code(text, *at));
    ranges.extend(deletions.filter_map(|(at, _)| text.word_range(at)));
    if !text.folded().is_ascii() {
        ranges.extend(japanese(text));
    }
    if text.first_of(WORDING).is_some() {
        ranges.extend(quoted_wording(text.folded()));
    }
    match ranges.is_empty() {
        true => text.clone(),
        false => text.without(&ranges),
    }
}

/// Harmless uses in Japanese.
fn japanese(text: &Text) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for word in JAPANESE.iter() {
        let found = text.folded().match_indices(word);
        ranges.extend(found.map(|(at, word)| at..at + word.len()));
    }
    for phrase in JAPANESE_PHRASES {
        for parts in japanese_places(text.folded(), phrase) {
            let is_listed = parts.first().is_some_and(|(at, _)| is_listed(text, *at));
            if !is_listed && is_whole(text.folded(), &parts) {
                ranges.extend(parts.into_iter().map(|(at, word)| at..at + word.len()));
            }
        }
    }
    ranges
}

/// Returns `true` if the object of the verb at a place is unneeded code, and the sentence has no
/// other object.
pub(super) fn deletes_code(text: &Text, verb: usize) -> bool {
    let (mut is_unneeded, mut is_named, mut in_object) = (false, false, true);
    for (at, word) in text.words().enumerate().skip(verb + 1) {
        let gap = text.gap_before(at);
        if gap.contains(|it: char| ",;&+".contains(it) || it.is_alphabetic()) {
            return false;
        }
        let mut ends = [". ", ": ", "! ", "? ", "\n\n"].iter();
        if ends.any(|it| gap.contains(it)) {
            break;
        }
        in_object &= !OBJECT_ENDS.fit(word);
        let is_unneeded_word = in_object && UNNEEDED.fit(word);
        let is_code = is_unneeded_word || CODE.fit(word);
        let fits = match in_object {
            true => is_code || is_named && !BESIDES.fit(word),
            false => !BESIDES.fit(word),
        };
        if !fits {
            return false;
        }
        is_unneeded |= is_unneeded_word;
        is_named |= in_object && NAMED.have(word);
    }
    is_unneeded
}

/// Returns `true` if no punctuation is between the words: "breaking lines", but not "breaking:
/// lines".
fn is_unbroken(text: &Text, words: &[usize]) -> bool {
    let range = |at: Option<&usize>| text.word_range(*at?);
    let (Some(first), Some(last)) = (range(words.first()), range(words.last())) else {
        return false;
    };
    let said = text.folded().get(first.end..last.start);
    said.is_none_or(|it| !it.contains([',', '.', ':', ';', '!', '?', '(', '\n']))
}

/// Returns `true` if the phrase at a place may be the end of a list: ユーザーと空行の削除.
fn is_listed(text: &Text, at: usize) -> bool {
    let before = text.folded().get(..at).unwrap_or_default();
    let sentence = before.rsplit(['。', '\n']).next().unwrap_or_default();
    sentence.contains(['と', 'や', '、', ',', '・', '&', '+']) || sentence.contains("及び")
}

const QUOTES: [(char, char); 6] = [
    ('「', '」'),
    ('『', '』'),
    ('“', '”'),
    ('‘', '’'),
    ('"', '"'),
    ('\'', '\''),
];

/// Finds the quoted text in lines that are about wording.
fn quoted_wording(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let quoted = QUOTES.iter().flat_map(|quotes| quoted(line, *quotes));
        let quoted: Vec<Range<usize>> = quoted.collect();
        if !quoted.is_empty() && Text::new(line).first_of(WORDING).is_some() {
            found.extend(quoted.iter().map(|it| start + it.start..start + it.end));
        }
        start += line.len();
    }
    found
}

/// Finds the text between quotation marks of one kind. An apostrophe is not a mark.
fn quoted(line: &str, (open, close): (char, char)) -> Vec<Range<usize>> {
    let opens = |at: usize| {
        let before = line.get(..at).unwrap_or_default();
        open != close || !before.ends_with(char::is_alphanumeric)
    };
    let closes = |at: usize| {
        let behind = line.get(at + close.len_utf8()..).unwrap_or_default();
        open != close || !behind.starts_with(char::is_alphanumeric)
    };
    let mut found = Vec::new();
    let mut start = None;
    for (at, character) in line.char_indices() {
        match start {
            Some(from) if character == close && closes(at) => {
                found.push(from..at);
                start = None;
            }
            None if character == open && opens(at) => start = Some(at + open.len_utf8()),
            Some(_) | None => {}
        }
    }
    found
}

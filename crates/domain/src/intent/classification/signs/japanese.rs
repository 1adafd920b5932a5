//! Signs of a type in a Japanese title.

use super::super::phrases::{is_whole, japanese_places, joined_japanese, near};
use super::super::text::Words;
use super::super::work::{Signs, Work};

/// The last sign in the line of a title, with its place.
pub(in super::super) fn last_sign(line: &str) -> Option<(usize, Work, String)> {
    if line.is_ascii() {
        return None;
    }
    let line = without_remarks(line);
    let signs = JAPANESE.iter().flat_map(|signs| {
        let words = signs.words.iter();
        let words = words.filter_map(|word| Some((line.rfind(word)?, word.to_owned())));
        let phrases = signs
            .phrases
            .iter()
            .flat_map(|phrase| japanese_places(&line, phrase));
        let phrases = phrases.filter(|parts| is_whole(&line, parts));
        let phrases = phrases.filter_map(|parts| Some((parts.last()?.0, joined_japanese(&parts))));
        let all: Vec<(usize, String)> = words.chain(phrases).collect();
        all.into_iter()
            .map(|(at, word)| (at, signs.work_type, word))
    });
    signs.chain(failing(&line)).max_by_key(|(at, ..)| *at)
}

/// Words that contain a sign by chance.
const OTHERS: Words = Words("いずれ をすぎ");

/// The line with spaces for other words, and for what is in parentheses.
fn without_remarks(line: &str) -> String {
    let mut line = line.to_owned();
    for other in OTHERS.iter() {
        line = line.replace(other, &" ".repeat(other.len()));
    }
    let mut depth = 0_usize;
    let mut kept = String::with_capacity(line.len());
    for character in line.chars() {
        depth += usize::from(character == '(');
        match depth {
            0 => kept.push(character),
            _ => kept.push_str(&" ".repeat(character.len_utf8())),
        }
        depth = depth.saturating_sub(usize::from(character == ')'));
    }
    kept
}

/// A complaint at the end of a line: 文字が消えない.
fn failing(line: &str) -> Option<(usize, Work, String)> {
    let line = line.trim_end_matches(['。', '!', '?', ' ', '、']);
    let end = |words: Words| words.iter().find(|it| line.ends_with(it));
    let is_statement = || match (line.rfind('が'), line.rfind('を')) {
        (Some(subject), object) => object.is_none_or(|object| object < subject),
        (None, _) => false,
    };
    let word = match end(STATES).or_else(|| end(FAILURES)) {
        Some(word) => word,
        None => end(Words("ない")).filter(|_| end(WISHES).is_none() && is_statement())?,
    };
    Some((line.len() - word.len(), Work::Fix, word.to_owned()))
}

const STATES: Words = Words("が変 まま 残っている が残る");

/// Failures at the end of a line, regardless of the words in front of them.
const FAILURES: Words = Words(
    "反応しない 動作しない 機能しない 効かない 届かない 開かない 閉じない 終わらない \
     つながらない できない されない られない",
);

/// Endings with ない that are wishes, guesses, or ask for something new.
const WISHES: Words = Words("たくない しれない がない はない もない");

/// The types with their signs.
const JAPANESE: [Signs; 3] = [
    Signs {
        work_type: Work::Fix,
        words: Words(
            "リンク切れ ずれ ズレ 文字化け おかしい おかしく はみ出 間違 誤り 誤って 誤植 誤記 \
             誤訳 脱字 表記ゆれ 表記揺れ 重なっ 見切れ ちらつ 固まる 固まって フリーズ すぎる \
             てしまう でしまう てしまって てしまい ちゃう が古い は古い が古く 古いまま \
             古くなって 二重に 二重で ままになって まま残 正しくな が抜けて 抜けている \
             無限ループ が切れて 失敗する ているのを止め しまうのを なくなった なくなる 警告が \
             例外が スペルミス 綴り 不備 が変な 消える 消えて にくい づらい 切れる かぶって \
             見づら 見にく 読みづら 読みにく つぶれ 潰れ が違う が違って が逆 訳抜け 真っ白 \
             化けて 化ける 欠けて 途切れ ぼやけ 足りな",
        ),
        phrases: &[
            near(
                6,
                &[
                    "警告",
                    "なくす 無くす なくし 消す 消し 潰 つぶ 抑え 止め 減ら",
                ],
            ),
            near(12, &["ても", "続け たまま"]),
            near(
                4,
                &[
                    "余白 マージン 行間 インデント 位置 配置 配色 色味 字下げ 間隔 高さ",
                    "調整 揃え そろえ 合わせ",
                ],
            ),
            near(4, &["表記 用語 文言 訳語", "統一 揃え そろえ"]),
        ],
    },
    Signs {
        work_type: Work::Refactor,
        words: Words(
            "を統一 に統一 ネスト デッドコード マジックナンバー 早期return 可読性 書き直 冗長 \
             重複コード 括り出 くくり出",
        ),
        phrases: &[
            near(6, &[NAMES, "わかりやす 分かりやす 短く", "変更 変え"]),
            near(
                6,
                &[
                    NAMES,
                    "変更 変え 直 改 統一 わかりやす 分かりやす 短く 揃え そろえ",
                ],
            ),
            near(
                12,
                &[
                    PARTS,
                    "まとめ 分割 分け 移動 移す 抽出 統合 一つに 1つに 寄せ 集約 共通 置き換え \
                     置換",
                ],
            ),
            near(
                6,
                &[
                    PARTS,
                    "読みやす 見やす わかりやす 分かりやす 整え 整形 短く 片付け 片づけ",
                ],
            ),
            near(
                4,
                &[
                    "未使用 使われていない 使っていない 不要な いらない 重複 余計な 余分な 無駄な",
                    PARTS,
                    "消す 消し 削除 除去 外す 外し 取り除 なくす 片付け 整理 減ら 一つに 1つに \
                     まとめ",
                ],
            ),
            near(4, &["コード 処理 ロジック 関数", "重複"]),
            near(
                6,
                &[
                    "行末の空白 末尾の空白 空白 空行 末尾スペース コメントアウト グローバル変数 \
                     引数",
                    "消す 消し 削除 除去 取り除 なくす 無くす 減らす 片付け",
                ],
            ),
            near(
                6,
                &[
                    "readme ドキュメント changelog ヘルプ 手順書 マニュアル",
                    "更新 書き直 整え",
                ],
            ),
            near(
                4,
                &[
                    "デバッグログ デバッグ出力 コンソールログ console.log",
                    "消す 消し 削除 除去 外",
                ],
            ),
            near(
                4,
                &["コメント ソースコード import", "整え 揃え そろえ 並べ替え"],
            ),
        ],
    },
    Signs {
        work_type: Work::Audit,
        words: Words(
            "調べ 洗い出 把握し 究明 原因を特定 検討 分析 見極め 確認して 確認したい \
             確認をお願い か確認 を確認 比較 かどうか 教えて",
        ),
        phrases: &[near(6, &["チェック 見て", "ほしい 欲しい ください 下さい"])],
    },
];

const NAMES: &str =
    "変数名 関数名 メソッド名 クラス名 型名 モジュール名 定数名 引数名 パッケージ名";

const PARTS: &str = "関数 メソッド モジュール クラス ヘルパ 定数 変数 コード 処理 ロジック \
    ソースコード ユーティリティ import インポート 引数 css switch文 if文 ループ 条件分岐 \
    ファイルを機能";

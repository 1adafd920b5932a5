//! Changes that break the callers of an interface.

use super::super::phrases::near;
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const BREAKING: Subject = Subject {
    english: Words("breaking incompatib* discontinue"),
    but: Words(""),
    english_phrases: &[
        near(5, &["rid", "api endpoint interface protocol"]),
        near(2, &["compat*", "broken break breakage lost"]),
        near(3, &["break broke", "compat* api client contract"]),
        near(1, &["drop remove end stop discontinue", "support"]),
        near(
            8,
            &[
                "remove rename change drop retire deprecate sunset break move replace alter kill \
                 delete stop shut turn return require restructure make rework split",
                "public published external official",
                "api endpoint response interface schema contract sdk field method signature \
                 library client header function route url search type class module trait package",
            ],
        ),
        near(
            4,
            &[
                "remove drop retire deprecate sunset kill delete shut disable discontinue",
                "endpoint api route",
            ],
        ),
        near(
            6,
            &[
                "rename change make move split restructure alter merge",
                "endpoint",
            ],
        ),
        near(
            6,
            &[
                "change rename remove alter replace",
                "response payload wire disk storage binary file",
                "format shape field protocol layout",
            ],
        ),
        near(
            5,
            &[
                "rename remove change",
                "field parameter",
                "api response payload endpoint",
            ],
        ),
        near(
            3,
            &[
                "client caller consumer integrator",
                "change update upgrade adapt break",
            ],
        ),
        near(
            2,
            &["no. not. isn longer lose without break", "backward compat*"],
        ),
        near(0, &["major", "version", "bump release"]),
        near(2, &["api endpoint", "deprecate sunset retire"]),
        near(3, &["bump raise increase", "major minimum msrv"]),
    ],
    japanese: Words("破壊的 非互換"),
    japanese_phrases: &[
        near(
            6,
            &[
                "互換",
                "ない なく なし 無い 無く 無し 壊 破 失 捨 崩 を切 やめ 諦",
            ],
        ),
        near(
            10,
            &[
                "エンドポイント",
                "廃止 変更 変え 改名 なくす 無くす 撤去 やめ 止め 統合 リネーム",
            ],
        ),
        near(
            10,
            &[
                "api",
                "廃止 撤去 やめ 打ち切 なくす 切り捨て 変え 変更 リネーム 終了",
            ],
        ),
        near(
            14,
            &[
                "公開api 外部公開 公開して 公開sdk 公開インターフェース 外部向け 公開メソッド",
                "変え 変更 廃止 やめ 終了 改名 なくす リネーム",
            ],
        ),
        near(
            14,
            &[
                "既存 クライアント 利用者 呼び出し側 旧バージョン 連携先",
                "動かなく 使えなく 壊れ 修正が必要 対応が必要 切り捨て",
            ],
        ),
        near(4, &["サポート 提供", "終了 打ち切 やめ を切"]),
        near(
            6,
            &[
                "プロトコル サービス バージョン プラン フィールド v1 v2",
                "廃止",
            ],
        ),
        near(
            8,
            &[
                "レスポンス 応答",
                "形式 フォーマット 構造 項目 キー フィールド",
                "変え 変更",
            ],
        ),
    ],
};

//! Removal and loss of data.

use super::super::phrases::{near, object};
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const DELETION: Subject = Subject {
    english: Words("delet* purge wipe erase erasure destroy destruct* expunge decommission nuke"),
    but: Words(""),
    english_phrases: &[
        near(4, &["backup", "empty missing broken fail corrupt stopped"]),
        near(
            4,
            &[
                "remove removal drop discard prune nuke truncate",
                "database record account backup customer tenant production",
            ],
        ),
        near(
            4,
            &["drop truncate", "table column index schema collection"],
        ),
        near(
            3,
            &[
                "clear reset clean empty overwrite flush",
                "database production backup",
            ],
        ),
        object(
            4,
            &[
                "remove removal drop discard prune truncate trash scrap ditch chuck toss",
                OWNED,
            ],
        ),
        object(3, &["remove removal discard prune expire archive", "data"]),
        object(
            3,
            &[
                "clear reset clean empty overwrite flush overwritten",
                "uploads. trash data orders. users. history table workspace files. user",
            ],
        ),
        near(
            6,
            &[
                "invoices. invoice backup account record customers uploads attachments documents \
                 orders photos data database workspace projects",
                "removed. erased. discarded. dropped. gone. vanish lost. disappear overwritten \
                 pruned. expunged.",
            ],
        ),
        near(
            3,
            &[
                "cleanup",
                "sessions. users. accounts records orders. data backup database",
            ],
        ),
        near(0, &["data", "loss"]),
        near(3, &["lose lost", "data orders uploads records"]),
        near(1, &["data database file index", "corrupt* corruption"]),
        near(1, &["corrupt*", "data database"]),
        near(
            3,
            &[
                "keep retain",
                "only last latest newest",
                "day week month year backup version record last latest newest",
            ],
        ),
        near(3, &["only", "keep retain", "last latest newest days"]),
        near(
            8,
            &["remove drop prune expire discard clear", "older", "than"],
        ),
        near(0, &["rm.", "rf."]),
        near(
            3,
            &[
                "rid throw",
                "account user users. customer data backup database record orders. invoice",
            ],
        ),
        near(4, &["restore roll", "snapshot backup dump"]),
    ],
    japanese: Words("削除 消去 抹消 破棄 デリート 全消し"),
    japanese_phrases: &[
        near(8, &["バックアップ", "失敗 空 壊 取れてい 取れな 止ま"]),
        near(6, &["バックアップ", "復元 リストア"]),
        near(4, &["全件 全データ", "消 クリア リセット 初期化"]),
        near(4, &["データベース db データ テーブル", "リセット"]),
        near(
            8,
            &[
                "データ テーブル レコード アカウント ユーザ バックアップ 履歴 すべて 全て 注文 \
                 顧客 会員 投稿 請求書 添付 カラム 記録 db スナップショット メンバー ログ",
                "消す 消し 消せ を空に ドロップ 捨て 間引",
            ],
        ),
        near(
            20,
            &[
                "データ バックアップ レコード 注文 履歴 スナップショット 投稿 ファイル",
                "捨て",
            ],
        ),
        near(
            4,
            &[
                "カラム テーブル 列",
                "廃止 を落と を削る ドロップ drop を外",
            ],
        ),
        near(
            5,
            &[
                "データ ファイル 投稿 記録 保存した 注文 履歴",
                "消え 失われ 飛ん 飛ぶ 上書き なくなる なくなった が壊れ",
            ],
        ),
        near(
            8,
            &[
                "世代 日分 日間 か月分 ヶ月分 年分",
                "だけ残 のみ残 だけ保持 のみ保持",
            ],
        ),
        near(
            8,
            &["バックアップ スナップショット", "から", "復元 リストア 戻"],
        ),
        near(
            1,
            &[
                "データ レコード バックアップ アカウント テーブル",
                "整理 一掃 クリア",
            ],
        ),
        near(4, &["データベース db テーブル", "初期化"]),
    ],
};

/// Objects that people lose if they are removed.
const OWNED: &str = "users. orders. documents. uploads. attachments. photos. messages. projects. \
    profiles. members. organisations. organizations. invoices. invoice workspace. workspaces. \
    conversations. subscriptions. purchases. carts. bucket volume snapshots. rows. histories. \
    collections.";

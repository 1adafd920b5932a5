//! Data that moves, and schemas that change.

use super::super::phrases::{near, object};
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const MIGRATION: Subject = Subject {
    english: Words("migrat* backfill* cutover replica"),
    but: Words("migratory"),
    english_phrases: &[
        near(3, &["split partition", "table"]),
        object(
            2,
            &[
                "rename",
                "users. orders. customers. accounts. sessions. db database sql",
                "table",
            ],
        ),
        near(0, &["schema", "mismatch drift"]),
        near(0, &["schema", "change update upgrade"]),
        near(2, &["alter change", "table column schema"]),
        near(
            5,
            &[
                "move switch port convert transition change shift relocate transfer copy replace \
                 swap",
                "to. from. off. onto. with. into. away.",
                STORES,
            ],
        ),
        near(4, &["use adopt", STORES, "instead as. for."]),
        near(2, &["replace swap drop remove ditch abandon", STORES]),
        near(2, &["swap exchange", "database db datastore vendor"]),
        near(
            1,
            &[
                "upgrade",
                "mysql postgres postgresql mariadb mongodb database",
            ],
        ),
        near(
            0,
            &["primary main default", "database datastore store. db."],
        ),
        near(0, &["database db sql table relational new", "schema"]),
        near(
            4,
            &[
                "roll apply deploy push split evolve normalize normalise denormalize denormalise \
                 rename merge replace modify",
                "schema",
            ],
        ),
        near(0, &["primary foreign", "key"]),
        near(0, &["column table", "rename"]),
        near(0, &["unique check foreign null", "constraint"]),
        object(5, &["rename retype split widen", "column"]),
        near(
            6,
            &[
                "rename alter retype split widen drop remove change",
                "column field",
                "table database db",
            ],
        ),
        near(
            5,
            &[
                "add new nullable",
                "column",
                "database db postgres mysql sqlite sql",
            ],
        ),
        near(
            5,
            &[
                "convert transform normalize normalise restructure rewrite",
                "database db",
            ],
        ),
        near(
            3,
            &[
                "shard partition",
                "database db table data store index postgres mysql user events",
            ],
        ),
        near(0, &["dual", "write"]),
    ],
    japanese: Words(
        "移行 マイグレ 移管 乗り換え 乗換 載せ替え 載せかえ 乗せ替え 外部キー 主キー 一意制約 \
         プライマリキー リプレース 引っ越 データパッチ データ補正",
    ),
    japanese_phrases: &[
        near(8, &["テーブル", "分割 統合 正規化 パーティション"]),
        near(
            6,
            &[
                "テーブル定義 テーブル構造 テーブル名 カラム名 データ型",
                "変更 変え 修正 見直 直",
            ],
        ),
        near(
            8,
            &[
                "スキーマ",
                "変更 変え 改 追加 適用 反映 分割 見直 作り直 更新 統合 正規化 移 入れ替え \
                 切り替え",
            ],
        ),
        near(
            12,
            &[
                STORES,
                "から を",
                "変え 変更 切り替え 切替 置き換え 移 換え",
            ],
        ),
        near(
            12,
            &[
                "データベース db dbms ストレージ データ",
                "移し 移す 移せ 移る 切り替え 切替 置き換え 乗り換え 換え",
            ],
        ),
        near(
            8,
            &[
                "テーブル db データベース",
                "カラム 列を追加 列を足 列を増や 列の型 列名",
            ],
        ),
        near(
            6,
            &["カラム", "追加 足す 足し 型 リネーム 変更 分割 名前 増や"],
        ),
    ],
};

/// Products that keep data or run services.
const STORES: &str = "mysql postgres postgresql mariadb sqlite oracle mssql mongodb mongo redis \
    dynamodb cassandra elasticsearch opensearch couchdb firestore bigquery snowflake cockroachdb \
    clickhouse duckdb rocksdb leveldb supabase firebase kafka rabbitmq kubernetes k8s s3 gcs aws \
    azure gcp heroku";

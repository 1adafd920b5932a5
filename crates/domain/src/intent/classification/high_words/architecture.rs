//! Changes to a whole system.

use super::super::phrases::near;
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const ARCHITECTURE: Subject = Subject {
    english: Words("architect* monolith* microservice* replatform* cqrs serverless"),
    but: Words(""),
    english_phrases: &[
        near(
            4,
            &[
                "redesign rework restructure reorganize reorganise",
                "storage system api protocol schema database data model engine service pipeline \
                 layer backend core module infrastructure framework platform cluster",
            ],
        ),
        near(
            4,
            &[
                "rewrite rewritten overhaul rebuild",
                "whole entire complete scratch core system backend engine codebase everything",
            ],
        ),
        near(
            1,
            &[
                "system api protocol schema database model backend",
                "redesign rework overhaul rewrite reorganization",
            ],
        ),
        near(
            2,
            &[
                "whole entire complete full",
                "rewrite overhaul redesign rework",
            ],
        ),
        near(
            2,
            &[
                "large",
                "redesign rewrite refactor restructure rework overhaul change",
            ],
        ),
        near(0, &["design", "change overhaul"]),
        near(0, &["event", "sourcing sourced driven"]),
        near(
            3,
            &[
                CHANGES,
                "whole entire complete",
                "application app system codebase stack platform backend frontend infrastructure \
                 cluster product engine server website service",
            ],
        ),
        near(
            3,
            &[
                CHANGES,
                "all every",
                "services. systems. applications. apps. backends. databases.",
            ],
        ),
        near(
            2,
            &[
                "across throughout between",
                "all every our",
                "service system application app backend repositories",
            ],
        ),
        near(
            2,
            &[
                "all",
                "our",
                "services. systems. applications. apps. backends. databases.",
            ],
        ),
        near(
            5,
            &[
                "split extract break broke carve separate spin move pull divide cut turn rewrite",
                "into. out. to. as.",
                "service microfrontend",
            ],
        ),
        near(
            4,
            &[
                "replace switch move change convert swap",
                "grpc graphql soap thrift protobuf",
            ],
        ),
        near(
            3,
            &[
                "port rewrite translate convert reimplement",
                "backend server codebase engine application app service system frontend",
                "in. to.",
            ],
        ),
        near(0, &["multi", "region"]),
    ],
    japanese: Words(
        "アーキテクチャ アーキテクト 設計変更 再設計 マイクロサービス モノリス 全面刷新 全面改修 \
         抜本 フルスクラッチ イベントソーシング イベント駆動 サーバーレス リアーキ",
    ),
    japanese_phrases: &[
        near(4, &["全部 すべて 全て", "作り直 書き直 作り替え"]),
        near(8, &["設計", "変更 変え 見直 刷新 改め やり直 作り直 し直"]),
        near(
            6,
            &[
                "大規模",
                "設計 変更 改修 改造 リファクタ 書き換え 書き直 刷新 再構築 再編",
            ],
        ),
        near(
            10,
            &[
                "基盤 システム 全面的 全面 データベース db 全体 バックエンド サーバー ゼロから \
                 一から",
                "刷新 作り直 書き直 書き換え 再構築 作り替え 作り変え 作りかえ 組み直 再編",
            ],
        ),
        near(
            12,
            &[
                "システム全体 サービス全体 アプリ全体 アプリケーション全体 基盤全体 全サービス \
                 全システム すべてのサービス 全てのサービス",
                "変え 変更 移 切り替え 切替 見直 導入 置き換え 統合 分割 移植 駆動 乗り換え 統一",
            ],
        ),
        near(
            6,
            &[
                "サービス システム バックエンド",
                "分割 分離 分け 切り離 切り出 独立",
            ],
        ),
        near(
            8,
            &["rest grpc graphql soap", "から を", "rest grpc graphql"],
        ),
        near(
            14,
            &[
                "データベース db",
                "差し替え 差替 入れ替え 置き換え 乗り換え 載せ替え",
            ],
        ),
        near(
            6,
            &[
                "フレームワーク サーバ 基盤 ミドルウェア",
                "総入れ替え 入れ替え 入替 差し替え 差替 置き換え 乗り換え 載せ替え 全面",
            ],
        ),
    ],
};

/// Verbs for what happens to a whole system.
const CHANGES: &str = "change convert move port rewrite replace switch turn rebuild restructure \
    rework transform redo split break refactor redesign overhaul translate reorganize reorganise \
    swap shift";

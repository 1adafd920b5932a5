//! The subjects of a high risk, each with its words in English and Japanese.

use super::text::{Pair, Text};

/// A subject whose words make a risk high.
#[derive(Debug)]
pub(super) struct Subject {
    /// Words of Latin script: all their forms count, and a star stands for any end.
    pub(super) english: &'static [&'static str],
    /// Beginnings of other words, which a star does not stand for.
    but: &'static [&'static str],
    /// Words of Latin script that count together; distances are in words.
    english_pairs: &'static [Pair],
    /// Japanese words, which count anywhere.
    pub(super) japanese: &'static [&'static str],
    /// Japanese words that count together; distances are in characters.
    japanese_pairs: &'static [Pair],
}

impl Subject {
    /// The first word of the subject that a text has, in its own spelling.
    pub(super) fn word_of(&self, text: &Text) -> Option<String> {
        let is_other = |word: &str| self.but.iter().any(|but| word.starts_with(but));
        let word = text.first_of_but(self.english, is_other);
        word.map(str::to_owned)
            .or_else(|| text.first_pair(self.english_pairs))
            .or_else(|| text.first_of(self.japanese).map(str::to_owned))
            .or_else(|| text.first_japanese_pair(self.japanese_pairs))
    }
}

/// The subjects, in the order in which they are looked for.
pub(super) const SUBJECTS: [Subject; 7] = [
    ARCHITECTURE,
    MIGRATION,
    SECURITY,
    ACCESS,
    BREAKING,
    DELETION,
    PAYMENT,
];

const ARCHITECTURE: Subject = Subject {
    english: &["architect*", "monolith*", "microservice*", "replatform*"],
    but: &[],
    english_pairs: &[
        Pair {
            first: &["redesign", "rework", "restructure", "reorganize"],
            then: &[
                "storage",
                "system",
                "api",
                "protocol",
                "schema",
                "database",
                "data",
                "model",
                "engine",
                "service",
                "pipeline",
                "layer",
                "backend",
                "core",
                "module",
                "infrastructure",
                "framework",
                "platform",
                "cluster",
            ],
            within: 4,
        },
        Pair {
            first: &["rewrite", "rewritten", "overhaul", "rebuild"],
            then: &[
                "whole",
                "entire",
                "complete",
                "scratch",
                "core",
                "system",
                "backend",
                "engine",
                "codebase",
                "everything",
            ],
            within: 4,
        },
        Pair {
            first: &[
                "system", "api", "protocol", "schema", "database", "model", "backend",
            ],
            then: &[
                "redesign",
                "rework",
                "overhaul",
                "rewrite",
                "reorganization",
            ],
            within: 1,
        },
        Pair {
            first: &["whole", "entire", "complete", "full"],
            then: &["rewrite", "overhaul", "redesign", "rework"],
            within: 2,
        },
        Pair {
            first: &["large"],
            then: &[
                "redesign",
                "rewrite",
                "refactor",
                "restructure",
                "rework",
                "overhaul",
                "change",
            ],
            within: 2,
        },
        Pair {
            first: &["design"],
            then: &["change", "overhaul"],
            within: 0,
        },
    ],
    japanese: &[
        "アーキテクチャ",
        "アーキテクト",
        "設計変更",
        "再設計",
        "マイクロサービス",
        "モノリス",
        "全面刷新",
        "全面改修",
        "抜本",
        "フルスクラッチ",
    ],
    japanese_pairs: &[
        Pair {
            first: &["設計"],
            then: &[
                "変更",
                "変え",
                "見直",
                "刷新",
                "改め",
                "やり直",
                "作り直",
                "し直",
            ],
            within: 8,
        },
        Pair {
            first: &["大規模"],
            then: &[
                "設計",
                "変更",
                "改修",
                "改造",
                "リファクタ",
                "書き換え",
                "書き直",
                "刷新",
                "再構築",
                "再編",
            ],
            within: 6,
        },
        Pair {
            first: &["基盤", "システム", "全面的", "データベース", "db"],
            then: &["刷新", "作り直", "書き直", "書き換え", "再構築"],
            within: 6,
        },
    ],
};

const MIGRATION: Subject = Subject {
    english: &["migrat*"],
    but: &[],
    english_pairs: &[
        Pair {
            first: &["schema"],
            then: &["change", "update", "upgrade"],
            within: 0,
        },
        Pair {
            first: &["alter", "change"],
            then: &["table", "column", "schema"],
            within: 2,
        },
    ],
    japanese: &["移行", "マイグレ", "移管"],
    japanese_pairs: &[Pair {
        first: &["スキーマ"],
        then: &["変更", "変え", "改"],
        within: 4,
    }],
};

const SECURITY: Subject = Subject {
    english: &[
        "secur*",
        "vulnerab*",
        "exploit*",
        "encrypt*",
        "decrypt*",
        "cryptograph*",
        "credential",
        "secret",
        "cve",
        "xss",
        "csrf",
        "ssrf",
    ],
    but: &[],
    english_pairs: &[Pair {
        first: &["sql", "command", "code", "script", "shell"],
        then: &["injection"],
        within: 0,
    }],
    japanese: &[
        "セキュリティ",
        "セキュア",
        "脆弱",
        "暗号",
        "復号",
        "機密",
        "不正アクセス",
        "資格情報",
        "秘密鍵",
        "sqlインジェクション",
    ],
    japanese_pairs: &[],
};

/// Who somebody is, and what they may do.
const ACCESS: Subject = Subject {
    english: &[
        "authoriz*",
        "authoris*",
        "auth*",
        "oauth*",
        "oidc",
        "saml",
        "sso",
        "jwt",
        "mfa",
        "2fa",
        "totp",
        "webauthn",
        "passkey",
        "rbac",
        "acl",
        "privilege",
        "permission",
    ],
    // Not of authors, but of what is authorized.
    but: &["author"],
    english_pairs: &[Pair {
        first: &["access"],
        then: &["control", "right"],
        within: 0,
    }],
    japanese: &[
        "認証",
        "認可",
        "権限",
        "アクセス制御",
        "シングルサインオン",
        "オーセンティ",
        "オーソリ",
    ],
    japanese_pairs: &[],
};

const BREAKING: Subject = Subject {
    english: &["breaking", "incompatib*"],
    but: &[],
    english_pairs: &[
        Pair {
            first: &["break", "broke"],
            then: &["compat*", "api", "client", "contract"],
            within: 3,
        },
        Pair {
            first: &["drop", "remove", "end"],
            then: &["support"],
            within: 1,
        },
    ],
    japanese: &["破壊的", "非互換"],
    japanese_pairs: &[Pair {
        first: &["互換"],
        then: &[
            "ない", "なく", "なし", "無い", "無く", "無し", "壊", "破", "失", "捨", "崩",
        ],
        within: 6,
    }],
};

const DELETION: Subject = Subject {
    english: &[
        "delet*",
        "purge",
        "wipe",
        "erase",
        "erasure",
        "destroy",
        "destruct*",
    ],
    but: &[],
    english_pairs: &[
        Pair {
            first: &[
                "remove", "removal", "drop", "discard", "prune", "nuke", "truncate",
            ],
            then: &[
                "database",
                "record",
                "account",
                "backup",
                "customer",
                "tenant",
                "production",
            ],
            within: 4,
        },
        Pair {
            first: &["drop", "truncate"],
            then: &["table", "column", "index", "schema"],
            within: 4,
        },
        Pair {
            first: &["clear", "reset", "clean", "empty", "overwrite"],
            then: &["database", "production", "backup"],
            within: 3,
        },
    ],
    japanese: &["削除", "消去", "抹消", "破棄", "デリート", "全消し"],
    japanese_pairs: &[
        Pair {
            first: &[
                "データ",
                "テーブル",
                "レコード",
                "アカウント",
                "ユーザ",
                "バックアップ",
                "履歴",
                "すべて",
                "全て",
            ],
            then: &["消す", "消し", "消せ", "を空に", "ドロップ"],
            within: 6,
        },
        Pair {
            first: &["データベース", "db", "テーブル"],
            then: &["初期化"],
            within: 4,
        },
    ],
};

const PAYMENT: Subject = Subject {
    english: &[
        "payment*",
        "payout*",
        "payroll",
        "pay",
        "paid",
        "billing",
        "billed",
        "refund*",
        "chargeback",
    ],
    but: &[],
    english_pairs: &[
        Pair {
            first: &["customer", "card", "user", "buyer"],
            then: &["charge", "charged"],
            within: 2,
        },
        Pair {
            first: &["credit", "debit"],
            then: &["card"],
            within: 0,
        },
    ],
    japanese: &[
        "決済",
        "支払",
        "課金",
        "請求",
        "返金",
        "払い戻",
        "送金",
        "入金",
        "振込",
        "ペイメント",
    ],
    japanese_pairs: &[],
};

//! Data about people.

use super::super::phrases::near;
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const PERSONAL_DATA: Subject = Subject {
    english: Words(
        "gdpr ccpa hipaa lgpd dsgvo pii. ssn anonymi* pseudonymi* privacy passport consent \
         biometric* kyc. birthdate",
    ),
    but: Words(""),
    english_phrases: &[
        near(0, &["log message backup", "retention"]),
        near(
            1,
            &[
                "personal personally",
                "data information detail info record identifiable",
            ],
        ),
        near(1, &["date", "birth"]),
        near(0, &["birth", "date"]),
        near(
            0,
            &["medical health patient", "record data history information"],
        ),
        near(
            0,
            &["customer patient employee subscriber user member", "data"],
        ),
        near(0, &["customer patient employee home postal", "address"]),
        near(
            6,
            &[
                "phone email home ip",
                "number address",
                "export log leak analytics mask third share publish anonym* visible",
            ],
        ),
        near(
            5,
            &[
                "mask hash expose leak log share publish export collect redact",
                "email phone ip customer",
                "address number",
            ],
        ),
        near(0, &["data", "protection subject retention"]),
        near(0, &["retention", "period policy"]),
    ],
    japanese: Words(
        "個人情報 個人データ プライバシー マイナンバー 匿名化 仮名化 生年月日 顧客情報 \
         顧客データ 会員情報 患者 カルテ",
    ),
    japanese_phrases: &[near(
        10,
        &[
            "電話番号 メールアドレス 住所 氏名 本名 口座番号",
            "漏 見え 流 保存 収集 マスク 隠 匿名 ログ 表示されて",
        ],
    )],
};

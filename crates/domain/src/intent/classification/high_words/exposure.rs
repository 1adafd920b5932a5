//! Exposure of data to people whose data it is not.

use super::super::phrases::near;
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const EXPOSURE: Subject = Subject {
    english: Words(""),
    but: Words(""),
    english_phrases: &[
        near(
            0,
            &["wrong", "customer recipient person tenant account users."],
        ),
        near(
            4,
            &[
                "see seen read view access edit open download show visible find list display \
                 modify change send leak expose return overwrite serve deliver",
                "other another else. foreign someone everyone",
                "user customer tenant member people person account company organisation \
                 organization workspace team client s.",
            ],
        ),
        near(2, &["belong owned", "other another someone else."]),
        near(
            4,
            &[
                "visible exposed accessible readable",
                "everyone anyone everybody anybody internet world outside public",
            ],
        ),
        near(1, &["anyone everyone anybody", "can could with."]),
        near(
            6,
            &[
                "see read view access open find",
                "private confidential restricted",
                PLACES,
            ],
        ),
        near(
            6,
            &[
                "private confidential restricted",
                PLACES,
                "visible shown show exposed appear public accessible leak",
            ],
        ),
        near(
            4,
            &[
                "expose leak reveal disclose",
                "data email address name information customer user personal internal stack",
            ],
        ),
    ],
    japanese: Words("外部公開 一般公開"),
    japanese_phrases: &[
        near(
            14,
            &[
                "顧客 会員 利用者 ユーザ お客 個人 従業員 社員",
                "全員 みんな 皆 誰にでも 誰でも 全体",
                "見せ 見え 公開 表示 閲覧 開示",
            ],
        ),
        near(6, &["全員", "送"]),
        near(8, &["宛先 送信先", "間違 誤"]),
        near(
            14,
            &[
                "別の人 違う人 他の利用者 別の利用者 他のお客 別のお客 他人 他社 他の人 他の会社 \
                 他のユーザ 他ユーザ 別のユーザ 別の会社 他のチーム 他チーム 別のチーム 他の顧客 \
                 別の顧客 他の会員 別人",
                "見 表示 閲覧 編集 漏 取得 参照 アクセス 変更 読め 操作 届 送ら 届い 変え に出る \
                 に出て に出た",
            ],
        ),
        near(
            10,
            &[
                "非公開 限定公開 下書き 社外秘",
                "見え 見られ 漏 公開されて 表示され が出る が出て",
            ],
        ),
    ],
};

const PLACES: &str = "board document project note message repository file channel post profile \
    page report album photo";

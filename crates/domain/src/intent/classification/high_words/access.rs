//! Identities, sessions and permissions.

use super::super::phrases::near;
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const ACCESS: Subject = Subject {
    english: Words(
        "authoriz* authoris* auth* oauth* oidc saml sso jwt mfa 2fa totp otp webauthn passkey \
         passwordless rbac acl privilege permission impersonat* tenant tenancy multitenan* \
         superuser superadmin sudo scim ldap kerberos keycloak okta signin lockout revoke \
         revocation entitlement",
    ),
    // Not of authors, but of what is authorized.
    but: Words("author"),
    english_phrases: &[
        near(0, &["read", "only", "access"]),
        near(6, &["anybody anyone everybody everyone", "guess know"]),
        near(6, &["admin", "anybody anyone everybody everyone public"]),
        near(2, &["change update", "their my user customer", "email"]),
        near(1, &["behind", "login"]),
        near(0, &["activation verification", "link email mail code"]),
        near(0, &["cookie", "flag domain scope"]),
        near(0, &["remember", "me."]),
        near(0, &["default", "role"]),
        near(0, &["ownership", "check"]),
        near(3, &["visibility", "private draft hidden"]),
        near(0, &["sharing visibility", "setting rights"]),
        near(0, &["session", "mixup mix leak confusion"]),
        near(0, &["access", "control right"]),
        near(0, &["two 2 second multi 2nd", "factor"]),
        near(1, &["two 2", "step", "verification login sign"]),
        near(0, &["sign", "in. on."]),
        near(
            1,
            &[
                "sign signup",
                "up. with.",
                "with. via. using. google github",
            ],
        ),
        near(
            0,
            &[
                "log. logs.",
                "in.",
                "with. via. as. using. again without. after. when. before. through",
            ],
        ),
        near(
            1,
            &[
                "can cannot could t. to. must not. never users. user. who who they them people \
                 customers members able should let still",
                "log. logs.",
                "in.",
            ],
        ),
        near(0, &["without. before. after. by.", "logging.", "in."]),
        near(
            2,
            &[
                "stay remain keep kept only already user member customer people everyone anyone \
                 guest someone who they not",
                "logged.",
                "in. out.",
            ],
        ),
        near(0, &["log. logs. logged. logging.", "out."]),
        near(
            3,
            &[
                "login logout",
                "session cookie token attempt bypass mandatory require without fail failure rate \
                 lock lockout limit provider method history expire possible impossible flow \
                 everywhere device",
            ],
        ),
        near(0, &["login", "with. via. using. as."]),
        near(
            2,
            &[
                "limit throttle require enforce force allow disable lock bypass skip failed",
                "login",
            ],
        ),
        near(
            1,
            &[
                "google github gitlab facebook apple microsoft twitter social magic admin single",
                "login",
            ],
        ),
        near(
            1,
            &[
                "session login",
                "cookie token timeout expiry expiration expire lifetime fixation",
            ],
        ),
        near(0, &["cookie", "session"]),
        near(
            3,
            &[
                "invalidate expire revoke terminate steal stolen end kill survive",
                "session",
            ],
        ),
        near(
            2,
            &[
                "session",
                "expire stolen survive valid invalid invalidate logout",
            ],
        ),
        near(1, &["only", ROLES]),
        near(1, &[ROLES, "only"]),
        near(
            5,
            &[
                "restrict limit hide",
                "to. from. for.",
                "admin owner staff member manager moderator role employee guest team",
            ],
        ),
        near(
            0,
            &[
                "admin root administrator user guest anonymous public external edit write read",
                "right access token account",
            ],
        ),
        near(
            2,
            &[
                "guest viewer visitor stranger outsider anyone everyone anybody admin owner \
                 moderator editor",
                "can may able could allowed cannot",
            ],
        ),
        near(
            2,
            &[
                "let allow enable permit",
                "admin administrator owner moderator manager staff guest anonymous",
            ],
        ),
        near(
            0,
            &[
                "user admin viewer editor owner guest member custom iam",
                "role",
            ],
        ),
        near(
            1,
            &[
                "role",
                "based check assign assignment change hierarchy enum",
            ],
        ),
        near(2, &["transfer change", "ownership owner"]),
        near(0, &["invite invitation", "link token"]),
        near(
            2,
            &[
                "ban suspend deactivate disable block lock unlock unblock approve",
                "users. account members. customers. customer",
            ],
        ),
        near(2, &["close merge unlink link cancel reactivate", "account"]),
        near(
            2,
            &[
                "account",
                "close deactivated suspended merged locked expired takeover recovery linking",
            ],
        ),
        near(
            0,
            &[
                "who. what",
                "can may",
                "read see access view edit change delete do",
            ],
        ),
        near(3, &["link", "expire expiry"]),
        near(
            1,
            &[
                "login logout",
                "feature handling logic handler flow system test",
            ],
        ),
        near(0, &["behalf", "of."]),
        near(1, &["grant deny", "access"]),
        near(2, &["access", "denied granted"]),
        near(2, &["restrict", "user member access"]),
        near(
            3,
            &[
                "support staff agent employee",
                "see read view access",
                "customer user member tenant",
            ],
        ),
        near(3, &["edit change modify", "read", "only"]),
        near(
            4,
            &[
                "check verify verification guard",
                "caller requester user they. who. he. she.",
                "own owns owned allowed may",
            ],
        ),
        near(
            3,
            &[
                "remove drop skip bypass disable relax loosen",
                "caller owner role login access",
                "check verification guard",
            ],
        ),
    ],
    japanese: Words(
        "認証 認可 権限 アクセス制御 シングルサインオン オーセンティ オーソリ 二段階 2段階 \
         二要素 2要素 多要素 ワンタイム サインイン ソーシャルログイン アクセス権 アクセス許可 \
         代理ログイン テナント 未ログイン 招待リンク 退会 アカウントでログイン idでログイン \
         公開範囲 閲覧範囲 管理者ロール ユーザーロール ロールベース アクセス制限 ip制限 閲覧制限 \
         自動ログアウト urlを知って でログインする でログインでき",
    ),
    japanese_phrases: &[
        near(
            6,
            &["管理画面 管理ページ", "入れ 開け アクセス できてしま 見え"],
        ),
        near(
            3,
            &[
                "管理者 オーナー 所有者 責任者 会員 メンバー 本人 社員 従業員 上司 モデレーター",
                "だけ のみ 以外 しか 限",
            ],
        ),
        near(
            16,
            &[
                "管理者 オーナー モデレーター サポート担当 運営",
                "できるように 可能に 代わり られるように",
            ],
        ),
        near(
            12,
            &[
                "誰でも だれでも 第三者 部外者 ゲスト 一般ユーザ 匿名ユーザ",
                "見 閲覧 編集 開け アクセス 変更 入れ 読め 書け 操作",
            ],
        ),
        near(
            3,
            &[
                "ログイン",
                "できてしま できない できな できるように できる なしで せず していな しなくて \
                 必須 試行 失敗 連携 強制 方式 履歴 制限 不要",
            ],
        ),
        near(1, &["ログイン ログアウト", "処理 テスト 機能"]),
        near(
            8,
            &[
                "ログイン 管理画面 管理ページ 管理者 本人確認",
                "外す 外し 外れ 省く 省き 省略 スキップ 無効 やめ 素通り",
            ],
        ),
        near(
            10,
            &["誰が だれが", "入れ 見 アクセス 編集 読 触 操作 変更"],
        ),
        near(1, &["ログイン", "状態 維持 保持"]),
        near(3, &["ログインが", "切れ"]),
        near(
            12,
            &[
                "ログアウト",
                "セッション トークン 残 されてしま 全端末 端末 できない 見え 使え 入れ",
            ],
        ),
        near(
            6,
            &[
                "セッション",
                "期限 失効 無効 固定 有効期 クッキー cookie タイムアウト 残 管理 切れ",
            ],
        ),
        near(
            6,
            &["ロール", "付与 割り当て 整理 変更 追加 ごと 分け 見直 管理"],
        ),
        near(8, &["閲覧 公開 参照 見られる 見える", "範囲 制限"]),
        near(
            10,
            &["退職者 退会者 停止中 無効な", "ログイン 入れ 使え アクセス"],
        ),
        near(
            10,
            &["アカウント ユーザー 会員", "停止 凍結 ロック 無効 追放"],
        ),
    ],
};

/// Roles with more permissions than others.
const ROLES: &str = "admin administrator owner moderator manager maintainer staff superuser \
    editor member employee";

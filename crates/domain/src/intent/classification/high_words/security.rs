//! Secrets, attacks and defences.

use super::super::phrases::near;
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const SECURITY: Subject = Subject {
    english: Words(
        "secur* vulnerab* exploit* encrypt* decrypt* cryptograph* credential secret cve xss csrf \
         ssrf xxe idor rce password passwd passphrase passcode apikey cleartext attack* hijack* \
         spoof* tamper* phish* malware malicious hacker. hackers. hacked. pentest* clickjack* \
         backdoor untrusted tls ssl mtls hmac cors csp. firewall certificate bcrypt argon2 \
         scrypt httponly samesite confidential* ddos mitm ransomware spyware allowlist denylist \
         captcha crypto",
    ),
    but: Words(""),
    english_phrases: &[
        near(0, &["user account email username", "enumeration"]),
        near(1, &["constant", "time", "comparison compare check"]),
        near(
            2,
            &[
                "weak predictable guessable",
                "random token id. ids. link url",
            ],
        ),
        near(
            3,
            &[
                "bypass* circumvent*",
                "limit check validation filter restriction rule gate approval",
            ],
        ),
        near(3, &["upload", "executable svg script exe html php"]),
        near(2, &["run", "as.", "root"]),
        near(0, &["world", "readable writable"]),
        near(1, &["public open", "bucket s3"]),
        near(2, &["hardcode hard", "key token"]),
        near(3, &["commit leak expose publish", "env."]),
        near(
            0,
            &[
                "sql command code script shell header log template prompt html ldap css xpath \
                 argument crlf nosql",
                "injection",
            ],
        ),
        near(
            1,
            &[
                "api access private signing ssh gpg pgp deploy host master openai aws stripe \
                 github gitlab google azure slack twilio sendgrid anthropic encryption",
                "key",
            ],
        ),
        near(
            1,
            &[
                "access refresh bearer session api auth csrf id. reset login signing personal \
                 github gitlab slack bot deploy",
                "token",
            ],
        ),
        near(
            2,
            &[
                "token",
                "leak expire expiry expiration revoke revocation verification verify validation \
                 rotate lifetime theft steal stolen replay reuse",
            ],
        ),
        near(
            4,
            &[
                "leak expose log rotate revoke verify steal commit issue",
                "token",
            ],
        ),
        near(2, &["leak expose rotate revoke steal commit", "key"]),
        near(3, &["redact mask", "token key"]),
        near(3, &["token", "log. logs."]),
        near(
            4,
            &[
                "store log write written keep send sent save transmit",
                "plain clear plaintext",
            ],
        ),
        near(0, &["service", "account"]),
        near(
            0,
            &[
                "webhook digital request jwt token cookie package commit release payload",
                "signature",
            ],
        ),
        near(2, &["signature", "verify verification validate"]),
        near(2, &["verify validate", "signature"]),
        near(
            5,
            &[
                "user untrusted external supplied provided",
                "input html markdown svg content",
                "query sql command shell render escape unescaped without raw eval concatenat*",
            ],
        ),
        near(
            6,
            &[
                "concatenat* interpolat* saniti* unsaniti* eval unescaped",
                "input query sql html shell command markdown svg user",
            ],
        ),
        near(3, &["escape", "html input sql shell"]),
        near(
            4,
            &[
                "html input output sql shell query",
                "unescaped saniti* unsaniti* escaping",
            ],
        ),
        near(3, &["parameteri* bind", "query parameter sql"]),
        near(
            4,
            &[
                "command query sql",
                "build built assemble construct concatenat*",
                "from. with.",
            ],
        ),
        near(1, &["path directory", "traversal"]),
        near(1, &["remote arbitrary", "code file command"]),
        near(0, &["open", "redirect"]),
        near(0, &["brute", "force"]),
        near(1, &["denial", "service"]),
        near(0, &["buffer heap", "overflow overrun"]),
        near(0, &["use", "after", "free"]),
        near(0, &["prototype", "pollution"]),
        near(0, &["memory", "safety corruption"]),
        near(0, &["side timing", "channel"]),
        near(0, &["supply", "chain"]),
        near(0, &["pen penetration", "test"]),
        near(0, &["threat", "model"]),
        near(3, &["enforce force require redirect", "https"]),
        near(
            1,
            &[
                "sensitive private",
                "data information field value content header output",
            ],
        ),
        near(0, &["ip", "whitelist blacklist blocklist"]),
    ],
    japanese: Words(
        "セキュリティ セキュア 脆弱 暗号 復号 機密 不正アクセス 資格情報 秘密鍵 \
         sqlインジェクション パスワード パスフレーズ 暗証番号 apiキー アクセスキー シークレット \
         秘密情報 平文 インジェクション 攻撃 なりすま 成りすま 改ざん 改竄 乗っ取 クロスサイト \
         証明書 ブルートフォース 総当たり フィッシング マルウェア 漏洩 漏えい 情報漏 流出 \
         不正ログイン 不正利用 ファイアウォール バックドア サニタイズ 悪意 公開鍵 署名鍵 盗ま \
         盗み 誤送信 接続情報 https化",
    ),
    japanese_phrases: &[
        near(6, &["ハードコード 直書き", "キー トークン 接続"]),
        near(8, &["キー トークン", "直書き ハードコード コミット"]),
        near(6, &["env", "コミット 公開 漏"]),
        near(
            1,
            &[
                "アクセス リフレッシュ セッション api csrf ベアラー",
                "トークン",
            ],
        ),
        near(
            8,
            &[
                "トークン",
                "生成 必須 漏 失効 期限 有効期 無効 取り消 検証 再発行 発行 ログに 使え 残 \
                 ローテ リポジトリ コミット",
            ],
        ),
        near(
            8,
            &[
                "鍵",
                "漏 ローテ 更新 差し替え コミット 失効 リポジトリ 交換",
            ],
        ),
        near(4, &["署名", "検証 チェック 偽"]),
        near(8, &["入力 sql クエリ", "連結 埋め込"]),
        near(6, &["入力 html", "エスケープ"]),
    ],
};

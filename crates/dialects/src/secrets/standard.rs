//! The standard set: formats of keys that are known well, as data.
//!
//! A format is in it if what it matches is a secret nearly always: it has a prefix
//! that its issuer gave it, or a label stands before it. Names, ids and hashes have
//! neither. `docs/secrets.md` is this table for people.

use super::check::Check;

/// How a secret stands in a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// As a word of its own, which ends where the pattern does.
    Word(&'static str),
    /// As a word of a certain length: no letter or digit stands behind it.
    Whole(&'static str),
    /// Behind a label (in any case), a sign such as `:` or `=`, and a word that says
    /// what it is, which stays.
    Labelled {
        label: &'static str,
        scheme: &'static str,
        secret: &'static str,
    },
    /// Behind a label and nothing but spaces.
    Spaced {
        label: &'static str,
        secret: &'static str,
    },
    /// In surroundings of its own; the group `secret` is what goes.
    Within(&'static str),
    /// As a private key, which `key.rs` finds.
    PrivateKey,
}

/// A format of the standard set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// What the report and the marker call it. Several formats may be of one kind.
    pub(super) kind: &'static str,
    /// What it matches, for people.
    pub(super) about: &'static str,
    /// What every text has that holds one, however its JSON escapes it: a text
    /// without it is not looked through.
    pub(super) hint: &'static str,
    pub(super) shape: Shape,
    /// What a match must be.
    pub(super) check: Check,
}

/// What may stand right before a word: nothing that belongs to it, or the end of
/// an escape, as in JSON within JSON, URLs and the colours of a terminal.
macro_rules! before {
    () => {
        r"(?:(?-u:\b)|_|\\[abefnrtv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]*[mK])"
    };
}

/// Spaces, line ends and the escapes of them.
macro_rules! gap {
    ($least:literal) => {
        concat!(r"(?:[ \t\r\n]|\\+[nrt]){", $least, r",40}")
    };
}

/// A quote, escaped however often.
macro_rules! quote {
    () => {
        r#"(?:\\*["'`])"#
    };
}

/// `"value": `, where a list has names and values.
macro_rules! value {
    () => {
        concat!(
            quote!(),
            r"?(?i:value)",
            quote!(),
            "?",
            gap!(0),
            r"[:=]",
            gap!(0)
        )
    };
}

pub(super) const BEFORE: &str = before!();

/// What stands between a label and what it labels, in JSON, YAML, XML, CSV, shells,
/// programs and what they ask; quotes may be escaped, however often.
pub(super) const ASSIGNED: &str = concat!(
    quote!(),
    r"?(?:[ \t]{0,3}\[[^\]\n]{0,40}\])?[\])]?",
    "(?:",
    gap!(0),
    r"(?:->|[?:=>,|]{1,3})",
    gap!(0),
    // The type that a program declares.
    r"(?:[&A-Za-z_][&'A-Za-z0-9_.:\[\]<>|? ]{0,40}=",
    gap!(0),
    ")?(?:",
    value!(),
    ")?|",
    gap!(1),
    value!(),
    ")",
    // What makes a value of a text, and how it is written.
    r"(?:[A-Za-z_][A-Za-z0-9_.:]{0,40}!?\()?(?:[A-Za-z]{0,2}",
    quote!(),
    ")?"
);

/// What stands between a label and what it labels in commands.
pub(super) const SPACED: &str = concat!(quote!(), r"?(?:[ \t]|\\+t){1,40}", quote!(), "?");

/// What does not stand behind a word of a certain length.
pub(super) const WORD_END: &str = "(?-u:[^A-Za-z0-9]|$)";

/// The same for base64.
pub(super) const BASE64_END: &str = "(?-u:[^A-Za-z0-9+/=]|$)";

/// What stands for a secret that is elsewhere, such as the name of a variable.
pub(super) const PLACEHOLDER: &str = r"\$[A-Za-z_][A-Za-z0-9_]*|\$[0-9@*]|\$\([^()]*\)|[$\#%]{0,2}\{{1,2}[^{}]*\}{1,2}|<[^<>]*>|\*+|\[[^\[\]]*\]|%[A-Za-z]|%\([A-Za-z0-9_]*\)s|%[A-Za-z_][A-Za-z0-9_]*%|:";

/// The first line of a private key.
pub(super) const KEY_BEGIN: &str =
    r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}";

/// Its last line.
pub(super) const KEY_END: &str = r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}";

/// A header of one.
pub(super) const KEY_HEADER: &str =
    r"(?:Proc-Type|DEK-Info|Version|Comment|Charset): ?[A-Za-z0-9,.@():/ -]{1,80}";

/// The characters of a secret access key of AWS.
macro_rules! aws_secret {
    () => {
        r"(?:[A-Za-z0-9+]|\\*/){40}"
    };
}

const fn format(
    kind: &'static str,
    about: &'static str,
    hint: &'static str,
    shape: Shape,
    check: Check,
) -> Format {
    Format {
        kind,
        about,
        hint,
        shape,
        check,
    }
}

const fn word(
    kind: &'static str,
    about: &'static str,
    hint: &'static str,
    secret: &'static str,
) -> Format {
    format(kind, about, hint, Shape::Word(secret), Check::Any)
}

const fn whole(
    kind: &'static str,
    about: &'static str,
    hint: &'static str,
    secret: &'static str,
) -> Format {
    format(kind, about, hint, Shape::Whole(secret), Check::Any)
}

const fn within(
    kind: &'static str,
    about: &'static str,
    hint: &'static str,
    regex: &'static str,
) -> Format {
    format(kind, about, hint, Shape::Within(regex), Check::Any)
}

const fn labelled(
    kind: &'static str,
    about: &'static str,
    label: &'static str,
    secret: &'static str,
) -> Format {
    let scheme = "";
    let shape = Shape::Labelled {
        label,
        scheme,
        secret,
    };
    format(kind, about, label, shape, Check::Any)
}

const fn spaced(
    kind: &'static str,
    about: &'static str,
    label: &'static str,
    secret: &'static str,
) -> Format {
    let shape = Shape::Spaced { label, secret };
    format(kind, about, label, shape, Check::Varied)
}

/// What follows a scheme in an Authorization header.
const fn authorization(scheme: &'static str, secret: &'static str, check: Check) -> Format {
    let label = r"(?i:authorization)";
    let shape = Shape::Labelled {
        label,
        scheme,
        secret,
    };
    format(
        "authorization-header",
        "what follows Bearer, Token or Basic in an Authorization header",
        label,
        shape,
        check,
    )
}

/// The set, in the order in which it is shown. Of two that match the same place the
/// first one names it.
pub(super) const STANDARD: &[Format] = &[
    format(
        "private-key",
        "private keys as PEM, OpenSSH and PGP write them, whole or cut off",
        r"PRIVATE KEY",
        Shape::PrivateKey,
        Check::Any,
    ),
    within(
        "age-secret-key",
        "age identities: AGE-SECRET-KEY-1...",
        r"AGE-SECRET-KEY-1",
        r"(?<secret>AGE-SECRET-KEY-1[0-9A-Z]{58})",
    ),
    whole(
        "aws-access-key-id",
        "access key ids of AWS: AKIA..., ASIA...",
        r"A(?:KI|SI|BI|CC)A",
        r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}",
    ),
    labelled(
        "aws-secret-access-key",
        "40 characters behind a label such as aws_secret_access_key",
        r"(?i:secret[_. -]?(?:access[_. -]?)?key)",
        aws_secret!(),
    ),
    spaced(
        "aws-secret-access-key",
        "40 characters behind a label such as aws_secret_access_key",
        r"(?i:secret[_. -]?(?:access[_. -]?)?key)",
        aws_secret!(),
    ),
    // Behind its id, as in AWS's CSV.
    format(
        "aws-secret-access-key",
        "40 characters behind a label such as aws_secret_access_key",
        r"A(?:KI|SI)A",
        Shape::Within(concat!(
            before!(),
            r"A(?:KI|SI)A[A-Z0-9]{16}",
            quote!(),
            r"?(?:[ \t]|\\+t){0,3}[,:;|\t ](?:[ \t]|\\+t){0,3}",
            quote!(),
            "?(?<secret>",
            aws_secret!(),
            ")(?-u:[^A-Za-z0-9+/=]|$)"
        )),
        Check::Varied,
    ),
    labelled(
        "aws-session-token",
        "a long token behind aws_session_token or SessionToken",
        r"(?i:session[_. -]?token)",
        r"(?:[A-Za-z0-9+=]|\\*/){100,}",
    ),
    spaced(
        "aws-session-token",
        "a long token behind aws_session_token or SessionToken",
        r"(?i:session[_. -]?token)",
        r"(?:[A-Za-z0-9+=]|\\*/){100,}",
    ),
    word(
        "github-token",
        "GitHub: ghp_, gho_, ghu_, ghs_, ghr_, github_pat_",
        r"gh[pousr]_|github_pat_",
        r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59,})",
    ),
    word(
        "gitlab-token",
        "GitLab: glpat-, gldt-, glrt-, glcbt-, glptt- and others",
        r"gl[a-z]{2,5}-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[0-9A-Za-z_.-]{20,}(?-u:\b)",
    ),
    word(
        "slack-token",
        "Slack: xoxb-, xoxp-, xoxa-, xoxr-, xoxs-, xoxe-, xapp-",
        r"xox[abeoprs]|xapp-",
        r"(?:xox[abeoprs](?:\.xox[bp])?-[0-9]+-[0-9A-Za-z-]{10,}|xapp-[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]{20,})",
    ),
    within(
        "slack-webhook",
        "the path of a Slack webhook",
        r"hooks\.slack\.com",
        r"hooks\.slack\.com\\*/(?:services|workflows|triggers)\\*/(?<secret>[A-Z][A-Za-z0-9_]{6,}\\*/[A-Za-z0-9_]{6,}\\*/[A-Za-z0-9_]{16,})",
    ),
    word(
        "stripe-key",
        "Stripe's live keys and signing secrets: sk_live_, rk_live_, whsec_",
        r"[sr]k_live_|whsec_",
        r"(?:[sr]k_live_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    word(
        "anthropic-key",
        "Anthropic: sk-ant-...",
        r"sk-ant-",
        r"sk-ant-[A-Za-z0-9]{2,12}-[A-Za-z0-9_-]{24,}",
    ),
    word(
        "openrouter-key",
        "OpenRouter: sk-or-v1-...",
        r"sk-or-v1-",
        r"sk-or-v1-[0-9a-f]{64}",
    ),
    whole(
        "openai-key",
        "OpenAI: sk-proj-, sk-svcacct-, sk-admin-, and sk- with 48 characters",
        r"sk-[A-Za-z0-9]",
        r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{48})",
    ),
    whole(
        "google-api-key",
        "Google's API keys: AIza...",
        r"AIza",
        r"AIza[0-9A-Za-z_-]{35}",
    ),
    word(
        "google-oauth-secret",
        "Google's OAuth client secrets and access tokens: GOCSPX-, ya29.",
        r"GOCSPX-|ya29\.",
        r"(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{40,})",
    ),
    word(
        "huggingface-token",
        "Hugging Face: hf_...",
        r"hf_",
        r"hf_[A-Za-z0-9]{34,}",
    ),
    whole("groq-key", "Groq: gsk_...", r"gsk_", r"gsk_[A-Za-z0-9]{52}"),
    word("xai-key", "xAI: xai-...", r"xai-", r"xai-[A-Za-z0-9]{70,}"),
    word(
        "nvidia-key",
        "NVIDIA: nvapi-...",
        r"nvapi-",
        r"nvapi-[A-Za-z0-9_-]{60,}",
    ),
    whole(
        "replicate-token",
        "Replicate: r8_...",
        r"r8_",
        r"r8_[A-Za-z0-9]{37}",
    ),
    whole(
        "npm-token",
        "npm: npm_..., and what _authToken= has in .npmrc",
        r"npm_",
        r"npm_[A-Za-z0-9]{36}",
    ),
    within(
        "npm-token",
        "npm: npm_..., and what _authToken= has in .npmrc",
        r"_authToken",
        r#"_authToken\\*["']?\s{0,3}[:=]\s{0,3}\\*["']?(?<secret>[A-Za-z0-9+/=_.-]{16,})"#,
    ),
    word(
        "pypi-token",
        "PyPI: pypi-AgE...",
        r"pypi-AgE",
        r"pypi-AgE[A-Za-z0-9_-]{50,}",
    ),
    whole(
        "crates-io-token",
        "crates.io: cio and 32 characters",
        r"cio[A-Za-z0-9]",
        r"cio[A-Za-z0-9]{32}",
    ),
    word(
        "rubygems-token",
        "RubyGems: rubygems_...",
        r"rubygems_",
        r"rubygems_[0-9a-f]{48}",
    ),
    word(
        "docker-token",
        "Docker Hub: dckr_pat_, dckr_oat_",
        r"dckr_",
        r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}",
    ),
    word(
        "digitalocean-token",
        "DigitalOcean: dop_v1_, doo_v1_, dor_v1_",
        r"do[opr]_v1_",
        r"do[opr]_v1_[0-9a-f]{64}",
    ),
    within(
        "azure-key",
        "AccountKey= and SharedAccessKey= of connection strings, sig= of shared access signatures",
        r"(?:Account|SharedAccess)Key",
        r"(?:Account|SharedAccess)Key(?:=|\\+u003[dD]|%3[dD])(?<secret>(?:[A-Za-z0-9+]|\\*/|\\+u002[bB]|%2[bBfF]){42,86}(?:=|\\+u003[dD]|%3[dD]){1,2})",
    ),
    within(
        "azure-key",
        "AccountKey= and SharedAccessKey= of connection strings, sig= of shared access signatures",
        r"sig(?:=|\\+u003|%3)",
        concat!(
            before!(),
            r"sig(?:=|\\+u003[dD]|%3[dD])(?<secret>(?:[A-Za-z0-9]|%(?:25)?2[bBfF]){30,}%(?:25)?3[dD])"
        ),
    ),
    whole(
        "databricks-token",
        "Databricks: dapi and 32 hexadecimal digits",
        r"dapi[0-9a-f]",
        r"dapi[0-9a-f]{32}",
    ),
    word(
        "vault-token",
        "HashiCorp Vault: hvs., hvb.",
        r"hv[sb]\.",
        r"hv[sb]\.[A-Za-z0-9_-]{24,}",
    ),
    word(
        "atlassian-token",
        "Atlassian: ATATT3...",
        r"ATATT3",
        r"ATATT3[A-Za-z0-9_=-]{100,}",
    ),
    word(
        "grafana-token",
        "Grafana: glsa_...",
        r"glsa_",
        r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}",
    ),
    word(
        "linear-key",
        "Linear: lin_api_...",
        r"lin_api_",
        r"lin_api_[A-Za-z0-9]{40}",
    ),
    word(
        "shopify-token",
        "Shopify: shpat_, shpca_, shppa_, shpss_",
        r"shp(?:at|ca|pa|ss)_",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    ),
    word(
        "sendgrid-key",
        "SendGrid: SG....",
        r"SG\.",
        r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    ),
    whole(
        "twilio-key",
        "Twilio: SK and 32 hexadecimal digits; the same behind twilio_auth_token",
        r"SK[0-9a-f]",
        r"SK[0-9a-f]{32}",
    ),
    labelled(
        "twilio-key",
        "Twilio: SK and 32 hexadecimal digits; the same behind twilio_auth_token",
        r"(?i:twilio[_-]?auth[_-]?token)",
        r"[0-9a-f]{32}",
    ),
    // A bot's token begins with its id: the base64 of 17 to 19 decimal digits.
    word(
        "discord-token",
        "bot tokens of Discord",
        r"[MNO][DTjz][AEIMQUYcgk][w-z0-5][MNO][DTjz][AEIMQUYcgk][w-z0-5]",
        r"(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5,6}[A-Za-z0-9]{0,4}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    ),
    within(
        "discord-webhook",
        "the token of a Discord webhook",
        r"discord",
        r"discord(?:app)?\.com\\*/api\\*/(?:v[0-9]{1,2}\\*/)?webhooks\\*/[0-9]{17,20}\\*/(?<secret>[A-Za-z0-9_-]{60,})",
    ),
    within(
        "telegram-token",
        "bot tokens of Telegram",
        r":AA[A-Za-z0-9_-]",
        concat!(
            "(?:bot|",
            before!(),
            r")(?<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})(?-u:[^A-Za-z0-9_-]|$)"
        ),
    ),
    word(
        "json-web-token",
        "signed JSON web tokens: eyJ....eyJ....",
        r"eyJ",
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
    ),
    authorization(
        r"(?i:bearer|token|basic|bot)\s+",
        r"[A-Za-z0-9._~+/=-]{12,}",
        Check::Mixed,
    ),
    authorization(
        r"(?i:basic)\s+",
        r"[A-Za-z0-9+/]{6,}={0,2}",
        Check::Credentials,
    ),
    format(
        "url-password",
        "the password of a URL: https://user:<password>@host",
        r"(?-u)://[^\s/@:]*:[^\s/]*@|:\\+/\\+/",
        Shape::Within(
            r#"[A-Za-z][A-Za-z0-9+.-]{1,30}:\\*/\\*/(?:<[^\s/@:"'`<>\\]{1,40}>|[^\s/@:"'`<>\\]*):(?<secret>[^\s/@?\#"'`<>\\][^\s/?\#"'`<>\\]*)@(?:[A-Za-z0-9_*$%{\[/]|<[A-Za-z])"#,
        ),
        Check::NoPlaceholder,
    ),
];

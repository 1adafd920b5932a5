//! The standard set: formats of keys that are known well, as data.
//!
//! A format is in it if what it matches is a secret nearly always: it has a prefix
//! that its issuer gave it, or a label stands before it. Names, ids and hashes have
//! neither. `docs/secrets.md` is this table for people.

/// How a secret stands in a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// As a word of its own.
    Word(&'static str),
    /// Behind a label (in any case) and a sign such as `:` or `=`.
    Labelled {
        label: &'static str,
        secret: &'static str,
    },
    /// In surroundings of its own; the group `secret` is what goes.
    Within(&'static str),
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
    /// Whether what is matched must have a letter and a digit, as no word has.
    pub(super) mixed: bool,
}

/// What may stand right before a word: nothing that belongs to it, or the end of
/// an escape, as in JSON within JSON, URLs and the colours of a terminal.
pub(super) const BEFORE: &str =
    r"(?:(?-u:\b)|_|\\[abefnrtv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]*m)";

/// What stands between a label and what it labels, in JSON, YAML, XML, shells and
/// programs; quotes may be escaped, however often.
pub(super) const ASSIGNED: &str =
    r#"(?:\\*["'`])?[\]\s]{0,3}(?::=|=>|[:=>])\s{0,3}(?:[A-Za-z]\()?(?:\\*["'`])?"#;

/// The first line of a private key.
pub(super) const KEY_BEGIN: &str =
    r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}";

/// Its last line.
pub(super) const KEY_END: &str = r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}";

/// A whole private key, with whatever a diff, a listing or an escape puts before
/// each of its lines; or as much of one as is there.
const PRIVATE_KEY: &str = concat!(
    r"(?<secret>",
    r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
    r#"(?:[A-Za-z0-9+/=\s\\:,.|>"'_()\x{2192}-]*?(?:[A-Za-z0-9+/=]|\\/){40}"#,
    r#"[A-Za-z0-9+/=\s\\:,.|>"'_()\x{2192}-]*?"#,
    r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
    r#"|(?:(?:[\s\\:,|>"'+0-9\x{2192}-]|\\[nrt]){1,16}"#,
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset): ?[A-Za-z0-9,. -]+|(?:[A-Za-z0-9+/=]|\\/){20,}))+",
    r"))"
);

const fn word(
    kind: &'static str,
    about: &'static str,
    hint: &'static str,
    secret: &'static str,
) -> Format {
    Format {
        kind,
        about,
        hint,
        shape: Shape::Word(secret),
        mixed: false,
    }
}

const fn within(
    kind: &'static str,
    about: &'static str,
    hint: &'static str,
    regex: &'static str,
) -> Format {
    Format {
        kind,
        about,
        hint,
        shape: Shape::Within(regex),
        mixed: false,
    }
}

const fn labelled(
    kind: &'static str,
    about: &'static str,
    label: &'static str,
    secret: &'static str,
) -> Format {
    Format {
        kind,
        about,
        hint: label,
        shape: Shape::Labelled { label, secret },
        mixed: false,
    }
}

/// The set, in the order in which it is shown. Of two that match the same place the
/// first one names it.
pub(super) const STANDARD: &[Format] = &[
    within(
        "private-key",
        "private keys as PEM, OpenSSH and PGP write them, whole or cut off",
        r"PRIVATE KEY",
        PRIVATE_KEY,
    ),
    within(
        "age-secret-key",
        "age identities: AGE-SECRET-KEY-1...",
        r"AGE-SECRET-KEY-1",
        r"(?<secret>AGE-SECRET-KEY-1[0-9A-Z]{58})",
    ),
    word(
        "aws-access-key-id",
        "access key ids of AWS: AKIA..., ASIA...",
        r"A(?:KI|SI|BI|CC)A",
        r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?-u:\b)",
    ),
    labelled(
        "aws-secret-access-key",
        "40 characters behind a label such as aws_secret_access_key",
        r"(?i:secret[_. -]?(?:access[_. -]?)?key)",
        r"(?:[A-Za-z0-9+]|\\*/){40}",
    ),
    labelled(
        "aws-session-token",
        "a long token behind aws_session_token or SessionToken",
        r"(?i:session[_-]?token)",
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
    word(
        "openai-key",
        "OpenAI: sk-proj-, sk-svcacct-, sk-admin-, and sk- with 48 characters",
        r"sk-[A-Za-z0-9]",
        r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{48}(?-u:\b))",
    ),
    within(
        "google-api-key",
        "Google's API keys: AIza...",
        r"AIza",
        r"(?-u:\b)(?<secret>AIza[0-9A-Za-z_-]{35})(?:[^0-9A-Za-z_-]|$)",
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
        r"hf_[A-Za-z0-9]{34,}(?-u:\b)",
    ),
    word(
        "groq-key",
        "Groq: gsk_...",
        r"gsk_",
        r"gsk_[A-Za-z0-9]{52}(?-u:\b)",
    ),
    word("xai-key", "xAI: xai-...", r"xai-", r"xai-[A-Za-z0-9]{70,}"),
    word(
        "nvidia-key",
        "NVIDIA: nvapi-...",
        r"nvapi-",
        r"nvapi-[A-Za-z0-9_-]{60,}",
    ),
    word(
        "replicate-token",
        "Replicate: r8_...",
        r"r8_",
        r"r8_[A-Za-z0-9]{37}(?-u:\b)",
    ),
    word(
        "npm-token",
        "npm: npm_..., and what _authToken= has in .npmrc",
        r"npm_",
        r"npm_[A-Za-z0-9]{36}(?-u:\b)",
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
    word(
        "crates-io-token",
        "crates.io: cio and 32 characters",
        r"cio[A-Za-z0-9]",
        r"cio[A-Za-z0-9]{32}(?-u:\b)",
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
        r"(?:Account|SharedAccess)Key(?:=|\\u003[dD])(?<secret>(?:[A-Za-z0-9+]|\\*/){42,86}={1,2})",
    ),
    within(
        "azure-key",
        "AccountKey= and SharedAccessKey= of connection strings, sig= of shared access signatures",
        r"sig=",
        r"(?-u:\b)sig=(?<secret>(?:[A-Za-z0-9]|%2[bBfF]){30,}%3[dD])",
    ),
    word(
        "databricks-token",
        "Databricks: dapi and 32 hexadecimal digits",
        r"dapi[0-9a-f]",
        r"dapi[0-9a-f]{32}(?-u:\b)",
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
    word(
        "twilio-key",
        "Twilio: SK and 32 hexadecimal digits; the same behind twilio_auth_token",
        r"SK[0-9a-f]",
        r"SK[0-9a-f]{32}(?-u:\b)",
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
        r"discord(?:app)?\.com\\*/api\\*/webhooks\\*/[0-9]{17,20}\\*/(?<secret>[A-Za-z0-9_-]{60,})",
    ),
    within(
        "telegram-token",
        "bot tokens of Telegram",
        r":AA[A-Za-z0-9_-]",
        r"(?:(?-u:\b)|bot|_|\\[nrt])(?<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)",
    ),
    word(
        "json-web-token",
        "signed JSON web tokens: eyJ....eyJ....",
        r"eyJ",
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
    ),
    Format {
        kind: "authorization-header",
        about: "what follows Bearer, Token or Basic in an Authorization header",
        hint: r"(?i:authorization)",
        shape: Shape::Within(
            r#"(?i:authorization)(?:\\*["'`])?\s{0,3}[:=,]\s{0,3}(?:\\*["'`])?(?i:bearer|token|basic|bot)\s+(?<secret>[A-Za-z0-9._~+/=-]{12,})"#,
        ),
        mixed: true,
    },
    within(
        "url-password",
        "the password of a URL: https://user:<password>@host",
        r"(?-u)://[^\s/@:]*:[^\s/]*@|:\\+/\\+/",
        r#"[A-Za-z][A-Za-z0-9+.-]{1,30}:\\*/\\*/[^\s/@:"'`<>\\{}$]*:(?<secret>[^\s/@?\#"'`<>\\$\{\}*\[\]%][^\s/?\#"'`<>\\]*|%[0-9A-Fa-f]{2}[^\s/?\#"'`<>\\]*)@[A-Za-z0-9\[]"#,
    ),
];

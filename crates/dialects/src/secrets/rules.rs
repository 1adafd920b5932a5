//! The standard set as data: `rules.toml`, and how a rule becomes an expression.

use serde::Deserialize;

use super::check::Check;
use super::standard::{ASSIGNED, BASE64_END, BEFORE, KEY_BEGIN, QUOTE, SPACED, WORD_END};

/// The rules.
const RULES: &str = include_str!("rules.toml");

/// The group of a pattern that is the secret.
const GROUP: &str = "secret";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Vec<Kind>,
}

/// Secrets of one kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) rules: Vec<Rule>,
}

/// How a secret is written in a text: one of the forms, with what it needs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) hint: String,
    #[serde(default)]
    pub(super) check: Check,
    word: Option<String>,
    whole: Option<String>,
    anywhere: Option<String>,
    labelled: Option<String>,
    spaced: Option<String>,
    within: Option<String>,
    #[serde(default)]
    pub(super) private_key: bool,
    label: Option<String>,
    scheme: Option<String>,
    #[serde(default)]
    end: bool,
    #[serde(default)]
    by_label: bool,
}

/// The kinds of the standard set, in their order.
pub(super) fn kinds() -> Result<Vec<Kind>, toml::de::Error> {
    let file: File = toml::from_str(RULES)?;
    Ok(file.kind)
}

impl Rule {
    /// Whether a key of JSON or YAML may be its label.
    pub(super) fn has_label(&self) -> bool {
        self.labelled.is_some() || self.by_label
    }

    /// The expression that finds it; nothing if it has not just one form.
    pub(super) fn regex(&self) -> Option<String> {
        let label = self.label.as_deref();
        let scheme = self.scheme.as_deref().unwrap_or_default();
        let end = if self.end { WORD_END } else { "" };
        let of = |form: &Option<String>, regex: &dyn Fn(&str) -> Option<String>| {
            form.as_deref().map(regex)
        };
        let forms = [
            of(&self.word, &|it| Some(format!("{BEFORE}(?<{GROUP}>{it})"))),
            of(&self.whole, &|it| {
                Some(format!("{BEFORE}(?<{GROUP}>{it}){WORD_END}"))
            }),
            of(&self.anywhere, &|it| Some(format!("(?<{GROUP}>{it}){end}"))),
            of(&self.labelled, &|it| {
                let label = label?;
                Some(format!(
                    "{label}{ASSIGNED}{scheme}(?<{GROUP}>{it}){BASE64_END}"
                ))
            }),
            of(&self.spaced, &|it| {
                let label = label?;
                Some(format!("{label}{SPACED}(?<{GROUP}>{it}){BASE64_END}"))
            }),
            of(&self.within, &|it| Some(it.to_owned())),
            self.private_key.then(|| Some(KEY_BEGIN.to_owned())),
        ];
        let mut forms = forms.into_iter().flatten();
        let (Some(Some(regex)), None) = (forms.next(), forms.next()) else {
            return None;
        };
        Some(regex.replace("<before>", BEFORE).replace("<quote>", QUOTE))
    }
}

//! The standard set as data: `rules.toml`, and how a rule becomes an expression.

use std::collections::BTreeMap;

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
    /// Parts of expressions by the names that stand for them.
    fragments: BTreeMap<String, String>,
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
    /// Whether the rows of a table have it, which `table.rs` finds.
    #[serde(default)]
    pub(super) table: bool,
    label: Option<String>,
    scheme: Option<String>,
    #[serde(default)]
    end: bool,
    #[serde(default)]
    by_label: bool,
    /// What the key must have of which `by_label` speaks.
    key: Option<String>,
    /// The part of a text that is searched, instead of the whole.
    pub(super) region: Option<String>,
    /// Whether it gives way to what another rule finds in the same place.
    #[serde(default)]
    pub(super) last: bool,
    /// `true` if the hint may be in another line than the secret.
    #[serde(default)]
    pub(super) apart: bool,
    /// What a match with all that is around the secret must not have.
    pub(super) except: Option<String>,
}

/// The kinds of the standard set, in their order.
pub(super) fn kinds() -> Result<Vec<Kind>, toml::de::Error> {
    let File {
        fragments,
        mut kind,
    } = toml::from_str(RULES)?;
    for rule in kind.iter_mut().flat_map(|kind| &mut kind.rules) {
        rule.put(&fragments);
    }
    Ok(kind)
}

impl Rule {
    /// Whether a key of JSON or YAML may be its label.
    pub(super) fn has_label(&self) -> bool {
        self.labelled.is_some() || self.by_label
    }

    /// What a key of JSON or YAML must have to be its label.
    pub(super) fn key(&self) -> &str {
        let label = self.label.as_deref().unwrap_or_default();
        self.key.as_deref().unwrap_or(label)
    }

    /// Puts fragments in the places of their names.
    fn put(&mut self, fragments: &BTreeMap<String, String>) {
        let texts = [
            &mut self.word,
            &mut self.whole,
            &mut self.anywhere,
            &mut self.labelled,
            &mut self.spaced,
            &mut self.within,
            &mut self.label,
            &mut self.key,
            &mut self.region,
            &mut self.except,
        ];
        let texts = texts.into_iter().flatten();
        for text in texts
            .chain([&mut self.hint])
            .filter(|text| text.contains('<'))
        {
            // Longest first: a fragment may have others in it.
            for name in fragments.keys().rev() {
                let fragment = fragments.get(name).map(String::as_str);
                *text = text.replace(&format!("<{name}>"), fragment.unwrap_or_default());
            }
            *text = text.replace("<before>", BEFORE).replace("<quote>", QUOTE);
        }
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
            self.table.then(|| Some(self.hint.clone())),
        ];
        let mut forms = forms.into_iter().flatten();
        match (forms.next(), forms.next()) {
            (Some(regex), None) => regex,
            _ => None,
        }
    }
}

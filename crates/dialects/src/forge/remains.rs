//! What a file says of an intent and events have no field for, so that an export
//! writes what an import read. It is kept as JSON with the intent.

use annals::domain::Json;
use serde::{Deserialize, Serialize};

use super::data::Extra;
use super::intent::ForgeIntent;

/// A field as the file has it, or that it is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Spelling {
    Absent,
    As(String),
}

/// What remains of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OfQuestion {
    /// The number of the question.
    pub(super) number: usize,
    /// A blank answer, which does not count as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) blank: Option<String>,
    /// Keys that are not known.
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub(super) keys: Extra,
}

/// What remains of an intent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Remains {
    /// Keys that are not known.
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub(super) keys: Extra,
    /// Its name, if that cannot be an alias.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// Title and body, if the request cannot be taken apart into them again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title_and_body: Option<(String, String)>,
    /// When it was written down, if it is not spelled as we do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created_at: Option<Spelling>,
    /// What it is a part of, if that is not there or has another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    /// What it waits for, if some of that is not there or has another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depends_on: Option<Vec<String>>,
    /// Of its questions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) questions: Vec<OfQuestion>,
}

/// What an intent's JSON may be: keys alone, as analyses leave them, or more.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Keys(Extra),
    More(Forge),
}

/// The key distinguishes it from JSON that another program put there.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Forge {
    forge_file: Box<Remains>,
}

impl Remains {
    /// As JSON; none, if nothing remains.
    pub(super) fn to_json(&self) -> Option<Json> {
        if *self == Remains::default() {
            return None;
        }
        let forge_file = Box::new(self.clone());
        Json::from_value(&Forge { forge_file }).ok()
    }

    /// From an intent's JSON. Nothing remains in JSON that another program put there.
    pub(super) fn of_json(text: &str) -> Remains {
        match serde_json::from_str(text) {
            Ok(Kept::Keys(keys)) => Remains {
                keys,
                ..Remains::default()
            },
            Ok(Kept::More(kept)) => *kept.forge_file,
            Err(_) => Remains::default(),
        }
    }

    /// Keeps what the questions of a file have beyond question and answer.
    pub(super) fn note_questions(&mut self, intent: &ForgeIntent) {
        for (number, asked) in intent.clarifications.iter().enumerate() {
            let blank = asked.answer.clone().filter(|_| !asked.is_answered());
            if blank.is_some() || !asked.extra.is_empty() {
                self.questions.push(OfQuestion {
                    number,
                    blank,
                    keys: asked.extra.clone(),
                });
            }
        }
    }
}

/// The unknown keys of a task or a review.
pub(super) fn keys(json: Option<&str>) -> Extra {
    json.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

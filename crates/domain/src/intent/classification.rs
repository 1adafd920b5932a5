//! Quick Classification (docs/spec/forge.md): what kind of work a proposal is, which
//! steps it goes through and how risky it is at first, by rule and not by a
//! model. The same text gives the same answer, and the answer names its rules.
//!
//! Forge asks for the rules and leaves the table open; docs/spec/forge.md has
//! it. Words of Latin script count as whole words, in any case; Japanese words
//! count anywhere in a text, because no spaces separate them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::Refusal;
use crate::codes::{UnknownWord, coded_enum, open_enum};
use crate::refusal::not_blank;

open_enum! {
    /// What kind of work an intent is (docs/spec/forge.md, Intent fields): one that the
    /// rules know, or any other.
    pub enum WorkType as bare {
        /// Something new.
        Feature = 1 => "feature",
        /// The same behind a better structure.
        Refactor = 2 => "refactor",
        /// Something that is wrong is put right.
        Fix = 3 => "fix",
        /// Tests.
        Test = 4 => "test",
        /// Something is looked at, and nothing changed.
        Audit = 5 => "audit",
    }
}

coded_enum! {
    /// A kind of work that the rules know: each has a flow and a first risk. Any other
    /// one uses those of the setting `classification.unknown_type`.
    pub enum ListedType called "type" {
        /// Something new.
        Feature = 1 => "feature",
        /// The same behind a better structure.
        Refactor = 2 => "refactor",
        /// Something that is wrong is put right.
        Fix = 3 => "fix",
        /// Tests.
        Test = 4 => "test",
        /// Something is looked at, and nothing changed.
        Audit = 5 => "audit",
    }
}

coded_enum! {
    /// Where an intent comes from (docs/spec/forge.md, Intent, source).
    pub enum Source {
        /// A person wrote it.
        Human = 1 => "human",
        /// An audit found it.
        Audit = 2 => "audit",
        /// It occurred to an agent at other work.
        Epiphany = 3 => "epiphany",
        /// An agent looked back and found it.
        Reflection = 4 => "reflection",
    }
}

coded_enum! {
    /// How much can go wrong (docs/spec/forge.md, Intent, risk).
    pub enum Risk {
        /// Little: it may run without a person.
        Low = 1 => "low",
        /// More: a person approves it first.
        Med = 2 => "med",
        /// Much: a person approves it first.
        High = 3 => "high",
    }
}

coded_enum! {
    /// A step of the way that an intent takes.
    pub enum FlowStep {
        /// What is to be done is found out.
        Analyze = 1 => "analyze",
        /// It is done.
        Implement = 2 => "implement",
        /// What was done is judged.
        Review = 3 => "review",
        /// Something is looked at.
        Audit = 4 => "audit",
        /// What was found is written down.
        Report = 5 => "report",
    }
}

/// An intent as it is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proposal<'a> {
    /// Its title.
    pub title: &'a str,
    /// The rest of its text.
    pub body: &'a str,
    /// Its labels.
    pub labels: &'a [String],
    /// The type that its author gave it.
    pub declared: Option<&'a WorkType>,
    /// Where it comes from.
    pub source: Source,
    /// By which type's flow and risk one goes that is not listed.
    pub unknown_type: ListedType,
}

/// What decided the type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "by", content = "word")]
pub enum TypeRule {
    /// Its author said so.
    Declared,
    /// A label names it.
    Label(String),
    /// A word of the text stands for it.
    Keyword(String),
    /// What audits and reflections find is looked into first.
    Source,
    /// Nothing did: it is a feature.
    Default,
}

/// What decided the risk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "by", content = "word")]
pub enum RiskRule {
    /// A word of the text stands for a high risk.
    HighWord(String),
    /// The type has this risk.
    Type,
}

/// The answer, and what decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Classification {
    /// The kind of work.
    #[serde(rename = "type")]
    pub work_type: WorkType,
    /// What decided that.
    pub type_rule: TypeRule,
    /// The steps that it goes through, in their order.
    pub flow: Vec<FlowStep>,
    /// How risky it is at first; an agent or a person may judge otherwise.
    pub risk: Risk,
    /// What decided that.
    pub risk_rule: RiskRule,
}

/// The words that stand for a type, in the order in which they are looked for.
const KEYWORDS: [(ListedType, &[&str]); 4] = [
    (
        ListedType::Fix,
        &[
            "fix",
            "bug",
            "crash",
            "regression",
            "error",
            "broken",
            "修正",
            "バグ",
            "不具合",
        ],
    ),
    (
        ListedType::Refactor,
        &[
            "refactor",
            "cleanup",
            "rename",
            "simplify",
            "extract",
            "リファクタ",
            "整理",
        ],
    ),
    (ListedType::Test, &["test", "coverage", "flaky", "テスト"]),
    (ListedType::Audit, &["audit", "review", "inspect", "監査"]),
];

/// The words that stand for a high risk.
const HIGH_WORDS: [&str; 10] = [
    "architecture",
    "migration",
    "security",
    "auth",
    "breaking",
    "delete",
    "payment",
    "設計変更",
    "認証",
    "削除",
];

/// Characters of a type.
const TYPE_CHARS: usize = 100;

impl From<ListedType> for WorkType {
    fn from(listed: ListedType) -> WorkType {
        WorkType::from_word(listed.as_str())
    }
}

impl std::str::FromStr for WorkType {
    type Err = UnknownWord;

    /// Any word is a type, but for blank ones and for a listed one in other letters,
    /// which is a slip.
    fn from_str(word: &str) -> Result<WorkType, UnknownWord> {
        let read = WorkType::from_word(word);
        match read.is_slip() || word.trim().is_empty() {
            true => Err(UnknownWord {
                word: word.to_owned(),
                what: "type",
                known: TYPE_WORDS,
            }),
            false => Ok(read),
        }
    }
}

/// What a type may be, for messages.
const TYPE_WORDS: &[&str] = &[
    "feature",
    "refactor",
    "fix",
    "test",
    "audit",
    "any other word",
];

impl WorkType {
    /// The type as the rules know it; none of one that is not listed.
    ///
    /// ```
    /// use annals_domain::intent::{ListedType, WorkType};
    /// assert_eq!(WorkType::Fix.listed(), Some(ListedType::Fix));
    /// assert_eq!(WorkType::Other("docs".into()).listed(), None);
    /// assert!("Fix".parse::<WorkType>().is_err());
    /// ```
    pub fn listed(&self) -> Option<ListedType> {
        let is_it = |it: &&ListedType| it.code() == self.code();
        ListedType::ALL.iter().find(is_it).copied()
    }

    /// The steps that such work goes through; of a type that is not listed those of
    /// `unknown`.
    pub fn flow(&self, unknown: ListedType) -> &'static [FlowStep] {
        self.listed().unwrap_or(unknown).flow()
    }

    /// Whether it is a listed word in other letters, which its author meant.
    fn is_slip(&self) -> bool {
        let WorkType::Other(word) = self else {
            return false;
        };
        let mut listed = ListedType::ALL.iter();
        listed.any(|it| it.as_str().eq_ignore_ascii_case(word.trim()))
    }

    /// Demands that a type that is not listed is a valid one.
    pub(crate) fn check(&self, field: &'static str) -> Result<(), Refusal> {
        let WorkType::Other(word) = self else {
            return Ok(());
        };
        not_blank(field, word)?;
        if self.is_slip() {
            let listed = word.trim().to_ascii_lowercase();
            let reason = format!("{word:?} is not a type of its own; write {listed:?}");
            return Err(Refusal::invalid(field, reason));
        }
        if word.chars().count() > TYPE_CHARS {
            let reason = format!("a type has at most {TYPE_CHARS} characters");
            return Err(Refusal::invalid(field, reason));
        }
        Ok(())
    }
}

impl ListedType {
    /// The steps that such work goes through.
    pub fn flow(self) -> &'static [FlowStep] {
        match self {
            ListedType::Audit => &[FlowStep::Audit, FlowStep::Report],
            ListedType::Feature | ListedType::Refactor | ListedType::Fix | ListedType::Test => {
                &[FlowStep::Analyze, FlowStep::Implement, FlowStep::Review]
            }
        }
    }

    fn risk(self) -> Risk {
        match self {
            ListedType::Test | ListedType::Fix | ListedType::Refactor => Risk::Low,
            ListedType::Feature | ListedType::Audit => Risk::Med,
        }
    }
}

/// Classifies a proposal (docs/spec/forge.md, Quick Classification, has the tables).
///
/// The type is the declared one, or else that of the first label that names one,
/// or else that of the first keyword: fixes are looked for first, then
/// refactorings, tests and audits. What audits and reflections propose is an
/// audit if nothing else says what it is, and all the rest a feature. Tests are a
/// low risk. Other work is a high one if a high word is in its text or its labels;
/// else fixes and refactorings are low, features and audits med. A declared type that
/// is not listed stays what it is, and follows the rules of `unknown_type`.
///
/// ```
/// use annals_domain::intent::{ListedType, Proposal, Risk, Source, WorkType, classify};
/// let found = classify(&Proposal {
///     title: "Fix the crash at login",
///     body: "",
///     labels: &[],
///     declared: None,
///     source: Source::Human,
///     unknown_type: ListedType::Feature,
/// });
/// assert_eq!((found.work_type, found.risk), (WorkType::Fix, Risk::Low));
/// ```
pub fn classify(proposal: &Proposal<'_>) -> Classification {
    let texts = [folded(proposal.title), folded(proposal.body)];
    let (work_type, type_rule) = work_type(proposal, &texts);
    let by_rules_of = work_type.listed().unwrap_or(proposal.unknown_type);
    let (risk, risk_rule) = risk(by_rules_of, proposal, &texts);
    Classification {
        work_type,
        type_rule,
        flow: by_rules_of.flow().to_vec(),
        risk,
        risk_rule,
    }
}

/// The title of a request, which is its text up to the first blank line, and the
/// rest (docs/spec/forge.md, draft). Line ends are those of any system.
///
/// ```
/// use annals_domain::intent::title_and_body;
/// assert_eq!(title_and_body("Add a link\n\nUsers ask for it.\n"), ("Add a link", "Users ask for it.\n"));
/// assert_eq!(title_and_body("Add a link"), ("Add a link", ""));
/// ```
pub fn title_and_body(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(['\n', '\r']);
    let mut start = 0;
    let mut title_end = None;
    for line in text.split_inclusive('\n') {
        match title_end {
            None if line.trim().is_empty() => title_end = Some(start),
            Some(end) if !line.trim().is_empty() => {
                return (
                    cut_end(text.get(..end)),
                    text.get(start..).unwrap_or_default(),
                );
            }
            None | Some(_) => {}
        }
        start += line.len();
    }
    (cut_end(text.get(..title_end.unwrap_or(text.len()))), "")
}

fn cut_end(text: Option<&str>) -> &str {
    text.unwrap_or_default().trim_end()
}

/// A text in lower case, and in the form in which wide, narrow and composed letters
/// are the same: a file system or a keyboard may give any of them.
fn folded(text: &str) -> String {
    text.nfkc().collect::<String>().to_lowercase()
}

fn work_type(proposal: &Proposal<'_>, texts: &[String]) -> (WorkType, TypeRule) {
    if let Some(declared) = proposal.declared {
        return (declared.clone(), TypeRule::Declared);
    }
    for label in proposal.labels {
        if let Ok(named) = folded(label).trim().parse::<ListedType>() {
            return (named.into(), TypeRule::Label(label.clone()));
        }
    }
    for (work_type, words) in KEYWORDS {
        if let Some(word) = first_of(words, texts) {
            return (work_type.into(), TypeRule::Keyword(word.to_owned()));
        }
    }
    match proposal.source {
        Source::Audit | Source::Reflection => (WorkType::Audit, TypeRule::Source),
        Source::Human | Source::Epiphany => (WorkType::Feature, TypeRule::Default),
    }
}

/// Tests are not risky, independent of their subject; of other work a high word says
/// what it touches, in its text or as a label.
fn risk(work_type: ListedType, proposal: &Proposal<'_>, texts: &[String]) -> (Risk, RiskRule) {
    if work_type != ListedType::Test {
        let labels: Vec<String> = proposal.labels.iter().map(|it| folded(it)).collect();
        let word = first_of(&HIGH_WORDS, texts).or_else(|| first_of(&HIGH_WORDS, &labels));
        if let Some(word) = word {
            return (Risk::High, RiskRule::HighWord(word.to_owned()));
        }
    }
    (work_type.risk(), RiskRule::Type)
}

/// The first of the words that one of the folded texts has.
fn first_of(words: &[&'static str], texts: &[String]) -> Option<&'static str> {
    let found = |word: &&&'static str| texts.iter().any(|text| has(text, word));
    words.iter().find(found).copied()
}

fn has(text: &str, word: &str) -> bool {
    if !word.is_ascii() {
        return text.contains(word);
    }
    text.match_indices(word).any(|(start, found)| {
        let before = text[..start].chars().next_back();
        let after = text[start + found.len()..].chars().next();
        !before.is_some_and(is_latin) && !after.is_some_and(is_latin)
    })
}

/// Whether a Latin word goes on with this character. Japanese next to it does not
/// belong to it, though it is made of letters, too.
fn is_latin(character: char) -> bool {
    character == '_' || (character.is_alphanumeric() && character < LATIN_END)
}

/// Latin script and its accents are below.
const LATIN_END: char = '\u{250}';

#[cfg(test)]
mod tests;

//! Quick Classification (docs/spec/forge.md): what kind of work a proposal is, which
//! steps it goes through and how risky it is at first, by rule and not by a
//! model. The same text gives the same answer, and the answer names its rules.
//!
//! Forge asks for the rules and leaves the table open; docs/spec/forge.md has
//! it. Words of Latin script count as whole words, in any case and with their
//! inflections; Japanese words count anywhere in a text, because no spaces separate them.

mod harmless;
mod high_words;
mod phrases;
mod signs;
mod subject;
mod text;
mod type_words;
mod work;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::codes::{UnknownWord, coded_enum, open_enum};
use crate::input::check_word;

use harmless::without_harmless;
use high_words::{SUBJECTS, misspelt};
use text::{Text, Words};
use type_words::{Lead, WORDS_BY_TYPE};
use work::Work;

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

/// Characters of a type.
const TYPE_CHARS: usize = 100;

impl From<ListedType> for WorkType {
    fn from(listed: ListedType) -> WorkType {
        WorkType::from_word(listed.as_str())
    }
}

impl From<Work> for ListedType {
    fn from(work: Work) -> ListedType {
        match work {
            Work::Fix => ListedType::Fix,
            Work::Refactor => ListedType::Refactor,
            Work::Test => ListedType::Test,
            Work::Audit => ListedType::Audit,
        }
    }
}

impl std::str::FromStr for WorkType {
    type Err = UnknownWord;

    /// Any word is a type, but for blank ones, for a listed one in other letters, which is a slip, and for one with white
    /// space around it, invisible characters or letters of another width.
    fn from_str(word: &str) -> Result<WorkType, UnknownWord> {
        let read = WorkType::from_word(word);
        // A listed one passes at once.
        match check_word("type", read.as_str(), ListedType::ALL).is_err() {
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

    /// Demands that a type that is not listed is a valid one.
    pub(crate) fn check(&self, field: &'static str) -> Result<(), Refusal> {
        let WorkType::Other(word) = self else {
            return Ok(());
        };
        check_word(field, word, ListedType::ALL)?;
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
/// The type is the declared one, or else that of the first label that names one, or else
/// that of the words: a title that begins with a word for something new (`add`, in Japanese
/// ends with one) is a feature, or a test if tests are its object; otherwise words for the
/// work decide, then words for its subject, fixes first, then refactorings, tests and
/// audits, and at last what the title complains of or asks. What audits and reflections propose is an audit if nothing else says what it
/// is, and all the rest a feature.
///
/// The risk is high if a high word is in the text or the labels, whatever the type is, but for
/// a few harmless uses;
/// else tests, fixes and refactorings are low, features and audits med. A declared type that
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
    let texts = Texts {
        title: Text::new(proposal.title),
        body: Text::new(proposal.body),
    };
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

/// The texts of a proposal as the rules read them.
struct Texts {
    title: Text,
    body: Text,
}

fn work_type(proposal: &Proposal<'_>, texts: &Texts) -> (WorkType, TypeRule) {
    if let Some(declared) = proposal.declared {
        return (declared.clone(), TypeRule::Declared);
    }
    for label in proposal.labels {
        if let Ok(named) = text::folded(label).trim().parse::<ListedType>() {
            return (named.into(), TypeRule::Label(label.clone()));
        }
    }
    let by_word = match type_words::lead(&texts.title) {
        Lead::Type(work_type, word) => Some((work_type, word)),
        Lead::Words => type_by_words(texts),
        Lead::New => None,
    };
    if let Some((work_type, word)) = by_word {
        return (ListedType::from(work_type).into(), TypeRule::Keyword(word));
    }
    match proposal.source {
        Source::Audit | Source::Reflection => (WorkType::Audit, TypeRule::Source),
        Source::Human | Source::Epiphany => (WorkType::Feature, TypeRule::Default),
    }
}

/// The type of the first word: those for work count before those for its subject, and these before
/// signs. Only a title asks for tests, since much other work is asked for with them.
fn type_by_words(texts: &Texts) -> Option<(Work, String)> {
    let in_both = |words: Words| {
        let title = texts.title.first_of(words);
        title
            .or_else(|| texts.body.first_of(words))
            .map(str::to_owned)
    };
    let mut acts = WORDS_BY_TYPE.iter().map(|it| match it.work_type {
        Work::Test => (it.work_type, type_words::asked_test(&texts.title, it.acts)),
        _ => (it.work_type, in_both(it.acts)),
    });
    let act = acts.find_map(|(work_type, word)| Some((work_type, word?)));
    let subject = || {
        let mut subjects = WORDS_BY_TYPE.iter();
        subjects.find_map(|it| Some((it.work_type, in_both(it.subjects)?)))
    };
    act.or_else(subject).or_else(|| signs::of(&texts.title))
}

/// A high word counts first, whatever the type is: it says what the work touches, in the
/// text or as a label.
fn risk(work_type: ListedType, proposal: &Proposal<'_>, texts: &Texts) -> (Risk, RiskRule) {
    let labels = proposal.labels.iter().map(String::as_str);
    let parts = [proposal.title, proposal.body]
        .into_iter()
        .chain(labels.clone());
    let parts: Vec<Text> = parts.filter_map(Text::of_parts).collect();
    let labels: Vec<Text> = labels.map(Text::new).collect();
    let whole = [&texts.title, &texts.body].into_iter().chain(&labels);
    let all: Vec<Text> = whole.chain(&parts).map(without_harmless).collect();
    let mut words = SUBJECTS
        .iter()
        .filter_map(|subject| all.iter().find_map(|text| subject.word_of(text)));
    match words.next().or_else(|| all.iter().find_map(misspelt)) {
        Some(word) => (Risk::High, RiskRule::HighWord(word)),
        None => (work_type.risk(), RiskRule::Type),
    }
}

#[cfg(test)]
mod tests;

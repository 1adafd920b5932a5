//! The arguments of intake.

use annals::domain::intent::{Source, WorkType};
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Classification is by rule: a word list decides, no model and no log. The type is the declared one,
or that of the first label that names one, or that of the first keyword, English or Japanese: fixes
are looked for first, then refactorings, tests and audits. What audits and reflections propose is an
audit if nothing else says what it is; all the rest is a feature. Tests are a low risk. Other work
is a high one if a high word (such as auth, migration or 削除) is in its text or its labels; else
fixes and refactorings are low, features and audits med.

The title is the text up to its first blank line. Nothing is written.

Examples:
  annals classify \"Fix the crash at login\"
  annals classify --explain \"認証を設計変更する\"
  annals classify --label refactor --source audit --json < finding.txt")]
pub(crate) struct Classify {
    /// The text; none, or -, is standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// The type that its author gave it: feature, refactor, fix, test or audit
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) declared: Option<WorkType>,
    /// A label of it; give it again for more
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// Where it comes from: human, audit, epiphany or reflection
    #[arg(long, value_name = "SOURCE", default_value = "human")]
    pub(crate) source: Source,
    /// Say which rules decided
    #[arg(long)]
    pub(crate) explain: bool,
}

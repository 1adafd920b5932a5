//! The arguments of intake.

use annals::domain::intent::{ListedType, Risk, Source, WorkType};
use annals::domain::settings::Setting;
use clap::Args;
use uuid::Uuid;

#[derive(Debug, Args)]
#[command(after_help = "\
Classifies by a word list, without a model and a log. The type is the declared one, else that of the first label that names \
one, else that of the words (English or Japanese, with inflections). A title that begins with a word for something new (add, \
追加) is a feature, or a test if it asks for tests; otherwise fixes come first, then refactorings, tests and audits. Audits and \
reflections propose an audit by default. The risk is high if a high word (authentication, migration, 削除) is in the text or the \
labels; otherwise tests, fixes and refactorings are low, features and audits med.

The title is the text up to its first blank line. Nothing is written.

Examples:
  annals intent classify \"Fix the crash at login\"
  annals intent classify --explain \"認証を設計変更する\"
  annals intent classify --label refactor --source audit --json < finding.txt")]
pub(crate) struct Classify {
    /// The text; none, or -, is standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// The type that its author gave it: feature, refactor, fix, test, audit or any other word
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) declared: Option<WorkType>,
    /// A label of it; give it again for more
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// Where it comes from: human, audit, epiphany or reflection
    #[arg(long, value_name = "SOURCE", default_value = "human")]
    pub(crate) source: Source,
    /// By which type's flow and risk one goes that is not listed; a log has a setting for it
    #[arg(long, value_name = "TYPE", default_value = "feature")]
    pub(crate) unknown_type: ListedType,
    /// Print the rules that decided
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Who gives a command.
#[derive(Debug, Args)]
pub(crate) struct Who {
    /// The actor: KIND:ID, or the id of a person [default: git's user.name or user.email (GIT_AUTHOR_NAME,
    /// GIT_AUTHOR_EMAIL or your configuration), else your login name]
    #[arg(long, env = "ANNALS_ACTOR", value_name = "[KIND:]ID")]
    pub(crate) actor: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The title is the text up to its first blank line. Unless given, the type and the first risk follow from rules (`annals intent \
classify`). A low risk is approved at once, with its reason; other intents wait for `annals intent approve`.

Examples:
  annals intent submit \"Fix the crash at login\"
  annals intent submit --risk low --type refactor \"Rename the cache module\"
  annals intent submit --alias reset-link --label ui - < draft.txt
  annals intent submit --observation 1a2b3c4d --risk low")]
pub(crate) struct Submit {
    /// The text; none, or -, is standard input, but none with --observation is what that says
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// The source: human, audit, epiphany or reflection [default: that of --observation, else human]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) source: Option<Source>,
    /// The open observation that led to it, which is processed then
    #[arg(long, value_name = "ID")]
    pub(crate) observation: Option<String>,
    /// Its type: feature, refactor, fix, test, audit or any other word
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) work_type: Option<WorkType>,
    /// Its risk, as you judge: low, med or high
    #[arg(long, value_name = "RISK")]
    pub(crate) risk: Option<Risk>,
    /// A label of it; give it again for more
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// The intent that it is a part of
    #[arg(long, value_name = "ID")]
    pub(crate) child_of: Option<String>,
    /// The intent that it refines
    #[arg(long, value_name = "ID")]
    pub(crate) refines: Option<String>,
    /// An intent that must be done first; give it again for more
    #[arg(long = "after", value_name = "ID")]
    pub(crate) depends_on: Vec<String>,
    /// A name for it
    #[arg(long, value_name = "NAME")]
    pub(crate) alias: Option<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Lists intents and requests of sessions that need an approval, intents with open questions, and failed work, oldest first. Each \
has its reason, the request, reviews of failed tasks, and the command that resolves it.

Examples:
  annals intent inbox
  annals intent inbox --limit 5
  annals intent inbox --json | jq -r 'select(.kind == \"intent\").id' | xargs annals intent approve")]
pub(crate) struct Inbox {
    /// At most N intents and sessions
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Only entries after this position, the end of an earlier list
    #[arg(long, value_name = "POSITION")]
    pub(crate) after: Option<u64>,
    #[command(flatten)]
    pub(crate) floor: super::Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
For a session, --request names the request, as `annals intent inbox` prints it. The grant is printed, and commands that waited \
for it are judged then.

Examples:
  annals intent approve 1a2b3c4d
  annals intent approve reset-link 1a2b3c4d --reason \"small enough\"
  annals intent approve 5e6f7a8b --request 0198c0de-0000-7000-8000-000000000001")]
pub(crate) struct Approve {
    /// Proposed intents, and sessions that ask for an approval
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Of a session: the command that asks for the approval
    #[arg(long, value_name = "COMMAND")]
    pub(crate) request: Option<Uuid>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Rejects proposed, approved, blocked and failed intents. Completed work stays. For a session, --request names the request that \
is denied, and every waiting command is rejected.

Examples:
  annals intent reject 1a2b3c4d --reason \"not now\"
  annals intent reject 1a2b3c4d 5e6f7a8b")]
pub(crate) struct Reject {
    /// Intents, and sessions that ask for an approval
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Of a session: the command that asks for the approval
    #[arg(long, value_name = "COMMAND")]
    pub(crate) request: Option<Uuid>,
    /// Why; a session must be told
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Questions are numbered from 0. The last answer unblocks the intent.

Examples:
  annals intent answer 1a2b3c4d --text \"the settings page\"
  annals intent answer 1a2b3c4d --question 2 --text \"English and Japanese\"")]
pub(crate) struct Answer {
    /// Intents that ask
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// The answer
    #[arg(long, value_name = "TEXT", required = true)]
    pub(crate) text: String,
    /// The number of the question [default: the first one without an answer]
    #[arg(long, value_name = "N")]
    pub(crate) question: Option<u32>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each failed task is replaced by a new one with the same text. Completed tasks stay.

Examples:
  annals intent rerun 1a2b3c4d
  annals intent rerun 1a2b3c4d --instruction \"Leave the old endpoint as it is\"")]
pub(crate) struct Rerun {
    /// Intents that are blocked or in error
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// What to do differently this time
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
An instruction starts no work. `annals intent rerun` retries failed tasks.

Examples:
  annals intent instruct 1a2b3c4d --text \"Keep the old endpoint for a release\"")]
pub(crate) struct Instruct {
    /// Intents
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// What to do
    #[arg(long, value_name = "TEXT", required = true)]
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Replaces the type or the risk that the rules gave. A proposed intent with a low risk is approved at once.

Examples:
  annals intent judge 1a2b3c4d --risk low
  annals intent judge 1a2b3c4d --type fix --risk med --reason \"touches the login\"")]
pub(crate) struct Judge {
    /// Intents
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// The type: feature, refactor, fix, test, audit or any other word
    #[arg(long = "type", value_name = "TYPE", required_unless_present = "risk")]
    pub(crate) work_type: Option<WorkType>,
    /// The risk: low, med or high
    #[arg(long, value_name = "RISK")]
    pub(crate) risk: Option<Risk>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
autonomy.threshold         up to which judged risk the system approves by itself: none, low,
                           med or high
autonomy.trust_classifier  whether the risk that the rules give approves, too: true or false;
                           true, unless it was set
approval.own_requests      whether people may approve their own requests: true or false; false,
                           unless it was set
review.max_retries         how often a task is tried again after a review rejected it
classification.unknown_type
                           the type whose flow and risk an unlisted type gets: feature,
                           refactor, fix, test or audit
gate.clock_skew            how many seconds the time of a command to a session's gate may be away
                           from the log's clock; 300, unless it was set

They are recorded in the log and hold from then on. Users are let in by `annals log share-with`.

Examples:
  annals log settings
  annals log settings review.max_retries 1
  annals log settings --at 17")]
pub(crate) struct Settings {
    /// A setting
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<Setting>,
    /// What to set it to
    #[arg(value_name = "VALUE", requires = "name", conflicts_with = "at")]
    pub(crate) value: Option<String>,
    #[command(flatten)]
    pub(crate) moment: super::Moment,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A task is ready if it has no run and all tasks that it depends on are done.

Examples:
  annals intent ready 1a2b3c4d
  annals intent ready reset-link --json")]
pub(crate) struct Ready {
    /// The intent
    #[arg(value_name = "ID")]
    pub(crate) intent: String,
    #[command(flatten)]
    pub(crate) moment: super::Moment,
    #[command(flatten)]
    pub(crate) floor: super::Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The answer is an agent's: JSON, alone or in prose or in a fence. Its \"outcome\" says what it is: \
child_intents, a list of {title, body, id, type, labels, depends_on}, where depends_on names others \
of the list or intents of the log; needs_clarification, with a list of clarifications; anything \
else, or nothing, is tasks, a list of {id, title, plan, complexity, relevant_files, \
implementation_steps, context, depends_on}, or one of them alone. The intent is executing then.

Examples:
  annals intent analyze 1a2b3c4d - < answer.md
  annals intent analyze reset-link '{\"plan\": \"one line in login.rs\", \"complexity\": \"low\"}'")]
pub(crate) struct Analyze {
    /// The intent, approved or executing
    #[arg(value_name = "ID")]
    pub(crate) intent: String,
    /// What the agent answered; none, or -, is standard input
    #[arg(value_name = "ANSWER")]
    pub(crate) answer: Vec<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
An intent that names another one as `parent` refines it (docs/spec/git-internal.md).

Examples:
  annals intent refinements 1a2b3c4d
  annals intent refinements 1a2b3c4d --json")]
pub(crate) struct Refinements {
    /// Any intent of the chain
    #[arg(value_name = "ID")]
    pub(crate) intent: String,
    #[command(flatten)]
    pub(crate) floor: super::Floor,
}

//! The arguments of intake.

use annals::domain::intent::{ListedType, Risk, Source, WorkType};
use annals::domain::settings::Setting;
use clap::Args;
use uuid::Uuid;

#[derive(Debug, Args)]
#[command(after_help = "\
Classification is by rule: a word list decides, no model and no log. The type is the declared one,
or that of the first label that names one, or that of the words, English or Japanese, with their
inflections. A title that begins with a word for something new (add, 追加) is a feature, or a test if
it asks for tests; else fixes are looked for first, then refactorings, tests and audits. What audits
and reflections propose is an audit if nothing else says what it is. The risk is high if a high word
(such as authentication, migration or 削除) is in the text or the labels, whatever the type is; else
tests, fixes and refactorings are low, features and audits med.

The title is the text up to its first blank line. Nothing is written.

Examples:
  annals classify \"Fix the crash at login\"
  annals classify --explain \"認証を設計変更する\"
  annals classify --label refactor --source audit --json < finding.txt")]
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
    /// Say which rules decided
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Who gives a command.
#[derive(Debug, Args)]
pub(crate) struct Who {
    /// Who does it: KIND:ID, or the id of a person; left out, git's user.name or user.email
    /// (GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL or the user's own configuration), or else the user's
    /// login name
    #[arg(long, env = "ANNALS_ACTOR", value_name = "[KIND:]ID")]
    pub(crate) actor: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The title is the text up to its first blank line. The type and the first risk follow by rule
(`annals classify` shows how), unless you give them. What is a low risk goes on at once, and what
decided the risk is recorded as the reason; the rest waits in the inbox for `annals approve`.

Examples:
  annals submit \"Fix the crash at login\"
  annals submit --risk low --type refactor \"Rename the cache module\"
  annals submit --alias reset-link --label ui - < draft.txt
  annals submit --observation 1a2b3c4d --risk low")]
pub(crate) struct Submit {
    /// The text; none, or -, is standard input, but none with --observation is what that says
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Where it comes from: human, audit, epiphany or reflection; left out, what --observation
    /// is, or else human
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
In the inbox is what waits for a person: for an approval (what is proposed and the system did not
approve, and what a session asks for), for an answer, or for a look at what failed. The oldest comes
first, with why it is there, what is asked, what reviewers said of the tasks that failed, and the
command that resolves it.

Examples:
  annals inbox
  annals inbox --limit 5
  annals inbox --json | jq -r 'select(.kind == \"intent\").id' | xargs annals approve")]
pub(crate) struct Inbox {
    /// At most N intents and sessions
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Only what comes after this position: where an earlier list ended
    #[arg(long, value_name = "POSITION")]
    pub(crate) after: Option<u64>,
    #[command(flatten)]
    pub(crate) floor: super::Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Of a session, --request names what is approved, as `annals inbox` prints it. What was granted is
printed, and commands that waited for it are judged then.

Examples:
  annals approve 1a2b3c4d
  annals approve reset-link 1a2b3c4d --reason \"small enough\"
  annals approve 5e6f7a8b --request 0198c0de-0000-7000-8000-000000000001")]
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
What was done stays. Only what is proposed, approved, blocked or in error can be rejected. Of a
session, --request names what is denied, and every command that waits is rejected.

Examples:
  annals reject 1a2b3c4d --reason \"not now\"
  annals reject 1a2b3c4d 5e6f7a8b")]
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
Questions are numbered from 0. The last answer lets the intent go on.

Examples:
  annals answer 1a2b3c4d --text \"the settings page\"
  annals answer 1a2b3c4d --question 2 --text \"English and Japanese\"")]
pub(crate) struct Answer {
    /// Intents that ask
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// The answer
    #[arg(long, value_name = "TEXT", required = true)]
    pub(crate) text: String,
    /// The number of the question; left out, the first one without an answer
    #[arg(long, value_name = "N")]
    pub(crate) question: Option<u32>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each failed task gets a new one in its place, with the same text, which starts from the beginning;
tasks that are done stay as they are.

Examples:
  annals rerun 1a2b3c4d
  annals rerun 1a2b3c4d --instruction \"Leave the old endpoint as it is\"")]
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
An instruction alone does not begin anything: `annals rerun` does that for what failed.

Examples:
  annals instruct 1a2b3c4d --text \"Keep the old endpoint for a release\"")]
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
A judgement that is given here counts more than what the rules said. A proposed intent whose risk
is low goes on at once.

Examples:
  annals judge 1a2b3c4d --risk low
  annals judge 1a2b3c4d --type fix --risk med --reason \"touches the login\"")]
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
  annals settings
  annals settings review.max_retries 1
  annals settings --at 17")]
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
A task can be begun when it was never run and all tasks that it depends on are done.

Examples:
  annals ready 1a2b3c4d
  annals ready reset-link --json")]
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
The answer is an agent's: JSON, alone or in prose or in a fence. Its \"outcome\" says what it is:
child_intents, a list of {title, body, id, type, labels, depends_on}, where depends_on names others
of the list or intents of the log; needs_clarification, with a list of clarifications; anything
else, or nothing, is tasks, a list of {id, title, plan, complexity, relevant_files,
implementation_steps, context, depends_on}, or one of them alone. The intent is executing then.

Examples:
  annals analyze 1a2b3c4d - < answer.md
  annals analyze reset-link '{\"plan\": \"one line in login.rs\", \"complexity\": \"low\"}'")]
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
  annals refinements 1a2b3c4d
  annals refinements 1a2b3c4d --json")]
pub(crate) struct Refinements {
    /// Any intent of the chain
    #[arg(value_name = "ID")]
    pub(crate) intent: String,
    #[command(flatten)]
    pub(crate) floor: super::Floor,
}

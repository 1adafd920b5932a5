//! Groups of commands, and the older spelling of each: both take the same arguments and do the same.
//!
//! A group is turned into the command that it names before anything runs ([`Command::plain`]), so that only the parser
//! deals with groups. [`OLD`] lists the spellings that help hides; they stay valid until 0.1.0.

use clap::{Args, Subcommand};

use super::{
    Analyze, Answer, Apply, Approve, Backup, Bisect, Cat, Checkpoint, Classify, Command, Commands,
    Compare, CopyLog, Decisions, Events, Gc, History, Hook, Inbox, Init, Instruct, Judge, Key,
    List, Log, Observations, Observe, Policies, Process, Prove, Ready, Rebuild, Record, RecordOff,
    RecordOn, RecordStatus, Redact, Refinements, Refs, Reject, Replay, Rerun, Restore, Retain,
    Secrets, Serve, Settings, Share, Show, Stats, Submit, Subscriptions, ToolPolicy, Tree, Users,
    Verify, Watch, Why,
};

/// Old spellings and the new ones. Where a new spelling is longer than one word, the first is a group.
pub(crate) const OLD: [(&str, &str); 47] = [
    ("analyze", "intent analyze"),
    ("answer", "intent answer"),
    ("approve", "intent approve"),
    ("classify", "intent classify"),
    ("inbox", "intent inbox"),
    ("instruct", "intent instruct"),
    ("judge", "intent judge"),
    ("observations", "intent observations"),
    ("observe", "intent observe"),
    ("process", "intent process"),
    ("ready", "intent ready"),
    ("refinements", "intent refinements"),
    ("reject", "intent reject"),
    ("rerun", "intent rerun"),
    ("submit", "intent submit"),
    ("decisions", "policy decisions"),
    ("policies", "policy evictions"),
    ("replay", "policy replay"),
    ("checkpoint", "proof checkpoint"),
    ("key", "proof key"),
    ("prove", "proof prove"),
    ("verify", "proof verify"),
    ("backup", "log backup"),
    ("copy", "log copy"),
    ("gc", "log gc"),
    ("history", "log history"),
    ("init", "log init"),
    ("rebuild", "log rebuild"),
    ("redact", "log redact"),
    ("refs", "log refs"),
    ("restore", "log restore"),
    ("retain", "log retain"),
    ("secrets", "log secrets"),
    ("settings", "log settings"),
    ("stats", "log stats"),
    ("subscriptions", "log subscriptions"),
    ("tree", "log tree"),
    ("bisect", "object bisect"),
    ("cat", "object cat"),
    ("compare", "object compare"),
    ("list", "object list"),
    ("why", "object why"),
    ("apply", "service apply"),
    ("commands", "service commands"),
    ("events", "service events"),
    ("serve", "service serve"),
    ("watch", "service watch"),
];

/// Old spellings whose new one has other arguments, by the words behind the program's name.
const REPLACED: [(&[&str], &str); 4] = [
    (&["hook", "install"], "record on"),
    (&["hook", "uninstall"], "record off"),
    (&["hook", "status"], "record status"),
    (&["record", "--otlp"], "service record --otlp"),
];

/// The new spelling of a command, by its words behind the program's name. `None` if it has no older one.
pub(crate) fn new_spelling(words: &[&str]) -> Option<String> {
    let replaced = REPLACED.iter().find(|(old, _)| words.starts_with(old));
    if let Some((_, new)) = replaced {
        return Some((*new).to_owned());
    }
    let first = words.first()?;
    let (_, new) = OLD.iter().find(|(old, _)| old == first)?;
    Some((*new).to_owned())
}

/// Makes a group of commands, and turns each of them into the command that it names.
macro_rules! group {
    ($(#[$about:meta])* $group:ident { $($(#[$doc:meta])* $name:ident($args:ty) => $command:expr,)* }) => {
        $(#[$about])*
        #[derive(Debug, Subcommand)]
        pub(crate) enum $group {
            $($(#[$doc])* $name($args),)*
        }

        impl From<$group> for Command {
            fn from(command: $group) -> Command {
                match command {
                    $($group::$name(args) => ($command)(args),)*
                }
            }
        }
    };
}

group! {
    /// Commands about intents.
    IntentGroup {
        /// Propose an intent
        Submit(Submit) => Command::Submit,
        /// List intents and requests that wait for a person
        Inbox(Inbox) => Command::Inbox,
        /// Record the result of an analysis of an intent
        Analyze(Analyze) => Command::Analyze,
        /// Approve intents and requests of sessions
        Approve(Approve) => Command::Approve,
        /// Reject intents and requests of sessions
        Reject(Reject) => Command::Reject,
        /// Answer the questions of an intent
        Answer(Answer) => Command::Answer,
        /// Retry the failed tasks of intents
        Rerun(Rerun) => Command::Rerun,
        /// Add instructions to intents
        Instruct(Instruct) => Command::Instruct,
        /// Set the type or the risk of intents
        Judge(Judge) => Command::Judge,
        /// List the tasks of an intent that can begin
        Ready(Ready) => Command::Ready,
        /// List the refinements of an intent, newest first
        Refinements(Refinements) => Command::Refinements,
        /// Classify a text by its type of work and its risk
        Classify(Classify) => Command::Classify,
        /// Record an observation of an agent
        Observe(Observe) => Command::Observe,
        /// List observations
        Observations(Observations) => Command::Observations,
        /// Mark observations as processed
        Process(Process) => Command::Process,
    }
}

/// Commands about tool policies, eviction policies and session profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyGroup {
    #[command(flatten)]
    Tool(ToolPolicy),
    #[command(flatten)]
    Recorded(RecordedPolicy),
}

group! {
    /// Commands about policies on recorded work.
    RecordedPolicy {
        /// Try other policies on recorded work
        Replay(Replay) => Command::Replay,
        /// Describe the eviction policies
        Evictions(Policies) => Command::Policies,
        /// List the decisions on tool calls
        Decisions(Decisions) => Command::Decisions,
    }
}

group! {
    /// Commands about proofs.
    ProofGroup {
        /// Verify all that is stored, or a proof
        Verify(Verify) => Command::Verify,
        /// Print the size and the root of the log
        Checkpoint(Checkpoint) => Command::Checkpoint,
        /// Prove that an event is in the log
        Prove(Prove) => Command::Prove,
        /// Generate and show keys that sign checkpoints
        #[command(subcommand)]
        Key(Key) => Command::Key,
    }
}

/// The events of the log, or a command about the log itself.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LogGroup {
    #[command(subcommand)]
    pub(crate) what: Option<LogCommand>,
    #[command(flatten)]
    pub(crate) events: Log,
}

group! {
    /// Commands about the log itself.
    LogCommand {
        /// Create a log in this folder
        Init(Init) => Command::Init,
        /// List events
        Events(Log) => events,
        /// List the events of an object
        History(History) => Command::History,
        /// Show an object with everything that belongs to it
        Tree(Tree) => Command::Tree,
        /// List the links of an object
        Refs(Refs) => Command::Refs,
        /// Print counts and sizes
        Stats(Stats) => Command::Stats,
        /// Copy the log, also while it is in use
        Backup(Backup) => Command::Backup,
        /// Restore a log from a backup
        Restore(Restore) => Command::Restore,
        /// Copy the log into another store
        Copy(CopyLog) => Command::Copy,
        /// Delete blobs that no event refers to
        Gc(Gc) => Command::Gc,
        /// Keep named git blobs in a git repository
        Retain(Retain) => Command::Retain,
        /// Rebuild the catalogue of objects
        Rebuild(Rebuild) => Command::Rebuild,
        /// Redact content for good
        Redact(Redact) => Command::Redact,
        /// Show the formats of secrets, or scan for secrets
        Secrets(Secrets) => Command::Secrets,
        /// Show or change the log's settings
        Settings(Settings) => Command::Settings,
        /// Show or change which users may use the log
        ShareWith(Users) => users,
        /// List subscriptions and their positions
        Subscriptions(Subscriptions) => Command::Subscriptions,
    }
}

fn events(events: Log) -> Command {
    Command::Log(LogGroup { what: None, events })
}

fn users(users: Users) -> Command {
    Command::Share(Share {
        session: None,
        out: None,
        is_of_users: true,
        users,
    })
}

group! {
    /// Commands about objects of any kind.
    ObjectGroup {
        /// List objects of one kind
        List(List) => Command::List,
        /// Show an object
        Show(Show) => object,
        /// Explain a tool call's decision, or a field's value
        Why(Why) => Command::Why,
        /// Find the event after which a condition changed
        Bisect(Bisect) => Command::Bisect,
        /// Compare two runs, tasks or sessions
        Compare(Compare) => Command::Compare,
        /// Print content by its digest
        Cat(Cat) => Command::Cat,
    }
}

fn object(args: Show) -> Command {
    let is_object = true;
    Command::Show(Show { is_object, ..args })
}

group! {
    /// Commands for programs and services.
    ServiceGroup {
        /// Execute commands, one JSON object a line
        Apply(Apply) => Command::Apply,
        /// Print the JSON Schema of the commands of `apply`
        Commands(Commands) => Command::Commands,
        /// Print the documentation of all events
        Events(Events) => Command::Events,
        /// Serve the viewer, or own the log
        Serve(Serve) => Command::Serve,
        /// Record the telemetry of agents (OTLP)
        Record(Record) => otlp,
        /// Import recordings as they grow
        #[command(subcommand)]
        Watch(Watch) => Command::Watch,
        /// Record an event of an agent's hook
        #[command(subcommand)]
        Hook(Hook) => Command::Hook,
    }
}

fn otlp(otlp: Record) -> Command {
    Command::Record(RecordGroup {
        what: None,
        is_of_telemetry: true,
        otlp,
    })
}

/// Recording agents: their hooks, or their telemetry.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RecordGroup {
    #[command(subcommand)]
    pub(crate) what: Option<RecordCommand>,
    /// Without a command it receives telemetry, and does not show the status.
    #[arg(skip)]
    pub(crate) is_of_telemetry: bool,
    #[command(flatten)]
    pub(crate) otlp: Record,
}

/// Commands about the recording of agents.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordCommand {
    /// Record agents from now on by their hooks
    On(RecordOn),
    /// Stop recording agents
    Off(RecordOff),
    /// Show which agents are recorded
    Status(RecordStatus),
}

impl Command {
    /// The command that a group names; any other command as it is.
    pub(crate) fn plain(self) -> Command {
        match self {
            Command::Intent(group) => group.into(),
            Command::Policy(PolicyGroup::Recorded(group)) => group.into(),
            Command::Proof(group) => group.into(),
            Command::Object(group) => group.into(),
            Command::Service(group) => group.into(),
            Command::Log(LogGroup {
                what: Some(group), ..
            }) => group.into(),
            plain => plain,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn each_new_spelling_takes_the_arguments_of_the_old_one() {
        let root = Cli::command();
        let arguments = |command: &clap::Command| -> Vec<String> {
            command
                .get_arguments()
                .map(|it| it.get_id().to_string())
                .collect()
        };
        for (old, new) in OLD {
            let mut found = &root;
            for word in new.split(' ') {
                found = found
                    .find_subcommand(word)
                    .unwrap_or_else(|| panic!("{new}"));
            }
            let old = root.find_subcommand(old).unwrap();
            assert_eq!(arguments(old), arguments(found), "{new}");
        }
    }

    #[test]
    fn a_group_is_the_command_that_it_names() {
        for (line, expected) in [
            ("annals proof verify", "Verify("),
            ("annals log events --limit 3", "Log("),
            ("annals log --limit 3", "Log("),
            ("annals log init", "Init("),
            ("annals log share-with --with ada", "Share("),
            ("annals service record --otlp 127.0.0.1:1", "Record("),
            (
                "annals record --otlp 127.0.0.1:1",
                "Record(RecordGroup { what: None, is_of_telemetry: false, otlp: Record { otlp: Some(127.0.0.1:1)",
            ),
            ("annals policy replay 1a2b3c4d --policy lru.toml", "Replay("),
            ("annals policy schema", "Policy("),
            ("annals object list runs", "List("),
        ] {
            let cli = Cli::try_parse_from(line.split(' '))
                .unwrap_or_else(|error| panic!("{line}: {error}"));
            let shown = format!("{:?}", cli.command.unwrap().plain());
            assert!(shown.starts_with(expected), "{line}: {shown}");
        }
        let bare = Cli::try_parse_from(["annals", "record"]).unwrap();
        let bare = format!("{:?}", bare.command);
        assert!(
            bare.contains("is_of_telemetry: false, otlp: Record { otlp: None"),
            "{bare}"
        );
    }

    #[test]
    fn the_new_spelling_is_found_by_the_words_of_the_old_one() {
        assert_eq!(
            new_spelling(&["hook", "install", "claude"]).as_deref(),
            Some("record on")
        );
        assert_eq!(
            new_spelling(&["verify", "--proof"]).as_deref(),
            Some("proof verify")
        );
        for words in [&["show"][..], &["hook", "claude"], &["record", "on"], &[]] {
            assert_eq!(new_spelling(words), None, "{words:?}");
        }
    }
}

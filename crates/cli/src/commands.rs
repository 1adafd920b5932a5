//! The commands, one file each.

pub(crate) mod apply;
mod artifacts;
mod atif;
mod backup;
mod bisect;
mod budget;
mod cat;
mod classify;
mod commands_schema;
mod compare;
mod contracts;
mod copy;
mod cost;
mod decisions;
mod diff;
mod diff_session;
mod difference;
mod doctor;
mod events;
mod export_html;
mod export_markdown;
mod follow;
mod forge;
mod gc;
mod git_internal;
mod history;
mod hook;
mod import;
mod in_folder;
mod inbox;
mod init;
mod intake;
mod list;
mod log;
mod ls;
mod named;
mod observations;
mod overview;
mod page;
mod policies;
mod proof;
mod raw;
mod ready;
mod rebuild;
mod record;
mod recorded_calls;
mod recording;
mod redact;
mod refinements;
mod refs;
mod replay;
mod replay_sessions;
mod replay_tools;
mod restore;
mod resume;
mod retain;
mod search;
mod secrets;
mod serve;
mod settings;
mod share;
mod share_session;
mod shell;
mod show;
mod show_session;
mod start;
mod stats;
mod statusline;
mod subscriptions;
mod told;
mod tool_policy;
mod tool_policy_suggest;
mod tree;
mod tui;
mod verbatim;
mod verify;
mod watch_agent;
mod why;
mod why_field;
mod window;
mod work_items;

use annals_live::hook::HookAgent;

use crate::cli::{
    Command, Export, Hook, Key, Log, LogGroup, PolicyGroup, RecordCommand, RecordGroup,
    RecordStatus, Replay, RunHook, ToolPolicy, Watch,
};
use crate::context::Context;
use crate::error::CliError;

/// Whether a command only shows what there is, and perhaps much: it goes through a pager.
pub(crate) fn is_paged(command: &Command) -> bool {
    match command {
        Command::Log(args) => !args.events.follow,
        Command::Verify(args) => args.proof.is_some(),
        Command::Cat(args) => args.out.is_none(),
        Command::Show(_)
        | Command::Search(_)
        | Command::History(_)
        | Command::Diff(_)
        | Command::Compare(_)
        | Command::Ls(_)
        | Command::List(_)
        | Command::Cost(_)
        | Command::Refs(_)
        | Command::Tree(_)
        | Command::Decisions(_)
        | Command::Why(_)
        | Command::Refinements(_)
        | Command::Replay(_)
        | Command::Commands(_)
        | Command::Events(_)
        | Command::Policies(_)
        | Command::Observations(_)
        | Command::Inbox(_)
        | Command::Ready(_) => true,
        _ => false,
    }
}

/// Returns `true` if a command works with a log. Others do not depend on which one it would be.
pub(crate) fn needs_log(command: &Command) -> bool {
    !matches!(
        command,
        Command::Init(_)
            | Command::Commands(_)
            | Command::Events(_)
            | Command::Policies(_)
            | Command::Policy(PolicyGroup::Tool(
                ToolPolicy::Check(_)
                    | ToolPolicy::Test(_)
                    | ToolPolicy::Explain(_)
                    | ToolPolicy::Schema(_)
            ))
            | Command::Secrets(_)
            | Command::Classify(_)
            | Command::Key(_)
            | Command::Completions(_)
            | Command::Man(_)
    )
}

/// The refusal of the event of a hook whose gate fails closed, where there is no log that it may use. `None` for any
/// other command.
pub(crate) fn gate_refusal(command: &Command, reason: &CliError) -> Option<CliError> {
    let is_closed = event_of_hook(command).is_some_and(|event| event.gate.fail_closed);
    is_closed.then(|| hook::gate::refused(&reason.message()))
}

/// Returns `true` for an event that an agent gives to its hook.
pub(crate) fn is_hook_event(command: &Command) -> bool {
    event_of_hook(command).is_some()
}

fn event_of_hook(command: &Command) -> Option<&RunHook> {
    match command {
        Command::Hook(
            Hook::Claude(event) | Hook::Codex(event) | Hook::Cursor(event) | Hook::Gemini(event),
        ) => Some(event),
        _ => None,
    }
}

/// Runs the command that was given.
#[expect(clippy::too_many_lines, reason = "it has a line for each command")]
pub(crate) async fn run(command: Command, context: &mut Context) -> Result<(), CliError> {
    let command = command.plain();
    in_folder::demand(&command, context)?;
    match command {
        Command::Start(args) => start::run(&args.options, context).await,
        Command::Resume(args) => resume::run(&args, context).await,
        Command::Init(args) => init::run(&args, context).await,
        Command::Apply(args) => apply::run(&args, context).await,
        Command::Commands(args) => commands_schema::run(&args, context),
        Command::Events(args) => events::run(&args, context),
        Command::Import(args) => import::run(args, context).await,
        Command::Record(args) => record(args, context).await,
        Command::Hook(args) => hook::run(&args, context).await,
        Command::Watch(args) => watch(args, context).await,
        Command::Export(args) => export(args, context).await,
        Command::Tui(args) => tui::run(args, context).await,
        Command::Serve(args) => serve::run(&args, context).await,
        Command::Share(args) => match &args.session {
            Some(session) => share_session::run(session, &args, context).await,
            None if args.is_of_users || args.users.are_named() => share::run(&args.users, context),
            None => Err(share_session::no_session()),
        },
        Command::Log(LogGroup { what: None, events }) => log(events, context).await,
        Command::Subscriptions(args) => subscriptions::run(&args, context).await,
        Command::Search(args) => search::run(&args, context).await,
        Command::Show(args) => show::run(&args, context).await,
        Command::History(args) => history::run(&args, context).await,
        Command::Diff(args) => diff::run(&args, context).await,
        Command::Bisect(args) => bisect::run(&args, context).await,
        Command::Compare(args) => compare::run(&args, context).await,
        Command::Ls(args) => ls::run(&args, context).await,
        Command::List(args) => list::run(&args, context).await,
        Command::Cost(args) => cost::run(&args, context).await,
        Command::Budget(args) => budget::run(&args, context).await,
        Command::Statusline(_) => statusline::run(context),
        Command::Decisions(args) => decisions::run(&args, context).await,
        Command::Why(args) if args.field.is_some() => why_field::run(&args, context).await,
        Command::Why(args) => why::run(&args, context).await,
        Command::Refinements(args) => refinements::run(&args, context).await,
        Command::Refs(args) => refs::run(&args, context).await,
        Command::Tree(args) => tree::run(&args, context).await,
        Command::Replay(args) => replay(args, context).await,
        Command::Policy(PolicyGroup::Tool(args)) => policy(args, context).await,
        Command::Policies(args) => policies::run(&args, context),
        Command::Secrets(args) => secrets::run(&args, context),
        Command::Classify(args) => classify::run(&args, context),
        Command::Submit(args) => intake::submit(&args, context).await,
        Command::Observe(args) => observations::observe(&args, context).await,
        Command::Observations(args) => observations::list(&args, context).await,
        Command::Process(args) => observations::process(&args, context).await,
        Command::Inbox(args) => inbox::run(&args, context).await,
        Command::Analyze(args) => intake::analyze(&args, context).await,
        Command::Approve(args) => intake::approve(&args, context).await,
        Command::Reject(args) => intake::reject(&args, context).await,
        Command::Answer(args) => intake::answer(&args, context).await,
        Command::Rerun(args) => intake::rerun(&args, context).await,
        Command::Instruct(args) => intake::instruct(&args, context).await,
        Command::Judge(args) => intake::judge(&args, context).await,
        Command::Ready(args) => ready::run(&args, context).await,
        Command::Settings(args) => settings::run(&args, context).await,
        Command::Stats(args) => stats::run(&args, context).await,
        Command::Verify(args) if args.artifacts => artifacts::run(&args, context).await,
        Command::Verify(args) => proof::verify::run(&args, context).await,
        Command::Prove(args) => proof::prove::run(&args, context).await,
        Command::Checkpoint(args) => proof::checkpoint::run(&args, context).await,
        Command::Key(Key::Generate(args)) => proof::key::generate(&args, context),
        Command::Key(Key::Show(args)) => proof::key::show(&args, context),
        Command::Backup(args) => backup::run(&args, context).await,
        Command::Redact(args) => redact::run(&args, context).await,
        Command::Gc(args) => gc::run(&args, context).await,
        Command::Rebuild(rebuild) => rebuild::run(context, &rebuild).await,
        Command::Retain(args) => retain::run(&args, context).await,
        Command::Restore(args) => restore::run(&args, context).await,
        Command::Copy(args) => copy::run(&args, context).await,
        Command::Doctor(args) => doctor::run(&args, context).await,
        Command::Cat(args) => cat::run(&args, context).await,
        Command::Completions(args) => shell::completions(&args, context),
        Command::Man(args) => shell::man(&args, context),
        // A plain command is none of a group.
        group @ (Command::Intent(_)
        | Command::Proof(_)
        | Command::Object(_)
        | Command::Service(_)
        | Command::Policy(PolicyGroup::Recorded(_))
        | Command::Log(LogGroup { what: Some(_), .. })) => {
            Box::pin(run(group.plain(), context)).await
        }
    }
}

async fn record(args: RecordGroup, context: &mut Context) -> Result<(), CliError> {
    match args.what {
        Some(RecordCommand::On(args)) => recording::on(&args, context).await,
        Some(RecordCommand::Off(args)) => recording::off(&args, context),
        Some(RecordCommand::Status(args)) => recording::status(&args, context).await,
        None if args.is_of_telemetry || args.otlp.otlp.is_some() => {
            record::run(&args.otlp, context).await
        }
        None => recording::status(&RecordStatus::default(), context).await,
    }
}

async fn log(args: Log, context: &mut Context) -> Result<(), CliError> {
    match args.dialect {
        Some(_) => contracts::log(&args, context).await,
        None => log::run(&args, context).await,
    }
}

async fn replay(args: Replay, context: &mut Context) -> Result<(), CliError> {
    match args.sessions {
        Some(_) => replay_sessions::run(&args, context).await,
        None if args.tools => replay_tools::run(&args, context).await,
        None => replay::run(&args, context).await,
    }
}

async fn policy(args: ToolPolicy, context: &mut Context) -> Result<(), CliError> {
    match args {
        ToolPolicy::Check(args) => tool_policy::check(&args, context),
        ToolPolicy::Test(args) => tool_policy::test(&args, context),
        ToolPolicy::Explain(args) => tool_policy::explain(&args, context),
        ToolPolicy::Schema(_) => tool_policy::schema(context),
        ToolPolicy::Suggest(args) => tool_policy_suggest::run(&args, context).await,
    }
}

async fn export(args: Export, context: &mut Context) -> Result<(), CliError> {
    match args {
        Export::Forge(args) => forge::export(&args, context).await,
        Export::Annals(args) => verbatim::export(&args, context).await,
        Export::GitInternal(args) => git_internal::export(&args, context).await,
        Export::Contracts(args) => contracts::export(&args, context).await,
        Export::Atif(args) => atif::export(&args, context).await,
        Export::Html(args) => export_html::export(&args, context).await,
        Export::Markdown(args) => export_markdown::export(&args, context).await,
        Export::Raw(args) => raw::export(&args, context).await,
    }
}

async fn watch(args: Watch, context: &mut Context) -> Result<(), CliError> {
    match args {
        Watch::Forge(args) => forge::watch(&args, context).await,
        Watch::Claude(args) => watch_agent::run(HookAgent::Claude, &args, context).await,
        Watch::Codex(args) => watch_agent::run(HookAgent::Codex, &args, context).await,
    }
}

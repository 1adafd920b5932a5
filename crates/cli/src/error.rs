//! What can go wrong, each with a message, a word for programs and an exit
//! status.

mod keeping;

use std::io;
use std::path::PathBuf;

use annals::domain::cut;
use annals::event_log::{AppendError, CommitError, Position, ReadError, RedactError};
use annals::projections::replay::ReplayError;
use annals::projections::session_replay::SessionReplayError;
use annals::projections::{CatalogueError, EntryError};
use annals::store_rocks::{BackupError, CollectError, PurgeError, RebuildError};
use annals::wire::DecodeError;
use annals::{BulkError, ExecuteError, LoadError, OpenError, RedactionError, SealError, ViewError};
use annals_dialects::contracts::ContractsImportError;
use annals_dialects::forge::{ForgeError, ForgeFolderError};
use annals_dialects::git::GitImportError;
use annals_dialects::git_internal::{GitInternalExportError, GitInternalImportError};
use annals_dialects::import::ImportError;
use annals_dialects::raw::RawError;
use annals_dialects::secrets::SecretPatternError;

pub(crate) use self::keeping::KeepingError;
use crate::output::counted;
use crate::proof_error::{LoadErrorRef, ProofCommandError};

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CliError {
    #[error("there is no log at {log}: create one with `annals init`, or name another with --log")]
    NoLog { log: String },
    #[error("{log} holds a log already: use it as it is, or name another place with --log")]
    LogExists { log: String },
    #[error("a log in memory is gone when the program ends: name a directory with --log")]
    InMemory,
    #[error("{0}")]
    Open(OpenError),
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("position {position} is not there yet: the log ends at {end}")]
    BeyondEnd { position: Position, end: Position },
    #[error("{object} shares the stream of its run: look at it with `annals history {id}`")]
    NoStream { object: String, id: String },
    #[error("{id} has no SHA-1: it is made to collide with something else; ask for sha256")]
    NoHash { id: uuid::Uuid },
    #[error("{object} has no diff: {reason}")]
    NoDiff {
        object: String,
        reason: &'static str,
    },
    #[error("{path}{}: {reason}", line.map(|line| format!(", line {line}")).unwrap_or_default(), path = .path.display())]
    Policy {
        path: PathBuf,
        line: Option<usize>,
        reason: String,
    },
    #[error("{path} has the name of what was recorded: rename the file", path = .path.display())]
    RecordedName { path: PathBuf },
    #[error("two policies are called {name:?}: rename one of the files")]
    SameName { name: String },
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    SessionReplay(#[from] SessionReplayError),
    #[error("there is no event type {name:?}{hint}: `annals events` describes them all")]
    UnknownEventType { name: String, hint: String },
    #[error("no {kind} can be {status:?}: {known}")]
    UnknownStatus {
        status: String,
        kind: &'static str,
        known: String,
    },
    #[error("--after {text:?} is no position: give the first_position of a list's last line")]
    NoPosition { text: String },
    #[error("work-items are not listed by {option}; --limit and --after go with them")]
    NotForWorkItems { option: &'static str },
    #[error("{object} is not written by {dialect}")]
    NotInDialect {
        object: String,
        dialect: &'static str,
    },
    #[error("there is no command {name:?}{hint}: `annals commands --list` names them all")]
    UnknownCommand { name: String, hint: String },
    #[error("{unreadable} events cannot be read, as said in their place: run `annals verify`")]
    Unreadable { unreadable: u64 },
    #[error("{refused} of {lines} commands were refused; their answers say why")]
    Refused { refused: u64, lines: u64 },
    #[error("{refused} of {all} were refused, as said{}", if refused < all { "; the others were done" } else { "" })]
    SomeRefused { refused: usize, all: usize },
    #[error(transparent)]
    Apply(#[from] ApplyError),
    #[error("line {line}: {source}. Nothing after it was read; apply the rest from this line on")]
    StoreFailed { line: u64, source: Box<ApplyError> },
    #[error(
        "standard output was closed: line {line} was executed, nothing after it was read; \
         go on from line {next}", next = line + 1
    )]
    AnswersUnread { line: u64 },
    #[error("verification failed: {}; {remedy}", counted(*.findings, "finding", "findings"))]
    Findings { findings: u64, remedy: &'static str },
    #[error("not all could be checked, as a redaction (event {said}) is unfinished: {next}")]
    RedactionUnfinished { said: Position, next: &'static str },
    #[error(transparent)]
    Rebuild(RebuildError),
    #[error("--redact {0}")]
    SecretPattern(#[from] SecretPatternError),
    #[error(transparent)]
    Import(Box<GitImportError>),
    #[error(transparent)]
    ImportRecordings(Box<ImportError>),
    #[error(transparent)]
    GitInternalImport(#[from] Box<GitInternalImportError>),
    #[error(transparent)]
    ContractsImport(#[from] Box<ContractsImportError>),
    #[error(transparent)]
    Forge(#[from] Box<ForgeFolderError>),
    #[error(
        "{} left alone, since somebody else wrote or changed them; move them away and export \
         again, or keep them", counted(*.files, "file was", "files were")
    )]
    FilesLeftAlone { files: u64 },
    #[error(transparent)]
    Raw(#[from] RawError),
    #[error("{} not written; the report says why", counted(*.recordings, "recording was", "recordings were"))]
    RecordingsNotWritten { recordings: u64 },
    #[error(
        "{found} recordings are kept whose SHA-256 begins with \"{sha256}\"; `annals export raw` lists all"
    )]
    NoRecording { sha256: String, found: usize },
    #[error(transparent)]
    GitInternalExport(#[from] Box<GitInternalExportError>),
    #[error("{} could not be imported; the report names them. All others were", counted(*.broken, "record", "records"))]
    PartlyImported { broken: u64 },
    #[error(
        "{} could not be written for git-internal to read; they are named above. \
         --relaxed writes them all the same", counted(*.refused, "object", "objects")
    )]
    PartlyExported { refused: u64 },
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Redaction(#[from] RedactionError),
    #[error(
        "what was removed can be read no more, but {0}. `annals redact --finish` tries it again"
    )]
    Purge(#[from] PurgeError),
    #[error(transparent)]
    Collect(#[from] CollectError),
    #[error(transparent)]
    Keeping(#[from] Box<KeepingError>),
    #[error(transparent)]
    Proof(Box<ProofCommandError>),
    #[error("cannot read {path}: {source}", path = .path.display())]
    Input { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    #[error("cannot write as JSON: {0}")]
    Json(#[source] serde_json::Error),
    #[error("cannot start: {0}")]
    Runtime(#[source] io::Error),
    #[error("cannot wait for an interrupt: {0}")]
    Signal(#[source] io::Error),
}

/// Why a line of `apply` was not executed, by either way of executing it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ApplyError {
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error(transparent)]
    View(#[from] ViewError),
    #[error("the analysis cannot be read: {0}")]
    Analysis(#[from] ForgeError),
}

impl From<SealError> for ApplyError {
    fn from(error: SealError) -> ApplyError {
        match error {
            SealError::Execute(error) => ApplyError::Execute(error),
            SealError::View(error) => ApplyError::View(error),
            // More ways to fail can come: none of them is a refusal.
            error => ApplyError::View(ViewError::NotFound {
                id: error.to_string(),
            }),
        }
    }
}

impl From<GitImportError> for CliError {
    fn from(error: GitImportError) -> CliError {
        CliError::Import(Box::new(error))
    }
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> CliError {
        CliError::ImportRecordings(Box::new(error))
    }
}

impl From<ContractsImportError> for CliError {
    fn from(error: ContractsImportError) -> CliError {
        CliError::ContractsImport(Box::new(error))
    }
}

impl From<GitInternalImportError> for CliError {
    fn from(error: GitInternalImportError) -> CliError {
        CliError::GitInternalImport(Box::new(error))
    }
}

impl From<ProofCommandError> for CliError {
    fn from(error: ProofCommandError) -> CliError {
        CliError::Proof(Box::new(error))
    }
}

impl From<ReadError> for CliError {
    fn from(error: ReadError) -> CliError {
        CliError::Load(LoadError::Read(error))
    }
}

/// The exit status for what was refused or failed.
const FAILED: u8 = 1;
/// The exit status for options that do not go together.
const USAGE: u8 = 2;
/// The exit status for corruption and failed verification.
const CORRUPT: u8 = 3;

/// Bytes of a message, at most.
const MESSAGE: usize = 8 * 1024;

impl CliError {
    /// Sorts out why a log could not be opened.
    pub(crate) fn open(log: &str, error: OpenError) -> CliError {
        use annals::store_rocks::OpenError as Rocks;
        let log = || log.to_owned();
        match error {
            OpenError::Rocks(Rocks::NotFound { .. }) => CliError::NoLog { log: log() },
            OpenError::Rocks(Rocks::AlreadyExists { .. }) => CliError::LogExists { log: log() },
            error => CliError::Open(error),
        }
    }

    /// Sorts out why the indexes were not made anew.
    pub(crate) fn rebuild(log: &str, error: RebuildError) -> CliError {
        match error {
            RebuildError::Open(error) => CliError::open(log, OpenError::Rocks(error)),
            error => CliError::Rebuild(error),
        }
    }

    /// Whether standard output was closed by its reader.
    pub(crate) fn is_closed_output(&self) -> bool {
        matches!(self, CliError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether it is about one object alone, so that others can still be done.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            CliError::Apply(source) => !source.is_fatal(),
            CliError::View(error) => !matches!(error, ViewError::Load(_)),
            _ => false,
        }
    }

    pub(crate) fn exit_status(&self) -> u8 {
        let corrupt = match self {
            CliError::Findings { .. } => true,
            CliError::Proof(error) => is_corrupt_proof(error),
            CliError::Open(error) => is_corrupt_log(error),
            CliError::View(error) => is_corrupt_view(error),
            CliError::Load(error) => is_corrupt(error),
            CliError::Replay(error) => is_corrupt_replay(error),
            CliError::SessionReplay(error) => is_corrupt_session_replay(error),
            CliError::StoreFailed { source, .. } => source.is_corrupt(),
            CliError::Apply(source) => source.is_corrupt(),
            CliError::Import(error) => is_corrupt_import(error),
            CliError::ImportRecordings(error) => is_corrupt_recordings_import(error),
            CliError::GitInternalImport(error) => is_corrupt_adoption(error),
            CliError::ContractsImport(error) => is_corrupt_contracts_import(error),
            CliError::Forge(error) => is_corrupt_forge(error),
            CliError::Raw(RawError::View(error)) => is_corrupt_view(error),
            CliError::Raw(RawError::Read(error)) => is_corrupt_read(error),
            CliError::GitInternalExport(error) => is_corrupt_export(error),
            CliError::Backup(BackupError::Read(error)) => is_corrupt_read(error),
            CliError::Redaction(error) => is_corrupt_redaction(error),
            CliError::Purge(PurgeError::Read(error)) => is_corrupt_read(error),
            CliError::Collect(error) => is_corrupt_collection(error),
            CliError::Rebuild(RebuildError::Read(error)) => is_corrupt_read(error),
            CliError::Keeping(error) => error.is_corrupt(),
            _ => false,
        };
        let usage = matches!(
            self,
            CliError::NoPosition { .. }
                | CliError::NotForWorkItems { .. }
                | CliError::SecretPattern(_)
        ) || matches!(self, CliError::Proof(error) if error.is_usage())
            || matches!(self, CliError::Keeping(error) if error.is_usage());
        match (corrupt, usage) {
            (true, _) => CORRUPT,
            (false, true) => USAGE,
            (false, false) => FAILED,
        }
    }

    /// Whether a log or a copy of one is damaged.
    pub(crate) fn is_corrupt(&self) -> bool {
        self.exit_status() == CORRUPT
    }

    /// A stable word for programs.
    pub(crate) fn code(&self) -> &'static str {
        if let CliError::Keeping(error) = self {
            return error.code();
        }
        if self.is_corrupt() {
            return match self {
                CliError::Findings { .. } => "verification_failed",
                CliError::Proof(error) if error.is_misfit() => error.code(),
                _ => "corrupt",
            };
        }
        match self {
            CliError::NoLog { .. } => "no_log",
            CliError::LogExists { .. } => "log_exists",
            CliError::InMemory => "in_memory",
            CliError::Open(error) => open_code(error),
            CliError::View(error) => view_code(error),
            CliError::BeyondEnd { .. } => "beyond_end",
            CliError::NoStream { .. } => "no_stream",
            CliError::NoDiff { .. } => "no_diff",
            CliError::Policy { .. } => "invalid_policy",
            CliError::SameName { .. } | CliError::RecordedName { .. } => "same_name",
            CliError::Replay(error) => replay_code(error),
            CliError::SessionReplay(error) => session_replay_code(error),
            CliError::UnknownEventType { .. } => "unknown_event_type",
            CliError::UnknownCommand { .. } => "unknown_command",
            CliError::UnknownStatus { .. } => "unknown_status",
            CliError::NoPosition { .. }
            | CliError::NotForWorkItems { .. }
            | CliError::SecretPattern(_) => "usage",
            CliError::NotInDialect { .. } => "not_in_dialect",
            CliError::Load(error) => load_code(error),
            CliError::Unreadable { .. } => "unreadable",
            CliError::RedactionUnfinished { .. } => "redaction_unfinished",
            CliError::Refused { .. } | CliError::SomeRefused { .. } => "refused",
            CliError::Apply(source) => source.code(),
            CliError::StoreFailed { source, .. } => source.code(),
            CliError::AnswersUnread { .. } | CliError::Output(_) => "output",
            CliError::Import(_)
            | CliError::ImportRecordings(_)
            | CliError::GitInternalImport(_)
            | CliError::ContractsImport(_) => "import_failed",
            CliError::GitInternalExport(_) => "export_failed",
            CliError::Forge(error) => forge_code(error),
            CliError::FilesLeftAlone { .. } => "files_left_alone",
            CliError::Raw(_) => "export_failed",
            CliError::RecordingsNotWritten { .. } => "partly_exported",
            CliError::NoRecording { .. } => "not_found",
            CliError::PartlyImported { .. } => "partly_imported",
            CliError::PartlyExported { .. } => "partly_exported",
            CliError::Backup(_) => "backup_failed",
            CliError::Redaction(error) => redaction_code(error),
            CliError::Purge(_) => "bytes_left",
            CliError::Collect(_) => "collection_failed",
            CliError::Rebuild(_) => "rebuild_failed",
            CliError::Proof(error) => error.code(),
            CliError::Input { .. } => "input",
            CliError::File { .. } => "file",
            _ => "failed",
        }
    }

    /// The error as `--json` prints it.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "error": { "code": self.code(), "message": self.message() } })
    }

    /// What went wrong. What libraries say of a stranger's file may have much of it.
    pub(crate) fn message(&self) -> String {
        let message = self.to_string();
        match cut(&message, MESSAGE) {
            whole if whole.len() == message.len() => message,
            beginning => format!("{beginning}..."),
        }
    }
}

impl ApplyError {
    /// A stable word for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            _ if self.is_corrupt() => "corrupt",
            ApplyError::Execute(error) => error.code(),
            ApplyError::View(error) => view_code(error),
            ApplyError::Analysis(_) => "invalid",
        }
    }

    /// Whether the log itself failed, so that whatever follows would fail too.
    pub(crate) fn is_fatal(&self) -> bool {
        use AppendError::{Closed, Corrupt, ReadOnly, Unavailable};
        match self {
            ApplyError::Execute(ExecuteError::Append(error)) => {
                matches!(
                    error,
                    Closed | ReadOnly | Corrupt { .. } | Unavailable { .. }
                )
            }
            ApplyError::Execute(ExecuteError::Load(_)) => true,
            ApplyError::Execute(_) | ApplyError::Analysis(_) => false,
            ApplyError::View(error) => matches!(error, ViewError::Load(_)),
        }
    }

    fn is_corrupt(&self) -> bool {
        match self {
            ApplyError::Execute(error) => is_corrupt_execution(error),
            ApplyError::View(error) => is_corrupt_view(error),
            ApplyError::Analysis(_) => false,
        }
    }
}

fn is_corrupt_log(error: &OpenError) -> bool {
    matches!(error, OpenError::Rocks(error) if is_corrupt_store(error))
}

fn is_corrupt_store(error: &annals::store_rocks::OpenError) -> bool {
    use annals::store_rocks::OpenError as Rocks;
    matches!(
        error,
        Rocks::Corrupt { .. } | Rocks::MissingColumnFamily { .. }
    )
}

fn is_corrupt_execution(error: &ExecuteError) -> bool {
    match error {
        ExecuteError::Append(AppendError::Corrupt { .. }) => true,
        ExecuteError::Load(error) => is_corrupt(error),
        _ => false,
    }
}

fn is_corrupt_import(error: &GitImportError) -> bool {
    match error {
        GitImportError::Execute { source, .. } => is_corrupt_execution(source),
        GitImportError::Log(error) => is_corrupt_read(error),
        _ => false,
    }
}

fn is_corrupt_recordings_import(error: &ImportError) -> bool {
    match error {
        ImportError::Record { source, .. } => match source.as_ref() {
            BulkError::Batch(source) => is_corrupt_execution(source),
            BulkError::NotAcknowledged { source, .. } => is_corrupt_execution(source),
            _ => false,
        },
        ImportError::Log(error) => is_corrupt_read(error),
        ImportError::View(error) => is_corrupt_view(error),
        _ => false,
    }
}

fn is_corrupt_adoption(error: &GitInternalImportError) -> bool {
    match error {
        GitInternalImportError::Execute(error) => is_corrupt_execution(error),
        GitInternalImportError::Load(error) => is_corrupt(error),
        _ => false,
    }
}

fn is_corrupt_contracts_import(error: &ContractsImportError) -> bool {
    match error {
        ContractsImportError::Execute(error) => is_corrupt_execution(error),
        ContractsImportError::Load(error) => is_corrupt(error),
        _ => false,
    }
}

fn is_corrupt_redaction(error: &RedactionError) -> bool {
    match error {
        RedactionError::Partly { source, .. } => is_corrupt_redaction(source),
        RedactionError::Load(error) => is_corrupt(error),
        RedactionError::Store(RedactError::Append(AppendError::Corrupt { .. })) => true,
        _ => false,
    }
}

fn is_corrupt_collection(error: &CollectError) -> bool {
    match error {
        CollectError::Read(error) | CollectError::Purge(PurgeError::Read(error)) => {
            is_corrupt_read(error)
        }
        CollectError::Write(AppendError::Corrupt { .. }) => true,
        _ => false,
    }
}

fn redaction_code(error: &RedactionError) -> &'static str {
    match error {
        RedactionError::NoEvent { .. } | RedactionError::NoSuchEvent { .. } => "no_event",
        RedactionError::NoBlob { .. } => "no_blob",
        RedactionError::ReasonMatches | RedactionError::NoReason => "invalid_reason",
        RedactionError::ActorMatches => "invalid_actor",
        RedactionError::Contended { .. } => "contended",
        _ => "redaction_failed",
    }
}

fn is_corrupt_forge(error: &ForgeFolderError) -> bool {
    match error {
        ForgeFolderError::Execute(error) => is_corrupt_execution(error),
        ForgeFolderError::View(error) => is_corrupt_view(error),
        _ => false,
    }
}

fn forge_code(error: &ForgeFolderError) -> &'static str {
    match error {
        ForgeFolderError::Unreadable { .. } => "input",
        ForgeFolderError::Unwritable { .. } => "file",
        ForgeFolderError::NoForge { .. } => "no_forge_folder",
        ForgeFolderError::Execute(error) => error.code(),
        ForgeFolderError::View(error) => view_code(error),
        _ => "failed",
    }
}

fn is_corrupt_export(error: &GitInternalExportError) -> bool {
    match error {
        GitInternalExportError::View(error) => is_corrupt_view(error),
        GitInternalExportError::Read(error) => is_corrupt_read(error),
        GitInternalExportError::Load(error) => is_corrupt(error),
        _ => false,
    }
}

fn is_corrupt_proof(error: &ProofCommandError) -> bool {
    let damaged = match error.load() {
        Some(LoadErrorRef::Read(error)) => is_corrupt_read(error),
        Some(LoadErrorRef::Load(error)) => is_corrupt(error),
        None => false,
    };
    damaged || error.is_misfit()
}

fn is_corrupt_view(error: &ViewError) -> bool {
    matches!(error, ViewError::Load(error) if is_corrupt(error))
}

fn is_corrupt_replay(error: &ReplayError) -> bool {
    match error {
        ReplayError::Read(error) => is_corrupt_read(error),
        ReplayError::Decode { source, .. } => is_corrupt_event(source),
        _ => false,
    }
}

fn is_corrupt_session_replay(error: &SessionReplayError) -> bool {
    match error {
        SessionReplayError::Read(error) => is_corrupt_read(error),
        SessionReplayError::Decode { source, .. } => is_corrupt_event(source),
        _ => false,
    }
}

fn is_corrupt_read(error: &ReadError) -> bool {
    matches!(error, ReadError::Corrupt { .. })
}

fn is_corrupt(error: &LoadError) -> bool {
    match error {
        LoadError::Read(error) | LoadError::Catalogue(CatalogueError::Read(error)) => {
            is_corrupt_read(error)
        }
        LoadError::Catalogue(CatalogueError::Commit(CommitError::Corrupt { .. }))
        | LoadError::Entry(EntryError::MissingBlob { .. })
        | LoadError::Catalogue(CatalogueError::MissingBlob { .. }) => true,
        LoadError::Decode(source)
        | LoadError::Entry(EntryError::Decode { source, .. })
        | LoadError::Catalogue(CatalogueError::Decode { source, .. }) => is_corrupt_event(source),
        _ => false,
    }
}

/// Whether bytes are damaged, and not just of a newer version.
fn is_corrupt_event(error: &DecodeError) -> bool {
    use DecodeError::{Empty, Malformed, TooLarge, TrailingBytes};
    matches!(
        error,
        Empty { .. } | Malformed { .. } | TooLarge { .. } | TrailingBytes { .. }
    )
}

fn open_code(error: &OpenError) -> &'static str {
    use annals::store_rocks::OpenError as Rocks;
    let OpenError::Rocks(error) = error else {
        return "invalid_log_url";
    };
    match error {
        Rocks::Locked { .. } => "locked",
        Rocks::NotEmpty { .. } => "not_empty",
        Rocks::NotALog { .. } => "not_a_log",
        Rocks::NewerFormat { .. } => "newer_format",
        Rocks::NoPermission { .. } => "no_permission",
        Rocks::DiskFull { .. } => "disk_full",
        Rocks::TooManyFiles { .. } => "too_many_files",
        Rocks::RebuildInterrupted { .. } => "rebuild_interrupted",
        Rocks::Rebuilding { .. } => "rebuilding",
        _ => "open_failed",
    }
}

fn view_code(error: &ViewError) -> &'static str {
    match error {
        ViewError::NotFound { .. } => "not_found",
        ViewError::Ambiguous { .. } => "ambiguous",
        ViewError::InvalidId { .. } => "invalid_id",
        ViewError::WrongKind { .. } => "wrong_kind",
        ViewError::NotYet { .. } => "not_yet",
        ViewError::NoWindow { .. } => "no_window",
        ViewError::Load(error) => load_code(error),
        _ => "unreadable",
    }
}

fn replay_code(error: &ReplayError) -> &'static str {
    match error {
        ReplayError::NoPipeline { .. } => "not_yet",
        _ => "unreadable",
    }
}

fn session_replay_code(error: &SessionReplayError) -> &'static str {
    match error {
        SessionReplayError::NoSession { .. } => "not_yet",
        SessionReplayError::InvalidProfile { .. } => "invalid_policy",
        _ => "unreadable",
    }
}

fn load_code(error: &LoadError) -> &'static str {
    match error {
        LoadError::Behind { .. } => "behind",
        LoadError::Catalogue(CatalogueError::NotAParent { .. }) => "not_a_parent",
        LoadError::Catalogue(CatalogueError::OnlyIntents { .. }) => "only_intents",
        _ => "unreadable",
    }
}

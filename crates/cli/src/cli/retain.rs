//! The command line of `annals log retain`.

use std::path::PathBuf;

use annals_dialects::retention::Strategy;
use clap::{Args, ValueEnum};

/// How blobs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RetainAs {
    /// A ref for each blob, refs/ai/blobs/<log>/<id>
    Refs,
    /// One commit without a parent, refs/ai/uploads, with a tree to look at
    Orphan,
    /// A pack with a .keep file
    KeepPack,
    /// Nothing is held: print the ids that a gc must keep
    CustomGc,
}

impl From<RetainAs> for Strategy {
    fn from(how: RetainAs) -> Strategy {
        match how {
            RetainAs::Refs => Strategy::Refs,
            RetainAs::Orphan => Strategy::Orphan,
            RetainAs::KeepPack => Strategy::KeepPack,
            RetainAs::CustomGc => Strategy::CustomGc,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
The log names git blobs: what the items of snapshots held, and artifacts of the store `git`. git \
removes a blob that no commit, tree or ref reaches. Without an ID all that the log names are kept; \
with some, those of these intents, tasks, runs, snapshots, and what belongs to them. Content that \
only the log has is written into the repository first. What neither has is named, and the exit \
status is 1; the others are kept. A second run changes nothing. Entries of other logs and tools are \
never changed. docs/retention.md says which to choose.

custom-gc prints an id a line. git's own gc asks for them (git 2.41 and newer, any --prune but now):

  git config gc.recentObjectsHook 'annals --log /path/to/log log retain --repo . --as custom-gc --allow-missing'

Examples:
  annals log retain --repo . --as orphan
  annals log retain --repo . --as refs 1a2b3c4d
  annals log retain --repo . --as refs --release 1a2b3c4d   release it again
  annals log retain --repo . --as refs --release --unowned  also what older versions kept
  annals log retain --repo . --as custom-gc --protect       also under git gc --prune=now, with the hook")]
pub(crate) struct Retain {
    /// The repository: its top folder, or its own folder
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// How to keep the blobs
    #[arg(long = "as", value_name = "HOW")]
    pub(crate) how: RetainAs,
    /// Release the blobs: the next gc can remove them
    #[arg(long)]
    pub(crate) release: bool,
    /// With --release: also release entries without a log, as older versions and other tools write
    #[arg(long, requires = "release")]
    pub(crate) unowned: bool,
    /// With custom-gc: store each blob as a new loose object, which no gc drops without the hook
    #[arg(long, conflicts_with = "release")]
    pub(crate) protect: bool,
    /// Exit with 0 even if blobs are missing; they are still listed
    #[arg(long)]
    pub(crate) allow_missing: bool,
    /// The objects whose blobs are kept [default: all]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

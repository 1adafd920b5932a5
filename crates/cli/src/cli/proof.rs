//! The arguments of checkpoints, keys and proofs.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Make a key that signs checkpoints
    Generate(KeyGenerate),
    /// Print the public key of a private key
    Show(KeyShow),
}

#[derive(Debug, Args)]
#[command(after_help = "\
The private key goes to FILE, which only you can read, and the public key to FILE.pub; neither may \
be there already. Anyone who has FILE can sign in its name: keep it away from the log. Give FILE.pub \
to everyone who checks signatures. The keys are Ed25519, written as C2SP's signed notes have \
them.

Examples:
  annals proof key generate log.key
  annals proof key generate witness.key --name example.org/witness")]
pub(crate) struct KeyGenerate {
    /// The file of the private key
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The key's name in signatures, without spaces and plus signs [default: FILE's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals proof key show log.key
  annals proof key show log.key --json")]
pub(crate) struct KeyShow {
    /// The private key
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Prints the number of records and the root of the Merkle tree over them, as a C2SP signed note. Store it elsewhere: `annals \
proof verify --checkpoint FILE` then detects any later change of the log, including truncation. Without --key it is not \
signed.

An existing FILE is replaced only if its checkpoint is of this log, is not newer, and is signed by KEY, or unsigned without \
--key. If it does not match the log, FILE stays and the exit status is 3. With --follow new checkpoints are written until \
interrupted, while other processes write to the log. A process that writes FILE locks the empty file .FILE.lock beside it.

Examples:
  annals proof checkpoint
  annals proof checkpoint --key log.key --out /mnt/elsewhere/checkpoint
  annals proof checkpoint --at 1000          the first 1000 records
  annals proof checkpoint --follow --every 10000 --every-seconds 60 --key log.key --out /mnt/elsewhere/cp
  annals proof checkpoint sign checkpoint --key witness.key --out checkpoint"
)]
pub(crate) struct Checkpoint {
    #[command(subcommand)]
    pub(crate) action: Option<CheckpointAction>,
    /// Sign it with this private key
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// The checkpoint of the log's first records, by their number
    #[arg(long, value_name = "SIZE", conflicts_with = "follow")]
    pub(crate) at: Option<u64>,
    /// Write it to this file, outside the log, instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write new checkpoints as the log grows, until interrupted
    #[arg(short, long, requires = "out")]
    pub(crate) follow: bool,
    /// With --follow: write one after this many new records
    #[arg(long, value_name = "N", requires = "follow", default_value = "1000")]
    pub(crate) every: NonZeroU64,
    /// With --follow: or this many seconds after the first of them
    #[arg(long, value_name = "S", requires = "follow", default_value = "10")]
    pub(crate) every_seconds: NonZeroU64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CheckpointAction {
    /// Add a signature to a checkpoint, as a witness does
    Sign(CheckpointSign),
}

#[derive(Debug, Args)]
#[command(after_help = "\
All signatures that are there are kept, those in NOTE and those that --out's FILE has already, also \
those of unknown keys; an earlier one of the same key is replaced. A witness that has the log, or a \
copy of it, and the checkpoint that it signed last gives that to --since: the log must be that of \
both, and have only grown. Otherwise nothing is signed and the exit status is 3.

Examples:
  annals proof checkpoint sign checkpoint --key witness.key
  annals proof checkpoint sign checkpoint --key witness.key --out checkpoint
  annals proof checkpoint sign new --since old --key witness.key --out new")]
pub(crate) struct CheckpointSign {
    /// The checkpoint; - is standard input
    #[arg(value_name = "NOTE")]
    pub(crate) note: PathBuf,
    /// Sign it with this private key
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// First check with the log that it has only grown since this checkpoint
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) since: Option<PathBuf>,
    /// Write it to this file, which may be NOTE, instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Proves that an event or all events of an object are in the log, or with --since that the log has only grown. The proof is a \
small JSON file (docs/proof-format.md), which `annals proof verify --proof` checks against a checkpoint without the log. It \
is for the current log, for its first SIZE records, or for a given checkpoint; the check needs a checkpoint of that size.

A proof holds whole records, and its reader can read them. Content over 4 KiB is included as its digest only. Content that \
is removed from the log later stays in earlier proofs; --headers-only omits content.

Examples:
  annals proof prove 17                              the event at position 17
  annals proof prove 1a2b3c4d --checkpoint cp --out proof.json
  annals proof prove 17 --headers-only               no content
  annals proof prove --since old-cp --checkpoint cp  the log has only grown
  annals proof verify --proof proof.json --checkpoint cp --key log.key.pub")]
pub(crate) struct Prove {
    /// A position, an event's UUID, or an object: its UUID, at least its last 8 digits, an alias
    #[arg(
        value_name = "EVENT|ID",
        required_unless_present = "since",
        conflicts_with = "since"
    )]
    pub(crate) what: Option<String>,
    /// Prove that the log has only grown since this checkpoint
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) since: Option<PathBuf>,
    /// Prove it for the log's first records, by their number
    #[arg(long, value_name = "SIZE", conflicts_with = "checkpoint")]
    pub(crate) at: Option<u64>,
    /// Prove it for this checkpoint
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Include only headers (type, stream, times, actor) and digests of the rest
    #[arg(long, conflicts_with = "since")]
    pub(crate) headers_only: bool,
    /// Write the proof to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Reads every record and checks digests, order and indexes, computes the tree and its root, checks all content, and compares \
the catalogue with a fold of the whole log. Nothing is written. The exit status is 3 if a check fails, and 1 if a redaction is \
unfinished. -v also reports clock skew: events that are dated before earlier ones, as in imports.

--checkpoint also compares the log with a checkpoint that was stored elsewhere. --since checks only records since a \
checkpoint; earlier content that was removed without a redaction is found only by a full check. --proof checks a file of \
`annals proof prove` against a checkpoint without a log. Signatures are checked only with --key.

--artifacts checks instead that artifacts match their references: content of the log, files below --files, and blobs of the \
git repository --repo.

Examples:
  annals proof verify
  annals proof verify --artifacts --repo .
  annals --log /backups/monday proof verify --json
  annals proof verify --checkpoint cp --key log.key.pub
  annals proof verify --since cp
  annals proof verify --proof proof.json --checkpoint cp --key log.key.pub --key witness.key.pub")]
pub(crate) struct Verify {
    /// Check this proof without the log; - is standard input
    #[arg(long, value_name = "FILE", requires = "checkpoint")]
    pub(crate) proof: Option<PathBuf>,
    /// Check the log or the proof against this checkpoint
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Check only records since this checkpoint; with --proof: that the proof begins there
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) since: Option<PathBuf>,
    /// Require a valid signature of this public key, or of each in the file, on the checkpoints; repeat it for more
    #[arg(long = "key", value_name = "PUBFILE")]
    pub(crate) keys: Vec<PathBuf>,
    /// Check only artifacts and the content of snapshots' items
    #[arg(long, conflicts_with_all = ["proof", "checkpoint", "since", "keys"])]
    pub(crate) artifacts: bool,
    /// With --artifacts: the git repository with the blobs
    #[arg(long, value_name = "DIR", requires = "artifacts")]
    pub(crate) repo: Option<PathBuf>,
    /// With --artifacts: the folder of relative paths
    #[arg(long, value_name = "DIR", requires = "artifacts", default_value = ".")]
    pub(crate) files: PathBuf,
}

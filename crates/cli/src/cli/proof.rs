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
The private key goes to FILE, which only you can read, and the public key to FILE.pub; neither may
be there already. Anyone who has FILE can sign in its name: keep it away from the log. Give FILE.pub
to everyone who checks signatures. The keys are Ed25519, written as C2SP's signed notes have
them.

Examples:
  annals key generate log.key
  annals key generate witness.key --name example.org/witness")]
pub(crate) struct KeyGenerate {
    /// Where the private key goes
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The key's name, which signatures show: no spaces, no plus signs; left out, FILE's name
    /// without its ending
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals key show log.key
  annals key show log.key --json")]
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
A checkpoint says how many records the log has, and the root of the Merkle tree over them. If you
keep one elsewhere, `annals verify --checkpoint FILE` finds every later change, also that records
are missing at the end. It is a C2SP signed note; without --key it is not signed.

A FILE that has a checkpoint of this log already is only replaced if that fits the log as it is
now, is not newer, and is signed by KEY, too; without --key, if it is not signed. If it does not
fit, FILE stays and the exit status is 3. With --follow that goes on until interrupted, while other
processes write to the log. A process that changes FILE holds a lock on the empty file .FILE.lock
next to it, which stays there.

Examples:
  annals checkpoint
  annals checkpoint --key log.key --out /mnt/elsewhere/checkpoint
  annals checkpoint --at 1000                    as it was with 1000 records
  annals checkpoint --follow --every 10000 --every-seconds 60 --key log.key --out /mnt/elsewhere/cp
  annals checkpoint sign checkpoint --key witness.key --out checkpoint"
)]
pub(crate) struct Checkpoint {
    #[command(subcommand)]
    pub(crate) action: Option<CheckpointAction>,
    /// Sign it with this private key
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Of the log when it had so many records
    #[arg(long, value_name = "SIZE", conflicts_with = "follow")]
    pub(crate) at: Option<u64>,
    /// Write it to this file, outside the log, instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Go on as the log grows, until interrupted
    #[arg(short, long, requires = "out")]
    pub(crate) follow: bool,
    /// With --follow: a checkpoint once so many records have come
    #[arg(long, value_name = "N", requires = "follow", default_value = "1000")]
    pub(crate) every: NonZeroU64,
    /// With --follow: or so many seconds after the first of them
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
All signatures that are there are kept, those in NOTE and those that --out's FILE has already, also
those of unknown keys; an earlier one of the same key is replaced. A witness that has the log, or a
copy of it, and the checkpoint that it signed last gives that to --since: the log must be that of
both, and have only grown. Otherwise nothing is signed and the exit status is 3.

Examples:
  annals checkpoint sign checkpoint --key witness.key
  annals checkpoint sign checkpoint --key witness.key --out checkpoint
  annals checkpoint sign new --since old --key witness.key --out new")]
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
Proves that one event is in the log, or all events of an object, or with --since that the log has
only grown. The proof is a small JSON file (docs/proof-format.md) that `annals verify --proof`
checks with a checkpoint and without the log. It is for the log as it is now, as it was with SIZE
records, or for a checkpoint that you have; to check it, the checkpoint of exactly that size is
needed.

A proof holds the whole records: anyone who gets it can read them. Content over 4 KiB is in them as
its digest only. What is removed from the log later stays in proofs that were made before;
--headers-only leaves content away.

Examples:
  annals prove 17                               the event at position 17
  annals prove 1a2b3c4d --checkpoint cp --out proof.json
                                                all events of an object
  annals prove 17 --headers-only                what type of event, when and whose, but no content
  annals prove --since old-cp --checkpoint cp   that the log only grew
  annals verify --proof proof.json --checkpoint cp --key log.key.pub")]
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
    /// For the log as it was with so many records
    #[arg(long, value_name = "SIZE", conflicts_with = "checkpoint")]
    pub(crate) at: Option<u64>,
    /// For this checkpoint
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Only headers: type, stream, times and actor, and digests of the rest
    #[arg(long, conflicts_with = "since")]
    pub(crate) headers_only: bool,
    /// Write the proof to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Reads every record and checks its digests, its neighbours and the indexes, computes the tree and its root, checks all \
content, and compares the catalogue with a fold of the whole log. Nothing is written. The exit status is 3 if anything \
is wrong, and 1 if nothing is, but a redaction is unfinished.

--checkpoint also compares the log with a checkpoint that was kept elsewhere. --since reads only what is new since a \
checkpoint: content that was removed before it without a redaction is found by a check of the whole log only. --proof \
checks a file of `annals prove` with a checkpoint, and opens no log. --key demands a signature of each of these keys; \
without it no signature is checked.

--artifacts checks instead whether artifacts are what their references name: those in the log, files below --files, and \
blobs of the git repository --repo. What cannot be fetched, or has no hash, is unknown.

Examples:
  annals verify
  annals verify --artifacts --repo .
  annals --log /backups/monday verify --json
  annals verify --checkpoint cp --key log.key.pub
  annals verify --since cp
  annals verify --proof proof.json --checkpoint cp --key log.key.pub --key witness.key.pub")]
pub(crate) struct Verify {
    /// Check this proof, without the log; - is standard input
    #[arg(long, value_name = "FILE", requires = "checkpoint")]
    pub(crate) proof: Option<PathBuf>,
    /// Check against this checkpoint
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Check only what is new since this checkpoint; with --proof: that it proves that the log
    /// has only grown since then
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) since: Option<PathBuf>,
    /// Demand a valid signature of this public key (or of each in the file) on the checkpoints;
    /// give it again for more
    #[arg(long = "key", value_name = "PUBFILE")]
    pub(crate) keys: Vec<PathBuf>,
    /// Check artifacts and the content of snapshots' items, and nothing else
    #[arg(long, conflicts_with_all = ["proof", "checkpoint", "since", "keys"])]
    pub(crate) artifacts: bool,
    /// With --artifacts: the git repository that has the blobs
    #[arg(long, value_name = "DIR", requires = "artifacts")]
    pub(crate) repo: Option<PathBuf>,
    /// With --artifacts: the folder that relative paths are in
    #[arg(long, value_name = "DIR", requires = "artifacts", default_value = ".")]
    pub(crate) files: PathBuf,
}

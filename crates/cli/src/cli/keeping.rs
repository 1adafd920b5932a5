//! Keeping a log: copies of it, its health, its content.

use std::path::PathBuf;

use clap::Args;

use super::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
The first line names the log, its end and its root. A line with \"blob\" holds large content; it \
comes before the first record that refers to it. Every other line is a record, in order, and the \
last one says how many there were, so that a file that was cut off is noticed. The export ends where \
the log ends when the command begins. `annals import annals` makes a log of it with the same root.

Examples:
  annals export annals log.jsonl
  annals export annals | zstd > log.jsonl.zst
  annals export annals --from 1001 > newer.jsonl
  annals export annals | annals --log other import annals -")]
pub(crate) struct ExportAnnals {
    /// Where to write; - is standard output. A file is there once it is whole
    #[arg(default_value = "-", value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The first position to write
    #[arg(long, default_value_t = 1, value_name = "POSITION")]
    pub(crate) from: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Copies every record as it is, into a log that is empty or that has the first records of the export. \
Where there is no log it is created, with the id of the one that was exported. Records that are there \
already are compared and passed over, so an import that was interrupted goes on where it ended. A \
record that is another one than the log has at its position is refused. In the end the root must be \
the one that the export names; if not, the exit status is 3. An --actor that is not a person copies \
nothing that a person did, and nothing that the log itself decides; nothing is copied then.

Examples:
  annals --log other import annals log.jsonl
  annals export annals | annals --log other import annals -
  annals import annals newer.jsonl               what --from 1001 wrote, behind the first 1000")]
pub(crate) struct ImportAnnals {
    /// What `annals export annals` wrote; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Checks all records of the backup, and copies it to the path of --log, which must not exist. The backup is only read. On an error \
nothing incomplete is left.

Examples:
  annals log restore /backups/monday
  annals --log /var/lib/annals log restore /backups/monday
  annals log restore /backups/monday --fast  without checks")]
pub(crate) struct Restore {
    /// What `annals log backup` made
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    /// Copy it without checking every record first
    #[arg(long)]
    pub(crate) fast: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Checks the directory, the acknowledged events, the writing process, the end of the log, the tree, the catalogue, the \
settings, the disk and interrupted work. It also works on a log that does not open, and changes nothing. `annals proof \
verify` checks every record.

--truncate-tail repairs a log whose end is damaged behind all acknowledged events, as after a power cut. It refuses if an \
acknowledged record would be lost: if the file WATERMARK promises more (it can be 0.1 s old after a power cut), or if a later \
write is whole. The previous log is moved to a folder beside it; --put-back FOLDER restores it, unless events were appended \
since.

The exit status is 0 without problems, 3 for corruption, and 1 for other problems.

Examples:
  annals doctor
  annals doctor --deep               also find content that no record refers to
  annals doctor --truncate-tail
  annals doctor --put-back .annals.tail-1
  annals doctor --json")]
pub(crate) struct Doctor {
    /// Also find content that no record refers to; reads the whole log
    #[arg(long, conflicts_with = "truncate_tail")]
    pub(crate) deep: bool,
    /// Remove the unreadable end of the log, if it has no acknowledged event
    #[arg(long)]
    pub(crate) truncate_tail: bool,
    /// Restore the log that --truncate-tail moved to this folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["truncate_tail", "deep"])]
    pub(crate) put_back: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A digest has 64 hex digits; the first 8 or more suffice if they are unique, and sha256: may precede it. Views show it as an \
artifact's `hash`, and as its `key` if the store is `annals`. Artifacts of other stores (s3, local) are not in the log.

For the id of an object it prints the object's content: a diff, the parts of a report or of an output, the items of a snapshot, \
or content over 4 KiB of its events. If there are several parts, they are listed, and --part takes a part's name, an item's \
path or its number.

Examples:
  annals object cat 9f86d081884c7d65
  annals object cat sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 > report.xml
  annals object cat 1a2b3c4d                the content of a patch set or a tool call
  annals object cat 1a2b3c4d --part stdout  one part of a tool call's output
  annals object cat 9f86d081 --out image.png")]
pub(crate) struct Cat {
    /// The content's digest, or the id of an object
    #[arg(value_name = "DIGEST|ID")]
    pub(crate) what: String,
    /// Which of the contents that the log keeps of an object
    #[arg(short, long, value_name = "NAME")]
    pub(crate) part: Option<String>,
    /// Write it to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write it to a terminal, even if it is not text
    #[arg(short, long)]
    pub(crate) force: bool,
}

//! Keeping a log: copies of it, its health, its content.

use std::path::PathBuf;

use clap::Args;

use super::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
The first line names the log, its end and its root. A line with \"blob\" holds large content; it
comes before the first record that refers to it. Every other line is a record, in order, and the
last one says how many there were, so that a file that was cut off is noticed. The export ends where
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
Copies every record as it is, into a log that is empty or that has the first records of the export.
Where there is no log it is created, with the id of the one that was exported. Records that are there
already are compared and passed over, so an import that was interrupted goes on where it ended. A
record that is another one than the log has at its position is refused. In the end the root must be
the one that the export names; if not, the exit status is 3. An --actor that is not a person copies
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
Checks everything in the backup, and copies it to where --log says. The backup is only read. Nothing
may be there yet; if anything goes wrong, nothing incomplete is left.

Examples:
  annals restore /backups/monday
  annals --log /var/lib/annals restore /backups/monday
  annals restore /backups/monday --fast      without checking it first")]
pub(crate) struct Restore {
    /// What `annals backup` made
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    /// Copy it without checking every record first
    #[arg(long)]
    pub(crate) fast: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Looks at the directory, what was acknowledged, who writes, whether the end of the log can be read,
the tree, the catalogue, the settings, the disk, and what interrupted work left. It works on a log
that does not open, too, and alters nothing. `annals verify` checks every record.

--truncate-tail is for a log whose end is damaged behind everything that was acknowledged, as a power
cut can leave it. It refuses where an acknowledged record would be lost: where the file WATERMARK
promises more (after a power cut it can be a tenth of a second old), and where something that was
written later is whole. The log as it was is put into a folder next to it first; --put-back FOLDER
puts that in the log's place again, unless something was appended since.

The exit status is 0 if there is no problem, 3 if something is corrupt, 1 otherwise.

Examples:
  annals doctor
  annals doctor --deep               also looks for content that no record refers to
  annals doctor --truncate-tail
  annals doctor --put-back .annals.tail-1
  annals doctor --json")]
pub(crate) struct Doctor {
    /// Also look for content that no record refers to, which reads the whole log
    #[arg(long, conflicts_with = "truncate_tail")]
    pub(crate) deep: bool,
    /// Remove the end of the log that cannot be read, if nothing of it was acknowledged
    #[arg(long)]
    pub(crate) truncate_tail: bool,
    /// Put the log back that --truncate-tail put into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["truncate_tail", "deep"])]
    pub(crate) put_back: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A digest is 64 hex digits, or the first 8 or more where no other content's digest begins with them;
sha256: may come before it. Views show it as an artifact's `hash`, and as its `key` where the store
is `annals`. An artifact of another store (s3, local, ...) is not in the log. For the id of an object
it is what the log keeps of it: a diff, the parts of a report or of an output, what the items of a
snapshot held; else the content over 4 KiB that its events refer to. Where there are several, they
are named, and --part takes a part's name, an item's path or its number.

Examples:
  annals cat 9f86d081884c7d65
  annals cat sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 > report.xml
  annals cat 1a2b3c4d                what a patch set or a tool call holds
  annals cat 1a2b3c4d --part stdout  one part of a tool call's output
  annals cat 9f86d081 --out image.png")]
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

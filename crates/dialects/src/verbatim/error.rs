//! Why a verbatim export or import came to nothing.

use std::io;

use annals::domain::Refusal;
use annals_event_log::{
    AppendError, Classification, Classified, Digest, ErrorClass, Position, ReadError,
};

use super::copied_by::named;

/// Why an export stopped. What was written of it has no last line, and no import takes
/// it for whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerbatimExportError {
    /// The log ends before the first position that was asked for.
    #[error("position {from} is not there yet: the log ends at {end}")]
    BeyondEnd {
        /// The first position that was asked for.
        from: Position,
        /// Where the log ends.
        end: Position,
    },
    /// Content was removed, and no redaction in the export names it.
    #[error(
        "content of record {position} was removed, and no redaction up to position {end} names it: it was made meanwhile, \
         or the log was altered. Export again; if that fails, too, run `annals proof verify`"
    )]
    Removed {
        /// The record.
        position: Position,
        /// The export's last position.
        end: Position,
    },
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The export could not be written.
    #[error("the export cannot be written: {0}")]
    Write(#[source] io::Error),
}

impl Classified for VerbatimExportError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Corrupt, Failed, NotFound};
        match self {
            VerbatimExportError::BeyondEnd { .. } => NotFound.code("beyond_end"),
            VerbatimExportError::Removed { .. } => Corrupt.code("export_failed"),
            VerbatimExportError::Read(error) => error.classify().of("export_failed"),
            VerbatimExportError::Write(_) => Failed.code("export_failed"),
        }
    }
}

/// Why an import stopped. What was copied before it stays: importing the whole export
/// again goes on behind it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerbatimImportError {
    /// The source is something else.
    #[error("{file} is not an export of a log: {reason}; `annals export annals` writes one")]
    NotAnExport {
        /// The source.
        file: String,
        /// How it was recognised.
        reason: String,
    },
    /// The export was written by a newer version of this program.
    #[error(
        "{file} is an export of version {found}, this program knows version {known}; use a newer one"
    )]
    NewerVersion {
        /// The source.
        file: String,
        /// The export's version.
        found: u32,
        /// The version that is known.
        known: u32,
    },
    /// A line cannot be read, or is not where it should be.
    #[error("{file}, line {line}: {reason}")]
    Line {
        /// The source.
        file: String,
        /// The line's number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A line was altered: its content is not what its digest says.
    #[error("{file}, line {line}: {reason}; the file was altered or damaged, use another copy")]
    Damaged {
        /// The source.
        file: String,
        /// The line's number, from 1.
        line: u64,
        /// What does not fit.
        reason: String,
    },
    /// The source ends before its last line.
    #[error(
        "{file} is cut off behind line {lines}: the line that ends an export is missing; import the \
         whole of it, and what is there already is passed over"
    )]
    CutOff {
        /// The source.
        file: String,
        /// Lines that there are.
        lines: u64,
    },
    /// The source cannot be read.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// The source.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The importer is not a person, and this is not theirs to copy.
    #[error("{}: {refusal}", named(*.count, *.position))]
    NotPermitted {
        /// How many records are refused.
        count: u64,
        /// The first of them.
        position: Position,
        /// Why that one is not copied.
        refusal: Refusal,
    },
    /// The thread that reads the source ended before its end.
    #[error("reading {file} was interrupted; import it again")]
    Interrupted {
        /// The source.
        file: String,
    },
    /// The log ends before the export begins.
    #[error(
        "the export begins at position {from}, but the log ends at {end}: import what is between them first"
    )]
    Gap {
        /// The export's first position.
        from: Position,
        /// Where the log ends.
        end: Position,
    },
    /// The log has other records before those of the export. Nothing was copied.
    #[error(
        "the log's records up to position {before} are not those that the export continues: it is \
         another log's. Nothing was copied; import it into a log of its own"
    )]
    OtherBeginning {
        /// The position before the export's first one.
        before: Position,
    },
    /// The log has another record at a position.
    #[error(
        "the log has another record at position {position} than the export: they are different logs \
         from there on. Import it into a log of its own"
    )]
    Contradiction {
        /// The position.
        position: Position,
    },
    /// The log did not take records.
    #[error("the log did not take the records from position {position} on: {source}")]
    Append {
        /// The first of them.
        position: Position,
        /// Why not.
        source: AppendError,
    },
    /// All was copied, but the log's root is not the export's.
    #[error(
        "the root of the log's first {size} records is {found}, the export says {expected}: one of \
         them was altered. What was imported is sound in itself and not what was exported: remove that log, and \
         get the export again"
    )]
    Root {
        /// How many records the root is over.
        size: u64,
        /// What the export says.
        expected: Digest,
        /// What the log says.
        found: Digest,
    },
    /// Content of the export was removed, and no redaction in it names it.
    #[error(
        "content of record {position} was removed from the export, and no redaction in it names that: the export was altered. \
         Remove what was imported, and get the export again"
    )]
    Removed {
        /// The record.
        position: Position,
    },
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Classified for VerbatimImportError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Corrupt, Failed, Invalid, Refused, Unavailable, Unsupported};
        match self {
            VerbatimImportError::NotAnExport { .. }
            | VerbatimImportError::Line { .. }
            | VerbatimImportError::Gap { .. } => Invalid.code("import_failed"),
            VerbatimImportError::NewerVersion { .. } => Unsupported.code("import_failed"),
            VerbatimImportError::Damaged { .. } => Classification::CORRUPT,
            VerbatimImportError::Root { .. } | VerbatimImportError::Removed { .. } => {
                Corrupt.code("verification_failed")
            }
            VerbatimImportError::CutOff { .. } => Failed.code("cut_off"),
            VerbatimImportError::NotPermitted { refusal, .. } => Refused.code(refusal.code()),
            VerbatimImportError::Unreadable { .. } => Failed.code("import_failed"),
            VerbatimImportError::Interrupted { .. } => Unavailable.code("import_failed"),
            VerbatimImportError::OtherBeginning { .. }
            | VerbatimImportError::Contradiction { .. } => Refused.code("another_log"),
            VerbatimImportError::Append { source, .. } => source.classify().of("import_failed"),
            VerbatimImportError::Read(error) => error.classify().of("import_failed"),
        }
    }
}

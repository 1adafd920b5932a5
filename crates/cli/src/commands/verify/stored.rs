//! What a verification finds in records and content, in whichever store they are.

use annals::Annals;
use annals::event_log::{Digest, Position};
use annals::proof::Fault;
use annals::store_rocks::VerifyReport;

use crate::error::CliError;
use crate::progress;

/// What was read, and what is wrong with it.
pub(super) struct Stored {
    pub(super) watermark: Position,
    /// Where the files of a log in a folder end, if readers do not see as much.
    pub(super) unpublished: Option<Position>,
    pub(super) records: u64,
    /// Of a log in a folder, whose records are in chunks.
    pub(super) chunks: Option<u64>,
    pub(super) streams: u64,
    pub(super) batches: u64,
    pub(super) blobs: u64,
    pub(super) unreferenced_blobs: Option<u64>,
    pub(super) root: Option<Digest>,
    /// How many records have their hashes in the stored tree.
    pub(super) tree: u64,
    /// The first hundred.
    pub(super) findings: Vec<Found>,
    pub(super) total_findings: u64,
    pub(super) of_models: u64,
    pub(super) of_indexes: u64,
    /// Whether a database's own means repair it.
    pub(super) is_in_database: bool,
}

/// Something that is wrong, and where.
pub(super) struct Found {
    pub(super) position: Option<Position>,
    pub(super) stream: Option<String>,
    pub(super) message: String,
}

impl Stored {
    /// What the embedded store finds in its files.
    pub(super) fn of_files(report: VerifyReport) -> Stored {
        let found = report.findings.iter().map(|finding| Found {
            position: finding.position,
            stream: finding.stream.clone(),
            message: finding.to_string(),
        });
        Stored {
            watermark: report.watermark,
            unpublished: report.unpublished,
            records: report.records,
            chunks: Some(report.chunks),
            streams: report.streams,
            batches: report.batches,
            blobs: report.blobs,
            unreferenced_blobs: report.unreferenced_blobs,
            root: report.root,
            tree: report.tree,
            findings: found.collect(),
            total_findings: report.total_findings,
            of_models: report.of_models,
            of_indexes: report.of_indexes,
            is_in_database: false,
        }
    }

    /// What reading the whole log by its ports finds, and what the store finds of its tables. That an index has what its
    /// table has is the database's own affair.
    pub(super) async fn of_database(annals: &Annals) -> Result<Stored, CliError> {
        let stats = annals.stats().await?;
        let bar = progress::bar("verifying", Some(annals.position().0));
        let shown = |position: Position| bar.set_position(position.0);
        let report = annals.proofs().check_whole(shown).await?;
        bar.finish_and_clear();
        let found = report.findings.iter().map(|finding| Found {
            position: finding.position,
            stream: match &finding.fault {
                Fault::Version { stream, .. } => Some(stream.as_str().to_owned()),
                _ => None,
            },
            message: finding.to_string(),
        });
        Ok(Stored {
            watermark: Position(report.to.size),
            unpublished: None,
            records: report.records,
            chunks: None,
            streams: stats.streams,
            batches: stats.batches,
            blobs: stats.blobs,
            unreferenced_blobs: None,
            root: report.is_sound().then_some(report.to.root),
            tree: report.to.size,
            findings: found.collect(),
            total_findings: report.total_findings,
            of_models: 0,
            of_indexes: 0,
            is_in_database: true,
        })
    }

    /// Whether nothing is wrong.
    pub(super) fn is_sound(&self) -> bool {
        self.total_findings == 0
    }
}

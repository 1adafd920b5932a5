//! What-if: the recorded pushes and uses of a pipeline under other policies.
//!
//! A pipeline's stream has what was pushed and used, and no evictions, so that
//! its window under any policy is one fold of it. [`replay`] folds it under
//! several at once, next to what was recorded, in one pass. It reads the log and
//! changes nothing in it; what it holds in memory is the windows, independent of the history's
//! length.
//!
//! ```
//! # use annals_domain::PipelineId;
//! # use annals_domain::pipeline::EvictionPolicy;
//! # use annals_event_log::memory::MemoryLog;
//! use annals_projections::replay::{Candidate, ReplayOptions, replay};
//! # futures::executor::block_on(async {
//! # let log = MemoryLog::new(uuid::Uuid::nil());
//! # let pipeline = PipelineId(uuid::Uuid::nil());
//! let candidates = [
//!     Candidate::policy("fifty frames", EvictionPolicy::max_frames(50)),
//!     Candidate::policy("8k tokens", EvictionPolicy::token_budget(8_000)),
//! ];
//! match replay(&log, pipeline, &candidates, ReplayOptions::default()).await {
//!     Ok(replayed) => {
//!         for row in &replayed.policies {
//!             println!("{}: {} of {} uses missed", row.name, row.misses, row.uses);
//!         }
//!     }
//!     Err(error) => eprintln!("{error}"),
//! }
//! # });
//! ```

mod budget;
mod candidate;
mod greedy;
mod history;
mod optimum;
mod report;
mod trial;
mod yardstick;

#[cfg(test)]
mod tests;

use annals_domain::pipeline::InvalidPolicy;
use annals_domain::{PipelineId, StreamKind, StreamRef};
use annals_event_log::{
    Classification, Classified, ErrorClass, Page, Position, Query, ReadError, Record, Store,
    Version,
};
use annals_wire::{DecodeError, stream_name};
use derive_setters::Setters;
use futures::future::join;

pub use budget::NoYardstick;
pub use candidate::Candidate;
pub use report::{Held, PipelineReplay, PolicyReplay, WindowAt, Yardstick};

use candidate::CandidateKind;
use history::{History, Step};
use trial::Trials;
use yardstick::Yardsticks;

/// Records read at once.
const PAGE: usize = 2_000;

/// What a replay does beyond counting.
#[derive(Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ReplayOptions<'a> {
    /// Reads no further than this position.
    #[setters(into)]
    pub through: Option<Position>,
    /// Computes the offline optimum of each policy's budget, which takes a
    /// second pass and memory in proportion to the number of uses. It is
    /// computed on the caller's thread, without a pause, and can take minutes
    /// where thousands of frames contend for thousands of places.
    pub optimum: bool,
    /// Is given each policy's window at each use by a plan's step, before it,
    /// and at the end.
    #[setters(strip_option)]
    pub windows: Option<&'a mut (dyn FnMut(WindowAt<'_>) + Send)>,
    /// Receives the replay's progress: how many records of how many.
    #[setters(strip_option)]
    pub progress: Option<&'a mut (dyn FnMut(u64, u64) + Send)>,
}

impl std::fmt::Debug for ReplayOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplayOptions")
            .field("through", &self.through)
            .field("optimum", &self.optimum)
            .field("windows", &self.windows.is_some())
            .finish_non_exhaustive()
    }
}

impl Candidate<'_> {
    fn check(&self) -> Result<(), ReplayError> {
        match &self.kind {
            CandidateKind::Policy(policy) => {
                policy.check().map_err(|source| ReplayError::InvalidPolicy {
                    name: self.name.clone(),
                    source,
                })
            }
            CandidateKind::Custom(_) => Ok(()),
        }
    }
}

/// Why a history was not replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The log has no such pipeline, or did not have it yet.
    #[error("there is no pipeline {pipeline} in the part of the log that is replayed")]
    NoPipeline {
        /// The pipeline.
        pipeline: PipelineId,
    },
    /// A candidate is not valid.
    #[error("invalid policy {name}: {source}")]
    InvalidPolicy {
        /// The candidate's name.
        name: String,
        /// What is wrong with it.
        source: InvalidPolicy,
    },
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record could not be decoded.
    #[error("record {position} cannot be decoded: {source}")]
    Decode {
        /// The record's position.
        position: Position,
        /// What is wrong with it.
        source: DecodeError,
    },
}

impl Classified for ReplayError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Invalid, NotFound};
        match self {
            ReplayError::NoPipeline { .. } => NotFound.code("not_yet"),
            ReplayError::InvalidPolicy { .. } => Invalid.code("invalid_policy"),
            ReplayError::Read(error) => error.classify(),
            ReplayError::Decode { source, .. } => source.classify(),
        }
    }
}

/// Folds what was recorded of a pipeline under each candidate. The first of the
/// policies in the answer is what was recorded itself, with all its changes; the
/// candidates follow in their order.
///
/// # Errors
/// [`ReplayError`].
pub async fn replay(
    log: &dyn Store,
    pipeline: PipelineId,
    candidates: &[Candidate<'_>],
    mut options: ReplayOptions<'_>,
) -> Result<PipelineReplay, ReplayError> {
    for candidate in candidates {
        candidate.check()?;
    }
    let mut trials = Trials::new(pipeline, candidates);
    let mut yardsticks = options.optimum.then(|| Yardsticks::new(candidates));
    let mut history = History::default();
    each_step(
        log,
        pipeline,
        &mut options,
        &mut history,
        |step, options| {
            if let (Step::Used { .. }, Some(windows)) = (&step, options.windows.as_mut()) {
                trials.show(&step, *windows);
            }
            if let Some(yardsticks) = &mut yardsticks {
                yardsticks.note(&step);
            }
            trials.fold(&step);
        },
    )
    .await?;
    if !history.has_begun() {
        return Err(ReplayError::NoPipeline { pipeline });
    }
    if let Some(windows) = options.windows.as_mut() {
        trials.show_end(history.last(), *windows);
    }
    let mut replayed = trials.report(&history);
    if let Some(mut yardsticks) = yardsticks {
        let mut again = History::default();
        options.windows = None;
        yardsticks.measure_from_here();
        each_step(log, pipeline, &mut options, &mut again, |step, _| {
            yardsticks.measure(&step);
        })
        .await?;
        yardsticks.answer(&mut replayed, &mut options.progress);
    }
    Ok(replayed)
}

/// Gives every step of a pipeline's history to `each`.
async fn each_step<'o>(
    log: &dyn Store,
    pipeline: PipelineId,
    options: &mut ReplayOptions<'o>,
    history: &mut History,
    mut each: impl FnMut(Step<'_>, &mut ReplayOptions<'o>),
) -> Result<(), ReplayError> {
    let stream = stream_name(StreamRef {
        kind: StreamKind::Pipeline,
        id: pipeline.0,
    });
    let of = log.head(&stream).await?.0;
    let read = async |from: Option<u64>| match from {
        Some(from) => {
            let query = Query::stream(stream.clone(), Version(from)).limit(PAGE);
            log.read(query).await.map(Some)
        }
        None => Ok(None),
    };
    let mut page = read(Some(1)).await?;
    while let Some(Page { records, next }) = page {
        // The next page is read while this one is folded.
        let fold = async { fold_page(&records, options, history, &mut each) };
        let (ahead, goes_on) = join(read(next), fold).await;
        if !goes_on? {
            return Ok(());
        }
        page = ahead?;
        if let Some(progress) = options.progress.as_mut() {
            progress(next.map_or(of, |next| (next - 1).min(of)), of);
        }
    }
    Ok(())
}

/// Gives the steps of a page to `each`. Whether there may be more to come.
fn fold_page<'o>(
    records: &[Record],
    options: &mut ReplayOptions<'o>,
    history: &mut History,
    each: &mut impl FnMut(Step<'_>, &mut ReplayOptions<'o>),
) -> Result<bool, ReplayError> {
    for record in records {
        let position = record.position();
        if options.through.is_some_and(|through| position > through) {
            return Ok(false);
        }
        let decoded = annals_wire::decode(record)
            .map_err(|source| ReplayError::Decode { position, source })?;
        history.steps(position, &decoded.event, |step| each(step, options));
    }
    Ok(true)
}

//! Context pipelines: the windows that models had, and other policies tried on them.

use annals_domain::PipelineId;
use annals_projections::replay::{Candidate, PipelineReplay, ReplayError, ReplayOptions};

use crate::Annals;

/// Context pipelines: what a model had in its window, and what other policies would have kept there.
/// [`Annals::pipelines`] gives it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::Annals;
/// use annals::domain::ActorRef;
/// use annals::domain::pipeline::{EvictionPolicy, FrameKind};
/// use annals::projections::replay::{Candidate, ReplayOptions};
///
/// let annals = Annals::open("memory:").await?;
/// let agent = ActorRef::agent("coder");
/// let me = annals.by(&agent);
/// let pipeline = me.open_pipeline("GET /users takes offset and limit", 100).await?;
/// me.push_frame(pipeline, FrameKind::StepSummary, "Read the handler").await?;
///
/// let candidates = [Candidate::policy("one frame", EvictionPolicy::max_frames(1))];
/// let replay = annals
///     .pipelines()
///     .replay(pipeline, &candidates, ReplayOptions::default())
///     .await?;
/// assert_eq!(replay.policies.len(), 2, "the recorded policy is the first");
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Pipelines<'a> {
    pub(crate) annals: &'a Annals,
}

impl Annals {
    /// Context pipelines: the windows that models had, and other policies tried on them.
    pub fn pipelines(&self) -> Pipelines<'_> {
        Pipelines { annals: self }
    }
}

impl Pipelines<'_> {
    /// The recorded pushes and uses of a pipeline under other policies; see
    /// [`annals_projections::replay`]. Nothing is written to the log.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub async fn replay(
        self,
        pipeline: PipelineId,
        candidates: &[Candidate<'_>],
        options: ReplayOptions<'_>,
    ) -> Result<PipelineReplay, ReplayError> {
        annals_projections::replay::replay(self.annals.log.as_ref(), pipeline, candidates, options)
            .await
    }
}

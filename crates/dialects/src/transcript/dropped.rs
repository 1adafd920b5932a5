//! What a compaction or a condensation takes out of the model's context.
//!
//! It is recorded in the batch of the checkpoint that stands for it, before that: so a log that has the
//! checkpoint from a version that did not know of it stays as it is.

use annals_domain::pipeline::DropFrames;
use annals_domain::{FrameId, PipelineId};
use uuid::Uuid;

use super::batch::ImportBatch;
use super::importer::{Done, Importer};
use super::item::{Dropped, DroppedLine};
use super::place::Spoken;
use crate::import::error::ImportError;

/// A line has no more frames of its own than this, but for its calls.
const FRAMES: usize = 16;

impl Importer<'_> {
    /// Lets a checkpoint drop what its line says, unless the log has the checkpoint.
    pub(super) async fn drop_before(
        &mut self,
        spoken: &Spoken<'_>,
        batch: &mut ImportBatch,
    ) -> Done {
        let drop = DropFrames::new(spoken.pipeline);
        let drop = match &spoken.entry.dropped {
            Dropped::Nothing => return Ok(()),
            _ if self.is_known(batch.key).await? => return Ok(()),
            Dropped::All => drop,
            Dropped::Lines(lines) => {
                let frames = self.frames_of_lines(lines, spoken.pipeline).await?;
                drop.with_frames(frames)
            }
        };
        let by = spoken.by(self.agent.program());
        batch.requests.insert(0, by.request(drop));
        Ok(())
    }

    /// The frames that lines have in a pipeline, as far as they were pushed.
    async fn frames_of_lines(
        &mut self,
        lines: &[DroppedLine],
        pipeline: PipelineId,
    ) -> Result<Vec<FrameId>, ImportError> {
        let mut frames = Vec::new();
        for line in lines {
            let call = line.call.as_deref().map(|call| self.ids.tool(call).batch);
            let own = (0..FRAMES).map(|part| self.ids.frame_batch(&line.name, part));
            let keys: Vec<Uuid> = own.chain(call).collect();
            for key in keys {
                if let Some(logged) = self.known(key).await? {
                    frames.extend(self.frame_in(logged.first, key, pipeline).await?);
                }
            }
        }
        Ok(frames)
    }
}

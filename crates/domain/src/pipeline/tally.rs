//! How many frames a window holds, from counting alone.

use serde::{Deserialize, Serialize};

use super::{EvictionPolicy, FrameKind, State, protected_by_default};
use crate::world::not_found;
use crate::{DecideError, PipelineId, SecondFold, World};

/// The number of frames in a window, constant in size. It is all that a decision
/// and a list need to know of a window, whose frames they do not hold.
///
/// Which frames go does not change how many do, as long as a policy only counts frames and protects the usual kinds.
/// Once another one is in force, or some frames were dropped by their numbers, the number is unknown here, and stays
/// so: what is in the window then has to be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    max_frames: u32,
    limit: Limit,
    protected: u64,
    /// Frames in the window that are not protected.
    evictable: u64,
}

/// What limits the number of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Limit {
    /// The pipeline's own `max_frames`.
    Own,
    /// A policy, by so many frames, or not at all.
    Policy(Option<u32>),
    /// It does not follow from counting.
    Unknown,
}

impl Tally {
    /// An empty window under git-internal's policy; 0 is unlimited.
    pub fn new(max_frames: u32) -> Tally {
        Tally {
            max_frames,
            limit: Limit::Own,
            protected: 0,
            evictable: 0,
        }
    }

    /// The pipeline's own limit; 0 is unlimited.
    pub fn max_frames(&self) -> u32 {
        self.max_frames
    }

    /// The pipeline's own limit, where it is what limits the window.
    pub fn limit(&self) -> Option<u32> {
        (self.limit == Limit::Own).then_some(self.max_frames)
    }

    /// Frames in the window, where that follows from counting.
    pub fn len(&self) -> Option<u64> {
        match self.limit {
            Limit::Unknown => None,
            Limit::Own | Limit::Policy(_) => Some(self.protected + self.evictable),
        }
    }

    /// Whether the window is known to hold no frame.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The pipeline's own limit was set. It evicts nothing until the next push.
    pub fn set_max_frames(&mut self, max_frames: u32) {
        self.max_frames = max_frames;
    }

    /// A policy was set. It evicts nothing until the next push.
    pub fn set_policy(&mut self, policy: &EvictionPolicy) {
        if let Some(own) = policy.own_max_frames() {
            self.max_frames = own;
        }
        let usual = policy.protected() == protected_by_default();
        self.limit = match (self.limit, policy) {
            (Limit::Unknown, _) => Limit::Unknown,
            (_, EvictionPolicy::MaxFrames(_)) if usual => Limit::Own,
            (_, EvictionPolicy::LeastRecentlyUsed(policy)) if usual => {
                match (policy.max_frames, policy.max_tokens) {
                    (Some(max_frames), None) => Limit::Policy(Some(max_frames)),
                    _ => Limit::Unknown,
                }
            }
            (_, EvictionPolicy::Unlimited(_)) => Limit::Policy(None),
            _ => Limit::Unknown,
        };
    }

    /// A frame came that evicts none.
    pub fn adopt(&mut self, kind: &FrameKind) {
        if kind.is_protected() {
            self.protected += 1;
        } else {
            self.evictable += 1;
        }
    }

    /// Frames were dropped: all of them, or some, of which counting cannot know whether they were
    /// still there.
    pub fn drop_frames(&mut self, all: bool) {
        match all {
            true => (self.protected, self.evictable) = (0, 0),
            false => self.limit = Limit::Unknown,
        }
    }

    /// A frame was pushed. While the window is over the limit, frames that are
    /// not protected go.
    pub fn push(&mut self, kind: &FrameKind) {
        self.adopt(kind);
        let limit = match self.limit {
            Limit::Own => Some(self.max_frames).filter(|limit| *limit > 0),
            Limit::Policy(limit) => limit,
            Limit::Unknown => None,
        };
        if let Some(limit) = limit {
            let left = u64::from(limit).saturating_sub(self.protected);
            self.evictable = self.evictable.min(left);
        }
    }
}

impl World {
    /// How many frames the window of a pipeline that exists holds. Under most
    /// policies that takes the window itself.
    ///
    /// # Errors
    /// [`DecideError::Needs`] the window where counting is not enough, and
    /// [`crate::Refusal::NotFound`].
    pub fn window_len(&mut self, id: PipelineId) -> Result<u64, DecideError> {
        if let State::Open(open) = &*self.pipeline(id)?
            && let Some(len) = open.tally.len()
        {
            return Ok(len);
        }
        let stream = id.stream();
        match self.second_fold(stream)? {
            SecondFold::Window(window) => Ok(window.as_ref().map_or(0, |it| it.len() as u64)),
            SecondFold::TaskText(_) | SecondFold::Commits(_) => Err(not_found(stream)),
        }
    }
}

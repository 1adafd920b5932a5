//! The window of a pipeline under the default policy (document 001, Eviction).
//!
//! - `max_frames` 0 is unlimited.
//! - Only a push evicts: while the window holds more than `max_frames`, the
//!   oldest frame that is not protected goes. A lower limit has no effect before
//!   the next push, which then evicts as many as it takes.
//! - IntentAnalysis and Checkpoint frames are protected. If only those are left
//!   the window stays over its limit.
//! - The pushed frame may itself be the one that goes. It has its number all
//!   the same, and no number is used twice.
//!
//! [`Occupancy`] is the arithmetic of it, constant in size: all that a decision
//! needs. [`Window`] holds the frames too and leaves the arithmetic to it.

use std::collections::{BTreeMap, VecDeque};

use super::FrameKind;
use crate::FrameId;

/// How full a window is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Occupancy {
    max_frames: u32,
    /// Set directly by tests alone.
    pub(super) next_frame_id: FrameId,
    /// Frames in the window.
    len: u64,
    /// Those of them that are not protected.
    evictable: u64,
}

/// What became of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// The number of the pushed frame.
    pub frame_id: FrameId,
    /// How many frames were evicted: the oldest evictable ones.
    pub evicted: u64,
}

impl Occupancy {
    /// An empty window.
    pub fn new(max_frames: u32) -> Occupancy {
        Occupancy {
            max_frames,
            ..Occupancy::default()
        }
    }

    /// An empty window of a pipeline that has given numbers away before.
    pub fn starting_at(next_frame_id: FrameId, max_frames: u32) -> Occupancy {
        Occupancy {
            max_frames,
            next_frame_id,
            ..Occupancy::default()
        }
    }

    /// Takes a frame in that has its number already, without evicting any. No
    /// number at or below it is given away after that.
    pub fn adopt(&mut self, frame_id: FrameId, kind: &FrameKind) {
        let after = FrameId(frame_id.0.saturating_add(1));
        self.next_frame_id = self.next_frame_id.max(after);
        self.len += 1;
        self.evictable += u64::from(!kind.is_protected());
    }

    /// How many frames the window may hold; 0 is unlimited.
    pub fn max_frames(&self) -> u32 {
        self.max_frames
    }

    /// Sets the limit. It evicts nothing until the next push.
    pub fn set_max_frames(&mut self, max_frames: u32) {
        self.max_frames = max_frames;
    }

    /// The number that the next frame gets.
    pub fn next_frame_id(&self) -> FrameId {
        self.next_frame_id
    }

    /// Frames in the window.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the window holds no frame.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a frame and evicts what is over the limit.
    ///
    /// The last number, 2^64 - 1, is never reached: the decider refuses to give
    /// it away.
    pub fn push(&mut self, kind: &FrameKind) -> Admitted {
        let frame_id = self.next_frame_id;
        self.next_frame_id = FrameId(frame_id.0.saturating_add(1));
        self.len += 1;
        self.evictable += u64::from(!kind.is_protected());
        let evicted = match u64::from(self.max_frames) {
            0 => 0,
            max => self.len.saturating_sub(max).min(self.evictable),
        };
        self.len -= evicted;
        self.evictable -= evicted;
        Admitted { frame_id, evicted }
    }
}

/// A frame in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Held<T> {
    tokens: u64,
    frame: T,
}

/// The frames of a pipeline that are not evicted. A view keeps whole frames in
/// it; where only their numbers matter, `T` is `()`.
///
/// A push and a look-up cost O(log n), whatever the window holds.
///
/// ```
/// use annals_domain::FrameId;
/// use annals_domain::pipeline::{FrameKind, Window};
/// let mut window = Window::new(2);
/// window.push(&FrameKind::IntentAnalysis, Some(40), "the request");
/// window.push(&FrameKind::StepSummary, Some(20), "step 1");
/// let pushed = window.push(&FrameKind::StepSummary, Some(30), "step 2");
/// assert_eq!(pushed.frame_id, FrameId(2));
/// assert_eq!(pushed.evicted, [FrameId(1)]);
/// assert_eq!(window.total_token_estimate(), 70);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window<T> {
    occupancy: Occupancy,
    frames: BTreeMap<FrameId, Held<T>>,
    /// The frames that are not protected, oldest first.
    evictable: VecDeque<FrameId>,
    /// The sum of the estimates. It cannot overflow: fewer than 2^64 frames
    /// have less than 2^64 tokens each.
    tokens: u128,
}

/// What became of a push into a [`Window`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The number of the pushed frame.
    pub frame_id: FrameId,
    /// The frames that were evicted, oldest first; the pushed one may be among
    /// them.
    pub evicted: Vec<FrameId>,
}

impl<T> Window<T> {
    /// An empty window; `max_frames` 0 is unlimited.
    pub fn new(max_frames: u32) -> Window<T> {
        Window {
            occupancy: Occupancy::new(max_frames),
            frames: BTreeMap::new(),
            evictable: VecDeque::new(),
            tokens: 0,
        }
    }

    /// How many frames the window may hold; 0 is unlimited.
    pub fn max_frames(&self) -> u32 {
        self.occupancy.max_frames()
    }

    /// Sets the limit. It evicts nothing until the next push.
    pub fn set_max_frames(&mut self, max_frames: u32) {
        self.occupancy.set_max_frames(max_frames);
    }

    /// The number that the next frame gets.
    pub fn next_frame_id(&self) -> FrameId {
        self.occupancy.next_frame_id()
    }

    /// Frames in the window.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether the window holds no frame.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Appends a frame and evicts what is over the limit.
    pub fn push(&mut self, kind: &FrameKind, token_estimate: Option<u64>, frame: T) -> Pushed {
        let Admitted { frame_id, evicted } = self.occupancy.push(kind);
        let tokens = token_estimate.unwrap_or(0);
        self.tokens += u128::from(tokens);
        self.frames.insert(frame_id, Held { tokens, frame });
        if !kind.is_protected() {
            self.evictable.push_back(frame_id);
        }
        Pushed {
            frame_id,
            evicted: (0..evicted).filter_map(|_| self.evict_oldest()).collect(),
        }
    }

    /// Takes a frame in without evicting any, and says under which number the
    /// window counts it.
    pub fn adopt(&mut self, kind: &FrameKind, token_estimate: Option<u64>, frame: T) -> FrameId {
        let frame_id = self.occupancy.next_frame_id();
        self.occupancy.adopt(frame_id, kind);
        let tokens = token_estimate.unwrap_or(0);
        self.tokens += u128::from(tokens);
        self.frames.insert(frame_id, Held { tokens, frame });
        if !kind.is_protected() {
            self.evictable.push_back(frame_id);
        }
        frame_id
    }

    fn evict_oldest(&mut self) -> Option<FrameId> {
        let oldest = self.evictable.pop_front()?;
        let held = self.frames.remove(&oldest)?;
        self.tokens -= u128::from(held.tokens);
        Some(oldest)
    }

    /// The frame with this number, unless it was evicted or never pushed.
    pub fn frame_by_id(&self, id: FrameId) -> Option<&T> {
        self.frames.get(&id).map(|held| &held.frame)
    }

    /// The frames in chronological order. A plan's `fwindow` counts in this
    /// order, from 0.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (FrameId, &T)> + DoubleEndedIterator {
        self.frames.iter().map(|(id, held)| (*id, &held.frame))
    }

    /// The sum of the frames' token estimates, at most 2^64 - 1; a frame without
    /// one counts for nothing.
    pub fn total_token_estimate(&self) -> u64 {
        u64::try_from(self.tokens).unwrap_or(u64::MAX)
    }
}

//! Which frame goes next: the trait that every eviction policy is behind, and
//! the policies at work.
//!
//! A policy as data is an [`EvictionPolicy`](super::EvictionPolicy). At work on
//! one window it is an [`Evictor`]: a small pure state next to the frames, told
//! of every frame that comes, is used and goes, and asked after each push
//! whether the window holds too much and which frame is the next to go.

mod lru;
mod oldest;
mod quotas;
mod rules;

pub use rules::Rules;

use std::sync::Arc;

use super::{FrameKind, FrameRanges};
use crate::FrameId;

/// What a policy knows of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameFacts {
    /// Its place among the frames of its window: higher than those of all
    /// frames that came before it.
    pub place: u64,
    /// Its number.
    pub id: FrameId,
    /// What it captures.
    pub kind: Arc<FrameKind>,
    /// How many tokens it takes; 0 where there is no estimate.
    pub tokens: u64,
    /// When it came or was used last, on a clock that counts both. No two
    /// frames have the same.
    pub touched: u64,
}

/// How much a window holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames in it.
    pub frames: u64,
    /// The sum of their token estimates.
    pub tokens: u128,
}

/// By how much a window is over its limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Excess {
    /// So many frames; 0 where it is not over a limit of frames.
    pub frames: u64,
    /// So many tokens; 0 where it is not over a limit of tokens.
    pub tokens: u128,
}

impl Excess {
    /// The excess over a limit of frames and one of tokens; `None` where there
    /// is none.
    pub fn over(held: Totals, max_frames: Option<u64>, max_tokens: Option<u64>) -> Option<Excess> {
        let frames = max_frames.map_or(0, |max| held.frames.saturating_sub(max));
        let tokens = max_tokens.map_or(0, |max| held.tokens.saturating_sub(u128::from(max)));
        (frames > 0 || tokens > 0).then_some(Excess { frames, tokens })
    }
}

/// The frames that one rolling summary stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RolledUp {
    /// Their numbers, in the order in which they went.
    pub frames: FrameRanges,
    /// The tokens that the summary takes of the budget.
    pub tokens: u64,
}

/// An eviction policy at work on one window. A program with a policy of its own
/// implements it and gives it to [`Window::with_evictor`](super::Window::with_evictor).
///
/// It must be pure: the same calls give the same answers, or a window could not
/// be rebuilt. A frame that went never comes back.
///
/// ```
/// use annals_domain::pipeline::{Evictor, Excess, FrameFacts, FrameKind, Totals, Window};
///
/// /// Keeps no more than one frame above 100 tokens: the newest.
/// #[derive(Debug, Clone, Default)]
/// struct OneLarge(std::collections::VecDeque<u64>);
///
/// impl Evictor for OneLarge {
///     fn admitted(&mut self, frame: &FrameFacts) {
///         if frame.tokens > 100 {
///             self.0.push_back(frame.place);
///         }
///     }
///     fn evicted(&mut self, _: &FrameFacts) {
///         self.0.pop_front();
///     }
///     fn excess(&self, _: Totals) -> Option<Excess> {
///         (self.0.len() > 1).then(|| Excess {
///             frames: self.0.len() as u64 - 1,
///             tokens: 0,
///         })
///     }
///     fn next(&self) -> Option<u64> {
///         self.0.front().copied()
///     }
/// }
///
/// let mut window = Window::with_evictor(OneLarge::default());
/// for tokens in [400, 20, 300] {
///     window.push(&FrameKind::ToolCall, Some(tokens), ());
/// }
/// let ids: Vec<u64> = window.iter().map(|(id, _)| id.0).collect();
/// assert_eq!(ids, [1, 2]);
/// ```
pub trait Evictor {
    /// A frame is in the window now.
    fn admitted(&mut self, frame: &FrameFacts);

    /// A frame in the window was used; `frame` says how it was before, and its
    /// `touched` is `now` from here on.
    fn used(&mut self, frame: &FrameFacts, now: u64) {
        let _ = (frame, now);
    }

    /// The frame that [`Evictor::next`] named has left the window.
    fn evicted(&mut self, frame: &FrameFacts);

    /// A frame has left the window that the agent's program dropped. Unless a policy says otherwise
    /// it is like one that was evicted; one that relies on it that [`Evictor::next`] named the
    /// frame has to say so.
    fn dropped(&mut self, frame: &FrameFacts) {
        self.evicted(frame);
    }

    /// By how much a window that holds this is over the limit, if it is.
    fn excess(&self, held: Totals) -> Option<Excess>;

    /// The place of the frame that goes next, should the window be over the
    /// limit; `None` where none may go.
    fn next(&self) -> Option<u64>;

    /// The pipeline's own limit was set (0 is unlimited), which only
    /// git-internal's policy heeds.
    fn max_frames_set(&mut self, max_frames: u32) {
        let _ = max_frames;
    }

    /// The frames that a rolling summary stands for, where the policy has one.
    fn rolled_up(&self) -> Option<&RolledUp> {
        None
    }
}

impl<E: Evictor + ?Sized> Evictor for Box<E> {
    fn admitted(&mut self, frame: &FrameFacts) {
        (**self).admitted(frame);
    }

    fn used(&mut self, frame: &FrameFacts, now: u64) {
        (**self).used(frame, now);
    }

    fn evicted(&mut self, frame: &FrameFacts) {
        (**self).evicted(frame);
    }

    fn dropped(&mut self, frame: &FrameFacts) {
        (**self).dropped(frame);
    }

    fn excess(&self, held: Totals) -> Option<Excess> {
        (**self).excess(held)
    }

    fn next(&self) -> Option<u64> {
        (**self).next()
    }

    fn max_frames_set(&mut self, max_frames: u32) {
        (**self).max_frames_set(max_frames);
    }

    fn rolled_up(&self) -> Option<&RolledUp> {
        (**self).rolled_up()
    }
}

//! The window of a pipeline: the frames that are not evicted.
//!
//! It is a pure function of what was pushed and used and of the policies that
//! were in force. By default that is git-internal's:
//!
//! - `max_frames` 0 is unlimited.
//! - Only a push evicts: while the window holds more than `max_frames`, the
//!   oldest frame that is not protected goes. A lower limit has no effect before
//!   the next push, which then evicts as many as it takes.
//! - IntentAnalysis and Checkpoint frames are protected. If only those are left
//!   the window stays over its limit.
//! - What the agent's program dropped by itself goes at once, protected or not.
//! - The pushed frame may itself be the one that goes. It has its number all
//!   the same, and no number is used twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::line::Line;
use super::{
    EvictionPolicy, Evictor, Excess, FrameFacts, FrameKind, FramesDropped, RolledUp, Rules, Totals,
};
use crate::FrameId;

/// A frame with such a number is not given a place after it, so that there is
/// always a next place.
const FAR: u64 = 1 << 62;

/// A frame in the window. Its place is kept next to it in the line, and its number
/// is its place unless the window says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Held<T> {
    kind: Arc<FrameKind>,
    tokens: u64,
    touched: u64,
    frame: T,
}

/// Kinds that are kept for the frames to come; more are possible, if they are
/// made up as they go.
const KINDS: usize = 32;

/// The frames of a pipeline that are not evicted. A view keeps whole frames in
/// it; where only their numbers matter, `T` is `()`.
///
/// A push and a look-up cost O(log n) in the number of frames in the window.
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
pub struct Window<T, E = Rules> {
    evictor: E,
    held: Line<Held<T>>,
    next_frame_id: FrameId,
    /// The place of the next frame: its number, unless adopted frames came in
    /// another order than that of their numbers.
    next_place: u64,
    /// The places of frames by numbers that are not the place of their only
    /// frame: adopted ones in another order than that of their numbers, or
    /// several with one number.
    displaced: BTreeMap<FrameId, BTreeSet<u64>>,
    /// The numbers of those frames, by their place.
    renumbered: BTreeMap<u64, FrameId>,
    /// The kinds that frames had lately, which share them.
    kinds: Vec<Arc<FrameKind>>,
    /// Pushes and uses so far.
    clock: u64,
    /// The sum of the estimates. It cannot overflow: fewer than 2^64 frames
    /// have less than 2^64 tokens each.
    tokens: u128,
}

/// What became of a push into a [`Window`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The number of the pushed frame.
    pub frame_id: FrameId,
    /// The frames that were evicted, in the order in which they went; the pushed
    /// one may be among them.
    pub evicted: Vec<FrameId>,
}

impl<T> Window<T> {
    /// An empty window under git-internal's policy; `max_frames` 0 is unlimited.
    pub fn new(max_frames: u32) -> Window<T> {
        Window::with_policy(EvictionPolicy::default(), max_frames)
    }

    /// An empty window under a policy; `max_frames` is the pipeline's own
    /// limit.
    pub fn with_policy(policy: EvictionPolicy, max_frames: u32) -> Window<T> {
        Window::with_evictor(Rules::new(policy, max_frames))
    }

    /// The policy in force. A limit that git-internal's brought with it is the
    /// pipeline's own, [`Window::max_frames`].
    pub fn policy(&self) -> &EvictionPolicy {
        self.evictor.policy()
    }

    /// The pipeline's own limit; 0 is unlimited. It counts while git-internal's
    /// policy is in force.
    pub fn max_frames(&self) -> u32 {
        self.evictor.max_frames()
    }

    /// Sets the policy. It evicts nothing until the next push. A rolling summary
    /// stands for what goes from here on, and for what the one before it covered.
    pub fn set_policy(&mut self, policy: EvictionPolicy) {
        let mut evictor = Rules::new(policy, self.max_frames());
        evictor.succeed(&self.evictor);
        self.facts().for_each(|facts| evictor.admitted(&facts));
        self.evictor = evictor;
    }
}

impl<T, E: Evictor> Window<T, E> {
    /// An empty window under a policy of one's own.
    pub fn with_evictor(evictor: E) -> Window<T, E> {
        Window {
            evictor,
            held: Line::new(),
            next_frame_id: FrameId(0),
            next_place: 0,
            displaced: BTreeMap::new(),
            renumbered: BTreeMap::new(),
            kinds: Vec::new(),
            clock: 0,
            tokens: 0,
        }
    }

    /// Sets the pipeline's own limit. It evicts nothing until the next push.
    pub fn set_max_frames(&mut self, max_frames: u32) {
        self.evictor.max_frames_set(max_frames);
    }

    /// The number that the next frame gets.
    pub fn next_frame_id(&self) -> FrameId {
        self.next_frame_id
    }

    /// Gives no number below this one away any more.
    pub fn skip_to(&mut self, next: FrameId) {
        self.next_frame_id = self.next_frame_id.max(next);
    }

    /// Frames in the window.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether the window holds no frame.
    pub fn is_empty(&self) -> bool {
        self.held.len() == 0
    }

    /// Appends a frame and evicts what is over the limit.
    pub fn push(&mut self, kind: &FrameKind, token_estimate: Option<u64>, frame: T) -> Pushed {
        let frame_id = self.next_frame_id;
        let mut evicted = Vec::new();
        self.push_with(kind, token_estimate, frame, |facts, _| {
            evicted.push(facts.id);
        });
        Pushed { frame_id, evicted }
    }

    /// The same, giving each frame that goes to `evicted`.
    ///
    /// The last number, 2^64 - 1, is never reached: the decider refuses to give
    /// it away.
    pub fn push_with(
        &mut self,
        kind: &FrameKind,
        token_estimate: Option<u64>,
        frame: T,
        mut evicted: impl FnMut(FrameFacts, T),
    ) -> FrameId {
        let frame_id = self.next_frame_id;
        self.adopt(frame_id, kind, token_estimate, frame);
        while self.evictor.excess(self.totals()).is_some()
            && let Some((facts, frame)) = self.evictor.next().and_then(|it| self.remove(it))
        {
            evicted(facts, frame);
        }
        frame_id
    }

    /// Takes a frame in that has its number already, without evicting any. No
    /// number at or below it is given away after that.
    pub fn adopt(&mut self, id: FrameId, kind: &FrameKind, token_estimate: Option<u64>, frame: T) {
        let place = match id.0 {
            number if number < FAR => number.max(self.next_place),
            _ => self.next_place,
        };
        if place != id.0 {
            self.displace(id, place);
        }
        self.next_place = place.saturating_add(1);
        self.next_frame_id = self.next_frame_id.max(FrameId(id.0.saturating_add(1)));
        self.clock += 1;
        let held = Held {
            kind: self.shared(kind),
            tokens: token_estimate.unwrap_or(0),
            touched: self.clock,
            frame,
        };
        self.tokens += u128::from(held.tokens);
        self.evictor.admitted(&facts_of(place, id, &held));
        self.held.push(place, held);
    }

    /// A frame's place is not its number. Where several have one number, the
    /// first of those that are left is found by it.
    fn displace(&mut self, id: FrameId, place: u64) {
        let natural = self.held(id).is_some() && self.id_at(id.0) == id;
        let places = self.displaced.entry(id).or_default();
        if natural && places.is_empty() {
            places.insert(id.0);
        }
        places.insert(place);
        self.renumbered.insert(place, id);
    }

    /// A kind as the frames that have it share it.
    fn shared(&mut self, kind: &FrameKind) -> Arc<FrameKind> {
        if let Some(known) = self.kinds.iter().find(|known| ***known == *kind) {
            return Arc::clone(known);
        }
        if self.kinds.len() >= KINDS {
            self.kinds.clear();
        }
        let kind = Arc::new(kind.clone());
        self.kinds.push(Arc::clone(&kind));
        kind
    }

    fn id_at(&self, place: u64) -> FrameId {
        let renumbered = self.renumbered.get(&place).copied();
        renumbered.unwrap_or(FrameId(place))
    }

    /// Takes frames out by their numbers, whatever the policy says of them, and gives each to
    /// `dropped`, in chronological order.
    pub fn drop_frames(&mut self, event: &FramesDropped, mut dropped: impl FnMut(FrameFacts, T)) {
        let is_named = |id: FrameId| {
            let after = event.frames.partition_point(|range| range.first <= id);
            let range = after.checked_sub(1).and_then(|at| event.frames.get(at));
            range.is_some_and(|range| id <= range.last)
        };
        let places = self.held.iter().map(|(place, _)| place);
        let places: Vec<u64> = places.filter(|it| is_named(self.id_at(*it))).collect();
        for place in places {
            if let Some((facts, frame)) = self.take(place) {
                self.evictor.dropped(&facts);
                dropped(facts, frame);
            }
        }
    }

    fn remove(&mut self, place: u64) -> Option<(FrameFacts, T)> {
        let (facts, frame) = self.take(place)?;
        self.evictor.evicted(&facts);
        Some((facts, frame))
    }

    fn take(&mut self, place: u64) -> Option<(FrameFacts, T)> {
        let held = self.held.remove(place)?;
        let facts = facts_of(place, self.id_at(place), &held);
        self.tokens -= u128::from(held.tokens);
        self.renumbered.remove(&place);
        if let Some(places) = self.displaced.get_mut(&facts.id) {
            places.remove(&place);
            if places.is_empty() {
                self.displaced.remove(&facts.id);
            }
        }
        Some((facts, held.frame))
    }

    /// A frame was used. Whether it was still in the window.
    pub fn touch(&mut self, id: FrameId) -> bool {
        let place = self.place_of(id);
        if self.id_at(place) != id {
            return false;
        }
        let Some(held) = self.held.get_mut(place) else {
            return false;
        };
        self.clock += 1;
        self.evictor.used(&facts_of(place, id, held), self.clock);
        held.touched = self.clock;
        true
    }

    fn place_of(&self, id: FrameId) -> u64 {
        let places = self.displaced.get(&id);
        let first = places.and_then(|places| places.first()).copied();
        first.unwrap_or(id.0)
    }

    fn held(&self, id: FrameId) -> Option<&Held<T>> {
        let place = self.place_of(id);
        let held = self.held.get(place)?;
        (self.id_at(place) == id).then_some(held)
    }

    /// The frame with this number, unless it was evicted or never pushed.
    pub fn frame_by_id(&self, id: FrameId) -> Option<&T> {
        self.held(id).map(|held| &held.frame)
    }

    /// The same, to be changed.
    pub fn frame_by_id_mut(&mut self, id: FrameId) -> Option<&mut T> {
        let place = self.place_of(id);
        if self.id_at(place) != id {
            return None;
        }
        self.held.get_mut(place).map(|held| &mut held.frame)
    }

    /// The frames in chronological order. A plan's `fwindow` counts in this
    /// order, from 0.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (FrameId, &T)> + DoubleEndedIterator {
        self.held
            .iter()
            .map(|(place, held)| (self.id_at(place), &held.frame))
    }

    /// What is known of each frame, in the same order.
    pub fn facts(&self) -> impl ExactSizeIterator<Item = FrameFacts> + DoubleEndedIterator {
        self.held
            .iter()
            .map(|(place, held)| facts_of(place, self.id_at(place), held))
    }

    /// How much the window holds.
    pub fn totals(&self) -> Totals {
        Totals {
            frames: self.held.len() as u64,
            tokens: self.tokens,
        }
    }

    /// The sum of the frames' token estimates, at most 2^64 - 1; a frame without
    /// one counts for nothing.
    pub fn total_token_estimate(&self) -> u64 {
        u64::try_from(self.tokens).unwrap_or(u64::MAX)
    }

    /// By how much the window is over the limit, if it is: the policy cannot be
    /// met, or has not been looked at since it or the limit was set.
    pub fn excess(&self) -> Option<Excess> {
        self.evictor.excess(self.totals())
    }

    /// The frame that goes next, should the window be over the limit; `None`
    /// where none may go.
    pub fn goes_next(&self) -> Option<FrameId> {
        self.evictor.next().map(|place| self.id_at(place))
    }

    /// The frames that a rolling summary stands for, where there is one.
    pub fn rolled_up(&self) -> Option<&RolledUp> {
        self.evictor.rolled_up()
    }
}

fn facts_of<T>(place: u64, id: FrameId, held: &Held<T>) -> FrameFacts {
    FrameFacts {
        place,
        id,
        kind: Arc::clone(&held.kind),
        tokens: held.tokens,
        touched: held.touched,
    }
}

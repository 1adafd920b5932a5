//! The policies that a pipeline can record, at work.

use super::lru::ByUse;
use super::oldest::Oldest;
use super::quotas::ByKind;
use super::{Evictor, Excess, FrameFacts, RolledUp, Totals};
use crate::pipeline::EvictionPolicy;

/// A pipeline's policy at work, with the limit that the pipeline has of its own
/// and that only git-internal's policy heeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    policy: EvictionPolicy,
    max_frames: u32,
    at_work: AtWork,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AtWork {
    Oldest(Oldest),
    Use(ByUse),
    Kinds(ByKind),
    Unlimited,
}

impl Rules {
    /// A policy that knows of no frame yet. A limit that the policy names
    /// itself takes the place of the pipeline's.
    pub fn new(policy: EvictionPolicy, max_frames: u32) -> Rules {
        let max_frames = policy.own_max_frames().unwrap_or(max_frames);
        let at_work = match &policy {
            EvictionPolicy::MaxFrames(policy) => {
                AtWork::Oldest(Oldest::by_count(&policy.protected, max_frames))
            }
            EvictionPolicy::TokenBudget(policy) => {
                AtWork::Oldest(Oldest::by_tokens(&policy.protected, policy.max_tokens))
            }
            EvictionPolicy::RollingSummary(policy) => AtWork::Oldest(Oldest::rolling_up(policy)),
            EvictionPolicy::LeastRecentlyUsed(policy) => AtWork::Use(ByUse::new(policy)),
            EvictionPolicy::KindQuotas(policy) => AtWork::Kinds(ByKind::new(policy)),
            EvictionPolicy::Unlimited(_) => AtWork::Unlimited,
        };
        Rules {
            policy: policy.in_force(),
            max_frames,
            at_work,
        }
    }

    /// Takes the place of another policy. A rolling summary goes on under the
    /// next one.
    pub(in crate::pipeline) fn succeed(&mut self, before: &Rules) {
        if let (AtWork::Oldest(now), AtWork::Oldest(before)) = (&mut self.at_work, &before.at_work)
        {
            now.succeed(before);
        }
    }

    /// The policy in force.
    pub fn policy(&self) -> &EvictionPolicy {
        &self.policy
    }

    /// The pipeline's own limit; 0 is unlimited.
    pub fn max_frames(&self) -> u32 {
        self.max_frames
    }

    fn evictor(&self) -> Option<&dyn Evictor> {
        match &self.at_work {
            AtWork::Oldest(rule) => Some(rule),
            AtWork::Use(rule) => Some(rule),
            AtWork::Kinds(rule) => Some(rule),
            AtWork::Unlimited => None,
        }
    }

    fn evictor_mut(&mut self) -> Option<&mut dyn Evictor> {
        match &mut self.at_work {
            AtWork::Oldest(rule) => Some(rule),
            AtWork::Use(rule) => Some(rule),
            AtWork::Kinds(rule) => Some(rule),
            AtWork::Unlimited => None,
        }
    }
}

impl Evictor for Rules {
    fn admitted(&mut self, frame: &FrameFacts) {
        if let Some(evictor) = self.evictor_mut() {
            evictor.admitted(frame);
        }
    }

    fn used(&mut self, frame: &FrameFacts, now: u64) {
        if let Some(evictor) = self.evictor_mut() {
            evictor.used(frame, now);
        }
    }

    fn evicted(&mut self, frame: &FrameFacts) {
        if let Some(evictor) = self.evictor_mut() {
            evictor.evicted(frame);
        }
    }

    fn dropped(&mut self, frame: &FrameFacts) {
        if let Some(evictor) = self.evictor_mut() {
            evictor.dropped(frame);
        }
    }

    fn excess(&self, held: Totals) -> Option<Excess> {
        self.evictor()?.excess(held)
    }

    fn next(&self) -> Option<u64> {
        self.evictor()?.next()
    }

    fn max_frames_set(&mut self, max_frames: u32) {
        self.max_frames = max_frames;
        if let Some(evictor) = self.evictor_mut() {
            evictor.max_frames_set(max_frames);
        }
    }

    fn rolled_up(&self) -> Option<&RolledUp> {
        self.evictor()?.rolled_up()
    }
}

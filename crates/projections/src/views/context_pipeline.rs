//! The view of a context pipeline (git-internal).
//!
//! The pipeline's stream has the frames that were pushed and used and the limits
//! and policies that were set. The window, and with it every eviction, follows
//! from them.

mod rolling;
mod seen;

use annals_domain::pipeline::{
    Adopted, AdoptedFrame, CONTENT, Event, EvictionPolicy, EvictionPolicySet, FrameKind,
    FramePushed, FramesDropped, FramesUsed, Window,
};
use annals_domain::{AnyEvent, FrameId, Json, Ordered, PlanId, REMOVED};
use annals_event_log::Position;
use serde::{Serialize, Serializer};

use crate::views::Project;
use crate::{Entry, HeaderView, JsonText, Text};

pub use rolling::ContextFrame;
use rolling::Newest;
pub use seen::{OverLimit, RollingSummaryView, SeenFrame, Why, WindowView};

/// A use of a frame by a plan's step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FrameUse {
    /// The plan.
    pub plan: PlanId,
    /// The step's number.
    pub step: u32,
    /// Whether it was not stated, but inferred from something else.
    pub inferred: bool,
    /// The position of the use in the log.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
}

/// A frame in the window, with what its JSON has no word for.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldFrame {
    /// The frame.
    pub frame: ContextFrame,
    /// The position of its push in the log.
    pub position: Position,
    /// Its last use, if it was used.
    pub last_use: Option<FrameUse>,
}

/// A frame that is no longer in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvictedFrame {
    /// The frame that went.
    pub frame: FrameId,
    /// What it captured.
    pub kind: FrameKind,
    /// How many tokens it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_estimate: Option<u64>,
    /// The push that it had to make room for, which may be its own; none where the agent's program
    /// dropped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pushed: Option<FrameId>,
    /// The position in the log of that push, or of what says that it was dropped.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
}

/// Context frames that accumulate throughout the work. It serialises with the
/// frames in the window as `frames`.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextPipelineView {
    /// The common header.
    pub header: HeaderView,
    /// The frames that are not evicted, the policy and the limit.
    pub window: Window<HeldFrame>,
    /// The number that the next frame gets.
    pub next_frame_id: FrameId,
    /// The summary across all frames.
    pub global_summary: Option<Text>,
    /// Every frame that was evicted, in the order in which they went; not part
    /// of the JSON.
    pub evicted: Vec<EvictedFrame>,
    /// What a rolling summary says of the newest frames that it stands for.
    newest_rolled_up: Newest,
}

impl ContextPipelineView {
    fn empty(header: HeaderView, max_frames: u32) -> ContextPipelineView {
        ContextPipelineView {
            header,
            window: Window::new(max_frames),
            next_frame_id: FrameId(0),
            global_summary: None,
            evicted: Vec::new(),
            newest_rolled_up: Newest::default(),
        }
    }

    /// The frames in the window, in chronological order.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &ContextFrame> + DoubleEndedIterator {
        self.window.iter().map(|(_, held)| &held.frame)
    }

    /// How many frames the window may hold while git-internal's policy is in
    /// force; 0 is unlimited.
    pub fn max_frames(&self) -> u32 {
        self.window.max_frames()
    }

    /// The policy in force.
    pub fn policy(&self) -> &EvictionPolicy {
        self.window.policy()
    }

    /// The frame with this number, unless it was evicted or never pushed.
    pub fn frame_by_id(&self, id: FrameId) -> Option<&ContextFrame> {
        self.window.frame_by_id(id).map(|held| &held.frame)
    }

    /// The sum of the token estimates of the frames in the window.
    pub fn total_token_estimate(&self) -> u64 {
        self.window.total_token_estimate()
    }

    fn push(&mut self, event: &FramePushed, entry: &Entry) {
        let frame = ContextFrame {
            frame_id: event.frame_id,
            kind: event.kind.clone(),
            summary: entry.text(event.summary),
            data: data(event, entry),
            created_at: entry.occurred_at,
            token_estimate: event.token_estimate,
        };
        let held = HeldFrame {
            frame,
            position: entry.position,
            last_use: None,
        };
        self.next_frame_id = FrameId(event.frame_id.0.saturating_add(1));
        // Pushes can be missing at a moment by the callers' clocks.
        self.window.skip_to(event.frame_id);
        let (evicted, newest) = (&mut self.evicted, &mut self.newest_rolled_up);
        self.window
            .push_with(&event.kind, event.token_estimate, held, |facts, held| {
                newest.add(&held.frame);
                evicted.push(EvictedFrame {
                    frame: facts.id,
                    kind: FrameKind::clone(&facts.kind),
                    token_estimate: held.frame.token_estimate,
                    pushed: Some(event.frame_id),
                    position: entry.position,
                });
            });
    }

    fn drop_frames(&mut self, event: &FramesDropped, entry: &Entry) {
        let evicted = &mut self.evicted;
        self.window.drop_frames(event, |facts, held| {
            evicted.push(EvictedFrame {
                frame: facts.id,
                kind: FrameKind::clone(&facts.kind),
                token_estimate: held.frame.token_estimate,
                pushed: None,
                position: entry.position,
            });
        });
    }

    fn use_frames(&mut self, event: &FramesUsed, entry: &Entry) {
        for frame in &event.frames {
            self.window.touch(*frame);
            if let Some(held) = self.window.frame_by_id_mut(*frame) {
                held.last_use = Some(FrameUse {
                    plan: event.plan,
                    step: event.step,
                    inferred: event.inferred,
                    position: entry.position,
                });
            }
        }
    }

    fn set_policy(&mut self, event: &EvictionPolicySet) {
        let policy = event.policy();
        self.newest_rolled_up.under(&policy);
        self.window.set_policy(policy);
    }
}

/// The data of a pushed frame, with the content that is stored apart from it.
fn data(event: &FramePushed, entry: &Entry) -> Option<JsonText> {
    let data = entry.optional_json(event.data);
    let Some(content) = entry.optional_json(event.content) else {
        return data;
    };
    let mut members = match data {
        None | Some(JsonText::Removed) if content == JsonText::Removed => return Some(content),
        None => Vec::new(),
        Some(JsonText::Removed) => vec![(REMOVED.to_owned(), JsonText::Removed)],
        Some(JsonText::Present(json)) => members(json),
    };
    members.push((CONTENT.to_owned(), content));
    let members = Json::from_value(&Ordered(members));
    Some(members.map_or(JsonText::Removed, JsonText::Present))
}

/// The members of data that has content stored apart from it. No command leads to data
/// without members; where a copied log has such data, it becomes the member `data`.
fn members(data: Json) -> Vec<(String, JsonText)> {
    match data.members() {
        Some(members) => {
            let each = |(name, json)| (name, JsonText::Present(json));
            members.0.into_iter().map(each).collect()
        }
        None => vec![("data".to_owned(), JsonText::Present(data))],
    }
}

impl Serialize for ContextPipelineView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            #[serde(flatten)]
            header: &'a HeaderView,
            frames: Frames<'a>,
            next_frame_id: FrameId,
            max_frames: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            global_summary: Option<&'a Text>,
        }
        struct Frames<'a>(&'a ContextPipelineView);
        impl Serialize for Frames<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.0.frames())
            }
        }
        let shape = Shape {
            header: &self.header,
            frames: Frames(self),
            next_frame_id: self.next_frame_id,
            max_frames: self.max_frames(),
            global_summary: self.global_summary.as_ref(),
        };
        shape.serialize(serializer)
    }
}

impl ContextPipelineView {
    fn adopt(header: HeaderView, event: &Adopted, entry: &Entry) -> Option<ContextPipelineView> {
        let object = event.object.as_ref()?;
        let mut view = ContextPipelineView {
            next_frame_id: object.next_frame_id,
            global_summary: entry.optional_text(object.global_summary),
            ..ContextPipelineView::empty(header, object.max_frames)
        };
        view.window.skip_to(object.next_frame_id);
        view.adopt_frames(&event.frames, entry);
        Some(view)
    }

    /// Adopted frames have their numbers already, in any order.
    fn adopt_frames(&mut self, frames: &[AdoptedFrame], entry: &Entry) {
        for adopted in frames {
            let frame = ContextFrame {
                frame_id: adopted.frame_id,
                kind: adopted.kind.clone(),
                summary: entry.text(adopted.summary),
                data: entry.optional_json(adopted.data),
                created_at: adopted.created_at,
                token_estimate: adopted.token_estimate,
            };
            let held = HeldFrame {
                frame,
                position: entry.position,
                last_use: None,
            };
            let tokens = adopted.token_estimate;
            self.window
                .adopt(adopted.frame_id, &adopted.kind, tokens, held);
        }
    }
}

impl Project for ContextPipelineView {
    fn create(header: HeaderView, entry: &Entry) -> Option<ContextPipelineView> {
        let event = match &entry.event {
            AnyEvent::Pipeline(Event::Created(event)) => event,
            AnyEvent::Pipeline(Event::Adopted(event)) => {
                return ContextPipelineView::adopt(header, event, entry);
            }
            _ => return None,
        };
        Some(ContextPipelineView::empty(header, event.max_frames))
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Pipeline(event) = &entry.event else {
            return;
        };
        match event {
            Event::Adopted(event) => self.adopt_frames(&event.frames, entry),
            Event::FramePushed(event) => self.push(event, entry),
            Event::FramesUsed(event) => self.use_frames(event, entry),
            Event::FramesDropped(event) => self.drop_frames(event, entry),
            Event::MaxFramesSet(event) => self.window.set_max_frames(event.max_frames),
            Event::EvictionPolicySet(event) => self.set_policy(event),
            Event::GlobalSummarySet(event) => {
                self.global_summary = entry.optional_text(event.summary);
            }
            Event::Created(_) | Event::MetadataSet(_) | Event::Redacted(_) | Event::Sealed(_) => {}
        }
    }
}

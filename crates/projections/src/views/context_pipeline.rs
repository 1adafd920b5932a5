//! The view of a context pipeline (documents 000 and 001).
//!
//! The pipeline's stream has the frames that were pushed and the limits that
//! were set. The window, and with it every eviction, follows from them.

use std::collections::BTreeMap;

use annals_domain::pipeline::{Adopted, AdoptedFrame, Event, FrameKind, FramePushed, Window};
use annals_domain::{AnyEvent, FrameId, Timestamp};
use annals_event_log::Position;
use serde::{Serialize, Serializer};

use crate::object::Project;
use crate::{Entry, HeaderView, JsonText, Text};

/// One frame (document 000, ContextFrame).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextFrame {
    /// The frame's number, never used twice.
    pub frame_id: FrameId,
    /// What it captures.
    pub kind: FrameKind,
    /// A few sentences for people.
    pub summary: Text,
    /// The payload for machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<JsonText>,
    /// When it was pushed.
    pub created_at: Timestamp,
    /// How many tokens it takes in a model's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_estimate: Option<u64>,
}

/// A frame that is no longer in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvictedFrame {
    /// The frame that went.
    pub frame: FrameId,
    /// The push that it had to make room for, which may be its own.
    pub pushed: FrameId,
    /// The position of that push in the log.
    pub position: Position,
}

/// Context frames that accumulate throughout the work. It serialises with the
/// frames in the window as `frames`.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextPipelineView {
    /// The common header.
    pub header: HeaderView,
    /// The frames that are not evicted, and the limit.
    pub window: Window<ContextFrame>,
    /// The number that the next frame gets.
    pub next_frame_id: FrameId,
    /// The summary across all frames.
    pub global_summary: Option<Text>,
    /// Every frame that was evicted, in the order in which they went; not part
    /// of the JSON.
    pub evicted: Vec<EvictedFrame>,
    /// The true numbers of frames that the window counts differently, by the
    /// window's. There are none unless pushes are missing from the fold, as
    /// they are at a moment by the callers' clocks, or frames were adopted.
    renumbered: BTreeMap<FrameId, FrameId>,
}

impl ContextPipelineView {
    /// The frames in the window, in chronological order.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &ContextFrame> + DoubleEndedIterator {
        self.window.iter().map(|(_, frame)| frame)
    }

    /// How many frames the window may hold; 0 is unlimited.
    pub fn max_frames(&self) -> u32 {
        self.window.max_frames()
    }

    /// The frame with this number, unless it was evicted or never pushed.
    pub fn frame_by_id(&self, id: FrameId) -> Option<&ContextFrame> {
        if self.renumbered.is_empty() {
            return self.window.frame_by_id(id);
        }
        self.frames().find(|frame| frame.frame_id == id)
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
            data: entry.optional_json(event.data),
            created_at: entry.occurred_at,
            token_estimate: event.token_estimate,
        };
        self.next_frame_id = FrameId(event.frame_id.0.saturating_add(1));
        if self.window.next_frame_id() != event.frame_id {
            self.renumbered
                .insert(self.window.next_frame_id(), event.frame_id);
        }
        let pushed = self.window.push(&event.kind, event.token_estimate, frame);
        for counted in pushed.evicted {
            self.evicted.push(EvictedFrame {
                frame: self.renumbered.remove(&counted).unwrap_or(counted),
                pushed: event.frame_id,
                position: entry.position,
            });
        }
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
            header,
            window: Window::new(object.max_frames),
            next_frame_id: object.next_frame_id,
            global_summary: entry.optional_text(object.global_summary),
            evicted: Vec::new(),
            renumbered: BTreeMap::new(),
        };
        view.adopt_frames(&event.frames, entry);
        Some(view)
    }

    /// Adopted frames have their numbers already, in whatever order.
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
            let tokens = adopted.token_estimate;
            let counted = self.window.adopt(&adopted.kind, tokens, frame);
            if counted != adopted.frame_id {
                self.renumbered.insert(counted, adopted.frame_id);
            }
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
        Some(ContextPipelineView {
            header,
            window: Window::new(event.max_frames),
            next_frame_id: FrameId(0),
            global_summary: None,
            evicted: Vec::new(),
            renumbered: BTreeMap::new(),
        })
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Pipeline(event) = &entry.event else {
            return;
        };
        match event {
            Event::Adopted(event) => self.adopt_frames(&event.frames, entry),
            Event::FramePushed(event) => self.push(event, entry),
            Event::MaxFramesSet(event) => self.window.set_max_frames(event.max_frames),
            Event::GlobalSummarySet(event) => {
                self.global_summary = entry.optional_text(event.summary);
            }
            Event::Created(_) | Event::FramesUsed(_) | Event::MetadataSet(_) | Event::Sealed(_) => {
            }
        }
    }
}

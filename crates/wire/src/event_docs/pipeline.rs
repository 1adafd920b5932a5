//! The events of a context pipeline's stream.

use super::common::{
    ADOPTED_HEADER, INFERRED, METADATA_SET, METADATA_SET_MEANING, REDACTED, REDACTED_MEANING,
    SEALED, SEALED_MEANING,
};
use super::{EventDoc, content, event, group, groups, structure};

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "pipeline.created",
        "The pipeline was created, without frames.",
        &[structure(
            "max_frames",
            "u32",
            "how many frames the window may hold; 0 is unlimited",
        )],
    ),
    event(
        "pipeline.frame_pushed",
        "A frame was appended. Whether it or older ones are evicted follows from the policy.",
        &[
            structure("frame_id", "u64", "the frame's number"),
            structure("kind", "word", "what it captures"),
            content("summary", "text", "a few sentences for people"),
            content(
                "data",
                "JSON?",
                "the payload for machines, without `content` where that is stored separately",
            ),
            content(
                "content",
                "JSON?",
                "the payload's member `content`: what was captured, as it was",
            ),
            structure(
                "token_estimate",
                "u64?",
                "how many tokens it takes in a model's context",
            ),
        ],
    ),
    event(
        "pipeline.frames_used",
        "A plan's step consumed frames.",
        &[
            structure("plan", "uuid", "the plan"),
            structure("step", "u32", "the step's number"),
            structure(
                "frames",
                "list of u64",
                "the frames, which may have been evicted",
            ),
            structure("inferred", "bool", INFERRED),
        ],
    ),
    event(
        "pipeline.max_frames_set",
        "The limit was set. It evicts nothing until the next push.",
        &[structure(
            "max_frames",
            "u32",
            "how many frames the window may hold; 0 is unlimited",
        )],
    ),
    event(
        "pipeline.eviction_policy_set",
        "The eviction policy was set. It evicts nothing until the next push. Fields that the \
         policy has no use for are empty.",
        &[
            structure("rule", "word", "which policy it is"),
            structure("max_frames", "u32?", "how many frames the window may hold"),
            structure("max_tokens", "u64?", "how many tokens the window may hold"),
            structure(
                "summary_tokens",
                "u64?",
                "how many of them a rolling summary takes",
            ),
            groups(
                "quotas",
                "list of quotas",
                &[
                    structure("kind", "word", "the kind"),
                    structure("keep", "u32", "how many of its frames are kept"),
                ],
                "how many frames of which kinds are kept",
            ),
            structure(
                "other_kinds",
                "u32?",
                "how many frames of each other kind are kept; absent, all of them",
            ),
            structure("protected", "list of word", "kinds that are never evicted"),
        ],
    ),
    event(
        "pipeline.global_summary_set",
        "The summary across all frames was set.",
        &[content(
            "summary",
            "text?",
            "the summary; absent, it was taken away",
        )],
    ),
    event("pipeline.metadata_set", METADATA_SET_MEANING, METADATA_SET),
    event("pipeline.sealed", SEALED_MEANING, SEALED),
    event(
        "pipeline.adopted",
        "The pipeline was taken over from another system, as it is; or the frames of the one taken \
         over just before go on. What had been evicted there is not known.",
        &[
            group(
                "object",
                "pipeline?",
                &[
                    ADOPTED_HEADER,
                    structure(
                        "next_frame_id",
                        "u64",
                        "the number that the next frame would have got",
                    ),
                    structure(
                        "max_frames",
                        "u32",
                        "how many frames the window may hold; 0 is unlimited",
                    ),
                    content("global_summary", "text?", "the summary across all frames"),
                ],
                "the pipeline; absent where its frames go on",
            ),
            groups(
                "frames",
                "list of frames",
                &[
                    structure("frame_id", "u64", "its number"),
                    structure("kind", "word", "what it captures"),
                    content("summary", "text", "a few sentences for people"),
                    content("data", "JSON?", "the payload for machines"),
                    structure("created_at", "time", "when it was pushed"),
                    structure(
                        "token_estimate",
                        "u64?",
                        "how many tokens it takes in a model's context",
                    ),
                ],
                "frames in the window, in order",
            ),
        ],
    ),
    event("pipeline.redacted", REDACTED_MEANING, REDACTED),
];

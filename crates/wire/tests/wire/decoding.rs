//! What decoding says of bytes that are not a valid event.

use annals_domain::pipeline::FramesUsed;
use annals_domain::task::DependencyAdded;
use annals_domain::{AnyEvent, FrameId, PlanId, StreamKind, TaskId};
use annals_event_log::Classified;
use annals_event_log::limits;
use annals_wire::{DecodeError, EncodeError, decode_structure, encode_structure};
use uuid::Uuid;

fn event() -> AnyEvent {
    AnyEvent::Task(
        DependencyAdded {
            dependency: TaskId(Uuid::from_u128(7)),
        }
        .into(),
    )
}

/// Decodes `bytes` as version `version` of `event_type` in a task's stream,
/// and compares the error's text with `expected`.
fn check(event_type: &str, version: u16, bytes: &[u8], expected: &str) {
    let error = decode_structure(StreamKind::Task, event_type, version, bytes).unwrap_err();
    assert!(!error.is_retryable());
    let text = error.to_string();
    assert!(
        text.starts_with(expected),
        "{text:?} does not begin with {expected:?}"
    );
}

#[test]
fn every_kind_of_bad_input_has_its_error() {
    let bytes = encode_structure(&event()).expect("it is encoded");
    let name = "task.dependency_added";
    check(
        name,
        1,
        &[],
        "the structure of task.dependency_added is empty",
    );
    check(
        name,
        1,
        &[9, 0],
        "the structure of task.dependency_added is in format 9",
    );
    check(
        name,
        2,
        &bytes,
        "task.dependency_added has shape 2, and this version",
    );
    check(
        name,
        0,
        &bytes,
        "task.dependency_added has shape 0, which nothing",
    );
    check(
        name,
        1,
        &bytes[..5],
        "the structure of task.dependency_added is malformed",
    );
    check(
        name,
        1,
        &[&bytes[..], &[0]].concat(),
        "the structure of task.dependency_added is followed by 1",
    );
    check(
        "task.vanished",
        1,
        &bytes,
        "unknown event type \"task.vanished\"",
    );
    check(
        "run.created",
        1,
        &bytes,
        "unknown event type \"run.created\"",
    );
    let long = vec![1; limits::STRUCTURE + 1];
    check(
        name,
        1,
        &long,
        "the structure of task.dependency_added has 65537 bytes",
    );
}

fn frames_used(count: usize) -> AnyEvent {
    let frames = vec![FrameId(1); count];
    let plan = PlanId(Uuid::from_u128(1));
    AnyEvent::Pipeline(
        FramesUsed {
            plan,
            step: 0,
            frames,
            inferred: false,
        }
        .into(),
    )
}

/// Format, id behind its length, step, length of the list.
const BEFORE_FRAMES: usize = 1 + 17 + 1 + 3;

/// Whether they are inferred.
const AFTER_FRAMES: usize = 1;

#[test]
fn the_largest_structure_comes_back_and_a_larger_one_is_refused() {
    let most = limits::STRUCTURE - BEFORE_FRAMES - AFTER_FRAMES;
    let largest = frames_used(most);
    let bytes = encode_structure(&largest).expect("it is within the limit");
    assert_eq!(bytes.len(), limits::STRUCTURE);
    let read = decode_structure(StreamKind::Pipeline, "pipeline.frames_used", 2, &bytes);
    assert!(matches!(read, Ok(event) if event == largest));

    let error = encode_structure(&frames_used(most + 1)).unwrap_err();
    assert!(!error.is_retryable());
    assert!(
        matches!(
            &error,
            EncodeError::TooLarge {
                actual: 65_537,
                limit: 65_536,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_length_that_was_tampered_with_allocates_nothing() {
    let bytes = encode_structure(&frames_used(3)).expect("it is encoded");
    let mut huge = bytes[..BEFORE_FRAMES - 3].to_vec();
    huge.push(253);
    huge.extend_from_slice(&u64::MAX.to_le_bytes());
    let read = decode_structure(StreamKind::Pipeline, "pipeline.frames_used", 2, &huge);
    assert!(
        matches!(read, Err(DecodeError::Malformed { .. })),
        "{read:?}"
    );
}

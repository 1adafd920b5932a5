//! Chains: an append that is given before the one before it is answered is made behind it, or not at all.

use futures::executor::block_on;
use uuid::Uuid;

use super::Harness;
use super::support::{assert_unchanged, batch_to, expecting, must_append, whole};
use crate::Classified;
use crate::{Append, AppendError, Appended, Expected, Link, Position, Store, Version};

fn link(chain: u128, number: u64) -> Link {
    let chain = Uuid::from_u128(chain);
    Link { chain, number }
}

fn append(log: &dyn Store, append: Append, link: Link) -> Result<Appended, AppendError> {
    block_on(log.append_linked(append, link))
}

#[track_caller]
fn must_break(log: &dyn Store, link: Link) {
    let before = whole(log);
    match append(log, batch_to("broken-1", 1), link) {
        Err(error @ AppendError::BrokenChain { link: refused }) => {
            assert_eq!(refused, link);
            assert!(error.is_retryable());
        }
        answer => panic!("a broken chain is expected for {link:?}, not {answer:?}"),
    }
    assert_unchanged(log, &before, "a broken chain");
}

/// Each link is made once, in its turn; chains do not know each other.
pub fn links_are_made_in_their_turn(harness: &dyn Harness) {
    let log = harness.open();
    let log = &*log;
    must_break(log, link(1, 1));
    append(log, batch_to("a-1", 2), link(1, 0)).expect("the first link");
    must_break(log, link(1, 0));
    must_break(log, link(1, 2));
    must_break(log, link(2, 1));
    must_append(log, batch_to("a-1", 1));
    append(log, batch_to("b-1", 1), link(2, 0)).expect("another chain");
    let appended = append(log, batch_to("a-1", 1), link(1, 1)).expect("the second link");
    assert_eq!(appended, Appended::new(Position(5), Position(5)));
    must_break(log, link(1, 1));
    append(log, batch_to("b-1", 1), link(2, 1)).expect("the second of the other");
}

/// Another caller's event brings a stream to the version that the next link expects.
pub fn nothing_is_made_behind_a_link_that_is_not(harness: &dyn Harness) {
    let log = harness.open();
    let log = &*log;
    let exactly = |version| Expected::Exactly(Version(version));
    must_append(log, batch_to("a-1", 1));
    append(log, batch_to("b-1", 1), link(1, 0)).expect("the first link");
    must_append(log, batch_to("a-1", 1));
    let second = expecting(batch_to("a-1", 1), "a-1", exactly(1));
    match append(log, second.clone(), link(1, 1)) {
        Err(AppendError::Conflict { .. }) => {}
        answer => panic!("a conflict is expected, not {answer:?}"),
    }
    let third = expecting(batch_to("a-1", 1), "a-1", exactly(2));
    match append(log, third, link(1, 2)) {
        Err(AppendError::BrokenChain { .. }) => {}
        answer => panic!("a broken chain is expected, not {answer:?}"),
    }
    // It can be made still, as another append in its place.
    let second = expecting(batch_to("a-1", 1), "a-1", exactly(2));
    append(log, second, link(1, 1)).expect("the second link");
}

/// A batch that was there before is not made where its link is: nothing may rest on it.
pub fn a_repeat_makes_no_link(harness: &dyn Harness) {
    let log = harness.open();
    let log = &*log;
    let first = batch_to("a-1", 2);
    let appended = must_append(log, first.clone());
    // It is answered, regardless of its place.
    for number in [0, 7] {
        let answer = append(log, first.clone(), link(1, number));
        assert_eq!(answer.expect("the first answer"), appended.again());
    }
    must_break(log, link(1, 1));
    append(log, batch_to("a-1", 1), link(1, 0)).expect("the first link");
}

/// Links that are given before any of them is answered.
pub fn links_that_wait_together_are_made_in_order(harness: &dyn Harness) {
    let log = harness.open();
    let log = &*log;
    let links = (0..40).map(|number| {
        let stream = format!("a-{}", number % 3);
        log.append_linked(batch_to(&stream, 1), link(1, number))
    });
    let answers = block_on(futures::future::join_all(links));
    for (position, answer) in (1..).zip(answers) {
        let expected = Appended::new(Position(position), Position(position));
        assert_eq!(answer.expect("each is made"), expected);
    }
}

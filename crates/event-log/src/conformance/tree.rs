//! The Merkle tree: kept with the records, regardless of how they were added.

use futures::executor::block_on;

use super::Harness;
use super::support::{all, batch, event, must_append};
use crate::tree::{Frontier, Kept, STEP, leaf, root};
use crate::{Record, Store};

/// A log of so many records, in batches of different sizes.
fn filled(harness: &dyn Harness, count: usize) -> std::sync::Arc<dyn Store> {
    let log = harness.open();
    grow(&*log, count);
    log
}

fn grow(log: &dyn Store, count: usize) {
    let (mut left, mut sizes) = (count, [1, 7, 100, 2, 300].iter().cycle());
    while left > 0 {
        let size = left.min(sizes.next().copied().unwrap_or(1));
        must_append(log, batch((0..size).map(|_| event("tree-1")).collect()));
        left -= size;
    }
}

/// The tree of some records, made here.
fn made(records: &[Record]) -> (Frontier, Vec<Kept>) {
    let (mut frontier, mut kept) = (Frontier::default(), Vec::new());
    for record in records {
        frontier.push(leaf(record.header_bytes()), |it| kept.push(it));
    }
    (frontier, kept)
}

/// What the log keeps is the tree of its records.
fn assert_tree(log: &dyn Store) {
    let records = all(log);
    let (frontier, kept) = made(&records);
    for it in kept {
        let found = block_on(log.tree_hashes(it.level, it.index, 1)).unwrap();
        assert_eq!(found, [it.hash], "{it:?}");
    }
    let size = records.len() as u64;
    assert_eq!(block_on(root(log, size)).unwrap(), frontier.root());
    // And of any number of its first ones.
    for size in [0, size.min(1), size / 3, size / 2] {
        let first = usize::try_from(size).unwrap();
        let (frontier, _) = made(records.get(..first).unwrap());
        assert_eq!(block_on(root(log, size)).unwrap(), frontier.root());
    }
}

/// The hashes are those of the headers, and the roots follow from them.
pub fn the_tree_is_that_of_the_headers(harness: &dyn Harness) {
    assert_tree(&*filled(harness, 0));
    assert_tree(&*filled(harness, 1));
    assert_tree(&*filled(harness, 1_000));
}

/// Nothing is given beyond what there is, and a page has its bounds.
pub fn hashes_beyond_the_end_are_not_there(harness: &dyn Harness) {
    let log = filled(harness, 300);
    let hashes = |level, first, limit| block_on(log.tree_hashes(level, first, limit)).unwrap();
    assert_eq!(hashes(0, 0, 1_000).len(), 300);
    assert_eq!(hashes(0, 290, 1_000).len(), 10);
    assert_eq!(hashes(0, 10, 20), hashes(0, 0, 30).get(10..).unwrap());
    assert_eq!(hashes(0, 300, 1).len(), 0);
    assert_eq!(hashes(0, u64::MAX, 1).len(), 0);
    assert_eq!(hashes(STEP, 0, 10).len(), 1);
    assert_eq!(hashes(2 * STEP, 0, 10).len(), 0);
    // Of the levels between them nothing is kept.
    assert_eq!(hashes(1, 0, 10).len(), 0);
    assert_eq!(hashes(255, 0, 10).len(), 0);
    assert!(block_on(root(&*log, 301)).is_err());
}

/// The tree goes on after reopening.
pub fn the_tree_goes_on_after_reopening(harness: &dyn Harness) {
    let log = filled(harness, 300);
    let log = harness.reopen(log);
    assert_tree(&*log);
    grow(&*log, 257);
    assert_tree(&*log);
}

/// A copy has the same tree, also one that came in parts.
pub fn a_copy_has_the_same_tree(harness: &dyn Harness) {
    let log = filled(harness, 600);
    let records = all(&*log);
    let copy = harness.open();
    for part in records.chunks(217) {
        block_on(copy.append_records(part.to_vec(), Vec::new())).unwrap();
    }
    assert_tree(&*copy);
    let of = |log: &dyn Store| block_on(root(log, 600)).unwrap();
    assert_eq!(of(&*copy), of(&*log));
}

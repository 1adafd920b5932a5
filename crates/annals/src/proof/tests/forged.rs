//! Logs that a forger wrote again, with every digest and hash in its place: only a
//! checkpoint that was kept elsewhere tells them from the real one.

use annals_event_log::{Position, Record};
use futures::executor::block_on;
use proptest::prelude::*;

use super::support::{Forged, head, log_of, log_with, records, renumbered, runner};
use crate::proof::since::{Check, Fault};
use crate::proof::{Detail, Proof, ProofError, ProofMismatch};

const SIZE: usize = 24;

/// What a forger does at a place.
#[derive(Debug, Clone, Copy)]
enum Forgery {
    Alter,
    Remove,
    Swap,
    Insert,
}

fn forge(original: &[Record], forgery: Forgery, at: usize) -> Vec<Record> {
    let mut forged: Vec<Forged> = original.iter().map(Forged::of).collect();
    match forgery {
        Forgery::Alter => forged[at] = forged[at].clone().alter(),
        Forgery::Remove => drop(forged.remove(at)),
        Forgery::Swap => {
            // Both are moved to the earlier one's time, as a careful forger would.
            let times: Vec<u8> = original[at].as_bytes()[19..31].to_vec();
            forged.swap(at, at + 1);
            for it in &mut forged[at..=at + 1] {
                it.set_recorded_at(&times);
            }
        }
        Forgery::Insert => forged.insert(at, forged[at].clone().another()),
    }
    renumbered(forged)
}

#[test]
fn whatever_is_forged_is_found_from_an_old_checkpoint() {
    let real = log_of(SIZE as u64);
    let original = records(&real);
    // The control: the same records make the same log.
    let copy = log_with(original.clone());
    block_on(copy.proofs().check(&head(&real, SIZE as u64))).unwrap();

    let forgeries = prop_oneof![
        Just(Forgery::Alter),
        Just(Forgery::Remove),
        Just(Forgery::Swap),
        Just(Forgery::Insert)
    ];
    runner(120)
        .run(&(forgeries, 0..SIZE - 1), |(forgery, at)| {
            let forged = log_with(forge(&original, forgery, at));
            for size in 1..=SIZE as u64 {
                let kept = head(&real, size);
                let answer = block_on(forged.proofs().check(&kept));
                // A checkpoint of what came before says nothing of it; a swap or an
                // insertion is seen from the first of the places that it touches.
                let is_covered = size > at as u64;
                prop_assert_eq!(
                    answer.is_err(),
                    is_covered,
                    "{:?} at {}, {}",
                    forgery,
                    at,
                    size
                );
                let since = block_on(forged.proofs().check_since(&kept, |_| {}));
                prop_assert_eq!(since.is_err(), is_covered);
                let mismatch = matches!(
                    since,
                    Ok(_)
                        | Err(ProofError::ProofMismatch(
                            ProofMismatch::Root { .. } | ProofMismatch::Truncated { .. }
                        ))
                );
                prop_assert!(mismatch);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_log_that_lost_its_end_is_found_from_a_newer_checkpoint() {
    let real = log_of(20);
    let original = records(&real);
    let kept = head(&real, 20);
    for left in 0..20 {
        let shorter = log_with(original[..left].to_vec());
        let answer = block_on(shorter.proofs().check(&kept));
        let expected = ProofMismatch::Truncated {
            size: 20,
            end: Position(left as u64),
        };
        assert!(matches!(answer, Err(ProofError::ProofMismatch(mismatch)) if mismatch == expected));
        // The rest itself is as it was.
        block_on(shorter.proofs().check(&head(&real, left as u64))).unwrap();
    }
}

#[test]
fn another_log_is_another_log() {
    let real = log_of(3);
    let mut kept = head(&real, 3);
    kept.origin.push('0');
    let answer = block_on(real.proofs().check(&kept));
    assert!(matches!(
        answer,
        Err(ProofError::ProofMismatch(ProofMismatch::Origin { .. }))
    ));
}

#[test]
fn what_is_new_is_checked_record_by_record() {
    let real = log_of(30);
    let report = block_on(real.proofs().check_since(&head(&real, 10), |_| {})).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!((report.records, report.to.size), (20, 30));
    let whole = block_on(real.proofs().check_since(&head(&real, 0), |_| {})).unwrap();
    assert_eq!((whole.is_sound(), whole.records), (true, 30));
    let nothing = block_on(real.proofs().check_since(&head(&real, 30), |_| {})).unwrap();
    assert_eq!((nothing.is_sound(), nothing.records), (true, 0));
}

#[test]
fn what_is_wrong_with_what_is_new_is_said_with_its_place() {
    let real = log_of(30);
    let original = records(&real);
    let faults = |records: Vec<Record>| {
        let (from, to) = (head(&real, 10), head(&real, 30));
        block_on(async {
            let mut check = Check::start(real.log().as_ref(), &from, &to).await.unwrap();
            let records: Vec<&Record> = records.iter().collect();
            check.page(Position(11), &records).await.unwrap();
            check.end(from, to)
        })
    };
    assert!(faults(original[10..].to_vec()).is_sound());

    let mut altered = original[10..].to_vec();
    altered[4] = Forged::of(&original[14]).alter().at(15);
    let report = faults(altered);
    assert_eq!(report.total_findings, 2, "{report:?}");
    assert_eq!(report.findings[0].position, Some(Position(15)));
    assert_eq!(report.findings[0].fault, Fault::Leaf);
    assert!(matches!(report.findings[1].fault, Fault::Root { .. }));

    let mut missing = original[10..].to_vec();
    missing.remove(4);
    let report = faults(missing);
    let gap = Fault::Gap {
        expected: Position(15),
    };
    assert!(report.findings.iter().any(|finding| finding.fault == gap));

    let mut cut = original[10..].to_vec();
    cut.pop();
    let report = faults(cut);
    assert!(
        matches!(report.findings[0].fault, Fault::Gap { .. }),
        "{report:?}"
    );

    let mut damaged = original[10..].to_vec();
    let mut bytes = original[12].as_bytes().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    damaged[2] = Record::decode(bytes.into()).unwrap();
    let report = faults(damaged);
    assert_eq!(report.findings.len(), 1, "{report:?}");
    assert_eq!(
        report.findings[0].to_string(),
        "at position 13: its payload is not what its header says"
    );
}

#[test]
fn proofs_outlive_the_removal_of_content() {
    let real = log_of(9);
    let kept = head(&real, 9);
    let old = block_on(real.proofs().event(Position(4), &kept, Detail::Records)).unwrap();
    let mut remaining = records(&real);
    remaining[3] = Forged::redacted(&remaining[3]);
    let redacted = log_with(remaining);
    block_on(redacted.proofs().check(&kept)).unwrap();
    old.check(&head(&redacted, 9)).unwrap();
    let new = block_on(redacted.proofs().event(Position(4), &kept, Detail::Records)).unwrap();
    new.check(&kept).unwrap();
    let file = new.to_json().unwrap();
    assert_eq!(Proof::read(&file).unwrap(), new);
    let content = |proof: &Proof| match proof {
        Proof::Inclusion(proof) => proof.events[0].record.as_ref().unwrap().as_bytes().clone(),
        Proof::Consistency(_) => panic!("it is an inclusion"),
    };
    let holds = |proof: &Proof| content(proof).windows(9).any(|bytes| bytes == b"content 4");
    // A proof that was made before holds what it was made of.
    assert_eq!((holds(&old), holds(&new)), (true, false));
}

//! Proofs made here hold elsewhere, and the other way round. The other
//! implementation is `ct-merkle`.

use annals_event_log::{Digest, Position};
use bytes::Bytes;
use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ct_merkle::{ConsistencyProof as TheirConsistency, InclusionProof as TheirInclusion, RootHash};
use futures::executor::block_on;
use sha2_next::Sha256;

use super::support::{head, log_of, records, runner};
use crate::Annals;
use crate::proof::{ConsistencyProof, Detail, EventProof, InclusionProof, Proof, TreeHead};

/// A log, and the trees of all its sizes made by the others.
struct Both {
    annals: Annals,
    headers: Vec<Vec<u8>>,
    trees: Vec<MemoryBackedTree<Sha256, Vec<u8>>>,
}

impl Both {
    fn of(size: u64) -> Both {
        let annals = log_of(size);
        let headers: Vec<Vec<u8>> = records(&annals)
            .iter()
            .map(|record| record.header_bytes().to_vec())
            .collect();
        let mut tree = MemoryBackedTree::new();
        let mut trees = vec![tree.clone()];
        for header in &headers {
            tree.push(header.clone());
            trees.push(tree.clone());
        }
        Both {
            annals,
            headers,
            trees,
        }
    }

    fn tree(&self, size: u64) -> &MemoryBackedTree<Sha256, Vec<u8>> {
        &self.trees[usize::try_from(size).unwrap()]
    }

    fn inclusion(&self, size: u64, leaf: u64) {
        let index = usize::try_from(leaf).unwrap();
        let ours = head(&self.annals, size);
        let position = Position(leaf + 1);
        let proof = self.annals.proofs().event(position, &ours, Detail::Headers);
        let Proof::Inclusion(proof) = block_on(proof).unwrap() else {
            panic!("it is an inclusion");
        };
        // Ours, checked by them.
        let path = joined(&proof.events[0].path);
        self.root(&ours)
            .verify_inclusion(
                &self.headers[index],
                leaf,
                &TheirInclusion::from_bytes(path),
            )
            .unwrap();
        // Theirs, checked by us.
        let theirs = self.tree(size).prove_inclusion(index);
        let proof = Proof::Inclusion(InclusionProof {
            head: ours.clone(),
            object: None,
            events: vec![EventProof {
                position,
                header: Bytes::copy_from_slice(&self.headers[index]),
                record: None,
                path: digests(theirs.as_bytes()),
            }],
        });
        proof.check(&ours).unwrap();
    }

    fn consistency(&self, old: u64, new: u64) {
        let (old_head, new_head) = (head(&self.annals, old), head(&self.annals, new));
        let proof = block_on(self.annals.proofs().consistency(&old_head, &new_head)).unwrap();
        let Proof::Consistency(proof) = proof else {
            panic!("it is a consistency");
        };
        let path = TheirConsistency::try_from_bytes(joined(&proof.path)).unwrap();
        self.root(&new_head)
            .verify_consistency(&self.root(&old_head), &path)
            .unwrap();
        let additions = usize::try_from(new - old).unwrap();
        let theirs = self.tree(new).prove_consistency(additions);
        let proof = Proof::Consistency(ConsistencyProof {
            old: old_head,
            new: new_head.clone(),
            path: digests(theirs.as_bytes()),
        });
        proof.check(&new_head).unwrap();
    }

    fn root(&self, head: &TreeHead) -> RootHash<Sha256> {
        let root = RootHash::new(head.root.0.into(), head.size);
        assert!(root == self.tree(head.size).root());
        root
    }
}

fn joined(path: &[Digest]) -> Vec<u8> {
    path.iter().flat_map(|hash| hash.0).collect()
}

fn digests(bytes: &[u8]) -> Vec<Digest> {
    let hashes = bytes.chunks_exact(32);
    hashes
        .map(|hash| Digest(hash.try_into().unwrap()))
        .collect()
}

#[test]
fn every_event_of_every_small_log_is_proved_in_both_directions() {
    let both = Both::of(40);
    for size in 1..=40 {
        (0..size).for_each(|leaf| both.inclusion(size, leaf));
        (1..=size).for_each(|old| both.consistency(old, size));
    }
}

#[test]
fn events_of_larger_logs_are_proved_in_both_directions() {
    // More than one stored hash of level 8, and an end that is not even.
    let both = Both::of(601);
    let sizes = (1..=601_u64, 0..601_u64);
    runner(150)
        .run(&sizes, |(size, any)| {
            both.inclusion(size, any % size);
            both.consistency(1 + any % size, size);
            Ok(())
        })
        .unwrap();
}

//! The worked examples of `docs/proof-format.md`: by the page's own rules, and by our
//! code.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use sha2_next::{Digest as _, Sha256};

use crate::proof::{Checkpoint, Proof, PublicKey};

const PAGE: &str = include_str!("../../../../../docs/proof-format.md");

/// The block behind this mark.
fn block(mark: &str) -> &'static str {
    let begin = format!("```{mark}\n");
    let (_, rest) = PAGE.split_once(&begin).expect(mark);
    rest.split_once("\n```").unwrap().0
}

fn sha256(parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().to_vec()
}

fn bytes(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()
}

/// Section 4's way up.
fn way_up(number: u64, size: u64, leaf: Vec<u8>, path: &[Vec<u8>]) -> Option<Vec<u8>> {
    let (mut first, mut last, mut hash) = (number, size - 1, leaf);
    for sibling in path {
        if last == 0 {
            return None;
        }
        if first & 1 == 1 || first == last {
            hash = sha256(&[&[1], sibling, &hash]);
            while first & 1 == 0 && first != 0 {
                (first, last) = (first >> 1, last >> 1);
            }
        } else {
            hash = sha256(&[&[1], &hash, sibling]);
        }
        (first, last) = (first >> 1, last >> 1);
    }
    (last == 0).then_some(hash)
}

fn holds_by_the_rules(proof: &Value, checkpoint: &str) {
    let lines: Vec<&str> = checkpoint.lines().collect();
    assert_eq!(proof["origin"], lines[0]);
    let size = proof["size"].as_u64().unwrap();
    assert_eq!(size.to_string(), lines[1]);
    assert_eq!(proof["root"], lines[2]);
    let hashes: Vec<Vec<u8>> = proof["hashes"]
        .as_array()
        .unwrap()
        .iter()
        .map(bytes)
        .collect();
    for event in proof["events"].as_array().unwrap() {
        let position = event["position"].as_u64().unwrap();
        let header = bytes(&event["header"]);
        let path: Vec<Vec<u8>> = event["path"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| hashes[usize::try_from(n.as_u64().unwrap()).unwrap()].clone())
            .collect();
        let leaf = sha256(&[&[0], &header]);
        let root = way_up(position - 1, size, leaf, &path).unwrap();
        assert_eq!(root, bytes(&proof["root"]));
        assert_eq!(header[1..9], position.to_be_bytes());
        let Some(record) = event.get("record").map(bytes) else {
            continue;
        };
        let end = 2 + header.len();
        assert_eq!(record[2..end], header);
        let length = u32::from_be_bytes(record[end..end + 4].try_into().unwrap());
        let structure = &record[end + 4..end + 4 + usize::try_from(length).unwrap()];
        assert_eq!(sha256(&[structure]), header[111..143]);
        // The example has one piece, in the record itself.
        let pieces = &record[end + 4 + structure.len()..];
        assert_eq!(pieces[..3], [0, 1, 1]);
        let (salt, content) = (&pieces[3..19], &pieces[23..]);
        let length = (content.len() as u64).to_be_bytes();
        let salted = sha256(&[salt, &sha256(&[content]), &length, &[0]]);
        assert_eq!(sha256(&[&salted]), header[143..175]);
        assert_eq!(content, b"Add a cache");
    }
}

#[test]
fn the_worked_examples_hold() {
    let checkpoint = block("text checkpoint");
    let note = Checkpoint::read(format!("{checkpoint}\n").as_bytes()).unwrap();
    let key = PublicKey::read(block("text key")).unwrap();
    assert_eq!(note.verify(&[key]).unwrap().checked.len(), 1);
    for mark in ["json inclusion", "json object"] {
        let json = block(mark);
        holds_by_the_rules(&serde_json::from_str(json).unwrap(), checkpoint);
        let proof = Proof::read(json.as_bytes()).unwrap();
        proof.check(note.head()).unwrap();
        // What is written is what the page shows.
        assert_eq!(proof.to_json().unwrap(), format!("{json}\n").as_bytes());
    }
    let older = block("text older checkpoint");
    let older = Checkpoint::read(format!("{older}\n").as_bytes()).unwrap();
    let proof = Proof::read(block("json consistency").as_bytes()).unwrap();
    proof.check(note.head()).unwrap();
    let Proof::Consistency(proof) = proof else {
        panic!("it is a consistency");
    };
    assert_eq!(proof.old, *older.head());
}

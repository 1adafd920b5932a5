//! A proof of which any part is changed does not hold any more.

use annals_domain::Kind;
use annals_event_log::Position;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::executor::block_on;
use serde_json::{Value, json};

use super::support::{head, log_of, log_with_intent};
use crate::proof::{Detail, Proof, ProofError, TreeHead};
use crate::{Annals, ObjectRef};

fn json_of(proof: &Proof) -> Value {
    serde_json::from_slice(&proof.to_json().unwrap()).unwrap()
}

fn holds(value: &Value, checkpoint: &TreeHead) -> bool {
    let json = serde_json::to_vec(value).unwrap();
    Proof::read(&json).is_ok_and(|proof| proof.check(checkpoint).is_ok())
}

/// The pointers to all values that hold no others.
fn leaves(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| leaves(value, format!("{at}/{name}"), found)),
        Value::Array(values) => values
            .iter()
            .enumerate()
            .for_each(|(n, value)| leaves(value, format!("{at}/{n}"), found)),
        _ => found.push(at),
    }
}

/// Every way in which a value can be a little different: a bit of each byte, or of a
/// number.
fn variants(value: &Value, is_bytes: bool) -> Vec<Value> {
    match value {
        Value::Number(number) => {
            let number = number.as_u64().unwrap();
            (0..20).map(|bit| json!(number ^ (1 << bit))).collect()
        }
        Value::String(text) if is_bytes => {
            let bytes = BASE64_STANDARD.decode(text).unwrap();
            let flip = |n: usize| {
                let mut bytes = bytes.clone();
                bytes[n] ^= 1 << (n % 8);
                json!(BASE64_STANDARD.encode(bytes))
            };
            (0..bytes.len()).map(flip).collect()
        }
        Value::String(text) => {
            let flip = |n: usize| {
                let mut bytes = text.clone().into_bytes();
                // A letter's case says nothing in a UUID: bit 5 stays.
                bytes[n] ^= 1;
                json!(String::from_utf8(bytes).unwrap())
            };
            (0..text.len()).map(flip).collect()
        }
        other => panic!("{other} in a proof"),
    }
}

fn refuses_every_change(proof: &Proof, checkpoint: &TreeHead) -> usize {
    let whole = json_of(proof);
    assert!(holds(&whole, checkpoint));
    let (mut found, mut tried) = (Vec::new(), 0);
    leaves(&whole, String::new(), &mut found);
    for at in found {
        let name = at.rsplit('/').find(|name| name.parse::<u64>().is_err());
        let is_bytes = matches!(name, Some("header" | "record" | "root" | "hashes"));
        for variant in variants(whole.pointer(&at).unwrap(), is_bytes) {
            let mut changed = whole.clone();
            *changed.pointer_mut(&at).unwrap() = variant.clone();
            assert!(!holds(&changed, checkpoint), "{at}: {variant} is accepted");
            tried += 1;
        }
    }
    tried
}

fn all_of(annals: &Annals, object: ObjectRef, detail: Detail) -> (Proof, TreeHead) {
    let kept = head(annals, annals.position().0);
    let proof = block_on(annals.proofs().object(object, &kept, detail)).unwrap();
    (proof, kept)
}

#[test]
fn an_object_proof_refuses_every_change() {
    let (annals, intent) = log_with_intent();
    let object = ObjectRef {
        kind: Kind::Intent,
        id: intent.0,
    };
    let (proof, kept) = all_of(&annals, object, Detail::Records);
    let Proof::Inclusion(inclusion) = &proof else {
        panic!("it is an inclusion");
    };
    let positions: Vec<u64> = inclusion.events.iter().map(|e| e.position.0).collect();
    assert_eq!(positions, [1, 3, 4, 5]);
    assert!(refuses_every_change(&proof, &kept) > 1_500);
    let (proof, kept) = all_of(&annals, object, Detail::Headers);
    assert!(refuses_every_change(&proof, &kept) > 500);

    // Less than all of the object, or in another order, is not the object.
    let whole = json_of(&proof);
    for (without, is_found) in [(0, true), (2, true), (3, false)] {
        let mut less = whole.clone();
        less["events"].as_array_mut().unwrap().remove(without);
        prune(&mut less);
        // That the last event is missing is for the whole log to say.
        assert_eq!(holds(&less, &kept), !is_found, "{without}");
    }
    let mut turned = whole.clone();
    turned["events"].as_array_mut().unwrap().swap(0, 1);
    assert!(!holds(&turned, &kept));
    let mut nothing = whole;
    nothing["events"] = json!([]);
    nothing["hashes"] = json!([]);
    assert!(!holds(&nothing, &kept));
}

/// Removes the hashes that no event needs any more.
fn prune(proof: &mut Value) {
    let hashes = proof["hashes"].as_array().unwrap().clone();
    let mut kept: Vec<usize> = Vec::new();
    for event in proof["events"].as_array_mut().unwrap() {
        for number in event["path"].as_array_mut().unwrap() {
            let old = usize::try_from(number.as_u64().unwrap()).unwrap();
            let new = kept.iter().position(|it| *it == old);
            *number = json!(new.unwrap_or_else(|| {
                kept.push(old);
                kept.len() - 1
            }));
        }
    }
    proof["hashes"] = kept.iter().map(|n| hashes[*n].clone()).collect();
}

#[test]
fn an_event_proof_and_a_consistency_proof_refuse_every_change() {
    let annals = log_of(21);
    let kept = head(&annals, 19);
    let proof = block_on(annals.proofs().event(Position(7), &kept, Detail::Records)).unwrap();
    assert!(refuses_every_change(&proof, &kept) > 400);
    let proof = block_on(annals.proofs().consistency(&head(&annals, 6), &kept)).unwrap();
    assert!(refuses_every_change(&proof, &kept) > 150);
}

#[test]
fn consistency_with_nothing_and_with_itself() {
    let annals = log_of(5);
    for (old, new) in [(0, 0), (0, 5), (5, 5), (4, 5)] {
        let (old, new) = (head(&annals, old), head(&annals, new));
        let proof = block_on(annals.proofs().consistency(&old, &new)).unwrap();
        assert_eq!(Proof::read(&proof.to_json().unwrap()).unwrap(), proof);
        proof.check(&new).unwrap();
    }
    let (old, new) = (head(&annals, 5), head(&annals, 4));
    assert!(matches!(
        block_on(annals.proofs().consistency(&old, &new)),
        Err(ProofError::Order { old: 5, new: 4 })
    ));
}

#[test]
fn objects_in_a_run_s_stream_are_proved_by_what_their_events_say() {
    use annals_domain::ActorRef;
    use annals_domain::run::{DiffFormat, ProposePatchSet};
    block_on(async {
        let annals = Annals::open("memory:").await.unwrap();
        let actor = ActorRef::agent("coder");
        let me = annals.by(&actor);
        let intent = me.submit("Add a cache").await.unwrap();
        let task = me.task(intent, "Cache it").await.unwrap();
        let run = me.start_run(task, None, None).await.unwrap();
        let diff = ProposePatchSet::new(run, DiffFormat::Unified);
        let patch_set = me.propose(diff).await.unwrap();
        me.validate(run).await.unwrap();
        me.commit(run, patch_set, None).await.unwrap();
        let kept = annals.proofs().head(None).await.unwrap();
        let object = annals.resolve(&patch_set.0.to_string()).await.unwrap();
        assert_eq!(object.kind, Kind::PatchSet);
        let proof = annals
            .proofs()
            .object(object, &kept, Detail::Records)
            .await
            .unwrap();
        proof.check(&kept).unwrap();
        let mut other = json_of(&proof);
        assert!(holds(&other, &kept));
        other["object"]["id"] = json!(intent.0);
        assert!(!holds(&other, &kept), "another object");
        let mut other = json_of(&proof);
        other["object"]["kind"] = json!("evidence");
        assert!(!holds(&other, &kept), "another kind");
        let headers = annals.proofs().object(object, &kept, Detail::Headers).await;
        assert!(matches!(headers, Err(ProofError::HeadersOnly { .. })));
        let whole = ObjectRef {
            kind: Kind::Run,
            id: run.0,
        };
        let run = annals
            .proofs()
            .object(whole, &kept, Detail::Headers)
            .await
            .unwrap();
        run.check(&kept).unwrap();
    });
}

#[test]
fn what_is_not_there_is_refused() {
    let annals = log_of(5);
    let kept = head(&annals, 3);
    let prove = |position| {
        block_on(
            annals
                .proofs()
                .event(Position(position), &kept, Detail::Headers),
        )
    };
    assert!(matches!(prove(0), Err(ProofError::NoPosition)));
    assert!(matches!(prove(4), Err(ProofError::BeyondEnd { .. })));
    assert!(matches!(
        block_on(annals.proofs().head(Some(6))),
        Err(ProofError::BeyondEnd { .. })
    ));
    // A head that is not this log's: nothing that does not hold is given away.
    let mut other = kept;
    other.root.0[0] ^= 1;
    let proof = block_on(annals.proofs().event(Position(1), &other, Detail::Headers));
    assert!(matches!(proof, Err(ProofError::ProofMismatch(_))));
    let id = uuid::Uuid::from_u128(0xE0_0002);
    assert_eq!(
        block_on(annals.proofs().find_event(id, |_| {})).unwrap(),
        Some(Position(2))
    );
    let unknown = uuid::Uuid::from_u128(1);
    assert_eq!(
        block_on(annals.proofs().find_event(unknown, |_| {})).unwrap(),
        None
    );
}

//! Files that are not valid proofs.

use annals_event_log::Position;
use futures::executor::block_on;
use serde_json::{Value, json};

use super::support::{head, log_of};
use crate::proof::{Detail, Proof, ProofFileError};

fn file() -> (Vec<u8>, Value) {
    let annals = log_of(6);
    let kept = head(&annals, 6);
    let proof = block_on(annals.proofs().event(Position(2), &kept, Detail::Records)).unwrap();
    let json = proof.to_json().unwrap();
    let value = serde_json::from_slice(&json).unwrap();
    (json, value)
}

fn read(value: &Value) -> Result<Proof, ProofFileError> {
    Proof::read(&serde_json::to_vec(value).unwrap())
}

#[test]
fn what_is_no_proof_is_refused() {
    let nested = "[".repeat(100_000);
    for bad in [
        "",
        "{}",
        "null",
        "[]",
        "17",
        "\u{feff}{}",
        "{\"annals_proof\":",
        &nested,
    ] {
        let read = Proof::read(bad.as_bytes());
        assert!(
            matches!(read, Err(ProofFileError::Malformed(_))),
            "{bad:.20}"
        );
    }
    assert!(Proof::read(&[0, 159, 146, 150]).is_err());
    let (json, _) = file();
    for end in 0..json.len() - 1 {
        assert!(Proof::read(&json[..end]).is_err(), "the first {end} bytes");
    }
    let twice = [json.as_slice(), json.as_slice()].concat();
    assert!(Proof::read(&twice).is_err());
}

/// Every object of a proof, given as an array of its values, in the order of the fields.
#[test]
fn an_object_is_no_array() {
    fn values(object: &Value) -> Value {
        Value::Array(object.as_object().unwrap().values().cloned().collect())
    }
    let annals = log_of(6);
    let kept = head(&annals, 6);
    let (old, new) = (head(&annals, 3), kept.clone());
    let (json, inclusion) = file();
    // The values' order is that of the text: `Value` keeps none.
    let text = String::from_utf8(json).unwrap();
    let event = text.find("\"events\":[{").unwrap() + "\"events\":[".len();
    let end = text.rfind("}]}").unwrap() + 1;
    let fields = text.get(event + 1..end - 1).unwrap();
    let named = ["\"position\":", "\"header\":", "\"record\":", "\"path\":"];
    let bare = named
        .iter()
        .fold(fields.to_owned(), |text, name| text.replace(name, ""));
    let array = format!("{}[{bare}]{}", &text[..event], &text[end..]);
    assert!(serde_json::from_str::<Value>(&array).is_ok(), "{array}");
    let refused = Proof::read(array.as_bytes()).unwrap_err();
    assert!(
        refused.to_string().contains("expected a JSON object"),
        "{refused}"
    );
    assert!(read(&values(&inclusion)).is_err());

    let proof = block_on(annals.proofs().consistency(&old, &new)).unwrap();
    let text = String::from_utf8(proof.to_json().unwrap()).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert!(read(&whole).is_ok());
    for head in ["old", "new"] {
        let mut changed = whole.clone();
        let fields = &whole[head];
        changed[head] = json!([fields["size"], fields["root"]]);
        assert!(read(&changed).is_err(), "{head}");
    }
}

#[test]
fn what_is_of_a_later_version_is_said_to_be() {
    let (_, whole) = file();
    let mut later = whole.clone();
    later["annals_proof"] = json!(2);
    later["more"] = json!({});
    let error = read(&later).unwrap_err();
    assert!(matches!(error, ProofFileError::Version { .. }));
    assert!(error.to_string().contains("version 2"), "{error}");
    for version in [json!("1"), json!(1.5), json!(-1), json!([1])] {
        let mut other = whole.clone();
        other["annals_proof"] = version;
        assert!(matches!(read(&other), Err(ProofFileError::Version { .. })));
    }
    let mut other = whole.clone();
    other["kind"] = json!("absence");
    let error = read(&other).unwrap_err();
    assert!(error.to_string().contains("absence"), "{error}");
    other["kind"] = json!(null);
    assert!(matches!(read(&other), Err(ProofFileError::Kind { .. })));
}

#[test]
fn it_has_no_room_for_what_is_not_checked() {
    let (_, whole) = file();
    read(&whole).unwrap();
    let mut with_field = whole.clone();
    with_field["note"] = json!("believe me");
    let error = read(&with_field).unwrap_err().to_string();
    assert!(error.contains("unknown field `note`"), "{error}");
    let mut in_event = whole.clone();
    in_event["events"][0]["summary"] = json!("believe me");
    assert!(read(&in_event).is_err());
    let mut unused = whole.clone();
    let first = unused["hashes"][0].clone();
    unused["hashes"].as_array_mut().unwrap().push(first);
    let error = read(&unused).unwrap_err().to_string();
    assert!(error.contains("no event needs hash"), "{error}");
    let mut beyond = whole.clone();
    beyond["events"][0]["path"][0] = json!(99);
    assert!(
        read(&beyond)
            .unwrap_err()
            .to_string()
            .contains("no hash 99")
    );
    for (field, value) in [
        ("root", json!("AAAA")),
        ("root", json!("not base64")),
        ("size", json!(-1)),
        ("size", json!(1e30)),
        ("origin", json!(null)),
        (
            "object",
            json!({"kind": "unicorn", "id": uuid::Uuid::nil()}),
        ),
        ("object", json!({"kind": "intent", "id": "x"})),
        ("hashes", json!({})),
    ] {
        let mut other = whole.clone();
        other[field] = value;
        assert!(
            matches!(read(&other), Err(ProofFileError::Malformed(_))),
            "{field}"
        );
    }
}

#[test]
fn odd_numbers_are_no_panic() {
    let (_, whole) = file();
    let kept = head(&log_of(6), 6);
    for number in [0, 7, u64::MAX, u64::MAX >> 1] {
        let mut other = whole.clone();
        other["events"][0]["position"] = json!(number);
        assert!(read(&other).unwrap().check(&kept).is_err());
        let mut other = whole.clone();
        other["size"] = json!(number);
        let proof = read(&other).unwrap();
        assert!(proof.check(&kept).is_err());
        let mut huge = kept.clone();
        huge.size = number;
        assert!(proof.check(&huge).is_err());
    }
    let mut long = whole.clone();
    long["events"][0]["path"] = json!(vec![0; 64]);
    assert!(read(&long).is_err(), "some hashes are not used");
    long["hashes"] = json!([whole["hashes"][0]]);
    assert!(read(&long).unwrap().check(&kept).is_err());
}

#[test]
fn a_file_takes_no_more_memory_than_its_size_allows() {
    let (_, whole) = file();
    // A path ends where a tree does, while it is read: before its hashes are looked up.
    let mut long = whole.clone();
    long["events"][0]["path"] = json!(vec![7; 65]);
    let error = read(&long).unwrap_err().to_string();
    assert!(error.contains("at most 64 numbers of hashes"), "{error}");
    long["events"][0]["path"] = json!([u64::MAX]);
    assert!(matches!(read(&long), Err(ProofFileError::Malformed(_))));
    // What it says to be is not taken apart, however deep it is.
    let nested = [vec![b'['; 1_000], vec![b']'; 1_000]].concat();
    let nested = String::from_utf8(nested).unwrap();
    let of_kind = format!("{{\"annals_proof\":1,\"kind\":{nested}}}");
    let error = Proof::read(of_kind.as_bytes()).unwrap_err();
    assert!(matches!(error, ProofFileError::Kind { .. }), "{error}");
    assert!(error.to_string().len() < 200, "{error}");
    let of_version = format!("{{\"annals_proof\":{nested},\"kind\":\"inclusion\"}}");
    let error = Proof::read(of_version.as_bytes()).unwrap_err();
    assert!(matches!(error, ProofFileError::Version { .. }), "{error}");
    let too_large = vec![b' '; Proof::MOST_BYTES + 1];
    assert!(matches!(
        Proof::read(&too_large),
        Err(ProofFileError::TooLarge)
    ));
}

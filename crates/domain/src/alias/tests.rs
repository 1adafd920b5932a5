//! Given, when, then for aliases.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use uuid::Uuid;

use super::*;
use crate::intent::CreateIntent;
use crate::testing::{Given, events, texts};
use crate::{AnyEvent, IntentId, Kind, Refusal};

const A: Uuid = Uuid::from_u128(1);
const B: Uuid = Uuid::from_u128(2);

fn given() -> Given {
    let intent = |id| CreateIntent {
        id: Some(IntentId(id)),
        prompt: "do".into(),
        parent: None,
    };
    Given::new().command(intent(A)).command(intent(B))
}

fn reserve(object: Uuid, alias: &str) -> ReserveAlias {
    ReserveAlias {
        object,
        alias: alias.into(),
    }
}

#[test]
fn an_alias_is_reserved_in_a_stream_of_its_own() {
    let emitted = given().decide(reserve(A, "add-cache")).unwrap();
    assert_eq!(emitted[0].stream, stream_of("add-cache"));
    let expected = Reserved {
        kind: Kind::Intent.number(),
        object: A,
        alias: crate::Slot(0),
    };
    assert_eq!(events(&emitted), [AnyEvent::Alias(expected.into())]);
    assert_eq!(texts(&emitted), [["add-cache"]]);
}

#[test]
fn an_alias_is_of_one_object_for_ever() {
    let given = given().command(reserve(A, "x"));
    assert_eq!(given.decide(reserve(A, "x")), Ok(vec![]));
    let refusal = given.decide(reserve(B, "x")).unwrap_err();
    assert!(refusal.to_string().contains(&A.to_string()), "{refusal}");
    // Another alias of the same object is another matter.
    assert!(given.decide(reserve(A, "y")).is_ok());
}

#[test]
fn an_alias_does_not_read_like_that_of_another_object() {
    let given = given().command(reserve(A, "nice"));
    for alias in ["Nice", "NICE", "ｎice", "ｎＩce"] {
        let refusal = given.decide(reserve(B, alias)).unwrap_err().to_string();
        assert!(refusal.contains(&A.to_string()), "{refusal}");
        assert!(given.decide(reserve(A, alias)).is_ok());
    }
    for alias in ["ＤＥＡＤＢＥＥＦ", "℅"] {
        let refusal = given.decide(reserve(B, alias)).unwrap_err().to_string();
        assert!(refusal.contains("cannot be an alias"), "{refusal}");
    }
    // What reads like no other one may be in any letters.
    assert!(given.decide(reserve(B, "PROJ-123")).is_ok());
}

#[test]
fn an_alias_names_an_object_that_is_there() {
    let refusal = given().decide(reserve(Uuid::from_u128(9), "x"));
    assert!(matches!(refusal, Err(Refusal::Unknown { .. })));
}

#[test]
fn what_could_be_taken_for_an_id_or_a_path_is_not_an_alias() {
    for good in ["a", "feature_x.v2", "認証", "deadbee", "dead-beef-x"] {
        assert!(check(good).is_ok(), "{good}");
    }
    let long = "x".repeat(MAX_LENGTH + 1);
    for bad in [
        "",
        "a b",
        "a/b",
        "a\\b",
        "a\n",
        "deadbeef",
        "DEAD-BEEF-0",
        "a\u{200b}",
        "\u{202e}a",
        &long,
    ] {
        assert!(check(bad).is_err(), "{bad}");
    }
}

//! The catalogue's rows, byte for byte.

use annals_domain::run::{ToolDecider, ToolVerdict};
use annals_domain::{Kind, StreamKind, StreamRef};
use bytes::Bytes;
use uuid::Uuid;

use crate::Text;
use crate::catalogue::keys;
use crate::catalogue::layer::read_object;
use crate::catalogue::row::{Counts, LabelMap, ObjectRow};
use crate::catalogue::{Relation, Status};

#[test]
fn rows_are_what_the_table_says() {
    let half = |bytes| hex::encode(annals_event_log::Digest::of(bytes).0)[..32].to_owned();
    let id: Uuid = "0198c0de-0000-7000-8000-0000000000af".parse().unwrap();
    let key = keys::object(id);
    assert_eq!(hex::encode(&key), "6ffa0000000000000800070000ed0c8910");
    assert_eq!(keys::object_id(&key), Some(id));
    let other = Uuid::from_u128(5);
    let number = "00000000000000000000000000000005";
    let of_kind = keys::of_kind(Kind::Run, Some(Status::Failed));
    for (key, expected) in [
        (
            keys::listed(&of_kind, 258),
            "6b0e070000000000000102".to_owned(),
        ),
        (
            keys::block(&keys::of_actor(Kind::Run, "ada"), 513),
            "610e00036164610000000000000002".to_owned(),
        ),
        (
            Bytes::copy_from_slice(&keys::backward(other, Relation::RunTask, 9, 1)),
            format!("62{number}0a000000000000000900000001"),
        ),
        (
            keys::forward(other, Relation::TaskRuns, 2),
            format!("66{number}0800000002"),
        ),
        (keys::step(other, 3), format!("73{number}00000003")),
        (
            keys::label_at(LabelMap::Tags, other, 4),
            format!("6c{number}00000004"),
        ),
        (
            keys::label_at(LabelMap::ExternalIds, other, 4),
            format!("78{number}00000004"),
        ),
        (keys::alias(other, 0), format!("6e{number}00000000")),
        (
            keys::run_of_session(other, Uuid::from_u128(6)),
            format!("6d{number}1700000000000000000000000000000006"),
        ),
        (
            keys::node_of_session(other, "a"),
            format!("6d{number}18{}", half(b"a")),
        ),
        (
            keys::work_item(&keys::work_item_mark("ANN-1")),
            format!("77{}", half(b"ANN-1")),
        ),
        (
            keys::work_item_place(258, 3),
            "69000000000000010200000003".to_owned(),
        ),
    ] {
        assert_eq!(hex::encode(&key), expected);
    }
    for (key, expected) in [
        (
            keys::later_of_call(other, 258),
            format!("68{number}0000000000000102"),
        ),
        (
            keys::listed(&keys::decided(ToolVerdict::Deny, ToolDecider::Person), 258),
            "6402030000000000000102".to_owned(),
        ),
        (keys::decided_in(other), format!("72{number}")),
        (
            keys::listed(&keys::granted(), 258),
            "670000000000000102".to_owned(),
        ),
        (keys::using(other), format!("79{number}")),
    ] {
        assert_eq!(hex::encode(&key), expected);
        assert_eq!(keys::depends(&key), keys::Depends::No);
    }
    for code in ToolVerdict::ALL.iter().map(|verdict| verdict.code()) {
        assert!(code <= u16::from(u8::MAX));
    }
    for code in ToolDecider::ALL.iter().map(|by| by.code()) {
        assert!(code <= u16::from(u8::MAX));
    }
    let tag = hex::encode(keys::of_label(
        LabelMap::Tags,
        Kind::Task,
        "team",
        Some("a"),
    ));
    assert_eq!(tag, format!("740f{}", half(b"team\0a")));
    let run = StreamRef {
        kind: StreamKind::Run,
        id: other,
    };
    let row = ObjectRow {
        first: 7,
        last: 300,
        events: 2,
        status: Some(Status::Ok),
        title: Some(Text::from("bash")),
        actor_id: "ada".to_owned(),
        counts: Counts::None,
        ..ObjectRow::new(Kind::ToolInvocation, id, run)
    };
    let bytes = annals_wire::encode_row(&row).unwrap();
    assert_eq!(hex::encode(&bytes), GOLDEN_ROW);
    assert_eq!(read_object(&key, &bytes).unwrap(), row);
    let session = StreamRef {
        kind: StreamKind::Session,
        id,
    };
    let session = ObjectRow {
        first: 7,
        last: 300,
        events: 2,
        status: Some(Status::NeedsApproval),
        counts: Counts::Session {
            commands: 1,
            accepted: 2,
            rejected: 3,
            throttled: 4,
            completed: 5,
            failed: 6,
            runs: 7,
            tasks: 8,
        },
        ..ObjectRow::new(Kind::Session, id, session)
    };
    let bytes = annals_wire::encode_row(&session).unwrap();
    assert_eq!(hex::encode(&bytes), GOLDEN_SESSION);
    assert_eq!(read_object(&key, &bytes).unwrap(), session);
    for damaged in [&bytes[..5], &[], &[9; 40]] {
        let error = read_object(&key, damaged).unwrap_err();
        assert!(error.to_string().contains("annals log rebuild"), "{error}");
    }
}

/// A tool invocation. Another shape needs another name of the model
/// (generation.rs).
const GOLDEN_ROW: &str = "0111100000000000000000000000000000000507fb2c0102000000000003000361646101\
    0f0001010462617368000000000000000000";

/// A session.
const GOLDEN_SESSION: &str = "0140100198c0de0000700080000000000000af07fb2c01020000000000030000011400\
    000000000006010203040506070800000000";

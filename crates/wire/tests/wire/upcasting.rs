//! The chain of upcasters, proven on an event with three versions: what was
//! written in the first one reads as the third.

use annals_domain::{EventSet, Touched};
use annals_wire::upcast::{Step, Upcaster, Upcasters};
use annals_wire::{DecodeError, decode_event, encode_event};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::support::from_hex;

/// `meter.read` as its first version wrote it: 7 litres at the second 1000.
/// Committed once; it is never edited.
const METER_READ_V1: &str = "01 07 fb e8 03";

/// The same in the second version: millilitres instead of litres.
const METER_READ_V2: &str = "01 fb 58 1b fb e8 03";

/// And in the third: it names the meter, which the first two never knew.
const METER_READ_V3: &str = "01 fb 58 1b fb e8 03 00";

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct MeterReadV1 {
    litres: u32,
    at_seconds: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct MeterReadV2 {
    millilitres: u64,
    at_seconds: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct MeterRead {
    millilitres: u64,
    at_seconds: u32,
    meter: Option<String>,
}

fn to_v2(old: MeterReadV1) -> MeterReadV2 {
    MeterReadV2 {
        millilitres: u64::from(old.litres) * 1_000,
        at_seconds: old.at_seconds,
    }
}

fn to_v3(old: MeterReadV2) -> MeterRead {
    MeterRead {
        millilitres: old.millilitres,
        at_seconds: old.at_seconds,
        meter: None,
    }
}

#[derive(Debug, PartialEq)]
enum Event {
    MeterRead(MeterRead),
}

impl EventSet for Event {
    const TYPES: &'static [(&'static str, u16)] = &[("meter.read", 3)];

    fn event_type(&self) -> &'static str {
        "meter.read"
    }

    fn schema_version(&self) -> u16 {
        3
    }

    fn serialize_structure<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Event::MeterRead(event) = self;
        event.serialize(serializer)
    }

    fn deserialize_structure<'de, D: Deserializer<'de>>(
        event_type: &str,
        deserializer: D,
    ) -> Option<Result<Event, D::Error>> {
        (event_type == "meter.read")
            .then(|| MeterRead::deserialize(deserializer).map(Event::MeterRead))
    }

    fn touches(&self, _: Uuid) -> Touched {
        Touched::new()
    }
}

fn first_step() -> Box<dyn Upcaster> {
    Box::new(Step::new("meter.read", 1, to_v2))
}

fn second_step() -> Box<dyn Upcaster> {
    Box::new(Step::new("meter.read", 2, to_v3))
}

fn both() -> Upcasters {
    // The order in which steps are listed does not matter.
    Upcasters::new(vec![second_step(), first_step()])
}

fn decode(upcasters: &Upcasters, version: u16, hex: &str) -> Result<Event, DecodeError> {
    decode_event(upcasters, "meter.read", version, &from_hex(hex))
}

fn expected() -> Event {
    Event::MeterRead(MeterRead {
        millilitres: 7_000,
        at_seconds: 1_000,
        meter: None,
    })
}

#[test]
fn every_version_reads_as_the_current_one() {
    for (version, golden) in [(1, METER_READ_V1), (2, METER_READ_V2), (3, METER_READ_V3)] {
        let read = decode(&both(), version, golden).expect("it is decoded");
        assert_eq!(read, expected(), "version {version}");
    }
    assert_eq!(
        encode_event(&expected()).expect("it is encoded"),
        from_hex(METER_READ_V3)
    );
}

#[test]
fn an_older_version_is_not_read_as_the_current_one() {
    assert!(matches!(
        decode(&both(), 3, METER_READ_V1),
        Err(DecodeError::Malformed { .. })
    ));
    assert!(matches!(
        decode(&both(), 1, METER_READ_V3),
        Err(DecodeError::TrailingBytes { left: 1, .. } | DecodeError::Malformed { .. })
    ));
}

#[test]
fn a_missing_step_is_named() {
    let check = |steps: Vec<Box<dyn Upcaster>>, version, golden, at: u16| {
        let error = decode(&Upcasters::new(steps), version, golden).unwrap_err();
        assert!(
            matches!(error, DecodeError::UnknownVersion { found, known: 3, .. } if found == at),
            "{error}"
        );
    };
    check(vec![], 1, METER_READ_V1, 1);
    check(vec![first_step()], 1, METER_READ_V1, 2);
    check(vec![second_step()], 1, METER_READ_V1, 1);
    check(vec![first_step(), second_step()], 0, METER_READ_V1, 0);
}

#[test]
fn a_newer_version_is_refused() {
    let error = decode(&both(), 4, METER_READ_V3).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::NewerVersion {
                found: 4,
                known: 3,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn damage_in_an_old_version_is_noticed() {
    let error = decode(&both(), 1, "01 07 fb e8").unwrap_err();
    assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
    let error = decode(&both(), 1, "01 07 fb e8 03 00").unwrap_err();
    assert!(
        matches!(error, DecodeError::TrailingBytes { left: 1, .. }),
        "{error}"
    );
    let error = decode(&both(), 1, "02 07 fb e8 03").unwrap_err();
    assert!(
        matches!(error, DecodeError::UnknownFormat { found: 2, .. }),
        "{error}"
    );
}

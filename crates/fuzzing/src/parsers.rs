//! Parsers that take bytes as they are.

use annals::proof::{Checkpoint, Proof, PublicKey, SigningKey};
use annals_dialects::contracts::{Object, Style};
use annals_dialects::secrets::Secrets;
use annals_domain::StreamKind;
use annals_event_log::Record;
use bytes::Bytes;

/// A record: what is read is written as it was, and its structure is an event or is refused.
pub(crate) fn record(data: &[u8]) {
    let Ok(record) = Record::decode(Bytes::copy_from_slice(data)) else {
        return;
    };
    assert_eq!(record.as_bytes().as_ref(), data);
    let _ = record.verify();
    let _ = annals_wire::decode(&record);
    for number in 0..record.content().len().min(4) {
        if let Ok(number) = u16::try_from(number) {
            let without = record
                .without(&[number])
                .expect("a piece that is there can go");
            assert_eq!(without.header_bytes(), record.header_bytes());
        }
    }
}

/// The structure of an event: a byte for the stream's kind, a version, a type's name and its bytes.
pub(crate) fn wire(data: &[u8]) {
    let Some(([kind, version, length], rest)) = data.split_first_chunk::<3>() else {
        return;
    };
    let kinds = StreamKind::ALL;
    let Some(kind) = kinds.get(usize::from(*kind) % kinds.len()) else {
        return;
    };
    let Some((name, structure)) = rest.split_at_checked(usize::from(*length)) else {
        return;
    };
    let Ok(name) = std::str::from_utf8(name) else {
        return;
    };
    let decoded = annals_wire::decode_structure(*kind, name, u16::from(*version), structure);
    let Ok(event) = decoded else {
        return;
    };
    let written = annals_wire::encode_structure(&event).expect("an event that was read");
    let again =
        annals_wire::decode_structure(*kind, event.event_type(), event.schema_version(), &written);
    // Bytes are compared, since NaN does not equal itself.
    let again = annals_wire::encode_structure(&again.expect("what was written"));
    assert_eq!(again.expect("an event that was read"), written);
}

/// A chunk of the embedded store.
pub(crate) fn chunk(data: &[u8]) {
    annals_store_rocks::fuzzing::chunk(data);
}

/// The file WATERMARK.
pub(crate) fn watermark(data: &[u8]) {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("WATERMARK"), data).expect("a file");
    annals_store_rocks::fuzzing::watermark(home.path());
}

/// A line of `apply`.
pub(crate) fn apply_line(data: &[u8]) {
    annals_cli::fuzzing::apply_line(data);
}

/// A table of prices. What it takes can be used.
pub(crate) fn prices(data: &[u8]) {
    use annals::projections::{PriceTable, TokenSums};

    let Ok(table) = PriceTable::parse(&String::from_utf8_lossy(data)) else {
        return;
    };
    let tokens = TokenSums {
        uncached_input_tokens: u128::MAX,
        cache_write_tokens: 1,
        cache_write_1h_tokens: 2,
        ..TokenSums::default()
    };
    for model in table.models() {
        let price = table.price(model, table.as_of());
        let _ = price.map(|price| price.cost(&tokens));
    }
}

/// A policy file.
pub(crate) fn policy(data: &[u8]) {
    annals_cli::fuzzing::policy(data);
}

/// A proof file: what is read is written so that it is read again.
pub(crate) fn proof(data: &[u8]) {
    if let Ok(proof) = Proof::read(data) {
        let written = proof.to_json().expect("a proof that was read");
        assert_eq!(Proof::read(&written).expect("what was written"), proof);
    }
}

/// A checkpoint: a signed note, which is written as it was read. Where it has no signature, the empty
/// line behind the text may be missing, and is written.
pub(crate) fn note(data: &[u8]) {
    if let Ok(checkpoint) = Checkpoint::read(data) {
        let written = checkpoint.to_bytes();
        let with_line = [data, b"\n"].concat();
        assert!(written == data || (checkpoint.signers().is_empty() && written == with_line));
        let again = Checkpoint::read(&written).expect("what was written");
        assert_eq!(again.to_bytes(), written);
    }
}

/// Keys, private and public.
pub(crate) fn key(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(key) = SigningKey::read(text) {
        let again = SigningKey::read(key.to_text()).expect("a key that was read");
        assert_eq!(again.public_key(), key.public_key());
    }
    if let Ok(keys) = PublicKey::read_all(text) {
        for key in keys {
            assert_eq!(
                PublicKey::read(key.to_text()).expect("a key that was read"),
                key
            );
        }
    }
}

/// Secrets in a text and in JSON: what is taken out is out, lines stay, JSON stays JSON.
pub(crate) fn secrets(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let secrets = Secrets::standard();
    let plain = secrets.redact(text);
    assert_eq!(
        plain.content.matches('\n').count(),
        text.matches('\n').count()
    );
    assert_eq!(
        secrets.redact(&plain.content).content,
        plain.content,
        "twice is once"
    );
    let json = secrets.redact_json(text);
    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        let read = serde_json::from_str::<serde::de::IgnoredAny>(&json.content);
        read.unwrap_or_else(|error| panic!("it was JSON: {error}"));
        assert_eq!(
            secrets.redact_json(&json.content).content,
            json.content,
            "twice is once"
        );
    }
}

/// An object of the contracts: what is read is written so that it is read again as the same.
pub(crate) fn contract(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(parsed) = Object::read(text) else {
        return;
    };
    let Ok(written) = parsed.value.write(Style::Compact) else {
        return;
    };
    let again = Object::read(&written).expect("what was written");
    assert_eq!(again.value.write(Style::Compact).ok(), Some(written));
}

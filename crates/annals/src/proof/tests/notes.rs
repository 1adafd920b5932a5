//! Checkpoints and keys: what others write, what witnesses add, what is damaged.

use annals_event_log::{Digest, tree};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::executor::block_on;
use signed_note::{Note, StandardVerifier, Verifier as _, VerifierList};

use super::support::log_of;
use crate::proof::{Checkpoint, CheckpointError, KeyError, PublicKey, Signer, SigningKey};

fn checkpoint() -> Checkpoint {
    block_on(log_of(14).proofs().checkpoint(None)).unwrap()
}

#[test]
fn keys_survive_their_files() {
    // Many, for the base64 of some has a plus sign.
    for _ in 0..40 {
        let key = SigningKey::generate("example.org/log").unwrap();
        let read = SigningKey::read(&format!("{}\n", key.to_text())).unwrap();
        assert_eq!(read.public_key(), key.public_key());
        assert_eq!(read.to_text(), key.to_text());
    }
    let key = SigningKey::generate("example.org/log").unwrap();
    let public = PublicKey::read(key.public_key().to_text()).unwrap();
    assert_eq!(public, key.public_key());
    assert_eq!(public.name(), "example.org/log");
    assert!(!format!("{key:?}").contains("PRIVATE"), "{key:?}");
    let other = SigningKey::generate("example.org/log").unwrap();
    assert_ne!(other.public_key(), key.public_key());
    let both = format!("{}\n\n{}\n", public.to_text(), other.public_key().to_text());
    assert_eq!(PublicKey::read_all(&both).unwrap().len(), 2);
}

#[test]
fn the_published_key_is_read() {
    // The example of the signed-note specification.
    let private = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
    let public = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    let key = SigningKey::read(private).unwrap();
    assert_eq!(key.to_text(), private);
    assert_eq!(key.public_key().to_text(), public);
}

#[test]
fn what_is_no_key_is_refused() {
    let key = SigningKey::generate("a").unwrap();
    for name in ["", "a b", "a+b", "a\u{1}b", "a\nb", &"x".repeat(201)] {
        assert!(matches!(
            SigningKey::generate(name),
            Err(KeyError::Name { .. })
        ));
    }
    let private = key.to_text().to_owned();
    let public = key.public_key().to_text().to_owned();
    assert!(matches!(PublicKey::read(&private), Err(KeyError::Private)));
    assert!(SigningKey::read(&public).is_err());
    for text in [&private, &public] {
        for end in 0..text.len() {
            assert!(SigningKey::read(&text[..end]).is_err(), "{end}");
            assert!(PublicKey::read(&text[..end]).is_err(), "{end}");
        }
    }
    assert!(PublicKey::read_all("\n \n").is_err());
}

/// Two keys of different owners with the same name and number.
const SAME_NUMBER: [&str; 2] = [
    "PRIVATE+KEY+log+19a2b775+AY3tEF/D4c1hSeeRQbMLMgEbsl4+ZN6Nc67wfB9HSxIf",
    "PRIVATE+KEY+log+19a2b775+Abv/kFhTfNCjJI8tItta0D/Q7WDol1pG0e8BT+qWV2dR",
];

#[test]
fn one_signature_does_not_count_for_two_keys() {
    let [key, other] = SAME_NUMBER.map(|text| SigningKey::read(text).unwrap());
    let (public, other) = (key.public_key(), other.public_key());
    assert_ne!(public, other);
    assert_eq!(Signer::from(&public), Signer::from(&other));
    let mut checkpoint = checkpoint();
    checkpoint.sign(&key).unwrap();
    let refused = Err(CheckpointError::SameNumber {
        key: Signer::from(&public),
    });
    assert_eq!(
        checkpoint.verify(&[public.clone(), other.clone()]),
        refused.clone()
    );
    assert_eq!(checkpoint.verify(&[other.clone(), public.clone()]), refused);
    assert!(checkpoint.verify(&[other]).is_err());
    // The same key twice is one key, also where it is written in another way.
    let upper = public.to_text().replacen("19a2b775", "19A2B775", 1);
    let twice = [public.clone(), PublicKey::read(&upper).unwrap()];
    assert_eq!(twice[0], twice[1]);
    assert_eq!(checkpoint.verify(&twice).unwrap().checked.len(), 1);
}

#[test]
fn keys_that_everybody_can_sign_for_are_refused() {
    // All points of small order: those with a y of 0, of 1 and of -1, the latter two with
    // another sign or as y + p, and the four of order 8.
    let mut weak = Vec::new();
    for number in [0, 1, 2] {
        let mut y = [0xff; 32];
        (y[0], y[31]) = (0xec + number, 0x7f);
        weak.push(y);
    }
    weak.push([0; 32]);
    let mut one = [0; 32];
    one[0] = 1;
    weak.push(one);
    for eighth in [
        "JuiVj8KyJ7BFw/SJ8u+Y8NXfrAXTxjM5sTgCiG1T/AU=",
        "xxdqcD1N2E+6PAt2DRBnDyogU/osOczGTsf9d5KsA3o=",
    ] {
        weak.push(BASE64_STANDARD.decode(eighth).unwrap().try_into().unwrap());
    }
    // It says nothing and is the key's signature of every eighth text.
    let mut nothing = [0; 64];
    nothing[0] = 1;
    for mut key in weak {
        for sign in [0, 0x80] {
            key[31] = (key[31] & 0x7f) | sign;
            let bytes = [&[1], &key[..]].concat();
            let id = signed_note::key_id("weak", &bytes);
            let line = format!("weak+{id:08x}+{}", BASE64_STANDARD.encode(bytes));
            let verifier = StandardVerifier::new(&line).unwrap();
            let signs = |n: &u32| verifier.verify(&n.to_be_bytes(), &nothing);
            assert!((0..1_000).any(|n| signs(&n)), "the control: {line}");
            let read = PublicKey::read(&line);
            assert!(matches!(read, Err(KeyError::Weak { .. })), "{line}");
        }
    }
}

#[test]
fn a_checkpoint_is_a_note_that_others_read() {
    let key = SigningKey::generate("example.org/log").unwrap();
    let mut checkpoint = checkpoint();
    checkpoint.sign(&key).unwrap();
    let note = Note::from_bytes(&checkpoint.to_bytes()).unwrap();
    let verifier = StandardVerifier::new(key.public_key().to_text()).unwrap();
    let known = VerifierList::new(vec![Box::new(verifier)]);
    let (verified, unknown) = note.verify(&known).unwrap();
    assert_eq!((verified.len(), unknown.len()), (1, 0));
    let read = tlog_tiles::Checkpoint::from_bytes(note.text()).unwrap();
    assert_eq!(read.size(), 14);
    assert_eq!(read.origin(), checkpoint.head().origin);
    assert_eq!(Digest(read.hash().0), checkpoint.head().root);
    assert!(checkpoint.head().origin.starts_with("annals/0000"));
}

#[test]
fn an_empty_log_has_a_checkpoint() {
    let checkpoint = block_on(log_of(0).proofs().checkpoint(None)).unwrap();
    assert_eq!(checkpoint.head().size, 0);
    assert_eq!(checkpoint.head().root, tree::empty());
    let read = Checkpoint::read(&checkpoint.to_bytes()).unwrap();
    assert_eq!(read, checkpoint);
    block_on(log_of(0).proofs().check(read.head())).unwrap();
    block_on(log_of(3).proofs().check(read.head())).unwrap();
}

#[test]
fn witnesses_add_to_what_is_there() {
    let keys = ["log", "witness", "other"].map(|name| SigningKey::generate(name).unwrap());
    let mut checkpoint = checkpoint();
    checkpoint.sign(&keys[0]).unwrap();
    // A signature of a kind that this program does not know, and a line that others added.
    let mut note = checkpoint.to_bytes();
    let unknown = "\u{2014} elsewhere AAAAAQQFBgcICQ==\n";
    note.extend(unknown.as_bytes());
    let mut read = Checkpoint::read(&note).unwrap();
    assert_eq!(read.to_bytes(), note);
    read.sign(&keys[1]).unwrap();
    let signed = Checkpoint::read(&read.to_bytes()).unwrap();
    assert!(
        signed.to_bytes().starts_with(&note),
        "all that was there is there"
    );
    assert!(signed.says_the_same(&checkpoint));
    let publics = keys.each_ref().map(SigningKey::public_key);
    let signatures = signed.verify(&publics[..2]).unwrap();
    assert_eq!(signatures.checked.len(), 2);
    assert_eq!(signatures.unknown[0].name, "elsewhere");
    // No requested signature may be missing.
    let missing = signed.verify(&publics);
    let key = Signer::from(&publics[2]);
    assert_eq!(missing, Err(CheckpointError::NotSigned { key }));
    // Signing again replaces the own signature.
    read.sign(&keys[0]).unwrap();
    assert_eq!(read.signers().len(), 3);
    read.verify(&publics[..2]).unwrap();
    let no_keys = signed.verify(&[]).unwrap();
    assert_eq!((no_keys.checked.len(), no_keys.unknown.len()), (0, 3));
}

#[test]
fn there_is_room_for_a_hundred_signatures() {
    let mut checkpoint = checkpoint();
    let key = SigningKey::generate("one").unwrap();
    let sign = |checkpoint: &mut Checkpoint| {
        let key = SigningKey::generate("key").unwrap();
        checkpoint.sign(&key)
    };
    (0..99).for_each(|_| sign(&mut checkpoint).unwrap());
    checkpoint.sign(&key).unwrap();
    Checkpoint::read(&checkpoint.to_bytes()).unwrap();
    assert_eq!(sign(&mut checkpoint), Err(CheckpointError::Full));
    checkpoint.sign(&key).unwrap();
}

#[test]
fn no_byte_of_what_is_signed_can_change() {
    let key = SigningKey::generate("log").unwrap();
    let mut checkpoint = checkpoint();
    checkpoint.sign(&key).unwrap();
    let note = checkpoint.to_bytes();
    let keys = [key.public_key()];
    for at in 0..note.len() {
        for bit in 0..8 {
            let mut damaged = note.clone();
            damaged[at] ^= 1 << bit;
            let relied_on = Checkpoint::read(&damaged).is_ok_and(|it| it.verify(&keys).is_ok());
            assert!(!relied_on, "byte {at}, bit {bit}");
        }
    }
    for end in 0..note.len() {
        let relied_on = Checkpoint::read(&note[..end]).is_ok_and(|it| it.verify(&keys).is_ok());
        assert!(!relied_on, "the first {end} bytes");
    }
    let mut replaced = note;
    let at = replaced.iter().position(|byte| *byte == b'4').unwrap();
    replaced[at] = b'5';
    assert!(matches!(
        Checkpoint::read(&replaced).unwrap().verify(&keys),
        Err(CheckpointError::WrongSignature { .. })
    ));
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let root = "nND/nri/U0xuHUrYSy0HtMeal2vzD9V4k/BO79C+QeI=";
    let good = format!("annals/x\n14\n{root}\n");
    let head = Checkpoint::read(good.as_bytes()).unwrap().head().clone();
    assert_eq!((head.size, head.origin.as_str()), (14, "annals/x"));
    let others = format!("{good}a line of others\n\n");
    Checkpoint::read(others.as_bytes()).unwrap();
    let huge = "x".repeat(2_000_000);
    for bad in [
        "",
        "\n",
        "\n\n",
        "\n\n\n",
        "annals/x\n14\n",
        &format!("annals/x\n14\n{root}"),
        &format!("\n14\n{root}\n"),
        &format!("annals/x\n014\n{root}\n"),
        &format!("annals/x\n-1\n{root}\n"),
        &format!("annals/x\n9223372036854775808\n{root}\n"),
        &format!("annals/x\n18446744073709551616\n{root}\n"),
        "annals/x\n14\nAAAA\n",
        &format!("annals/x\r\n14\r\n{root}\r\n"),
        &format!("{good}\nno signature\n"),
        &format!("{good}\n\u{2014} a b\n"),
        &format!("{good}\n\u{2014} a AAAA\n"),
        &format!("{good}\n\u{2014} a\n\n"),
        &huge,
    ] {
        let read = Checkpoint::read(bad.as_bytes());
        assert!(
            matches!(read, Err(CheckpointError::NotACheckpoint { .. })),
            "{:?}",
            &bad[..bad.len().min(80)]
        );
    }
    assert!(Checkpoint::read(&[0xff; 100]).is_err());
    let largest = format!("annals/x\n9223372036854775807\n{root}\n");
    let largest = Checkpoint::read(largest.as_bytes()).unwrap();
    assert!(block_on(log_of(2).proofs().check(largest.head())).is_err());
}

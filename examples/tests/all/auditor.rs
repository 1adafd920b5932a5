//! What the auditor says of proofs that hold, and of those that do not.

use std::fs;
use std::path::{Path, PathBuf};

use annals::blocking::Wait;
use annals::domain::{ActorRef, Kind};
use annals::proof::{Checkpoint, Detail, Proof, SigningKey, TreeHead};
use annals::{Annals, ObjectRef};

use crate::run;

/// The three files that an auditor has, and no log.
struct Files {
    folder: tempfile::TempDir,
    checkpoint: Checkpoint,
    key: SigningKey,
}

impl Files {
    fn new() -> Files {
        let folder = tempfile::tempdir().unwrap();
        let annals = Annals::open("memory:").wait().unwrap();
        let ada = ActorRef::human("ada");
        let intent = annals.by(&ada).submit("Add a cache").wait().unwrap();
        annals
            .by(&ada)
            .analyze(intent, "Of \u{1b}[2J views")
            .wait()
            .unwrap();
        annals.by(&ada).submit("Something else").wait().unwrap();
        let key = SigningKey::generate("example.org/log").unwrap();
        let mut checkpoint = annals.proofs().checkpoint(None).wait().unwrap();
        checkpoint.sign(&key).unwrap();
        let object = ObjectRef {
            kind: Kind::Intent,
            id: intent.0,
        };
        let proof = annals
            .proofs()
            .object(object, checkpoint.head(), Detail::Records)
            .wait()
            .unwrap();
        let files = Files {
            folder,
            checkpoint,
            key,
        };
        files.write("checkpoint", &files.checkpoint.to_bytes());
        files.write("proof", &proof.to_json().unwrap());
        files.write("keys", files.key.public_key().to_text().as_bytes());
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn audit(&self) -> (bool, String) {
        let path = |name: &str| Path::display(&self.path(name)).to_string();
        let arguments = ["checkpoint", "proof", "keys"].map(path);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run(env!("CARGO_BIN_EXE_auditor"), &arguments)
    }
}

#[test]
fn a_proof_that_holds_is_told_without_the_log() {
    let files = Files::new();
    let (holds, printed) = files.audit();
    assert!(holds, "{printed}");
    let origin = &files.checkpoint.head().origin;
    assert!(printed.starts_with(&format!(
        "the log {origin} of 4 records, signed by example.org/log+"
    )));
    assert!(printed.contains("has these events of intent "), "{printed}");
    let lines: Vec<&str> = printed.lines().skip(2).collect();
    assert_eq!(lines.len(), 3, "{printed}");
    assert!(
        lines[0].contains(r#""ada"  intent.submitted  "#),
        "{printed}"
    );
    assert!(lines[0].contains("Add a cache"), "{printed}");
    assert!(!printed.contains('\u{1b}'), "{printed:?}");
}

#[test]
fn what_was_altered_or_is_not_signed_says_nothing() {
    let files = Files::new();
    let refused = |why: &str| {
        let (holds, printed) = files.audit();
        assert!(!holds && !printed.contains("has these events"), "{printed}");
        assert!(printed.contains(why), "{printed}");
    };
    // One letter of one event.
    let proof = fs::read(files.path("proof")).unwrap();
    let mut altered = Proof::read(&proof).unwrap();
    if let Proof::Inclusion(proof) = &mut altered {
        let mut header = proof.events[0].header.to_vec();
        *header.last_mut().unwrap() ^= 1;
        proof.events[0].header = header.into();
    }
    files.write("proof", &altered.to_json().unwrap());
    refused("do not lead to the root");
    files.write("proof", &proof);

    // A checkpoint of another key, one without a signature, and one of another log.
    let other = SigningKey::generate("example.org/log").unwrap();
    files.write("keys", other.public_key().to_text().as_bytes());
    refused("is not signed by example.org/log");
    files.write("keys", files.key.public_key().to_text().as_bytes());
    let unsigned = Checkpoint::of(files.checkpoint.head().clone());
    files.write("checkpoint", &unsigned.to_bytes());
    refused("is not signed by example.org/log");
    let mut head: TreeHead = files.checkpoint.head().clone();
    head.origin.push('0');
    let mut of_another = Checkpoint::of(head);
    of_another.sign(&files.key).unwrap();
    files.write("checkpoint", &of_another.to_bytes());
    refused("annals/");

    files.write("checkpoint", &files.checkpoint.to_bytes());
    assert!(files.audit().0);
}

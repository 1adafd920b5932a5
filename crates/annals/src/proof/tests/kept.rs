//! Checkpoints in files outside the log.

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::thread;
use std::time::Duration;

use annals_domain::ActorRef;
use annals_event_log::Classified;
use futures::channel::{mpsc, oneshot};
use futures::executor::block_on;
use futures::{StreamExt, join};

use super::support::{log_of, log_with, records};
use crate::Annals;
use crate::proof::write::lock_beside;
use crate::proof::{
    Checkpoint, CheckpointFile, KeepCheckpoints, KeepError, SigningKey, log_around, replace_file,
};

fn kept_size(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap();
    Checkpoint::read(&bytes).unwrap().head().size
}

fn keep(
    path: &Path,
    annals: &Annals,
    size: u64,
    key: Option<&SigningKey>,
) -> Result<(), KeepError> {
    block_on(async {
        let checkpoint = annals.proofs().checkpoint(Some(size)).await.unwrap();
        let file = CheckpointFile::at(path)?;
        file.keep(annals, checkpoint, key).await.map(|_| ())
    })
}

#[test]
fn a_kept_checkpoint_only_moves_forward() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let annals = log_of(9);
    keep(&path, &annals, 4, None).unwrap();
    keep(&path, &annals, 4, None).unwrap();
    keep(&path, &annals, 9, None).unwrap();
    assert!(matches!(
        keep(&path, &annals, 5, None),
        Err(KeepError::Newer {
            kept: 9,
            size: 5,
            ..
        })
    ));
    assert_eq!(kept_size(&path), 9);
    let names = fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(
        names,
        [".checkpoint.lock", "checkpoint"],
        "nothing else is left"
    );
}

#[test]
fn those_who_keep_the_same_file_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let annals = log_of(9);
    keep(&path, &annals, 3, None).unwrap();
    thread::scope(|scope| {
        // Another is about to put a newer one there, and has looked already.
        let other = lock_beside(&path).unwrap();
        let waiting = scope.spawn(|| keep(&path, &annals, 4, None));
        thread::sleep(Duration::from_millis(200));
        assert!(!waiting.is_finished());
        let newer = block_on(annals.proofs().checkpoint(Some(9))).unwrap();
        replace_file(&path, &newer.to_bytes()).unwrap();
        drop(other);
        let refused = waiting.join().unwrap();
        assert!(matches!(
            refused,
            Err(KeepError::Newer {
                kept: 9,
                size: 4,
                ..
            })
        ));
    });
    assert_eq!(kept_size(&path), 9);
}

#[test]
fn those_who_write_the_same_file_do_not_share_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    thread::scope(|scope| {
        for letter in [b'a', b'b', b'c', b'd'] {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..25 {
                    replace_file(path, &[letter; 10_000]).unwrap();
                    let there = fs::read(path).unwrap();
                    assert_eq!(there.len(), 10_000);
                    assert!(there.iter().all(|byte| *byte == there[0]));
                }
            });
        }
    });
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn signatures_are_added_to_those_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let annals = log_of(9);
    let keys = ["log", "one", "two"].map(|name| SigningKey::generate(name).unwrap());
    let signed = |size, keys: &[&SigningKey]| {
        let mut checkpoint = block_on(annals.proofs().checkpoint(Some(size))).unwrap();
        keys.iter().for_each(|key| checkpoint.sign(key).unwrap());
        checkpoint
    };
    let file = CheckpointFile::at(&path).unwrap();
    let first = signed(9, &[&keys[0], &keys[1]]);
    assert_eq!(block_on(file.add(first.clone())).unwrap(), first);
    let added = block_on(file.add(signed(9, &[&keys[0], &keys[2]]))).unwrap();
    assert_eq!(file.read().unwrap(), Some(added.clone()));
    let publics = keys.each_ref().map(SigningKey::public_key);
    assert_eq!(added.verify(&publics).unwrap().checked.len(), 3);
    assert_eq!(added.signers().len(), 3, "each once");
    let before = fs::read(&path).unwrap();
    let refused = block_on(file.add(signed(8, &[&keys[0]])));
    assert!(matches!(refused, Err(KeepError::OtherCheckpoint { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_signed_is_only_replaced_by_what_is_signed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let annals = log_of(9);
    let key = SigningKey::generate("log").unwrap();
    keep(&path, &annals, 4, Some(&key)).unwrap();
    let before = fs::read(&path).unwrap();
    let refused = keep(&path, &annals, 9, None).unwrap_err();
    assert!(matches!(refused, KeepError::Signed { .. }), "{refused}");
    assert!(!refused.is_retryable());
    // It says the same: nothing is lost.
    keep(&path, &annals, 4, None).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    keep(&path, &annals, 9, Some(&key)).unwrap();
    assert_eq!(kept_size(&path), 9);
}

#[test]
fn a_log_that_lost_something_leaves_the_file_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let annals = log_of(9);
    keep(&path, &annals, 9, None).unwrap();
    let before = fs::read(&path).unwrap();
    let shorter = log_with(records(&annals)[..6].to_vec());
    let refused = keep(&path, &shorter, 6, None).unwrap_err();
    assert!(matches!(refused, KeepError::Log { .. }), "{refused}");
    assert!(!refused.is_retryable());
    assert!(refused.to_string().contains("lost its end"), "{refused}");
    // Another log, as long as this one.
    assert!(matches!(
        keep(&path, &log_of(9), 9, None),
        Err(KeepError::Log { .. })
    ));
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::write(&path, "another user's file").unwrap();
    assert!(matches!(
        keep(&path, &annals, 9, None),
        Err(KeepError::Checkpoint { .. })
    ));
    assert_eq!(fs::read(&path).unwrap(), b"another user's file");
}

#[test]
fn with_a_key_the_file_must_be_the_key_s() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let annals = log_of(9);
    let [key, witness] = ["log", "witness"].map(|name| SigningKey::generate(name).unwrap());
    keep(&path, &annals, 3, None).unwrap();
    // An attacker who shortened the log could have put that there.
    assert!(matches!(
        keep(&path, &annals, 9, Some(&key)),
        Err(KeepError::Checkpoint { .. })
    ));
    fs::remove_file(&path).unwrap();
    keep(&path, &annals, 9, Some(&key)).unwrap();
    let mut signed = Checkpoint::read(&fs::read(&path).unwrap()).unwrap();
    signed.sign(&witness).unwrap();
    fs::write(&path, signed.to_bytes()).unwrap();
    // The log has not grown: the witness's signature stays.
    keep(&path, &annals, 9, Some(&key)).unwrap();
    let again = Checkpoint::read(&fs::read(&path).unwrap()).unwrap();
    again
        .verify(&[key.public_key(), witness.public_key()])
        .unwrap();
}

#[test]
fn nothing_is_kept_inside_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let annals = block_on(Annals::open(log.to_str().unwrap())).unwrap();
    block_on(annals.close());
    fs::create_dir(log.join("deeper")).unwrap();
    for name in ["checkpoint", "deeper/checkpoint", "deeper/../checkpoint"] {
        let refused = CheckpointFile::at(&log.join(name)).unwrap_err();
        assert!(matches!(refused, KeepError::InsideLog { .. }), "{refused}");
    }
    std::os::unix::fs::symlink(&log, dir.path().join("link")).unwrap();
    assert!(CheckpointFile::at(&dir.path().join("link/checkpoint")).is_err());
    assert_eq!(log_around(&dir.path().join("checkpoint")).unwrap(), None);
    CheckpointFile::at(&dir.path().join("checkpoint")).unwrap();
    let nowhere = CheckpointFile::at(&dir.path().join("no/checkpoint")).unwrap_err();
    assert!(matches!(nowhere, KeepError::File { .. }));
}

#[test]
fn checkpoints_are_kept_while_the_log_grows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    block_on(async {
        let annals = Annals::open("memory:").await.unwrap();
        let keep = KeepCheckpoints {
            file: CheckpointFile::at(&path).unwrap(),
            records: NonZeroU64::new(3).unwrap(),
            time: Duration::from_secs(3_600),
            key: None,
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (told, mut sizes) = mpsc::unbounded();
        let keeping = annals.proofs().keep_checkpoints(
            &keep,
            async {
                let _ = stopped.await;
            },
            |checkpoint| told.unbounded_send(checkpoint.head().size).unwrap(),
        );
        let working = async {
            let actor = ActorRef::agent("coder");
            assert_eq!(sizes.next().await, Some(0), "one at once");
            for n in 0..3 {
                let text = format!("number {n}");
                annals.by(&actor).submit(text.as_str()).await.unwrap();
            }
            assert_eq!(sizes.next().await, Some(3), "enough have come");
            assert_eq!(kept_size(&path), 3);
            annals.by(&actor).submit("one more").await.unwrap();
            stop.send(()).unwrap();
        };
        let (kept, ()) = join!(keeping, working);
        kept.unwrap();
        assert_eq!(sizes.next().await, Some(4), "a last one");
        assert_eq!(kept_size(&path), 4);
    });
}

#[test]
fn a_checkpoint_is_kept_when_its_time_has_come() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let annals = log_of(2);
    block_on(async {
        let actor = ActorRef::agent("coder");
        let keep = KeepCheckpoints {
            file: CheckpointFile::at(&path).unwrap(),
            records: NonZeroU64::new(1_000).unwrap(),
            time: Duration::from_millis(20),
            key: None,
        };
        let (told, mut sizes) = mpsc::unbounded();
        let keeping =
            annals
                .proofs()
                .keep_checkpoints(&keep, futures::future::pending(), |checkpoint| {
                    told.unbounded_send(checkpoint.head().size).unwrap();
                });
        let working = async {
            assert_eq!(sizes.next().await, Some(2));
            annals.by(&actor).submit("one more").await.unwrap();
            assert_eq!(sizes.next().await, Some(3), "though it is only one");
            annals.close().await;
        };
        let (kept, ()) = join!(keeping, working);
        kept.unwrap();
    });
}

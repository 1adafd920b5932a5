//! Removing content for good.

use bytes::Bytes;
use futures::executor::block_on;

use super::Harness;
use super::support::{all, assert_unchanged, at, batch, event, inline, must_append, whole};
use crate::Classified;
use crate::{
    Append, AppendError, Appended, BatchStatus, Blob, CommitError, Content, Digest, Epoch,
    NewEvent, PiecesOf, Position, RedactError, Redaction, Rows, SUBSCRIPTIONS, Store, limits, tree,
};

const SECRET: &[u8] = b"the secret";

fn with(content: Vec<Content>) -> NewEvent {
    NewEvent {
        content,
        ..event("secret-1")
    }
}

fn large() -> Blob {
    Blob::new(vec![b'x'; limits::INLINE + 1])
}

fn naming(blob: &Blob) -> Content {
    Content::Blob {
        salt: [3; 16],
        digest: blob.digest(),
        size: blob.bytes().len() as u64,
    }
}

fn attaching(blob: &Blob) -> Content {
    Content::Attachment {
        salt: [4; 16],
        digest: blob.digest(),
        size: blob.bytes().len() as u64,
    }
}

/// A redaction of these pieces, with one event that says so.
fn redaction(log: &dyn Store, removed: &[(u64, &[u16])], blobs: &[Digest]) -> Redaction {
    let removed = removed.iter().map(|(position, pieces)| PiecesOf {
        position: Position(*position),
        pieces: pieces.to_vec(),
    });
    Redaction {
        append: batch(vec![with(vec![inline("why")])]),
        removed: removed.collect(),
        blobs: blobs.to_vec(),
        seen: log.watermark(),
    }
}

fn must_redact(log: &dyn Store, redaction: Redaction) -> Appended {
    block_on(log.redact(redaction)).expect("the redaction is accepted")
}

/// A log whose second record has a piece to keep and two to remove, between others.
fn told(harness: &dyn Harness) -> (std::sync::Arc<dyn Store>, Append) {
    let log = harness.open();
    must_append(&*log, batch(vec![with(vec![inline("before")])]));
    let secret = batch(vec![
        with(vec![
            inline("kept"),
            inline(SECRET),
            inline(Bytes::from_static(SECRET)),
        ]),
        with(vec![inline("after")]),
    ]);
    must_append(&*log, secret.clone());
    (log, secret)
}

/// The pieces are gone, and nothing else: headers, root, other pieces, other
/// records stay as they are.
pub fn removed_content_is_gone_and_headers_stay(harness: &dyn Harness) {
    let (log, _) = told(harness);
    let before = all(&*log);
    let root = block_on(tree::root(&*log, 3)).unwrap();
    let appended = must_redact(&*log, redaction(&*log, &[(2, &[1, 2])], &[]));
    assert_eq!((appended.first, appended.last), (Position(4), Position(4)));
    let after = all(&*log);
    assert_eq!(after.len(), 4);
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one.header_bytes(), other.header_bytes());
        assert_eq!(other.verify(), Ok(()));
    }
    assert_eq!((&after[0], &after[2]), (&before[0], &before[2]));
    let (was, is) = (before[1].content(), after[1].content());
    assert_eq!(is[0], was[0], "what was not named stays");
    for number in [1, 2] {
        let salted = was[number].salted_digest();
        assert_eq!(is[number], Content::Removed { salted });
    }
    let there = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|part| part == SECRET);
    assert!(there(before[1].as_bytes()) && !there(after[1].as_bytes()));
    assert_eq!(block_on(tree::root(&*log, 3)).unwrap(), root);
}

/// The same batch again gets the first answer, also where others were made since.
pub fn a_repeated_redaction_is_answered(harness: &dyn Harness) {
    let (log, _) = told(harness);
    let asked = redaction(&*log, &[(2, &[1])], &[]);
    let first = must_redact(&*log, asked.clone());
    let again = Redaction {
        append: batch(vec![with(Vec::new())]),
        ..asked.clone()
    };
    must_redact(&*log, again);
    let before = whole(&*log);
    assert_eq!(must_redact(&*log, asked), first.again());
    assert_unchanged(&*log, &before, "the repeat");
}

/// A refused redaction has removed nothing and appended nothing.
pub fn a_redaction_that_does_not_fit_changes_nothing(harness: &dyn Harness) {
    let (log, _) = told(harness);
    let blob = large();
    let naming_it = with(vec![naming(&blob), attaching(&blob)]);
    must_append(
        &*log,
        Append {
            blobs: vec![blob.clone()],
            ..batch(vec![naming_it])
        },
    );
    let before = whole(&*log);
    let refused = |asked| block_on(log.redact(asked)).expect_err("it does not fit");
    for (position, piece) in [(2, 3), (0, 0), (5, 0), (u64::MAX, 0)] {
        let error = refused(redaction(&*log, &[(1, &[0]), (position, &[piece])], &[]));
        let named = matches!(
            error,
            RedactError::NoPiece { position: at, piece: of } if at.0 == position && of == piece
        );
        // Not ascending, where it is 0.
        let unordered = matches!(error, RedactError::Append(AppendError::Invalid { .. }));
        assert!(named || (position == 0 && unordered), "{error}");
        assert!(!error.is_retryable());
    }
    let kept = refused(redaction(&*log, &[(4, &[1])], &[blob.digest()]));
    let named = matches!(
        kept,
        RedactError::StillNamed { digest, position: Position(4) } if digest == blob.digest()
    );
    assert!(named && kept.is_retryable(), "{kept}");
    let twice = refused(redaction(&*log, &[(2, &[0]), (2, &[1])], &[]));
    assert!(matches!(
        twice,
        RedactError::Append(AppendError::Invalid { .. })
    ));
    let mut naming_it = redaction(&*log, &[(4, &[0, 1])], &[blob.digest()]);
    naming_it.append.events[0].content.push(naming(&blob));
    for blobs in [Vec::new(), vec![blob.clone()]] {
        naming_it.append.blobs = blobs;
        let error = refused(naming_it.clone());
        let invalid = matches!(error, RedactError::Append(AppendError::Invalid { .. }));
        assert!(invalid, "{error}");
    }
    assert_unchanged(&*log, &before, "the refusals");
    assert!(block_on(log.blob(blob.digest())).unwrap().is_some());
}

/// A blob is removed with every piece that refers to it, also those that came after
/// its references were looked for.
pub fn a_blob_goes_with_all_that_name_it(harness: &dyn Harness) {
    let log = harness.open();
    let (blob, other) = (large(), Blob::new(vec![b'y'; limits::INLINE + 1]));
    let first = Append {
        blobs: vec![blob.clone(), other.clone()],
        ..batch(vec![with(vec![naming(&blob), naming(&other)])])
    };
    must_append(&*log, first);
    let asked = redaction(&*log, &[(1, &[0])], &[blob.digest()]);
    must_append(&*log, batch(vec![with(vec![attaching(&blob)])]));
    let late = block_on(log.redact(asked)).expect_err("a record came since");
    assert!(matches!(
        late,
        RedactError::StillNamed {
            position: Position(2),
            ..
        }
    ));
    must_redact(
        &*log,
        redaction(&*log, &[(1, &[0]), (2, &[0])], &[blob.digest()]),
    );
    assert_eq!(block_on(log.blob(blob.digest())).unwrap(), None);
    let kept = block_on(log.blob(other.digest())).unwrap();
    assert_eq!(kept.as_ref(), Some(other.bytes()));
    let stats = block_on(log.stats()).unwrap();
    assert_eq!(
        (stats.blobs, stats.blob_bytes),
        (1, other.bytes().len() as u64)
    );
    let again = batch(vec![with(vec![naming(&blob)])]);
    let unknown = block_on(log.append(again)).expect_err("it is not there");
    assert!(matches!(unknown, AppendError::UnknownBlob { .. }));
}

/// Read models and the digests of requests could tell what was removed.
pub fn what_was_derived_goes_too(harness: &dyn Harness) {
    let (log, secret) = told(harness);
    let rows = vec![(
        Bytes::from_static(b"title"),
        Some(Bytes::from_static(SECRET)),
    )];
    block_on(log.commit("titles", at(0), rows, Position(3))).unwrap();
    let other = must_append(&*log, batch(vec![event("other-1")]));
    let status = |append: &Append, request: &[u8]| block_on(log.batch(append.batch, request));
    assert_eq!(
        status(&secret, b"another request").unwrap(),
        BatchStatus::Mismatch(Appended::new(Position(2), Position(3)).again())
    );
    must_redact(&*log, redaction(&*log, &[(2, &[1])], &[]));
    assert_eq!(block_on(log.get("titles", b"title")).unwrap(), None);
    let checkpoint = block_on(log.checkpoint("titles")).unwrap();
    assert_eq!(checkpoint.position, Position::START);
    assert_eq!(
        status(&secret, &secret.request).unwrap(),
        BatchStatus::Unverifiable(Appended::new(Position(2), Position(3)).again())
    );
    let end = log.watermark();
    let repeated = block_on(log.append(secret));
    assert!(
        matches!(repeated, Err(AppendError::RequestUnverifiable { .. })),
        "{repeated:?}"
    );
    assert_eq!(log.watermark(), end);
    assert_eq!(other.first, Position(4));
}

/// Where subscribers are is not made of content: they go on from there, and what was read before it is not taken.
pub fn subscriptions_go_on_after_a_redaction(harness: &dyn Harness) {
    let (log, _) = told(harness);
    let row = |position: &'static [u8]| (Bytes::from("mailer"), Some(Bytes::from_static(position)));
    let commit = |log: &dyn Store, expected, position: &'static [u8], at| {
        block_on(log.commit(SUBSCRIPTIONS, expected, vec![row(position)], Position(at)))
    };
    for other in [
        "a",
        "subscription",
        "subscriptions.1",
        "subscriptionsz",
        "z",
    ] {
        let rows = vec![row(b"0")];
        block_on(log.commit(other, at(0), rows, Position(1))).unwrap();
    }
    commit(&*log, at(0), b"2", 2).unwrap();
    let before = block_on(log.checkpoint(SUBSCRIPTIONS)).unwrap();
    must_redact(&*log, redaction(&*log, &[(2, &[1, 2])], &[]));
    let check = |log: &dyn Store| {
        let now = block_on(log.checkpoint(SUBSCRIPTIONS)).unwrap();
        assert_eq!(now.position, Position(2));
        let kept = block_on(log.scan(SUBSCRIPTIONS, b"", None, 9)).unwrap();
        assert_eq!(kept, [(Bytes::from("mailer"), Bytes::from("2"))]);
        for other in [
            "a",
            "subscription",
            "subscriptions.1",
            "subscriptionsz",
            "z",
        ] {
            assert_eq!(block_on(log.scan(other, b"", None, 9)).unwrap(), []);
            let now = block_on(log.checkpoint(other)).unwrap();
            assert_eq!(now.position, Position::START);
        }
        let refused = commit(log, before, b"3", 3);
        assert!(
            matches!(refused, Err(CommitError::Epoch { .. })),
            "{refused:?}"
        );
        now
    };
    check(&*log);
    let log = harness.reopen(log);
    let now = check(&*log);
    commit(&*log, now, b"3", 3).unwrap();
}

/// Rows are folded from content that was read some time before they are committed: if it was
/// removed meanwhile, they must not bring it back, also where they expect a model to be new.
pub fn rows_folded_before_a_redaction_are_refused(harness: &dyn Harness) {
    let (log, _) = told(harness);
    let few: Rows = vec![(Bytes::from("title"), Some(Bytes::from_static(SECRET)))];
    // So many that a store may write them in another way.
    let row = |n: u32| (Bytes::copy_from_slice(&n.to_be_bytes()), few[0].1.clone());
    let many: Rows = (0..30_000).map(row).collect();
    let checkpoint = |log: &dyn Store, model| block_on(log.checkpoint(model)).unwrap();
    let commit = |log: &dyn Store, model, expected, rows: &Rows| {
        block_on(log.commit(model, expected, rows.clone(), Position(3)))
    };
    commit(&*log, "older", at(0), &few).unwrap();
    let before = ["new", "older", "empty"].map(|model| (model, checkpoint(&*log, model)));
    assert_eq!(before.map(|(_, at)| at.position.0), [0, 3, 0]);
    must_redact(&*log, redaction(&*log, &[(2, &[1, 2])], &[]));
    let refuse_all = |log: &dyn Store| {
        for (model, expected) in before {
            for rows in [&few, &many, &Vec::new()] {
                let refused = commit(log, model, expected, rows).expect_err("content was removed");
                assert!(refused.is_retryable(), "{refused}");
                match refused {
                    CommitError::Epoch {
                        model: named,
                        expected,
                        actual,
                    } => {
                        assert_eq!(named, model);
                        assert!(expected == Epoch::NONE && actual > expected, "{actual}");
                    }
                    other => panic!("{model}: {other}"),
                }
                assert_eq!(block_on(log.scan(model, b"", None, 9)).unwrap(), []);
                assert_eq!(checkpoint(log, model).position, Position::START);
            }
        }
    };
    refuse_all(&*log);
    let log = harness.reopen(log);
    refuse_all(&*log);
    // What is folded from now on is taken, until content is removed again.
    let now = checkpoint(&*log, "new");
    commit(&*log, "new", now, &Vec::new()).unwrap();
    commit(&*log, "new", now.at(Position(3)), &many).unwrap();
    let now = checkpoint(&*log, "empty");
    must_redact(&*log, redaction(&*log, &[(3, &[0])], &[]));
    let refused = commit(&*log, "empty", now, &few);
    assert!(
        matches!(refused, Err(CommitError::Epoch { .. })),
        "{refused:?}"
    );
    let newest = checkpoint(&*log, "empty");
    assert!(newest.epoch > now.epoch);
    // A redaction that is refused, or repeated, removes nothing more.
    let asked = redaction(&*log, &[(1, &[0])], &[]);
    must_redact(&*log, asked.clone());
    let newest = checkpoint(&*log, "empty");
    must_redact(&*log, asked);
    block_on(log.redact(redaction(&*log, &[(1, &[9])], &[]))).expect_err("no such piece");
    commit(&*log, "empty", newest, &few).unwrap();
}

/// What was removed stays removed, and writing goes on.
pub fn a_redaction_lasts(harness: &dyn Harness) {
    let (log, _) = told(harness);
    must_redact(&*log, redaction(&*log, &[(1, &[0]), (3, &[0])], &[]));
    let before = whole(&*log);
    let log = harness.reopen(log);
    assert_unchanged(&*log, &before, "reopening");
    must_redact(&*log, redaction(&*log, &[(1, &[0]), (2, &[0])], &[]));
    must_append(&*log, batch(vec![event("secret-1")]));
    let removed = |record: &crate::Record| {
        let content = record.content();
        matches!(content.first(), Some(Content::Removed { .. }))
    };
    let removed: Vec<bool> = all(&*log).iter().map(removed).collect();
    assert_eq!(removed, [true, true, true, false, false, false]);
}

/// A copy of a redacted log is the same log.
pub fn a_redacted_log_is_copied(harness: &dyn Harness) {
    let (log, _) = told(harness);
    must_redact(&*log, redaction(&*log, &[(2, &[1, 2])], &[]));
    let copy = harness.open();
    block_on(copy.append_records(all(&*log), Vec::new())).unwrap();
    assert_eq!(all(&*copy), all(&*log));
    let root = |log: &dyn Store| block_on(tree::root(log, 4)).unwrap();
    assert_eq!(root(&*copy), root(&*log));
}

/// Ids that follow from a text would give it away to who tries texts.
pub fn a_redaction_gives_the_log_another_secret(harness: &dyn Harness) {
    let (log, _) = told(harness);
    let secret = |log: &dyn Store| block_on(log.id_secret()).expect("it is read");
    let first = secret(&*log).expect("a new log has one");
    must_append(&*log, batch(vec![event("secret-1")]));
    assert_eq!(secret(&*log), Some(first.clone()), "an append leaves it");
    let redaction = redaction(&*log, &[(1, &[0])], &[]);
    must_redact(&*log, redaction.clone());
    let second = secret(&*log).expect("it has one");
    assert_ne!(first, second);
    must_redact(&*log, redaction);
    assert_eq!(
        secret(&*log),
        Some(second.clone()),
        "a repeat changes nothing"
    );
    let log = harness.reopen(log);
    assert_eq!(secret(&*log), Some(second));
}

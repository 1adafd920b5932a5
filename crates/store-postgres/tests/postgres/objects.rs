//! Content in a folder instead of the database.

use std::fs;
use std::path::Path;
use std::time::Duration;

use annals_event_log::Classified;
use annals_event_log::{
    AppendError, Blob, Blobs, ErrorClass, EventLog, Expectation, Expected, PiecesOf, Position,
    Redaction,
};
use annals_store_postgres::{Access, OpenError, PostgresLog, Settings};
use futures::executor::block_on;

use crate::support::{DATABASE, batch, bringing, removing, server, settings};

/// The conformance cases that are about content.
mod conformance {
    use annals_event_log::conformance::{blobs, content, copy, redaction};

    use crate::support::Postgres;

    fn logs() -> (tempfile::TempDir, Postgres) {
        let home = tempfile::tempdir().unwrap();
        let logs = Postgres::with_blobs_in(home.path());
        (home, logs)
    }

    macro_rules! cases {
        ($($subject:ident::$case:ident,)+) => {
            $(
                #[test]
                fn $case() {
                    let (_home, logs) = logs();
                    $subject::$case(&logs);
                }
            )+
        };
    }

    cases! {
        blobs::a_blob_is_stored_once,
        blobs::a_blob_of_any_size,
        blobs::an_unknown_blob_is_refused,
        blobs::a_false_size_is_refused,
        blobs::a_false_size_is_not_copied,
        blobs::a_refused_append_leaves_no_blob,
        content::every_size_is_read_back,
        content::a_blob_of_another_length_is_refused,
        copy::a_copy_is_identical,
        copy::a_copy_needs_its_blobs,
        redaction::a_blob_goes_with_all_that_name_it,
        redaction::a_redaction_that_does_not_fit_changes_nothing,
    }
}

/// The files of a log's objects.
fn files(home: &Path, log: &PostgresLog) -> usize {
    let folder = home.join(log.log_id().to_string());
    fs::read_dir(folder).map_or(0, |entries| entries.count())
}

fn in_folder(home: &Path) -> Option<Settings> {
    let more = format!("&blobs={}", home.display());
    Some(settings(server()?, DATABASE, &more))
}

#[test]
fn content_is_in_the_folder_and_goes_with_a_redaction() {
    let home = tempfile::tempdir().unwrap();
    let Some(settings) = in_folder(home.path()) else {
        return;
    };
    let log = PostgresLog::create(&settings).unwrap();
    let (kept, gone) = (Blob::new(vec![1; 5_000]), Blob::new(vec![2; 5_000]));
    for blob in [&kept, &gone] {
        block_on(log.append(bringing(blob))).unwrap();
        block_on(log.append(bringing(blob))).unwrap();
    }
    assert_eq!(files(home.path(), &log), 2, "each once");
    // What was refused leaves nothing.
    let mut refused = bringing(&Blob::new(vec![3; 5_000]));
    let stream = refused.events[0].stream.clone();
    refused.expectations = vec![Expectation {
        stream,
        expected: Expected::NoStream,
    }];
    let answer = block_on(log.append(refused));
    assert!(
        matches!(answer, Err(AppendError::Conflict { .. })),
        "{answer:?}"
    );
    block_on(log.append(batch("a-1", 1))).unwrap();
    assert_eq!(files(home.path(), &log), 2);
    let removed = [3, 4].map(|position| PiecesOf {
        position: Position(position),
        pieces: vec![0],
    });
    let redaction = Redaction {
        append: batch("a-1", 1),
        removed: removed.to_vec(),
        blobs: vec![gone.digest()],
        seen: log.watermark(),
    };
    block_on(log.redact(redaction)).unwrap();
    assert_eq!(
        files(home.path(), &log),
        1,
        "it is gone when the redaction is answered"
    );
    assert_eq!(block_on(log.blob(gone.digest())).unwrap(), None);
    // The same content may come again.
    block_on(log.append(bringing(&gone))).unwrap();
    assert_eq!(
        block_on(log.blob(gone.digest())).unwrap().as_ref(),
        Some(gone.bytes())
    );
}

/// A process that does not name the place says so, and what was altered or is missing there is found.
#[test]
fn content_that_is_not_what_it_was_is_not_given_out() {
    let home = tempfile::tempdir().unwrap();
    let Some(settings) = in_folder(home.path()) else {
        return;
    };
    let log = PostgresLog::create(&settings).unwrap();
    let blob = Blob::new(vec![1; 5_000]);
    let nowhere = settings.clone().with_objects(None);
    let without = PostgresLog::open(&nowhere).unwrap();
    block_on(log.append(bringing(&blob))).unwrap();
    // Who could not show what it appends does not begin to.
    let error = PostgresLog::open(&nowhere).unwrap_err();
    assert_eq!(error.code(), "no_object_store", "{error}");
    PostgresLog::open(&nowhere.with_access(Access::ReadOnly)).unwrap();
    let error = block_on(without.blob(blob.digest())).expect_err("it is not in the database");
    assert!(error.to_string().contains("blobs=FOLDER"), "{error}");
    // Nor does it remove what it cannot reach.
    let redaction = removing(&without, Position(1), &blob);
    let error = block_on(without.redact(redaction)).expect_err("its object would stay");
    assert!(error.to_string().contains("blobs=FOLDER"), "{error}");
    // It still appends; what it brings is in the database, and found by both.
    let other = Blob::new(vec![2; 5_000]);
    block_on(without.append(bringing(&other))).unwrap();
    assert_eq!(
        block_on(log.blob(other.digest())).unwrap().as_ref(),
        Some(other.bytes())
    );
    let folder = home.path().join(log.log_id().to_string());
    let file = fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::write(&file, "something else").unwrap();
    let error = block_on(log.blob(blob.digest())).expect_err("it was altered");
    assert_eq!(error.class(), ErrorClass::Corrupt, "{error}");
    fs::remove_file(&file).unwrap();
    let error = block_on(log.blob(blob.digest())).expect_err("it is gone");
    assert_eq!(error.class(), ErrorClass::Corrupt, "{error}");
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let error = Settings::from_url("postgres://localhost/a?blobs=%2Fno%2Fsuch%2Ffolder")
        .expect_err("it is not there");
    assert!(matches!(error, OpenError::InvalidUrl { .. }), "{error}");
}

/// It is made, and not answered before the content is gone, too: a repeat removes it.
#[test]
fn a_redaction_whose_content_cannot_be_removed_is_completed_by_a_repeat() {
    let home = tempfile::tempdir().unwrap();
    let Some(settings) = in_folder(home.path()) else {
        return;
    };
    let settings = settings.with_patience(Duration::from_secs(1));
    let log = PostgresLog::create(&settings).unwrap();
    let gone = Blob::new(vec![2; 5_000]);
    block_on(log.append(bringing(&gone))).unwrap();
    let folder = home.path().join(log.log_id().to_string());
    let object = fs::read_dir(folder).unwrap().next().unwrap();
    let (object, aside) = (object.unwrap().path(), home.path().join("aside"));
    // A folder is not removed as a file.
    fs::rename(&object, &aside).unwrap();
    fs::create_dir(&object).unwrap();
    let redaction = removing(&log, Position(1), &gone);
    let error = block_on(log.redact(redaction.clone())).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
    assert_eq!(block_on(log.blob(gone.digest())).unwrap(), None);
    // Nobody is told that there is nothing left to remove.
    let error = block_on(log.confirm()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
    fs::remove_dir(&object).unwrap();
    fs::rename(&aside, &object).unwrap();
    block_on(log.redact(redaction)).unwrap();
    assert!(!object.exists());
    assert_eq!(log.watermark(), Position(2), "it is made once");
}

/// A place that is none is noticed when the log is opened, not by the first large append.
#[test]
fn a_file_is_no_place_for_content() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let url = format!("postgres://u@127.0.0.1/x?blobs={}", file.path().display());
    let error = Settings::from_url(&url).unwrap_err();
    assert!(error.to_string().contains("it is not a folder"), "{error}");
}

/// As where a file system is not mounted any more, or another one is in its place.
#[test]
fn content_goes_to_no_other_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("blobs");
    fs::create_dir(&folder).unwrap();
    let Some(settings) = in_folder(&folder) else {
        return;
    };
    let settings = settings.with_patience(Duration::from_millis(1));
    let log = PostgresLog::create(&settings).unwrap();
    let content = |n: u8| bringing(&Blob::new(vec![n; 5_000]));
    block_on(log.append(content(1))).unwrap();
    let aside = home.path().join("aside");
    fs::rename(&folder, &aside).unwrap();
    for is_made in [false, true] {
        if is_made {
            fs::create_dir(&folder).unwrap();
        }
        let error = block_on(log.append(content(2))).unwrap_err();
        assert!(error.to_string().contains("not there any more"), "{error}");
        assert!(!folder.join(log.log_id().to_string()).exists());
        // What needs no content goes on.
        block_on(log.append(batch("a-1", 1))).unwrap();
    }
    let error = PostgresLog::open(&settings).unwrap_err();
    assert_eq!(error.code(), "object_store_failed", "{error}");
    let read_only = settings.clone().with_access(Access::ReadOnly);
    PostgresLog::open(&read_only).expect("it may show the rest");
    fs::remove_dir(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    block_on(log.append(content(2))).unwrap();
    block_on(PostgresLog::open(&settings).unwrap().append(content(3))).unwrap();
}

/// Whoever may append may also put names on the list of what is to be removed.
#[test]
fn names_that_no_object_has_keep_nothing_from_being_removed() {
    let home = tempfile::tempdir().unwrap();
    let Some(settings) = in_folder(home.path()) else {
        return;
    };
    let log = PostgresLog::create(&settings).unwrap();
    let gone = Blob::new(vec![2; 5_000]);
    block_on(log.append(bringing(&gone))).unwrap();
    let forged = format!(
        "INSERT INTO annals.removed_objects SELECT log, '!' || repeat('x', 300) || n
            FROM annals.logs, generate_series(1, 1500) AS n WHERE log_id = '{}';
        INSERT INTO annals.removed_objects SELECT log, '' FROM annals.logs WHERE log_id = '{0}'",
        log.log_id()
    );
    server().unwrap().sql(DATABASE, &forged).unwrap();
    block_on(log.redact(removing(&log, Position(1), &gone))).unwrap();
    assert_eq!(files(home.path(), &log), 0);
}

//! What a spool keeps, and of whom.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;

use super::*;

fn place() -> (tempfile::TempDir, Spool) {
    let place = tempfile::tempdir().unwrap();
    let spool = Spool::of(place.path().join("log").to_str().unwrap()).unwrap();
    (place, spool)
}

fn hook(number: u128) -> Hook {
    let received = chrono::DateTime::from_timestamp_millis(1_795_000_000_000).unwrap();
    let named = (Uuid::from_u128(number), Timestamp::from(received));
    let bytes = br#"{"session_id":"s","hook_event_name":"Stop"}"#.to_vec();
    Hook::new(HookAgent::Claude, named, bytes, 0, &Secrets::standard())
}

/// What is kept comes back, also with 5,000 that wait, and is no other event than it was.
#[test]
fn what_is_kept_comes_back() {
    let (_place, spool) = place();
    for number in 0..5_000 {
        let name = file_name(&hook(number));
        spool.make().unwrap();
        fs::write(spool.path().join(name), kept(&hook(number)).unwrap()).unwrap();
    }
    spool.put(&hook(5_000)).unwrap();
    let waiting = spool.waiting().unwrap();
    assert_eq!(waiting.len(), 5_001);
    let last = spool.read(&waiting[5_000], &Secrets::standard()).unwrap();
    assert_eq!(last, Some(hook(5_000)));
    assert_eq!(spool.state().unwrap().waiting, 5_001);
}

/// A file that no hook keeps is not read whole, though what is in it could be.
#[test]
fn a_file_larger_than_any_event_is_put_aside() {
    let (_place, spool) = place();
    spool.make().unwrap();
    let mut bytes = kept(&hook(1)).unwrap();
    bytes.resize(usize::try_from(MOST_OF_ONE).unwrap() + 1, b' ');
    fs::write(spool.path().join(file_name(&hook(1))), bytes).unwrap();
    let waiting = spool.waiting().unwrap();
    let read = spool.read(&waiting[0], &Secrets::standard()).unwrap();
    assert_eq!(read, None);
    let state = spool.state().unwrap();
    assert_eq!((state.waiting, state.bad), (0, 1));
}

/// The largest that a hook can be is not too large for it.
#[test]
fn the_largest_event_comes_back() {
    let (_place, spool) = place();
    let received = chrono::DateTime::from_timestamp_millis(1_795_000_000_000).unwrap();
    let named = (Uuid::from_u128(1), Timestamp::from(received));
    let bytes = vec![1; LARGEST];
    let hook = Hook::new(HookAgent::Claude, named, bytes, 0, &Secrets::standard());
    spool.put(&hook).unwrap();
    let waiting = spool.waiting().unwrap();
    let read = spool.read(&waiting[0], &Secrets::standard()).unwrap();
    assert_eq!(read, Some(hook));
}

/// The bounds hold, whatever is known of them, and what was taken in makes room.
#[test]
fn a_full_spool_says_so_until_something_is_taken_in() {
    let (_place, spool) = place();
    spool.make().unwrap();
    for number in 0..BOUNDS.0 - 1 {
        let name = format!("{number:014}-0192f0c1-0000-7000-8000-000000000000-9f31c2d4.hook");
        File::create(spool.path().join(name)).unwrap();
    }
    spool.put(&hook(1)).unwrap();
    for _ in 0..2 {
        let full = spool.put(&hook(2)).unwrap_err();
        assert!(
            matches!(full, SpoolError::Full { count: 20_000, .. }),
            "{full}"
        );
    }
    assert_eq!(spool.state().unwrap().lost, 2);
    let first = spool.waiting().unwrap().remove(0);
    spool.remove(&first).unwrap();
    spool.put(&hook(2)).unwrap();
}

/// What a killed hook left unfinished goes a day later, and nothing else.
#[test]
fn what_was_never_finished_goes() {
    let (_place, spool) = place();
    spool.put(&hook(1)).unwrap();
    let name = file_name(&hook(2));
    for other in [
        format!(".{name}.new"),
        "notes.new".to_owned(),
        ".new".to_owned(),
    ] {
        fs::write(spool.path().join(other), "{").unwrap();
    }
    let names = || {
        let entries = fs::read_dir(spool.path()).unwrap();
        entries.count()
    };
    let begun = UNIX_EPOCH + Duration::from_millis(1_795_000_000_000);
    let all = names();
    for now in [UNIX_EPOCH, begun, begun + UNFINISHED] {
        spool.sweep(now).unwrap();
        assert_eq!(names(), all);
    }
    spool
        .sweep(begun + UNFINISHED + Duration::from_secs(1))
        .unwrap();
    assert_eq!(names(), all - 1);
    assert_eq!(spool.waiting().unwrap().len(), 1);
}

/// A folder that others could read or have put there is not used, nor is what a link leads to.
#[test]
fn only_an_own_folder_is_used() {
    let is_refused = |spool: &Spool| {
        let refused = spool.put(&hook(1)).unwrap_err();
        assert!(matches!(refused, SpoolError::NotOwn { .. }), "{refused}");
        assert!(spool.waiting().is_err() && spool.state().is_err());
        assert!(crate::Bell::hang(spool).is_err());
    };
    let (room, spool) = place();
    let elsewhere = room.path().join("elsewhere");
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&elsewhere)
        .unwrap();
    std::os::unix::fs::symlink(&elsewhere, spool.path()).unwrap();
    is_refused(&spool);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    let (_place, spool) = place();
    fs::write(spool.path(), "a file").unwrap();
    is_refused(&spool);

    let (_place, spool) = place();
    spool.make().unwrap();
    fs::set_permissions(spool.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let forged = spool.path().join("01795000000000-x-00000000.hook");
    fs::write(&forged, "{}").unwrap();
    if let Err(error) = std::os::unix::fs::chown(&forged, Some(12_345), None) {
        eprintln!("NOT RUN: only root gives files to others: {error}");
        return;
    }
    is_refused(&spool);
    assert_eq!(mode_of(spool.path()), 0o777, "it is left as it was");
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A copy or a `chmod` takes the mode: events are not lost for that.
#[test]
fn an_own_folder_gets_its_mode_again() {
    for mode in [0o755, 0o750, 0o777, 0o500] {
        let (_place, spool) = place();
        spool.put(&hook(1)).unwrap();
        fs::set_permissions(spool.path(), fs::Permissions::from_mode(mode)).unwrap();
        spool.put(&hook(2)).unwrap();
        assert_eq!(spool.waiting().unwrap().len(), 2, "{mode:o}");
        assert_eq!(mode_of(spool.path()), 0o700, "{mode:o}");
        assert_eq!(spool.state().unwrap().lost, 0);
    }
}

/// Folders of before are searched whatever their mode, and those that cannot be are named.
#[test]
fn former_folders_that_cannot_be_used_are_named() {
    let room = tempfile::tempdir().unwrap();
    let home = room.path().canonicalize().unwrap();
    let log = home.join("log");
    fs::create_dir(&log).unwrap();
    for link in ["first", "second"] {
        std::os::unix::fs::symlink(&log, home.join(link)).unwrap();
    }
    let spool = Spool::of(log.to_str().unwrap()).unwrap();
    let first = Spool::of(home.join("other").to_str().unwrap()).unwrap();
    first.put(&hook(1)).unwrap();
    fs::rename(first.path(), home.join("first.spool")).unwrap();
    fs::set_permissions(home.join("first.spool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(home.join("second.spool"), "a file").unwrap();
    let refused = spool.unusable();
    let named: Vec<_> = refused.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(named, [home.join("second.spool")]);
    assert_eq!(mode_of(&home.join("first.spool")), 0o700);
    let elsewhere = spool.elsewhere().unwrap();
    assert_eq!(elsewhere, [(home.join("first.spool"), 1)]);
}

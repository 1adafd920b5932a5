//! Power cuts, seen with ordinary file operations.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use annals_testkit::fault_fs::{Cut, FaultFs};
use annals_testkit::process::assert_within;

use super::{EIO, ESTALE, errno, mounted, sync_dir, synced_file};

#[test]
fn what_was_synced_survives_and_the_rest_does_not() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("file");
    let mut file = synced_file(&path, b"synced");
    assert!(fs.is_synced(&path), "{:?}", fs.unsynced());
    assert!(fs.is_synced(fs.path()) && fs.unsynced().is_empty());
    file.write_all(b" and not").unwrap();
    fs::write(fs.path().join("other"), b"x").unwrap();
    assert!(!fs.is_synced("file".as_ref()) && !fs.is_synced(fs.path()));
    assert!(!fs.is_synced("absent".as_ref()));
    let unsynced: Vec<String> = fs.unsynced().iter().map(ToString::to_string).collect();
    assert_eq!(
        unsynced,
        [
            "file: 1 unsynced changes, 0 pages forgotten",
            "other: 1 unsynced changes, 0 pages forgotten",
            "other: unsynced: create other",
        ]
    );

    fs.power_off();
    let report = fs.power_on(&Cut::DropAll);
    assert_eq!(fs::read(&path).unwrap(), b"synced");
    assert!(!fs.path().join("other").exists());
    assert!(fs.unsynced().is_empty());
    assert_eq!(
        report.to_string(),
        "power cut DropAll\n  file: all lost (of 1 unsynced changes), 14 bytes before, 6 after\n  \
         lost: create other\n"
    );
}

#[test]
fn everything_may_survive() {
    let Some(fs) = mounted() else { return };
    fs::create_dir(fs.path().join("a")).unwrap();
    fs::write(fs.path().join("a/x"), [7; 10_000]).unwrap();
    fs::hard_link(fs.path().join("a/x"), fs.path().join("y")).unwrap();
    fs::set_permissions(fs.path().join("a/x"), fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("a/x", fs.path().join("link")).unwrap();
    let times =
        || ["", "a", "y"].map(|path| fs.path().join(path).metadata().unwrap().modified().unwrap());
    let before = times();
    let report = fs.power_on(&Cut::KeepAll);
    assert_eq!(times(), before);
    assert!(
        report.entries_lost.is_empty() && report.entries_kept.len() == 4,
        "{report}"
    );
    assert_eq!(fs::read(fs.path().join("link")).unwrap(), [7; 10_000]);
    let (one, other) = (
        fs.path().join("a/x").metadata().unwrap(),
        fs.path().join("y").metadata().unwrap(),
    );
    assert_eq!(
        (one.ino(), one.nlink(), one.mode() & 0o777),
        (other.ino(), 2, 0o600)
    );
    assert!(fs.unsynced().is_empty());
    // What is unsynced again is lost with the next cut, and only that.
    fs::remove_file(fs.path().join("y")).unwrap();
    assert!(
        fs.power_on(&Cut::KeepAll)
            .to_string()
            .contains("kept: unlink y")
    );
    assert!(fs.power_on(&Cut::DropAll).is_empty());
    assert_eq!(fs.path().join("a/x").metadata().unwrap().nlink(), 1);
}

#[test]
fn without_power_nothing_answers_and_nothing_changes() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("file");
    let mut file = synced_file(&path, b"content");
    assert!(fs.is_powered());
    fs.power_off();
    assert!(!fs.is_powered() && fs.wait_for_power_off(Duration::ZERO));
    assert_eq!(errno(fs::read(&path)), EIO);
    assert_eq!(errno(file.write_all(b"x")), EIO);
    assert_eq!(errno(file.sync_all()), EIO);
    assert_eq!(errno(file.set_len(0)), EIO);
    assert_eq!(errno(file.metadata()), EIO);
    assert_eq!(errno(File::create(fs.path().join("new"))), EIO);
    assert_eq!(errno(fs::remove_file(&path)), EIO);
    assert_eq!(errno(fs::rename(&path, fs.path().join("b"))), EIO);
    assert_eq!(errno(fs.path().metadata()), EIO);
    assert_eq!(errno(fs.path().read_dir()), EIO);
    assert!(fs.power_on(&Cut::KeepAll).is_empty());
    assert_eq!(fs::read(&path).unwrap(), b"content");
}

#[test]
fn what_was_open_before_is_stale() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("file");
    fs::create_dir(fs.path().join("folder")).unwrap();
    let mut file = synced_file(&path, b"content");
    let (root, folder) = (
        File::open(fs.path()).unwrap(),
        File::open(fs.path().join("folder")).unwrap(),
    );
    let listing = fs.path().read_dir().unwrap();
    fs.power_on(&Cut::KeepAll);

    assert_eq!(errno(file.read(&mut [0])), ESTALE);
    assert_eq!(errno(file.write_all(b"stale")), ESTALE);
    assert_eq!(errno(file.set_len(0)), ESTALE);
    assert_eq!(errno(file.sync_data()), ESTALE);
    assert_eq!(errno(root.sync_all()), ESTALE);
    assert_eq!(errno(folder.sync_all()), ESTALE);
    assert!(listing.last().unwrap().is_err());
    assert_eq!(fs::read(&path).unwrap(), b"content");
    assert_eq!(fs.path().read_dir().unwrap().count(), 2);
}

/// The kernel keeps names and attributes, also of what is absent, unless the answer forbids it.
#[test]
fn the_kernel_remembers_nothing() {
    let Some(fs) = mounted() else { return };
    let [kept, lost, gone] = ["kept", "lost", "gone"].map(|name| fs.path().join(name));
    synced_file(&kept, b"12345");
    synced_file(&gone, b"gone and back");
    for _ in 0..3 {
        assert!(!lost.exists());
        fs::write(&lost, b"lost").unwrap();
        OpenOptions::new()
            .append(true)
            .open(&kept)
            .unwrap()
            .write_all(b"67")
            .unwrap();
        fs::remove_file(&gone).unwrap();
        let seen = [&kept, &lost, &gone].map(|path| path.metadata().ok().map(|it| it.len()));
        assert_eq!(seen, [Some(7), Some(4), None]);
        fs.power_on(&Cut::DropAll);
        let seen = [&kept, &lost, &gone].map(|path| path.metadata().ok().map(|it| it.len()));
        assert_eq!(seen, [Some(5), None, Some(13)]);
        let read = [&kept, &lost, &gone].map(|path| fs::read(path).ok());
        assert_eq!(
            read,
            [
                Some(b"12345".to_vec()),
                None,
                Some(b"gone and back".to_vec())
            ]
        );
    }
}

#[test]
fn a_rename_between_directories_is_synced_with_either() {
    for synced in ["a", "b"] {
        let Some(fs) = mounted() else { return };
        for folder in ["a", "b"] {
            fs::create_dir(fs.path().join(folder)).unwrap();
        }
        sync_dir(fs.path()).unwrap();
        synced_file(&fs.path().join("a/x"), b"moved");
        fs::rename(fs.path().join("a/x"), fs.path().join("b/x")).unwrap();
        fs::write(fs.path().join("b/other"), b"").unwrap();
        sync_dir(&fs.path().join(synced)).unwrap();
        fs.power_on(&Cut::DropAll);
        assert_eq!(fs::read(fs.path().join("b/x")).unwrap(), b"moved");
        assert!(!fs.path().join("a/x").exists());
        assert_eq!(fs.path().join("b/other").exists(), synced == "b");
    }
}

#[test]
fn a_seed_repeats_a_cut_and_seeds_differ() {
    let Some(fs) = mounted() else { return };
    let mut seen = Vec::new();
    for seed in (0..40).chain(0..40) {
        let folder = fs.path().join("log");
        fs::create_dir(&folder).unwrap();
        sync_dir(fs.path()).unwrap();
        let mut file = synced_file(&folder.join("wal"), &[1; 5_000]);
        for byte in 2..20 {
            file.write_all(&[byte; 1_500]).unwrap();
        }
        file.seek(std::io::SeekFrom::Start(0)).unwrap();
        file.write_all(&[99; 10]).unwrap();
        fs::rename(folder.join("wal"), folder.join("renamed")).unwrap();
        fs::write(folder.join("new"), [5; 9_000]).unwrap();
        drop(file);
        fs.power_on(&Cut::Random { seed });
        let mut left: Vec<_> = folder
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        left.sort();
        seen.push(left);
        fs::remove_dir_all(&folder).unwrap();
    }
    let (first, again) = seen.split_at(40);
    assert!(first == again, "the same seeds left something else");
    let different: std::collections::HashSet<_> = first.iter().collect();
    assert!(different.len() > 20, "{} of 40 differ", different.len());
}

/// What `O_DSYNC` and `O_SYNC` write is durable without another call.
#[test]
fn synchronous_writes_are_durable() {
    use std::os::unix::fs::OpenOptionsExt;
    let Some(fs) = mounted() else { return };
    for (name, flag) in [("dsync", 0o10000), ("sync", 0o4010000)] {
        let path = fs.path().join(name);
        synced_file(&path, b"");
        let mut file = OpenOptions::new()
            .append(true)
            .custom_flags(flag)
            .open(&path)
            .unwrap();
        file.write_all(b"at once").unwrap();
        fs.power_on(&Cut::DropAll);
        assert_eq!(fs::read(&path).unwrap(), b"at once", "{name}");
    }
}

#[test]
fn it_is_mounted_quickly_and_unmounted_in_any_case() {
    let folder = tempfile::tempdir().unwrap();
    let Some(fs) = FaultFs::mount_in_test(folder.path()) else {
        return;
    };
    drop(fs);
    let mount = || FaultFs::mount(folder.path()).unwrap();
    let quickest = (0..10)
        .map(|_| {
            let begin = Instant::now();
            let _fs = mount();
            begin.elapsed()
        })
        .min()
        .unwrap();
    // A user other than root starts fusermount3 for it.
    let is_root = folder.path().metadata().unwrap().uid() == 0;
    let at_most = Duration::from_millis(if is_root { 50 } else { 500 });
    assert_within(quickest, at_most);

    // In use.
    let fs = mount();
    let open = File::create(fs.path().join("open")).unwrap();
    drop(fs);
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    assert!(open.sync_all().is_err());
    // After a panic, and without power.
    let panicked = std::panic::catch_unwind(|| {
        let fs = mount();
        fs.power_off();
        panic!("on purpose, with {fs:?} mounted");
    });
    assert!(panicked.is_err());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    fs::write(folder.path().join("file"), b"").unwrap();
    let refused = FaultFs::mount(folder.path()).unwrap_err().to_string();
    assert!(
        refused.ends_with("expected an empty directory"),
        "{refused}"
    );
}

const CHILD: &str = "FAULT_FS_TEST_MOUNT";

/// The other half of the next test: mounts, and waits to be killed.
#[test]
fn child_mounts_and_waits() {
    let Some(folder) = std::env::var_os(CHILD) else {
        return;
    };
    let fs = FaultFs::mount(folder.as_ref()).unwrap();
    fs::write(fs.path().join("mounted"), b"").unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn it_is_unmounted_when_its_process_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(fs) = FaultFs::mount_in_test(folder.path()) else {
        return;
    };
    drop(fs);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "power::child_mounts_and_waits"])
        .env(CHILD, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let soon = |is_so: &dyn Fn() -> bool| {
        (0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            is_so()
        })
    };
    assert!(soon(&|| folder.path().join("mounted").exists()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(soon(&|| folder
        .path()
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_none())));
}

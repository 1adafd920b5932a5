//! Single operations that fail, lie or never return.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use annals_testkit::fault_fs::{Cut, Effect, Errno, Fault, Hook, Operation, PathPattern, When};

use super::{EIO, ENOSPC, ends_with, errno, fault, mounted, sync_dir, synced_file};

#[test]
fn the_nth_operation_of_a_kind_on_a_path_fails() {
    let Some(fs) = mounted() else { return };
    let (log, other) = (fs.path().join("1.log"), fs.path().join("other"));
    let mut log = synced_file(&log, b"");
    let mut other = synced_file(&other, b"");
    fs.arm(Fault {
        path: ends_with(".log"),
        ..fault(Operation::Write, 2, Effect::Fail(Errno::ENOSPC))
    });
    other.write_all(b"1").unwrap();
    log.write_all(b"1").unwrap();
    other.write_all(b"2").unwrap();
    assert!(fs.fired().is_empty());
    assert_eq!(errno(log.write_all(b"2")), ENOSPC);
    log.write_all(b"3").unwrap();
    assert_eq!(fs::read(fs.path().join("1.log")).unwrap(), b"13");
    assert_eq!(fs::read(fs.path().join("other")).unwrap(), b"12");
    let fired = fs.fired();
    assert_eq!(
        (fired.len(), fired[0].on, fired[0].nth),
        (1, Operation::Write, 2)
    );
}

#[test]
fn every_kind_of_operation_can_fail() {
    let Some(fs) = mounted() else { return };
    let at = |name: &str| fs.path().join(name);
    let file = synced_file(&at("file"), b"content");
    fs::create_dir(at("folder")).unwrap();
    let fails = |on, act: &dyn Fn() -> std::io::Result<()>| {
        fs.arm(fault(on, 1, Effect::Fail(Errno::EIO)));
        assert_eq!(errno(act()), EIO, "{on:?}");
        assert_eq!(fs.fired().last().unwrap().on, on);
        fs.disarm();
    };
    fails(Operation::Create, &|| File::create(at("new")).map(drop));
    fails(Operation::Open, &|| File::open(at("file")).map(drop));
    fails(Operation::Read, &|| {
        (&file).read_to_end(&mut Vec::new()).map(drop)
    });
    fails(Operation::Write, &|| (&file).write_all(b"x"));
    fails(Operation::Truncate, &|| file.set_len(1));
    fails(Operation::Truncate, &|| File::create(at("file")).map(drop));
    fails(Operation::Sync, &|| file.sync_data());
    fails(Operation::SyncDir, &|| sync_dir(fs.path()));
    fails(Operation::Link, &|| fs::hard_link(at("file"), at("link")));
    fails(Operation::Rename, &|| fs::rename(at("file"), at("renamed")));
    fails(Operation::Unlink, &|| fs::remove_file(at("file")));
    fails(Operation::MakeDir, &|| fs::create_dir(at("new")));
    fails(Operation::RemoveDir, &|| fs::remove_dir(at("folder")));
    fails(Operation::List, &|| fs.path().read_dir().map(drop));
    fails(Operation::SetAttributes, &|| {
        fs::set_permissions(
            at("file"),
            std::os::unix::fs::PermissionsExt::from_mode(0o600),
        )
    });
    assert_eq!(
        fs::read(at("file")).unwrap(),
        b"content",
        "what failed changed nothing"
    );
    assert_eq!(fs.path().read_dir().unwrap().count(), 2);
    // The first change after that, of any kind.
    fs.arm(fault(Operation::Change, 2, Effect::Fail(Errno::EIO)));
    fs::read(at("file")).unwrap();
    fs::remove_dir(at("folder")).unwrap();
    assert_eq!(errno(file.sync_all()), EIO);
}

#[test]
fn a_failed_sync_may_forget_what_it_should_have_written() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("wal");
    let mut file = synced_file(&path, b"before");
    file.write_all(b", forgotten").unwrap();
    fs.arm(fault(Operation::Sync, 1, Effect::FailAndForget));
    assert_eq!(errno(file.sync_data()), EIO);
    file.sync_data().unwrap();
    assert!(!fs.is_synced(&path), "the second sync proves nothing");
    assert_eq!(fs::read(&path).unwrap(), b"before, forgotten");
    fs.power_on(&Cut::KeepAll);
    assert_eq!(fs::read(&path).unwrap(), b"before\0\0\0\0\0\0\0\0\0\0\0");
}

#[test]
fn a_sync_may_fail_and_the_next_one_do_its_work() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("wal");
    let mut file = synced_file(&path, b"before");
    file.write_all(b" and after").unwrap();
    fs.arm(fault(Operation::Sync, 1, Effect::Fail(Errno::EIO)));
    assert_eq!(errno(file.sync_data()), EIO);
    file.sync_data().unwrap();
    fs.power_on(&Cut::DropAll);
    assert_eq!(fs::read(&path).unwrap(), b"before and after");
}

#[test]
fn a_sync_may_lie() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("wal");
    let mut file = synced_file(&path, b"before");
    file.write_all(b" and after").unwrap();
    fs.arm(fault(Operation::Sync, 1, Effect::Lie));
    file.sync_data().unwrap();
    assert!(!fs.is_synced(&path));
    fs::rename(&path, fs.path().join("renamed")).unwrap();
    fs.arm(fault(Operation::SyncDir, 1, Effect::Lie));
    sync_dir(fs.path()).unwrap();
    fs.power_on(&Cut::DropAll);
    assert_eq!(fs::read(&path).unwrap(), b"before");
}

#[test]
fn a_write_may_happen_in_part() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("file");
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .unwrap();
    fs.arm(fault(
        Operation::Write,
        1,
        Effect::Partial {
            bytes: 3,
            then: Errno::ENOSPC,
        },
    ));
    assert_eq!(errno(file.write_all(b"abcdef")), ENOSPC);
    assert_eq!(fs::read(&path).unwrap(), b"abc");
    file.write_all(b"def").unwrap();
    fs.arm(fault(
        Operation::Write,
        1,
        Effect::Partial {
            bytes: 0,
            then: Errno::EIO,
        },
    ));
    assert_eq!(errno(file.write(b"ghi")), EIO);
    assert_eq!(fs::read(&path).unwrap(), b"abcdef");
}

#[test]
fn a_disk_may_stay_broken() {
    let Some(fs) = mounted() else { return };
    let file = synced_file(&fs.path().join("file"), b"");
    fs.arm(fault(Operation::Sync, 2, Effect::KeepFailing(Errno::EIO)));
    file.sync_all().unwrap();
    for _ in 0..3 {
        assert_eq!(errno(file.sync_all()), EIO);
    }
    assert_eq!(fs.fired().len(), 1);
    fs.disarm();
    file.sync_all().unwrap();
}

#[test]
fn a_full_disk_is_full() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("file");
    fs.set_capacity(1 << 20);
    let mut file = File::create(&path).unwrap();
    assert_eq!(errno(file.write_all(&vec![1; 3 << 20])), ENOSPC);
    assert_eq!(path.metadata().unwrap().len(), 1 << 20);
    assert_eq!(errno(fs::write(fs.path().join("other"), b"x")), ENOSPC);
    let df = Command::new("df")
        .arg("--output=avail,size")
        .arg(fs.path())
        .output()
        .unwrap();
    let df = String::from_utf8(df.stdout).unwrap();
    assert_eq!(
        df.split_whitespace().skip(2).collect::<Vec<_>>(),
        ["0", "1024"]
    );
    // An open file keeps its space.
    fs::remove_file(&path).unwrap();
    assert_eq!(errno(fs::write(fs.path().join("other"), b"x")), ENOSPC);
    drop(file);
    let freed = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(5)); // the kernel releases it in its time
        fs::write(fs.path().join("other"), b"x").is_ok()
    });
    assert!(freed);
}

#[test]
fn the_power_goes_before_or_after_an_operation() {
    for (when, left) in [(When::Before, "old"), (When::After, "new")] {
        let Some(fs) = mounted() else { return };
        let path = fs.path().join("file");
        synced_file(&path, b"old");
        fs::write(fs.path().join("tmp"), b"new").unwrap();
        File::open(fs.path().join("tmp"))
            .unwrap()
            .sync_all()
            .unwrap();
        fs::rename(fs.path().join("tmp"), &path).unwrap();
        fs.arm(fault(Operation::SyncDir, 1, Effect::PowerOff(when)));
        let root = File::open(fs.path()).unwrap();
        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| fs.wait_for_power_off(Duration::from_secs(120)));
            assert_eq!(errno(root.sync_all()), EIO);
            waiting.join().unwrap()
        });
        assert!(waiting && !fs.is_powered());
        assert_eq!(errno(fs::read(&path)), EIO);
        fs.power_on(&Cut::DropAll);
        assert_eq!(fs::read_to_string(&path).unwrap(), left, "{when:?}");
    }
}

/// A program that appends lines to a file, syncs each, and says so.
fn appender(folder: &Path) -> Child {
    let program = r#"
import os, sys
file = os.open("wal", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
for number in range(1000000):
    os.write(file, b"%d\n" % number)
    os.fdatasync(file)
    print(number, flush=True)
"#;
    Command::new("python3")
        .args(["-c", program])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_program_is_killed_within_a_sync() {
    let Some(fs) = mounted() else { return };
    synced_file(&fs.path().join("wal"), b"");
    let child: Arc<Mutex<Option<Child>>> = Arc::default();
    let within = Arc::clone(&child);
    let hook = Hook::new(move |event| {
        assert_eq!(
            (event.operation, event.path.to_str()),
            (Operation::Sync, Some("wal"))
        );
        while within.lock().unwrap().as_mut().map(Child::kill).is_none() {
            std::thread::yield_now(); // it has not been told yet which program to kill
        }
    });
    fs.arm(fault(Operation::Sync, 10, Effect::Hook(hook)));
    *child.lock().unwrap() = Some(appender(fs.path()));
    let mut said = String::new();
    let mut output = loop {
        if let Some(output) = child
            .lock()
            .unwrap()
            .as_mut()
            .and_then(|it| it.stdout.take())
        {
            break output;
        }
    };
    output.read_to_string(&mut said).unwrap();
    assert!(
        !child
            .lock()
            .unwrap()
            .as_mut()
            .unwrap()
            .wait()
            .unwrap()
            .success()
    );
    // Killed within the tenth sync: it said nine, and the disk has the tenth line.
    assert_eq!(said.lines().count(), 9);
    fs.power_on(&Cut::DropAll);
    let left = fs::read_to_string(fs.path().join("wal")).unwrap();
    assert_eq!(left.lines().count(), 10);
}

#[test]
fn the_power_goes_while_a_program_writes() {
    let Some(fs) = mounted() else { return };
    synced_file(&fs.path().join("wal"), b"");
    // Twenty lines written and synced, one written.
    fs.arm(fault(Operation::Change, 42, Effect::PowerOff(When::Before)));
    let mut child = appender(fs.path());
    assert!(fs.wait_for_power_off(Duration::from_secs(120)));
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(!child.wait().unwrap().success(), "it saw EIO");
    let crashed = fs.snapshot();
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        fs.restore(&crashed);
        assert_eq!(errno(fs::read(fs.path().join("wal"))), EIO);
        let report = fs.power_on(&Cut::Random { seed });
        let left = fs::read_to_string(fs.path().join("wal")).unwrap();
        assert!(
            left.starts_with(&said),
            "an acknowledged line is lost: {report}"
        );
        seen.insert(left.len());
        // What is done after one cut is not there after the next.
        synced_file(&fs.path().join("since"), b"");
    }
    let written = (0..=20)
        .map(|number| number.to_string().len() + 1)
        .sum::<usize>();
    assert_eq!(
        seen,
        (said.len()..=written).collect(),
        "the last line was not synced"
    );
    assert_eq!(said.lines().count(), 20);
}

#[test]
fn other_operations_go_on_within_a_hook() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("slow");
    let slow = synced_file(&path, b"");
    let (entered, at) = mpsc::channel();
    let (go, wait) = mpsc::channel();
    let wait = Mutex::new(wait);
    let hook = Hook::new(move |event| {
        assert_eq!(
            (event.operation, event.path.to_str()),
            (Operation::Sync, Some("slow"))
        );
        entered.send(event.thread).unwrap();
        wait.lock().unwrap().recv().unwrap();
    });
    fs.arm(Fault {
        on: Operation::Sync,
        path: Some(PathPattern::Contains("low".into())),
        nth: 1,
        then: Effect::Hook(hook),
    });
    std::thread::scope(|scope| {
        scope.spawn(|| slow.sync_all().unwrap());
        assert_ne!(at.recv().unwrap(), 0);
        synced_file(&fs.path().join("other"), b"meanwhile")
            .sync_all()
            .unwrap();
        go.send(()).unwrap();
    });
    assert_eq!(fs.fired().len(), 1);
}

#[test]
fn a_hook_may_cut_the_power_or_panic() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("file");
    let mut file = synced_file(&path, b"synced");
    let cut_power = Hook::new(|event| event.power_off());
    fs.arm(fault(Operation::Write, 1, Effect::Hook(cut_power)));
    assert_eq!(errno(file.write_all(b" and not")), EIO);
    assert!(!fs.is_powered());
    assert!(
        fs.power_on(&Cut::KeepAll).is_empty(),
        "the write was not done"
    );
    fs.arm(fault(
        Operation::Sync,
        1,
        Effect::Hook(Hook::new(|_| panic!("on purpose"))),
    ));
    let file = File::open(&path).unwrap();
    assert_eq!(errno(file.sync_all()), EIO);
    file.sync_all().unwrap();
}

#[test]
fn a_hook_may_keep_an_operation_from_being_done() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("file");
    let file = synced_file(&path, b"synced");
    let fails = Hook::new(|event| event.fail(Errno::EIO));
    fs.arm(fault(Operation::Sync, 1, Effect::Hook(fails)));
    fs::write(&path, b"and more").unwrap();
    assert_eq!(errno(file.sync_all()), EIO);
    assert!(fs.is_powered());
    assert!(!fs.is_synced(Path::new("file")), "the sync was not done");
    file.sync_all().unwrap();
    assert!(fs.is_synced(Path::new("file")));
}

#[test]
fn a_hook_that_was_called_is_let_go() {
    let Some(fs) = mounted() else { return };
    let file = synced_file(&fs.path().join("file"), b"");
    let owned = Arc::new(());
    let inner = Arc::clone(&owned);
    let hook = Hook::new(move |_| assert_eq!(Arc::strong_count(&inner), 2));
    fs.arm(fault(Operation::Sync, 1, Effect::Hook(hook)));
    file.sync_all().unwrap();
    assert_eq!((fs.fired().len(), Arc::strong_count(&owned)), (1, 1));
}

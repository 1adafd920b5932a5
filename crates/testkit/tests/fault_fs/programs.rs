//! Programs that know nothing of it.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use annals_testkit::fault_fs::{Cut, Operation};
use annals_testkit::process::assert_within;

use super::mounted;

#[track_caller]
fn succeeds(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_shell_works_on_it() {
    let Some(fs) = mounted() else { return };
    let script = r#"
        set -ex
        mkdir -p a/b/c && cd a/b
        echo one > one && echo two >> one && cat one > c/copy
        ln one c/link && mv c/copy renamed && mv -n one renamed && [ -e one ] && rm renamed
        truncate -s 100000 sparse
        printf x | dd of=sparse bs=1 seek=50000 conv=notrunc status=none
        [ "$(tr -d '\0' < sparse)" = x ] && [ "$(stat -c '%b' sparse)" = 8 ]
        exec 9> lock && flock -n 9 && ! flock -n lock true
        ln -s one symlink && cat symlink
        dd if=/dev/urandom of=big bs=1M count=20 conv=fsync status=none
        cp big c/big && cmp big c/big
        fallocate -l 5000 allocated && fallocate -n -l 4096 one && ! fallocate -p -l 1 one
        chmod 600 one && touch -d 2001-01-01Z one && TZ=UTC stat -c '%a %h %s %y' one allocated
        exec 8< big && rm big && [ "$(head -c 1M <&8 | wc -c)" = 1048576 ]
        ! mkdir one && ! rmdir c && ! mv one c/absent/x
        mkfifo pipe && (cat pipe > through &) && echo hello > pipe
        seq 3000 | xargs touch && [ "$(ls | wc -l)" = 3008 ]
        cd .. && rm -r b && ls
    "#;
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(fs.path());
    let said = succeeds(shell);
    assert!(
        said.starts_with("one\ntwo\n600 2 8 2001-01-01 00:00:00"),
        "{said}"
    );
    let counts = fs.counts();
    assert!(counts.of(Operation::Create) >= 3008 && counts.of(Operation::Unlink) >= 3008);
    assert_eq!(
        (
            counts.of(Operation::MakeDir),
            counts.of(Operation::RemoveDir)
        ),
        (3, 3)
    );
    assert!(counts.of(Operation::Change) >= counts.of(Operation::Write) + 6016);
}

/// SQLite in one of its modes, cut after each of some runs. Gives the rows that are
/// missing of those whose commit it acknowledged, for each run.
fn rows_that_sqlite_lost(journal: &str, synchronous: &str, cuts: &[Cut]) -> Option<Vec<u64>> {
    let program = r#"
import os, sqlite3, sys
db = sqlite3.connect("db", isolation_level=None)
if db.execute("pragma integrity_check").fetchone()[0] != "ok":
    sys.exit("corrupt")
db.execute("pragma journal_mode=" + sys.argv[1])
db.execute("pragma synchronous=" + sys.argv[2])
db.execute("create table if not exists t (n integer primary key, text)")
print(db.execute("select count(*) from t").fetchone()[0])
for number in range(10):
    db.execute("insert into t (text) values (?)", ("x" * 1000,))
os._exit(sys.stdout.flush() or 0) # without closing it
"#;
    let fs = mounted()?;
    let rows = || {
        let mut python = Command::new("python3");
        python
            .args(["-c", program, journal, synchronous])
            .current_dir(fs.path());
        succeeds(python).trim().parse::<u64>().unwrap()
    };
    let mut before = rows() + 10;
    let lost = cuts.iter().map(|cut| {
        let report = fs.power_on(cut);
        let left = rows();
        println!("{left} of {before} after {report}");
        let lost = before - left;
        before = left + 10;
        lost
    });
    Some(lost.collect())
}

/// A database by other authors: it has shared memory, and knows what a sync is.
#[test]
fn sqlite_survives_cuts() {
    let cuts = [1, 2, 3].map(|seed| Cut::Random { seed });
    let cuts: Vec<Cut> = cuts
        .into_iter()
        .chain([Cut::DropAll, Cut::KeepAll])
        .collect();
    for (journal, synchronous) in [("wal", "full"), ("delete", "extra")] {
        let Some(lost) = rows_that_sqlite_lost(journal, synchronous, &cuts) else {
            return;
        };
        assert_eq!(lost, [0; 5], "{journal}");
    }
}

/// With `synchronous=full` it does not sync the folder after it has removed a journal, so
/// a cut takes the last commit back. Its manual says so; here it can be seen.
#[test]
fn sqlite_loses_what_its_manual_says() {
    let Some(lost) = rows_that_sqlite_lost("delete", "full", &[Cut::DropAll]) else {
        return;
    };
    assert_eq!(lost, [1]);
    let Some(lost) = rows_that_sqlite_lost("wal", "normal", &[Cut::DropAll]) else {
        return;
    };
    assert!(lost[0] >= 10, "{lost:?}");
}

#[test]
fn many_threads_do_not_wait_for_each_other_for_ever() {
    let Some(fs) = mounted() else { return };
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let folder = fs.path().join(thread.to_string());
            scope.spawn(move || {
                fs::create_dir(&folder).unwrap();
                let file = File::create_new(folder.join("file")).unwrap();
                for round in 0..100_u64 {
                    file.write_all_at(&round.to_le_bytes(), round * 8).unwrap();
                    file.sync_data().unwrap();
                    fs::rename(folder.join("file"), folder.join("other")).unwrap();
                    fs::rename(folder.join("other"), folder.join("file")).unwrap();
                }
            });
        }
    });
    for thread in 0..16 {
        assert_eq!(
            fs::read(fs.path().join(format!("{thread}/file")))
                .unwrap()
                .len(),
            800
        );
    }
}

/// Cycles have to be cheap: what costs is what is not synced, not what there is.
#[test]
fn writes_and_syncs_of_a_large_log_are_quick() {
    let Some(fs) = mounted() else { return };
    let mut file = File::create(fs.path().join("log")).unwrap();
    let begin = Instant::now();
    for _ in 0..100 {
        file.write_all(&vec![7; 1 << 20]).unwrap();
    }
    file.sync_all().unwrap();
    let written = begin.elapsed();

    let begin = Instant::now();
    for _ in 0..1_000 {
        file.write_all(&[8; 300]).unwrap();
        file.sync_data().unwrap();
    }
    let synced = begin.elapsed();
    let begin = Instant::now();
    fs.power_on(&Cut::Random { seed: 1 });
    let cut = begin.elapsed();
    println!("100 MiB in {written:?}, 1,000 synced writes in {synced:?}, a cut in {cut:?}");
    // Ten times what they take on two cores, and far less than copies would.
    assert_within(written, Duration::from_secs(4));
    assert_within(synced, Duration::from_secs(4));
    assert_within(cut, Duration::from_secs(1));
}

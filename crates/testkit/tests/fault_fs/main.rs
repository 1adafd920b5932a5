//! The fault file system, mounted for real, with programs on it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use annals_testkit::fault_fs::{Cut, FaultFs};
use tempfile::TempDir;

struct Mounted {
    fs: FaultFs,
    _folder: TempDir, // removed after the file system is unmounted
}

impl std::ops::Deref for Mounted {
    type Target = FaultFs;
    fn deref(&self) -> &FaultFs {
        &self.fs
    }
}

fn mounted() -> Option<Mounted> {
    let folder = TempDir::new().unwrap();
    let fs = FaultFs::mount(folder.path()).unwrap();
    Some(Mounted {
        fs,
        _folder: folder,
    })
}

fn sync_dir(path: &Path) {
    File::open(path).unwrap().sync_all().unwrap();
}

#[test]
fn what_was_synced_survives_and_the_rest_does_not() {
    let Some(fs) = mounted() else { return };
    let path = fs.path().join("file");
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(&path)
        .unwrap();
    file.write_all(b"synced").unwrap();
    file.sync_all().unwrap();
    sync_dir(fs.path());
    assert!(fs.is_synced(&path), "{:?}", fs.unsynced());
    file.write_all(b" and not").unwrap();
    assert!(!fs.is_synced(&path));
    fs::write(fs.path().join("other"), b"x").unwrap();

    fs.power_off();
    assert_eq!(fs::read(&path).unwrap_err().raw_os_error(), Some(5));
    let report = fs.power_on(&Cut::DropAll);
    println!("{report}");
    assert_eq!(fs::read(&path).unwrap(), b"synced");
    assert!(!fs.path().join("other").exists());
    assert!(file.write_all(b"stale").is_err());
}

/// What RocksDB and our store do, as a shell does it.
#[test]
fn a_shell_works_on_it() {
    let Some(fs) = mounted() else { return };
    let script = r#"
        set -ex
        mkdir -p a/b/c && cd a/b
        echo one > one && echo two >> one && cat one > c/copy
        ln one c/link && mv c/copy renamed && rm renamed
        truncate -s 100000 sparse && printf x | dd of=sparse bs=1 seek=50000 conv=notrunc status=none
        exec 9> lock && flock -n 9
        ln -s one symlink && cat symlink
        dd if=/dev/urandom of=big bs=1M count=20 conv=fsync status=none
        cp big c/big && cmp big c/big
        fallocate -l 4096 allocated && fallocate -n -l 4096 one
        sync one . && df . > /dev/null
        chmod 600 one && touch -d 2001-01-01 one && stat -c '%a %h %s %y' one
        exec 8< big && rm big && [ "$(head -c 1M <&8 | wc -c)" = 1048576 ]
        seq 3000 | xargs touch && [ "$(ls | wc -l)" = 3006 ]
        cd .. && rm -r b && ls
    "#;
    let output = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(fs.path())
        .output()
        .unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    println!("{:?}", fs.counts());
}

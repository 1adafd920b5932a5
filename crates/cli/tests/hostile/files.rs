//! Commands that read one file, and files of all kinds that are not for them.

use std::fs;
use std::os::unix::fs::symlink;

use crate::field::{Field, pipe, sparse};

/// Commands that read a file.
const READERS: [&[&str]; 16] = [
    &["import", "claude", "FILE"],
    &["import", "contracts", "FILE"],
    &["import", "git-internal", "FILE"],
    &["import", "annals", "FILE"],
    &["secrets", "scan", "FILE"],
    &["apply", "FILE"],
    &["verify", "--proof", "FILE", "--checkpoint", "FILE"],
    &["verify", "--checkpoint", "FILE"],
    &["verify", "--since", "FILE"],
    &["verify", "--checkpoint", "FILE", "--key", "FILE"],
    &["prove", "1", "--checkpoint", "FILE"],
    &["checkpoint", "--key", "FILE"],
    &["checkpoint", "sign", "--key", "FILE", "FILE"],
    &["replay", "--all", "--policy", "FILE"],
    &["replay", "--sessions", "--profile", "FILE"],
    &["--log", "restored", "restore", "FILE"],
];

fn of(reader: &[&'static str], file: &'static str) -> Vec<&'static str> {
    let arg = |arg: &&'static str| if *arg == "FILE" { file } else { *arg };
    reader.iter().map(arg).collect()
}

fn contents() -> Vec<(&'static str, Vec<u8>)> {
    let repeated = |text: &str, times: usize| text.repeat(times).into_bytes();
    let mut long = b"{\"type\":\"user\",\"message\":\"".to_vec();
    long.extend(repeated("a", 24 << 20));
    vec![
        ("nothing", Vec::new()),
        ("a byte order mark", b"\xef\xbb\xbf".to_vec()),
        ("zeros", vec![0; 1 << 20]),
        ("no UTF-8", repeated("{\"a\":\"", 1).into_iter().chain([0xff, 0xfe, b'"', b'}', b'\n']).collect()),
        ("deep lists", repeated("[", 1_000_000)),
        ("deep objects", repeated("{\"a\":", 200_000)),
        ("a line without an end", long),
        ("a list", b"[{}]\n".to_vec()),
        ("numbers beyond all", [b"{\"schema_version\":1e999,\"x\":-".to_vec(), repeated("9", 1 << 20), b"}\n".to_vec()].concat()),
        ("many lines", repeated("{}\n", 200_000)),
        ("what drives a terminal", "{\"type\":\"\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\",\"kind\":\"\u{1b}[2J\"}\n\u{1b}[2J\u{9b}31m\n".into()),
        ("aliases of aliases", yaml_bomb()),
        ("tables of tables", repeated("[a.a.a.a]\n", 10_000)),
        ("a note of signatures", [b"annals/x\n1\nAAAA\n\n".to_vec(), repeated("\u{2014} a AAAAAAAA\n", 20_000)].concat()),
    ]
}

/// Nine times nine times nine, and so on.
fn yaml_bomb() -> Vec<u8> {
    let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        text.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [before.as_str(); 9].join(",")
        ));
    }
    text.into_bytes()
}

#[test]
fn files_of_any_content_are_read_within_bounds() {
    let field = Field::new();
    for (what, bytes) in contents() {
        field.hostile("file", bytes);
        for reader in READERS {
            field.survives(what, &of(reader, "hostile/file"));
        }
    }
}

/// A file that is larger than memory, pipes, folders and endless devices.
#[test]
fn what_is_not_a_file_or_never_ends_is_refused() {
    let field = Field::new();
    let file = field.path("hostile/file");
    let check = |what: &str| {
        for reader in READERS {
            // A pipe is what `apply` waits for.
            if what == "a pipe" && reader[0] == "apply" {
                continue;
            }
            let ended = field.survives(what, &of(reader, "hostile/file"));
            let reads_folders = matches!(reader, ["import", "claude" | "git-internal", _]);
            assert!(
                !ended.is_good || (what == "a folder" && reads_folders),
                "{what}, {reader:?}: {}",
                ended.said
            );
            assert!(
                ended.said.contains("hostile/file"),
                "{what}, {reader:?}: {}",
                ended.said
            );
        }
    };
    pipe(&file);
    check("a pipe");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    check("a folder");
    fs::remove_dir(&file).unwrap();
    symlink(&file, &file).unwrap();
    check("a link to itself");
    fs::remove_file(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    check("a device");
    fs::remove_file(&file).unwrap();
}

#[test]
fn files_larger_than_memory_are_read_within_bounds() {
    let field = Field::new();
    sparse(&field.path("hostile/file"), 1 << 30);
    for reader in READERS {
        let ended = field.survives("a file of 1 GiB", &of(reader, "hostile/file"));
        let scans = matches!(reader, ["secrets" | "import", ..]);
        assert!(scans || !ended.is_good, "{reader:?}: {}", ended.said);
    }
}

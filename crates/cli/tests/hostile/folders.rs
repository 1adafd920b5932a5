//! Commands that read or write a folder, and what can lie in it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::field::{Field, pipe, sparse};

/// Commands on a folder, with where in it files of theirs lie and what they are called.
const COMMANDS: [(&[&str], &str, &str); 6] = [
    (&["import", "claude", "hostile"], "sub", "jsonl"),
    (&["import", "git-internal", "hostile"], "sub", "json"),
    (&["import", "forge", "hostile"], ".forge/intents", "yaml"),
    (
        &["import", "forge", "hostile"],
        ".forge/intent-drafts",
        "md",
    ),
    (&["import", "forge", "hostile"], ".forge/tasks", "yaml"),
    (&["export", "forge", "hostile"], ".forge/intents", "yaml"),
];

/// The file outside that a link of this kind leads to.
fn theirs(field: &Field, extension: &str) -> std::path::PathBuf {
    field.path(match extension {
        "jsonl" => "outside/recording.jsonl",
        "json" => "outside/object.json",
        "md" => "outside/intent-drafts/theirs.md",
        _ => "outside/intents/theirs.yaml",
    })
}

type Attack = fn(&Field, &Path, &str);

/// What a stranger puts into the folder where files with an extension are read.
const ATTACKS: [(&str, Attack); 12] = [
    ("a link to a file", |field, folder, extension| {
        let link = folder.join("x").with_extension(extension);
        symlink(theirs(field, extension), link).unwrap();
    }),
    ("a relative link", |_, folder, extension| {
        let up = "../".repeat(
            2 + usize::from(
                folder.ends_with(".forge") || folder.parent().unwrap().ends_with(".forge"),
            ),
        );
        for theirs in [
            "recording.jsonl",
            "object.json",
            "intents/theirs.yaml",
            "intent-drafts/theirs.md",
        ] {
            let name = theirs.replace('/', "-");
            let link = folder.join(name).with_extension(extension);
            symlink(format!("{up}outside/{theirs}"), link).unwrap();
        }
    }),
    ("a link to a folder", |field, folder, _| {
        for theirs in ["outside", "outside/intents", "home"] {
            symlink(field.path(theirs), folder.join(theirs.replace('/', "-"))).unwrap();
        }
    }),
    ("the folder is a link", |field, folder, extension| {
        fs::remove_dir(folder).unwrap();
        symlink(theirs(field, extension).parent().unwrap(), folder).unwrap();
    }),
    (
        "a hard link's name, and a dangling one",
        |field, folder, extension| {
            let link = folder.join("x").with_extension(extension);
            symlink(field.path("outside/new"), link).unwrap();
        },
    ),
    ("links in a circle", |_, folder, extension| {
        let link = folder.join("x").with_extension(extension);
        symlink(&link, &link).unwrap();
        symlink("..", folder.join("up")).unwrap();
    }),
    ("a pipe", |_, folder, extension| {
        pipe(&folder.join("x").with_extension(extension));
    }),
    ("a device", |_, folder, extension| {
        symlink("/dev/zero", folder.join("x").with_extension(extension)).unwrap();
    }),
    ("a folder like a file", |_, folder, extension| {
        fs::create_dir(folder.join("x").with_extension(extension)).unwrap();
    }),
    ("a file larger than memory", |_, folder, extension| {
        sparse(&folder.join("x").with_extension(extension), 1 << 30);
    }),
    ("names that are not text", |_, folder, extension| {
        let names: [&[u8]; 6] = [
            b"\x1b]0;x\x07",
            b"a\nb",
            b"\xff\xfe",
            "\u{202e}gpj".as_bytes(),
            b"-rf",
            &[b'a'; 240],
        ];
        for name in names {
            let name = [name, b".", extension.as_bytes()].concat();
            fs::write(folder.join(OsStr::from_bytes(&name)), "{}\n").unwrap();
        }
    }),
    ("folders below folders", |_, folder, extension| {
        let mut below = folder.to_owned();
        for _ in 0..400 {
            below.push("d");
        }
        fs::create_dir_all(&below).unwrap();
        fs::write(below.join("x").with_extension(extension), "{}\n").unwrap();
    }),
];

#[test]
fn nothing_in_a_folder_leads_out_of_it() {
    for (what, attack) in ATTACKS {
        for (command, folder, extension) in COMMANDS {
            let field = Field::new();
            let folder = field.path("hostile").join(folder);
            fs::create_dir_all(&folder).unwrap();
            attack(&field, &folder, extension);
            field.survives(what, command);
            // What is there already is not read either the second time.
            field.survives(what, command);
        }
    }
}

/// The folder that is written is a link, or has one where a file would go.
#[test]
fn nothing_is_written_through_a_link() {
    let place = |linked: &str| {
        let field = Field::new();
        let link = field.path(linked);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        field
    };
    for linked in [
        "hostile/out",
        "hostile/.forge",
        "hostile/.forge/intents",
        "hostile/.forge/reviews",
    ] {
        for target in ["outside", "outside/empty", "outside/new"] {
            let field = place(linked);
            symlink(field.path(target), field.path(linked)).unwrap();
            for command in [
                &["export", "forge", "hostile"][..],
                &["backup", "hostile/out"],
                &["checkpoint", "--out", "hostile/out"],
                &["prove", "1", "--out", "hostile/out"],
                &["key", "new", "--name", "k", "hostile/out"],
                &["restore", "hostile/out"],
            ] {
                let before = fs::read_dir(field.path("outside/empty")).unwrap().count();
                field.survives(linked, command);
                assert_eq!(
                    before,
                    fs::read_dir(field.path("outside/empty")).unwrap().count()
                );
                assert!(!field.path("outside/new").exists(), "{linked}: {command:?}");
            }
        }
    }
}

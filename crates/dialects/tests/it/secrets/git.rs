//! A repository with secrets in everything that a commit has.

use annals_dialects::git::{self, GitOptions};
use futures::executor::block_on;
use gix::objs::tree::EntryKind;

use super::{check, key_line, places, planted, private_key, token};
use crate::git::repo::{File, Files, TestRepo, files};

fn with(files: &Files, path: &str, text: impl AsRef<[u8]>) -> Files {
    let mut files = files.clone();
    let file = File(EntryKind::Blob, text.as_ref().to_vec());
    files.insert(path.as_bytes().to_vec(), file);
    files
}

fn without(files: &Files, path: &str) -> Files {
    let mut files = files.clone();
    files.remove(path.as_bytes());
    files
}

#[test]
fn nothing_of_a_repositorys_secrets_is_stored() {
    let repo = TestRepo::new();
    let body: Vec<String> = (0..30).map(|n| format!("line {n}\n")).collect();
    let first = files(&[("a.txt", &body.concat()), ("key.pem", &private_key(1))]);
    let root = repo.commit(&first, &[], &planted("Add {2}\n\nwith {3}\n", 2..4));

    let author = planted("A {4} <a-{5}@example.org> 1700000001 +0000", 4..6);
    let rest = format!("author {author}\ncommitter {author}\n\nSecond\n");
    let config = planted("name = 1\ntoken = {6}\n", 6..7);
    let second = with(&first, &format!("conf/{}.toml", token(7)), &config);
    let latin = [b"caf\xe9 = ".as_slice(), token(8).as_bytes(), b"\n"].concat();
    let second = with(&second, "latin.txt", &latin);
    let second_id = repo.raw_commit(&second, &[root], rest.as_bytes());

    // The middle of the key alone changes, and a line that had a token goes.
    let third = with(
        &second,
        "key.pem",
        private_key(1).replace(&key_line(1, 1), &key_line(9, 1)),
    );
    let third = with(&third, &format!("conf/{}.toml", token(7)), "name = 1\n");
    // Far from the change; no diff has it.
    let far = body
        .concat()
        .replacen("line 0\n", &format!("line {}\n", token(10)), 1);
    let third = with(&third, "a.txt", &far);
    let third_id = repo.commit(&third, &[second_id], "Third");
    let fourth = with(&third, "a.txt", far.replace("line 29", "line 30"));
    let fourth = without(&fourth, "latin.txt");
    let fourth = with(
        &fourth,
        "binary",
        [b"\0".as_slice(), token(11).as_bytes()].concat(),
    );
    let fourth_id = repo.commit(&fourth, &[third_id], "Fourth");

    let mut needles: Vec<String> = (2..9).map(token).collect();
    needles.push(token(10));
    needles.extend((0..3).map(|line| key_line(1, line)));
    needles.push(key_line(9, 1));
    let report = check(&needles, |annals, secrets| {
        let options = GitOptions::default().with_secrets(secrets.clone());
        block_on(git::import(annals, repo.path(), &options, &mut |_| {})).unwrap()
    });
    let name = |id: gix::ObjectId| id.to_hex_with_len(12).to_string();
    let root = name(root);
    assert_eq!(
        places(&report, "private-key"),
        [format!("{root}:key.pem:1")]
    );
    let tokens = places(&report, "github-token");
    let expected = [
        format!("{root}:1 (message)"),
        format!("{root}:3 (message)"),
        format!("{}:1 (author.name)", name(second_id)),
        format!("{}:1 (author.email)", name(second_id)),
        "[redacted:github-token].toml:2".to_owned(),
        format!("{}:1 (path)", name(second_id)),
        format!("{}:latin.txt:1", name(second_id)),
        format!("{}:a.txt:1", name(third_id)),
        "[redacted:github-token].toml:2".to_owned(),
        format!("{}:1 (path)", name(third_id)),
        format!("{}^:latin.txt:1", name(fourth_id)),
    ];
    let mut sorted = (tokens.clone(), expected.to_vec());
    sorted.0.sort();
    sorted.1.sort();
    assert_eq!(sorted.0, sorted.1);
}

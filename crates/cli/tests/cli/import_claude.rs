//! `import claude`, as far as the program has a part in it.

use serde_json::{Value, json};

use crate::support::Place;

/// The lines of a session: a prompt, a call of a tool, and its result.
pub fn session(name: &str) -> Vec<Value> {
    let line = |n: u8, kind: &str, message: Value| {
        json!({ "type": kind, "uuid": format!("{name}-{n}"), "sessionId": name, "cwd": "/w",
            "timestamp": format!("2026-01-02T03:04:{n:02}Z"), "message": message })
    };
    let usage = json!({ "input_tokens": 1, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 3, "output_tokens": 4 });
    let call = json!({ "type": "tool_use", "id": format!("{name}-call"), "name": "Edit",
        "input": { "file_path": "/w/a", "old_string": "x", "new_string": "y" } });
    let result = json!([{ "type": "tool_result", "tool_use_id": format!("{name}-call"), "content": "done" }]);
    vec![
        line(1, "user", json!({ "role": "user", "content": "Fix it" })),
        line(
            2,
            "assistant",
            json!({ "id": format!("{name}-m"), "model": "model-1", "content": [call], "usage": usage }),
        ),
        line(3, "user", json!({ "role": "user", "content": result })),
    ]
}

pub fn write(place: &Place, file: &str, lines: &[Value]) {
    let path = place.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_recording_is_imported_once_and_grows() {
    let place = Place::with_log();
    let lines = session("s");
    write(&place, "s.jsonl", &lines[..2]);
    let first = place
        .run(&["import", "claude", "s.jsonl", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&first["records_read"], &first["waiting"]),
        (&json!(2), &json!(1))
    );
    write(&place, "s.jsonl", &lines);
    let grown = place
        .run(&["import", "claude", "s.jsonl", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&grown["already_there"], &grown["waiting"]),
        (&json!(1), &json!(0))
    );
    let events = |report: &Value| report["events_made"].as_u64().unwrap();
    let stats = || place.run(&["stats", "--json"]).ok().json()["position"].clone();
    assert_eq!(stats(), events(&first) + events(&grown));
    let again = place
        .run(&["import", "claude", "s.jsonl", "--report"])
        .ok()
        .stdout;
    assert!(
        again.contains("already there  3\nevents made    0\n"),
        "{again}"
    );

    let edits = place
        .run(&["log", "--type", "run.patch_set_proposed", "--json"])
        .ok()
        .lines();
    assert_eq!(edits.len(), 1);
    place.run(&["verify"]).ok();
}

#[test]
fn the_same_output_of_two_sessions_is_stored_once() {
    let place = Place::with_log();
    let output = "a line of what a tool printed\n".repeat(1_000);
    for name in ["one", "other"] {
        let mut lines = session(name);
        lines[1]["message"]["content"][0]["name"] = json!("Bash");
        lines[2]["message"]["content"][0]["content"] = json!(output);
        write(&place, &format!("all/{name}.jsonl"), &lines);
    }
    place.run(&["import", "claude", "all"]).ok();
    let stats = place.run(&["stats", "--content", "--json"]).ok().json();
    let stored = json!(output).to_string().len();
    assert_eq!(
        (&stats["blobs"], &stats["blob_bytes"]),
        (&json!(1), &json!(stored))
    );
    assert_eq!(
        stats["content"],
        json!({ "pieces": 2, "bytes": 2 * stored })
    );
}

#[test]
fn a_folder_is_read_whole_and_broken_lines_are_named() {
    let place = Place::with_log();
    write(&place, "all/b/one.jsonl", &session("one"));
    write(&place, "all/two.jsonl", &session("two"));
    let path = place.path("all/two.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{{\"type\":\n{text}")).unwrap();
    let ran = place.run(&["import", "claude", "all"]);
    let ran = ran.fails(1, &["1 record could not be imported"]).stdout;
    assert!(
        ran.contains("broken         all/two.jsonl:1: EOF while parsing"),
        "{ran}"
    );
    let again = Place::with_log();
    std::fs::create_dir_all(again.path("all")).unwrap();
    let copied = std::fs::copy(&path, again.path("all/two.jsonl"));
    copied
        .and_then(|_| std::fs::copy(place.path("all/b/one.jsonl"), again.path("all/one.jsonl")))
        .unwrap();
    let ran = again.run(&["import", "claude", "all", "--report"]);
    let ran = ran.fails(1, &["1 record could not be imported"]).stdout;
    assert!(ran.contains("read           7\n"), "{ran}");
    assert!(
        ran.contains("broken         all/two.jsonl:1: EOF while parsing"),
        "{ran}"
    );
    // Fields are in groups; -v names each.
    assert!(ran.contains("kept           message (14 fields, "), "{ran}");
    let other = Place::with_log();
    write(&other, "all/one.jsonl", &session("one"));
    let ran = other.run(&["import", "claude", "all", "-v"]).ok().stdout;
    assert!(
        ran.contains("kept           message.content[].input (1)\n"),
        "{ran}"
    );
    let tasks = place
        .run(&["log", "--type", "task.created", "--json"])
        .ok()
        .lines();
    assert_eq!(tasks.len(), 2);
}

#[test]
fn text_that_was_kept_comes_back() {
    let place = Place::with_log();
    write(&place, "all/b/one.jsonl", &session("one"));
    let said = place.run(&["import", "all", "--keep-raw"]).ok().stdout;
    assert!(
        said.contains("text kept      1 recording: annals export raw"),
        "{said}"
    );
    let listed = place.run(&["export", "raw", "--json"]).ok().json();
    assert_eq!(
        (&listed["agent"], &listed["file"]),
        (&json!("claude"), &json!("b/one.jsonl"))
    );
    let text = std::fs::read_to_string(place.path("all/b/one.jsonl")).unwrap();
    let sha256 = listed["sha256"].as_str().unwrap();
    let printed = place
        .run(&["export", "raw", "--print", &sha256[..8]])
        .ok()
        .stdout;
    assert_eq!(printed, text);
    let report = place.run(&["export", "raw", "out", "--json"]).ok().json();
    assert_eq!(report["written"], 1);
    let written = std::fs::read_to_string(place.path("out/claude/b/one.jsonl")).unwrap();
    assert_eq!(written, text);
    let none = place.run(&["export", "raw", "--print", "0000"]);
    none.fails(
        1,
        &["0 recordings are kept whose SHA-256 begins with \"0000\""],
    );
    std::fs::write(place.path("out/claude/b/one.jsonl"), "mine").unwrap();
    let again = place.run(&["export", "raw", "out"]);
    again.fails(1, &["1 recording was not written; the report says why"]);
}

/// What is passed over is no recording; what looks like one and cannot be read is counted.
#[test]
fn recordings_of_a_folder_that_cannot_be_read_fail_its_import() {
    let place = Place::with_log();
    write(&place, "all/s.jsonl", &session("s"));
    place.run(&["import", "all"]).ok();
    let text = std::fs::read_to_string(place.path("all/s.jsonl")).unwrap();
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    let utf_16: Vec<u8> = [0xff, 0xfe].into_iter().chain(units).collect();
    let path = |name: &str| place.path(&format!("all/{name}"));
    let broken = |name: &str, reason: &str| {
        for args in [&["import", "all"][..], &["import", "claude", "all"]] {
            let ran = place.run(args).fails(1, &["could not be imported"]);
            assert!(
                ran.stdout.contains(&format!("broken         all/{name}")),
                "{ran:?}"
            );
            if args.len() == 2 {
                assert!(ran.stdout.contains(reason), "{ran:?}");
            }
        }
        std::fs::remove_file(path(name)).unwrap();
    };
    std::fs::write(path("wide.jsonl"), utf_16).unwrap();
    broken("wide.jsonl", "it is UTF-16");
    std::fs::write(path("rollout.jsonl.zst"), b"\x28\xb5\x2f\xfd").unwrap();
    broken("rollout.jsonl.zst", "it is compressed, and damaged");
    std::fs::write(path("rollout.jsonl.gz"), b"x").unwrap();
    broken("rollout.jsonl.gz", "it is compressed: decompress it");
    std::fs::write(path("noise.jsonl"), "no JSON\n\nat all\n").unwrap();
    broken("noise.jsonl", "none of its first lines is JSON");
    std::fs::write(path("long.jsonl"), "{\"text\": \"").unwrap();
    let long = std::fs::File::options()
        .write(true)
        .open(path("long.jsonl"));
    long.unwrap().set_len(65 * 1024 * 1024).unwrap();
    broken("long.jsonl", "has more than 64 MiB");
    write(&place, "elsewhere.jsonl", &session("t"));
    std::os::unix::fs::symlink(place.path("elsewhere.jsonl"), path("link.jsonl")).unwrap();
    broken("link.jsonl", "it is a link");
    std::fs::create_dir_all(place.path("archive/2026")).unwrap();
    write(&place, "archive/2026/old.jsonl", &session("u"));
    std::os::unix::fs::symlink(place.path("archive"), path("archive")).unwrap();
    broken("archive", "it is a link");
    std::os::unix::fs::symlink(place.path("nothing"), path("nothing")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket.jsonl")).unwrap();
    broken("socket.jsonl", "it is neither a file nor a folder");
    // What a link within the folder leads to is read as itself; and other files are no recordings by their names.
    std::os::unix::fs::symlink("s.jsonl", path("latest.jsonl")).unwrap();
    std::fs::write(path("notes.txt.zst"), "x").unwrap();
    std::fs::write(path("settings.json"), "{}").unwrap();
    std::fs::write(path("empty.jsonl"), "").unwrap();
    place.run(&["import", "all"]).ok();
}

/// The five lines say so, and not the whole report alone.
#[test]
fn a_text_that_is_cut_is_named() {
    let place = Place::with_log();
    let prompt = json!({
        "type": "user", "uuid": "l1", "sessionId": "s", "timestamp": "2026-11-26T01:02:03Z", "cwd": "/w",
        "message": { "role": "user", "content": "x".repeat(2 << 20) },
    });
    std::fs::write(place.path("s.jsonl"), format!("{prompt}\n")).unwrap();
    let ran = place.run(&["import", "s.jsonl"]).ok();
    let expected = "left out       s.jsonl:1 has a text over 1 MiB";
    assert!(ran.stdout.contains(expected), "{ran:?}");
}

/// A database is compressed by hand only, and named all the same.
#[test]
fn compressed_recordings_of_every_agent_are_named() {
    let place = Place::with_log();
    write(&place, "all/s.jsonl", &session("s"));
    for name in [
        "opencode.db.zst",
        "opencode.db.gz",
        "state.DB.XZ",
        "a.traj.bz2",
        "b.jsonl.zip",
        "c.jsonl.lz4",
    ] {
        std::fs::write(place.path(&format!("all/{name}")), "x").unwrap();
        let ran = place.run(&["import", "all", "--report"]);
        let ran = ran.fails(1, &["could not be imported"]);
        assert!(
            ran.stdout.contains(&format!("all/{name}")) && ran.stdout.contains("it is compressed"),
            "{ran:?}"
        );
        std::fs::remove_file(place.path(&format!("all/{name}"))).unwrap();
    }
    // Of any agent, *.json may be anything; of Gemini CLI it is a recording.
    std::fs::write(place.path("all/k.json.gz"), "x").unwrap();
    place.run(&["import", "all"]).ok();
    std::fs::write(place.path("all/k.json"), "{}").unwrap();
    let ran = place.run(&["import", "gemini", "all"]);
    assert!(ran.stdout.contains("all/k.json.gz"), "{ran:?}");
    // A database by its content, under a name that says nothing of compression.
    std::fs::remove_dir_all(place.path("all")).unwrap();
    write(&place, "all/s.jsonl", &session("s"));
    let packed = b"\x28\xb5\x2f\xfd\x00";
    std::fs::write(place.path("all/opencode.db"), packed).unwrap();
    let ran = place.run(&["import", "all"]).fails(1, &["could not be"]);
    assert!(ran.stdout.contains("all/opencode.db"), "{ran:?}");
}

#[test]
fn documents_with_nothing_of_their_format_are_refused() {
    let place = Place::with_log();
    for (agent, text) in [("atif", "{}"), ("openhands", "[]")] {
        std::fs::write(place.path("k.json"), text).unwrap();
        let ran = place.run(&["import", agent, "k.json"]).fails(1, &[]);
        assert!(
            ran.stdout.contains("it is not a recording that is known")
                || ran.stderr.contains("not a recording"),
            "{agent}: {ran:?}"
        );
    }
    let stats = place.run(&["stats", "--json"]).ok().json();
    assert_eq!(stats["events"], 0);
}

#[test]
fn halves_of_characters_are_noted() {
    let place = Place::with_log();
    write(&place, "s.jsonl", &session("s"));
    let text = std::fs::read_to_string(place.path("s.jsonl")).unwrap();
    let whole = place.run(&["import", "s.jsonl"]).ok().stdout;
    assert!(!whole.contains("surrogate"), "{whole}");
    let half = text.replacen("\"content\":\"", "\"content\":\"\\ud83d ", 1);
    assert_ne!(half, text);
    std::fs::write(place.path("t.jsonl"), half.replace("\"s\"", "\"t\"")).unwrap();
    let said = place.run(&["import", "t.jsonl", "--report"]).stdout;
    assert!(
        said.contains("t.jsonl:1 has halves of surrogate pairs"),
        "{said}"
    );
}

#[test]
fn sessions_that_are_over_leave_nothing_waiting() {
    let place = Place::with_log();
    write(&place, "s.jsonl", &session("s")[..2]);
    let ran = place
        .run(&["import", "claude", "s.jsonl", "--ended", "--json"])
        .ok()
        .json();
    assert_eq!(ran["waiting"], 0);
    let calls = place
        .run(&["log", "--type", "run.tool_invoked", "--json"])
        .ok()
        .lines();
    assert_eq!(calls.len(), 1);
}

#[test]
fn what_is_not_a_recording_is_refused() {
    let place = Place::with_log();
    std::fs::create_dir(place.path("empty")).unwrap();
    place
        .run(&["import", "claude", "empty"])
        .fails(1, &["no *.jsonl file in empty"]);
    let ran = place
        .run(&["import", "claude", "nowhere", "--json"])
        .fails(1, &["nowhere"]);
    assert_eq!(ran.error_code(), "import_failed");
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 0);
    let place = Place::empty();
    place
        .run(&["import", "claude", "x.jsonl"])
        .fails(1, &["annals log init"]);
}

/// Without an agent's name what a file says decides whose it is; another agent's file is named once.
#[test]
fn a_recording_says_whose_it_is() {
    let place = Place::with_log();
    write(&place, "all/s.jsonl", &session("s"));
    let rollout = [
        json!({ "timestamp": "2026-01-02T03:04:05Z", "type": "session_meta", "payload": { "id": "r", "cwd": "/w" } }),
        json!({ "timestamp": "2026-01-02T03:04:06Z", "type": "response_item", "payload": { "type": "message",
            "role": "user", "content": [{ "type": "input_text", "text": "Fix that" }] } }),
    ];
    write(&place, "all/rollout.jsonl", &rollout);
    write(&place, "all/other.jsonl", &[json!({ "x": 1 })]);
    let wrong = place.run(&["import", "claude", "all/rollout.jsonl"]);
    wrong.fails(1, &["is not a recording of Claude Code", "one of Codex"]);
    let unknown = place.run(&["import", "all/other.jsonl"]);
    unknown.fails(1, &["not a recording that is known"]);
    let all = place.run(&["import", "all", "--report"]).ok().stdout;
    for part in [
        "source         claude all\n",
        "source         codex all\n",
        "passed over    all/other.jsonl: it is not a recording that is known\n",
    ] {
        assert_eq!(all.matches(part).count(), 1, "{part} in {all}");
    }
    let again = place.run(&["import", "all", "--report"]).ok().stdout;
    assert_eq!(again.matches("events made    0\n").count(), 2, "{again}");
}

//! An owner of the log that stays.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use serde_json::json;

use crate::support::{Place, Running, grown, human, unbase64, uuid};

fn start(place: &Place) -> Running {
    Running::of(place.command(&["serve", "--record-only", "--json"]))
}

/// Ends it, and has it say so.
fn end(mut serving: Running) {
    serving.terminate();
    assert_eq!(serving.next()["state"], "ended");
    serving.end();
}

fn submit(place: &Place, n: u64) {
    let create = human("create_intent", json!({ "id": uuid(n), "prompt": "p" }));
    let answers = place.apply(&[create]);
    assert_eq!(answers[0]["ok"], true, "{answers:?}");
}

#[test]
fn what_serves_owns_the_log_until_it_is_ended() {
    let place = Place::with_log();
    let mut serving = start(&place);
    let first = serving.next();
    assert_eq!(
        (&first["state"], &first["position"], &first["process"]),
        (&json!("owner"), &json!(0), &json!(serving.child.id()))
    );
    // Others write by way of it: it has the lock all the time.
    for n in 1..=3 {
        submit(&place, n);
    }
    let refused = place.run(&["--exclusive", "submit", "x"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.stderr.contains("locked"), "{}", refused.stderr);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 3);
    end(serving);
    submit(&place, 4);
}

#[test]
fn the_next_one_takes_its_place_when_it_is_killed() {
    let place = Place::with_log();
    let mut first = start(&place);
    assert_eq!(first.next()["state"], "owner");
    let mut second = start(&place);
    let waiting = second.next();
    assert_eq!(
        (&waiting["state"], &waiting["owner"]),
        (&json!("waiting"), &json!(first.child.id()))
    );
    submit(&place, 1);
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let owner = second.next();
    assert_eq!(
        (&owner["state"], &owner["position"]),
        (&json!("owner"), &json!(1))
    );
    submit(&place, 2);
    end(second);
    // One that waits can be ended as well.
    let mut third = start(&place);
    assert_eq!(third.next()["state"], "owner");
    let mut fourth = start(&place);
    assert_eq!(fourth.next()["state"], "waiting");
    end(fourth);
    end(third);
}

#[test]
fn systemd_is_told_when_it_is_ready_and_when_it_ends() {
    let place = Place::with_log();
    let socket = UnixDatagram::bind(place.path("notify")).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(120)))
        .unwrap();
    let heard = || {
        let mut bytes = [0; 200];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let mut command = place.command(&["serve", "--record-only", "--json"]);
    command.env("NOTIFY_SOCKET", place.path("notify"));
    let mut serving = Running::of(command);
    assert_eq!(heard(), "READY=1\nSTATUS=owns the log");
    assert_eq!(serving.next()["state"], "owner");
    end(serving);
    assert_eq!(heard(), "STOPPING=1");
}

#[test]
fn what_cannot_be_served_is_refused() {
    let place = Place::with_log();
    let both = place.run(&["serve", "--record-only", "--own"]);
    assert_eq!(both.status, 2, "{both:?}");
    assert!(both.stderr.contains("--record-only"), "{}", both.stderr);
    for args in [
        ["--log", "memory:", "serve"].as_slice(),
        &["--exclusive", "serve", "--record-only"],
        &["--exclusive", "serve", "--own"],
        &["--log", "memory:", "serve", "--record-only"],
    ] {
        let refused = place.run(args);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(
            refused.stderr.contains("log in a folder"),
            "{}",
            refused.stderr
        );
    }
    let absent = Place::empty().run(&["serve", "--record-only"]);
    assert_eq!(absent.status, 1, "{absent:?}");
    assert!(
        absent.stderr.contains("annals log init"),
        "{}",
        absent.stderr
    );
}

/// The first line of an answer to a request for a page.
fn get(address: &str, headers: &str) -> String {
    let answer = page(address, "/runs", headers);
    answer.lines().next().unwrap_or_default().to_owned()
}

/// An answer to a request.
fn page(address: &str, path: &str, headers: &str) -> String {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The text is in a write-ahead log when the viewer opens the log, as after each "I just pasted a key".
#[test]
fn a_viewer_shows_nothing_that_was_removed_since_it_began() {
    const SECRET: &str = "ZQX7KWJVBN42";
    let pages = [
        "/",
        "/log",
        "/api/v1/log",
        "/api/v1/events/1",
        "/api/v1/search?q=pasted",
    ];
    for is_owned in [false, true] {
        let place = Place::with_log();
        let create = json!({ "id": uuid(1), "prompt": format!("pasted {SECRET}") });
        place.accept(&[human("create_intent", create)]);
        let mut owner = is_owned.then(|| start(&place));
        if let Some(owner) = &mut owner {
            assert_eq!(owner.next()["state"], "owner");
        }
        let shown = place.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        let mut serving = Running::of(shown);
        let address = serving.next()["address"].as_str().unwrap().to_owned();
        let shows = |path: &str| page(&address, path, "").contains(SECRET);
        assert!(shows("/log") && shows("/api/v1/events/1"), "the control");
        let args = ["redact", "--pattern", SECRET, "--reason", "gone"];
        place.run(&args).ok();
        for n in 0..3 {
            for path in pages {
                let answer = page(&address, path, "");
                assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
                assert!(
                    !answer.contains(SECRET),
                    "{path} after {n} more, {is_owned}"
                );
            }
            submit(&place, 2 + n);
        }
        serving.end();
        if let Some(owner) = owner {
            end(owner);
        }
    }
}

#[test]
fn the_log_is_shown_in_a_browser_beside_its_owner() {
    let place = Place::with_log();
    submit(&place, 1);
    let shown = place.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut serving = Running::of(shown);
    let first = serving.next();
    assert_eq!(
        (&first["state"], &first["position"]),
        (&json!("serving"), &json!(1))
    );
    let address = first["address"].as_str().unwrap();
    assert_eq!(get(address, ""), "HTTP/1.1 200 OK");
    // It does not own the log: a process that wants it for itself gets it.
    submit(&place, 2);
    place.run(&["--exclusive", "submit", "x"]).ok();
    serving.end();
}

#[test]
fn what_shows_the_log_may_own_it_too() {
    let place = Place::with_log();
    let shown = place.command(&["serve", "--own", "--listen", "127.0.0.1:0", "--json"]);
    let mut serving = Running::of(shown);
    let first = serving.next();
    assert_eq!(first["state"], "serving");
    assert_eq!(serving.next()["state"], "owner");
    submit(&place, 1);
    let refused = place.run(&["--exclusive", "submit", "x"]);
    assert!(refused.stderr.contains("locked"), "{}", refused.stderr);
    assert_eq!(
        get(first["address"].as_str().unwrap(), ""),
        "HTTP/1.1 200 OK"
    );
    end(serving);
}

#[test]
fn others_need_the_token_that_is_printed_once() {
    let place = Place::with_log();
    let shown = place.command(&["serve", "--listen", "0.0.0.0:0", "--json"]);
    let mut serving = Running::of(shown);
    let first = serving.next();
    let token = first["token"].as_str().unwrap().to_owned();
    let address = first["address"]
        .as_str()
        .unwrap()
        .replace("0.0.0.0", "127.0.0.1");
    assert_eq!(get(&address, ""), "HTTP/1.1 401 Unauthorized");
    let with = format!("authorization: Bearer {token}\r\n");
    assert_eq!(get(&address, &with), "HTTP/1.1 200 OK");
    serving.end();

    std::fs::write(place.path("token"), "of my own, with spaces\n").unwrap();
    let spaces = place.run(&["serve", "--listen", "127.0.0.1:0", "--token-file", "token"]);
    spaces.fails(1, &["cannot stand in an address"]);
    for short in ["abc", "123456789012345"] {
        std::fs::write(place.path("token"), short).unwrap();
        for command in [&["serve", "--listen"][..], &["record", "--otlp"]] {
            let args = [command, &["127.0.0.1:0", "--token-file", "token"]].concat();
            let ran = place.run(&args);
            ran.fails(1, &["fewer than 16 characters"]);
        }
    }
    std::fs::write(place.path("token"), "my-own-0123456789\n").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(place.path("token"), open).unwrap();
    // It is named before the address is listened on, which is taken.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for command in [&["serve", "--listen"][..], &["record", "--otlp"]] {
        let args = [command, &[address.as_str(), "--token-file", "token"]].concat();
        let said = ["others can read or change the token in token", "0666"];
        place.run(&args).fails(1, &said);
    }
    let shown = place.command(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--token-file",
        "token",
        "--json",
    ]);
    let mut serving = Running::of(shown);
    let first = serving.next();
    assert_eq!(first["token"], json!(null), "it is known where the file is");
    let address = first["address"].as_str().unwrap();
    assert_eq!(get(address, ""), "HTTP/1.1 401 Unauthorized");
    assert_eq!(
        get(address, "authorization: Bearer my-own-0123456789\r\n"),
        "HTTP/1.1 200 OK"
    );
    serving.end();
}

#[test]
fn an_address_that_is_taken_is_named() {
    let place = Place::with_log();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = place.run(&["serve", "--listen", &address]);
    refused.fails(1, &["cannot listen on", &address]);
}

#[test]
fn an_object_is_exported_as_a_file_whose_proof_can_be_checked() {
    let (place, story) = grown();
    let run = story.run.as_str();
    let said = place
        .run(&["export", "html", run, "--out", "run.html", "--json"])
        .ok()
        .json();
    let html = std::fs::read_to_string(place.path("run.html")).unwrap();
    assert_eq!(said["bytes"], html.len());
    assert_eq!(place.run(&["export", "html", run]).ok().stdout, html);
    // What a person saves from it.
    for name in ["proof.json", "checkpoint"] {
        let (_, rest) = html.split_once(&format!("download=\"{name}\"")).unwrap();
        let (_, rest) = rest.split_once("base64,").unwrap();
        let (text, _) = rest.split_once('"').unwrap();
        std::fs::write(place.path(name), unbase64(text)).unwrap();
    }
    let elsewhere = [
        "--log",
        "no-log",
        "verify",
        "--proof",
        "proof.json",
        "--checkpoint",
        "checkpoint",
    ];
    let checked = place.run(&elsewhere);
    assert_eq!(checked.status, 0, "{checked:?}");
    place
        .run(&["export", "html", "ffffffff"])
        .fails(1, &["no object"]);
    place
        .run(&["export", "html", run, "--at", "99999"])
        .fails(1, &["is not there yet"]);
}

/// Hard links of a log share its files and its owner's socket: what is written to a copy would be in the original.
#[test]
fn nothing_is_written_to_a_hard_linked_copy_of_a_log_that_has_an_owner() {
    let place = Place::with_log();
    let mut serving = start(&place);
    assert_eq!(serving.next()["state"], "owner");
    submit(&place, 1);
    let copy = place.path("copy");
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(place.log_dir())
        .unwrap()
        .map(Result::unwrap)
    {
        if !entry.file_type().unwrap().is_dir() {
            std::fs::hard_link(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    for log in ["copy", "log"] {
        let refused = place.run(&["--log", log, "submit", "x"]);
        assert_eq!(refused.status, 1, "{refused:?}");
        assert!(
            refused.stderr.contains("in another folder, too"),
            "{refused:?}"
        );
    }
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 1);
    std::fs::remove_dir_all(&copy).unwrap();
    submit(&place, 2);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 2);
    end(serving);
}

//! What strangers send: it gets the right status, takes no memory, and the log stays as it is.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use annals_testkit::process::{WIDE, assert_within, own_allocated};
use annals_viewer::ViewerOptions;

use crate::pages::addresses;
use crate::support::{INTENT, PIPELINE, Place, RUN, TASK, Viewing, fingerprint, story, uuid};

#[test]
fn nothing_but_reading_is_answered() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        for path in ["/", "/runs", "/api/v1/runs", "/api/v1/live", "/no/such"] {
            let answer = viewing.request(method, path, &[]);
            assert_eq!(
                (answer.status, answer.header("allow")),
                (405, "GET, HEAD"),
                "{method} {path}"
            );
        }
    }
    let connect = viewing.request("CONNECT", "127.0.0.1:1", &[]);
    assert!(matches!(connect.status, 400 | 405 | 421), "{connect:?}");
    let head = viewing.request("HEAD", "/runs", &[]);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn every_answer_says_what_browsers_must_not_do() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let answers = [
        viewing.get("/"),
        viewing.get("/api/v1/runs"),
        viewing.get("/assets/viewer.js"),
        viewing.get("/no/such"),
        viewing.request("POST", "/", &[]),
        viewing.request("GET", "/", &[("host", "evil.example")]),
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        let cache = answer.header("cache-control");
        let is_asset = answer.status == 200 && !answer.header("etag").is_empty();
        assert_eq!(cache, if is_asset { "no-cache" } else { "no-store" });
    }
}

#[test]
fn what_is_not_there_is_named_with_its_status() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let long = "f".repeat(8_000);
    let huge = u64::MAX.to_string();
    let beyond = format!("1{}", "0".repeat(30));
    let run = uuid(RUN);
    let none = uuid(0xdead);
    let status = |path: &str, expected: u16, code: &str| {
        let answer = viewing.get(&format!("/api/v1{path}"));
        assert_eq!(answer.status, expected, "{path}: {answer:?}");
        assert_eq!(
            answer.header("content-type"),
            "application/problem+json",
            "{path}"
        );
        let json = answer.json();
        assert_eq!(
            (json["code"].as_str(), json["status"].as_u64()),
            (Some(code), Some(expected.into())),
            "{path}"
        );
        assert!(
            answer.body.len() < 1_000,
            "{path} is said at length: {}",
            answer.body.len()
        );
        // The page says the same.
        let page = viewing.get(path);
        assert_eq!(page.status, expected, "{path}");
        assert!(
            page.header("content-type").starts_with("text/html"),
            "{path}"
        );
        assert_eq!(page.body.matches("<script").count(), 0, "{path}");
    };
    status("/no/such", 404, "not_found");
    status("/objects", 404, "not_found");
    status(&format!("/objects/{none}"), 404, "not_found");
    status("/objects/ffffffff", 404, "not_found");
    status(&format!("/objects/{long}"), 400, "invalid_id");
    status(
        "/objects/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        400,
        "invalid_id",
    );
    status("/objects/..%2F..%2Fetc%2Fpasswd", 400, "invalid_id");
    status("/objects/%00", 400, "invalid_id");
    status("/objects/no-such-alias", 404, "not_found");
    status("/events/0", 404, "beyond_end");
    status(&format!("/events/{huge}"), 404, "beyond_end");
    status(&format!("/events/{beyond}"), 400, "invalid_request");
    status("/events/-1", 400, "invalid_request");
    status(&format!("/runs?at={huge}"), 404, "beyond_end");
    status(&format!("/runs?at={beyond}"), 400, "invalid_time");
    status("/runs?at=soon", 400, "invalid_time");
    status(
        "/runs?at=occurred:2026-01-01T00:00:00Z",
        400,
        "invalid_request",
    );
    status("/runs?after=x", 400, "invalid_request");
    status(&format!("/runs?after={beyond}"), 400, "invalid_request");
    status("/runs?limit=0", 400, "invalid_request");
    status("/runs?limit=100000000", 400, "invalid_request");
    status("/runs?status=%3Cb%3E", 400, "invalid_request");
    status("/runs?parent=zzz", 404, "not_found");
    status("/log?order=sideways", 400, "invalid_request");
    status("/decisions?verdict=maybe", 400, "invalid_request");
    status("/inbox?at=1", 400, "invalid_request");
    status("/costs?at=1", 400, "invalid_request");
    status("/costs?by=%3Cb%3E", 400, "invalid_request");
    status("/costs?by=day,day", 400, "invalid_query");
    status("/costs?since=tomorrow", 400, "invalid_request");
    status("/costs?until=2026-01-01T00:01:00Z", 400, "invalid_query");
    status("/costs?of=zzz", 404, "not_found");
    status("/search?q=%22open", 400, "invalid_query");
    status("/search?q=a&kind=%3Cb%3E", 400, "invalid_request");
    status("/search?q=a&in=secrets", 400, "unknown_facet");
    status("/search?q=a&from=1001", 400, "invalid_request");
    status(&format!("/search?q={long}"), 400, "invalid_query");
    status("/compare?a=zzz&b=zzz", 404, "not_found");
    status(&format!("/compare?a={long}&b={run}"), 400, "invalid_id");
    status(
        &format!("/objects/{}/window?beside=%3Cb%3E&keep=1", uuid(PIPELINE)),
        400,
        "invalid_request",
    );
    status(
        &format!(
            "/objects/{}/window?beside=max_frames&keep=0",
            uuid(PIPELINE)
        ),
        400,
        "invalid_request",
    );
    status(
        &format!("/objects/{}/timeline", uuid(INTENT)),
        400,
        "invalid_request",
    );
    status(&format!("/objects/{run}/diff"), 400, "invalid_request");
    status(
        &format!("/objects/{}/window", uuid(INTENT)),
        404,
        "no_window",
    );
    status(&format!("/objects/{run}?at=1"), 404, "not_yet");
    let session = format!("/sessions/{}", uuid(TASK));
    status("/sessions/zzzz", 404, "not_found");
    status("/sessions/%3Cscript%3E", 404, "not_found");
    status("/sessions/@0", 404, "not_found");
    status("/sessions/@2", 404, "not_found");
    status(&format!("/sessions/{none}"), 404, "not_found");
    status(&format!("/sessions/{long}"), 400, "invalid_request");
    status(&format!("{session}?at=1"), 404, "not_yet");
    status(&format!("{session}?from=x"), 400, "invalid_request");
    status(&format!("{session}?limit=0"), 400, "invalid_request");
    status(&format!("{session}?limit=1001"), 400, "invalid_request");
    status(
        &format!("{session}/files?prompt=-1"),
        400,
        "invalid_request",
    );
    status(
        &format!("{session}/files?from={beyond}"),
        400,
        "invalid_request",
    );
    status(&format!("{session}/find?q={long}"), 400, "invalid_request");
    status(&format!("{session}/nothing"), 404, "not_found");
    status(&format!("{session}/context?run=0"), 400, "invalid_request");
    status(&format!("{session}/context?run=99"), 400, "invalid_request");
    status(
        &format!("{session}/context?beside=x"),
        400,
        "invalid_request",
    );
    status(
        &format!("{session}/history?order=x"),
        400,
        "invalid_request",
    );
    status(
        &format!("{session}/timeline?from=x"),
        400,
        "invalid_request",
    );
    for page in ["timeline", "context", "history", "proof"] {
        status(&format!("{session}/{page}?at=1"), 404, "not_yet");
        status(&format!("/sessions/zzzz/{page}"), 404, "not_found");
    }
    for filter in [
        "sort=%3Cb%3E",
        "order=up",
        "date=soon",
        "cost=free",
        "cost=-1",
        "until=x",
        "from=-1",
        "limit=201",
    ] {
        status(&format!("/sessions?{filter}"), 400, "invalid_request");
    }
    let exported = viewing.get(&format!("{session}/export?format=exe"));
    assert_eq!(exported.status, 400, "{exported:?}");
    // Cursors that lead beyond the end show that there is nothing.
    for path in [
        format!("/runs?after={huge}"),
        format!("/log?after={huge}"),
        format!("/log?order=oldest&after={huge}"),
        format!("/objects/{run}/history?after={huge}"),
        format!("/objects/{run}/history?order=newest&after=0"),
        format!("/objects/{run}/timeline?from={huge}"),
        format!("/objects/{run}/window?from={huge}"),
        format!("/decisions?after={huge}"),
        format!("/costs?from={huge}"),
        format!("/compare?a={run}&b={run}&from={huge}"),
        format!("/objects/{run}/window?beside=token_budget&keep={huge}"),
        format!("/sessions?from={huge}"),
        format!("{session}?from={huge}"),
        format!("{session}/turns?from={huge}&limit=1"),
        format!("{session}/files?from={huge}"),
        format!("{session}/timeline?from={huge}"),
        format!("{session}/context?from={huge}"),
        format!("{session}/history?after={huge}"),
        format!("{session}/history?after={huge}&order=oldest"),
        format!("{session}/files?prompt={huge}"),
    ] {
        assert_eq!(viewing.get(&format!("/api/v1{path}")).status, 200, "{path}");
        assert_eq!(viewing.get(&path).status, 200, "{path}");
    }
}

#[test]
fn no_path_leads_to_files() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    for path in [
        "/../../etc/passwd",
        "/assets/../../etc/passwd",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets//etc/passwd",
        "/assets/viewer.css%00.html",
        "/assets/..\\..\\etc\\passwd",
        "/log/WATERMARK",
        "//etc/passwd",
    ] {
        let answer = viewing.get(path);
        assert!(
            matches!(answer.status, 400 | 404),
            "{path}: {}",
            answer.status
        );
        assert!(!answer.body.contains("root:"), "{path}");
    }
}

#[test]
fn heads_and_bodies_have_limits() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let host = viewing.host();
    let long = "a".repeat(100_000);
    let many: String = (0..1_000).map(|n| format!("x-{n}: y\r\n")).collect();
    for (what, request, statuses) in [
        (
            "a long address",
            format!("GET /?a={long} HTTP/1.1\r\nhost: {host}\r\n\r\n"),
            &[414, 431][..],
        ),
        (
            "a long header",
            format!("GET / HTTP/1.1\r\nhost: {host}\r\nx: {long}\r\n\r\n"),
            &[431],
        ),
        (
            "many headers",
            format!("GET / HTTP/1.1\r\nhost: {host}\r\n{many}\r\n"),
            &[431],
        ),
        (
            "a body",
            format!("GET / HTTP/1.1\r\nhost: {host}\r\ncontent-length: 5\r\n\r\nhello"),
            &[413],
        ),
        (
            "a huge body",
            format!("GET / HTTP/1.1\r\nhost: {host}\r\ncontent-length: 99999999999\r\n\r\n"),
            &[413],
        ),
        (
            "a chunked body",
            format!(
                "GET / HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            ),
            &[413],
        ),
        (
            "two lengths",
            format!(
                "GET / HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"
            ),
            &[400],
        ),
        (
            "no host",
            "GET / HTTP/1.1\r\nconnection: close\r\n\r\n".to_owned(),
            &[400],
        ),
        (
            "two hosts",
            format!(
                "GET / HTTP/1.1\r\nhost: {host}\r\nhost: evil.example\r\nconnection: close\r\n\r\n"
            ),
            &[400],
        ),
        (
            "no HTTP",
            "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n".to_owned(),
            &[400],
        ),
        ("a bare line", "hello\r\n\r\n".to_owned(), &[400]),
    ] {
        let answer = viewing.send(request.as_bytes());
        assert!(statuses.contains(&answer.status), "{what}: {answer:?}");
    }
    assert_eq!(viewing.get("/").status, 200);
}

#[test]
fn a_name_that_was_made_to_lead_here_is_not_answered() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let port = viewing.address.port();
    for host in [
        "evil.example",
        format!("evil.example:{port}").as_str(),
        "127.0.0.1",
        format!("127.0.0.1.nip.example:{port}").as_str(),
    ] {
        let answer = viewing.request("GET", "/api/v1/runs", &[("host", host)]);
        assert_eq!(
            (answer.status, answer.json()["code"].as_str()),
            (421, Some("wrong_host")),
            "{host}"
        );
        assert!(!answer.body.contains(&uuid(RUN)));
    }
    let absolute = format!(
        "GET http://evil.example/runs HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
        viewing.host()
    );
    assert_eq!(viewing.send(absolute.as_bytes()).status, 421);
    for origin in ["http://evil.example", "null", "https://127.0.0.1"] {
        let answer = viewing.request("GET", "/api/v1/runs", &[("origin", origin)]);
        assert_eq!(answer.status, 403, "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    let own = format!("http://{}", viewing.host());
    assert_eq!(
        viewing
            .request("GET", "/api/v1/runs", &[("origin", &own)])
            .status,
        200
    );
    assert_eq!(
        viewing
            .request("GET", "/api/v1/runs", &[("sec-fetch-site", "cross-site")])
            .status,
        403
    );
}

/// Whether this process runs one test alone; otherwise it runs that one in a process that does.
fn is_alone(test: &str) -> bool {
    const ALONE: &str = "ANNALS_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    alone.args(["--exact", test, "--nocapture"]).env(ALONE, "1");
    let ran = alone.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    false
}

/// Files that this process has open.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_clients_that_only_hold_on_keep_nobody_out() {
    // Memory and files are the process's: other tests would count as well.
    let name = "hostile::ten_thousand_clients_that_only_hold_on_keep_nobody_out";
    if !is_alone(name) {
        return;
    }
    let place = Place::new();
    story(&place);
    let mut options = ViewerOptions::new(([127, 0, 0, 1], 0).into());
    options.connections = 64;
    let viewing = Viewing::with(&place, options);
    assert_eq!(viewing.get("/").status, 200);
    let (memory, files) = (own_allocated(), open_files());
    let mut slow: Vec<TcpStream> = Vec::new();
    let mut worst = Duration::ZERO;
    for n in 0..10_000 {
        let mut stream = viewing.connect();
        // Some say nothing, some a part of a head, and some ask and take no answer.
        match n % 3 {
            0 => {}
            1 => drop(stream.write_all(b"GET / HTTP/1.1\r\nx: ")),
            _ => drop(
                stream.write_all(
                    format!(
                        "GET /assets/viewer.css HTTP/1.1\r\nhost: {}\r\n\r\n",
                        viewing.host()
                    )
                    .as_bytes(),
                ),
            ),
        }
        slow.push(stream);
        if slow.len() > 400 {
            // Their own side of those that were closed long ago.
            slow.drain(..200);
        }
        if n % 500 == 499 {
            let began = Instant::now();
            assert_eq!(viewing.get("/api/v1/runs").status, 200, "after {n}");
            worst = worst.max(began.elapsed());
        }
    }
    println!("an honest request took {worst:?} at most");
    assert_within(worst, Duration::from_secs(20));
    // The viewer's side of the connections, besides our own. A busy machine closes the last ones a moment later.
    let theirs = || open_files().saturating_sub(files + slow.len());
    let began = Instant::now();
    while theirs() > 64 + 8 {
        let open = theirs();
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{open} connections are open"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let grown = own_allocated().saturating_sub(memory);
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes more");
}

#[test]
fn a_head_that_never_ends_is_given_up() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let mut stream = viewing.connect();
    stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let began = Instant::now();
    let mut left = Vec::new();
    let mut trickle = stream.try_clone().unwrap();
    let slow = std::thread::spawn(move || {
        // A byte now and then does not help.
        while trickle.write_all(b"x").is_ok() && began.elapsed() < WIDE * 2 {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let _ = stream.read_to_end(&mut left);
    assert_within(began.elapsed(), Duration::from_secs(15));
    slow.join().unwrap();
}

#[test]
fn those_who_hang_up_do_no_harm() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    for n in 0..200 {
        let mut stream = viewing.connect();
        let request = format!(
            "GET /log?limit=200 HTTP/1.1\r\nhost: {}\r\n\r\n",
            viewing.host()
        );
        let part = &request.as_bytes()[..request.len() - n % 3];
        let _ = stream.write_all(part);
        // Of a whole request some take the beginning of the answer.
        if n % 3 == 0 {
            let _ = stream.read(&mut [0; 10]);
        }
    }
    assert_eq!(viewing.get("/").status, 200);
}

#[test]
fn the_log_stays_as_it_is() {
    let place = Place::new();
    story(&place);
    let root = place.root();
    // As nobody writes to it, no byte of it may change.
    futures::executor::block_on(place.annals.close());
    let folder = place.dir.path().join("log");
    let before = fingerprint(&folder);
    let reader = annals::OpenOptions::new()
        .read_only(true)
        .open(&place.log())
        .unwrap();
    let options = ViewerOptions::new(([127, 0, 0, 1], 0).into());
    let mut viewing = Viewing::over(reader.clone(), options);
    for address in addresses() {
        for method in ["GET", "HEAD", "POST", "DELETE"] {
            let answer = viewing.request(method, &address, &[]);
            assert!(
                matches!(answer.status, 200 | 405),
                "{method} {address}: {}",
                answer.status
            );
        }
        let at = if address.contains('?') {
            "&at=9"
        } else {
            "?at=9"
        };
        viewing.get(&format!("{address}{at}"));
    }
    viewing.send(b"\0\0\0\r\n\r\n");
    viewing.end();
    futures::executor::block_on(reader.close());
    assert_eq!(
        fingerprint(&folder),
        before,
        "files of the log have changed"
    );
    let again = annals::OpenOptions::new()
        .read_only(true)
        .open(&place.log())
        .unwrap();
    let head = futures::executor::block_on(again.proofs().head(None)).unwrap();
    assert_eq!(head.root, root);
}

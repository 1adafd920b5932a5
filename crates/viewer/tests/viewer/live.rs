//! A page that follows the log is told when an event comes.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::support::{Place, RUN, Viewing, story, uuid};

/// The lines of a stream of events.
fn follow(viewing: &Viewing, after: u64) -> impl Iterator<Item = String> + use<> {
    let mut stream = viewing.connect();
    let request = format!(
        "GET /api/v1/live?after={after} HTTP/1.1\r\nhost: {}\r\n\r\n",
        viewing.host()
    );
    stream.write_all(request.as_bytes()).unwrap();
    BufReader::new(stream).lines().map_while(Result::ok)
}

fn next(lines: &mut impl Iterator<Item = String>) -> Value {
    let line = lines
        .find(|line| line.starts_with("data: {"))
        .expect("a message");
    serde_json::from_str(line.trim_start_matches("data: ")).unwrap()
}

#[test]
fn what_comes_is_told_with_its_streams() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let end = place.annals.position().0;
    let mut lines = follow(&viewing, end);
    let head = lines.find(|line| line.starts_with("content-type")).unwrap();
    assert_eq!(head, "content-type: text/event-stream");
    place.agent(
        "set_metadata",
        json!({ "object": uuid(RUN), "tags": { "a": "b" } }),
    );
    let news = next(&mut lines);
    assert_eq!(news["position"], place.annals.position().0);
    assert_eq!(news["streams"], json!([format!("run-{}", uuid(RUN))]));
    place.human("create_intent", json!({ "prompt": "another" }));
    let news = next(&mut lines);
    assert_eq!(news["position"], place.annals.position().0);
    // One that begins behind is told of what it missed.
    let mut late = follow(&viewing, end);
    assert_eq!(next(&mut late)["streams"].as_array().unwrap().len(), 2);
}

#[test]
fn followers_end_with_the_viewer() {
    let place = Place::new();
    story(&place);
    let mut viewing = Viewing::of(&place);
    let mut lines = follow(&viewing, place.annals.position().0);
    assert_eq!(lines.next().as_deref(), Some("HTTP/1.1 200 OK"));
    viewing.end();
    // It ends, or this would not.
    lines.for_each(drop);
}

#[test]
fn so_many_may_follow_and_no_more() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let mut following = Vec::new();
    for _ in 0..64 {
        let mut lines = follow(&viewing, 0);
        assert_eq!(lines.next().as_deref(), Some("HTTP/1.1 200 OK"));
        following.push(lines);
    }
    let refused = viewing.get("/api/v1/live");
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    assert_eq!(refused.json()["code"], "busy");
    // Those that hang up make room.
    following.clear();
    let mut tries = 0..2_400;
    let again = tries.any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        follow(&viewing, 0).next().as_deref() == Some("HTTP/1.1 200 OK")
    });
    assert!(again);
}

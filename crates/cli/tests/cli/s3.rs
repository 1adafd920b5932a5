//! Content of a log on PostgreSQL in S3: with a server that speaks as much of its protocol as the client uses.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::postgres::{server, url};
use crate::support::{Place, Ran, human, uuid};

const KEY: &str = "AKIDEXAMPLE";

/// Objects by their paths.
type Objects = Arc<Mutex<BTreeMap<String, Bytes>>>;

async fn answer(
    State(objects): State<Objects>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let signed = headers
        .get(header::AUTHORIZATION)
        .and_then(|it| it.to_str().ok());
    let by = format!("AWS4-HMAC-SHA256 Credential={KEY}/");
    if !signed.is_some_and(|it| it.starts_with(&by)) {
        return (
            StatusCode::FORBIDDEN,
            "<Error><Code>AccessDenied</Code></Error>",
        )
            .into_response();
    }
    let path = uri.path().to_owned();
    let mut objects = objects.lock().unwrap();
    let named = [
        (header::ETAG, "\"1\""),
        (header::LAST_MODIFIED, "Thu, 26 Nov 2026 10:00:00 GMT"),
    ];
    match method {
        Method::PUT => {
            objects.insert(path, body);
            (named, "").into_response()
        }
        Method::GET | Method::HEAD => match objects.get(&path) {
            Some(content) => (named, content.clone()).into_response(),
            None => (
                StatusCode::NOT_FOUND,
                "<Error><Code>NoSuchKey</Code></Error>",
            )
                .into_response(),
        },
        Method::DELETE => {
            objects.remove(&path);
            StatusCode::NO_CONTENT.into_response()
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

/// Starts the server, which goes with the tests' process.
fn started() -> (SocketAddr, Objects) {
    let objects = Objects::default();
    let router = Router::new()
        .fallback(answer)
        .with_state(Arc::clone(&objects));
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
    });
    (told.recv().unwrap(), objects)
}

#[test]
fn content_is_in_a_bucket_and_goes_with_a_redaction() {
    let Some(server) = server() else {
        return;
    };
    let place = Place::at(format!("{}&blobs=s3://bucket/annals/team", url(server)));
    let (address, objects) = started();
    let with_key = |key: &str, args: &[&str]| {
        let mut command = place.command(args);
        command
            .env("AWS_ENDPOINT", format!("http://{address}"))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "eu-central-1")
            .env("AWS_ACCESS_KEY_ID", key)
            .env("AWS_SECRET_ACCESS_KEY", "hunter2-secret");
        command
    };
    let run = |args: &[&str]| Ran::of(with_key(KEY, args).output().unwrap());
    run(&["init"]).ok();
    let long = "what nobody should keep ".repeat(400);
    let command = human("create_intent", json!({ "id": uuid(1), "prompt": long }));
    std::fs::write(place.path("command.json"), format!("{command}\n")).unwrap();
    run(&["apply", "command.json"]).ok();
    let paths = || objects.lock().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths().len(), 1);
    assert!(
        paths()[0].starts_with("/bucket/annals/team/"),
        "{:?}",
        paths()
    );
    let first = paths().remove(0);
    assert_eq!(objects.lock().unwrap()[&first].len(), long.len());
    let shown = run(&["show", &uuid(1)]).ok();
    assert!(
        shown.stdout.contains("what nobody should keep"),
        "{shown:?}"
    );
    run(&["verify"]).ok();

    // Another key may do nothing; what it was to bring is not acknowledged, and its key is not shown.
    let command = human(
        "create_intent",
        json!({ "id": uuid(2), "prompt": format!("{long}!") }),
    );
    std::fs::write(place.path("command.json"), format!("{command}\n")).unwrap();
    let refused = with_key("AKIDOTHER", &["apply", "command.json"]);
    let refused = Ran::of({ refused }.output().unwrap());
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert_ne!(refused.status, 0, "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    assert_eq!(paths().len(), 1);
    run(&["show", &uuid(2)]).fails(1, &["there is no object"]);

    let log = run(&["log", "--json"]).ok().lines();
    let submitted = log
        .iter()
        .find(|event| event["event_type"] == "intent.submitted");
    let position = submitted.unwrap()["position"].to_string();
    run(&["redact", &position, "--reason", "a secret"]).ok();
    assert_eq!(paths(), Vec::<String>::new());
    run(&["verify"]).ok();
}

#[test]
fn a_bucket_that_cannot_be_used_is_said() {
    let Some(server) = server() else {
        return;
    };
    let place = Place::at(format!("{}&blobs=s3://", url(server)));
    let ran = place.run(&["init"]).fails(2, &["blobs=s3://"]);
    assert!(!ran.stderr.contains(server.password()));
}

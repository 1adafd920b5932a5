//! The program that drives the browser, and the requests that it is sent.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use axum::http::{Request, Response};
use bytes::Bytes;
use thirtyfour::prelude::{WebDriverError, WebDriverResult};
use thirtyfour::session::http::{Body, HttpClient};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Chromium's driver, which ends with the test.
pub struct Driver {
    pub port: u16,
    process: Child,
}

impl Driver {
    /// Starts it on a port that it chooses.
    pub fn start() -> Result<Driver, String> {
        let missing = |what: &str| {
            format!(
                "{what}: the pages were not tried in a browser; `make setup` installs chromium and chromium-driver on Debian and Ubuntu"
            )
        };
        let browser = ["chromium", "chromium-browser", "google-chrome"]
            .iter()
            .any(|name| {
                let version = Command::new(name)
                    .arg("--version")
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
                version.is_ok_and(|status| status.success())
            });
        if !browser {
            return Err(missing("there is no chromium"));
        }
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut process =
            started.map_err(|error| missing(&format!("chromedriver does not start ({error})")))?;
        let lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        for line in lines.map_while(Result::ok) {
            let port = line
                .rsplit("on port ")
                .next()
                .filter(|_| line.contains("successfully"));
            if let Some(port) = port.and_then(|port| port.trim_end_matches('.').parse().ok()) {
                return Ok(Driver { port, process });
            }
        }
        let _ = process.kill();
        Err(missing("chromedriver did not say its port"))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends requests to the driver on this machine, one a connection.
pub struct Client;

fn failed(error: &impl ToString) -> WebDriverError {
    WebDriverError::RequestFailed(error.to_string())
}

/// The length of a body, by its head.
fn length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    line.and_then(|line| line.trim().parse().ok()).unwrap_or(0)
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send(&self, request: Request<Body<'_>>) -> WebDriverResult<Response<Bytes>> {
        let body = match request.body() {
            Body::Empty => String::new(),
            Body::Json(json) => json.to_string(),
        };
        let uri = request.uri();
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        let head = format!(
            "{} {} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            request.method(),
            uri.path(),
            body.len()
        );
        let mut stream = TcpStream::connect(&host)
            .await
            .map_err(|error| failed(&error))?;
        stream
            .write_all(head.as_bytes())
            .await
            .map_err(|error| failed(&error))?;
        stream
            .write_all(body.as_bytes())
            .await
            .map_err(|error| failed(&error))?;
        // The driver keeps the connection open: its answer says how long it is.
        let mut answer: Vec<u8> = Vec::new();
        let end = loop {
            if let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n")
                && answer.len() >= end + 4 + length(&answer[..end])
            {
                break end;
            }
            let read = stream.read_buf(&mut answer).await;
            if read.map_err(|error| failed(&error))? == 0 {
                return Err(failed(&"the driver gave no whole answer"));
            }
        };
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|word| word.parse::<u16>().ok());
        let response = Response::builder().status(status.unwrap_or(500));
        let body = Bytes::copy_from_slice(&answer[end + 4..]);
        response.body(body).map_err(|error| failed(&error))
    }

    async fn new(&self) -> Arc<dyn HttpClient> {
        Arc::new(Client)
    }
}

//! The style sheet, the script and the icon: parts of the program, each with its digest as its tag.

use annals::event_log::Digest;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

pub(crate) const CSS: &str = include_str!("assets/viewer.css");
const JS: &str = include_str!("assets/viewer.js");
const ICON: &str = include_str!("assets/icon.svg");

/// An asset by its name.
fn find(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "viewer.css" => Some((CSS, "text/css; charset=utf-8")),
        "viewer.js" => Some((JS, "text/javascript; charset=utf-8")),
        "icon.svg" => Some((ICON, "image/svg+xml")),
        _ => None,
    }
}

/// The asset, or that the one which the browser has is the same.
pub(crate) fn answer(name: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let Some((text, kind)) = find(name) else {
        return Err(Problem::not_found("there is no such file"));
    };
    let digest = Digest::of(text.as_bytes()).to_string();
    let tag = format!("\"{}\"", digest.get(..16).unwrap_or_default());
    let known = headers.get(header::IF_NONE_MATCH);
    let known = known.and_then(|value| value.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Response::new(Body::from(text)),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // Kept, and asked about each time: another version of the program has another one.
    let keep = HeaderValue::from_static("no-cache");
    headers.insert(header::CACHE_CONTROL, keep);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

//! The one way out of this crate for pages and for JSON: what is hidden in recorded texts is shown, as on a terminal.
//!
//! A text from a log may have characters without a shape that reorder, hide or drive what is around them: controls of
//! terminals, overrides of the direction, invisible letters. A person who decides by a page must see them. Markup is ASCII
//! but for recorded texts and a few signs of ours, so that the rules of [`annals_terminal`] hold for a whole page: in its
//! texts, its attributes and its title. In JSON they are JSON's own escapes, which mean the same.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::Markup;
use serde::Serialize;

use crate::problem::Problem;

/// A page's text, with what is hidden as visible escapes.
pub(crate) fn html(page: Markup) -> String {
    annals_terminal::lines(&page.into_string()).into_owned()
}

/// A page as an answer.
pub(crate) fn page(page: Markup) -> Response {
    Html(html(page)).into_response()
}

/// JSON as an answer, with what is hidden as JSON's escapes.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<Response, Problem> {
    let text = serde_json::to_string(value).map_err(|error| {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Problem::new(status, "unencodable", error.to_string())
    })?;
    let mut response = annals_terminal::json(&text).into_owned().into_response();
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use axum::body::to_bytes;
    use maud::html;

    use super::*;

    const HIDDEN: &str = "a\u{202e}b\u{1b}[2J\u{9b}c\u{200b}d\u{7f}e\r\u{e0041}";
    const SHOWN: &str = r"a\u{202e}b\u{1b}[2J\u{9b}c\u{200b}d\u{7f}e\r\u{e0041}";

    #[test]
    fn a_page_shows_what_is_hidden_in_texts_and_attributes() {
        let page = html! { title { (HIDDEN) } p title=(HIDDEN) data-copy=(HIDDEN) { (HIDDEN) "\n\té 日本" } };
        let expected = format!(
            "<title>{SHOWN}</title><p title=\"{SHOWN}\" data-copy=\"{SHOWN}\">{SHOWN}\n\té 日本</p>"
        );
        assert_eq!(html(page), expected);
    }

    #[test]
    fn json_means_the_same() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.build().unwrap();
        let body = json(&HIDDEN).unwrap().into_body();
        let bytes = runtime.block_on(to_bytes(body, 10_000)).unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(!text.chars().any(annals_terminal::is_hidden), "{text}");
        let back: String = serde_json::from_str(&text).unwrap();
        assert_eq!(back, HIDDEN);
    }
}

//! Others than this machine's users need the token.

use annals_viewer::{Token, Viewer, ViewerOptions};

use crate::support::{Place, Viewing, story};

fn with_token() -> (Place, Viewing) {
    let place = Place::new();
    story(&place);
    let mut options = ViewerOptions::new(([127, 0, 0, 1], 0).into());
    options.token = Token::read("right");
    let viewing = Viewing::with(&place, options);
    (place, viewing)
}

#[test]
fn an_address_that_others_can_reach_needs_a_token() {
    let place = Place::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open = ViewerOptions::new(([0, 0, 0, 0], 0).into());
    let started = runtime.block_on(Viewer::start(place.annals.clone(), open));
    assert!(started.unwrap_err().to_string().contains("token"));
}

#[test]
fn the_token_comes_once_in_the_address_and_then_as_a_cookie() {
    let (_place, viewing) = with_token();
    let refused = viewing.get("/runs");
    assert_eq!(
        (refused.status, refused.header("www-authenticate")),
        (401, "Bearer")
    );
    let program = viewing.get("/api/v1/runs");
    assert_eq!(
        (program.status, program.json()["code"].as_str()),
        (401, Some("no_token"))
    );
    let wrong = viewing.get("/runs?token=wrong");
    assert_eq!(wrong.status, 401);
    assert!(!wrong.body.contains("right"), "{}", wrong.body);

    let first = viewing.get("/runs?limit=3&token=right");
    assert_eq!(
        (first.status, first.header("location")),
        (303, "/runs?limit=3")
    );
    let cookie = first.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();
    for (header, value) in [("cookie", cookie), ("authorization", "Bearer right")] {
        assert_eq!(
            viewing.request("GET", "/runs", &[(header, value)]).status,
            200,
            "{header}"
        );
        assert_eq!(
            viewing
                .request("GET", "/assets/viewer.css", &[(header, value)])
                .status,
            200
        );
    }
    for (header, value) in [
        ("cookie", "annals-1=right"),
        ("authorization", "Bearer righ"),
        ("authorization", "right"),
    ] {
        assert_eq!(
            viewing.request("GET", "/runs", &[(header, value)]).status,
            401,
            "{value}"
        );
    }
}

#[test]
fn the_first_visit_leads_nowhere_else() {
    let (_place, viewing) = with_token();
    for path in ["//evil.example/?token=right", "///evil.example?token=right"] {
        let answer = viewing.get(path);
        let place = answer.header("location");
        assert!(
            answer.status != 303 || !place.starts_with("//"),
            "{path}: {place}"
        );
    }
}

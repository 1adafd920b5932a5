//! Which address has which page. A page's JSON is at the same address, with `/api/v1` before it.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::handler::Handler;
use axum::http::HeaderMap;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;

use crate::answer::{API, Asked};
use crate::guard::guard;
use crate::pages::list::LISTS;
use crate::pages::{
    compare, costs, decisions, diff, event, history, home, inbox, list, log, object, overview,
    search, session, timeline, tree, window,
};
use crate::problem::Problem;
use crate::state::Shared;
use crate::{assets, live, openapi};

/// The routes, with what each request must be around them.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let mut router = Router::new()
        .route("/", get(home::sessions))
        .route(&format!("{API}/openapi.json"), get(openapi::openapi))
        .route(&format!("{API}/live"), get(live::follow))
        .route("/assets/{name}", get(asset));
    router = both(router, "/sessions", home::sessions);
    router = both(router, "/sessions/{session}", session::session);
    router = both(router, "/sessions/{session}/conversation", session::session);
    router = both(router, "/sessions/{session}/turns", session::turns);
    router = both(router, "/sessions/{session}/find", session::find::find);
    router = both(router, "/sessions/{session}/files", session::files::files);
    router = both(
        router,
        "/sessions/{session}/timeline",
        session::timeline::timeline,
    );
    router = both(
        router,
        "/sessions/{session}/context",
        session::context::context,
    );
    router = both(
        router,
        "/sessions/{session}/history",
        session::history::history,
    );
    router = both(router, "/sessions/{session}/proof", session::proof::proof);
    router = router.route("/sessions/{session}/export", get(session::export::export));
    router = both(router, "/overview", overview::overview);
    router = both(router, "/inbox", inbox::inbox);
    router = both(router, "/decisions", decisions::decisions);
    router = both(router, "/costs", costs::costs);
    router = both(router, "/search", search::search);
    router = both(router, "/search/suggestions", search::suggestions);
    router = both(router, "/compare", compare::compare);
    router = both(router, "/log", log::log);
    router = both(router, "/events/{position}", event::event);
    router = both(router, "/objects/{id}", object::object);
    router = both(router, "/objects/{id}/history", history::history);
    router = both(router, "/objects/{id}/tree", tree::tree);
    router = both(router, "/objects/{id}/timeline", timeline::timeline);
    router = both(router, "/objects/{id}/window", window::window);
    router = both(router, "/objects/{id}/diff", diff::diff);
    for listed in LISTS {
        let list = move |asked: Asked| list::list(listed, asked);
        router = both(router, listed.path, list);
    }
    router
        .fallback(nothing)
        .layer(from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared)
}

/// A page, and its JSON.
fn both<H, T>(router: Router<Arc<Shared>>, path: &str, page: H) -> Router<Arc<Shared>>
where
    H: Handler<T, Arc<Shared>>,
    T: 'static,
{
    router
        .route(path, get(page.clone()))
        .route(&format!("{API}{path}"), get(page))
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    assets::answer(&name, &headers)
}

async fn nothing() -> Problem {
    Problem::not_found("there is no such page")
}

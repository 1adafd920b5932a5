//! The shell of all pages: the header with the navigation and the search box, time travel, the proof, the keyboard map.

use axum::response::Response;
use maud::{DOCTYPE, Markup, html};

use crate::answer::{API, Asked, Live, Page, Slider, is_of_now};
use crate::figures::{grouped, time};
use crate::html::copy;
use crate::moment::Moment;
use crate::problem::Problem;
use crate::proof::{Proof, badge};
use crate::shown;

/// The address of the inbox.
const INBOX: &str = "/inbox";
/// The main entries of the navigation: their names and addresses.
const SECTIONS: [(&str, &str); 4] = [
    ("Sessions", "/"),
    ("Costs", "/costs"),
    ("Search", "/search"),
    ("Inbox", INBOX),
];

/// The entries under "More".
const MORE: [(&str, &str); 8] = [
    ("Overview", "/overview"),
    ("Intents", "/intents"),
    ("Tasks", "/tasks"),
    ("Runs", "/runs"),
    (CONTRACTS_SESSIONS, "/contracts-sessions"),
    ("Decisions", "/decisions"),
    ("Context", "/pipelines"),
    ("Log", "/log"),
];

/// The forms of a moment.
const TIMES: &str = "A position such as 1234, or a time: 2026-01-31, yesterday, 14:30, 2d, 3h or 2026-01-31T14:30:00Z";

/// The section of contracts sessions.
pub(crate) const CONTRACTS_SESSIONS: &str = "Contracts sessions";
/// The section of the session list and of conversations.
pub(crate) const SESSIONS: &str = "Sessions";

/// Facts that are shown around a page.
pub(crate) struct PageFacts<'a> {
    pub(crate) proof: &'a Proof,
    /// When the log took the event at the shown position.
    pub(crate) recorded_at: Option<&'a str>,
    /// The number of entries in the inbox now, if it is known.
    pub(crate) inbox: Option<u64>,
}

/// A whole page.
pub(crate) fn page(asked: &Asked, page: &Page<Markup>, around: &PageFacts<'_>) -> Markup {
    let live = match (&page.live, asked.moment.is_chosen) {
        (Live::Never, _) | (_, true) => String::new(),
        (Live::Log, false) => "log".to_owned(),
        (Live::Streams(streams), false) => streams.join(" "),
    };
    let at = asked.moment.position.to_string();
    let at = if asked.moment.is_chosen { &at } else { "" };
    let address = asked.with(&[("at", at)]);
    let layout = if page.section == SESSIONS {
        "sessions"
    } else {
        "classic"
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&page.title, true))
            body data-end=(asked.moment.end) data-live=(live) data-address=(address) {
                a.skip href="#main" { "Skip to the content" }
                (top(asked, page, around.inbox))
                (moment(asked, page.slider, around.recorded_at))
                main #main.(layout) tabindex="-1" { (page.data) }
                footer.foot {
                    nav.phone.more aria-label="More" { @for (name, path) in MORE { a href=(entry(path, asked.moment)) { (name) } " " } a href="#moment" { "Time travel" } }
                    (badge(around.proof, page.subject.as_deref()))
                    (actions(asked, page))
                }
                (keys())
            }
        }
    }
}

/// The header: the navigation, the search box, time travel, and the live state.
fn top(asked: &Asked, page: &Page<Markup>, inbox: Option<u64>) -> Markup {
    let is_more = MORE.iter().any(|(name, _)| *name == page.section);
    let current = |name: &str| (name == page.section).then_some("page");
    html! {
        header.top {
            a.brand href=(asked.moment.link("/")) { "annals" }
            nav aria-label="Main" {
                @for (name, path) in SECTIONS {
                    a href=(entry(path, asked.moment)) aria-current=[current(name)] { (name) @if path == INBOX { (waiting(inbox)) } }
                }
                details.menu.desk #more {
                    summary.current[is_more] { "More " span aria-hidden="true" { "▾" } }
                    div { @for (name, path) in MORE { a href=(entry(path, asked.moment)) aria-current=[current(name)] { (name) } } }
                }
            }
            form.find role="search" method="get" action="/search" aria-label="Search all sessions" {
                label.unseen for="find-all" { "Search all sessions" }
                @if asked.moment.is_chosen { input type="hidden" name="at" value=(asked.moment.position); }
                input #find-all type="search" name="q" maxlength="1000" placeholder="Search prompts, answers, tool calls, files" autocomplete="off";
                kbd { "Ctrl K" }
                div.suggest #suggest hidden {}
            }
            span.unseen #suggest-said role="status" {}
            @if page.slider != Slider::None { a.button.quiet.desk #travel href="#moment" title="Show this page as it was at an earlier time (key: t)" { "Time travel" } }
            @else { span.button.quiet.desk.room aria-hidden="true" { "Time travel" } }
            span.live role="status" { span.dot aria-hidden="true" {} span.said { "not live" } }
        }
    }
}

/// The number of entries in the inbox, unless it is empty.
fn waiting(inbox: Option<u64>) -> Markup {
    html! { @if let Some(count) = inbox.filter(|count| *count > 0) { " " span.count { (grouped(count)) span.unseen { " waiting" } } } }
}

fn head(title: &str, has_script: bool) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · annals" }
            link rel="stylesheet" href="/assets/viewer.css";
            link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
            @if has_script { script src="/assets/viewer.js" defer {} }
        }
    }
}

/// Where an entry of the navigation leads: to the same moment, but for what is of now alone.
fn entry(path: &str, moment: Moment) -> String {
    match is_of_now(path) {
        true => path.to_owned(),
        false => moment.link(path),
    }
}

/// The shown position, and the slider that moves it. It is visible on request, and while an earlier position is shown.
fn moment(asked: &Asked, slider: Slider, recorded_at: Option<&str>) -> Markup {
    let moment = asked.moment;
    let (by, shown, all) = match slider {
        Slider::Positions => ("at", moment.position.0, moment.end.0),
        Slider::Versions { shown, all } => ("version", shown, all),
        Slider::None => ("", 0, 0),
    };
    let hidden = asked.params.others(&["at", "version"]);
    html! {
        div.moment #moment .chosen[moment.is_chosen] role="region" aria-label="Time travel" {
            span.said {
                @if moment.is_chosen { strong { "As of event " (grouped(moment.position.0)) } }
                @else { strong { "Now" } ", event " (grouped(moment.position.0)) }
                @if let Some(recorded_at) = recorded_at { " · " (time(recorded_at)) }
                @if by == "version" { " · " (grouped(shown)) " of " (grouped(all)) " events here" }
            }
            @if !by.is_empty() && all > 0 {
                form.moves method="get" action=(asked.path) {
                    @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
                    input type="range" min="1" max=(all) value=(shown) aria-label="Position" data-by=(by);
                    input type="text" name="at" maxlength="64" autocomplete="off" aria-label="Position or time"
                        placeholder="position or yesterday" title=(TIMES) value=[moment.is_chosen.then_some(moment.position)];
                    button.button type="submit" { "Go" }
                }
            }
            span.back { @if moment.is_chosen { a.button href=(asked.with(&[("at", "")])) { "Return to now" } } }
        }
    }
}

/// What can be done with a page: it is passed on.
fn actions(asked: &Asked, page: &Page<Markup>) -> Markup {
    let lasting = asked.lasting();
    let address = lasting.clone().unwrap_or_else(|| asked.with(&[]));
    let json = match address.strip_prefix("/?") {
        Some(query) => format!("{API}/sessions?{query}"),
        None if address == "/" => format!("{API}/sessions"),
        None => format!("{API}{address}"),
    };
    html! {
        div.actions {
            @if let Some(lasting) = lasting { a.button.small href=(lasting) title="An address that always shows this page as it is now" { "Permanent link" } }
            @if asked.has_json() { a.button.small href=(json) { "JSON" } }
            @if !page.markdown.is_empty() { (copy("Copy as Markdown", &page.markdown)) }
            @if asked.has_json() { button.button.small.copy type="button" data-copy-from=(json) hidden { "Copy as JSON" } }
            (copy("Copy as command", &page.command))
            button.button.small type="button" data-keys hidden { "Keys" }
            button.button.small type="button" data-theme-next hidden { "Theme" }
        }
    }
}

/// The keys, by the page on which they work.
const KEYS: [(&str, &[(&str, &str)]); 3] = [
    (
        "Everywhere",
        &[
            ("Ctrl K", "search"),
            ("g s", "sessions"),
            ("g c", "costs"),
            ("g i", "inbox"),
            ("t", "time travel"),
            ("[ ]", "one event back, forward"),
            ("Esc", "close"),
            ("?", "keyboard map"),
        ],
    ),
    (
        "Lists",
        &[
            ("j k", "next, previous row"),
            ("Enter", "open"),
            ("x", "sub-agents"),
            ("f", "filters"),
            ("n", "return to now"),
            ("/", "search"),
        ],
    ),
    (
        "Session",
        &[
            ("j k", "next, previous turn"),
            ("n p", "next, previous prompt"),
            ("o, Shift O", "fold one, all"),
            ("e, Shift E", "next, previous error"),
            ("a", "answers only"),
            ("/", "find"),
            ("Enter, Shift Enter", "next, previous match"),
            ("1 to 6", "tab"),
            ("Shift J, Shift K", "next, previous session"),
            ("u", "unified or split"),
            ("r", "copy the resume command"),
            ("y", "copy the turn as Markdown"),
        ],
    ),
];

/// The keyboard map, in a dialog.
fn keys() -> Markup {
    html! {
        dialog #keys aria-label="Keyboard map" tabindex="-1" {
            button.button type="button" data-close autofocus { "Close" }
            @for (page, keys) in KEYS {
                h2 { (page) }
                dl { @for (key, does) in keys { div { dt { kbd { (key) } } dd { (does) } } } }
            }
            label { input type="checkbox" data-single-keys checked; "Single letters are keys" }
        }
    }
}

/// The page of a problem.
pub(crate) fn problem(problem: &Problem) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(problem.title(), false))
            body {
                header.top {
                    a.brand href="/" { "annals" }
                    nav aria-label="Main" { @for (name, path) in SECTIONS { a href=(path) { (name) } } }
                }
                main #main.sessions tabindex="-1" {
                    div.problem {
                        h1 { (problem.heading()) }
                        p { (crate::foreign::text(&problem.detail)) }
                        div.row { span.dim { (problem.status.as_u16()) " " (problem.title()) " · " } code { (problem.code) } a href="/" { "To the sessions" } }
                    }
                }
            }
        }
    };
    shown::page(page)
}
